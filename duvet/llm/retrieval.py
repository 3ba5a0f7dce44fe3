"""What a project has to say about a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from duvet.errors import DuvetError
from duvet.llm.sources import MOST, Source, fitting
from duvet.model import Specification
from duvet.queries.catalogue import Catalogue, CitationCard, RequirementCard, SpecificationCard
from duvet.queries.places import Files
from duvet.queries.rows import requirement_row
from duvet.queries.sections import section_text
from duvet.queries.snippets import last_line
from duvet.search.index import Index
from duvet.search.search import Search, hits
from duvet.text import one_line

Load = Callable[[SpecificationCard], Specification]

_REQUIREMENTS, _SECTIONS, _CITATIONS = 8, 3, 6
_BELOW = 8
"""So many lines of code are told below a citation."""
_OF_REQUIREMENTS, _OF_SECTIONS = MOST // 2, MOST // 4
"""So much room the first kinds leave for the next."""


class Retrieval:
    """Looks for what may answer a question."""

    def __init__(self, catalogue: Catalogue, index: Callable[[], Index], files: Files, load: Load) -> None:
        self.catalogue = catalogue
        self.index = index
        self.files = files
        self.load = load

    def sources(self, question: str) -> tuple[Source, ...]:
        """The best that is found, numbered; QueryError where the question has no word in it."""
        ##= man/spec/ask.md#answers
        ##% The sources of an answer MUST be the requirements that `duvet search` finds, their sections, and the code that
        ##% cites them.
        found = hits(self.catalogue, Search(question), self.index, self.files).indexes[:_REQUIREMENTS]
        cards = [self.catalogue.requirements[index] for index in found]
        requirements = fitting(map(self._requirement, cards), _OF_REQUIREMENTS)
        sections = fitting(self._sections(cards), _OF_SECTIONS)
        return fitting([*requirements, *sections, *self._citations(cards)])

    def _requirement(self, card: RequirementCard) -> Source:
        row = requirement_row(self.catalogue, card)
        level = f"{row.level}, " if row.level else ""
        return Source(
            number=0,
            kind="requirement",
            title=f"{row.target} ({level}{row.status})",
            full_path=row.full_path,
            file_path=row.file_path,
            line_number=row.line_number,
            text=row.text,
        )

    def _sections(self, cards: Sequence[RequirementCard]) -> Iterator[Source]:
        spots = dict.fromkeys((card.specification, card.section) for card in cards)
        room = _OF_SECTIONS // _SECTIONS
        for number, section in list(spots)[:_SECTIONS]:
            card = self.catalogue.specifications[number]
            try:
                loaded = self.load(card)
            # It may have changed meanwhile, or be gone; the requirements are known all the same.
            except DuvetError:
                continue
            whole = loaded.sections[loaded.by_id[section]]
            source = Source(
                number=0,
                kind="section",
                title=f"{one_line(whole.title)} ({card.locator}#{section})",
                full_path=card.section_path(section),
                file_path=card.path,
                line_number=loaded.data.count(b"\n", 0, whole.heading[0]) + 1,
                text=section_text(whole),
            )
            yield from fitting([source], room)

    def _citations(self, cards: Sequence[RequirementCard]) -> Iterator[Source]:
        numbers = dict.fromkeys(number for card in cards for number in card.citations)
        for number in list(numbers)[:_CITATIONS]:
            card = self.catalogue.citations[number]
            path = self.catalogue.full_path_of(self.catalogue.requirements[card.requirements[0]])
            yield Source(
                number=0,
                kind="citation",
                title=f"{card.kind.name.lower()} of {card.target}",
                full_path=f"{path}/citations/{card.id}",
                file_path=card.path,
                line_number=card.line,
                text=self._code(card),
            )

    def _code(self, card: CitationCard) -> str:
        """The annotation with the code below it, which ends before the next one unless they share it."""
        text = self.files.text(card.path)
        last = last_line(text, card)
        lines = [self.catalogue.citations[number].line for number in self.catalogue.cited_in[card.path]]
        ends = (line - 1 for line in lines if any(map(text.has_code, range(last + 1, min(line, len(text.lines) + 1)))))
        return "\n".join(text.lines[card.line - 1 : min(last + _BELOW, *ends, len(text.lines))])

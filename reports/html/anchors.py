"""Anchors, names, states and filters that all views of the report share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from msgspec import Struct

from duvet.model import BREADCRUMB_SIGN, Format, Kind, Level, Problem, Specification
from duvet.queries import gaps, records
from duvet.text import collapse_whitespace
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue, State
from duvet.trace.records import Finished, GateResult

if TYPE_CHECKING:
    from duvet.knowledge.pages.catalogue import PageCollection
    from duvet.reports.snapshot import SnapshotDiff

_OWN = (
    "count filters help help-title keys keys-on main not-applicable notice overview panel panel-title problems "
    "requirements result settings source-count source-filter sources specifications theme totals"
)


_CODE_SPAN = re.compile(r"(`+)(.+?)\1")


class AnchorNames:
    def __init__(self) -> None:
        self._counts = dict.fromkeys(_OWN.split(), 1)

    def new(self, wanted: str) -> str:
        # Ids from Markdown may contain white space, which anchors must not; `?` begins filters.
        name = wanted = "-".join(wanted.replace("?", " ").split())
        while name in self._counts:
            self._counts[wanted] = count = self._counts.get(wanted, 1) + 1
            name = f"{wanted}-{count}"
        self._counts[name] = 1
        return name


class CommentStyle(Struct, frozen=True, kw_only=True):
    label: str  # The patterns of the sources.
    meta: str
    content: str
    first: str = ""  # The delimiters of a comment, if its lines need them.
    last: str = ""
    kind: Kind = Kind.CITATION  # The type of an annotation that doesn't name one.


class ReportData(Struct, frozen=True, kw_only=True):
    finished: Finished
    catalogue: Catalogue  # The same trace as cards, with the requirements in the same order as in `finished`.
    problems: tuple[Problem, ...] = ()
    gates: tuple[GateResult, ...] = ()
    title: str = ""  # Empty without a configured title.
    logo: str = ""
    whole_text: bool = False
    """True if specifications without requirements are shown with their uncited sections."""
    snippets: Mapping[int, str] = {}  # The code below each citation, by the citation's number in the catalogue.
    version: str = ""
    commit: str = ""
    config_path: str = ""
    next: tuple[gaps.PriorityRow, ...] = ()
    since: SnapshotDiff | None = None
    comments: tuple[CommentStyle, ...] = ()
    notes: PageCollection | None = None  # The project's pages, if it has any.
    texts: Mapping[str, str] = {}  # The texts of the pages, by file.
    embedded: bytes | None = None  # The JSON report, for programs that read the HTML report.


def escape_html(text: str) -> str:
    ##= man/spec/page.md#safety
    ##% The report MUST escape all text that comes from specifications, source files and the configuration.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_attribute(text: str) -> str:
    return escape_html(text).replace('"', "&quot;")


class AnchorLink(NamedTuple):
    """An anchor and a link to it, both escaped."""

    anchor: str
    link: str


class SectionPlace(Struct, frozen=True):
    name: str  # Its anchor, not escaped.
    spot: AnchorLink
    requirements: list[int]
    others: list[int]  # The numbers of the citations whose text is not a requirement.
    cited: AnchorLink  # The place of these citations.


class ReportPlaces(Struct, frozen=True):
    cited: list[Specification]
    specifications: dict[str, str]  # The anchors of cited specifications by id, not escaped.
    sections: list[dict[str, SectionPlace]]  # For each specification, by the ids of sections.
    requirements: list[AnchorLink]
    names: dict[int, AnchorLink] = {}  # The anchors of the ids that specifications give, by requirement.
    notes: dict[str, AnchorLink] = {}  # The anchors of pages by slug.
    notes_view: str = ""  # The anchor of the list of pages.
    labels: dict[tuple[int, str], str] = {}  # The labels of sections that were needed so far.

    def label(self, specification: int, id: str) -> str:
        found = self.labels.get((specification, id))
        if found is None:
            one = self.cited[specification]
            index = one.by_id[id]
            number = "" if one.sections[index].anchors else find_section_number(one, id)
            words = number or format_section_title(one, index)
            found = escape_html(collapse_whitespace(f"{strip_backticks(one.name)}, {words}"))
            self.labels[specification, id] = found
        return found


def assign_places(page: ReportData) -> ReportPlaces:
    """An anchor depends only on the thing it names, unless two anchors would be equal."""
    names = AnchorNames()
    coverages = page.finished.trace.coverages
    cited = [coverage.specification for coverage in coverages]
    specifications = {one.id: names.new(one.id) for one in cited}
    own = list(specifications.values())
    stating = {card.specification for card in page.catalogue.requirements}
    sections: list[dict[str, SectionPlace]] = []
    for number, specification in enumerate(cited):
        shown = specification.sections
        # Often only a few sections of a large standard are cited; without requirements, only those are shown.
        if not page.whole_text and number not in stating:
            shown = tuple(shown[index] for index in sorted(coverages[number].sections))
        places: dict[str, SectionPlace] = {}
        for section in shown:
            name = names.new(f"{own[number]}/{section.id}")
            spot = _escape_anchor(name)
            places[section.id] = SectionPlace(name, spot, [], [], _list_below(names, name, spot, "cited"))
        sections.append(places)
    for number, citation in enumerate(page.catalogue.citations):
        if citation.is_valid and not citation.requirements:
            sections[citation.specification][citation.section].others.append(number)
    requirements: list[AnchorLink] = []
    for index, (card, id) in enumerate(zip(page.catalogue.requirements, page.catalogue.ids, strict=True)):
        place = sections[card.specification][card.section]
        place.requirements.append(index)
        requirements.append(_list_below(names, place.name, place.spot, id[:SHORT_ID_DIGITS]))
    ##= man/spec/names.md#references
    ##% The HTML report MUST use `SPEC/ID` as the anchor of a requirement that has an id.
    named = {
        index: _escape_anchor(names.new(f"{own[card.specification]}/{card.name}"))
        for index, card in enumerate(page.catalogue.requirements)
        if card.name
    }
    if page.notes is None:
        return ReportPlaces(cited, specifications, sections, requirements, named)
    view = names.new("pages")
    notes = {note.slug: _escape_anchor(names.new(f"{view}/{note.slug}")) for note in page.notes.pages}
    return ReportPlaces(cited, specifications, sections, requirements, named, notes, view)


def _escape_anchor(name: str) -> AnchorLink:
    return AnchorLink(escape_attribute(name), escape_attribute(records.make_fragment_link(name)))


def _list_below(names: AnchorNames, name: str, spot: AnchorLink, wanted: str) -> AnchorLink:
    end = names.new(f"{name}/{wanted}")[len(name) :]
    return AnchorLink(spot.anchor + end, spot.link + end)


def format_section_title(specification: Specification, index: int) -> str:
    section = specification.sections[index]
    number = find_section_number(specification, section.anchors[-1] if section.anchors else section.id)
    if number:
        return BREADCRUMB_SIGN.join([*section.path, f"{number}. {section.title}".rstrip()])
    return strip_backticks(section.breadcrumb) or section.id


def strip_backticks(title: str) -> str:
    return _CODE_SPAN.sub(r"\2", title)


def find_section_number(specification: Specification, id: str) -> str:
    kind, _, number = id.partition("-")
    if specification.format is not Format.IETF or kind not in ("section", "appendix"):
        return ""
    return f"Appendix {number}" if kind == "appendix" else number


class StateLook(Struct, frozen=True):
    index: int
    sign: str
    words: str
    meaning: str
    mark: str  # Its CSS class.
    slug: str  # Its name in filters.
    former: str  # Its names in links that older reports used.
    badge: str


def _make_look(state: State, sign: str) -> StateLook:
    slug = state.words.replace(" ", "-")
    former = " ".join(word for word, states in records.STATES_BY_WORD.items() if state in states and word != slug)
    mark, badge = f"s{state.value}", f"{sign} {state.words}"
    return StateLook(state.value, sign, state.words, state.meaning, mark, slug, former, badge)


CITED_LOOK = StateLook(
    -1, "•", "cited", "Annotations cite this text, which is not a requirement.", "s8", "cited", "", "• cited"
)

##= man/spec/page.md#size-and-accessibility
##% The report MUST NOT distinguish states by colour alone.
STATE_LOOKS = tuple(map(_make_look, State, "✗…◔◑◐∅✓⊖"))
"""The looks of the states, in the order of `State`."""


_quote = partial(quote, safe="", errors="replace")


class LinkedNumber(Struct, frozen=True):
    count: int
    href: str


def name_level(level: Level) -> str:
    return "other" if level is Level.AUTO else level.name


def link_number(
    count: int,
    *,
    spec: str = "",
    level: Level | None = None,
    states: Iterable[State] = (),
    feature: str = "",
    issue: str = "",
) -> LinkedNumber:
    if not count:
        return LinkedNumber(0, "")
    facts = {
        "spec": _quote(spec),
        "level": "" if level is None else name_level(level).upper(),
        "status": ",".join(STATE_LOOKS[state].slug for state in states),
        "feature": _quote(feature),
        "issue": _quote(issue),
    }
    return LinkedNumber(count, "#requirements?" + "&".join(f"{name}={fact}" for name, fact in facts.items() if fact))

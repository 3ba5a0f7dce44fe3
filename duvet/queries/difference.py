"""Compares two catalogues of a project: requirements, coverage, citations."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

from msgspec import Struct

from duvet import rules
from duvet.model import Kind, Place, Problem, Severity
from duvet.queries.records import RequirementRow, make_requirement_row
from duvet.rules import Rule
from duvet.text import format_count, shorten_text
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue, CitationCard, RequirementCard
from duvet.trace.coverage import compute_level_totals
from duvet.trace.records import State

_LIKENESS = 60
"""Of a hundred: sentences that are less alike are two requirements."""
_REACH = 100
"""Sentences that stand further apart in their sections than this are not compared."""

IndexPair = tuple[int, int]
"""The index of a requirement then, and of what it is now."""
_Key = Callable[[Catalogue, RequirementCard], Hashable]
_Section = tuple[str, str]
"""A specification and what a section of it is called."""


class RequirementPairing(Struct, frozen=True):
    """The requirements of two catalogues, those in order that are in both."""

    same: list[IndexPair]
    moved: list[IndexPair]
    changed: list[IndexPair]
    removed: list[int]
    added: list[int]

    @property
    def pairs(self) -> list[IndexPair]:
        """Every requirement that is in both, in today's order."""
        return sorted([*self.same, *self.moved, *self.changed], key=lambda pair: pair[1])


def pair_requirements(then: Catalogue, now: Catalogue) -> RequirementPairing:
    """Pair what stands where it stood, then what moved, then what was reworded."""
    rest = _Rest(then, now)
    same = rest.take(_place)
    moved = sorted([*rest.take(_in_specification), *rest.take(_text)], key=lambda pair: pair[1])
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST list the requirements that were added, removed, moved to another section or reworded, even
    ##% when their section or specification was renamed.
    changed = [*rest.take_alike({}), *rest.take_alike(_successors(then, now, moved))]
    return RequirementPairing(same, moved, changed, rest.then, rest.now)


class _Rest:
    """What has no partner yet."""

    def __init__(self, then: Catalogue, now: Catalogue) -> None:
        self.catalogues = then, now
        self.then = list(range(len(then.requirements)))
        self.now = list(range(len(now.requirements)))

    def take(self, key: _Key) -> list[IndexPair]:
        """Pair those with the same key, in order."""
        ours, theirs = self._by(key)
        pairs = [pair for one in ours.keys() & theirs.keys() for pair in zip(ours[one], theirs[one], strict=False)]
        return self._taken(pairs)

    def take_alike(self, successors: Mapping[_Section, _Section]) -> list[IndexPair]:
        """Pair those of one section, or of a section and its successor, the most alike first."""

        def today(catalogue: Catalogue, card: RequirementCard) -> _Section:
            section = _section(catalogue, card)
            return successors.get(section, section)

        then, now = self.catalogues
        ours, theirs = _grouped(then, self.then, today), _grouped(now, self.now, _section)
        return self._taken(
            [pair for one in ours.keys() & theirs.keys() for pair in self._alike(ours[one], theirs[one])]
        )

    def _alike(self, ours: list[int], theirs: list[int]) -> Iterator[IndexPair]:
        taken_then, taken_now = set(), set()
        for _, old, new in sorted(self._scores(ours, theirs)):
            if old not in taken_then and new not in taken_now:
                taken_then.add(old)
                taken_now.add(new)
                yield old, new

    def _scores(self, ours: list[int], theirs: list[int]) -> Iterator[tuple[float, int, int]]:
        from rapidfuzz import fuzz

        then, now = (catalogue.requirements for catalogue in self.catalogues)
        for index, old in enumerate(ours):
            for new in theirs[max(0, index - _REACH) : index + _REACH]:
                score = fuzz.ratio(then[old].text, now[new].text, score_cutoff=_LIKENESS)
                if score:
                    yield -score, old, new

    def _by(self, key: _Key) -> tuple[dict[Hashable, list[int]], dict[Hashable, list[int]]]:
        then, now = self.catalogues
        return _grouped(then, self.then, key), _grouped(now, self.now, key)

    def _taken(self, pairs: Iterable[IndexPair]) -> list[IndexPair]:
        found = sorted(pairs, key=lambda pair: pair[1])
        ours, theirs = {old for old, _ in found}, {new for _, new in found}
        self.then = [index for index in self.then if index not in ours]
        self.now = [index for index in self.now if index not in theirs]
        return found


def _grouped(catalogue: Catalogue, indexes: list[int], key: _Key) -> dict[Hashable, list[int]]:
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    for index in indexes:
        groups[key(catalogue, catalogue.requirements[index])].append(index)
    return groups


def _successors(then: Catalogue, now: Catalogue, moved: Iterable[IndexPair]) -> dict[_Section, _Section]:
    """The sections that have another name now, or are in another specification: where most of their sentences are.

    Of a specification that took the place of another, sections that nothing has moved to may have kept their names.
    """
    sections: defaultdict[_Section, Counter[_Section]] = defaultdict(Counter)
    specifications: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for old, new in moved:
        before, after = _section(then, then.requirements[old]), _section(now, now.requirements[new])
        sections[before][after] += 1
        specifications[before[0]][after[0]] += 1
    for known in now.specifications:
        specifications.pop(known.locator, None)
    found = {}
    for locator, name in {_section(then, card) for card in then.requirements}:
        if (locator, name) in sections:
            found[locator, name] = sections[locator, name].most_common(1)[0][0]
        elif locator in specifications:
            found[locator, name] = specifications[locator].most_common(1)[0][0], name
    return found


def _place(catalogue: Catalogue, card: RequirementCard) -> Hashable:
    return (*_section(catalogue, card), card.text)


def _section(catalogue: Catalogue, card: RequirementCard) -> _Section:
    return catalogue.specification_of(card).locator, card.section


def _in_specification(catalogue: Catalogue, card: RequirementCard) -> Hashable:
    return catalogue.specification_of(card).locator, card.text


def _text(catalogue: Catalogue, card: RequirementCard) -> Hashable:
    return card.text


class CitationChange(Struct, frozen=True, kw_only=True):
    """Citations of one kind that a text has got, or lost."""

    target: str
    identifier: str | None
    """The first digits of the id of the requirement; none where the text is no requirement."""
    text: str
    kind: str
    places: tuple[str, ...]
    """Where they stand, or stood."""


class StaleCitation(Struct, frozen=True, kw_only=True):
    """A citation that was right and is wrong."""

    file_path: str
    line_number: int
    kind: str
    target: str
    quote: str
    message: str


_Text = tuple[Hashable, ...]
"""What tells a cited text from others: a requirement by its place, another by its words."""
_Numbers = list[int]


def find_stale_citations(then: Catalogue, now: Catalogue) -> list[tuple[int, int]]:
    """The numbers, then and now, of citations that have become wrong where they stand."""
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST list citations with their places when they were added, were removed, or became invalid without
    ##% being edited.
    return _lasting(then, now, are_valid=False)


def _lasting(then: Catalogue, now: Catalogue, *, are_valid: bool) -> list[tuple[int, int]]:
    """The numbers, then and now, of citations that were right and still say the same, whether that is right or wrong."""
    right = _by_words(then, are_valid=True)
    found: list[tuple[int, int]] = []
    for words, numbers in _by_words(now, are_valid=are_valid).items():
        found += _matched(then, right.get(words, []), now, numbers)
    return sorted(found, key=lambda pair: pair[1])


def _by_words(catalogue: Catalogue, *, are_valid: bool) -> dict[_Text, _Numbers]:
    """The citations that say the same of the same."""
    groups: defaultdict[_Text, _Numbers] = defaultdict(list)
    for number, card in enumerate(catalogue.citations):
        if card.is_valid is are_valid:
            groups[card.kind, card.target, _plain(card.quote)].append(number)
    return groups


def _plain(quote: str) -> str:
    return " ".join(quote.split())


def _matched(then: Catalogue, ours: _Numbers, now: Catalogue, theirs: _Numbers) -> list[tuple[int, int]]:
    """Pairs of citations that are one and the same: those of one file first, then whichever are left."""
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST NOT list a renamed file or a citation on another line as a change.
    waiting: defaultdict[str, _Numbers] = defaultdict(list)
    for number in reversed(ours):
        waiting[then.citations[number].path].append(number)
    pairs, others = [], []
    for number in theirs:
        same_file = waiting[now.citations[number].path]
        if same_file:
            pairs.append((same_file.pop(), number))
        else:
            others.append(number)
    left = sorted(number for numbers in waiting.values() for number in numbers)
    return [*pairs, *zip(left, others, strict=False)]


def make_stale_rows(now: Catalogue, stale: Iterable[tuple[int, int]]) -> Iterator[StaleCitation]:
    """What there is to say about them."""
    problems: defaultdict[str, list[Problem]] = defaultdict(list)
    for problem in now.problems:
        if problem.severity is Severity.ERROR:
            problems[problem.path].append(problem)
    for _, number in stale:
        card = now.citations[number]
        below = (one.message for one in problems[card.path] if one.place.line >= card.line)
        yield StaleCitation(
            file_path=card.path,
            line_number=card.line,
            kind=_kind(card),
            target=card.target,
            quote=_plain(card.quote),
            message=next(below, "it leads nowhere"),
        )


class CitationIndex:
    """The citations of a catalogue by text and kind; texts that are the same in two catalogues have the same key."""

    def __init__(self, catalogue: Catalogue, names: dict[int, _Text], left_out: Iterable[int]) -> None:
        self.catalogue = catalogue
        self.texts: dict[_Text, tuple[str, str | None, str]] = {}
        """The target, the id and the words of each text."""
        self.numbers: defaultdict[tuple[_Text, str], _Numbers] = defaultdict(list)
        unwanted = set(left_out)
        for number, card in enumerate(catalogue.citations):
            if card.is_valid and number not in unwanted:
                for text in self._texts_of(card, names):
                    self.numbers[text, _kind(card)].append(number)

    def _texts_of(self, card: CitationCard, names: dict[int, _Text]) -> Iterator[_Text]:
        for index in card.requirements:
            requirement = self.catalogue.requirements[index]
            target = self.catalogue.target_of(requirement)
            self.texts[names[index]] = target, requirement.id[:SHORT_ID_DIGITS], requirement.text
            yield names[index]
        if not card.requirements:
            specification = self.catalogue.specifications[card.specification]
            quote = _plain(card.quote)
            text = specification.locator, card.section, quote
            shown = quote or specification.titles[card.section]
            self.texts[text] = f"{specification.locator}#{card.section}", None, shown
            yield text

    def beyond(self, other: CitationIndex) -> tuple[CitationChange, ...]:
        """The citations that the other catalogue has no counterpart of."""
        found = []
        for (text, kind), numbers in self.numbers.items():
            theirs = other.numbers.get((text, kind), [])
            kept = {new for _, new in _matched(other.catalogue, theirs, self.catalogue, numbers)}
            cards = [self.catalogue.citations[number] for number in numbers if number not in kept]
            if cards:
                target, id, words = self.texts[text]
                places = tuple(card.id for card in sorted(cards, key=lambda card: (card.path, card.line)))
                found.append(CitationChange(target=target, identifier=id, text=words, kind=kind, places=places))
        return tuple(sorted(found, key=lambda one: (one.target, one.text, one.kind)))


def find_changed_citations(
    then: Catalogue, now: Catalogue, pairing: RequirementPairing, outlived: Iterable[int]
) -> tuple[CitationIndex, CitationIndex]:
    """The citations of both, without those that are as they were, and those then that are wrong now."""
    # What they cite may have become a requirement, or be none any more.
    lasting = _lasting(then, now, are_valid=True)
    new_of = dict(pairing.pairs)
    ours: dict[int, _Text] = {old: ("now", new_of[old]) if old in new_of else ("then", old) for old in _all(then)}
    theirs: dict[int, _Text] = {new: ("now", new) for new in _all(now)}
    return (
        CitationIndex(then, ours, [*outlived, *(old for old, _ in lasting)]),
        CitationIndex(now, theirs, [new for _, new in lasting]),
    )


def _all(catalogue: Catalogue) -> range:
    return range(len(catalogue.requirements))


def _kind(card: CitationCard) -> str:
    return card.kind.name.lower()


_LAYERS = {
    "implementation": frozenset({Kind.CITATION, Kind.IMPLICATION}),
    "tests": frozenset({Kind.TEST}),
}
"""What a requirement may have got, and the kinds of citations that make it."""


class RequirementChange(Struct, frozen=True, kw_only=True):
    """A requirement that is not what it was."""

    then: RequirementRow
    now: RequirementRow


class CoverageChange(RequirementChange, frozen=True, kw_only=True):
    """A requirement that has more or less than it had."""

    lost: tuple[str, ...]
    """`implementation` or `tests`, where it had some and has none any more."""
    gained: tuple[str, ...]


class CoverageCount(Struct, frozen=True, kw_only=True):
    """How many requirements there are, and how many are done."""

    requirements: int
    applicable: int
    done: int
    excepted: int
    not_applicable: int
    words: str


class Difference(Struct, frozen=True, kw_only=True):
    """Everything that has changed, in the order of specifications, and that of files for citations."""

    then: CoverageCount
    now: CoverageCount
    coverage_lost: tuple[CoverageChange, ...]
    citations_stale: tuple[StaleCitation, ...]
    coverage_gained: tuple[CoverageChange, ...]
    requirements_added: tuple[RequirementRow, ...]
    requirements_removed: tuple[RequirementRow, ...]
    requirements_changed: tuple[RequirementChange, ...]
    requirements_moved: tuple[RequirementChange, ...]
    citations_removed: tuple[CitationChange, ...]
    citations_added: tuple[CitationChange, ...]

    @property
    def regressions(self) -> int:
        """How much has been lost: requirements that have less, and citations that are wrong now."""
        return len(self.coverage_lost) + len(self.citations_stale)

    @property
    def losses(self) -> str:
        """`2 requirements lost coverage, 1 citation went stale`; nothing where nothing is lost."""
        requirements = (
            format_count(len(self.coverage_lost), "requirement") + " lost coverage" if self.coverage_lost else ""
        )
        citations = format_count(len(self.citations_stale), "citation") + " went stale" if self.citations_stale else ""
        return ", ".join(filter(None, (requirements, citations)))

    @property
    def uncited(self) -> tuple[RequirementRow, ...]:
        """The new requirements that nothing but todos refers to."""
        states = {state.words for state in (State.UNCITED, State.TO_DO)}
        return tuple(row for row in self.requirements_added if row.state in states)


def compare_catalogues(then: Catalogue, now: Catalogue) -> Difference:
    """What has changed."""
    pairing = pair_requirements(then, now)
    coverage = list(_coverage_changes(then, now, pairing.pairs))
    stale = find_stale_citations(then, now)
    ours, theirs = find_changed_citations(then, now, pairing, [old for old, _ in stale])
    return Difference(
        then=_count(then),
        now=_count(now),
        coverage_lost=tuple(change for change, is_loss in coverage if is_loss),
        citations_stale=tuple(make_stale_rows(now, stale)),
        coverage_gained=tuple(change for change, is_loss in coverage if not is_loss),
        requirements_added=_rows(now, pairing.added),
        requirements_removed=_rows(then, pairing.removed),
        requirements_changed=_changes(then, now, [*pairing.changed, *_other_levels(then, now, pairing)]),
        requirements_moved=_changes(then, now, pairing.moved),
        citations_removed=ours.beyond(theirs),
        citations_added=theirs.beyond(ours),
    )


def _count(catalogue: Catalogue) -> CoverageCount:
    *_, total = compute_level_totals(catalogue.requirements)
    return CoverageCount(
        requirements=total.requirements,
        applicable=total.applicable,
        done=total.done,
        excepted=total.excepted,
        not_applicable=total.not_applicable,
        words=total.words,
    )


def _rows(catalogue: Catalogue, indexes: Iterable[int]) -> tuple[RequirementRow, ...]:
    return tuple(make_requirement_row(catalogue, catalogue.requirements[index]) for index in indexes)


def _changes(then: Catalogue, now: Catalogue, pairs: Iterable[IndexPair]) -> tuple[RequirementChange, ...]:
    return tuple(
        RequirementChange(
            then=make_requirement_row(then, then.requirements[old]),
            now=make_requirement_row(now, now.requirements[new]),
        )
        for old, new in sorted(pairs, key=lambda pair: pair[1])
    )


def _other_levels(then: Catalogue, now: Catalogue, pairing: RequirementPairing) -> Iterator[IndexPair]:
    """The same sentences, of which a requirement file says now that they bind more, or less."""
    for old, new in (*pairing.same, *pairing.moved):
        if then.requirements[old].level is not now.requirements[new].level:
            yield old, new


def _coverage_changes(
    then: Catalogue, now: Catalogue, pairs: Iterable[IndexPair]
) -> Iterator[tuple[CoverageChange, bool]]:
    """The requirements that have more or less than they had, with whether that is a loss."""
    for old, new in pairs:
        before, after = then.requirements[old], now.requirements[new]
        if State.NOT_APPLICABLE in (before.state, after.state):
            continue
        had, has = _layers(then, before), _layers(now, after)
        lost, gained = (tuple(name for name in _LAYERS if name in one) for one in (had - has, has - had))
        ##= man/spec/diff.md#differences
        ##% `duvet diff` MUST list an applicable requirement as lost coverage when its status fell or its code or tests
        ##% are gone, and otherwise as gained coverage when its status rose or it got code or tests.
        is_loss = after.status < before.status or bool(lost)
        if is_loss or gained or after.status > before.status:
            rows = make_requirement_row(then, before), make_requirement_row(now, after)
            yield CoverageChange(then=rows[0], now=rows[1], lost=lost, gained=gained), is_loss


def _layers(catalogue: Catalogue, card: RequirementCard) -> set[str]:
    kinds = {catalogue.citations[number].kind for number in card.citations}
    return {name for name, making in _LAYERS.items() if kinds & making}


def make_gate_problem(row: RequirementRow, rule: Rule, message: str) -> Problem:
    """The problem that a gate has with a requirement."""
    return rule.problem(message, row.file_path, Place(row.line_number), hint=f"{row.target}: {shorten_text(row.text)}")


def find_regressions(difference: Difference) -> Iterator[Problem]:
    """The requirements that have lost coverage, and the citations that have gone stale."""
    for change in difference.coverage_lost:
        lost = f", and it has lost its {' and its '.join(change.lost)}" if change.lost else ""
        message = f"this requirement was {change.then.status} and is {change.now.status}{lost}"
        yield make_gate_problem(change.now, rules.COVERAGE_LOST, message)
    for one in difference.citations_stale:
        message = f"this citation was right and is wrong: {one.message}"
        yield rules.CITATION_STALE.problem(message, one.file_path, Place(one.line_number))


def find_uncited_additions(difference: Difference) -> Iterator[Problem]:
    """The new requirements that nothing cites."""
    for row in difference.uncited:
        yield make_gate_problem(row, rules.REQUIREMENT_UNCITED, "this requirement is new, and nothing cites it")

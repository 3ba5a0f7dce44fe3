"""The difference between two catalogues of a project: requirements, coverage and citations."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

from msgspec import Struct

from duvet import rules
from duvet.model import Kind, Place, Problem, Severity
from duvet.queries.records import RequirementRow, make_gate_problem, make_requirement_row, make_requirement_rows
from duvet.text import format_count, load_rapidfuzz
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue, RequirementCard, State
from duvet.trace.records import compute_level_totals

_MIN_LIKENESS = 60  # Texts with a similarity below this percentage are different requirements.
_MAX_DISTANCE = 100  # Requirements that are further apart in their sections are not compared.
_LAYERS = {"implementation": frozenset({Kind.CITATION, Kind.IMPLICATION}), "tests": frozenset({Kind.TEST})}
"""The layers of coverage, each with the citation types that provide it."""

IndexPair = tuple[int, int]  # The index of a requirement, then and now.
_Key = Callable[[Catalogue, RequirementCard], Hashable]
_Section = tuple[str, str]  # The locator of a specification and the id of a section.
_CitedText = tuple[Hashable, ...]
"""The identity of a cited text: for a requirement its index, for any other text its words."""
_Numbers = list[int]


class RequirementChange(Struct, frozen=True, kw_only=True):
    then: RequirementRow
    now: RequirementRow


class CoverageChange(RequirementChange, frozen=True, kw_only=True):
    lost: tuple[str, ...]  # `implementation`, `tests`, both or neither.
    gained: tuple[str, ...]


class CoverageCount(Struct, frozen=True, kw_only=True):
    requirements: int
    applicable: int
    done: int
    excepted: int
    not_applicable: int
    words: str


class Difference(Struct, frozen=True, kw_only=True):
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
        return len(self.coverage_lost) + len(self.citations_stale)

    @property
    def losses(self) -> str:
        found = (self.coverage_lost, "requirement", "lost coverage"), (self.citations_stale, "citation", "went stale")
        return ", ".join(f"{format_count(len(rows), noun)} {verb}" for rows, noun, verb in found if rows)

    @property
    def uncited(self) -> tuple[RequirementRow, ...]:
        return tuple(row for row in self.requirements_added if row.status in (State.UNCITED.words, State.TO_DO.words))


class CitationChange(Struct, frozen=True, kw_only=True):
    target: str
    identifier: str | None  # The first digits of the id, or None for a text that is not a requirement.
    text: str
    kind: str
    places: tuple[str, ...]


class StaleCitation(Struct, frozen=True, kw_only=True):
    """A citation that became invalid although it was not edited."""

    file_path: str
    line_number: int
    kind: str
    target: str
    quote: str
    message: str


def compare_catalogues(then: Catalogue, now: Catalogue) -> Difference:
    # Pair the requirements: unmoved, then moved, then reworded ones, by id or by similarity.
    rest = _Unpaired(then, now)
    same = rest.take(lambda catalogue, card: (*_make_section_key(catalogue, card), card.text))
    moved = rest.take(lambda catalogue, card: (catalogue.specifications[card.specification].locator, card.text))
    moved = sorted([*moved, *rest.take(lambda catalogue, card: card.text)], key=lambda pair: pair[1])
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST list the requirements that were added, removed, reworded, or moved to another section.
    changed = [
        # A requirement without an id gets a separate key.
        *rest.take(
            lambda old, card: (old.specifications[card.specification].locator, card.name) if card.name else object()
        ),
        *rest.take_alike({}),
        *rest.take_alike(_find_successors(then, now, moved)),
    ]
    pairs = sorted([*same, *moved, *changed], key=lambda pair: pair[1])
    # A requirement file may give the same text a different level, and a specification a different id.
    relabelled = [
        (old, new)
        for old, new in (*same, *moved)
        for before, after in ((then.requirements[old], now.requirements[new]),)
        if before.level is not after.level or (before.name and after.name and before.name != after.name)
    ]
    coverage = list(_find_coverage_changes(then, now, pairs))
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST list each citation that was added or removed, and each unedited citation that became invalid.
    stale = _pair_citations(then, now, are_valid=False)
    # Skip unchanged citations whose text has become a requirement, or is no longer one.
    unchanged = _pair_citations(then, now, are_valid=True)
    present = dict(pairs)
    our_keys: dict[int, _CitedText] = {
        old: ("now", present[old]) if old in present else ("then", old) for old in range(len(then.requirements))
    }
    their_keys: dict[int, _CitedText] = {new: ("now", new) for new in range(len(now.requirements))}
    ours = _CitationIndex(then, our_keys, [old for old, _ in (*stale, *unchanged)])
    theirs = _CitationIndex(now, their_keys, [new for _, new in unchanged])
    return Difference(
        then=_count_coverage(then),
        now=_count_coverage(now),
        coverage_lost=tuple(change for change, is_loss in coverage if is_loss),
        citations_stale=tuple(_make_stale_rows(now, stale)),
        coverage_gained=tuple(change for change, is_loss in coverage if not is_loss),
        requirements_added=make_requirement_rows(now, rest.now),
        requirements_removed=make_requirement_rows(then, rest.then),
        requirements_changed=_make_changes(then, now, [*changed, *relabelled]),
        requirements_moved=_make_changes(then, now, moved),
        citations_removed=ours.subtract(theirs),
        citations_added=theirs.subtract(ours),
    )


def _count_coverage(catalogue: Catalogue) -> CoverageCount:
    *_, total = compute_level_totals(catalogue.requirements)
    return CoverageCount(**{name: getattr(total, name) for name in CoverageCount.__struct_fields__})


def _make_changes(then: Catalogue, now: Catalogue, pairs: Iterable[IndexPair]) -> tuple[RequirementChange, ...]:
    return tuple(
        RequirementChange(
            then=make_requirement_row(then, then.requirements[old]),
            now=make_requirement_row(now, now.requirements[new]),
        )
        for old, new in sorted(pairs, key=lambda pair: pair[1])
    )


def _find_coverage_changes(
    then: Catalogue, now: Catalogue, pairs: Iterable[IndexPair]
) -> Iterator[tuple[CoverageChange, bool]]:
    for old, new in pairs:
        before, after = then.requirements[old], now.requirements[new]
        if State.NOT_APPLICABLE in (before.state, after.state):
            continue
        had, has = _find_layers(then, before), _find_layers(now, after)
        lost, gained = (tuple(name for name in _LAYERS if name in one) for one in (had - has, has - had))
        ##= man/spec/diff.md#differences
        ##% `duvet diff` MUST report that an applicable requirement lost coverage if its state is worse than
        ##% before, or if all of its code or all of its tests were removed.
        ##= man/spec/diff.md#differences
        ##% `duvet diff` MUST report that an applicable requirement gained coverage if its state is better
        ##% than before, or if its first implementation or its first test was added, unless it also lost
        ##% coverage.
        ##= man/spec/diff.md#differences
        ##% A change between `uncited` and `to do` MUST NOT count as lost or gained coverage.
        state_then, state_now = (max(one.state, State.TO_DO) for one in (before, after))
        is_loss = state_now < state_then or bool(lost)
        if is_loss or gained or state_now > state_then:
            old_row, new_row = make_requirement_row(then, before), make_requirement_row(now, after)
            yield CoverageChange(then=old_row, now=new_row, lost=lost, gained=gained), is_loss


def _find_layers(catalogue: Catalogue, card: RequirementCard) -> set[str]:
    kinds = {catalogue.citations[number].kind for number in card.citations}
    return {name for name, providing in _LAYERS.items() if kinds & providing}


def find_regressions(difference: Difference) -> Iterator[Problem]:
    for change in difference.coverage_lost:
        lost = f"; it lost its {' and its '.join(change.lost)}" if change.lost else ""
        message = f"this requirement was `{change.then.status}` and is now `{change.now.status}`{lost}"
        yield make_gate_problem(change.now, rules.COVERAGE_LOST, message)
    for one in difference.citations_stale:
        message = f"this citation was valid and is now invalid: {one.message}"
        yield rules.CITATION_STALE.problem(message, one.file_path, Place(one.line_number))


class _Unpaired:
    def __init__(self, then: Catalogue, now: Catalogue) -> None:
        self.catalogues = then, now
        self.then = list(range(len(then.requirements)))
        self.now = list(range(len(now.requirements)))

    def take(self, key: _Key) -> list[IndexPair]:
        ours, theirs = self._group(key, key)
        pairs = [pair for one in ours.keys() & theirs.keys() for pair in zip(ours[one], theirs[one], strict=False)]
        return self._remove(pairs)

    def take_alike(self, successors: Mapping[_Section, _Section]) -> list[IndexPair]:
        ours, theirs = self._group(
            lambda catalogue, card: successors.get(one := _make_section_key(catalogue, card), one), _make_section_key
        )
        pairs: dict[int, int] = {}  # By the index then.
        then, now = (catalogue.requirements for catalogue in self.catalogues)
        for one in ours.keys() & theirs.keys():
            ratio = load_rapidfuzz().fuzz.ratio
            taken: set[int] = set()
            near = (
                (-ratio(then[old].text, now[new].text, score_cutoff=_MIN_LIKENESS), old, new)
                for index, old in enumerate(ours[one])
                for new in theirs[one][max(0, index - _MAX_DISTANCE) : index + _MAX_DISTANCE]
            )
            for _, old, new in sorted(found for found in near if found[0]):
                if old not in pairs and new not in taken:
                    pairs[old] = new
                    taken.add(new)
        return self._remove(pairs.items())

    def _group(self, then_key: _Key, now_key: _Key) -> tuple[dict[Hashable, list[int]], dict[Hashable, list[int]]]:
        ours, theirs = (defaultdict[Hashable, list[int]](list) for _ in range(2))
        then, now = self.catalogues
        for old in self.then:
            ours[then_key(then, then.requirements[old])].append(old)
        for new in self.now:
            theirs[now_key(now, now.requirements[new])].append(new)
        return ours, theirs

    def _remove(self, pairs: Iterable[IndexPair]) -> list[IndexPair]:
        found = sorted(pairs, key=lambda pair: pair[1])
        ours, theirs = {old for old, _ in found}, {new for _, new in found}
        self.then = [index for index in self.then if index not in ours]
        self.now = [index for index in self.now if index not in theirs]
        return found


def _find_successors(then: Catalogue, now: Catalogue, moved: Iterable[IndexPair]) -> dict[_Section, _Section]:
    sections: defaultdict[_Section, Counter[_Section]] = defaultdict(Counter)
    specifications: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for old, new in moved:
        before, after = _make_section_key(then, then.requirements[old]), _make_section_key(now, now.requirements[new])
        sections[before][after] += 1
        specifications[before[0]][after[0]] += 1
    for known in now.specifications:
        specifications.pop(known.locator, None)
    found = {}
    for locator, name in {_make_section_key(then, card) for card in then.requirements}:
        if (locator, name) in sections:
            found[locator, name] = sections[locator, name].most_common(1)[0][0]
        elif locator in specifications:
            found[locator, name] = specifications[locator].most_common(1)[0][0], name
    return found


def _make_section_key(catalogue: Catalogue, card: RequirementCard) -> _Section:
    return catalogue.specifications[card.specification].locator, card.section


def _pair_citations(then: Catalogue, now: Catalogue, *, are_valid: bool) -> list[IndexPair]:
    valid = _group_citations(then, are_valid=True)
    groups = _group_citations(now, are_valid=are_valid).items()
    found = (pair for words, numbers in groups for pair in _match_citations(then, valid.get(words, []), now, numbers))
    return sorted(found, key=lambda pair: pair[1])


def _group_citations(catalogue: Catalogue, *, are_valid: bool) -> dict[_CitedText, _Numbers]:
    groups: defaultdict[_CitedText, _Numbers] = defaultdict(list)
    for number, card in enumerate(catalogue.citations):
        if card.is_valid is are_valid:
            groups[card.kind, card.target, _normalize(card.quote)].append(number)
    return groups


def _normalize(quote: str) -> str:
    return " ".join(quote.split())


def _match_citations(then: Catalogue, ours: _Numbers, now: Catalogue, theirs: _Numbers) -> list[IndexPair]:
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST NOT list a citation as changed because its file was renamed or its line moved.
    waiting: defaultdict[str, _Numbers] = defaultdict(list)
    for number in reversed(ours):
        waiting[then.citations[number].path].append(number)
    pairs, others = [], []
    for number in theirs:
        if same_file := waiting[now.citations[number].path]:
            pairs.append((same_file.pop(), number))
        else:
            others.append(number)
    left = sorted(number for numbers in waiting.values() for number in numbers)
    return [*pairs, *zip(left, others, strict=False)]


def _make_stale_rows(now: Catalogue, stale: Iterable[IndexPair]) -> Iterator[StaleCitation]:
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
            kind=card.kind.name.lower(),
            target=card.target,
            quote=_normalize(card.quote),
            message=next(below, "its target or its quote was not found"),
        )


class _CitationIndex:
    def __init__(self, catalogue: Catalogue, keys: dict[int, _CitedText], excluded: Iterable[int]) -> None:
        self.catalogue = catalogue
        self.texts: dict[_CitedText, tuple[str, str | None, str]] = {}  # The target, id and words of each text.
        self.numbers: defaultdict[tuple[_CitedText, str], _Numbers] = defaultdict(list)
        skipped = set(excluded)
        for number, card in enumerate(catalogue.citations):
            if not card.is_valid or number in skipped:
                continue
            kind = card.kind.name.lower()
            for index in card.requirements:
                one = catalogue.requirements[index]
                self.texts[keys[index]] = catalogue.target_of(one), one.id[:SHORT_ID_DIGITS], one.text
                self.numbers[keys[index], kind].append(number)
            if not card.requirements:
                specification, quote = catalogue.specifications[card.specification], _normalize(card.quote)
                text = specification.locator, card.section, quote
                words = quote or specification.titles[card.section]
                self.texts[text] = specification.section_target(card.section), None, words
                self.numbers[text, kind].append(number)

    def subtract(self, other: _CitationIndex) -> tuple[CitationChange, ...]:
        found = []
        for (text, kind), numbers in self.numbers.items():
            theirs = other.numbers.get((text, kind), [])
            kept = {new for _, new in _match_citations(other.catalogue, theirs, self.catalogue, numbers)}
            cards = [self.catalogue.citations[number] for number in numbers if number not in kept]
            if cards:
                target, id, words = self.texts[text]
                places = tuple(card.id for card in sorted(cards, key=lambda card: (card.path, card.line)))
                found.append(CitationChange(target=target, identifier=id, text=words, kind=kind, places=places))
        return tuple(sorted(found, key=lambda one: (one.target, one.text, one.kind)))

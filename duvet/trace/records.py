"""The records of a trace: references, coverage, requirements and their states, and the totals and verdict of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, groupby
from operator import attrgetter
from posixpath import join, normpath
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from duvet.errors import DuvetError
from duvet.model import Annotation, Kind, Level, Place, Problem, Rank, Section, Severity, Specification
from duvet.rules import Rule
from duvet.text import find_place, format_count, group_equal_texts, make_text_id
from duvet.trace.catalogue import NotApplicable, RequirementCard, State
from duvet.tree.files import Tree


class AnnotationPlaces:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._texts: dict[str, str] = {}

    def of(self, annotation: Annotation, span: tuple[int, int]) -> Place:
        text = self.text(annotation.path)
        if span == (0, 0) or span[1] > len(text):
            return Place(annotation.line)
        return find_place(text, *span)

    def text(self, path: str) -> str:
        if path not in self._texts:
            try:
                self._texts[path] = self.tree.read(path).decode(errors="replace")
            except DuvetError:
                self._texts[path] = ""
        return self._texts[path]


class Failure(Struct, frozen=True):
    """A problem of an annotation, without its position in a file."""

    rule: Rule
    message: str
    hint: str = ""
    label: str = "referenced here"
    is_of_quote: bool = False  # Whether the problem is the quote, and not the target.
    once: bool = False  # Whether to report it once for all annotations with this failure.
    is_reported: bool = False  # Whether a problem of the configuration reports it already.

    def of(self, annotation: Annotation, places: AnnotationPlaces) -> Problem:
        source = annotation.source
        place = places.of(annotation, source.quote if self.is_of_quote else source.target)
        return self.rule.problem(self.message, annotation.path, place, label=self.label, hint=self.hint)


# The kinds of coverage as bits; the first six are those of awslabs duvet's JSON.
TODO, EXCEPTION, TEST, IMPLICATION, CITATION, SPEC, EXCUSED = (1 << bit for bit in range(7))
"""EXCUSED is an exception with a reason."""

KIND_FLAGS = (SPEC, TEST, CITATION, EXCEPTION, TODO, IMPLICATION)
"""The flag of each kind; a tuple, because looking up a member of an enum in a dict costs a call in Python."""

TITLE_LINE = -1  # The line index of a section's title, which an empty quote refers to.


class Fit(Rank):
    """The exactness of a match, best first."""

    EXACT = 0  # Apart from markup and the spacing of whole requirements.
    NORMALISED = 1
    ONE_EDIT = 2
    TITLE = 3


class Piece(Struct, frozen=True):
    """The part of a quote on one line: the line's index in the section, and the byte range in the file."""

    line: int
    start: int
    end: int


FoundQuote = tuple[tuple[Piece, ...], Fit]  # The pieces of a quote and its fit.


class Match(Struct, frozen=True):
    """The pieces of a quote, and all annotations with this quote."""

    section: int
    pieces: tuple[Piece, ...]
    fit: Fit
    ids: tuple[int, ...]
    flags: int
    level: Level
    stating: tuple[int, ...] = ()  # The annotations that state a requirement.


class Segment(Struct, frozen=True):
    """A byte range of a line that is covered by the same annotations throughout."""

    start: int
    end: int
    ids: tuple[int, ...]
    flags: int
    level: Level


class Tally(Struct, frozen=True):
    """The number of a requirement's bytes with each combination of flags, and the annotations that cite it."""

    bytes_by_flags: dict[int, int]
    related: tuple[int, ...]
    wordless: frozenset[int] = frozenset()  # The combinations that cover no words, which don't count for the state.

    def covered(self, flags: int) -> int:
        return sum(count for found, count in self.bytes_by_flags.items() if found & flags)

    @property
    def total(self) -> int:
        return sum(self.bytes_by_flags.values())


SegmentsByLine = dict[int, tuple[Segment, ...]]  # The cited lines of a section, each cut into segments from end to end.


class Coverage(Struct, frozen=True):
    """The coverage of one specification by the annotations of a trace."""

    specification: Specification
    matches: tuple[Match, ...]
    sections: dict[int, SegmentsByLine]
    tallies: dict[int, Tally]  # By the id of a requirement's annotation.


class Trace(Struct, frozen=True):
    """Annotations resolved against specifications, and all problems."""

    annotations: tuple[Annotation, ...]
    match_of: tuple[Match | None, ...]  # By annotation id; None for an annotation that refers to nothing.
    coverages: tuple[Coverage, ...]  # One for each cited specification, in the order of reports.
    problems: tuple[Problem, ...]
    failures: dict[int, Failure] = {}  # By annotation id.

    @property
    def citation_count(self) -> int:
        return sum(one.kind is not Kind.SPEC for one in self.annotations)


class Requirement(Struct, frozen=True):
    """A normative sentence of a section, and the annotations that refer to it."""

    specification: Specification
    section: Section
    text: str
    level: Level
    state: State
    matches: tuple[Match, ...]
    ids: tuple[int, ...]  # The annotations that state it.
    related: tuple[int, ...]  # The annotations that refer to it.
    name: str = ""  # The id that the specification gives it, such as `FR-001`.

    @property
    def id(self) -> str:
        return make_text_id(self.text)


def list_requirements(coverage: Coverage, annotations: tuple[Annotation, ...]) -> tuple[Requirement, ...]:
    ##= man/spec/trace.md#requirements
    ##% Each annotation of type `spec` MUST be a requirement.
    ##= man/spec/trace.md#requirements
    ##% Line breaks MUST NOT change the id of a requirement.
    stating = [
        (match, " ".join(annotations[match.stating[0]].quote.split())) for match in coverage.matches if match.stating
    ]
    found: list[Requirement] = []
    texts = [f"{match.section}\0{annotations[match.stating[0]].name}\0{text}" for match, text in stating]
    for statements in group_equal_texts(stating, texts):
        matches = tuple([match for match, _ in statements])
        tallies = [coverage.tallies[match.stating[0]] for match in matches]
        ids, related = matches[0].stating, tallies[0].related
        if len(matches) > 1:
            ids = tuple(sorted(chain.from_iterable([match.stating for match in matches])))
            related = tuple(sorted(set(chain.from_iterable([tally.related for tally in tallies]))))
        section, text = coverage.specification.sections[matches[0].section], statements[0][1]
        level = max([annotations[id].level for id in ids])
        state = min([compute_state(frozenset(tally.bytes_by_flags) - tally.wordless) for tally in tallies])
        name = next(filter(None, [annotations[id].name for id in ids]), "")
        found.append(Requirement(coverage.specification, section, text, level, state, matches, ids, related, name))
    return tuple(sorted(found, key=lambda one: (one.matches[0].section, one.matches[0].pieces[0].start, one.text)))


@cache
def compute_state(found: frozenset[int]) -> State:
    states = set(map(_state_of_bytes, found))
    ##= man/spec/trace.md#coverage
    ##% A requirement MUST be `to do` if only todos cite it, and `uncited` if no annotation cites it.
    if not states or max(states) <= State.TO_DO:
        return max(states, default=State.UNCITED)
    ##= man/spec/trace.md#coverage
    ##% A requirement MUST be `in progress` if only a part of it is covered, if a part needs code and another part needs
    ##% tests, or if any part is excepted without a reason.
    if min(states) <= State.TO_DO or {State.NEEDS_CODE, State.NEEDS_TESTS} <= states:
        return State.IN_PROGRESS
    return min(states)


def _state_of_bytes(flags: int) -> State:
    ##= man/spec/trace.md#coverage
    ##% A requirement MUST be `done` if each part of it is either implied, or both implemented and tested.
    if flags & IMPLICATION or (flags & CITATION and flags & TEST):
        return State.DONE
    ##= man/spec/trace.md#coverage
    ##% A requirement MUST be `excepted` if exceptions with a reason cover everything that keeps it from being `done`.
    if flags & EXCUSED:
        return State.EXCEPTED
    ##= man/spec/trace.md#coverage
    ##% A requirement MUST be `needs tests` if a part of it is implemented but not tested, and the rest is done or
    ##% excepted.
    if flags & CITATION:
        return State.NEEDS_TESTS
    ##= man/spec/trace.md#coverage
    ##% A requirement MUST be `needs code` if a part of it is tested but not implemented, and the rest is done or
    ##% excepted.
    if flags & TEST:
        return State.NEEDS_CODE
    if flags & EXCEPTION:
        return State.IN_PROGRESS
    return State.TO_DO if flags & TODO else State.UNCITED


class SettledRequirements(Struct, frozen=True):
    requirements: tuple[Requirement, ...]
    entries: tuple[NotApplicable, ...] = ()
    problems: tuple[Problem, ...] = ()
    excuses: dict[int, NotApplicable] = {}  # The entries, by the index of a requirement that is not applicable.


class Finished(Struct, frozen=True):
    """A trace with its requirements and web links."""

    trace: Trace
    requirements: tuple[Requirement, ...]
    root: str = ""  # The folder that displayed paths are relative to.
    blob_link: str | None = None
    issue_link: str | None = None
    not_applicable: tuple[NotApplicable, ...] = ()
    spelled: Mapping[str, str] = {}  # Paths of files as their patterns spell them, where that is not the short form.


class Total(Struct, frozen=True):
    """The number of requirements in each state, for one specification and level; None stands for all."""

    specification: Specification | None
    level: Level | None
    counts: tuple[int, ...]  # By state.

    @property
    def requirements(self) -> int:
        return sum(self.counts)

    @property
    def excepted(self) -> int:
        return self.counts[State.EXCEPTED]

    @property
    def not_applicable(self) -> int:
        return self.counts[State.NOT_APPLICABLE]

    @property
    def applicable(self) -> int:
        return self.requirements - self.excepted - self.not_applicable

    @property
    def done(self) -> int:
        ##= man/spec/trace.md#coverage
        ##% duvet MUST NOT count an excepted requirement as done.
        return self.counts[State.DONE]

    @property
    def percent(self) -> int | None:
        return 100 * self.done // self.applicable if self.applicable else None

    @property
    def words(self) -> str:
        if not self.requirements:
            return "no requirements"
        share = "no applicable requirements"
        if self.percent is not None:
            share = f"{self.percent} % ({self.done:,} of {self.applicable:,})"
        others = (state for state in (State.EXCEPTED, State.NOT_APPLICABLE) if self.counts[state])
        return ", ".join([share, *(f"{self.counts[state]:,} {state.words}" for state in others)])

    @property
    def left(self) -> str:
        return ", ".join(
            f"{count:,} {format_state(state, count)}"
            for state, count in zip(State, self.counts, strict=True)
            if count and state < State.EXCEPTED
        )


def format_state(state: State, count: int) -> str:
    return state.words.replace("needs", "need") if count != 1 else state.words


class GateResult(Struct, frozen=True):
    name: str  # `snapshot .duvet/snapshot.txt`
    success: str  # `snapshot .duvet/snapshot.txt is up to date`
    problems: int | None  # None if other errors prevented the gate from running.

    def describe(self, obstacles: str) -> str:
        ##= man/spec/gates.md#verdicts
        ##% `duvet report` MUST print the name of each gate with `PASS` if the gate ran and passed, and with `FAIL`
        ##% otherwise.
        if self.problems is None:
            return f"FAIL: {self.name}: not checked because of {obstacles}"
        return (
            f"FAIL: {self.name}: {format_count(self.problems, 'problem')}" if self.problems else f"PASS: {self.success}"
        )


class RunVerdict(Struct, frozen=True):
    outcome: Literal["pass", "fail", "neutral"]
    lines: tuple[str, ...]


_LevelCounts = Counter[tuple[Level, State]]
_LEVEL_AND_STATE = attrgetter("level", "state")


def compute_totals(requirements: Iterable[Requirement]) -> tuple[Total, ...]:
    """Return the totals per level and their sum, first for each specification, then for all together."""
    counts: dict[str, tuple[Specification, _LevelCounts]] = {}
    overall = _LevelCounts()
    for specification, found in groupby(requirements, attrgetter("specification")):
        own = _LevelCounts(map(_LEVEL_AND_STATE, found))
        overall.update(own)
        counts.setdefault(specification.id, (specification, _LevelCounts()))[1].update(own)
    return (*(total for one in counts.values() for total in _list_totals(*one)), *_list_totals(None, overall))


def compute_level_totals(found: Iterable[Requirement | RequirementCard]) -> tuple[Total, ...]:
    """Return the totals of each level, strongest first, followed by their sum."""
    return tuple(_list_totals(None, Counter(map(_LEVEL_AND_STATE, found))))


def group_totals(found: Iterable[Total]) -> list[tuple[Total, ...]]:
    groups: dict[str, list[Total]] = {}
    for total in found:
        groups.setdefault(total.specification.id if total.specification else "", []).append(total)
    return [tuple(group) for group in groups.values()]


def judge_run(
    problems: Iterable[Problem], gates: Sequence[GateResult] = (), annotations: int = 0, *, counts: bool = True
) -> RunVerdict:
    """Return the verdict of a run, which can pass only with a gate; `counts` adds the numbers of problems."""
    found = Counter(problem.severity for problem in problems)
    errors, warnings = found[Severity.ERROR], found[Severity.WARNING]
    others = errors - sum(gate.problems or 0 for gate in gates)
    # The line of a gate that did not run contains the number of errors.
    uncounted = 0 if any(gate.problems is None for gate in gates) else others
    counted = ((uncounted, "error"), (warnings, "warning")) if counts else ()
    numbers = ", ".join(format_count(count, noun) for count, noun in counted if count)
    lines = [numbers] if numbers else []
    ##= man/spec/gates.md#verdicts
    ##% Without a gate, `duvet report` MUST print the coverage and, if there are no errors, `OK` on a separate line.
    if not (gates or others):
        valid = f"all {annotations:,} annotations are valid" if annotations else "no annotations to check"
        lines = [", ".join(filter(None, (f"OK: {'1 annotation is valid' if annotations == 1 else valid}", numbers)))]
    outcome: Literal["pass", "fail", "neutral"] = "fail" if errors else "pass" if gates else "neutral"
    return RunVerdict(outcome, (*lines, *(gate.describe(format_count(others, "error")) for gate in gates)))


def _list_totals(specification: Specification | None, counts: _LevelCounts) -> Iterator[Total]:
    table: dict[Level, list[int]] = {}
    for (level, state), count in counts.items():
        table.setdefault(level, [0] * len(State))[state] = count
    for level in sorted(table, reverse=True):
        yield Total(specification, level, tuple(table[level]))
    sums = zip(*table.values(), strict=True) if table else [()] * len(State)
    yield Total(specification, None, tuple(map(sum, sums)))


def add_problems(trace: Trace, problems: Iterable[Problem]) -> Trace:
    return replace(trace, problems=tuple(sorted({*trace.problems, *problems}, key=lambda one: one.sort_key)))


def find_second_spellings(coverages: Iterable[Coverage], base: str) -> Iterator[tuple[Specification, Specification]]:
    """Yield each specification that is cited under two names or formats, as a pair with the shorter name last."""
    known: dict[str, Specification] = {}
    for specification in sorted((one.specification for one in coverages), key=lambda one: len(one.locator.name)):
        first = known.setdefault(normpath(join(base, specification.path)), specification)
        if first is not specification:
            yield specification, first

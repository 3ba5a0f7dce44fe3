"""The requirements of a trace as people see them: one a sentence, with one status."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain

from msgspec import Struct

from duvet.model import Annotation, Level, Section, Specification
from duvet.normalise import normalise, unspaced
from duvet.text import text_id
from duvet.trace.records import CITATION, EXCEPTION, EXCUSED, IMPLICATION, SPEC, TEST, TODO, Coverage, Match, Tally
from duvet.trace.states import State, Status


class Requirement(Struct, frozen=True):
    """A normative sentence of a section, with all that refers to it."""

    specification: Specification
    section: Section
    text: str
    level: Level
    state: State
    matches: tuple[Match, ...]
    ids: tuple[int, ...]
    """The annotations that state it."""
    related: tuple[int, ...]
    """The annotations that refer to it."""

    @property
    def id(self) -> str:
        """The hex BLAKE3 of its text, so that it outlives a new wrapping."""
        ##= man/spec/trace.md#requirements
        ##% A requirement's id MUST NOT change when its specification is wrapped anew.
        return text_id(self.text)

    @property
    def status(self) -> Status:
        return self.state.status


def requirements_of(coverage: Coverage, annotations: tuple[Annotation, ...]) -> tuple[Requirement, ...]:
    """The requirements of a specification in its order."""
    ##= man/spec/trace.md#requirements
    ##% An annotation of type `spec` MUST be a requirement, whatever its words are.
    stating = [
        (match, " ".join(annotations[match.ids[0]].quote.split())) for match in coverage.matches if match.flags & SPEC
    ]
    found = [_requirement(coverage, statements, annotations) for statements in _equal(stating)]
    return tuple(sorted(found, key=_place))


_Statement = tuple[Match, str]
"""Where a requirement is stated, and its text on one line."""


def _equal(stating: list[_Statement]) -> Iterator[list[_Statement]]:
    """The statements whose texts differ in nothing but spacing that doesn't count, together."""
    ##= man/spec/trace.md#requirements
    ##% Sentences of one section that differ only in wrapping and in white space around punctuation MUST be one
    ##% requirement.
    groups: dict[tuple[int, str], list[_Statement]] = {}
    for statement in stating:
        match, text = statement
        groups.setdefault((match.section, unspaced(text)), []).append(statement)
    for alike in groups.values():
        if len(alike) == 1:
            yield alike
            continue
        normal: dict[str, list[_Statement]] = {}
        for statement in alike:
            normal.setdefault(normalise(statement[1]), []).append(statement)
        yield from normal.values()


def _place(requirement: Requirement) -> tuple[int, int, str]:
    first = requirement.matches[0]
    return (first.section, first.pieces[0].start, requirement.text)


def _requirement(coverage: Coverage, statements: list[_Statement], annotations: tuple[Annotation, ...]) -> Requirement:
    matches = tuple([match for match, _ in statements])
    tallies = [coverage.tallies[match.stating[0]] for match in matches]
    ids, related = matches[0].stating, tallies[0].related
    if len(matches) > 1:
        ids = tuple(sorted(chain.from_iterable([match.stating for match in matches])))
        related = tuple(sorted(set(chain.from_iterable([tally.related for tally in tallies]))))
    return Requirement(
        coverage.specification,
        coverage.specification.sections[matches[0].section],
        statements[0][1],
        max([annotations[id].level for id in ids]),
        min(map(state_of, tallies)),
        matches,
        ids,
        related,
    )


def state_of(tally: Tally) -> State:
    """The state of a requirement: that of its least covered byte."""
    return _least(frozenset(tally.bytes_by_flags))


@cache
def _least(found: frozenset[int]) -> State:
    ##= man/spec/trace.md#coverage
    ##% A requirement MUST be done if each of its bytes is implemented and tested, implied, or excepted with a reason.
    ##= man/spec/trace.md#coverage
    ##% A requirement MUST need tests if it is not done and each of its bytes is implemented, implied or excepted.
    ##= man/spec/trace.md#coverage
    ##% A requirement MUST be in progress if anything but a todo refers to a part of it, and it is neither done nor in
    ##% need of tests.
    ##= man/spec/trace.md#coverage
    ##% A requirement MUST count as not started if only todos refer to it, or nothing.
    states = set(map(_state_of_bytes, found))
    if not states or max(states) <= State.TO_DO:
        return max(states, default=State.UNCITED)
    if min(states) <= State.TO_DO:
        return State.PARTIAL
    return min(states)


def _state_of_bytes(flags: int) -> State:
    if flags & CITATION and flags & TEST:
        return State.COMPLETE
    if flags & IMPLICATION:
        return State.IMPLIED
    if flags & EXCUSED:
        return State.EXCEPTION
    if flags & (CITATION | EXCEPTION):
        return State.MISSING_TEST
    if flags & TEST:
        return State.MISSING_IMPLEMENTATION
    return State.TO_DO if flags & TODO else State.UNCITED

from collections.abc import Iterator

from hypothesis import given

from duvet.model import Annotation, Format, Kind, Level, Locator, Section, Specification
from duvet.text import byte_length
from duvet.trace import coverage, records
from duvet.trace.catalogue import State
from tests.unit.trace.trace_samples import HEADING, cited_texts, citing, trace_of


def fragments(text: str, quote: str) -> list[tuple[int, int]]:
    """Return the bytes that a quote covers, line by line; a single byte only marks a place."""
    start = text.replace("\n", " ").find(quote)
    found: list[tuple[int, int]] = []
    for part in text[start : start + len(quote)].split("\n"):
        low = len(HEADING) + byte_length(text[:start])
        size = byte_length(part)
        found += [(low, low + size if size > 1 else low)] if part else []
        start += len(part) + 1
    return found


def bytes_of(text: str, annotation: Annotation) -> set[int]:
    return {byte for low, high in fragments(text, annotation.quote) for byte in range(low, high)}


def flags_of(annotations: Iterator[Annotation]) -> int:
    flags = 0
    for one in annotations:
        flags |= records.KIND_FLAGS[one.kind]
        flags |= records.EXCUSED if one.kind is Kind.EXCEPTION and one.reason else 0
    return flags


def state_in_words(text: str, stated: Annotation, annotations: tuple[Annotation, ...]) -> State:
    def has(byte: int, kind: Kind, reasoned: bool = False) -> bool:
        found = (one for one in annotations if one.kind is kind and (one.reason or not reasoned))
        return any(byte in bytes_of(text, one) for one in found)

    def implied(byte: int) -> bool:
        return has(byte, Kind.IMPLICATION) or (has(byte, Kind.CITATION) and has(byte, Kind.TEST))

    def excused(byte: int) -> bool:
        return implied(byte) or has(byte, Kind.EXCEPTION, reasoned=True)

    own = bytes_of(text, stated)
    for state, holds in (
        (State.DONE, implied),
        (State.EXCEPTED, excused),
        (State.NEEDS_TESTS, lambda byte: excused(byte) or has(byte, Kind.CITATION)),
        (State.NEEDS_CODE, lambda byte: excused(byte) or has(byte, Kind.TEST)),
    ):
        if own and all(map(holds, own)):
            return state
    if any(has(byte, kind) for byte in own for kind in Kind if kind not in (Kind.SPEC, Kind.TODO)):
        return State.IN_PROGRESS
    return State.TO_DO if any(has(byte, Kind.TODO) for byte in own) else State.UNCITED


@given(cited_texts())
def test_coverage_equals_the_plain_rules(cited: tuple[str, tuple[Annotation, ...]]) -> None:
    ##= man/spec/trace.md#coverage
    ##% An annotation MUST cover exactly the bytes that it quotes.
    ##= man/spec/trace.md#coverage
    ##% A requirement MUST be `done` if each part of it is either implied, or both implemented and tested. A requirement
    ##% MUST be `excepted` if exceptions with a reason cover everything that keeps it from being `done`. A requirement
    ##% MUST be `needs tests` if a part of it is implemented but not tested, and the rest is done or excepted. A
    ##% requirement MUST be `needs code` if a part of it is tested but not implemented, and the rest is done or
    ##% excepted. A requirement MUST be `in progress` if only a part of it is covered, if a part needs code and another
    ##% part needs tests, or if any part is excepted without a reason. A requirement MUST be `to do` if only todos cite
    ##% it, and `uncited` if no annotation cites it.
    text, annotations = cited
    trace = trace_of(text, *annotations)
    (covered,) = trace.coverages
    section, tallies = covered.specification.sections[0], covered.tallies
    assert trace.problems == ()
    bytes_by_id = [bytes_of(text, one) for one in annotations]
    points = {point for one in annotations for fragment in fragments(text, one.quote) for point in fragment}
    seen: set[int] = set()
    for line, segments in covered.sections[0].items():
        start = section.starts[line]
        ends = [start, *(segment.end for segment in segments)]
        assert [segment.start for segment in segments] == ends[:-1]
        assert ends[-1] == start + byte_length(section.lines[line])
        assert ends == sorted({start, ends[-1], *(point for point in points if start <= point <= ends[-1])})
        assert "".join(coverage.segment_texts(section, line, segments)) == section.lines[line]
        for segment in segments:
            for byte in range(segment.start, segment.end):
                seen.add(byte)
                ids = tuple(id for id, own in enumerate(bytes_by_id) if byte in own)
                assert (segment.ids, segment.flags) == (ids, flags_of(annotations[id] for id in ids))
                assert segment.level == max((annotations[id].level for id in ids), default=Level.AUTO)
    assert seen >= set().union(*bytes_by_id)
    assert sorted(tallies) == [id for id, one in enumerate(annotations) if one.kind is Kind.SPEC]
    for id, tally in tallies.items():
        own = bytes_by_id[id]
        others = [(other, one, bytes_by_id[other] & own) for other, one in enumerate(annotations)]
        assert tally.total == len(own)
        assert tally.related == tuple(other for other, one, shared in others if shared and one.kind is not Kind.SPEC)
        for kind, flag in zip(Kind, records.KIND_FLAGS, strict=True):
            shared = set().union(*(shared for _, one, shared in others if one.kind is kind))
            assert tally.covered(flag) == len(shared)
    for stated in records.list_requirements(covered, annotations):
        assert stated.state is state_in_words(text, annotations[stated.ids[0]], annotations)


def test_a_title_is_covered_as_a_whole() -> None:
    covered = trace_of("ab", citing(""), citing("", Kind.SPEC, 2, Level.MUST), citing("ab", Kind.TODO, 3)).coverages[0]
    assert covered.sections == {
        0: {
            records.TITLE_LINE: (records.Segment(2, 3, (0, 1), records.CITATION | records.SPEC, Level.MUST),),
            0: (records.Segment(4, 6, (2,), records.TODO, Level.AUTO),),
        }
    }
    assert covered.tallies == {1: records.Tally({records.CITATION | records.SPEC: 1}, (0,))}


class Counted(int):
    """A place that counts how often it is compared."""

    times = 0

    def __lt__(self, other: int) -> bool:
        Counted.times += 1
        return super().__lt__(other)

    def __gt__(self, other: int) -> bool:
        Counted.times += 1
        return super().__gt__(other)


def test_many_sentences_on_one_line_are_cut_one_by_one() -> None:
    count = 1000
    ends = [10 * number + 9 for number in range(count)]
    pieces = [records.Piece(0, Counted(end - 9), Counted(end)) for end in ends]
    matches = [
        records.Match(0, (one,), records.Fit.EXACT, (id,), records.SPEC, Level.MUST, (id,))
        for id, one in enumerate(pieces)
    ]
    whole = records.Match(0, (records.Piece(0, 0, ends[-1]),), records.Fit.EXACT, (count,), records.TEST, Level.AUTO)
    section = Section("t", "T", (0, 0), "T", ("x" * ends[-1],), (0,))
    specification = Specification("t", "T", Locator("t"), "t", "t", Format.MARKDOWN, "", "", b"", (section,))
    covered = coverage.cover_specification(specification, [*matches, whole])
    gaps = [records.Segment(end, end + 1, (count,), records.TEST, Level.AUTO) for end in ends[:-1]]
    sentences = [
        records.Segment(end - 9, end, (id, count), records.SPEC | records.TEST, Level.MUST)
        for id, end in enumerate(ends)
    ]
    assert covered.sections == {0: {0: tuple(sorted([*gaps, *sentences], key=lambda one: one.start))}}
    assert covered.tallies == {id: records.Tally({records.SPEC | records.TEST: 9}, (count,)) for id in range(count)}
    assert Counted.times < 50 * count

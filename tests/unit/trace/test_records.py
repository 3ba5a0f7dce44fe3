from blake3 import blake3
from hypothesis import given, strategies as st

from duvet.model import Annotation, Kind, Level, Problem, Severity
from duvet.trace import records
from duvet.trace.catalogue import State
from duvet.trace.records import Requirement, list_requirements
from tests.unit.trace.trace_samples import citing, requirement, trace_of

TEXT = "The pot MUST be warm."
# On two lines, so that no blank between the halves is left over.


def find_requirements(text: str, *annotations: Annotation) -> tuple[Requirement, ...]:
    trace = trace_of(text, *annotations)
    assert [one for one in trace.problems if one.code != "DUV051"] == []
    return list_requirements(trace.coverages[0], annotations)


CODE, TEST, BOTH = records.CITATION, records.TEST, records.CITATION | records.TEST
EXCUSED = records.EXCEPTION | records.EXCUSED


def test_the_parts_of_a_requirement_decide_its_state() -> None:
    for parts, state in [
        ((), State.UNCITED),
        ((0, records.TODO), State.TO_DO),
        ((0, CODE), State.IN_PROGRESS),
        ((CODE, TEST), State.IN_PROGRESS),
        ((records.EXCEPTION, BOTH), State.IN_PROGRESS),
        ((TEST, BOTH, EXCUSED), State.NEEDS_CODE),
        ((CODE | records.EXCEPTION, BOTH, EXCUSED), State.NEEDS_TESTS),
        ((EXCUSED | TEST, BOTH), State.EXCEPTED),
        ((BOTH, records.IMPLICATION), State.DONE),
    ]:
        assert records.compute_state(frozenset(parts)) is state


def test_every_field_of_a_requirement_is_set() -> None:
    annotations = citing("The pot"), citing(TEXT, Kind.SPEC, 9, Level.MUST), citing(TEXT, Kind.TEST)
    trace = trace_of("The pot\nMUST be warm.", *annotations)
    (requirement,) = list_requirements(trace.coverages[0], annotations)
    specification = trace.coverages[0].specification
    assert requirement == Requirement(
        specification,
        specification.sections[0],
        TEXT,
        Level.MUST,
        State.NEEDS_CODE,
        tuple(match for match in trace.coverages[0].matches if 1 in match.ids),
        (1,),
        (0, 2),
    )


def test_requirements_are_in_the_order_of_the_text_and_equal_sentences_are_one() -> None:
    text = "A MUST b1.\nC MAY d1.\nE SHOULD f1."
    quotes = ["E SHOULD f1.", "A MUST b1.", "C MAY d1."]
    found = find_requirements(text, *(citing(quote, Kind.SPEC) for quote in quotes))
    assert [one.text for one in found] == sorted(quotes)
    text = "It MUST\tbe.\nIt MUST be."
    first, other = citing("It MUST\tbe.", Kind.SPEC, 1, Level.SHOULD), citing("It MUST be.", Kind.SPEC, 2, Level.MUST)
    (requirement,) = find_requirements(text, first, other, citing("It MUST\tbe."), citing("It MUST\tbe.", Kind.TEST))
    assert (requirement.text, requirement.ids, requirement.level) == ("It MUST be.", (0, 1), Level.MUST)
    assert (requirement.state, requirement.related) == (State.UNCITED, (2, 3))


def test_neither_spacing_nor_wrapping_makes_another_requirement() -> None:
    ##= man/spec/trace.md#requirements
    ##% Line breaks MUST NOT change the id of a requirement.
    quotes = "It (A) MUST be.", "It ( A ) MUST be."
    (requirement,) = find_requirements("\n".join(quotes), *(citing(quote, Kind.SPEC) for quote in quotes))
    assert (requirement.text, requirement.ids) == (quotes[0], (0, 1))
    (one,) = find_requirements("It MUST\nbe.", citing("It MUST be.", Kind.SPEC))
    (other,) = find_requirements("x\n\nIt\nMUST be.", citing("It MUST be.", Kind.SPEC))
    assert one.id == other.id == blake3(b"It MUST be.").hexdigest()


def test_a_requirement_of_one_byte_or_without_text() -> None:
    ##= man/spec/trace.md#requirements
    ##% Each annotation of type `spec` MUST be a requirement.
    (requirement,) = find_requirements("a b", citing("a", Kind.SPEC), citing("a"))
    assert (requirement.state, requirement.related) == (State.UNCITED, ())
    (requirement,) = find_requirements("ab", citing("", Kind.SPEC), citing(""), citing("", Kind.TEST))
    assert (requirement.text, requirement.state, requirement.related) == ("", State.DONE, (1, 2))


ERROR = Problem("DUV050", "wrong")
WARNING = Problem("DUV051", "odd", severity=Severity.WARNING)


def rows(found: tuple[records.Total, ...]) -> list[tuple[str, str, tuple[int, ...]]]:
    names = [(one.specification.id if one.specification else "all", one.counts) for one in found]
    levels = ["all" if one.level is None else one.level.name for one in found]
    return [(name, level, counts) for (name, counts), level in zip(names, levels, strict=True)]


def test_levels_come_strongest_first_and_sums_last() -> None:
    made = [
        requirement("b", Level.AUTO, State.TO_DO),
        requirement("b", Level.MUST, State.DONE),
        requirement("a", Level.MUST, State.EXCEPTED),
    ]
    assert rows(records.compute_totals(made)) == [
        ("b", "MUST", (0, 0, 0, 0, 0, 0, 1, 0)),
        ("b", "AUTO", (0, 1, 0, 0, 0, 0, 0, 0)),
        ("b", "all", (0, 1, 0, 0, 0, 0, 1, 0)),
        ("a", "MUST", (0, 0, 0, 0, 0, 1, 0, 0)),
        ("a", "all", (0, 0, 0, 0, 0, 1, 0, 0)),
        ("all", "MUST", (0, 0, 0, 0, 0, 1, 1, 0)),
        ("all", "AUTO", (0, 1, 0, 0, 0, 0, 0, 0)),
        ("all", "all", (0, 1, 0, 0, 0, 1, 1, 0)),
    ]
    (total,) = records.compute_totals([])
    assert rows((total,)) == [("all", "all", (0,) * 8)]
    assert (total.percent, total.words, total.left) == (None, "no requirements", "")


HALF = "3 uncited, 1 to do, 2 in progress, 1 needs code, 4 need tests"


def test_totals_count_each_state() -> None:
    ##= man/spec/trace.md#coverage
    ##% duvet MUST NOT count an excepted requirement as done.
    for counts, applicable, words, left in [
        ((3, 1, 2, 1, 4, 5, 3, 0), 14, "21 % (3 of 14), 5 excepted", HALF),
        ((3, 1, 2, 1, 4, 5, 3, 6), 14, "21 % (3 of 14), 5 excepted, 6 not applicable", HALF),
        ((0,) * 7 + (2,), 0, "no applicable requirements, 2 not applicable", ""),
        ((0,) * 5 + (2, 0, 0), 0, "no applicable requirements, 2 excepted", ""),
        ((0,) * 6 + (999, 0), 999, "100 % (999 of 999)", ""),
        ((1, *(0,) * 5, 999, 0), 1000, "99 % (999 of 1,000)", "1 uncited"),
    ]:
        total = records.Total(None, None, counts)
        assert (total.requirements, total.applicable, total.excepted) == (sum(counts), applicable, counts[5])
        assert (total.words, total.left) == (words, left)


HELD = records.GateResult("snapshot", "snapshot is up to date", 0)
SKIPPED = records.GateResult("citations", "every requirement is cited", None)


def test_a_run_is_judged() -> None:
    ##= man/spec/gates.md#verdicts
    ##% `duvet report` MUST print the name of each gate with `PASS` if the gate ran and passed, and with `FAIL`
    ##% otherwise. Without a gate, `duvet report` MUST print the coverage and, if there are no errors, `OK` on a
    ##% separate line.
    for problems, gates, count, outcome, lines in [
        ([], (), 1333, "neutral", ("OK: all 1,333 annotations are valid",)),
        ([WARNING], (), 1, "neutral", ("OK: 1 annotation is valid, 1 warning",)),
        ([], (), 0, "neutral", ("OK: no annotations to check",)),
        ([ERROR, WARNING, ERROR], (), 3, "fail", ("2 errors, 1 warning",)),
        ([WARNING], (HELD,), 3, "pass", ("1 warning", "PASS: snapshot is up to date")),
        ([ERROR], (HELD,), 3, "fail", ("1 error", "PASS: snapshot is up to date")),
        (
            [ERROR] * 1200,
            (HELD, records.GateResult("citations", "every requirement is cited", 1200)),
            3,
            "fail",
            ("PASS: snapshot is up to date", "FAIL: citations: 1,200 problems"),
        ),
        ([ERROR], (SKIPPED,), 3, "fail", ("FAIL: citations: not checked because of 1 error",)),
        ([ERROR, WARNING], (SKIPPED,), 3, "fail", ("1 warning", "FAIL: citations: not checked because of 1 error")),
    ]:
        verdict = records.judge_run(problems, gates, count)
        assert (verdict.outcome, verdict.lines) == (outcome, lines)


@given(st.lists(st.builds(requirement, st.sampled_from("abc"), st.sampled_from(Level), st.sampled_from(State))))
def test_sums_equal_the_sum_of_their_parts(made: list[records.Requirement]) -> None:
    *groups, overall = records.group_totals(records.compute_totals(made))
    for group in (*groups, overall):
        levels = [total.counts for total in group[:-1]]
        assert group[-1].counts == tuple(map(sum, zip(*levels, strict=True))) or not levels
    assert sum(group[-1].requirements for group in groups) == overall[-1].requirements == len(made)
    whole = overall[-1]
    assert sum(whole.counts) == whole.requirements

import re
from itertools import count

from pytest_snapshot.plugin import Snapshot

from duvet.model import Annotation, Kind, Level
from duvet.progress import Progress
from duvet.specs.library import Library
from duvet.trace.build import build_trace
from duvet.trace.names import NamedText, RequirementNames, find_name_problems
from duvet.trace.records import Trace, list_requirements
from duvet.tree.files import MemoryTree
from tests.problems import show_problem

TEXT = """# Tea

## Pot

- FR-001: The pot MUST be warm.
- FR-002: The pot MUST be clean.
- FR-003: The pot MUST be round.

## Cup

The cup MUST be clean. The pot MUST be warm.

- FR-004: The cup MUST be warm, and the cup MUST be
  clean.
- FR-005: A lid MAY be there.

## Sugar

- FR-005: Sugar MAY be there.
"""
STATED = (
    ("FR-001", "pot", "The pot MUST be warm."),
    ("FR-002", "pot", "The pot MUST be clean."),
    ("FR-003", "pot", "The pot MUST be round."),
    ("FR-004", "cup", "The cup MUST be warm, and the cup MUST be clean."),
    ("FR-005", "cup", "A lid MAY be there."),
    ("FR-005", "sugar", "Sugar MAY be there."),
)


def stating(name: str, section: str, text: str, path: str = "tea.md") -> Annotation:
    return Annotation(f"{section}.toml", 1, Kind.SPEC, f"{path}#{section}", text, Level.MUST, from_file=True, name=name)


def trace_of(*cited: tuple[str, str], text: str = TEXT, stated: tuple[tuple[str, str, str], ...] = STATED) -> Trace:
    tree = MemoryTree({"tea.md": text.encode()})
    lines = count(1)
    citations = [Annotation("a.rs", next(lines), Kind.CITATION, target, quote) for target, quote in cited]
    return build_trace((*(stating(*one) for one in stated), *citations), Library(tree, "d"), tree, "", (), Progress())


def cited_by(trace: Trace) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for coverage in trace.coverages:
        for one in list_requirements(coverage, trace.annotations):
            for id in one.related:
                found.setdefault(f"{trace.annotations[id].line} {trace.annotations[id].target}", []).append(one.name)
    return found


def test_a_target_may_name_the_id_of_a_requirement() -> None:
    ##= man/spec/names.md#targets
    ##% duvet MUST accept a requirement id in place of the section of a target.
    trace = trace_of(
        ("tea.md#FR-001", "The pot MUST be warm."),
        ("tea.md#fr-002", "The pot MUST be clean ."),
        ("tea.md#fr-003", "round."),
        ("tea.md#FR-004", "the cup MUST be clean."),
        ("tea.md#FR-002", "MUST be clean."),
    )
    assert trace.problems == ()
    targets = "1 tea.md#FR-001", "2 tea.md#fr-002", "3 tea.md#fr-003", "4 tea.md#FR-004", "5 tea.md#FR-002"
    assert cited_by(trace) == {target: [target[-6:].upper()] for target in targets}
    # A section with the id wins.
    stated = *STATED, ("pot", "cup", "The cup MUST be clean.")
    trace = trace_of(("tea.md#pot", "The pot MUST be clean."), stated=stated)
    assert trace.problems == ()
    assert cited_by(trace) == {"1 tea.md#pot": ["FR-002"]}


def test_wrong_citations_of_ids(snapshot: Snapshot) -> None:
    ##= man/spec/names.md#targets
    ##% If a target names a requirement id, duvet MUST report a quote that is not a part of that requirement.
    trace = trace_of(
        ("tea.md#FR-001", "The pot MUST be clean."),
        ("tea.md#FR-001", "The lid MUST be gone."),
        ("tea.md#FR-001", "MUST be"),
        ("tea.md#FR-004", "The pot MUST be warm."),
        ("tea.md#FR-009", "The pot MUST be warm."),
        ("tea.md#FR-001", ""),
        ("FR-002", "The pot MUST be clean."),
        ("tea.md#FR-005", "Sugar MAY be there."),
    )
    assert cited_by(trace) == {"3 tea.md#FR-001": ["FR-001"]}
    snapshot.assert_match("\n".join([*map(show_problem, trace.problems), ""]), "names/wrong_citations.txt")


def problems_of(text: str, *names: str) -> list[str]:
    lines = text.split("\n")
    stated: list[tuple[str, str, str]] = []
    for name in names:
        line = next(one for one in lines if f"{name}: " in one and name not in [one[0] for one in stated])
        stated.append((name, "t", line.partition(f"{name}: ")[2]))
    trace = trace_of(text=f"# T\n\n{text}\n", stated=tuple(stated))
    assert trace.problems == ()
    return [show_problem(one) for one in find_name_problems(trace)]


def test_the_id_of_a_heading_belongs_to_all_requirements_below_it() -> None:
    text = "# T\n\n## FR-001 Login\n\nA user MUST log in.\n\nIt MUST be fast.\n"
    stated = (("FR-001", "fr-001-login", "A user MUST log in."), ("FR-001", "fr-001-login", "It MUST be fast."))
    trace = trace_of(("tea.md#FR-001", "It MUST be fast."), text=text, stated=stated)
    assert (trace.problems, list(find_name_problems(trace))) == ((), [])
    assert cited_by(trace) == {"1 tea.md#FR-001": ["FR-001"]}


def test_gaps_in_a_series() -> None:
    ##= man/spec/names.md#checks
    ##% duvet SHOULD warn about gaps in an otherwise complete series of ids.
    for numbers, expected, hint in [
        ((1, 2, 4), "FR-003 is missing between FR-002 and FR-004", "it, FR-003 was"),
        ((1, 2, 5), "FR-003, FR-004 are missing between FR-002 and FR-005", "them, FR-003 and FR-004 were"),
        ((3, 4, 5, 8), "FR-006, FR-007 are missing between FR-005 and FR-008", "them, FR-006 and FR-007 were"),
        *((numbers, "", "") for numbers in ((1, 2, 3), (1, 3), (10, 20, 30), (1, 3, 5, 6), (1, 2, 3, 20, 21))),
    ]:
        names = [f"FR-{number:03}" for number in numbers]
        text = "\n".join(f"- {name}: {name[-1]} MUST go." for name in names)
        what, _, gone = hint.partition(", ")
        found = [re.split(r"DUV112 | \[|; ", one) for one in problems_of(text, *names)]
        asked = f"restore {what}, or write in the specification that {gone} removed"
        assert [(one[1], one[-1]) for one in found] == ([(expected, asked)] if expected else [])
        # What the hint says closes the gap.
        assert not problems_of(f"{text}\n\n{gone} removed. FR-003 was removed.", *names)


def test_repeated_and_undefined_ids() -> None:
    ##= man/spec/names.md#checks
    ##% duvet SHOULD warn about an id that two requirements of a specification share.
    twice = "FR-005 is the id of two requirements [second FR-005]; give one of them a different id (:15 first FR-005)"
    assert [show_problem(one) for one in find_name_problems(trace_of())] == [f"tea.md:19 warning DUV110 {twice}"]
    correct = "[not defined]; correct the id, or define it at the start of a paragraph, list item or table row"
    text = """- **FR-001**: a MUST b (see FR-099 and FR-098).
- FR-002: c MUST d, see FR-001, FR-099, AC-7, `FR-097`, [FR-003](#FR-096) and FR-1.2.
- [ ] FR-003 Users can do this.
| FR-004 | no keyword | FR-095 |

```
FR-094
```
<!-- FR-093
FR-092 --> FR-091 was removed."""
    assert problems_of(text, "FR-002") == [
        f"tea.md:3:29+6 warning DUV111 the specification does not define FR-099 {correct}",
        f"tea.md:3:40+6 warning DUV111 the specification does not define FR-098 {correct}",
    ]
    text = "FR-001: a MUST b.\n" + "FR-1 " * 50_000 + "\n" + "`" * 100_001 + " `" * 50_000 + "\n" + "<!--" * 50_000
    assert problems_of(text, "FR-001") == []


def test_requirements_that_contain_a_quote() -> None:
    texts = [("FR-1", "The pot MUST be warm."), ("FR-2", "It MUST be warm, warm."), ("FR-1", "The pot MUST be warm.")]
    names = RequirementNames(NamedText(name, section, text) for section, (name, text) in enumerate(texts))
    assert [
        [(one.name, one.section) for one in names.find_containing(quote)]
        for quote in ("be warm", "warm. It", " ", "pot\nMUST")
    ] == [[("FR-1", 0), ("FR-1", 2), ("FR-2", 1)], [], [], [("FR-1", 0), ("FR-1", 2)]]

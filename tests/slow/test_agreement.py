import json
import re
from collections import Counter

import pytest
from msgspec import to_builtins

from duvet import rules
from duvet.project.project import Project
from duvet.queries.details import CitationReader, RequirementDetail, make_detail
from duvet.queries.references import resolve_reference
from duvet.trace.locations import ProjectFiles
from tests.golden_projects import SETTLED, STATUSES, Golden, Key, Requirement, Row, golden, key_of, numbers_of

# pytest looks for the fixture by its name here.
__all__ = ["golden"]

OWN_RULES = {"DUV090", "DUV091", "DUV092", "DUV093"}
"""Those of `duvet validate` alone."""


def summarised(owed: dict[Key, Requirement]) -> tuple[Counter[str], str]:
    found = Counter(one.status for one in owed.values())
    among = len(owed) - found["excepted"]
    words = f"coverage: {100 * found['done'] // among} % ({found['done']} of {among})"
    return found, f"{words}, {found['excepted']} excepted" if found["excepted"] else words


def test_summaries_agree(golden: Golden) -> None:
    found, coverage = summarised(golden.requirements)
    lines = golden.summary.splitlines()
    assert coverage in lines and f"OK: all {golden.citation_count} annotations are valid" in lines
    columns = ("needs tests", "needs code", "in progress", "to do", "uncited", "excepted")
    *_, numbers = (line for line in lines if re.search(r" \d+%( |$)", line))
    counts = [str(found[name]) for name in columns if found[name]]
    assert numbers.split()[-len(counts) :] == counts


def test_gates_agree(golden: Golden) -> None:
    weights = ["MUST", "SHOULD", "MAY", None]
    levels = [golden.requirements[key].level for key in golden.with_status("uncited", "to do")]
    for number, gate in enumerate(("must", "should", "may", "any"), 1):
        breaking = sum(level in weights[:number] for level in levels)
        assert breaking
        last = golden.duvet("uncited", "--fail-on", gate, "--limit", "1").err.splitlines()[-1]
        assert last == f"FAIL: --fail-on {gate}: {breaking} requirement{'' if breaking == 1 else 's'}"


def test_uncited_untested_and_to_do_agree(golden: Golden) -> None:
    requirements, uncited = golden.requirements, golden.with_status("uncited", "to do")
    assert golden.keys("uncited") == uncited
    assert golden.duvet("uncited").err == f"{len(uncited)} of {len(requirements)} requirements uncited or `to do`\n"
    assert golden.keys("uncited", "--untested") == {
        key
        for key, one in requirements.items()
        if one.status == "needs tests" or (one.status not in SETTLED and not one.tests)
    }
    todos = {key_of(row): len(row["todos"]) for row in golden.rows("uncited", "--todo")}
    assert todos == {key: one.todos for key, one in requirements.items() if one.todos}


@pytest.mark.parametrize("status", STATUSES)
def test_statuses_agree(status: str, golden: Golden) -> None:
    wanted, expected = status.replace(" ", "-"), golden.with_status(status)
    assert golden.keys("uncited", "--status", wanted) == expected
    assert golden.keys("prioritize", "--limit", "0", "--status", wanted) == expected
    everything = " OR ".join(f'specification : "{one["name"]}"' for one in golden.specifications)
    assert golden.keys("search", "--limit", "0", "--status", wanted, "--raw", everything) == expected


def test_priorities_agree(golden: Golden) -> None:
    rows = golden.rows("prioritize", "--all", "--limit", "0")
    assert [row["rank"] for row in rows] == [*range(1, len(golden.requirements) + 1)]
    assert {key_of(row): (row["status"], row["level"], row["todo_count"]) for row in rows} == {
        key: (one.status, one.level, one.todos) for key, one in golden.requirements.items()
    }
    left = golden.rows("prioritize", "--limit", "0")
    assert [key_of(row) for row in left] == [key_of(row) for row in rows if row["status"] not in SETTLED]
    assert golden.duvet("prioritize").err == f"20 of {len(left)} requirements listed, most urgent first\n"


def test_show_agrees_with_the_report(golden: Golden) -> None:
    for shown in golden.specifications:
        own = [one for (path, _, _), one in golden.requirements.items() if path == shown["target"]]
        assert {name: shown["numbers"][name] for name in numbers_of([])} == numbers_of(own)
        sections = [section["numbers"] for section in shown["sections"]]
        assert {name: sum(one[name] for one in sections) for name in numbers_of([])} == numbers_of(own)
        assert sum(level["requirements"] for level in shown["levels"]) == len(own)


def test_each_shown_requirement_agrees_with_the_report(golden: Golden) -> None:
    """Uses the library, because a process for each requirement would take too long."""
    project = Project(str(golden.folder))
    files = ProjectFiles(project.tree, project.root)
    citations = CitationReader(project.catalogue, files, 0)
    shown: dict[Key, tuple[str, str | None]] = {}
    for id in set(project.catalogue.ids):
        detail = make_detail(citations, project.specification, resolve_reference(project.catalogue, id, files))
        assert isinstance(detail, RequirementDetail)
        assert detail.status == min((place.status for place in detail.places), key=STATUSES.index)
        places = [key_of(to_builtins(place)) for place in detail.places]
        assert len(detail.citations) == len({one for place in places for one in golden.requirements[place].related})
        shown |= {key_of(to_builtins(place)): (place.status, place.level) for place in detail.places}
    assert shown == {key: (one.status, one.level) for key, one in golden.requirements.items()}


def test_validate_agrees_with_the_report(golden: Golden) -> None:
    annotations = golden.report["annotations"]
    told, checked = validated(golden)
    # The report counts the annotations that cite, and not those that state requirements.
    assert checked == sum(one.get("type") != "SPEC" for one in annotations)
    assert {(one["path"], one["line"]) for one in told if one["code"] == rules.EXCEPTION_NO_REASON.code} == {
        (one["source"], one["line"]) for one in annotations if one.get("type") == "EXCEPTION" and not one.get("comment")
    }
    known = Project(str(golden.folder)).trace.problems
    by_report = {(one.code, one.path, one.place.line) for one in known}
    assert by_report <= {(one["code"], one["path"], one["line"]) for one in told}
    # What is left are rules of `duvet validate` alone, so every target and quote is right, as the report has it.
    assert {one["code"] for one in told} - {one.code for one in known} <= OWN_RULES


def test_validate_of_two_halves_agrees_with_the_report(golden: Golden) -> None:
    paths = sorted({one["source"] for one in golden.report["annotations"]})
    (first, one), (second, other) = (validated(golden, *paths[start::2]) for start in (0, 1))
    told, checked = validated(golden)
    assert one + other == checked
    assert sorted(first + second, key=repr) == sorted(told, key=repr)


def validated(golden: Golden, *files: str) -> tuple[list[Row], int]:
    done = golden.duvet("validate", *files, "--format", "json")
    found = re.fullmatch(
        r"(?s)(?:.*\n)?checked ([\d,]+) annotations in [\d,]+ files?(: [^\n]+)?\n(?:run [^\n]+\n)?", done.err
    )
    assert found is not None, done.err
    problems = list(json.loads(done.out)["problems"])
    assert done.code == any(one["severity"] == "error" for one in problems)
    return problems, int(found[1].replace(",", ""))

"""On real projects, what is shown and what is wrong agrees with the JSON report of awslabs duvet's format."""

from __future__ import annotations

import json
import re

from msgspec import to_builtins

from duvet import rules
from duvet.project.project import Project
from duvet.queries.citations import CitationReader
from duvet.queries.details import DetailMaterial, make_detail
from duvet.queries.records import RequirementDetail
from duvet.queries.references import resolve_reference
from duvet.trace.locations import ProjectFiles
from tests.golden_projects import STATUSES, Golden, Key, Row, golden, key_of, numbers_of

# pytest looks for the fixture by its name here.
__all__ = ["golden"]

OWN_RULES = {"DUV090", "DUV091", "DUV092", "DUV093"}
"""Those of `duvet validate` alone."""


def test_show(golden: Golden) -> None:
    for shown in golden.specifications:
        own = [one for (path, _, _), one in golden.requirements.items() if path == shown["target"]]
        assert {name: shown["numbers"][name] for name in numbers_of([])} == numbers_of(own)
        sections = [section["numbers"] for section in shown["sections"]]
        assert {name: sum(one[name] for one in sections) for name in numbers_of([])} == numbers_of(own)
        assert sum(level["requirements"] for level in shown["levels"]) == len(own)


def test_each_requirement_that_is_shown(golden: Golden) -> None:
    """Through the library: there are too many for as many processes."""
    project = Project(str(golden.folder))
    files = ProjectFiles(project.tree, project.root)
    material = DetailMaterial(project.catalogue, CitationReader(project.catalogue, files, 0), project.specification)
    shown: dict[Key, tuple[str, str | None]] = {}
    for id in set(project.catalogue.ids):
        detail = make_detail(material, resolve_reference(project.catalogue, id, files))
        assert isinstance(detail, RequirementDetail)
        assert detail.status == min((place.status for place in detail.places), key=STATUSES.index)
        places = [key_of(to_builtins(place)) for place in detail.places]
        assert len(detail.citations) == len({one for place in places for one in golden.requirements[place].related})
        shown |= {key_of(to_builtins(place)): (place.status, place.level) for place in detail.places}
    assert shown == {key: (one.status, one.level) for key, one in golden.requirements.items()}


def test_validate(golden: Golden) -> None:
    annotations = golden.report["annotations"]
    told, checked = validated(golden)
    assert checked == len(annotations)
    assert {(one["path"], one["line"]) for one in told if one["code"] == rules.EXCEPTION_NO_REASON.code} == {
        (one["source"], one["line"]) for one in annotations if one.get("type") == "EXCEPTION" and not one.get("comment")
    }
    known = Project(str(golden.folder)).trace.problems
    by_report = {(one.code, one.path, one.place.line) for one in known}
    assert by_report <= {(one["code"], one["path"], one["line"]) for one in told}
    # What is left are rules of `duvet validate` alone, so every target and quote is right, as the report has it.
    assert {one["code"] for one in told} - {one.code for one in known} <= OWN_RULES


def test_validate_in_two_halves(golden: Golden) -> None:
    """Each annotation and each problem is in one of two halves of the files."""
    paths = sorted({one["source"] for one in golden.report["annotations"]})
    (first, one), (second, other) = (validated(golden, *paths[start::2]) for start in (0, 1))
    told, checked = validated(golden)
    assert one + other == checked
    assert sorted(first + second, key=repr) == sorted(told, key=repr)


def validated(golden: Golden, *files: str) -> tuple[list[Row], int]:
    """The problems that are told of these files or of all, and how many annotations were checked."""
    done = golden.duvet("validate", *files, "--format", "json")
    found = re.fullmatch(r"checked (\d+) annotations in \d+ files?(: .+)?\n", done.err.splitlines(keepends=True)[-1])
    assert found is not None, done.err
    problems = list(json.loads(done.out)["problems"])
    assert done.code == any(one["severity"] == "error" for one in problems)
    return problems, int(found[1])

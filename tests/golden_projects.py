"""Real projects with commands, and the expected states, computed from awslabs duvet's JSON report."""

import json
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.command import Run, runner
from tests.slow.test_conformance import copy_with_links

PROJECTS = ("h3-704b37a", "s2n-tls-132053b")
STATUSES = ("uncited", "to do", "in progress", "needs code", "needs tests", "excepted", "done")
"""The states, worst first."""
SETTLED = ("excepted", "done")

Key = tuple[str, str, str]
"""The specification, the section and the text of a requirement."""
Row = dict[str, Any]


class Requirement(NamedTuple):
    status: str
    level: str | None
    todos: int
    tests: int
    related: frozenset[int]
    """The numbers of the annotations that refer to it."""


class Golden:
    def __init__(self, duvet: Run, folder: Path) -> None:
        self.duvet, self.folder = duvet, folder
        self.summary = duvet("report", "--json", "report.json").err
        self.report = json.loads((folder / "report.json").read_text())

    @cached_property
    def requirements(self) -> dict[Key, Requirement]:
        return requirements_of(self.report)

    @property
    def citation_count(self) -> int:
        return sum(one.get("type") != "SPEC" for one in self.report["annotations"])

    def rows(self, *args: str) -> list[Row]:
        return list(json.loads(self.duvet(*args, "--format", "json").out))

    @cached_property
    def specifications(self) -> list[Row]:
        names = {row["specification"] for row in self.rows("prioritize", "--all", "--limit", "0")}
        return [json.loads(self.duvet("show", name, "--format", "json").out) for name in sorted(names)]

    def keys(self, *args: str) -> set[Key]:
        found = [key_of(row) for row in self.rows(*args)]
        assert len(found) == len(set(found))
        return set(found)

    def with_status(self, *statuses: str) -> set[Key]:
        return {key for key, one in self.requirements.items() if one.status in statuses}


def requirements_of(report: Row) -> dict[Key, Requirement]:
    stated: dict[Key, list[int]] = {}
    for id, one in enumerate(report["annotations"]):
        if one.get("type") == "SPEC":
            key = (one["target_path"], one["target_section"], " ".join(one["comment"].split()))
            stated.setdefault(key, []).append(id)
    return {key: _requirement(report, ids) for key, ids in stated.items()}


def _requirement(report: Row, ids: list[int]) -> Requirement:
    found = [report["statuses"][str(id)] for id in ids]
    numbers = frozenset(one for status in found for one in status.get("related", ()))
    related = [report["annotations"][one] for one in numbers]
    # The comment of an exception is its reason.
    excused = any(one.get("type") == "EXCEPTION" and one.get("comment") for one in related)
    worst = min((status_of(one, excused) for one in found), key=STATUSES.index)
    types = Counter(one.get("type") for one in related)
    (level,) = {report["annotations"][id].get("level") for id in ids}
    return Requirement(worst, level, types["TODO"], types["TEST"], numbers)


def status_of(found: dict[str, int], excused: bool) -> str:
    """Return the state for the numbers of bytes that each type of annotation covers."""
    covered = {name: found.get(name, 0) for name in ("citation", "test", "implication", "exception")}
    if not any(covered.values()):
        return "to do" if found.get("todo") else "uncited"
    whole = found["spec"]
    if whole in (covered["implication"], min(covered["citation"], covered["test"])):
        return "done"
    if excused and whole == covered["exception"]:
        return "excepted"
    if whole == covered["citation"]:
        return "needs tests"
    return "needs code" if whole == covered["test"] else "in progress"


def key_of(row: Row) -> Key:
    path, _, section = row["target"].partition("#")
    return (path, section, row["text"])


@pytest.fixture(scope="module", params=PROJECTS)
def golden(
    request: pytest.FixtureRequest, shared: Path, duvet_command: str, tmp_path_factory: pytest.TempPathFactory
) -> Golden:
    folder = tmp_path_factory.mktemp("golden") / request.param
    copy_with_links(shared / "golden" / request.param / "project", folder)
    return Golden(runner(duvet_command, folder), folder)


def numbers_of(found: list[Requirement]) -> dict[str, int]:
    counts = Counter(one.status for one in found)
    numbers = {name.replace(" ", "_"): counts[name] for name in STATUSES}
    return numbers | {"requirements": len(found), "applicable": len(found) - counts["excepted"]}

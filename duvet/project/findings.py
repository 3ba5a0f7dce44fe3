"""The problems that `duvet validate` finds, and the inputs selected on the command line."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Collection, Iterable

from msgspec import Struct

from duvet import rules
from duvet.model import Problem, Severity
from duvet.tree.files import Tree


class Finding(Struct, frozen=True, array_like=True):
    """A problem and the annotation that has it."""

    problem: Problem
    id: int = -1  # The index of the annotation in the trace; -1 for a problem of no annotation.
    once: bool = False  # Whether to report it once for all annotations.
    is_reported: bool = False  # Whether a problem of the configuration reports it already.


class Checked(Struct, frozen=True):
    """The problems of the selected inputs, and the numbers of files and annotations."""

    problems: tuple[Problem, ...]
    annotations: int
    files: int


class Findings(Struct, frozen=True, array_like=True):
    """The problems that `validate` finds in a project; `of` selects those of some inputs."""

    files: dict[str, int]  # The number of annotations in each input, without those of type `spec`.
    found: tuple[Finding, ...]  # In the order in which problems are listed.
    config: str = ""  # The path of the configuration.
    generated: tuple[str, ...] = ()  # The requirement files that duvet writes.

    def of(self, paths: Collection[str]) -> Checked:
        selected = frozenset(paths)
        # A problem without a path comes from the command line.
        relevant = {*selected, self.config, ""}
        problems: list[Problem] = []
        reported: set[tuple[str, str]] = set()
        for one in self.found:
            key = (one.problem.code, one.problem.message)
            is_relevant = len(selected) == len(self.files) or one.problem.path in relevant
            if is_relevant and not one.is_reported and not (one.once and key in reported):
                reported.add(key)
                problems.append(one.problem)
        counted = selected.difference(self.generated)
        return Checked(tuple(problems), sum(self.files[path] for path in counted), len(counted))

    def invalid(self) -> dict[int, tuple[Problem, ...]]:
        found: dict[int, list[Problem]] = {}
        for one in self.found:
            if one.id >= 0 and one.problem.severity is Severity.ERROR:
                found.setdefault(one.id, []).append(one.problem)
        return {id: tuple(problems) for id, problems in sorted(found.items())}


class ChosenInputs(Struct, frozen=True):
    paths: tuple[str, ...]
    others: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def choose_inputs(names: Iterable[str], inputs: Iterable[str], root: str, tree: Tree) -> ChosenInputs:
    paths: dict[str, None] = {}
    others: dict[str, None] = {}
    problems: list[Problem] = []
    known = {posixpath.normpath(posixpath.join(root, path)): path for path in inputs}

    def find(whole: str) -> list[str]:
        if whole in known:
            return [known[whole]]
        start = whole.rstrip("/") + "/"
        return [path for known_path, path in known.items() if known_path.startswith(start)]

    for name in names:
        path = _use_slashes(name, tree)
        whole = posixpath.normpath(posixpath.join(root, path))
        exists = tree.exists(path)
        found = find(whole) or (find(os.path.realpath(whole).replace(os.sep, "/")) if exists else [])
        if found:
            paths.update(dict.fromkeys(found))
        elif exists:
            ##= man/spec/validate.md#choosing-files
            ##% `duvet validate` MUST fail for a path that does not exist, and skip a file that is not an input of the
            ##% project.
            others[name] = None
        else:
            message, hint = "no such file or folder", "correct the path; it is relative to the working directory"
            problems.append(rules.FILE_UNREADABLE.problem(message, name, hint=hint))
    return ChosenInputs(tuple(paths), tuple(others), tuple(problems))


def normalise_input_name(name: str, root: str, tree: Tree) -> str:
    whole = posixpath.normpath(posixpath.join(root, _use_slashes(name, tree)))
    return whole.removeprefix(root.rstrip("/") + "/")


def _use_slashes(name: str, tree: Tree) -> str:
    return name if tree.exists(name) else name.replace("\\", "/")


class PageFindings(Struct, frozen=True, array_like=True):
    files: tuple[str, ...] = ()
    pages: int = 0
    links: int = 0
    problems: tuple[Problem, ...] = ()

    def of(self, paths: Collection[str]) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.path in paths)

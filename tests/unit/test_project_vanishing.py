"""Files that go away while a project is read."""

from __future__ import annotations

from collections import Counter

import pytest

from duvet.errors import ProblemsError, UnreadableError
from duvet.model import Problem
from duvet.project.project import Project
from duvet.tree.files import MemoryTree

FILES = {
    ".duvet/config.toml": b"""\
'$schema' = "duvet-cli/config/v1"
source = [{ pattern = "src/*.rs" }]
specification = [{ source = "tea.md" }, { source = "https://host/milk" }]
""",
    "tea.md": b"# Tea\n\nThe pot MUST be warm.\n",
    ".duvet/specifications/host/milk.txt": b"1.  Milk\n\n   Milk MAY be added.\n",
    ".duvet/todos/tea.toml": b"target = 'tea.md#tea'\n[[todo]]\nquote = 'The pot MUST be warm.'\n",
    "src/a.rs": b"//= tea.md#tea\n//# The pot MUST be wrm.\n",
}


class Vanishing(MemoryTree):
    """Lists a file that can be read only so often."""

    def __init__(self, path: str, times: int) -> None:
        super().__init__(FILES)
        self.left = Counter({path: times})
        self.path = path

    def read(self, path: str) -> bytes:
        if path == self.path:
            self.left[path] -= 1
            if self.left[path] < 0:
                raise UnreadableError("No such file or directory (os error 2)", path=path)
        return super().read(path)


def problems(path: str, times: int) -> tuple[Problem, ...]:
    try:
        return Project(tree=Vanishing(path, times)).trace.problems
    except ProblemsError as error:
        return error.problems


@pytest.mark.parametrize("path", [path for path in FILES if path != ".duvet/config.toml"])
def test_before_it_is_read(path: str) -> None:
    found = [problem for problem in problems(path, 0) if problem.code == "DUV010"]
    assert [path in f"{problem.path}: {problem.message}" for problem in found] == [True]


def test_the_configuration() -> None:
    with pytest.raises(UnreadableError, match=r"\.duvet/config\.toml: No such file"):
        problems(".duvet/config.toml", 0)


@pytest.mark.parametrize("path", FILES)
def test_once_it_has_been_read(path: str) -> None:
    assert [(problem.code, problem.path, problem.place.line) for problem in problems(path, 1)] == [
        ("DUV051", "src/a.rs", 1 if path == "src/a.rs" else 2)
    ]

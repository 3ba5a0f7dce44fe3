"""Fills the tables of acceptance criteria in the guide with the tests that are marked for each criterion."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRITERIA = ROOT / "man/guide/criteria.md"
_ROW = re.compile(r"(?m)^\| (?P<criterion>[a-z]+ [\d.]+) \| (?P<sentence>[^|\n]*) \|.*$")


def fill_tables(text: str) -> str:
    """Write the tests of each criterion into the last column; raise ValueError if a criterion has no row."""
    tests = collect_tests()
    unknown = tests.keys() - {row["criterion"] for row in _ROW.finditer(text)}
    if unknown:
        raise ValueError(f"no row in {CRITERIA.name} for {', '.join(sorted(unknown))}")

    def fill(row: re.Match[str]) -> str:
        names = "<br>".join(f"`{name}`" for name in tests.get(row["criterion"], ()))
        return f"| {row['criterion']} | {row['sentence']} | {names} |"

    return _ROW.sub(fill, text)


def list_untested(text: str) -> list[str]:
    tests = collect_tests()
    return [row["criterion"] for row in _ROW.finditer(text) if row["criterion"] not in tests]


def collect_tests() -> dict[str, list[str]]:
    """Return the tests of each criterion as `FILE::TEST`, from their `pytest.mark.criterion(…)` marks."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body if "mark.criterion(" in text else ():
            for criterion, name in _find_marks(node):
                test = f"{path.relative_to(ROOT)}::{name}"
                if test not in found.setdefault(criterion, []):
                    found[criterion].append(test)
    return found


def _find_marks(top: ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield the criteria that mark a test or a case of its table, with the name of the test or case."""
    name = top.name if isinstance(top, (ast.FunctionDef, ast.AsyncFunctionDef)) else ""
    for node in ast.walk(top):
        if isinstance(node, ast.Call) and not name:
            ids = [key.value.value for key in node.keywords if key.arg == "id" and isinstance(key.value, ast.Constant)]
            for case in ids:
                for inner in ast.walk(node):
                    yield from ((criterion, "[" + str(case) + "]") for criterion in _read_mark(inner))
        elif name:
            yield from ((criterion, name) for criterion in _read_mark(node))


def _read_mark(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "criterion":
        yield from (str(argument.value) for argument in node.args if isinstance(argument, ast.Constant))

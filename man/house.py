"""Draws the house from the import graph, for `make house` and CONTRIBUTING.md."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINKED = ("commands", "reports", "templates")
"""Packages next to `duvet/` in the repository that are installed inside it."""
BASE = "base"
"""The modules at the top of `duvet/`, and the templates."""


def draw_house() -> str:
    """Return the layers from top to bottom, each package with its purpose and the packages that it imports."""
    imports = _find_imports()
    layers = _read_layers()
    lines: list[str] = []
    for layer in layers:
        lines.append("")
        for package in layer:
            below = [" ".join(sorted(imports[package].intersection(other) - {package, BASE})) for other in layers]
            lines.append(f"{package:<10} {_describe(package)}")
            if used := " | ".join(filter(None, below)):
                lines.append(f"{'':<10}   imports {used}")
    return "\n".join(lines[1:]) + "\n"


def list_modules() -> str:
    """Return all modules with the first lines of their docstrings; those that build the manual come last."""
    modules = [path for _, path in _find_modules()] + sorted((ROOT / "man").glob("*.py"))
    return "".join(
        f"{path.relative_to(ROOT).as_posix():<45} {_read_summary(path)}\n"
        for path in modules
        if path.name != "__init__.py"
    )


def _find_modules() -> Iterator[tuple[str, Path]]:
    for top in ("duvet", *LINKED):
        for path in sorted((ROOT / top).rglob("*.py")):
            if not any(parent.is_symlink() for parent in path.parents):
                parts = path.relative_to(ROOT).with_suffix("").parts
                yield ".".join(parts[1:] if top == "duvet" else parts).removesuffix("__init__").rstrip("."), path


def _read_layers() -> list[list[str]]:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    layers = [[_name_package(name.strip()) for name in layer.split(":")] for layer in contract["layers"]]
    # The first layer is `__main__`, which belongs to the command line.
    return [list(dict.fromkeys(layer)) for layer in layers[1:]]


def _find_imports() -> dict[str, set[str]]:
    imports: dict[str, set[str]] = {}
    for name, path in _find_modules():
        found = imports.setdefault(_name_package(name), set())
        for node in ast.walk(ast.parse(path.read_text())):
            # The package itself names the public classes for type checkers.
            if name and isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "duvet":
                for alias in node.names:
                    found.add(_name_package(f"{node.module}.{alias.name}".removeprefix("duvet").lstrip(".")))
    return imports


def _name_package(name: str) -> str:
    first = name.partition(".")[0]
    if first in ("cli", "__main__"):
        return "cli"
    is_package = bool(first) and (ROOT / "duvet" / first).is_dir() and first != "templates"
    return first if is_package else BASE


def _describe(package: str) -> str:
    if package == BASE:
        return (
            "Modules at the top of duvet/ that every package may import: errors, model, text, rules; and the templates."
        )
    folder = ROOT / package if package in LINKED else ROOT / "duvet" / package
    return _read_summary(folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py"))


def _read_summary(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]


if __name__ == "__main__":
    sys.stdout.write(f"{draw_house()}\n{list_modules()}")

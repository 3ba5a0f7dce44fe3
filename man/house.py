"""Draws the house: packages by layer, what each imports, and what each module does."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
_LINKED = ("commands", "reports", "templates")
_WIDTH = 118


def draw_house() -> str:
    """The packages from the top layer to the base, each with its size and the packages that it imports."""
    modules = dict(_modules())
    imports = _package_imports(modules)
    sizes: defaultdict[str, list[int]] = defaultdict(list)
    for name, path in modules.items():
        sizes[_package(name)].append(path.read_text().count("\n"))
    lines = []
    for number, layer in enumerate(_layers()):
        lines.append("-" * _WIDTH if number else "")
        for package in layer:
            below = " ".join(sorted(imports[package] - {package, "base"}))
            lines.append(f"{package:<10} {len(sizes[package]):>3} modules {sum(sizes[package]):>6} lines   {below}".rstrip())
    return "\n".join(lines[1:]) + "\n"


def list_modules() -> str:
    """Every module with the first line of its docstring, by package."""
    rows = []
    for name, path in sorted(_modules()):
        docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
        if path.name != "__init__.py":
            rows.append(f"{path.relative_to(ROOT).as_posix():<46} {docstring.partition(chr(10))[0]}")
    return "\n".join(rows) + "\n"


def _modules() -> Iterator[tuple[str, Path]]:
    """Modules by their dotted name below `duvet`."""
    for top in ("duvet", *_LINKED):
        for path in sorted((ROOT / top).rglob("*.py")):
            if not any(parent.is_symlink() for parent in path.parents):
                parts = path.relative_to(ROOT).with_suffix("").parts
                name = ".".join(parts[1:] if parts[0] == "duvet" else parts).removesuffix("__init__").rstrip(".")
                yield name, path


def _layers() -> list[list[str]]:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    named = [[package.strip() for package in layer.split(":")] for layer in contract["layers"]]
    folders = [[package for package in layer if _package(package) == package] for layer in named]
    return [layer for layer in folders if layer] + [["base"]]


def _package(name: str) -> str:
    """The first part of a module's name; modules at the top of `duvet` are the base, but for the command line."""
    first = name.partition(".")[0]
    is_package = (ROOT / "duvet" / first).is_dir() and bool(first)
    return first if is_package and first != "templates" else "cli" if first in ("cli", "__main__") else "base"


def _package_imports(modules: dict[str, Path]) -> dict[str, set[str]]:
    imports: dict[str, set[str]] = defaultdict(set)
    for name, path in modules.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "duvet":
                for alias in node.names:
                    target = f"{node.module}.{alias.name}".removeprefix("duvet").lstrip(".")
                    imports[_package(name)].add(_package(target))
    return imports


if __name__ == "__main__":
    sys.stdout.write(f"{draw_house()}\n{list_modules()}")

"""The recipes that there are: those of the project, and those that come with duvet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from duvet import rules
from duvet.errors import DuvetError, UnreadableError
from duvet.model import Place, Problem
from duvet.text import quoted
from duvet.workflows.recipes.reading import FILE, PROJECT, SHIPPED, Found, broken, read_recipe

if TYPE_CHECKING:
    from duvet.tree.disk import DiskTree

FOLDERS = ("recipes", ".duvet/recipes")
MOST_FILES = 1_000
_ENDINGS = (".yaml", ".yml")
_OURS = "duvet:"
"""Stands before the names of files that come with duvet."""


class Shelf:
    """Reads them anew whenever it is asked."""

    def __init__(self, disk: DiskTree) -> None:
        self._disk = disk

    def every(self) -> dict[str, Found]:
        """All by their names, in the order of these."""
        ##= man/spec/gateway.md#recipes
        ##% The recipes `daily-health`, `release-prep`, `stale-audit` and `subsystem-freshness` MUST be there in every
        ##% project, unless the project has one of that name, which then MUST be taken instead.
        found: dict[str, Found] = {}
        for one in self._of_project():
            before = found.setdefault(one.name, one)
            if before is not one:
                found[one.name] = replace(before, workflow=None, problems=(*before.problems, _clash(before, one)))
        return dict(sorted({**{one.name: one for one in _shipped()}, **found}.items()))

    def file(self, path: str) -> Found:
        """The recipe in a file that somebody has named, wherever it is."""
        return self._read(path, FILE)

    def _of_project(self) -> Iterator[Found]:
        from duvet.tree.inside import Inside

        inside = Inside(self._disk.root or ".", self._disk)
        for path in self._paths():
            ##= man/spec/gateway.md#recipes
            ##% A recipe of the project whose file leads out of the project MUST NOT be read.
            yield self._read(path, PROJECT) if inside.has(path) else broken(path, PROJECT, _outside(path))

    def _paths(self) -> Iterator[str]:
        ##= man/spec/gateway.md#recipes
        ##% The recipes of a project MUST be the files that end in `.yaml` or `.yml` in its folders `recipes` and
        ##% `.duvet/recipes`, each called by its `name`, or like its file where it has none.
        for folder in FOLDERS:
            names = sorted(one.name for one in self._disk.entries(folder) if _is_recipe(one.name))
            if len(names) > MOST_FILES:
                raise DuvetError(
                    f"more than {MOST_FILES:,} recipes in a folder", path=folder, hint="move some elsewhere"
                )
            yield from (f"{folder}/{name}" for name in names)

    def _read(self, path: str, origin: str) -> Found:
        from duvet.config.documents.limits import MOST_BYTES

        try:
            if self._disk.marks(path).st_size > MOST_BYTES:
                return broken(path, origin, UnreadableError("larger than 1 MiB", path=path))
            return read_recipe(self._disk.read(path), path, origin)
        except UnreadableError as error:
            return broken(path, origin, error)


def _is_recipe(name: str) -> bool:
    # What editors keep for themselves begins with a dot.
    return name.endswith(_ENDINGS) and not name.startswith(".")


def _shipped() -> Iterator[Found]:
    from duvet.templates import recipe_file, recipe_names

    for name in recipe_names():
        yield read_recipe(recipe_file(name), f"{_OURS}{name}.yaml", SHIPPED)


def _outside(path: str) -> UnreadableError:
    return UnreadableError("this leads out of the project", path=path, hint="put the recipe itself there")


def _clash(one: Found, other: Found) -> Problem:
    """Nobody could tell which of the two is meant."""
    place = one.document.value_place("name") if one.document else Place()
    message = f"{quoted(one.name)} is the name of the recipe in {other.path}, too"
    return rules.CONFIG_BAD_VALUE.problem(message, one.path, place, hint="give one of them another `name`")

"""The specifications that a client may name: those of the project, and what else lies in it."""

from __future__ import annotations

from functools import cached_property

from msgspec.structs import replace

from duvet.errors import FetchError, UnreadableError
from duvet.model import Format, Locator, Specification
from duvet.sources.filtered import FilteredTree
from duvet.specs.library import Library
from duvet.tools.context import Context
from duvet.tools.inside import is_inside, whole
from duvet.tree.protocol import Tree


class Shelf(Library):
    """Loads what the catalogue knows, each text once, and otherwise nothing from outside of the project."""

    def __init__(self, context: Context) -> None:
        project = context.project
        ##= man/spec/mcp.md#tools
        ##% A tool that only reads MUST NOT download anything.
        super().__init__(project.tree, project.downloads, None, project.root)
        self.project = project
        self.cards = context.catalogue.specifications
        self._known: dict[int, Specification] = {}

    @cached_property
    def reachable(self) -> Tree:
        """The files of the project as far as clients may name them."""
        return FilteredTree(self.tree, lambda path, _: not self._may_be_read(path))

    @cached_property
    def _by_name(self) -> dict[str, int]:
        return {card.locator: number for number, card in reversed([*enumerate(self.cards)])}

    @cached_property
    def _by_path(self) -> dict[str, int]:
        last = sorted(enumerate(self.cards), key=lambda one: (-len(one[1].locator), -one[0]))
        return {self._whole(card.path): number for number, card in last}

    def number_of(self, locator: Locator) -> int | None:
        """The specification of the catalogue with that name, or else with that text."""
        number = self._by_name.get(locator.name)
        return self._by_path.get(self._whole(self.path(locator))) if number is None else number

    def first_of(self, number: int) -> int:
        """The one with the same text that has the shortest name, of which the others are second spellings."""
        return self._by_path[self._whole(self.cards[number].path)]

    def known(self, number: int) -> Specification:
        """A specification of the catalogue, with its text."""
        if number not in self._known:
            self._known[number] = self.project.specification(self.cards[number])
        return self._known[number]

    def load(self, locator: Locator) -> Specification:
        number = self.number_of(locator)
        if number is None:
            return self._unknown(locator)
        known = self.known(number)
        if locator.format not in (Format.AUTO, known.format):
            return self._unkept(locator, known.path)
        return known if known.locator == locator else replace(known, locator=locator)

    def _unknown(self, locator: Locator) -> Specification:
        path = self.path(locator)
        if locator.is_url and not self.tree.is_file(path):
            raise FetchError(f"{locator.name} is no specification of this project")
        if not locator.is_url and not self._may_be_read(path):
            raise UnreadableError("it is no specification of this project", path=path)
        return self._unkept(locator, path)

    def _unkept(self, locator: Locator, path: str) -> Specification:
        # What anybody may ask for must not pile up.
        try:
            return self.load_from(path, locator)
        finally:
            self._parsed.clear()

    def _may_be_read(self, path: str) -> bool:
        if self._whole(path) in self._by_path:
            return True
        # What is hidden is no specification, but may be a secret.
        is_hidden = "/." in self._whole(path).removeprefix(self.cwd)
        return not is_hidden and is_inside(self.cwd, path)

    def _whole(self, path: str) -> str:
        return whole(self.cwd, path)

"""The kinds of resources, as the instructions tell of them."""

from __future__ import annotations

from collections.abc import Iterator

from duvet.prompts.system import Reachable
from duvet.queries.resources import SCHEME
from duvet.server.resources.descriptions import COLLECTIONS
from duvet.server.resources.templates import TEMPLATES

ABOVE = "\u2026"
"""Stands for the path of the line before."""


def reachable() -> Iterator[Reachable]:
    """Every list that a project has, each followed by what is below it."""
    below = {one.uri.removeprefix(SCHEME): one.description for one in TEMPLATES}
    for name, _, description in COLLECTIONS.values():
        yield Reachable(f"/{name}", description)
        before = f"/{name}"
        for path, holds in below.items():
            if path.startswith(f"/{name}/"):
                yield Reachable(path.replace(before, ABOVE, 1) if path.startswith(before) else path, holds)
                before = path

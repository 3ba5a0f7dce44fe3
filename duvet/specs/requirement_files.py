"""Reads requirement files: those that duvet extracts, and those that people write."""

from __future__ import annotations

from duvet.model import Annotation, Problem
from duvet.specs.requirement_plain import read_plain


def read(path: str, data: bytes) -> tuple[list[Annotation], list[Problem]]:
    """The annotations of a requirement file in its order, and every problem of those that can't be read."""
    plain = read_plain(path, data)
    if plain is not None:
        return plain, []
    from duvet.specs.requirement_checked import read_checked

    return read_checked(path, data)

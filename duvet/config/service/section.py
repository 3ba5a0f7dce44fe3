"""What the tables of the service have in common."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

from typing import Annotated

from msgspec import Meta, Struct

from duvet.config.schema import Words

Text = Annotated[Words, Meta(extra={"expands": True})]
"""Text in which `$NAME` and `${NAME}` stand for environment variables, and `$$` for a dollar."""

END = r"$(?!\n)"
"""The end of a text in Python, whose `$` also stands before a last line end, and in JavaScript alike."""

_NAME = "a name: a letter, and up to 63 letters, digits, `-` and `_` after it"
NAME_PATTERN = rf"^[A-Za-z][A-Za-z0-9_-]{{0,63}}{END}"
Name = Annotated[str, Meta(pattern=NAME_PATTERN, extra={"wanted": _NAME})]
"""What things in this file are called."""

Seconds = Annotated[float, Meta(gt=0, le=86_400)]


class Section(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A table of the file, with its keys as they are written there."""

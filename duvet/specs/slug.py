"""Titles as anchors."""

from __future__ import annotations

import re

_SEPARATOR = re.compile(r"[^a-z0-9]+")


def slug(text: str) -> str:
    """Letters and digits of ASCII in lower case, joined by single dashes."""
    if not text.isascii():
        from duvet.specs.romanize import ROMANIZER

        text = text.translate(ROMANIZER)
    return _SEPARATOR.sub("-", text.lower()).strip("-")

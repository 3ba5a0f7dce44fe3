"""Text as manual pages hold it."""

from __future__ import annotations

import re

from duvet.templates import environment

SPECIAL = {
    "\\": r"\e",
    "-": r"\-",
    '"': r"\(dq",
    "'": r"\(aq",
    "`": r"\(ga",
    "^": r"\(ha",
    "~": r"\(ti",
}
CODE = re.compile(r"`([^`]+)`")


def escape(text: str) -> str:
    """The text as roff shows it: no character is taken for a request, an escape or another character."""
    return _guard(_characters(text))


def bold(text: str) -> str:
    """What is typed as it stands."""
    return rf"\fB{_characters(text)}\fR"


def italic(text: str) -> str:
    """What is to be replaced."""
    return rf"\fI{_characters(text)}\fR"


def prose(text: str) -> str:
    """A paragraph; what stands between backticks is bold."""
    parts = CODE.split(" ".join(text.split()))
    return _guard("".join(bold(part) if index % 2 else _characters(part) for index, part in enumerate(parts)))


def render(template: str, **facts: object) -> str:
    """The page of a template; its facts are roff already."""
    return environment().get_template(template).render(**facts)


def _characters(text: str) -> str:
    return "".join(SPECIAL.get(char, char if char.isascii() else rf"\[u{ord(char):04X}]") for char in text)


def _guard(roff: str) -> str:
    """A line that begins with a dot would be a request."""
    return re.sub(r"(?m)^\.", r"\\&.", roff)

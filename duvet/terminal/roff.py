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
    plain = "".join(SPECIAL.get(char, char if char.isascii() else rf"\[u{ord(char):04X}]") for char in text)
    return re.sub(r"(?m)^\.", r"\\&.", plain)


def bold(text: str) -> str:
    """What is typed as it stands."""
    return rf"\fB{escape(text)}\fR"


def italic(text: str) -> str:
    """What is to be replaced."""
    return rf"\fI{escape(text)}\fR"


def prose(text: str) -> str:
    """A paragraph; what stands between backticks is bold."""
    parts = CODE.split(" ".join(text.split()))
    return "".join(bold(part) if index % 2 else escape(part) for index, part in enumerate(parts))


def render(template: str, **facts: object) -> str:
    """The page of a template; its facts are roff already."""
    return environment().get_template(template).render(**facts)

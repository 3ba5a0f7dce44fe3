"""What is wrong in a file that isn't TOML, in words for people: tomllib speaks of its own data."""

from __future__ import annotations

import re

DUPLICATE = "duplicate key"

_WORDS = {
    "Cannot overwrite": DUPLICATE,
    "Cannot declare": DUPLICATE,
    "Cannot redefine": DUPLICATE,
    "Cannot mutate": DUPLICATE,
    "Duplicate inline table key": DUPLICATE,
    "Expected ']]' at": "unclosed array table, expected `]`",
    "Expected ']' at": "unclosed table, expected `]`",
    "Expected '=' after": "key with no value, expected `=`",
    "Expected newline": "unexpected key or value, expected newline, `#`",
    "Unclosed array": "unclosed array, expected `]`",
    "Unclosed inline table": "unclosed inline table, expected `}`",
    "Found invalid character": "invalid character",
    "Invalid initial character": "invalid key",
    "Invalid statement": "invalid key",
}


def reason(message: str) -> str:
    """The words for one of tomllib's messages; the character that it names is kept."""
    for beginning, words in _WORDS.items():
        if message.startswith(beginning):
            character = re.search(r"character ('.*'|\".*\")$", message)
            return f"{words} {character[1]}" if character else words
    return message[:1].lower() + message[1:]

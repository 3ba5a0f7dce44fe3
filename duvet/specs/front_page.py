"""What the first page of an RFC or an Internet-Draft says."""

from __future__ import annotations

import re
from itertools import dropwhile

from duvet.text import BOM

_WIDTH = 72
_MOST_LINES = 6
_SLACK = 24
"""By how much the two margins of a centred line may differ."""

_COLUMNS = " " * 3
_ANNOUNCEMENTS = ("rfc", "request for comments", "internet-draft", "internet draft")


def front_title(text: str) -> str:
    """The title: the first centred block below the header, on one line; empty if there is none."""
    page = text.removeprefix(BOM).lstrip().partition("\f")[0].rstrip()
    blocks = [block.split("\n") for block in re.split(r"\n\s*\n", page.replace("\r\n", "\n"))]
    announced = dropwhile(lambda block: not _is_announcement(block), blocks)
    next(announced, None)
    for block in announced:
        if _is_title(block):
            return " ".join(" ".join(line for line in block if not _is_draft_name(line)).split())
        if not _may_precede_title(block[0]):
            break
    return ""


def _is_announcement(block: list[str]) -> bool:
    header = "\n".join(block).lower()
    return any(words in header for words in _ANNOUNCEMENTS)


def _may_precede_title(line: str) -> bool:
    return line.startswith(" ") or ": " in line or _COLUMNS in line


def _is_title(block: list[str]) -> bool:
    """Full lines of a paragraph are centred as well, but there are more of them, or they end with a dot."""
    return len(block) <= _MOST_LINES and not block[-1].endswith(".") and all(map(_is_centred, block))


def _is_centred(line: str) -> bool:
    stripped = line.strip()
    left = len(line) - len(line.lstrip())
    right = _WIDTH - left - len(stripped)
    return abs(left - right) <= _SLACK and _COLUMNS not in stripped


def _is_draft_name(line: str) -> bool:
    return line.strip().lstrip("<").startswith("draft-")

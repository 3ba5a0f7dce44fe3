"""What the first page of an RFC or an Internet-Draft says."""

from __future__ import annotations

import re
from itertools import dropwhile

from duvet.text import BOM

_WIDTH = 72
_SLACK = 16
"""By how much the two margins of a centred line may differ."""

_ANNOUNCEMENT = re.compile(r"\bRFC\b|request for comments|internet[- ]draft", re.IGNORECASE)
_COLUMNS = " " * 3
_HEADER = re.compile(rf"[A-Za-z][^:]*: |\S.*{_COLUMNS}")
_DRAFT_NAME = re.compile(r"<?draft-\S+")


def front_title(text: str) -> str:
    """The title: the first centred block below the header, on one line; empty if there is none."""
    page = text.removeprefix(BOM).lstrip().partition("\f")[0]
    blocks = [block.split("\n") for block in re.split(r"\n\s*\n", page.replace("\r\n", "\n"))]
    announced = dropwhile(lambda block: not _ANNOUNCEMENT.search("\n".join(block)), blocks)
    next(announced, None)
    for block in announced:
        if all(map(_is_centred, block)):
            return " ".join(" ".join(_without_draft_name(block)).split())
        if not block[0].startswith(" ") and not _HEADER.match(block[0]):
            break
    return ""


def _is_centred(line: str) -> bool:
    stripped = line.strip()
    left = len(line) - len(line.lstrip())
    right = _WIDTH - left - len(stripped)
    return abs(left - right) <= _SLACK and _COLUMNS not in stripped


def _without_draft_name(block: list[str]) -> list[str]:
    return [line for line in block if not _DRAFT_NAME.fullmatch(line.strip())]

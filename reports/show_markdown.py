"""What is shown of a thing as Markdown, for comments, issues and pages."""

from __future__ import annotations

import re
from collections.abc import Iterable

from duvet.reports.blocks import Block, Code, Facts, Passage, Rows, Title, Words
from duvet.reports.cells import visible
from duvet.reports.listing import ListFormat, escaped
from duvet.reports.listing import render as render_list

_TICKS = re.compile("`+")
_LINK = re.compile(r"https?://[^\s<>]+\Z")


def render(blocks: Iterable[Block]) -> bytes:
    """The blocks one below another, with blank lines between them."""
    return "\n".join(filter(None, map(_written, blocks))).encode(errors="replace")


def _written(block: Block) -> str:
    match block:
        case Title(text, remarks, rank):
            said = "".join(f" · {_shown(one)}" for one in remarks)
            return f"{'#' * (rank + 1)} {_shown(text)}{said}\n"
        case Facts():
            return "".join(f"- {_shown(name)}: {_value(value)}\n" for name, value in block.known)
        case Words(text):
            return f"> {_shown(text)}\n"
        case Passage(text):
            return _fenced("text", text.split("\n"))
        case Code(path, _, lines):
            name = path.rpartition("/")[2]
            return _fenced(name.rpartition(".")[2] if "." in name else "", lines)
        case Rows(listing):
            return render_list(listing, ListFormat.MARKDOWN).decode()


def _shown(text: str) -> str:
    return escaped(visible(text))


def _value(value: str) -> str:
    return f"<{value}>" if _LINK.match(value) and value.isprintable() else _shown(value)


def _fenced(language: str, lines: Iterable[str]) -> str:
    shown = [visible(line) for line in lines]
    fence = "`" * max([3, *(len(ticks) + 1 for line in shown for ticks in _TICKS.findall(line))])
    word = language if language.isalnum() else ""
    return "\n".join([f"{fence}{word}", *shown, fence, ""])

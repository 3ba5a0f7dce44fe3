"""What an answer is made from: numbered pieces of the project."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from duvet.llm.words import plain, said

MOST = 7_000
"""So many bytes are below 3,000 tokens, of which one hardly ever has less than 2.5."""
_AROUND = 120
"""So much is said about each."""

SourceKind = Literal["requirement", "section", "citation", "page"]


class Source(Struct, frozen=True, kw_only=True):
    """A piece of the project."""

    number: int
    """What an answer calls it, as `[1]`."""
    kind: SourceKind
    title: str
    full_path: str | None
    """Where it stands among all resources."""
    file_path: str
    line_number: int
    text: str


def fitting(found: Iterable[Source], room: int = MOST) -> tuple[Source, ...]:
    """Those that there is room for, numbered, and harmless to show; a text that is too long is cut."""
    shown: list[Source] = []
    ##= man/spec/ask.md#answers
    ##% The sources MUST be cut to about 3,000 tokens.
    for source in found:
        title, text = said(source.title), plain(source.text).strip("\n")
        text = _cut(text, room - _AROUND - len(title.encode()))
        if text:
            shown.append(replace(source, number=len(shown) + 1, title=title, text=text))
            room -= size_of(shown[-1])
    return tuple(shown)


def size_of(source: Source) -> int:
    """How much room it takes."""
    return len(source.text.encode()) + len(source.title.encode()) + _AROUND


def _cut(text: str, room: int) -> str:
    data = text.encode()
    if len(data) <= room:
        return text
    part = data[: max(room - 3, 0)].decode(errors="ignore").rstrip()
    return f"{part}…" if part else ""


def numbers_of(sources: Sequence[Source]) -> frozenset[int]:
    """The numbers that an answer may name."""
    return frozenset(source.number for source in sources)

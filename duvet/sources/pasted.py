"""Annotations as they are pasted somewhere: in the style of any comment, or a target with nothing around it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from duvet.model import Annotation, Problem
from duvet.sources.comments import scan
from duvet.sources.style import Style
from duvet.text import WHITESPACE, trim

# What begins a comment in any language, before the sign that says whether the line names a target or quotes it.
_LEAD = r"(?:<!--+|/\*+|\(\*+|\{-+|-- |[/#%;!*'\"-]{1,3})"
_META = re.compile(rf"{_LEAD}=(?P<rest>.*)", re.DOTALL)
_CONTENT = re.compile(rf"{_LEAD}[#%](?![#%])(?P<rest>.*)", re.DOTALL)
_ENDS = {"*/": "/*", "-->": "<!--", "*)": "(*", "-}": "{-"}
_FIELD = re.compile(r"(?:source|type|level|format|reason|feature|tracking-issue)\s*=")
_PLAIN = Style()


class Pasted(Struct, frozen=True):
    """What a text says, and what is wrong with it."""

    text: str
    """The same lines in one style, which places are counted in."""
    annotations: list[Annotation]
    problems: list[Problem]


def pasted(path: str, text: str, styles: Iterable[Style]) -> Pasted:
    """The annotations of a text; those in the styles that are known read exactly as in a source."""
    ##= man/spec/mcp.md#tools
    ##% A citation MUST be read in any style of comments, whatever the styles of the project are.
    lines = [trim(line) for line in text.split("\n")]
    known = list(styles)
    own = [_in_styles(line, known) for line in lines]
    if any(line is None and _any_style(lines[index]) is not None for index, line in enumerate(own)):
        bare = _without_ends(lines, text)
        own = [_in_styles(line, known) or _any_style(line) for line in bare]
    if not any(own):
        own = _plain(lines)
    written = "\n".join(line or "" for line in own)
    return Pasted(written, *scan(path, written, _PLAIN))


def _in_styles(line: str, styles: Iterable[Style]) -> str | None:
    """A line of an annotation in one of these styles, written in the plain one."""
    for style in styles:
        if style.meta and line.startswith(style.meta):
            return _PLAIN.meta + line[len(style.meta) :]
        if style.content and line.startswith(style.content):
            return _PLAIN.content + line[len(style.content) :]
    return None


def _any_style(line: str) -> str | None:
    """The same for a line in any style at all."""
    found = _META.fullmatch(line)
    if found:
        return _PLAIN.meta + found["rest"]
    found = _CONTENT.fullmatch(line)
    return _PLAIN.content + found["rest"] if found else None


def _without_ends(lines: Iterable[str], text: str) -> list[str]:
    """The lines without what ends a comment that the text begins."""
    ends = tuple(end for end, begin in _ENDS.items() if begin in text)
    return [_without_end(line, ends) for line in lines]


def _without_end(line: str, ends: tuple[str, ...]) -> str:
    end = next((end for end in ends if line.endswith(end)), "")
    return line.removesuffix(end).rstrip(WHITESPACE)


def _plain(lines: Iterable[str]) -> list[str | None]:
    """Lines without any sign: a target, perhaps with fields, and what it quotes."""
    found: list[str | None] = []
    for line in filter(None, lines):
        is_meta = not found or _FIELD.match(line)
        found.append(f"{_PLAIN.meta if is_meta else _PLAIN.content} {line}")
    return found

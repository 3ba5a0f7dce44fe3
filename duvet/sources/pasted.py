"""Parses pasted citations, in any comment style or without comment signs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from msgspec import Struct

from duvet.model import Annotation, Problem
from duvet.sources.comments import SourceStyle, scan_comments
from duvet.text import WHITESPACE, trim


def is_read_in(text: str, styles: Sequence[SourceStyle]) -> bool:
    """Return True if a file with these styles would contain an annotation of this text.

    Text without a comment sign counts, too.
    """
    if any(scan_comments("", text, style)[0] for style in styles):
        return True
    first = next(filter(None, map(trim, text.split("\n"))), "")
    return _BARE.fullmatch(first) is not None and _NAMING.fullmatch(first) is None


_FIELD = re.compile(r"(?:source|type|level|format|reason|feature|tracking-issue)\s*=")
_SIGNS = r"[^\w\s=]{1,8}? ?"  # The signs that begin a comment in most languages; in some it is a word.
_META = re.compile(rf"(?P<mark>{_SIGNS})=")
_CONTENT = re.compile(rf"(?P<mark>{_SIGNS})[#%](?![#%])")
_TARGET = r"(?:[^\s\"'(){};,]*#[^\s\"'(){};,]+|https?://[^\s\"'(){};,]+)"
_NAMING = re.compile(rf"(?P<mark>{_SIGNS}|(?!{_FIELD.pattern})[A-Za-z]{{1,8}} ?)=\s*(?:source\s*=\s*)?{_TARGET}")
_BARE = re.compile(_TARGET)
_STARS = re.compile(r"[/(]\*+")
_ENDS = {"*/": "/*", "-->": "<!--", "--}}": "{{!--", "*)": "(*", "-}": "{-", "]]": "--[["}
_PASTED_CITATION_PLAIN = SourceStyle()


class PastedText(Struct, frozen=True):
    text: str  # The same lines in the default style, in which places are counted.
    annotations: list[Annotation]
    problems: list[Problem]


class _Lead(Struct, frozen=True):
    meta: re.Pattern[str]
    content: re.Pattern[str]


def parse_pasted(path: str, text: str, styles: Iterable[SourceStyle]) -> PastedText:
    """Return the annotations in a text; configured styles are parsed as in a source."""
    ##= man/spec/mcp.md#tools
    ##% `validate_citation` MUST accept exactly the citations that `duvet report` accepts, whether they are comments in
    ##% any style, entries of a requirement file, or surrounded by code.
    lines = [trim(line) for line in text.split("\n")]
    known = [_make_lead(style.meta, style.content) for style in styles]
    naming = [line for line in lines if _NAMING.fullmatch(line)]
    named = [lead for lead in known if any(map(lead.meta.match, naming))]
    own = _rewrite(lines, named) or _rewrite_any(lines, text, known)
    written = "\n".join(line or "" for line in own)
    return PastedText(written, *scan_comments(path, written, _PASTED_CITATION_PLAIN))


def _rewrite_any(lines: Sequence[str], text: str, known: Sequence[_Lead]) -> list[str | None]:
    """Rewrite lines in any language's comment style; used if no configured style matches a target."""
    first = next(filter(None, lines), "")
    if _BARE.fullmatch(first) and not _NAMING.fullmatch(first):
        return _rewrite_plain(lines)
    ends = tuple(end for end, begin in _ENDS.items() if begin in text)
    bare = []
    for line in lines:
        end = next((end for end in ends if line.endswith(end)), "")
        bare.append(line.removesuffix(end).rstrip(WHITESPACE))
    metas = ([lead] for line in lines for lead in known if lead.meta.match(line))
    first_known = next(metas, [lead for lead in known if any(map(lead.content.match, lines))])
    return (
        _rewrite(bare, _find_leads(bare, _NAMING.fullmatch))
        or _rewrite(lines, first_known)
        or _rewrite(bare, _find_leads(bare, _META.match)[:1])
        or _rewrite(bare, _find_leads(bare, _CONTENT.match)[:1])
        or _rewrite_plain(lines)
    )


def _find_leads(lines: Sequence[str], match: Callable[[str], re.Match[str] | None]) -> list[_Lead]:
    """Return the comment styles of the matching lines; the first quote decides between `#` and `%`."""
    leads = []
    for mark in dict.fromkeys(found["mark"] for line in lines if (found := match(line))):
        either = rf"(?:{re.escape(mark)}|\*)" if _STARS.fullmatch(mark) else re.escape(mark)
        signs = (found[1] for line in lines if (found := re.match(rf"{either}([#%])(?![#%])", line)))
        leads.append(_Lead(re.compile(f"{either}="), re.compile(rf"{either}{next(signs, '#')}(?![#%])")))
    return leads


@lru_cache
def _make_lead(meta: str, content: str) -> _Lead:
    return _Lead(*(re.compile(re.escape(one) if one else "(?!)") for one in (meta, content)))


def _rewrite(lines: Iterable[str], leads: Sequence[_Lead]) -> list[str | None]:
    """Rewrite annotation lines from these styles to the default style; None for other lines."""

    def rewrite(line: str) -> str | None:
        for lead in leads:
            for begin, plain in (
                (lead.meta, _PASTED_CITATION_PLAIN.meta),
                (lead.content, _PASTED_CITATION_PLAIN.content),
            ):
                found = begin.match(line)
                if found:
                    return plain + line[found.end() :]
        return None

    return [rewrite(line) for line in lines] if leads else []


def _rewrite_plain(lines: Iterable[str]) -> list[str | None]:
    """Rewrite lines without comment signs: a target, optional fields, and a quote."""
    found: list[str | None] = []
    for line in filter(None, lines):
        if found and not _FIELD.match(line):
            found.append(f"{_PASTED_CITATION_PLAIN.content} {line}")
        else:
            # A target with `=` in it needs its key, as in a comment.
            source = "source=" if "=" in line and not _FIELD.match(line) else ""
            found.append(f"{_PASTED_CITATION_PLAIN.meta} {source}{line}")
    return found

"""Annotations that are not read as comments: in string literals, in unread comment styles, or pasted in any style."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from msgspec import Struct

from duvet.config.languages import Language
from duvet.model import Annotation, Place, Problem
from duvet.sources.comments import SourceStyle, scan_comments
from duvet.text import WHITESPACE, find_place, trim

_ESCAPED = r"(?:[^{quote}\\\n]|\\.)*+"
_PLAIN = "|".join(f"{quote}{_ESCAPED.format(quote=quote)}{quote}" for quote in ('"', "'"))
_SLASH_COMMENT = r"//[^\n]*+|/\*(?s:.*?)\*/"
_TRIPLE = r'"""(?s:[^\\]|\\.)*?"""'
_TRIPLE_APOSTROPHE = r"'''(?s:[^\\]|\\.)*?'''"


class LiteralFamily(NamedTuple):
    """Languages with the same multi-line literals."""

    signs: tuple[str, ...]  # A text without any of these has no such literal.
    expression: str  # Matches text to skip; the group `literal` is a multi-line literal.
    languages: tuple[Language, ...]


_HASHES = LiteralFamily(
    ('"""', "'''"),
    rf"\#[^\n]*+|(?P<literal>{_TRIPLE}|{_TRIPLE_APOSTROPHE})|{_PLAIN}",
    (Language.PYTHON, Language.ELIXIR, Language.JULIA, Language.NIM, Language.TOML),
)
_SLASHES = LiteralFamily(
    ('"""',),
    rf"{_SLASH_COMMENT}|(?P<literal>{_TRIPLE})|{_PLAIN}",
    (Language.JAVA, Language.KOTLIN, Language.SCALA, Language.SWIFT, Language.CSHARP, Language.FSHARP),
)
_BOTH = LiteralFamily(
    ('"""', "'''"),
    rf"{_SLASH_COMMENT}|(?P<literal>{_TRIPLE}|{_TRIPLE_APOSTROPHE})|{_PLAIN}",
    (Language.GROOVY, Language.DART),
)
_CPP = LiteralFamily(
    ('R"',), rf'{_SLASH_COMMENT}|(?P<literal>\bR"(?P<tag>[^()\s\\]*+)\((?s:.*?)\)(?P=tag)")|{_PLAIN}', (Language.CPP,)
)
# A lifetime begins like a character literal.
_RUST = LiteralFamily(
    ('"',),
    rf"""{_SLASH_COMMENT}|(?P<literal>r(?P<tag>\#*+)"(?s:.*?)"(?P=tag)|"(?s:[^"\\]|\\.)*+")|'(?:[^'\\\n]|\\[^\n]+?)'""",
    (Language.RUST,),
)
_GO = LiteralFamily(("`",), rf"{_SLASH_COMMENT}|(?P<literal>`[^`]*+`)|{_PLAIN}", (Language.GO,))
# An expression in braces may contain another literal: such a literal is unclear.
_JAVASCRIPT = LiteralFamily(
    ("`",),
    rf"{_SLASH_COMMENT}|(?P<literal>`(?s:[^`\\$]|\\.|\$(?!\{{))*+`)|{_PLAIN}|(?P<unsure>`)",
    (Language.JAVASCRIPT, Language.TYPESCRIPT),
)
_FAMILIES = (_HASHES, _SLASHES, _BOTH, _CPP, _RUST, _GO, _JAVASCRIPT)


@cache
def _by_extension() -> dict[str, LiteralFamily]:
    found = ((pattern, family) for family in _FAMILIES for one in family.languages for pattern in one.patterns)
    return {pattern.rpartition("*")[2]: family for pattern, family in found}


def _family(path: str) -> LiteralFamily | None:
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return _by_extension().get(name[dot:]) if dot > 0 else None


def may_have_literals(path: str) -> bool:
    """Return True if the multi-line literals of the file's language are known."""
    return _family(path) is not None


def lines_in_literals(path: str, text: str, lines: Iterable[int]) -> list[int]:
    """Return the given lines that begin in a string literal, up to the first unclear literal."""
    ##= man/spec/validate.md#checks
    ##% `duvet validate` SHOULD warn about duplicate annotations, about annotations in string literals, and about code
    ##% or tests that cite excepted text.
    family = _family(path)
    if family is None or not any(sign in text for sign in family.signs):
        return []
    waiting = list(lines)
    inside = []
    for first, last in _spans(family, text):
        while waiting and waiting[0] <= first:
            del waiting[0]
        while waiting and waiting[0] <= last:
            inside.append(waiting.pop(0))
        if not waiting:
            break
    return inside


def _spans(family: LiteralFamily, text: str) -> Iterator[tuple[int, int]]:
    line, counted = 1, 0
    for found in re.compile(family.expression).finditer(text):
        if found.lastgroup == "unsure":
            return
        if found.group("literal") and "\n" in found[0]:
            line += text.count("\n", counted, found.start())
            counted = found.start()
            yield line, line + found[0].count("\n")


class UnreadCitation(Struct, frozen=True):
    """The first line in a file that looks like the target of a citation in a comment style that is not read there."""

    mark: str  # The sign that begins the line, such as `//=`.
    targets: tuple[str, ...]  # All such targets with this sign.
    places: tuple[Place, ...]


_TARGET_AT_END = (
    r"[ \t]*(?:source[ \t]*=[ \t]*)?([^\s\"'`(){};,=#<>|&]+#[^\s\"'`(){};,]+)[ \t]*(?:\*+[/)]|-->)?[ \t]*\r?(?:\n|\Z)"
)
_COMMENT_SIGN = re.compile(r"(?:[^\w\s\"'`]{1,8}|@?rem|REM|dnl)[ \t]?", re.IGNORECASE)


@lru_cache
def _compile_unread(metas: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[bytes]]:
    """Compile a text and a bytes pattern for targets after a sign other than these."""
    # A search for the equals sign is fast, and few lines with other signs end with a target.
    known = "".join(rf"(?<!\s{re.escape(meta)})" for meta in metas if meta.endswith("="))
    expression = f"={known}{_TARGET_AT_END}"
    return re.compile(expression), re.compile(expression.encode())


def find_unread_citations(path: str, data: bytes, styles: Sequence[SourceStyle]) -> list[UnreadCitation]:
    """Lines outside string literals that look like targets in a comment style other than these."""
    in_text, in_bytes = _compile_unread(tuple(style.meta for style in styles))
    if not in_bytes.search(data):
        return []
    text = data.decode(errors="replace")
    known = tuple(sign for style in styles for sign in (style.meta, style.content) if sign)
    found: dict[str, list[tuple[str, Place]]] = {}
    for match in in_text.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        before = text[start : match.start()].lstrip(WHITESPACE)
        line = text[match.start() - len(before) : match.end()]
        if _COMMENT_SIGN.fullmatch(before) and not line.startswith(known):
            place = find_place(text, match.start() - len(before), match.end(1))
            found.setdefault(f"{before}=", []).append((match[1], place))
    if not found:
        return []
    lines = sorted(place.line for places in found.values() for _, place in places)
    literal = set(lines_in_literals(path, text, lines))
    kept = {mark: [one for one in places if one[1].line not in literal] for mark, places in found.items()}
    return [UnreadCitation(mark, *map(tuple, zip(*places, strict=True))) for mark, places in kept.items() if places]


def is_read_in(text: str, styles: Sequence[SourceStyle]) -> bool:
    """True if a file with these styles would have an annotation of this text, or if it has no comment sign at all."""
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


class _Lead(NamedTuple):
    meta: re.Pattern[str]
    content: re.Pattern[str]


def parse_pasted(path: str, text: str, styles: Iterable[SourceStyle]) -> PastedText:
    """Return the annotations of a text; configured styles are read exactly as in a source."""
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
    """Return the lines in the style of any language, for text in which no configured style names a target."""
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
    """Return the styles of the lines that match; the first quoted line decides between `#` and `%`."""
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
    """Convert annotation lines of these styles to the default style; None for other lines."""

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
    """Convert lines without comment markers: a target, optional fields, and a quote."""
    found: list[str | None] = []
    for line in filter(None, lines):
        if found and not _FIELD.match(line):
            found.append(f"{_PASTED_CITATION_PLAIN.content} {line}")
        else:
            # A target with `=` in it needs its key, as in a comment.
            source = "source=" if "=" in line and not _FIELD.match(line) else ""
            found.append(f"{_PASTED_CITATION_PLAIN.meta} {source}{line}")
    return found

"""Finds lines inside multi-line string literals; such lines are not comments."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from posixpath import splitext

from msgspec import Struct

from duvet.config.languages import Language

_ESCAPED = r"(?:[^{quote}\\\n]|\\.)*+"
_PLAIN = "|".join(f"{quote}{_ESCAPED.format(quote=quote)}{quote}" for quote in ('"', "'"))
_SLASH_COMMENT = r"//[^\n]*+|/\*(?s:.*?)\*/"
_TRIPLE = r'"""(?s:[^\\]|\\.)*?"""'
_TRIPLE_APOSTROPHE = r"'''(?s:[^\\]|\\.)*?'''"


class LiteralFamily(Struct, frozen=True):
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


@lru_cache
def _find_family(extension: str) -> LiteralFamily | None:
    families = ((family, pattern) for family in _FAMILIES for one in family.languages for pattern in one.patterns)
    return next((family for family, pattern in families if pattern.rpartition("*")[2] == extension), None)


def may_have_literals(path: str) -> bool:
    return _find_family(splitext(path)[1]) is not None


def find_lines_in_literals(path: str, text: str, lines: Iterable[int]) -> list[int]:
    family = _find_family(splitext(path)[1])
    if family is None or not any(sign in text for sign in family.signs):
        return []
    waiting = list(lines)
    inside = []
    line, counted = 1, 0
    for found in re.compile(family.expression).finditer(text):
        if found.lastgroup == "unsure" or not waiting:
            break
        if found.group("literal") and "\n" in found[0]:
            line += text.count("\n", counted, found.start())
            counted = found.start()
            while waiting and waiting[0] <= line:
                del waiting[0]
            while waiting and waiting[0] <= line + found[0].count("\n"):
                inside.append(waiting.pop(0))
    return inside

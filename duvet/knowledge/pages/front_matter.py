"""Reads the front matter of a page: title, slug, date, tags, aliases and other fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import Any

from msgspec import Struct

from duvet import rules
from duvet.config.document import DataDocument, DocumentError, check_document_size
from duvet.model import Place, Problem
from duvet.text import shorten_text
from duvet.words import compose

_MAX_TAGS, MAX_TAG_LENGTH = 100, 300
_MAX_FRONT_MATTER = 1 << 16
_MAX_PLAIN_LINE = 1_000  # YAML reads longer lines.
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?![ \t]*\r?\n)((?:.*?\n)??)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_YAML_TABLE = r"""(?:[ \t]*(?:\#[^\n]*)?\n)*                                      # blank lines, and comments
    [ \t]*(?:\{
        | (?:"[^"\n]*"|'[^'\n]*')[ \t]*:(?:\s|\Z)
        | (?:[^\s\#"'-]|-[^\s-])(?:[^\n:]|:(?=\S))*:(?:\s|\Z)
    )"""
"""Matches the beginning of a mapping."""
_DATE_KEYS = ("created", "date", "created at", "date created")
_SEPARATORS = re.compile(r"[\s_-]+")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_LINTER_DATE = "%A, %B %d %Y, %I:%M:%S %p"  # What the plugin Linter of Obsidian writes: `Saturday, March 5th 2022, …`.
_OWN_FIELDS = frozenset(("slug", "title", "tags", "tag", "aliases", "alias"))
_BLANKS = re.compile(r"[^\S\x00-\x1f\x7f-\x9f\u2028\u2029]+")  # Not control characters, which make a slug invalid.
DATE_HINT = "write it like 2026-05-31 or 2026-05-31T12:00:00Z"


class PageFrontMatter(Struct, frozen=True):
    slug: str | None = None
    title: str = ""
    created: float | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    fields: dict[str, Any] = {}  # The other fields, as they are written.
    problems: tuple[Problem, ...] = ()


def split_page(text: str, path: str) -> tuple[PageFrontMatter, int]:
    if start := find_body_start(text):
        try:
            return read_front_matter(text[:start], path), start
        except DocumentError as error:
            problem = rules.PAGE_FRONT_MATTER.problem(error.message, path, error.place, hint=error.hint)
            return PageFrontMatter(problems=(problem,)), start
    if not _FRONT_MATTER.match(text, 0, _MAX_FRONT_MATTER):
        return PageFrontMatter(), 0
    message = "the text between the `---` lines is not front matter, so it is part of the page"
    hint = "write `key: value` lines, or leave the line after the first `---` blank"
    return PageFrontMatter(problems=(rules.PAGE_FRONT_MATTER.problem(message, path, Place(1, 1), hint=hint),)), 0


def find_body_start(text: str) -> int:
    block = _FRONT_MATTER.match(text, 0, _MAX_FRONT_MATTER)
    # Compiled when a page has front matter, because it takes as long as reading many pages.
    is_table = block and (not block[1] or re.match(_YAML_TABLE, block[1], re.VERBOSE))
    return block.end() if block and is_table else 0


def parse_front_matter(text: str, path: str) -> DataDocument:
    from duvet.config.document_formats import parse_scalar_as_text, parse_yaml

    block = text.rstrip().removesuffix("...").removesuffix("---")
    values = _read_plain_fields(block.split("\n")[1:-1], parse_scalar_as_text)
    if values is not None:
        return DataDocument(values, block, path, lambda _: parse_yaml(block, path, parse_scalar_as_text).spans)
    document = parse_yaml(block, path, parse_scalar_as_text)
    check_document_size(document)
    return document


_QUOTED = r""""[^"\\]*+"|'[^']*+'"""
_PLAIN = r"""[^\s?:,\[\]{}#&*!|>'"%@`-](?:[^:#]|:(?=[^ ])|(?<! )#)*"""
_WORD = rf"\w[\w ./+-]*+|{_QUOTED}"
_ITEMS = rf" *+(?:{_WORD}) *+(?:, *+(?:{_WORD}) *+)*| *+"
_LINE = (
    r"(?:([^\W\d_][\w-]*+(?: [\w-]++)*):|( *+-))"  # A key, or the dash of an item.
    rf"(?: ++(?:({_PLAIN}|{_QUOTED})|\[({_ITEMS})\]))? *+"  # A scalar, or the items of a list.
)


# Much faster than the YAML parser, which reads everything else.
def _read_plain_fields(lines: Sequence[str], scalar: Callable[[str], Any]) -> dict[str, Any] | None:
    # Compiled here, because not every command reads pages.
    line_pattern, item_pattern = re.compile(_LINE), re.compile(_WORD)

    def convert(word: str) -> Any:
        return word[1:-1] if word[:1] in ("'", '"') else scalar(word.rstrip(" "))

    values: dict[str, Any] = {}
    key, indent, is_open = "", "", False
    for line in lines:
        found = line_pattern.fullmatch(line) if len(line) <= _MAX_PLAIN_LINE and line.isprintable() else None
        if found is None:
            return None
        name, dash, plain, items = found.groups()
        value = convert(plain or "") if items is None else [convert(word) for word in item_pattern.findall(items)]
        if name:
            key, indent, is_open = name, "", plain is items is None
            if key in values or not isinstance(scalar(key), str):
                return None
            values[key] = value
        elif plain is None:
            return None
        elif is_open:
            values[key], indent, is_open = [value], dash, False
        elif indent == dash:
            values[key].append(value)
        else:
            return None
    return values


@lru_cache(maxsize=1024)
def _fold_key(key: str) -> str:
    return _SEPARATORS.sub(" ", key).casefold()


def read_front_matter(text: str, path: str) -> PageFrontMatter:
    problems: list[Problem] = []
    document = parse_front_matter(text, path)

    def read(key: str, convert: Callable[[Any], Any], hint: str) -> Any:
        value = document.values.get(key)
        if value is None:
            return None
        try:
            return convert(value)
        except (TypeError, ValueError, OverflowError):
            place = document.value_place(key)
            message = f"invalid `{key}` in the front matter"
            problems.append(rules.PAGE_FRONT_MATTER.problem(message, document.path, place, hint=hint))
            return None

    keys = {_fold_key(key): key for key in reversed(document.values)}
    slug = read("slug", _convert_text, "put the value in quotes")
    title = read("title", _convert_text, "put the value in quotes")
    dates = (read(keys[name], parse_date, DATE_HINT) for name in _DATE_KEYS if name in keys)
    created = next((moment for moment in dates if moment is not None), None)
    hint = "write a list of words, such as [tea, kettle]"
    tags = [tag for key in ("tags", "tag") for tag in read(key, _convert_tags, hint) or ()]
    hint = "write a list of names, such as [Tea, Brewing tea]"
    aliases = [name for key in ("aliases", "alias") for name in read(key, _convert_words, hint) or ()]
    return PageFrontMatter(
        slug=slug,
        title=title or "",
        created=created,
        tags=tuple(dict.fromkeys(tag for tag in (tag.removeprefix("#") for tag in tags) if tag)),
        aliases=tuple(dict.fromkeys(aliases)),
        fields={key: value for key, value in document.values.items() if key not in _OWN_FIELDS},
        problems=tuple(problems),
    )


def normalise_slug(text: str) -> str:
    return _BLANKS.sub(" ", compose(text)).strip()


def _convert_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return " ".join(value.split())


def parse_date(value: object) -> float:
    """Return seconds since 1970; raise TypeError or ValueError if `value` is not a date."""
    # Obsidian shows a link to a daily note as a date.
    text = _convert_text(value).replace("/", "-").removeprefix("[[").removesuffix("]]")
    if text[:1].isalpha():
        found = datetime.strptime(_ORDINAL.sub("", text), _LINTER_DATE)
    else:
        try:
            found = datetime.combine(date.fromisoformat(text), time(), UTC)
        except ValueError:
            found = datetime.fromisoformat(text)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _convert_tags(value: Any) -> tuple[str, ...]:
    # No tag contains a blank.
    return _convert_words(value.replace(",", " ").split() if isinstance(value, str) else value)


def _convert_words(value: Any) -> tuple[str, ...]:
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, list):
        raise TypeError
    texts = (shorten_text(_convert_text(word), MAX_TAG_LENGTH) for word in words[:_MAX_TAGS] if word is not None)
    return tuple(filter(None, texts))

"""Front matter: what a page says of itself before its text."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from typing import Any

from msgspec import Struct

from duvet import rules
from duvet.config.documents.document import Document, DocumentError
from duvet.model import Place, Problem
from duvet.text import shortened

_FRONT = re.compile(r"---[ \t]*\r?\n(?![ \t]*\r?\n)((?:.*?\n)??)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TABLE = re.compile(
    r"""(?:[ \t]*(?:\#[^\n]*)?\n)*                                      # blank lines, and comments
    [ \t]*(?:\{
        | (?:"[^"\n]*"|'[^'\n]*')[ \t]*:(?:\s|\Z)
        | (?:[^\s\#"'-]|-[^\s-])(?:[^\n:]|:(?=\S))*:(?:\s|\Z)
    )""",
    re.VERBOSE,
)
"""How a table begins in YAML."""
_MOST = 1 << 16
_MOST_TAGS = 100
_LONGEST = 300


class Front(Struct, frozen=True):
    """What is of use to us; what is wrong is left out, and told."""

    slug: str | None = None
    title: str = ""
    created: float | None = None
    tags: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def body_start(text: str) -> int:
    """Where the text of a page begins."""
    found = _block(text)
    ##= man/spec/pages.md#files
    ##% What stands before a second `---` and is no table MUST be read as text, with a warning unless a blank line follows
    ##% the first.
    return found.end() if found and _is_table(found) else 0


def is_doubtful(text: str) -> bool:
    """Whether a page begins as if it had front matter, and has none."""
    found = _block(text)
    return found is not None and not _is_table(found)


def _block(text: str) -> re.Match[str] | None:
    return _FRONT.match(text, 0, _MOST) if text.startswith("---") else None


def _is_table(block: re.Match[str]) -> bool:
    return not block[1] or _TABLE.match(block[1]) is not None


def no_front_matter(path: str) -> Problem:
    """The problem that what should be front matter is none."""
    message = "what stands before the second `---` is no table, so it is read as text"
    return rules.PAGE_FRONT_MATTER.problem(message, path, Place(1, 1), hint=_TABLE_HINT)


_TABLE_HINT = "write lines such as `key: value`, or leave the line after the first `---` blank"


def front_matter(text: str, path: str) -> Front:
    """What stands before the text of a page."""
    from duvet.config.documents.limits import require_modest
    from duvet.config.documents.yaml_document import parse_yaml
    from duvet.config.documents.yaml_scalars import as_written

    inside = text.rstrip().removesuffix("...").removesuffix("---")
    try:
        ##= man/spec/pages.md#hostile-input
        ##% Front matter that is no YAML, nested too deeply, or stands for too many values or characters MUST be left aside
        ##% with a warning, and the page kept.
        ##= man/spec/pages.md#files
        ##% Numbers in front matter MUST be taken as they are written.
        document = parse_yaml(inside, path, as_written)
        require_modest(document)
    except DocumentError as error:
        problem = rules.PAGE_FRONT_MATTER.problem(error.message, path, error.place, hint=error.hint)
        return Front(problems=(problem,))
    return _Reader(document).front()


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def front(self) -> Front:
        slug = self._value("slug", _text, "write it between quotes")
        title = self._value("title", _text, "write it between quotes")
        created = self._value("created", _moment, _DATE_HINT)
        if created is None:
            created = self._value("date", _moment, _DATE_HINT)
        tags = self._value("tags", _tags, "give a list of words")
        return Front(slug, title or "", created, tags or (), tuple(self.problems))

    def _value(self, key: str, meaning: Callable[[Any], Any], hint: str) -> Any:
        value = self.document.values.get(key)
        if value is None:
            return None
        try:
            return meaning(value)
        except (TypeError, ValueError, OverflowError):
            place = self.document.value_place(key)
            message = f"`{key}` can't be understood"
            self.problems.append(rules.PAGE_FRONT_MATTER.problem(message, self.document.path, place, hint=hint))
            return None


_DATE_HINT = "write it as 2026-05-31, or as 2026-05-31T12:00:00Z"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return " ".join(value.split())


def _moment(value: Any) -> float:
    """Seconds since 1970 of a day, or of a moment; where no zone is named it is that of Greenwich."""
    text = _text(value)
    try:
        found = datetime.combine(date.fromisoformat(text), time(), UTC)
    except ValueError:
        found = datetime.fromisoformat(text)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _tags(value: Any) -> tuple[str, ...]:
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, list):
        raise TypeError
    found = dict.fromkeys(shortened(_text(word), _LONGEST) for word in words[:_MOST_TAGS])
    return tuple(word for word in found if word)

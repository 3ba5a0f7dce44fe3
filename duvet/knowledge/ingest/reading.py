"""From the bytes of a file to what is stored of it."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from duvet.errors import DuvetError, UnreadableError
from duvet.knowledge.ingest.cutting import pieces
from duvet.knowledge.ingest.front import Front, front_of
from duvet.knowledge.ingest.imports import imports_of
from duvet.knowledge.ingest.known import Known
from duvet.knowledge.ingest.outline import MARKDOWN, outline_of
from duvet.knowledge.ingest.symbols import symbols_of
from duvet.knowledge.ingest.trails import Declared, Trails
from duvet.knowledge.ingest.warnings import warned, warning
from duvet.knowledge.pages.front import body_start
from duvet.model import Problem
from duvet.project import Project
from duvet.store.records import Kind, Piece, Symbol
from duvet.text import BOM
from duvet.tree.seen import Seen, is_fresh, marks

_BINARY = 1024
"""So many bytes tell whether a file is text."""


class Content(Struct, frozen=True, kw_only=True):
    """What is in a file."""

    digest: str = ""
    text: str = ""
    pieces: tuple[Piece, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    known: Known = Known()
    skipped: str = ""
    modified: float | None = None
    problems: tuple[Problem, ...] = ()


class Reader:
    """Reads the files of a project, those that are not what they were."""

    def __init__(self, project: Project, most: int, *, finds_symbols: bool, now: int | None = None) -> None:
        self._project = project
        self._most = most
        self._finds_symbols = finds_symbols
        self._now = time.time_ns() if now is None else now

    def modified(self, path: str, seen: Seen | None) -> float | None:
        """When a file was written, if it looks as it did then; None where it has to be read."""
        ##= man/spec/knowledge.md#runs
        ##% A file whose bytes are the same MUST NOT be cut, indexed or embedded again.
        if seen is None or seen.digest or not self._project.on_disk:
            return None
        try:
            info = os.stat(self._project.disk.at(path))
        except (OSError, ValueError):
            return None
        return info.st_mtime if seen.looks_like(info) else None

    def read(self, path: str, kind: Kind, digest: str) -> Content | None:
        """What is in a file now; no text where it is what had this digest, None where it is gone."""
        from blake3 import blake3

        try:
            data, seen, modified = self._bytes(path)
        except UnreadableError as error:
            if isinstance(error.__cause__, (FileNotFoundError, NotADirectoryError)):
                return None
            return Content(skipped="unreadable", problems=warned(error))
        if data is None:
            return Content(skipped="too large", known=Known(seen), modified=modified)
        found = blake3(data).hexdigest()
        if found == digest:
            return Content(digest=found, known=Known(seen), modified=modified)
        return self._content(path, kind, data, Content(digest=found, known=Known(seen), modified=modified))

    def _bytes(self, path: str) -> tuple[bytes | None, Seen | None, float | None]:
        """The bytes, none of a file that is too large, and what it looked like."""
        if not self._project.on_disk:
            data = self._project.tree.read(path)
            return (data if len(data) <= self._most else None), None, None
        disk = self._project.disk
        info = disk.marks(path)
        if stat.S_ISREG(info.st_mode) and info.st_size > self._most:
            return None, marks(info), info.st_mtime
        data, info = disk.read_with_marks(path)
        # What was written a moment ago may be written once more and look the same.
        seen = marks(info, b"?" if is_fresh(info, self._now) else b"")
        return (data if len(data) <= self._most else None), seen, info.st_mtime

    def _content(self, path: str, kind: Kind, data: bytes, found: Content) -> Content:
        text = _text(data)
        ##= man/spec/knowledge.md#files
        ##% A file that is empty, larger than `ingest.maxFileBytes`, no UTF-8 text, or that can't be read MUST be kept by its
        ##% name alone; the last one with a warning.
        if text is None or not text.strip():
            return replace(found, skipped="empty" if text is not None else "binary")
        if kind is Kind.DOC or path.lower().endswith(MARKDOWN):
            return _document(path, text, found)
        symbols = symbols_of(path, data) if self._finds_symbols else ()
        known = replace(found.known, imports=imports_of(path, text)) if kind is Kind.TEST else found.known
        return replace(found, text=text, symbols=symbols, pieces=_code(text, symbols), known=known)


def _text(data: bytes) -> str | None:
    """The text; None where it is none."""
    if b"\0" in data[:_BINARY]:
        return None
    try:
        return data.decode().removeprefix(BOM)
    except UnicodeDecodeError:
        return None


def _code(text: str, symbols: Sequence[Symbol]) -> tuple[Piece, ...]:
    return tuple(pieces(text, title=Declared(text, symbols).at)) if symbols else tuple(pieces(text))


def _document(path: str, text: str, found: Content) -> Content:
    problems: tuple[Problem, ...] = ()
    front, start = Front(), body_start(text)
    try:
        front = front_of(path, text[:start])
    except DuvetError as error:
        problems = (warning(f"its front matter can't be read: {error.message}", path),)
    outline = outline_of(path, text, start)
    cut = tuple(pieces(text, [one.start for one in outline.headings], Trails(outline, front.title).at))
    known = Known(
        found.known.seen,
        front.subsystem,
        front.tags,
        front.title or outline.title,
        front.slug,
        outline.links,
        outline.pages,
    )
    return replace(found, text=text, pieces=cut, known=known, problems=problems)

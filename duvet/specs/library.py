"""Loads and parses each specification of a run once, and assigns ids."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from duvet.errors import DuvetError, FetchError, MarkdownError, UnreadableError
from duvet.model import Format, Locator, RequirementForm, Section, Specification
from duvet.specs.locator import cache_path, canonical_url, locate_specification, locator_key, strip_extension
from duvet.specs.section_names import make_anchor
from duvet.text import decode_utf8
from duvet.tree.cache import Cache
from duvet.tree.files import Tree

DownloadOutcome = bytes | DuvetError  # The text of a URL, or the error.

_MARKDOWN_NAME = re.compile(r"[^/]\.(?:md|markdown)\Z")
_MARKDOWN_START = re.compile(r"[^\S\x1c-\x1f]*(?:#|\[//\]:)")


def detect_format(path: str, text: str, requested: Format) -> Format:
    ##= man/spec/trace.md#specifications
    ##% Unless a format is configured, duvet MUST read a specification as Markdown if its name or the beginning of its
    ##% text looks like Markdown, and otherwise as IETF text.
    if requested is not Format.AUTO:
        return requested
    if _MARKDOWN_NAME.search(path) or _MARKDOWN_START.match(text):
        return Format.MARKDOWN
    return Format.IETF


_RFC_FILE = re.compile(r"rfc0*([1-9]\d*)", re.IGNORECASE)
_RFC_NAME = re.compile(r"RFC (\d+)")
_FRONT = re.compile(r"\s*(?:[^\n]*\n){0,20}?(?:Request for Comments|RFC)(?::| -)\s*0*([1-9]\d*)\b")


def find_file_stem(path: str) -> str:
    return strip_extension(posixpath.basename(path))


def name_ietf_specification(path: str, front: str) -> str:
    found = _RFC_FILE.fullmatch(find_file_stem(path)) or _FRONT.match(front)
    return f"RFC {found[1]}" if found else find_file_stem(path)


def assign_ids(
    specifications: Iterable[Specification],
    known: Iterable[Specification] = (),
    rank: Callable[[Specification], int] = lambda one: 0,
) -> tuple[Specification, ...]:
    ids = {one.locator: one.id for one in known}
    further = sorted(
        (one for one in specifications if one.locator not in ids), key=lambda one: locator_key(one.locator)
    )
    plain = {
        one.locator: f"rfc{rfc[1]}"
        if (rfc := _RFC_NAME.fullmatch(one.name))
        else make_anchor(find_file_stem(one.path)) or "spec"
        for one in further
    }
    reserved = frozenset(plain.values())
    taken = set(ids.values())
    for specification in sorted(further, key=rank):
        plain_id = plain[specification.locator]
        number, id = 1, plain_id
        while id in taken or (number > 1 and id in reserved):
            number += 1
            id = f"{plain_id}-{number}"
        taken.add(id)
        ids[specification.locator] = id
    return tuple([replace(one, id=ids[one.locator]) for one in further])


class Policy(Struct, frozen=True):
    """The limits of downloads: size, time, and allowed sources."""

    offline: bool = False
    allow_http: bool = False
    max_bytes: int = 64 * 1024 * 1024
    seconds: float = 60.0


_FRONT_LENGTH = 8192  # The number of characters that contain the first page of a text.


class ParsedSpecification(Struct, frozen=True):
    format: Format
    name: str
    title: str
    description: str
    sections: tuple[Section, ...]


class Library:
    """Without `forms`, specifications are parsed as awslabs duvet parses them."""

    def __init__(
        self,
        tree: Tree,
        folder: str,
        fetcher: Callable[[dict[str, str]], dict[str, DownloadOutcome]] | None = None,
        cwd: str = "",
        memory: Cache | None = None,
        forms: Mapping[str, RequirementForm] | None = None,
    ) -> None:
        self.tree = tree
        self.folder = folder
        self.fetcher = fetcher
        self.cwd = cwd
        self.memory = memory or Cache()
        self.forms = forms
        self.failures: dict[Locator, DuvetError] = {}  # Specifications that are not tried again.
        self._loaded: dict[Locator, Specification] = {}
        self._fetched: dict[str, DownloadOutcome] = {}
        self._parsed: dict[tuple[bytes, Format, RequirementForm | None, str], ParsedSpecification] = {}

    def load(self, locator: Locator) -> Specification:
        if locator in self.failures:
            raise self.failures[locator]
        if locator not in self._loaded:
            try:
                path = self.path(locator)
                self._loaded[locator] = self._make(locator, path, self._read(locator, path), self.find_form(locator))
            except DuvetError as error:
                self.failures[locator] = error
                raise
        return self._loaded[locator]

    def prefetch(self, locators: Iterable[Locator]) -> None:
        """Download the missing specifications; `load` raises the errors."""
        if self.fetcher is None:
            return
        paths = {canonical_url(one.name): self.path(one) for one in locators if one.is_url}
        missing = {url: path for url, path in paths.items() if self._is_missing(url, path)}
        for url, outcome in self.fetcher(missing).items() if missing else ():
            self._fetched[url] = outcome
            if isinstance(outcome, bytes):
                self.memory.note_written(missing[url], outcome)
            else:
                # The download may succeed in the next run.
                self.memory.forgo()

    def _is_missing(self, url: str, path: str) -> bool:
        ##= man/spec/trace.md#downloads
        ##% duvet MUST download a specification at most once, and later read it from disk.
        return url not in self._fetched and not self.tree.exists(path)

    def path(self, locator: Locator) -> str:
        return cache_path(locator.name, self.folder) if locator.is_url else locator.name

    def find_form(self, locator: Locator) -> RequirementForm | None:
        return None if self.forms is None else self.forms.get(locator.name, RequirementForm())

    def load_from(self, path: str, locator: Locator, form: RequirementForm | None = None) -> Specification:
        return self._make(locator, path, self.tree.read(path), form)

    def load_listed(self, path: str, name: str, form: RequirementForm | None, sections: list[str]) -> Specification:
        for format in Format:
            found = self.load_from(path, locate_specification(name, format), form)
            # One name may be read in several formats, and the file may have changed.
            if sections == [section.id for section in found.sections]:
                return found
        raise UnreadableError("the file changed during the query", path=path, hint="run the query again")

    def _make(self, locator: Locator, path: str, data: bytes, form: RequirementForm | None) -> Specification:
        how = f"{locator.format.name} {form}"
        name = locator.name.removeprefix(self.cwd.rstrip("/") + "/") if self.cwd else locator.name
        parsed = self.memory.parse_text(
            "sections", ParsedSpecification, path, how, data, lambda: self._parse(path, data, locator, form)
        )
        return Specification(
            id="",
            name=parsed.name,
            locator=locator,
            url=canonical_url(locator.name) if locator.is_url else name.removeprefix("./"),
            path=path,
            format=parsed.format,
            title=parsed.title,
            description=parsed.description,
            data=data,
            sections=parsed.sections,
            form=form,
        )

    def _read(self, locator: Locator, path: str) -> bytes:
        if locator.is_url:
            self.prefetch([locator])
            url = canonical_url(locator.name)
            found = self._fetched.get(url)
            if isinstance(found, DuvetError):
                raise found
            if found is not None:
                return found
            if self.fetcher is None and self._is_missing(url, path):
                raise FetchError(f"{url} has not been downloaded", hint=f"save the specification's text as {path}")
        return self.tree.read(path)

    def _parse(self, path: str, data: bytes, locator: Locator, form: RequirementForm | None) -> ParsedSpecification:
        text = decode_utf8(data, path)
        format = detect_format(path, text, locator.format)
        # The text above the first heading is named after the file.
        stem = find_file_stem(path) if form else ""
        key = (data, format, form, stem)
        # Otherwise, a text with two names is parsed once.
        if key not in self._parsed and format is Format.MARKDOWN:
            from duvet.specs.markdown import parse_markdown

            try:
                document = parse_markdown(data, form, stem)
            except MarkdownError as error:
                error.path = path
                raise
            title, sections = document.title, document.sections
            headed = [one for one in sections if not form or one.full_title]
            name = title or (headed[0].title if headed else "")
            self._parsed[key] = ParsedSpecification(format, name, title, document.description, sections)
        elif key not in self._parsed:
            from duvet.specs.ietf import find_front_title, parse_ietf

            front = find_front_title(text[:_FRONT_LENGTH])
            self._parsed[key] = ParsedSpecification(format, "", "", front, parse_ietf(data, has_paths=form is not None))
        parsed = self._parsed[key]
        if format is Format.IETF and len({section.path for section in parsed.sections if section.path}) <= 1:
            return replace(parsed, name=name_ietf_specification(path, text[:_FRONT_LENGTH]))
        return replace(parsed, name=parsed.name or find_file_stem(path))

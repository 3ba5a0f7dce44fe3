"""The specifications of a run: found, read, parsed once and named."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from duvet.cache.memory import Memory, NoMemory
from duvet.errors import DuvetError, FetchError
from duvet.model import Format, Locator, Section, Specification
from duvet.specs.detect import detect
from duvet.specs.fetch import Outcome
from duvet.specs.names import ietf_name, stem
from duvet.specs.resolve import displayed
from duvet.specs.urls import cache_path, canonical_url
from duvet.text import decode
from duvet.tree.protocol import Tree

Fetcher = Callable[[dict[str, str]], dict[str, Outcome]]
"""Downloads URLs into files, and gives back the text of each that was tried, or why there is none."""

_FRONT = 8192
"""The characters that hold the first page of a text."""


class Parsed(Struct, frozen=True):
    """What a text says of itself, wherever it was found."""

    format: Format
    name: str
    title: str
    description: str
    sections: tuple[Section, ...]


class Library:
    """Loads specifications; what was read or parsed once is kept."""

    def __init__(
        self, tree: Tree, folder: str, fetcher: Fetcher | None = None, cwd: str = "", memory: Memory | None = None
    ) -> None:
        self.tree = tree
        self.folder = folder
        self.fetcher = fetcher
        self.cwd = cwd
        self.memory = memory or NoMemory()
        self.failures: dict[Locator, DuvetError] = {}
        """Why specifications could not be loaded; nothing is tried twice."""
        self._loaded: dict[Locator, Specification] = {}
        self._fetched: dict[str, Outcome] = {}
        self._parsed: dict[tuple[bytes, Format], Parsed] = {}

    def load(self, locator: Locator) -> Specification:
        """The specification, read and parsed; a DuvetError where that can't be done."""
        known = self._loaded.get(locator)
        if known is not None:
            return known
        if locator in self.failures:
            raise self.failures[locator]
        try:
            loaded = self._loaded[locator] = self._load(locator)
        except DuvetError as error:
            self.failures[locator] = error
            raise
        return loaded

    def prefetch(self, locators: Iterable[Locator]) -> None:
        """Download at the same time whatever of these is not on disk; what came of it is told when it is loaded."""
        if self.fetcher is None:
            return
        wanted = {canonical_url(one.name): self.path(one) for one in locators if one.is_url}
        missing = {url: path for url, path in wanted.items() if self._is_missing(url, path)}
        if missing:
            found = self.fetcher(missing)
            self._fetched.update(found)
            for url, outcome in found.items():
                if isinstance(outcome, bytes):
                    self.memory.wrote(missing[url], outcome)
                else:
                    ##= man/spec/cache.md#freshness
                    ##% An answer that a fault went into, such as a file that can't be read or a download that fails,
                    ##% MUST NOT be kept.
                    self.memory.for_now()

    def _is_missing(self, url: str, path: str) -> bool:
        ##= man/spec/trace.md#specifications
        ##% A specification that has been downloaded MUST be read from disk.
        ##= man/spec/trace.md#specifications
        ##% A download MUST NOT be tried twice in one run.
        return url not in self._fetched and not self.tree.exists(path)

    def path(self, locator: Locator) -> str:
        """The file that holds the text."""
        return cache_path(locator.name, self.folder) if locator.is_url else locator.name

    def load_from(self, path: str, locator: Locator) -> Specification:
        """The specification of that identity, whose text is in this file."""
        return self._made(locator, path, self.tree.read(path))

    def _load(self, locator: Locator) -> Specification:
        path = self.path(locator)
        return self._made(locator, path, self._read(locator, path))

    def _made(self, locator: Locator, path: str, data: bytes) -> Specification:
        how = locator.format.name
        parsed = self.memory.of_text("sections", Parsed, path, how, data, lambda: self._parse(path, data, locator))
        return Specification(
            id="",
            name=parsed.name,
            locator=locator,
            url=canonical_url(locator.name) if locator.is_url else displayed(locator, self.cwd).removeprefix("./"),
            path=path,
            format=parsed.format,
            title=parsed.title,
            description=parsed.description,
            data=data,
            sections=parsed.sections,
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
                raise FetchError(f"{url} has not been downloaded", hint=f"put its text into {path}")
        return self.tree.read(path)

    def _parse(self, path: str, data: bytes, locator: Locator) -> Parsed:
        """One text under two names is parsed once."""
        text = decode(data, path)
        format = detect(path, text, locator.format)
        key = (data, format)
        if key not in self._parsed:
            self._parsed[key] = _markdown(data) if format is Format.MARKDOWN else _ietf(data, text)
        parsed = self._parsed[key]
        name = ietf_name(path, text[:_FRONT]) if format is Format.IETF else parsed.name or stem(path)
        return replace(parsed, name=name)


def _markdown(data: bytes) -> Parsed:
    from duvet.specs import markdown

    document = markdown.parse(data)
    first = document.sections[0].title if document.sections else ""
    title = document.title
    return Parsed(Format.MARKDOWN, title or first, title, document.description, document.sections)


def _ietf(data: bytes, text: str) -> Parsed:
    from duvet.specs import ietf

    return Parsed(Format.IETF, "", "", ietf.front_title(text[:_FRONT]), ietf.parse(data))

"""Reads a file with its front matter, finds its symbols with tree-sitter, and splits it into chunks."""

from __future__ import annotations

import os
import re
import stat
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from typing import TYPE_CHECKING, get_args

from blake3 import blake3
from msgspec import Struct, field
from msgspec.structs import replace

from duvet import errors, model
from duvet.knowledge.ingest.files import make_warning, make_warnings
from duvet.knowledge.ingest.subsystems import find_imports
from duvet.knowledge.pages.front_matter import MAX_TAG_LENGTH, PageFrontMatter, find_body_start, read_front_matter
from duvet.knowledge.pages.links import LinkSyntax, PageLink, find_definitions, read_outline as read_page_outline
from duvet.project.project import Project
from duvet.store.records import FileKind, Symbol, SymbolKind, SymbolLanguage, TextPiece
from duvet.text import BOM, collapse_whitespace, find_line_index, line_starts, shorten_text
from duvet.tree.recorder import FileStamp, is_fresh, make_file_stamp

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_KINDS: tuple[str, ...] = get_args(SymbolKind)
CLASS, FUNCTION, METHOD, INTERFACE, TYPE, MODULE = _KINDS
_SCOPES = (CLASS, INTERFACE, MODULE)  # Kinds of symbols that may contain others.
_PREFIXES = ("decorated_definition", "export_statement", "lexical_declaration", "variable_declaration")
_ERROR = "ERROR"
_MAX_SYMBOLS = 20_000
_MAX_NAME = 300


class Grammar(Struct, frozen=True):
    name: SymbolLanguage
    package: str
    function: str  # The function of the package that returns the language.
    kinds: Mapping[str, str]  # Kinds of symbols by the types of nodes; "" for a name with a value.
    containers: frozenset[str]  # Types of nodes that may contain declarations, besides classes and modules.


_PYTHON = Grammar(
    "python",
    "tree_sitter_python",
    "language",
    {"class_definition": CLASS, "function_definition": FUNCTION, "type_alias_statement": TYPE},
    frozenset(
        (
            *("module", "block", "decorated_definition", "with_statement"),
            *("if_statement", "elif_clause", "else_clause", "try_statement", "except_clause", "finally_clause"),
        )
    ),
)
_SCRIPT = {
    **dict.fromkeys(("class_declaration", "class"), CLASS),
    **dict.fromkeys(("function_declaration", "generator_function_declaration"), FUNCTION),
    "method_definition": METHOD,
    **dict.fromkeys(("variable_declarator", "field_definition"), ""),
}
_TYPED = {
    **_SCRIPT,
    "abstract_class_declaration": CLASS,
    "interface_declaration": INTERFACE,
    **dict.fromkeys(("type_alias_declaration", "enum_declaration"), TYPE),
    **dict.fromkeys(("internal_module", "module"), MODULE),
    "function_signature": FUNCTION,
    **dict.fromkeys(("method_signature", "abstract_method_signature"), METHOD),
    "public_field_definition": "",
}
_IN_SCRIPTS = frozenset(
    (
        *("program", "export_statement", "statement_block", "class_body", "interface_body", "ambient_declaration"),
        *("lexical_declaration", "variable_declaration", "if_statement", "expression_statement"),
    )
)
_VALUE_KINDS = {
    **dict.fromkeys(("arrow_function", "function_expression", "function", "generator_function"), FUNCTION),
    "class": CLASS,
}
"""The kinds of symbols, by the types of the values that are assigned to them."""
_GO = Grammar(
    "go",
    "tree_sitter_go",
    "language",
    {
        "package_clause": MODULE,
        "function_declaration": FUNCTION,
        "method_declaration": METHOD,
        **dict.fromkeys(("type_spec", "type_alias"), TYPE),
    },
    frozenset(("source_file", "type_declaration")),
)
_JAVASCRIPT = Grammar("javascript", "tree_sitter_javascript", "language", _SCRIPT, _IN_SCRIPTS)
_TYPESCRIPT = Grammar("typescript", "tree_sitter_typescript", "language_typescript", _TYPED, _IN_SCRIPTS)
_TSX = Grammar("tsx", "tree_sitter_typescript", "language_tsx", _TYPED, _IN_SCRIPTS)

_GRAMMARS = {
    **dict.fromkeys(("py", "pyi"), _PYTHON),
    **dict.fromkeys(("ts", "mts", "cts"), _TYPESCRIPT),
    "tsx": _TSX,
    **dict.fromkeys(("js", "mjs", "cjs", "jsx"), _JAVASCRIPT),
    "go": _GO,
}


def wants_symbols(wanted: bool | None) -> bool:
    if wanted is False:
        return False
    packages = ("tree_sitter", *sorted({grammar.package for grammar in _GRAMMARS.values()}))
    is_installed = all(find_spec(package) is not None for package in packages)
    if wanted and not is_installed:
        raise errors.DuvetError(
            "indexing symbols requires the extra `symbols`", hint="run: pip install 'duvet-cli[symbols]'"
        )
    return is_installed


@cache
def load_parser(grammar_name: str) -> Parser:
    from tree_sitter import Language, Parser

    grammar = next(grammar for grammar in _GRAMMARS.values() if grammar.name == grammar_name)
    return Parser(Language(getattr(import_module(grammar.package), grammar.function)()))


def find_symbols(path: str, data: bytes) -> tuple[Symbol, ...]:
    grammar = _GRAMMARS.get(path.rpartition(".")[2])
    if grammar is None:
        return ()
    tree = load_parser(grammar.name).parse(data)
    found = _visit(tree.root_node, grammar)
    return tuple(sorted(found, key=lambda symbol: (symbol.line_start, -symbol.line_end)))


def make_module_symbol(path: str) -> Iterator[Symbol]:
    grammar = _GRAMMARS.get(path.rpartition(".")[2])
    if grammar in (_PYTHON, _JAVASCRIPT):
        folder, _, file = path.rpartition("/")
        stem = file.partition(".")[0]
        name = folder.rpartition("/")[2] if stem in ("__init__", "index") and folder else stem
        yield Symbol(name=name, qualified_name=name, kind=MODULE, language=grammar.name, line_start=1, line_end=1)


def _visit(root: Node, grammar: Grammar) -> Iterator[Symbol]:
    # An explicit stack, because code may be nested deeper than Python's recursion limit. An entry is a node, the node with the
    # lines of the symbol, and the qualified name and kind of the enclosing symbol.
    todo: list[tuple[Node, Node, str, str]] = [(root, root, "", "")]
    left = _MAX_SYMBOLS
    while todo and left:
        node, whole, around, within = todo.pop()
        declared = grammar.kinds.get(node.type) if node.is_named else None
        if declared is None:
            if node.type in grammar.containers or node.type == _ERROR:
                # A symbol begins at its decorator or its `export` keyword.
                outer = whole if node.type in _PREFIXES else None
                todo += [(inner, outer or inner, around, within) for inner in reversed(node.children)]
            continue
        if node.type in ("type_spec", "type_alias"):
            value = node.child_by_field_name("type")
            kind = INTERFACE if value is not None and value.type == "interface_type" else TYPE
        else:
            value = None if declared else node.child_by_field_name("value")
            kind = _VALUE_KINDS.get(value.type, "") if value is not None else declared
            if kind == FUNCTION and within in (CLASS, INTERFACE):
                kind = METHOD
        name = _read_name(node) if kind else ""
        if not name:
            continue
        qualified = (f"{around}.{name}" if around else name)[:_MAX_NAME]
        left -= 1
        yield Symbol(
            name=name.rpartition(".")[2],
            qualified_name=qualified,
            kind=kind,
            language=grammar.name,
            line_start=whole.start_point[0] + 1,
            line_end=whole.end_point[0] + 1,
        )
        if kind in _SCOPES:
            body = node.child_by_field_name("body") or node.child_by_field_name("value") or node
            if body.type == "class":
                body = body.child_by_field_name("body") or body
            todo += [(inner, inner, qualified, kind) for inner in reversed(body.children)]


def _read_name(node: Node) -> str:
    fields = (node.child_by_field_name(name) for name in ("name", "property", "left"))
    named = node.named_child(0) if node.type == "package_clause" else next(filter(None, fields), None)
    name = _text(named).strip("'\"") if named is not None else ""
    receiver = node.child_by_field_name("receiver")
    if receiver is not None and name:
        kind = _text(receiver).strip("()").split()
        owner = kind[-1].lstrip("*").partition("[")[0] if kind else ""
        return f"{owner}.{name}" if owner else name
    return name


def _text(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")[:_MAX_NAME]


MARKDOWN_ENDINGS = (".md", ".markdown", ".mdx")
_BINARY_PROBE = 1024  # Number of bytes at the beginning that are searched for NUL; a file with NUL is not text.
WINDOW, OVERLAP = 1000, 200  # Maximum characters of a chunk, and of its overlap with the next one.
_MIN_TO_BREAK, _MIN_TO_WORD = 500, 800
"""Minimum characters of a chunk that ends at a heading or a line end, and of one that ends between words."""

TitleLookup = Callable[[int, int], str]  # Returns the headings or symbols of a range of the text.
_CLOSING_HASHES = re.compile(r"(?:^|[ \t])#+$")
_COMPONENT_TAG = re.compile(r"^[ \t]*</?[A-Z][^\n]*>[ \t]*$", re.MULTILINE)
_ADOC_HEADING = re.compile(r"(={1,6})[ \t]+(\S.*)")
_RST_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}")
_MAX_HEADING_LINE, _MAX_TITLE, _MAX_LINKS = 500, 100, 10_000
_MAX_NAMED_SYMBOLS = 4
_MAX_LOOK_BACK = 500  # Number of symbols to try when searching for the one around a range.


class FileRecord(Struct, frozen=True, array_like=True, gc=False, omit_defaults=True):
    seen: FileStamp | None = None  # None if the file was not read from the disk.
    subsystem: str = ""
    tags: tuple[str, ...] = ()
    title: str = ""
    slug: str = ""
    aliases: tuple[str, ...] = ()
    links: tuple[str, ...] = ()  # Paths as written in the file, relative to it.
    pages: tuple[str, ...] = ()  # Targets of `[[links]]`.
    imports: tuple[str, ...] = ()  # Modules that a test imports.


class IngestContent(Struct, frozen=True, kw_only=True):
    digest: str = ""
    text: str = ""
    pieces: tuple[TextPiece, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    record: FileRecord = FileRecord()
    skipped: str = ""  # The reason why the file is not indexed.
    modified: float | None = None
    problems: tuple[model.Problem, ...] = ()


class IngestReader(Struct, frozen=True):
    project: Project
    max_bytes: int
    finds_symbols: bool
    now: int = field(default_factory=time.time_ns)

    def find_unchanged_time(self, path: str, seen: FileStamp | None) -> float | None:
        ##= man/spec/knowledge.md#ingest-runs
        ##% `duvet ingest` MUST process only files whose content has changed, unless `--full` is given or the
        ##% configuration of `duvet ingest` has changed.
        if seen is None or seen.digest or not self.project.on_disk:
            return None
        try:
            info = os.stat(self.project.disk.at(path))
        except (OSError, ValueError):
            return None
        return info.st_mtime if seen.looks_like(info) else None

    def read(self, path: str, kind: FileKind, digest: str) -> IngestContent | None:
        try:
            data, seen, modified = self._read_bytes(path)
        except errors.UnreadableError as error:
            if isinstance(error.__cause__, (FileNotFoundError, NotADirectoryError)):
                return None
            return IngestContent(skipped="unreadable", problems=make_warnings(error))
        if data is None:
            return IngestContent(skipped="too large", record=FileRecord(seen), modified=modified)
        found = IngestContent(digest=blake3(data).hexdigest(), record=FileRecord(seen), modified=modified)
        if found.digest == digest:
            return found
        ##= man/spec/knowledge.md#files
        ##% `duvet ingest` MUST index only the name of a file that is too large or not UTF-8.
        try:
            text = data.decode().removeprefix(BOM)
        except UnicodeDecodeError:
            return replace(found, skipped="binary")
        if b"\0" in data[:_BINARY_PROBE]:
            return replace(found, skipped="binary")
        return self._parse(path, kind, text, data, found) if text.strip() else replace(found, skipped="empty")

    def _read_bytes(self, path: str) -> tuple[bytes | None, FileStamp | None, float | None]:
        if not self.project.on_disk:
            data = self.project.tree.read(path)
            return (data if len(data) <= self.max_bytes else None), None, None
        disk = self.project.disk
        info = disk.status(path)
        if stat.S_ISREG(info.st_mode) and info.st_size > self.max_bytes:
            return None, make_file_stamp(info), info.st_mtime
        data, info = disk.read_with_status(path)
        # A file that has just been written may change again without getting a new stamp.
        seen = make_file_stamp(info, b"?" if is_fresh(info, self.now) else b"")
        return (data if len(data) <= self.max_bytes else None), seen, info.st_mtime

    def _parse(self, path: str, kind: FileKind, text: str, data: bytes, found: IngestContent) -> IngestContent:
        if kind is not FileKind.DOC and not path.lower().endswith(MARKDOWN_ENDINGS):
            symbols = find_symbols(path, data) if self.finds_symbols else ()
            pieces = cut_pieces(text, title=make_symbol_titles(text, symbols)) if symbols else cut_pieces(text)
            record = replace(found.record, imports=find_imports(path, text)) if kind is FileKind.TEST else found.record
            if self.finds_symbols:
                symbols = (*make_module_symbol(path), *symbols)
            return replace(found, text=text, symbols=symbols, pieces=tuple(pieces), record=record)
        problems: tuple[model.Problem, ...] = ()
        front, start = PageFrontMatter(), find_body_start(text)
        ##= man/spec/knowledge.md#files
        ##% `duvet ingest` MUST read titles, slugs, tags and aliases from front matter by the same rules as for pages.
        try:
            front = read_front_matter(text[:start], path)
        except errors.DuvetError as error:
            problems = (make_warning(f"invalid front matter: {error.message}", path),)
        outline = DocumentOutline()
        try:
            outline = read_outline(path, text, start)
        except errors.MarkdownError as error:
            place = model.Place(error.line + text.count("\n", 0, start))
            problems = (*problems, make_warning(error.message, path, place, error.hint))
        title = shorten_text(front.title, MAX_TAG_LENGTH)
        titles = make_heading_titles(outline, title)
        subsystem = front.fields.get("subsystem")
        record = FileRecord(
            found.record.seen,
            shorten_text(collapse_whitespace(subsystem), MAX_TAG_LENGTH) if isinstance(subsystem, str) else "",
            front.tags,
            title or outline.title,
            front.slug or "",
            front.aliases,
            outline.links,
            outline.pages,
        )
        pieces = cut_pieces(text, [heading.start for heading in outline.headings], titles)
        return replace(found, text=text, pieces=tuple(pieces), record=record, problems=problems)


def cut_pieces(
    text: str, headings: Sequence[int] = (), title: TitleLookup = lambda start, end: ""
) -> Iterator[TextPiece]:
    ##= man/spec/knowledge.md#files
    ##% `duvet ingest` MUST split files into chunks of at most 1,000 characters, at headings and line ends where
    ##% possible.
    start, line, counted = 0, 1, 0
    while start < len(text):
        end, is_heading = _find_end(text, start, headings)
        line += text.count("\n", counted, start)
        counted = start
        content = text[start:end]
        if not content.isspace():
            last = line + content.rstrip("\n").count("\n")
            yield TextPiece(start=start, end=end, line_start=line, line_end=last, title=title(start, end))
        if end == len(text):
            return
        if not is_heading:
            overlap = max(end - OVERLAP, start + 1)
            line_start = text.find("\n", overlap - 1, end - 1) + 1
            end = line_start or text.find(" ", overlap - 1, end - 1) + 1 or overlap
        start = end


def _find_end(text: str, start: int, headings: Sequence[int]) -> tuple[int, bool]:
    most = start + WINDOW
    if most >= len(text) and not headings:
        return len(text), False
    index = bisect_right(headings, min(most, len(text) - 1)) - 1
    if index >= 0 and headings[index] >= start + _MIN_TO_BREAK:
        return headings[index], True
    if most >= len(text):
        return len(text), False
    line = text.rfind("\n", start + _MIN_TO_BREAK, most) + 1
    return line or text.rfind(" ", start + _MIN_TO_WORD, most) + 1 or most, False


class OutlineHeading(Struct, frozen=True):
    start: int
    level: int
    title: str


class DocumentOutline(Struct, frozen=True):
    headings: tuple[OutlineHeading, ...] = ()
    links: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.headings[0].title if self.headings else ""


def read_outline(path: str, text: str, start: int = 0) -> DocumentOutline:
    ending = path[path.rfind(".") :].lower()
    if ending in MARKDOWN_ENDINGS:
        body = text[start:]
        if ending == ".mdx":
            # The content of a component is Markdown, not HTML.
            body = _COMPONENT_TAG.sub(lambda tag: " " * len(tag[0]), body)
        return _read_markdown_outline(body, start)
    headings: list[OutlineHeading] = []
    levels: dict[str, int] = {}
    above = (start, "")
    for line in text[start:].split("\n") if ending in (".rst", ".adoc", ".asciidoc") else ():
        short = line if len(line) < _MAX_HEADING_LINE else ""
        if ending != ".rst":
            if found := _ADOC_HEADING.fullmatch(short.rstrip()):
                headings.append(_make_heading(start, len(found[1]), found[2]))
        elif above[1] and _RST_UNDERLINE.fullmatch(line.rstrip()) and not _RST_UNDERLINE.fullmatch(above[1]):
            # Levels are assigned to underlines in the order in which the document uses them.
            headings.append(_make_heading(above[0], levels.setdefault(line[0], len(levels) + 1), above[1]))
        above = (start, short.strip())
        start += len(line) + 1
    return DocumentOutline(tuple(headings))


def _read_markdown_outline(body: str, start: int) -> DocumentOutline:
    outline, data = read_page_outline(body), body.encode()
    headings: list[OutlineHeading] = []
    at = 0
    for heading in outline.headings:
        line = data.rfind(b"\n", 0, heading.start) + 1
        title = data[heading.start : heading.end].decode().partition("\n")[0].strip()
        title = _CLOSING_HASHES.sub("", title.lstrip("#")).strip()
        # Headings in lists and quotations do not divide the document.
        if title and not data[line : heading.start].strip():
            start += len(data[at:line].decode())
            at = line
            headings.append(_make_heading(start, heading.level, title))
    spans = sorted((*outline.links, *find_definitions(body)), key=attrgetter("start"))
    links = [*dict.fromkeys(PageLink(span.written, span.syntax) for span in spans)][:_MAX_LINKS]
    return DocumentOutline(
        tuple(headings),
        tuple(dict.fromkeys(link.path for link in links if link.syntax is LinkSyntax.MARKDOWN and link.path)),
        tuple(link.written for link in links if link.syntax is LinkSyntax.WIKI),
    )


def _make_heading(start: int, level: int, title: str) -> OutlineHeading:
    plain = " ".join(title.replace("`", "").replace("**", "").split())
    return OutlineHeading(start, level, shorten_text(plain, _MAX_TITLE))


def make_heading_titles(outline: DocumentOutline, title: str = "") -> TitleLookup:
    starts = [heading.start for heading in outline.headings]
    trails: list[str] = []
    above: list[OutlineHeading] = []
    first = title if title != outline.title else ""
    for heading in outline.headings:
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        trails.append(" > ".join(filter(None, [first, *(each.title for each in above)])))

    def find_title(start: int, end: int) -> str:
        index = bisect_right(starts, start) - 1
        if index < 0 and starts and starts[0] < end:
            # Before the first heading, there is only front matter and the like.
            index = 0
        return trails[index] if index >= 0 else title

    return find_title


def make_symbol_titles(text: str, symbols: Sequence[Symbol]) -> TitleLookup:
    lines, firsts = line_starts(text), [symbol.line_start for symbol in symbols]

    def find_title(start: int, end: int) -> str:
        first, last = (find_line_index(lines, place) + 1 for place in (start, end - 1))
        low, high = bisect_left(firsts, first), bisect_right(firsts, last)
        nearest = reversed(symbols[max(0, low - _MAX_LOOK_BACK) : low])
        around = next((symbol.qualified_name for symbol in nearest if symbol.line_end >= first), None)
        inside = [symbol.qualified_name for symbol in symbols[low:high]]
        return ", ".join(([around] if around is not None else []) + inside[:_MAX_NAMED_SYMBOLS])

    return find_title

"""Classifies the lines of Java files: statements, declarations, scopes and comments."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.text import WHITESPACE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Parser, Tree

STATEMENT, DECLARATION, SCOPE_OPEN, SCOPE_CLOSE, COMMENT, ANNOTATION, BLANK, NON_LINEAR = (1 << bit for bit in range(8))
"""The properties of a line, as bits; a line without properties is unknown."""


class LineScope(Struct, frozen=True):
    first: int
    last: int


class LineClasses(Struct, frozen=True):
    properties: tuple[int, ...]  # By line number; the entry at 0 is unused.
    scopes: tuple[LineScope, ...] = ()  # In the order in which they end.
    faults: tuple[int, ...] = ()  # The lines of parse errors; if there are any, no line is classified.

    @property
    def last_line(self) -> int:
        return len(self.properties) - 1


# The property that a type of node gives to its first line, or to all of its lines.
_FIRST_LINE = {
    **dict.fromkeys(("if_statement", "for_statement", "enhanced_for_statement", "while_statement"), STATEMENT),
    **dict.fromkeys(("do_statement", "switch_expression", "switch_rule"), STATEMENT),
    **dict.fromkeys(("try_statement", "catch_clause", "finally_clause"), DECLARATION),
    "labeled_statement": NON_LINEAR,
}
_ALL_LINES = {
    **dict.fromkeys(("expression_statement", "return_statement", "throw_statement", "assert_statement"), STATEMENT),
    **dict.fromkeys(("break_statement", "continue_statement", "yield_statement"), STATEMENT),
    **dict.fromkeys(("import_declaration", "package_declaration", "marker_annotation", "annotation"), DECLARATION),
}
_VARIABLES = frozenset({"local_variable_declaration", "field_declaration"})
_WITH_BODY = frozenset(
    f"{kind}_declaration"
    for kind in ("class", "interface", "enum", "record", "method", "constructor", "compact_constructor")
) | {"static_initializer"}
_BLOCKS = frozenset({"block", "class_body", "interface_body", "enum_body", "switch_block", "constructor_body"})
_COMMENTS = frozenset({"line_comment", "block_comment"})


def split_source_lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if not lines[-1] else lines


def classify_java(text: str, path: str) -> LineClasses:
    if find_spec("tree_sitter") is None or find_spec("tree_sitter_java") is None:
        hint = "run: pip install 'duvet-cli[symbols]'"
        raise DuvetError("coverage of Java files requires the extra `symbols`", path=path, hint=hint)
    tree = _load_parser().parse(text.encode())
    lines = split_source_lines(text)
    if tree.root_node.has_error:
        nodes = (node for node in _walk(tree) if node.is_error or node.is_missing)
        faults = sorted({node.start_point[0] + 1 for node in nodes})
        return LineClasses((0,) * (len(lines) + 1), (), tuple(faults))
    classifier = _Classifier(lines)
    for node in _walk(tree):
        classifier.add(node)
    return classifier.finish()


@cache
def _load_parser() -> Parser:
    import tree_sitter_java
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_java.language()))


def _walk(tree: Tree) -> Iterator[Node]:
    """Yield every node from the top down, without recursion, because code may be nested deeply."""
    cursor = tree.walk()
    while True:
        node = cursor.node
        if node is not None:
            yield node
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


class _Classifier:
    def __init__(self, lines: list[str]) -> None:
        self._properties = [0]
        for line in lines:
            trimmed = line.strip(WHITESPACE)
            # These are the default prefixes of annotations, regardless of the project's prefixes.
            self._properties.append((ANNOTATION if trimmed.startswith(("//=", "//#")) else 0) if trimmed else BLANK)
        self._code_starts: set[int] = set()
        self._blocks: list[tuple[int, LineScope]] = []  # Where each block ends, and its lines.

    def add(self, node: Node) -> None:
        kind = node.type
        first, last = node.start_point[0] + 1, node.end_point[0] + 1
        if kind in _FIRST_LINE:
            self._mark(first, first, _FIRST_LINE[kind])
        elif kind in _ALL_LINES:
            self._mark(first, last, _ALL_LINES[kind])
        elif kind in _VARIABLES:
            is_set = any(one.child_by_field_name("value") for one in node.children_by_field_name("declarator"))
            self._mark(first, last, DECLARATION | STATEMENT if is_set else DECLARATION)
        elif kind == "enum_constant":
            is_set = node.child_by_field_name("arguments") is not None
            self._mark(first, last, DECLARATION | STATEMENT if is_set else DECLARATION)
        elif kind in _WITH_BODY:
            body = next((child for child in reversed(node.children) if child.type in _BLOCKS), None)
            self._mark(first, last if body is None else max(first, body.start_point[0]), DECLARATION)
        elif kind in _BLOCKS:
            self._mark(first, first, SCOPE_OPEN)
            self._mark(last, last, SCOPE_CLOSE)
            self._blocks.append((node.end_byte, LineScope(first, last)))
        elif kind in _COMMENTS:
            for line in range(first, last + 1):
                if not self._properties[line] & ANNOTATION:
                    self._properties[line] |= COMMENT
            return
        else:
            return
        self._code_starts.add(first)

    def _mark(self, first: int, last: int, property: int) -> None:
        for line in range(first, min(last, len(self._properties) - 1) + 1):
            self._properties[line] |= property

    def finish(self) -> LineClasses:
        for line, found in enumerate(self._properties):
            begins_code = line in self._code_starts
            if found & (ANNOTATION | BLANK) or (found & COMMENT and not begins_code):
                self._properties[line] = found & ~(STATEMENT | DECLARATION | NON_LINEAR)
            elif found & COMMENT:
                self._properties[line] = found & ~COMMENT
        self._blocks.sort(key=lambda block: block[0])
        scopes = tuple(dict.fromkeys(scope for _, scope in self._blocks))
        last = len(self._properties) - 1
        return LineClasses(tuple(self._properties), scopes or (LineScope(1, last),))

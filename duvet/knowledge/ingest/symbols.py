"""What code declares: classes, functions and the like, with the lines that they stand on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from duvet.knowledge.ingest.languages import (
    CLASS,
    FUNCTION,
    INTERFACE,
    METHOD,
    MODULE,
    TYPE,
    VALUES,
    Grammar,
    grammar_of,
    parser_of,
)
from duvet.store.records import Symbol

if TYPE_CHECKING:
    from tree_sitter import Node

_AROUND = (CLASS, INTERFACE, MODULE)
"""What other symbols stand in."""
_PREFIXES = ("decorated_definition", "export_statement", "lexical_declaration", "variable_declaration")
_BROKEN = "ERROR"
_MOST = 20_000
_LONGEST = 300
_Step = tuple["Node", "Node", str, str]
"""A node, the one whose lines count, the name around it, and the kind of what that names."""


def symbols_of(path: str, data: bytes) -> tuple[Symbol, ...]:
    """What a file declares in the order of its lines; of a language that isn't known, nothing."""
    grammar = grammar_of(path)
    if grammar is None:
        return ()
    tree = parser_of(grammar.name).parse(data)
    ##= man/spec/knowledge.md#files
    ##% Code that is broken, or nested however deeply, MUST give the symbols that can be made out, and no error.
    found = sorted(_found(tree.root_node, grammar), key=lambda one: (one.line_start, -one.line_end))
    return tuple(found)


def _found(root: Node, grammar: Grammar) -> Iterator[Symbol]:
    """Goes through the nodes with a list of what is still to do: code may be deeper than Python's stack."""
    todo: list[_Step] = [(root, root, "", "")]
    left = _MOST
    while todo and left:
        node, whole, around, within = todo.pop()
        declared = grammar.kinds.get(node.type) if node.is_named else None
        if declared is None:
            if node.type in grammar.containers or node.type == _BROKEN:
                # What is exported or decorated begins where that is said.
                outer = whole if node.type in _PREFIXES else None
                todo += [(inner, outer or inner, around, within) for inner in reversed(node.children)]
            continue
        kind = _kind(node, declared, within)
        name = _name(node) if kind else ""
        if not name:
            continue
        qualified = (f"{around}.{name}" if around else name)[:_LONGEST]
        left -= 1
        yield _symbol(name, qualified, kind, grammar.name, whole)
        if kind in _AROUND:
            body = node.child_by_field_name("body") or node.child_by_field_name("value") or node
            todo += [(inner, inner, qualified, kind) for inner in reversed(_inner(body))]


def _inner(body: Node) -> list[Node]:
    if body.type == "class":
        body = body.child_by_field_name("body") or body
    return list(body.children)


def _kind(node: Node, declared: str, within: str) -> str:
    if node.type == "type_spec":
        value = node.child_by_field_name("type")
        return INTERFACE if value is not None and value.type == "interface_type" else TYPE
    if not declared:
        value = node.child_by_field_name("value")
        declared = VALUES.get(value.type, "") if value is not None else ""
    return METHOD if declared == FUNCTION and within in (CLASS, INTERFACE) else declared


def _name(node: Node) -> str:
    named = node.child_by_field_name("name") or node.child_by_field_name("property") or node.child_by_field_name("left")
    name = _text(named).strip("'\"") if named is not None else ""
    receiver = node.child_by_field_name("receiver")
    if receiver is not None and name:
        kind = _text(receiver).strip("()").split()
        owner = kind[-1].lstrip("*").partition("[")[0] if kind else ""
        return f"{owner}.{name}" if owner else name
    return name


def _text(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")[:_LONGEST]


def _symbol(name: str, qualified: str, kind: str, language: str, node: Node) -> Symbol:
    return Symbol(
        name=name.rpartition(".")[2],
        qualified_name=qualified,
        kind=kind,
        language=language,
        line_start=node.start_point[0] + 1,
        line_end=node.end_point[0] + 1,
    )

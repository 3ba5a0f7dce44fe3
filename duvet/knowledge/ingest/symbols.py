"""Symbols that code declares, found by tree-sitter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, get_args

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.store.records import Symbol, SymbolKind, SymbolLanguage

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


_KINDS: tuple[str, ...] = get_args(SymbolKind)
CLASS, FUNCTION, METHOD, INTERFACE, TYPE, MODULE = _KINDS


class Grammar(Struct, frozen=True):
    """How a language declares things."""

    name: SymbolLanguage
    package: str
    function: str
    """What the package calls the language."""
    kinds: Mapping[str, str]
    """What nodes declare by their types."""
    containers: frozenset[str]
    """The types of nodes in which declarations are looked for, beside those of classes and modules."""


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
    "class_declaration": CLASS,
    "class": CLASS,
    "function_declaration": FUNCTION,
    "generator_function_declaration": FUNCTION,
    "method_definition": METHOD,
    "variable_declarator": "",
    "field_definition": "",
}
_TYPED = {
    **_SCRIPT,
    "abstract_class_declaration": CLASS,
    "interface_declaration": INTERFACE,
    "type_alias_declaration": TYPE,
    "enum_declaration": TYPE,
    "internal_module": MODULE,
    "module": MODULE,
    "function_signature": FUNCTION,
    "method_signature": METHOD,
    "abstract_method_signature": METHOD,
    "public_field_definition": "",
}
_IN_SCRIPTS = frozenset(
    (
        *("program", "export_statement", "statement_block", "class_body", "interface_body", "ambient_declaration"),
        *("lexical_declaration", "variable_declaration", "if_statement", "expression_statement"),
    )
)
VALUE_KINDS = {
    **dict.fromkeys(("arrow_function", "function_expression", "function", "generator_function"), FUNCTION),
    "class": CLASS,
}
"""What a name is that stands for such a value."""
_GO = Grammar(
    "go",
    "tree_sitter_go",
    "language",
    {
        "function_declaration": FUNCTION,
        "method_declaration": METHOD,
        "type_spec": TYPE,
        "type_alias": TYPE,
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
    """Whether symbols are looked for; a DuvetError where they are wanted and can't be."""
    packages = ("tree_sitter", *sorted({grammar.package for grammar in _GRAMMARS.values()}))
    if wanted is False:
        return False
    there = all(find_spec(package) is not None for package in packages)
    if wanted and not there:
        ##= man/spec/knowledge.md#files
        ##% duvet MUST name the extra `symbols` or `semantic` when it is needed but not installed.
        raise DuvetError("symbols need the extra `symbols`", hint="install it: pip install 'duvet-cli[symbols]'")
    return there


def find_grammar(path: str) -> Grammar | None:
    """The grammar of a file by its name."""
    return _GRAMMARS.get(path.rpartition(".")[2])


@cache
def load_parser(grammar_name: str) -> Parser:
    """What reads a language."""
    from tree_sitter import Language, Parser

    grammar = next(one for one in _GRAMMARS.values() if one.name == grammar_name)
    return Parser(Language(getattr(import_module(grammar.package), grammar.function)()))


_AROUND = (CLASS, INTERFACE, MODULE)
"""What other symbols stand in."""
_PREFIXES = ("decorated_definition", "export_statement", "lexical_declaration", "variable_declaration")
_BROKEN = "ERROR"
_MOST = 20_000
_LONGEST = 300
_Step = tuple["Node", "Node", str, str]
"""A node, the one whose lines count, the name around it, and the kind of what that names."""


def find_symbols(path: str, data: bytes) -> tuple[Symbol, ...]:
    """What a file declares in the order of its lines; of a language that isn't known, nothing."""
    grammar = find_grammar(path)
    if grammar is None:
        return ()
    tree = load_parser(grammar.name).parse(data)
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
        declared = VALUE_KINDS.get(value.type, "") if value is not None else ""
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

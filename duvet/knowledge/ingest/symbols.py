"""Finds the symbols that code declares, with tree-sitter."""

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
"""The kinds of symbols, by the types of the values that are assigned to them."""
_GO = Grammar(
    "go",
    "tree_sitter_go",
    "language",
    {
        "package_clause": MODULE,
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
    """Return whether to find symbols; None means if their grammars are installed.

    Raise DuvetError if symbols are wanted but a grammar is missing.
    """
    if wanted is False:
        return False
    packages = ("tree_sitter", *sorted({grammar.package for grammar in _GRAMMARS.values()}))
    is_installed = all(find_spec(package) is not None for package in packages)
    if wanted and not is_installed:
        raise DuvetError("symbols require the extra `symbols`", hint="run: pip install 'duvet-cli[symbols]'")
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
        kind = _detect_kind(node, declared, within)
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


def _detect_kind(node: Node, declared: str, within: str) -> str:
    if node.type in ("type_spec", "type_alias"):
        value = node.child_by_field_name("type")
        return INTERFACE if value is not None and value.type == "interface_type" else TYPE
    if not declared:
        value = node.child_by_field_name("value")
        declared = VALUE_KINDS.get(value.type, "") if value is not None else ""
    return METHOD if declared == FUNCTION and within in (CLASS, INTERFACE) else declared


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

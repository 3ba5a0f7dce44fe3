"""The languages in which symbols are found, and what declares them there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, get_args

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.store.records import SymbolKind, SymbolLanguage

if TYPE_CHECKING:
    from tree_sitter import Parser

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
VALUES = {
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


def finds_symbols(wanted: bool | None) -> bool:
    """Whether symbols are looked for; a DuvetError where they are wanted and can't be."""
    packages = ("tree_sitter", *sorted({grammar.package for grammar in _GRAMMARS.values()}))
    if wanted is False:
        return False
    there = all(find_spec(package) is not None for package in packages)
    if wanted and not there:
        ##= man/spec/knowledge.md#files
        ##% Where symbols are asked for and the extra `symbols` is not installed, duvet MUST name it.
        raise DuvetError("symbols need the extra `symbols`", hint="install it: pip install 'duvet-cli[symbols]'")
    return there


def grammar_of(path: str) -> Grammar | None:
    """The grammar of a file by its name."""
    return _GRAMMARS.get(path.rpartition(".")[2])


@cache
def parser_of(grammar_name: str) -> Parser:
    """What reads a language."""
    from tree_sitter import Language, Parser

    grammar = next(one for one in _GRAMMARS.values() if one.name == grammar_name)
    return Parser(Language(getattr(import_module(grammar.package), grammar.function)()))

"""Languages with their file patterns and comments, and the names of test files."""

from __future__ import annotations

import re
from enum import StrEnum
from fnmatch import translate
from functools import cache
from typing import NamedTuple, Self


class CommentMarkers(NamedTuple):
    meta: str
    content: str


SLASHES = CommentMarkers("//=", "//#")
STARS = CommentMarkers("*=", "*#")
HASHES = CommentMarkers("##=", "##%")
DASHES = CommentMarkers("--=", "--#")
# For languages in which `--` is a comment only before a blank: `--=` is an operator in Haskell and MySQL.
SPACED_DASHES = CommentMarkers("-- =", "-- #")
PERCENTS = CommentMarkers("%%=", "%%#")
SEMICOLONS = CommentMarkers(";;=", ";;#")
EXCLAMATIONS = CommentMarkers("!=", "!#")


class Language(StrEnum):
    patterns: tuple[str, ...]
    style: CommentMarkers

    def __new__(cls, name: str, files: str, style: CommentMarkers = SLASHES) -> Self:
        language = str.__new__(cls, name)
        language._value_ = name
        language.patterns = tuple(f"**/{file}" for file in files.split())
        language.style = style
        return language

    ADA = "ada", "*.adb *.ads", DASHES
    C = "c", "*.c *.h", STARS
    CLOJURE = "clojure", "*.clj *.cljc *.cljs", SEMICOLONS
    CMAKE = "cmake", "CMakeLists.txt *.cmake", HASHES
    COQ = "coq", "*.v", STARS
    CPP = "cpp", "*.cc *.cpp *.cxx *.hh *.hpp *.hxx"
    CRYPTOVERIF = "cryptoverif", "*.cv", STARS
    CSHARP = "csharp", "*.cs"
    CSS = "css", "*.css", STARS
    DAFNY = "dafny", "*.dfy"
    DART = "dart", "*.dart"
    DOCKERFILE = "dockerfile", "Dockerfile *.dockerfile", HASHES
    ELIXIR = "elixir", "*.ex *.exs", HASHES
    ELM = "elm", "*.elm", SPACED_DASHES
    ERLANG = "erlang", "*.erl *.hrl", PERCENTS
    FORTRAN = "fortran", "*.f90 *.f95 *.f03 *.f08", EXCLAMATIONS
    FSHARP = "fsharp", "*.fs *.fsi *.fsx"
    GO = "go", "*.go"
    GROOVY = "groovy", "*.groovy *.gradle"
    HASKELL = "haskell", "*.hs", SPACED_DASHES
    JAVA = "java", "*.java"
    JAVASCRIPT = "javascript", "*.js *.jsx *.cjs *.mjs"
    JULIA = "julia", "*.jl", HASHES
    KOTLIN = "kotlin", "*.kt *.kts"
    LUA = "lua", "*.lua", DASHES
    MAKE = "make", "Makefile *.mk", HASHES
    NIM = "nim", "*.nim", HASHES
    NIX = "nix", "*.nix", HASHES
    OBJECTIVE_C = "objective-c", "*.m *.mm"
    OCAML = "ocaml", "*.ml *.mli", STARS
    PERL = "perl", "*.pl *.pm", HASHES
    PHP = "php", "*.php"
    POWERSHELL = "powershell", "*.ps1 *.psm1", HASHES
    PROTOBUF = "protobuf", "*.proto"
    PROVERIF = "proverif", "*.pv", STARS
    PYTHON = "python", "*.py *.pyi", HASHES
    R = "r", "*.R *.r", HASHES
    RUBY = "ruby", "*.rb", HASHES
    RUST = "rust", "*.rs"
    SCALA = "scala", "*.scala *.sc"
    SCHEME = "scheme", "*.scm *.ss", SEMICOLONS
    SHELL = "shell", "*.sh *.bash *.zsh", HASHES
    SOLIDITY = "solidity", "*.sol"
    SQL = "sql", "*.sql", SPACED_DASHES
    SWIFT = "swift", "*.swift"
    TERRAFORM = "terraform", "*.tf", HASHES
    TEX = "tex", "*.tex", PERCENTS
    TOML = "toml", "*.toml", HASHES
    TYPESCRIPT = "typescript", "*.ts *.tsx *.cts *.mts"
    VERILOG = "verilog", "*.sv *.svh *.vh"
    VHDL = "vhdl", "*.vhd *.vhdl", DASHES
    YAML = "yaml", "*.yaml *.yml", HASHES
    ZIG = "zig", "*.zig"


class CommentPair(NamedTuple):
    first: str
    last: str


C_COMMENT, _ML_COMMENT = CommentPair("/*", "*/"), CommentPair("(*", "*)")
_OF_ML = (Language.COQ, Language.CRYPTOVERIF, Language.OCAML, Language.PROVERIF)
_ML_ENDINGS = tuple(pattern.rpartition("*")[2] for language in _OF_ML for pattern in language.patterns)


def find_comment_pair(path: str, meta: str) -> CommentPair | None:
    if not meta.startswith(STARS.meta[0]):
        return None
    return _ML_COMMENT if path.endswith(_ML_ENDINGS) else C_COMMENT


TEST_FOLDERS = frozenset(("tests", "test", "__tests__", "testdata", "e2e"))
_TEST_NAMES = (
    "test_*.py *_test.py *_tests.py conftest.py *_test.go *_test.rs test.rs tests.rs *_test.c *_test.cc *_test.cpp "
    "*_test.dart *_test.exs *_test.rb *_spec.rb"
)
_TEST_GLOBS = (
    *_TEST_NAMES.split(),
    *(
        f"*{mark}.{prefix}{ending}"
        for mark in (".test", ".spec", "-test", "-spec")
        for prefix in ("", "c", "m")
        for ending in ("js", "jsx", "ts", "tsx")
    ),
    *(f"*{mark}.{ending}" for mark in ("Test", "Tests") for ending in ["java", "kt", "cs", "swift", "php", "scala"]),
)


@cache
def _test_names() -> re.Pattern[str]:
    return re.compile("|".join(f"({translate(glob)})" for glob in _TEST_GLOBS))


def find_test_glob(name: str) -> str:
    found = _test_names().match(name)
    return _TEST_GLOBS[(found.lastindex or 1) - 1] if found else ""

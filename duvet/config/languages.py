"""Languages with their file patterns and comment styles, and the configuration that `duvet init` writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import NamedTuple, Self

from duvet import templates
from duvet.config.toml import format_one_line_string


class CommentMarkers(NamedTuple):
    """The beginnings of a comment line that names a target, and of one that quotes it."""

    meta: str
    content: str


SLASHES = CommentMarkers("//=", "//#")
STARS = CommentMarkers("*=", "*#")
HASHES = CommentMarkers("##=", "##%")
DASHES = CommentMarkers("--=", "--#")
# Where `--` is a comment only before a blank: `--=` is an operator in Haskell and arithmetic in MySQL.
SPACED_DASHES = CommentMarkers("-- =", "-- #")
PERCENTS = CommentMarkers("%%=", "%%#")
SEMICOLONS = CommentMarkers(";;=", ";;#")
EXCLAMATIONS = CommentMarkers("!=", "!#")


class Language(StrEnum):
    """A language by the name that `language` takes, with the names of its files and its style."""

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


class Starter(NamedTuple):
    """The configuration that `duvet init` writes for a language, and the files that are signs of it."""

    language: Language
    pattern: str
    signs: tuple[str, ...] = ()


STARTERS = (
    Starter(Language.C, "src/**/*.c", ("CMakeLists.txt",)),
    Starter(Language.CRYPTOVERIF, "**/*.cv"),
    Starter(Language.GO, "src/**/*.go", ("go.mod",)),
    Starter(Language.JAVA, "src/**/*.java", ("pom.xml", "build.gradle", "build.gradle.kts")),
    Starter(Language.JAVASCRIPT, "src/**/*.js", ("package.json",)),
    Starter(Language.PROVERIF, "**/*.pv"),
    Starter(Language.PYTHON, "src/**/*.py", ("requirements.txt", "pyproject.toml", "setup.py")),
    Starter(Language.TYPESCRIPT, "src/**/*.ts", ("tsconfig.json",)),
    Starter(Language.RUBY, "lib/**/*.rb", ("Gemfile",)),
    Starter(Language.RUST, "src/**/*.rs", ("Cargo.toml",)),
)

GITIGNORE = b"reports/\n"


def detect_languages(exists: Callable[[str], bool]) -> tuple[Starter, ...]:
    """Return the languages whose files are in a folder."""
    ##= man/spec/trace.md#configuration
    ##% `duvet init` MUST write a configuration that duvet can read, for the given languages or those found in the
    ##% folder, and MUST NOT change existing files.
    return tuple(starter for starter in STARTERS if any(map(exists, starter.signs)))


def render_starting_config(starters: Iterable[Starter], specifications: Iterable[str], *, extended: bool) -> bytes:
    engine = templates.environment()
    engine.filters["toml"] = format_one_line_string
    text = engine.get_template("init_config.toml.j2").render(
        starters=tuple(starters),
        specifications=tuple(specifications),
        extended=extended,
        default_style=SLASHES,
    )
    return text.encode()

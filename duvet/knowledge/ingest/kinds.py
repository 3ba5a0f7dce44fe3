"""What a file is, by its name."""

from __future__ import annotations

import re

from duvet.store.records import Kind

_FOLDERS = {
    **dict.fromkeys(("tests", "test", "__tests__", "testdata", "e2e"), Kind.TEST),
    **dict.fromkeys(("docs", "doc"), Kind.DOC),
    "_generated": Kind.PROTO,
    **dict.fromkeys((".codacy", ".github", ".circleci"), Kind.CONFIG),
}
_TEST = re.compile(
    r"(?:test_.*|.*_test|.*_tests|conftest)\.py|.*_test\.(?:go|rs|cc|cpp|c|dart|exs|rb)|tests?\.rs|.*_spec\.rb"
    r"|.*[.-](?:test|spec)\.[cm]?[jt]sx?|.*Tests?\.(?:java|kt|cs|swift|php|scala)"
)
_NAMES = {
    **dict.fromkeys(("readme", "license", "licence", "copying", "notice", "authors", "changelog"), Kind.DOC),
    **dict.fromkeys(("makefile", "dockerfile", "justfile", "procfile", "codeowners", "cmakelists.txt"), Kind.CONFIG),
    **dict.fromkeys(("requirements.txt", "go.mod", "go.sum", ".gitignore", ".gitattributes"), Kind.CONFIG),
}
_ENDINGS = {
    Kind.DOC: "md markdown mdx rst adoc asciidoc txt tex org rtf",
    Kind.PROTO: "proto thrift avsc capnp fbs",
    Kind.CONFIG: (
        "toml yaml yml json jsonc json5 ini cfg conf properties env editorconfig lock xml plist tf tfvars hcl nix gradle"
    ),
    Kind.CODE: (
        "py pyi pyx ts mts cts tsx js mjs cjs jsx go rs c h cc cpp cxx hh hpp hxx inl m mm java kt kts scala groovy cs "
        "fs vb swift rb php pl pm lua r jl dart ex exs erl hrl hs lhs ml mli elm clj cljs cljc lisp scm rkt zig nim d v "
        "sv vhd vhdl ada adb ads f f90 f95 pas asm s sql sh bash zsh fish ps1 bat cmd awk sed vue svelte astro html htm "
        "css scss sass less j2 jinja erb graphql gql cmake mk bzl star dfy vy sol cu cuh glsl wgsl metal proverif cv pv"
    ),
}
_BY_ENDING = {ending: kind for kind, endings in _ENDINGS.items() for ending in endings.split()}


def kind_of(path: str) -> Kind:
    """The first folder that says something decides, or else the name of the file."""
    *folders, name = path.split("/")
    named = _by_name(name)
    for depth, folder in enumerate(folders):
        kind = _FOLDERS.get(folder)
        # A program may have a module that is called so.
        if kind is not None and not (kind is Kind.DOC and named is Kind.CODE and depth):
            return kind
    return named


def _by_name(name: str) -> Kind:
    if _TEST.fullmatch(name):
        return Kind.TEST
    low = name.lower()
    stem, dot, ending = low.rpartition(".")
    return _NAMES.get(low) or _BY_ENDING.get(ending if dot else "") or _NAMES.get(stem) or Kind.OTHER


def namespace_of(path: str) -> str:
    """The second part below `src`, else the first part; a file at the top has none."""
    first, *rest = path.split("/")
    if not rest:
        return ""
    return rest[0] if first == "src" and len(rest) > 1 else first

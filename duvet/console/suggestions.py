"""Suggests names for unknown commands and options ("did you mean"): by synonym, prefix, and spelling."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from duvet.templates.guide_pages import guide_parts, guide_topics

_TOP = {"duvet": "", "duvet help": "run `duvet help` to list the topics and commands"}
"""The command groups that also suggest topics, each with its hint for words that resemble no name."""


_COMMANDS = {
    "--version": "version",
    "cache clear": "clean",
    "cite": "add",
    "config": "settings",
    "diff": "changes",
    "extract": "download",
    "help": "man",
    "ingest": "index",
    "init": "new setup start",
    "mcp": "serve server",
    "pages": "docs notes",
    "prioritize": "next tasks todo",
    "report": "coverage stats status summary",
    "search": "find grep query",
    "show": "get view",
    "uncited": "list",
    "validate": "check lint test",
    "validate --fix": "fix",
}
"""The commands to suggest, each with the words that users of other tools may type."""
_SUBCOMMANDS = {
    "check": "lint test validate verify",
    "clear": "clean delete remove",
    "export": "dump",
    "list": "all ls",
    "run": "call exec start",
    "show": "cat get info list print view",
}
_ELSEWHERE = {"--fix": "duvet validate --fix", "-V": "duvet --version", "--version": "duvet --version"}
"""The command to suggest for an option that users may pass to the wrong command."""
_BEFORE_COMMANDS = {"-C": " DIR", "--color": " WHEN"}
_OPTIONS = {
    "--format json": "--json",
    "--offline": "--no-network",
    "--output": "--out",
    "--quiet": "--silent",
    "--spec": "--specification",
}


def suggest_command(word: str, names: Iterable[str], path: str) -> str:
    names = tuple(names)
    is_top = path in _TOP
    pages = []
    if is_top:
        from duvet.console.explanations import find_page, find_state_page

        # A guide topic, rule or state may have this name.
        stem = word.lower().rstrip("s")
        pages = [f"duvet help {name}" for name in (*guide_topics(), *guide_parts()) if name.rstrip("s") == stem]
        pages += [f"duvet explain {word}"] if find_page(word) or find_state_page(word) else []
    topics = () if path == "duvet" else (*guide_topics(), *guide_parts()) if is_top else ()
    found = _suggest(word, (*names, *topics), _COMMANDS if is_top else _SUBCOMMANDS)
    if topics:
        # `duvet help` takes no options.
        found = [name.partition(" -")[0] for name in found if not name.startswith("-")]
    listing = _TOP[path] if is_top else f"available: {', '.join(names)}"
    return _ask(pages[:1] or [f"{path} {name}" for name in found]) or listing


def suggest_option(word: str, names: Iterable[str]) -> str:
    if word in _BEFORE_COMMANDS:
        return f"{word} comes before the command: `duvet {word}{_BEFORE_COMMANDS[word]} COMMAND`"
    if word in _ELSEWHERE:
        return _ask([_ELSEWHERE[word]])
    return _ask(_suggest(word, tuple(names), _OPTIONS))


def _suggest(word: str, names: tuple[str, ...], synonyms: Mapping[str, str]) -> list[str]:
    word = word.lower()
    known = (*names, "--version", "help")
    usable = {target: words for target, words in synonyms.items() if target.partition(" ")[0] in known}
    targets = {name: target for target, words in usable.items() for name in words.split()}
    if word in targets:
        return [targets[word]]
    stem = word.rstrip("s") if len(word) > 3 else word
    if prefixed := [name for name in names if len(stem.lstrip("-")) > 1 and name.startswith(stem)]:
        return prefixed[:3]
    # Ignore the dashes, which all options have.
    spelled = {name.lstrip("-"): target for name, target in (targets | dict(zip(names, names, strict=True))).items()}
    return [spelled[near] for near in get_close_matches(word.lstrip("-"), spelled, 1)]


def _ask(names: list[str]) -> str:
    return f"did you mean {' or '.join(f'`{name}`' for name in names)}?" if names else ""

"""Requirement files that an earlier extraction wrote, and that nothing asks for any more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from posixpath import normpath

from duvet import rules
from duvet.errors import DuvetError
from duvet.model import Place, Problem, Severity
from duvet.specs.extraction import Extraction
from duvet.specs.library import Library
from duvet.specs.output_paths import requirements_file, requirements_folder
from duvet.specs.requirement_files import read
from duvet.specs.resolve import locate
from duvet.text import quoted
from duvet.tree.protocol import Tree, is_folder


@cache
def _generated() -> re.Pattern[bytes]:
    """The form of a file that an extraction wrote; compiled only where one may be stale."""
    return re.compile(
        rb"""
        target[ ]=[ ]"(?P<target>[^\n]*)"\n
        \n
        (?:\#[^\n]*\n)+
        \n
        (?:\[\[spec\]\]\n
        level[ ]=[ ]"[A-Z]+"\n
        quote[ ]=[ ](?:'''\n(?:(?!''').)*'''|\"\"\"\n(?:(?!\"\"\").)*\"\"\")\n
        \n)+
        """,
        re.VERBOSE | re.DOTALL,
    )


def _match(data: bytes) -> re.Match[bytes] | None:
    """The parts of a file, if an extraction can have written it."""
    return _generated().fullmatch(data) if data.startswith(b"target = ") and data.endswith(b"\n\n") else None


def stale_files(extraction: Extraction, tree: Tree) -> Iterator[str]:
    """Files that an earlier extraction wrote for sections that ask for nothing any more."""
    ##= man/spec/trace.md#requirements
    ##% A requirement file that nothing asks for any more SHOULD cause a warning.
    wanted = set(map(normpath, extraction.files))
    for folder, target in sorted(extraction.folders.items()):
        for name in sorted(entry.name for entry in tree.entries(folder)):
            path = f"{folder}/{name}"
            if name.endswith(".toml") and normpath(path) not in wanted and _is_generated(folder, path, target, tree):
                yield path


def _is_generated(folder: str, path: str, target: str, tree: Tree) -> bool:
    """Whether an extraction can have written the file, to the letter; what people wrote or changed is theirs."""
    ##= man/spec/trace.md#requirements
    ##% With `--prune`, such files MUST be removed, and no other file.
    try:
        data = tree.read(path)
    except DuvetError:
        return False
    if not _match(data):
        return False
    annotations, _ = read(path, data)
    sections = {one.target.removeprefix(target) for one in annotations if one.target.startswith(target)}
    return [requirements_file(folder, section) for section in sections] == [path]


def stale_problem(path: str) -> Problem:
    """The warning about a stale file."""
    return rules.REQUIREMENT_STALE.problem(
        "this file was extracted from an earlier text of the specification; its section asks for nothing any more",
        path,
        Place(1),
        hint="`--prune` removes it",
    )


def left_files(extraction: Extraction, library: Library) -> Iterator[tuple[str, str]]:
    """Files that were extracted from specifications that are configured no more, with the names of these."""
    # What can't be loaded now may have been written under any name.
    if not extraction.all_below or any(one.severity is Severity.ERROR for one in extraction.problems):
        return
    todo = [extraction.all_below]
    for folder in todo:
        if folder in extraction.folders:
            continue
        for entry in sorted(library.tree.entries(folder), key=lambda one: one.name):
            path = f"{folder}/{entry.name}"
            if is_folder(entry):
                todo += [] if entry.is_symlink() else [path]
            elif entry.name.endswith(".toml"):
                ##= man/spec/trace.md#requirements
                ##% A file that was extracted from a specification that is configured no more SHOULD cause a warning.
                name = _extracted_from(folder, path, extraction.all_below, library)
                if name:
                    yield path, name


def _extracted_from(folder: str, path: str, out: str, library: Library) -> str:
    """The specification that a file was extracted from; empty where people wrote it, changed it or put it there."""
    try:
        found = _match(library.tree.read(path))
        name = found["target"].decode().partition("#")[0] if found else ""
        source = library.path(locate(name))
    except (DuvetError, UnicodeDecodeError):
        return ""
    is_its_own = name and requirements_folder(source, out, library.folder) == folder
    return name if is_its_own and _is_generated(folder, path, f"{name}#", library.tree) else ""


def left_problem(path: str, name: str) -> Problem:
    """The warning about a file of a specification that is configured no more."""
    return rules.REQUIREMENT_STALE.problem(
        f"this file was extracted from {quoted(name)}, which is not in the configuration",
        path,
        Place(1),
        hint="`--prune` removes it; a `[[specification]]` would keep it up to date",
    )

"""Extracts the requirements of the configured specifications into annotations and requirement files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from posixpath import normpath

from msgspec import Struct
from msgspec.structs import replace

from duvet import rules
from duvet.config.settings import Config
from duvet.errors import DuvetError, ProblemsError
from duvet.model import Annotation, ExtractedSentence, Locator, Place, Problem, Section, Severity, Specification
from duvet.specs.keywords import extract_requirements
from duvet.specs.library import Library
from duvet.specs.locator import format_locator, locate_specification, strip_extension
from duvet.specs.requirement_files import read_requirement_file
from duvet.specs.requirement_text import make_requirement_file, render_rust_file, render_toml_file
from duvet.text import format_count, path_parts, quote_text
from duvet.tree.files import Tree, is_folder

_FIXED = ("/", ".", "..")
# Characters that lead to another folder, or that file names can't or shouldn't contain.
_NAMELESS = re.compile(r"[/\x00-\x1f\x7f]")
# File systems allow names of 255 bytes, and a paragraph above a line of hyphens is a title.
_LONGEST, _KEPT = 240, 50


def requirements_folder(source: str, out: str, downloads: str = "") -> str:
    """The folder below `out` for the requirements of the specification in the file `source`.

    It repeats the path of the source: from the folder of downloads, where a configuration has one and the source is in
    it, else from `out`, where the source is in that, else from the root or the working directory.
    """
    parts = path_parts(source)
    kept = _below(parts, downloads) or _below(parts, out) or [part for part in parts if part not in _FIXED]
    return posixpath.join(out, strip_extension("/".join(kept)))


def requirements_file(folder: str, section: str, extension: str = "toml") -> str:
    """The file in that folder for a section; an id never names another folder."""
    ##= man/spec/trace.md#requirements
    ##% `duvet extract` MUST write the requirement files that awslabs duvet writes, inside the folder of the
    ##% specification, and leave unchanged ones alone.
    name = _NAMELESS.sub(lambda found: f"%{ord(found[0]):02X}", section)
    if len(name.encode()) > _LONGEST:
        from blake3 import blake3

        name = f"{name[:_KEPT]}-{blake3(section.encode()).hexdigest(6)}"
    return posixpath.join(folder, f"{name}.{extension}")


def _below(parts: list[str], folder: str) -> list[str]:
    start = path_parts(folder)
    return parts[len(start) :] if start and parts[: len(start)] == start else []


class Extraction(Struct, frozen=True):
    """The requirement files of the configured specifications, with the annotations in them."""

    files: dict[str, bytes]
    annotations: dict[str, list[Annotation]]
    folders: dict[str, str]
    """By folder: the beginning of the targets in it."""
    problems: list[Problem]
    all_below: str = ""
    """The folder that contains no other files; empty if it may contain others."""


def extract_configured(config: Config, library: Library, root: str) -> Extraction:
    """Extract the requirements of every configured specification, in memory."""
    # Without any configured specification, the files in the folder come from elsewhere.
    is_owner = config.specifications and config.finds_extracted
    extraction = Extraction({}, {}, {}, [], config.requirements_folder if is_owner else "")
    library.prefetch(_located(config))
    for index, rule in enumerate(config.specifications):
        place, label = config.specification_place(index), "configured here"
        try:
            specification = library.load(locate_specification(rule.source, rule.format))
        except ProblemsError as error:
            extraction.problems.append(replace(error.problems[0], path=config.path, place=place, label=label))
            continue
        except DuvetError as error:
            broken = rules.find_broken_rule(error)
            problem = broken.problem(str(error), config.path, place, label=label, hint=error.hint)
            extraction.problems.append(problem)
            continue
        lost = _extract(config, library, specification, root, extraction)
        if lost:
            more = f" and {format_count(len(lost) - 1, 'more section')}" if len(lost) > 1 else ""
            message = f"the requirements of {lost[0]}{more} are lost: they have the same requirement files as these"
            hint = "give the two specifications names that differ in more than their extensions"
            problem = rules.REQUIREMENT_CLASH.problem(message, config.path, place, label=label, hint=hint)
            extraction.problems.append(problem)
    return extraction


def _located(config: Config) -> Iterator[Locator]:
    for rule in config.specifications:
        # A bad name is reported at its place.
        with suppress(DuvetError):
            yield locate_specification(rule.source, rule.format)


class _SpecificationFiles(Struct, frozen=True):
    """The requirement files of one specification, and the annotations in them."""

    files: dict[str, bytes]
    annotations: dict[str, list[Annotation]]


def _extract(config: Config, library: Library, specification: Specification, root: str, all: Extraction) -> list[str]:
    """Add the files of a specification; return the targets of others that lose the same files."""
    name = format_locator(specification.locator, root)
    path = specification.path
    folder = requirements_folder(path, config.requirements_folder, config.specifications_folder)
    all.folders[folder] = f"{name}#"

    def extract() -> _SpecificationFiles:
        own = _SpecificationFiles({}, {})
        for section, found in list_extracted_sections(specification):
            file = requirements_file(folder, section.id)
            target = f"{name}#{section.id}"
            own.files[file], own.annotations[file] = make_requirement_file(file, target, section, found)
        return own

    how = f"{name}\n{folder}\n{specification.locator.format.name}"
    own = library.memory.parse_text("requirements", _SpecificationFiles, path, how, specification.data, extract)
    lost = [
        all.annotations[path][0].target
        for path, (first, *_) in own.annotations.items()
        if path in all.annotations and all.annotations[path][0].target != first.target
    ]
    all.files.update(own.files)
    all.annotations.update(own.annotations)
    return lost


WRITERS_BY_EXTENSION = {"toml": render_toml_file, "rs": render_rust_file}


def extract_specification(
    specification: Specification, out: str, downloads: str, root: str, extension: str
) -> tuple[Extraction, int]:
    """The files for one specification below a folder, and the number of requirements in them."""
    name = format_locator(specification.locator, root)
    folder = requirements_folder(specification.path, out, downloads)
    extraction = Extraction({}, {}, {folder: f"{name}#"} if extension == "toml" else {}, [])
    count = 0
    for section, found in list_extracted_sections(specification):
        path = requirements_file(folder, section.id, extension)
        extraction.files[path] = WRITERS_BY_EXTENSION[extension](f"{name}#{section.id}", section, found)
        count += len(found)
    return extraction, count


def list_extracted_sections(specification: Specification) -> Iterator[tuple[Section, tuple[ExtractedSentence, ...]]]:
    for section in specification.sections:
        found = extract_requirements(section)
        if found:
            yield section, found


@cache
def _generated() -> re.Pattern[bytes]:
    """The form of a file that an extraction wrote; compiled only when a file may be stale."""
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
    return _generated().fullmatch(data) if data.startswith(b"target = ") and data.endswith(b"\n\n") else None


def find_stale_files(extraction: Extraction, tree: Tree) -> Iterator[str]:
    """Files that an earlier extraction wrote for sections that no longer have requirements."""
    current = set(map(normpath, extraction.files))
    for folder, target in sorted(extraction.folders.items()):
        for name in sorted(entry.name for entry in tree.entries(folder)):
            path = f"{folder}/{name}"
            if name.endswith(".toml") and normpath(path) not in current and _is_generated(folder, path, target, tree):
                yield path


def _is_generated(folder: str, path: str, target: str, tree: Tree) -> bool:
    """True if an extraction wrote exactly this file; files that people wrote or changed are theirs."""
    ##= man/spec/trace.md#requirements
    ##% duvet SHOULD warn about requirement files that are no longer needed, and MUST remove these and no others with
    ##% `--prune`.
    try:
        data = tree.read(path)
    except DuvetError:
        return False
    if not _match(data):
        return False
    annotations, _ = read_requirement_file(path, data)
    sections = {one.target.removeprefix(target) for one in annotations if one.target.startswith(target)}
    return [requirements_file(folder, section) for section in sections] == [path]


def make_stale_problem(path: str) -> Problem:
    message = "this file was extracted from an earlier text of the specification; its section asks for nothing any more"
    return rules.REQUIREMENT_STALE.problem(message, path, Place(1), hint="`--prune` removes it")


def find_orphaned_files(extraction: Extraction, library: Library) -> Iterator[tuple[str, str]]:
    """Files extracted from specifications that are no longer configured, with the names of these."""
    # The files of a specification that can't be loaded now may have any name.
    if not extraction.all_below or any(one.severity is Severity.ERROR for one in extraction.problems):
        return
    folders = [extraction.all_below]
    for folder in folders:
        if folder in extraction.folders:
            continue
        for entry in sorted(library.tree.entries(folder), key=lambda one: one.name):
            path = f"{folder}/{entry.name}"
            if is_folder(entry):
                folders += [] if entry.is_symlink() else [path]
            elif entry.name.endswith(".toml"):
                name = _extracted_from(folder, path, extraction.all_below, library)
                if name:
                    yield path, name


def _extracted_from(folder: str, path: str, out: str, library: Library) -> str:
    """The specification that a file was extracted from; empty if people wrote, changed or moved it."""
    try:
        found = _match(library.tree.read(path))
        name = found["target"].decode().partition("#")[0] if found else ""
        source = library.path(locate_specification(name))
    except (DuvetError, UnicodeDecodeError):
        return ""
    is_its_own = name and requirements_folder(source, out, library.folder) == folder
    return name if is_its_own and _is_generated(folder, path, f"{name}#", library.tree) else ""


def make_orphaned_problem(path: str, name: str) -> Problem:
    message = f"this file was extracted from {quote_text(name)}, which is not in the configuration"
    hint = "`--prune` removes it; a `[[specification]]` would keep it up to date"
    return rules.REQUIREMENT_STALE.problem(message, path, Place(1), hint=hint)

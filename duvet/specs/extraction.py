"""The requirements of the configured specifications: as files to write, and as annotations right away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from duvet import rules
from duvet.config.schema import Config
from duvet.errors import DuvetError
from duvet.model import Annotation, Extracted, Locator, Problem, ProblemsError, Section, Specification
from duvet.specs.extract import requirements
from duvet.specs.library import Library
from duvet.specs.output_paths import requirements_file, requirements_folder
from duvet.specs.requirement_text import requirement_file, rust_file, toml_file
from duvet.specs.resolve import displayed, locate
from duvet.text import plural


class Extraction(Struct, frozen=True):
    """What the configured specifications ask for; files by path, with the annotations that they hold."""

    files: dict[str, bytes]
    annotations: dict[str, list[Annotation]]
    folders: dict[str, str]
    """The folder of requirement files of each specification, and how their targets begin."""
    problems: list[Problem]
    all_below: str = ""
    """The folder in which there are no files but those of these specifications; empty where others have some there."""


def extract_configured(config: Config, library: Library, root: str) -> Extraction:
    """Extract the requirements of every configured specification, in memory."""
    # Without any specification, what is there was put there by other means.
    is_owner = config.specifications and config.finds_extracted
    extraction = Extraction({}, {}, {}, [], config.requirements_folder if is_owner else "")
    library.prefetch(_located(config))
    for index, rule in enumerate(config.specifications):
        try:
            specification = library.load(locate(rule.source, rule.format))
        except DuvetError as error:
            extraction.problems.append(_unavailable(config, index, error))
            continue
        lost = _extract(config, library, specification, root, extraction)
        if lost:
            extraction.problems.append(_clash(config, index, lost))
    return extraction


def _located(config: Config) -> Iterator[Locator]:
    for rule in config.specifications:
        # What is wrong with a name is told at its place.
        with suppress(DuvetError):
            yield locate(rule.source, rule.format)


class _Asked(Struct, frozen=True):
    """The requirement files of one specification, and the annotations in them."""

    files: dict[str, bytes]
    annotations: dict[str, list[Annotation]]


def _extract(config: Config, library: Library, specification: Specification, root: str, all: Extraction) -> list[str]:
    """Add the files of a specification; the targets of others that have the same files."""
    name = displayed(specification.locator, root)
    path = specification.path
    folder = requirements_folder(path, config.requirements_folder, config.specifications_folder)
    all.folders[folder] = f"{name}#"
    how = f"{name}\n{folder}\n{specification.locator.format.name}"
    asked = library.memory.of_text(
        "requirements", _Asked, path, how, specification.data, lambda: _asked(specification, name, folder)
    )
    lost = [
        all.annotations[path][0].target
        for path, (first, *_) in asked.annotations.items()
        if path in all.annotations and all.annotations[path][0].target != first.target
    ]
    all.files.update(asked.files)
    all.annotations.update(asked.annotations)
    return lost


def _asked(specification: Specification, name: str, folder: str) -> _Asked:
    asked = _Asked({}, {})
    for section, found in extracted_sections(specification):
        path = requirements_file(folder, section.id)
        asked.files[path], asked.annotations[path] = requirement_file(path, f"{name}#{section.id}", section, found)
    return asked


def _clash(config: Config, index: int, lost: list[str]) -> Problem:
    more = f" and {plural(len(lost) - 1, 'more section')}" if len(lost) > 1 else ""
    return rules.REQUIREMENT_CLASH.problem(
        f"the requirements of {lost[0]}{more} are lost: they have the same requirement files as these",
        config.path,
        config.specification_place(index),
        label="configured here",
        hint="give the two specifications names that differ in more than their extensions",
    )


EXTENSIONS = {"toml": toml_file, "rs": rust_file}


def extract_one(
    specification: Specification, out: str, downloads: str, root: str, extension: str
) -> tuple[Extraction, int]:
    """The files for one specification below a folder, and the number of requirements in them."""
    name = displayed(specification.locator, root)
    folder = requirements_folder(specification.path, out, downloads)
    extraction = Extraction({}, {}, {folder: f"{name}#"} if extension == "toml" else {}, [])
    count = 0
    for section, found in extracted_sections(specification):
        path = requirements_file(folder, section.id, extension)
        extraction.files[path] = EXTENSIONS[extension](f"{name}#{section.id}", section, found)
        count += len(found)
    return extraction, count


def extracted_sections(specification: Specification) -> Iterator[tuple[Section, tuple[Extracted, ...]]]:
    """The sections that hold requirements."""
    for section in specification.sections:
        found = requirements(section)
        if found:
            yield section, found


def _unavailable(config: Config, index: int, error: DuvetError) -> Problem:
    place, label = config.specification_place(index), "configured here"
    if isinstance(error, ProblemsError):
        return replace(error.problems[0], path=config.path, place=place, label=label)
    return rules.broken_by(error).problem(str(error), config.path, place, label=label, hint=error.hint)

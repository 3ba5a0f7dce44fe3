"""Finds the languages, tests and specifications of a folder for `duvet init`."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from duvet.config.languages import TEST_FOLDERS, Language, find_test_glob
from duvet.config.new_project import SourceGroup
from duvet.errors import DuvetError
from duvet.model import Format, RequirementForm, Specification
from duvet.sources.gitignore import IgnoredPaths
from duvet.specs.extraction import list_extracted_sections
from duvet.specs.library import Library
from duvet.specs.locator import locate_specification
from duvet.tree.files import Tree, is_folder

_VENDORED = "node_modules bower_components vendor third_party __pycache__ venv env virtualenv target dist"
_VENDORED_FOLDERS = frozenset(_VENDORED.split())
_VENDOR_MARKS = ("pyvenv.cfg", "CACHEDIR.TAG")
_HIDDEN_SPECIFICATIONS = ".kiro"  # The only hidden folder that contains specifications.
_PROPOSALS = "openspec/changes"  # Changes that are not yet part of the specification.
_SPECIFIED = "doc docs spec specs specification specifications rfc rfcs requirements .kiro openspec"
_SPECIFICATION_FOLDERS = frozenset(_SPECIFIED.split())
_SPECIFICATION_NAME = re.compile(r"(?i).*(?:spec|requirement|protocol|prd).*\.(?:md|markdown)")
_TEXT_NAME = re.compile(r"(?i)(?:rfc\d+|draft-[\w.-]+)\.txt")
_META_NAME = re.compile(
    r"(?i)(?:readme|changelog|changes|history|news|contributing|security|license|licence|support|governance|agents"
    r"|claude|gemini|code[_-]of[_-]conduct|copilot-instructions)\b.*"
)
# Plans and settings beside the specifications of Kiro and Spec Kit, and templates.
_PLAN_PATH = re.compile(
    r"\.kiro/(?!specs/).*|(?:.*/)?templates/.*"
    r"|(?:.*/)?(?:\.kiro/specs|specs/\d{3,}-[^/]*)/(?:.*/)?(?:tasks|design|plan|research|quickstart|data-model)\.md"
)
_KEYWORD = re.compile(rb"\b(?:MUST|SHALL|SHOULD|MAY|REQUIRED|RECOMMENDED|OPTIONAL)\b")
_LOWER_CASE = re.compile(rb"\b(?:must|shall|should)\b", re.IGNORECASE)
_PROSE_FOLDERS = frozenset(["doc", "docs"])
"""Folders of specifications in which lower-case keywords alone indicate a guide rather than requirements."""
# Requirements that duvet can't extract: ids such as FR-001, and EARS in lower case.
_UNMARKED = re.compile(rb"\b(?:N?FR|REQ|AC)[-_ ]?\d+\b|(?i:\b(?:when|while|if|where)\b[^\n]*\bshall\b)")
_MOST_BYTES = 4 << 20  # Longer files are not searched.
_FEWEST = 3  # A Markdown file with this many requirements is a specification, whatever its folder and name.

# Files in these languages are configuration or markup, even if they could contain citations.
_NO_CODE = frozenset(["cmake", "css", "dockerfile", "make", "nix", "tex", "toml", "yaml"])
_BUILD_NAME = re.compile(
    r".*\.config\.[cm]?[jt]s|.*\.gradle(?:\.kts)?|(?:setup|noxfile|Gemfile|Rakefile|Package)\.\w+|\..*"
)
_LANGUAGES = {
    pattern.removeprefix("**/*"): language
    for language in Language
    if language.value not in _NO_CODE
    for pattern in language.patterns
    if pattern.startswith("**/*.")
}
_MOST_PATTERNS = 4  # For more folders, one pattern matches any folder.


class FoundSpecification(Struct, frozen=True):
    path: str
    requirements: int
    any_case: bool = False  # Whether keywords count in lower case, because none is in upper case.


class Survey(Struct, frozen=True):
    sources: tuple[SourceGroup, ...]
    specifications: tuple[FoundSpecification, ...]
    unmarked: tuple[str, ...]  # Files whose requirements lack RFC 2119 keywords.


def survey_folder(tree: Tree, root: str) -> Survey:
    ##= man/spec/init.md#new-projects
    ##% `duvet init` MUST detect languages by file extensions and manifests. `duvet init` MUST skip hidden
    ##% files outside `.kiro`, vendored folders and files that git ignores.
    paths = sorted(_list_files(tree, root))
    found = tuple(_find_specifications(paths, tree))
    return Survey(
        tuple(_group_sources(paths)),
        tuple(one for one in found if one.requirements),
        tuple(one.path for one in found if not one.requirements),
    )


def _list_files(tree: Tree, root: str) -> Iterator[str]:
    ignored = IgnoredPaths(tree, root)
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            entries = list(tree.entries(folder))
        except DuvetError:
            continue
        if folder and any(entry.name in _VENDOR_MARKS for entry in entries):
            continue
        for entry in entries:
            path = posixpath.join(folder, entry.name)
            if entry.name.startswith(".") and path != _HIDDEN_SPECIFICATIONS:
                continue
            # Links could form a cycle, or lead out of the project.
            if entry.is_symlink() or not path.isprintable() or ignored.hides(path, is_folder(entry)):
                continue
            if not is_folder(entry):
                yield path
            elif entry.name not in _VENDORED_FOLDERS and path != _PROPOSALS:
                folders.append(path)


def _group_sources(paths: Sequence[str]) -> Iterator[SourceGroup]:
    code: dict[Language, list[str]] = {}
    tests: dict[Language, dict[str, int]] = {}
    endings = {posixpath.splitext(path)[1] for path in paths}
    for path in paths:
        name = posixpath.basename(path)
        language = _LANGUAGES.get(posixpath.splitext(name)[1])
        if language is Language.C and not endings & {".c"}:
            language = Language.CPP if endings & {".cc", ".cpp", ".cxx"} else Language.C
        if language is None or _BUILD_NAME.fullmatch(name) or path.split("/")[0] in _SPECIFICATION_FOLDERS - {"spec"}:
            continue
        ##= man/spec/init.md#new-projects
        ##% `duvet init` MUST configure files in test folders, and files that are named like tests, in a `[[source]]`
        ##% of type `test`.
        if pattern := _find_test_pattern(path):
            counts = tests.setdefault(language, Counter())
            counts[pattern] += 1
        else:
            code.setdefault(language, []).append(path)
    for language in sorted({*code, *tests}):
        tested = tests.get(language, {})
        test_patterns = _merge_test_patterns(tested)
        if files := code.get(language):
            patterns = _make_patterns(files)
            tops = {one.partition("/")[0] for one in patterns}
            exclude = tuple(
                one for one in test_patterns if "**" in tops or one.startswith("**/") or one.partition("/")[0] in tops
            )
            yield SourceGroup(language, patterns, len(files), exclude=exclude)
        if tested:
            yield SourceGroup(language, test_patterns, sum(tested.values()), is_test=True)


def _find_test_pattern(path: str) -> str:
    *folders, name = path.split("/")
    ending = posixpath.splitext(name)[1]
    for depth, folder in enumerate(folders, 1):
        if folder in TEST_FOLDERS or (folder == "spec" and ending == ".rb"):
            return f"{_escape('/'.join(folders[:depth]))}/**/*{ending}"
    glob = find_test_glob(name)
    return f"{_escape(''.join(folders[:1]))}/**/{glob}".lstrip("/") if glob else ""


def _escape(folder: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", folder)


def _merge_test_patterns(patterns: Iterable[str]) -> tuple[str, ...]:
    by_end: dict[str, list[str]] = {}
    for pattern in patterns:
        folder, _, name = pattern.partition("**/")
        end = f"**/{posixpath.basename(folder.rstrip('/'))}/**/{name}" if name.startswith("*.") else f"**/{name}"
        by_end.setdefault(end, []).append(pattern)
    return tuple(one for end, found in sorted(by_end.items()) for one in ([end] if len(found) > 1 else found))


def _make_patterns(paths: Sequence[str]) -> tuple[str, ...]:
    found = {
        f"{_escape(folder)}/**/*{posixpath.splitext(path)[1]}" if rest else f"*{posixpath.splitext(path)[1]}"
        for path in paths
        for folder, _, rest in (path.partition("/"),)
    }
    if len({pattern.rpartition("*")[0] for pattern in found}) > _MOST_PATTERNS:
        found = {f"**/*{posixpath.splitext(path)[1]}" for path in paths}
    return tuple(sorted(found))


def _find_specifications(paths: Sequence[str], tree: Tree) -> Iterator[FoundSpecification]:
    ##= man/spec/init.md#new-projects
    ##% `duvet init` MUST find specifications by their folders, names and requirements.
    library = Library(tree, "", forms={})
    for path in paths:
        *folders, name = path.split("/")
        is_text = _TEXT_NAME.fullmatch(name)
        if not is_text and (not name.lower().endswith((".md", ".markdown")) or _PLAN_PATH.fullmatch(path)):
            continue
        in_folder = not _SPECIFICATION_FOLDERS.isdisjoint(folders)
        if (_META_NAME.fullmatch(name) or not TEST_FOLDERS.isdisjoint(folders)) and not in_folder:
            continue
        try:
            data = tree.read(path)
            if len(data) > _MOST_BYTES:
                continue
            is_likely = in_folder or is_text or _SPECIFICATION_NAME.fullmatch(name)
            is_specification = (
                not _PROSE_FOLDERS.issuperset(_SPECIFICATION_FOLDERS.intersection(folders))
                or _SPECIFICATION_NAME.fullmatch(name)
                or _UNMARKED.search(data)
            )
            if is_likely and is_specification and (lower := count_lower_case_requirements(path, library)):
                yield FoundSpecification(path, lower, any_case=True)
                continue
            count = _count_in(library.load(locate_specification(path))) if _KEYWORD.search(data) else 0
        except DuvetError:
            continue
        if count >= (1 if is_likely else _FEWEST) or (is_likely and not count and _UNMARKED.search(data)):
            yield FoundSpecification(path, count)


def count_lower_case_requirements(path: str, library: Library) -> int:
    locator = locate_specification(path)
    data = library.tree.read(path)
    if len(data) > _MOST_BYTES or _KEYWORD.search(data) or not _LOWER_CASE.search(data):
        return 0
    specification = library.load_from(path, locator, RequirementForm(any_case=True))
    return _count_in(specification) if specification.format is Format.MARKDOWN else 0


def _count_in(specification: Specification) -> int:
    return sum(len(sentences) for _, sentences in list_extracted_sections(specification))

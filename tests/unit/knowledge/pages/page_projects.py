from collections.abc import Mapping
from pathlib import Path
from typing import Any

from duvet.knowledge.pages.catalogue import PageCollection, PageStore, find_page_problems, load_pages
from duvet.knowledge.pages.files import find_page_files
from duvet.knowledge.pages.page import decode_page_body
from duvet.knowledge.pages.search import PageIndex
from duvet.project.project import Project
from duvet.tree.cache import DiskCache
from duvet.tree.files import DiskTree, MemoryTree

CONFIG = """\
'$schema' = "duvet-cli/config/v1"
[[source]]
pattern = "src/**/*.rs"
[[specification]]
source = "docs/spec.md"
"""
SPECIFICATION = "# Tea\n\n## Brewing\n\nTea MUST be hot. Milk MAY be added.\n\n## History\n\nIt is old.\n"
SOURCE = "//= docs/spec.md#brewing\n//# Tea MUST be hot.\nfn brew() {}\n"
TRACE = {".duvet/config.toml": CONFIG, "docs/spec.md": SPECIFICATION, "src/tea.rs": SOURCE}


def project_of(files: Mapping[str, str | bytes]) -> Project:
    texts = {**TRACE, **files}.items()
    return Project(tree=MemoryTree({path: text.encode() if isinstance(text, str) else text for path, text in texts}))


def project_in(folder: Path, *, kept: bool = False) -> Project:
    cache = DiskCache(DiskTree(str(folder)), {}, kept=kept)
    return Project(str(folder), tree=cache.tree, memory=cache)


def notes_of(files: Mapping[str, str | bytes]) -> PageCollection:
    return _load_pages(project_of(files))


def index_of(files: Mapping[str, str | bytes]) -> PageIndex:
    project = project_of(files)
    return PageIndex(_load_pages(project), lambda page: decode_page_body(project.tree.read(page.path), page.path))


def load(folder: Path, earlier: PageStore | None = None, *, kept: bool = False) -> PageStore:
    project = project_in(folder, kept=kept)
    return load_pages(project, find_page_files(project, earlier.files if earlier else None), earlier)


def _load_pages(project: Project) -> PageCollection:
    return PageCollection(load_pages(project, find_page_files(project)), project.catalogue)


def list_problems(files: Mapping[str, str | bytes]) -> list[tuple[Any, ...]]:
    problems = find_page_problems(project_of(files)).problems
    return [(one.code, f"{one.path}:{one.place.line}:{one.place.column}", one.message) for one in problems]

"""Collects the data of the HTML report."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from duvet.config.settings import PageRule
from duvet.console.command import current_settings
from duvet.console.streams import render_bytes
from duvet.errors import DuvetError
from duvet.knowledge.pages.files import find_page_files
from duvet.model import Kind, Problem
from duvet.project.project import Project
from duvet.queries.gaps import RequirementFilter, make_priority_rows, prioritize_requirements
from duvet.queries.revisions import SnapshotDiff, compare_snapshots
from duvet.queries.snippets import list_comment_styles, read_code_below
from duvet.reports.html.anchors import ReportData
from duvet.trace.catalogue import Catalogue
from duvet.trace.records import Finished, GateResult
from duvet.tree.files import FolderMembership
from duvet.tree.git import GitCommand, GitRepository
from duvet.tree.recorder import FileChangedError, RecordedTree
from duvet.version import VERSION

if TYPE_CHECKING:
    from duvet.knowledge.pages.catalogue import PageCollection


def make_report_data(
    project: Project,
    finished: Finished,
    problems: tuple[Problem, ...],
    snapshot: bytes | None,
    gates: tuple[GateResult, ...] = (),
) -> ReportData:
    """Collect the data of the HTML report; after errors, it contains no snapshot, JSON or changes."""
    config, catalogue = project.config, project.catalogue
    rule = config.page if config else PageRule()
    # The folders above the project are not recorded, so changes there don't trigger runs.
    repository, commit = GitRepository(project.disk, project.root), ""
    if (top := repository.top(repository.start)) is not None:
        commit = GitRepository(project.tree, project.root).head(top)
    else:
        project.tree.exists(".git")
    ##= man/spec/page.md#overview
    ##% The overview MUST list the first ten requirements of `duvet prioritize`, with the reason for each rank.
    urgent = make_priority_rows(catalogue, prioritize_requirements(catalogue, RequirementFilter()), 10)
    ##= man/spec/page.md#data
    ##% With `embed-json`, the HTML report MUST contain the JSON report, unless an annotation is invalid.
    embedded = None
    if rule.embeds_json and snapshot is not None:
        from duvet.reports.json_v1 import render_json_v1

        embedded = render_bytes(partial(render_json_v1, finished))
    citations = enumerate(one for one in finished.trace.annotations if one.kind is not Kind.SPEC)
    comments = ((index, one.path, one.source.text) for index, one in citations if not one.from_file)
    snippets = read_code_below(comments, _make_reader(project), rule.snippet_lines)
    pages, texts = _load_pages(project, catalogue)
    ##= man/spec/page.md#data
    ##% The same inputs MUST produce the same report, whatever the folder, the locale, the time zone and the time.
    # So the data contains neither the date nor the path of the project.
    return ReportData(
        finished=finished,
        catalogue=catalogue,
        problems=problems,
        gates=gates,
        ##= man/spec/page.md#overview
        ##% The report MUST show the configured title and logo.
        title=rule.title,
        logo=rule.logo,
        whole_text=rule.whole_text,
        snippets=snippets,
        version=VERSION,
        commit=commit,
        config_path=config.path if config else "",
        next=tuple(urgent),
        since=None if snapshot is None else _compare_with_commit(project, commit, snapshot),
        comments=list_comment_styles((*(config.sources if config else ()), *project.options.sources)),
        embedded=embedded,
        notes=pages,
        texts=texts,
    )


def _make_reader(project: Project) -> Callable[[str], str | None]:
    """Return a function that reads a file of the project; it returns None for other files and for unreadable ones."""
    members, tree = FolderMembership(project.root, project.disk), project.tree
    read_file = tree.read_again if isinstance(tree, RecordedTree) else tree.read

    def read(path: str) -> str | None:
        ##= man/spec/page.md#safety
        ##% The report MUST NOT contain text of files outside the project, even through symbolic links.
        if not members.has(path):
            return None
        try:
            return read_file(path).decode()
        except FileChangedError:
            raise
        except (DuvetError, UnicodeDecodeError):
            return None

    return read


def _load_pages(project: Project, catalogue: Catalogue) -> tuple[PageCollection | None, dict[str, str]]:
    files = find_page_files(project)
    if not files.prefixes:
        return None, {}
    from duvet.knowledge.pages import catalogue as shelf, page as reader

    store = shelf.load_pages(project, files)
    texts = {}
    for page in store.pages:
        # A page may have been removed since it was listed.
        with suppress(DuvetError):
            texts[page.path] = reader.decode_page_body(project.tree.read(page.path), page.path)
    return shelf.PageCollection(store, catalogue) if store.pages else None, texts


def _compare_with_commit(project: Project, commit: str, snapshot: bytes) -> SnapshotDiff | None:
    path = project.snapshot_path
    if path is None or not commit:
        return None
    # In a git hook, the variables of git may name another repository.
    environ = {name: value for name, value in current_settings().environ.items() if not name.startswith("GIT_")}
    try:
        before = GitCommand(project.root, environ).content("cat-file", "blob", f"{commit}:./{path}")
    except DuvetError:
        # The commit lacks the file, or git is not installed.
        return None
    return None if before is None else compare_snapshots(before.decode(errors="replace"), snapshot.decode())

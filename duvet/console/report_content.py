"""The content of the HTML report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from duvet.config.settings import PageRule
from duvet.console.settings import current_settings
from duvet.console.streams import render_bytes
from duvet.errors import DuvetError
from duvet.model import Kind, Problem
from duvet.project.project import Project
from duvet.queries.citations import CharacterSpan, list_comment_styles, read_code_below
from duvet.queries.gaps import RequirementFilter
from duvet.queries.priority import make_priority_rows, prioritize_requirements
from duvet.queries.snapshot_diff import SnapshotDiff, compare_snapshots
from duvet.reports.html.anchors import ReportData
from duvet.trace.catalogue import Catalogue
from duvet.trace.records import Finished
from duvet.tree.files import FolderMembership
from duvet.tree.git import GitCommand, GitRepository
from duvet.tree.recorder import FileChangedError, RecordedTree
from duvet.version import VERSION

if TYPE_CHECKING:
    from duvet.knowledge.pages.catalogue import PageCollection

_MAX_URGENT = 10


def make_report_data(
    project: Project, finished: Finished, problems: tuple[Problem, ...], snapshot: bytes | None
) -> ReportData:
    """Collect all that the report shows; with errors there is no snapshot, and so no JSON and no changes."""
    config, catalogue = project.config, project.catalogue
    rule = config.page if config else PageRule()
    commit = _find_commit(project)
    ##= man/spec/page.md#overview
    ##% The overview MUST list the ten most urgent requirements in the order of `duvet prioritize`, with the reason for
    ##% each.
    urgent = make_priority_rows(catalogue, prioritize_requirements(catalogue, RequirementFilter()), _MAX_URGENT)
    ##= man/spec/page.md#working-with-the-report
    ##% With `embed-json`, the report MUST contain the JSON report, unless an annotation is wrong.
    embedded = None
    if rule.embeds_json and snapshot is not None:
        from duvet.reports.json_v1 import render_json_v1

        embedded = render_bytes(partial(render_json_v1, finished))
    snippets = read_code_below(_list_citations(finished), _make_reader(project), rule.snippet_lines)
    pages = _load_pages(project, catalogue)
    ##= man/spec/page.md#working-with-the-report
    ##% The same inputs MUST give the same report in every folder, language and time zone, and at any time.
    # So the data contains neither the date nor the path of the project.
    ##= man/spec/page.md#overview
    ##% The report MUST have the configured title and logo, or be named after the repository that its links lead to, or
    ##% else after its specifications.
    return ReportData(
        finished=finished,
        catalogue=catalogue,
        problems=problems,
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
        texts=_load_page_texts(project, pages) if pages else {},
    )


def _find_commit(project: Project) -> str:
    """Return the commit that is checked out; empty outside a repository."""
    # Folders above the project are read without recording, so that changes there don't trigger runs.
    repository = GitRepository(project.disk, project.root)
    top = repository.top(repository.start)
    if top is None:
        project.tree.exists(".git")
        return ""
    ##= man/spec/page.md#overview
    ##% The report MUST name its version of duvet, its configuration and the checked-out commit, if there is one.
    return GitRepository(project.tree, project.root).head(top)


def _list_citations(finished: Finished) -> Iterator[tuple[int, str, CharacterSpan]]:
    """Yield the comments that cite, by their index in the catalogue."""
    ##= man/spec/page.md#requirements-and-citations
    ##% The report MUST show the code below each citation, up to the next annotation and no more lines than
    ##% `snippet-lines` says.
    citations = (one for one in finished.trace.annotations if one.kind is not Kind.SPEC)
    for index, one in enumerate(citations):
        if not one.from_file:
            yield index, one.path, one.source.text


def _make_reader(project: Project) -> Callable[[str], str | None]:
    """Return a function that reads sources of the project; it returns None for files that a link leads out to."""
    members, tree = FolderMembership(project.root, project.disk), project.tree
    read_file = tree.read_again if isinstance(tree, RecordedTree) else tree.read

    def read(path: str) -> str | None:
        ##= man/spec/page.md#safety
        ##% The report MUST NOT show anything of a file outside of the project, even through links.
        if not members.has(path):
            return None
        try:
            return read_file(path).decode()
        except FileChangedError:
            raise
        except (DuvetError, UnicodeDecodeError):
            return None

    return read


def _load_pages(project: Project, catalogue: Catalogue) -> PageCollection | None:
    from duvet.knowledge.pages.files import find_page_files

    files = find_page_files(project)
    if not files.prefixes:
        return None
    from duvet.knowledge.pages.catalogue import PageCollection, load_pages

    store = load_pages(project, files)
    return PageCollection(store, catalogue) if store.pages else None


def _load_page_texts(project: Project, pages: PageCollection) -> dict[str, str]:
    from duvet.knowledge.pages.page import decode_page_body

    texts = {}
    for page in pages.pages:
        # A page may have been removed since it was listed.
        with suppress(DuvetError):
            texts[page.path] = decode_page_body(project.tree.read(page.path), page.path)
    return texts


def _compare_with_commit(project: Project, commit: str, snapshot: bytes) -> SnapshotDiff | None:
    """Return the changes since the snapshot in the commit; None if it contains none."""
    from duvet.console.report_run import find_snapshot_path

    path = find_snapshot_path(project)
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

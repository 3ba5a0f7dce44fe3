"""The content of the HTML report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from duvet.config.settings import PageRule, SourceRule
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
from duvet.tree.git import GitRepository
from duvet.tree.recorder import FileChangedError, RecordedTree
from duvet.version import VERSION

if TYPE_CHECKING:
    from duvet.knowledge.pages.catalogue import PageCollection


_NEXT = 10
"""So many of the most urgent requirements are named."""


def make_report_data(
    project: Project, finished: Finished, problems: tuple[Problem, ...], snapshot: bytes | None
) -> ReportData:
    """All that the page needs, read and computed; the snapshot is None where what is wrong can't be counted."""
    config, catalogue = project.config, project.catalogue
    rule = config.page if config else PageRule()
    commit = _commit(project)
    ##= man/spec/page.md#overview
    ##% The overview MUST list the ten most urgent requirements in the order of `duvet prioritize`, with the reason for
    ##% each.
    next = make_priority_rows(catalogue, prioritize_requirements(catalogue, RequirementFilter()), _NEXT)
    ##= man/spec/page.md#working-with-the-report
    ##% With `embed-json`, the report MUST contain the JSON report, unless an annotation is wrong.
    embedded = _json(finished) if rule.embeds_json and snapshot is not None else None
    ##= man/spec/page.md#working-with-the-report
    ##% The same inputs MUST give the same report in every folder, language and time zone, and at any time.
    # So it is neither told the day nor where the project is.
    ##= man/spec/page.md#overview
    ##% The report MUST have the configured title and logo, or be named after the repository that its links lead to, or
    ##% else after its specifications.
    snippets = read_code_below(_cited(finished), _reader(project), rule.snippet_lines)
    notes = _notes(project, catalogue)
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
        next=tuple(next),
        since=None if snapshot is None else _since(project, commit, snapshot),
        comments=list_comment_styles(_sources(project)),
        embedded=embedded,
        notes=notes,
        texts=_texts(project, notes) if notes else {},
    )


def _notes(project: Project, catalogue: Catalogue) -> PageCollection | None:
    """The pages of the project; None where it has none."""
    from duvet.knowledge.pages.files import find_page_files

    files = find_page_files(project)
    if not files.prefixes:
        return None
    from duvet.knowledge.pages.catalogue import PageCollection, load_pages

    shelf = load_pages(project, files)
    return PageCollection(shelf, catalogue) if shelf.pages else None


def _texts(project: Project, notes: PageCollection) -> dict[str, str]:
    from duvet.knowledge.pages.page import decode_page_body

    found = {}
    for page in notes.pages:
        # One may have gone a moment ago.
        with suppress(DuvetError):
            found[page.path] = decode_page_body(project.tree.read(page.path), page.path)
    return found


def _commit(project: Project) -> str:
    """The commit that is checked out; empty outside a repository."""
    # What is above the project is not asked on the record: nobody wants to hear of all that happens there.
    disk = GitRepository(project.disk, project.root)
    top = disk.top(disk.start)
    if top is None:
        project.tree.exists(".git")
        return ""
    ##= man/spec/page.md#overview
    ##% The report MUST name its version of duvet, its configuration and the checked-out commit, if there is one.
    return GitRepository(project.tree, project.root).head(top)


def _sources(project: Project) -> tuple[SourceRule, ...]:
    return (*(project.config.sources if project.config else ()), *project.options.sources)


def _json(finished: Finished) -> bytes:
    from duvet.reports import json_v1

    return render_bytes(lambda out: json_v1.render_json_v1(finished, out))


def _cited(finished: Finished) -> Iterator[tuple[int, str, CharacterSpan]]:
    """The comments that cite, by the numbers that they have in the catalogue."""
    ##= man/spec/page.md#requirements-and-citations
    ##% The report MUST show the code below each citation, up to the next annotation and no more lines than
    ##% `snippet-lines` says.
    citing = (one for one in finished.trace.annotations if one.kind is not Kind.SPEC)
    for number, one in enumerate(citing):
        if not one.from_file:
            yield number, one.path, one.source.text


def _reader(project: Project) -> Callable[[str], str | None]:
    """Reads sources of the project; what else a pattern leads to may be nobody else's business."""
    inside, tree = FolderMembership(project.root, project.disk), project.tree
    again = tree.read_again if isinstance(tree, RecordedTree) else tree.read

    def read(path: str) -> str | None:
        ##= man/spec/page.md#safety
        ##% The report MUST NOT show anything of a file outside of the project, even through links.
        if not inside.has(path):
            return None
        try:
            return again(path).decode()
        except FileChangedError:
            raise
        except (DuvetError, UnicodeDecodeError):
            return None

    return read


def _since(project: Project, commit: str, snapshot: bytes) -> SnapshotDiff | None:
    """What has changed since the snapshot in a commit; None where it holds none."""
    from duvet.console.report_run import find_snapshot_path
    from duvet.console.revision_catalogue import read_committed_file

    path = find_snapshot_path(project)
    if path is None or not commit:
        return None
    before = read_committed_file(project.root, commit, path)
    return None if before is None else compare_snapshots(before.decode(errors="replace"), snapshot.decode())

"""What the page of a project shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from duvet.config.schema import PageRule, SourceRule
from duvet.errors import DuvetError
from duvet.model import Kind, Problem
from duvet.project import Project
from duvet.queries.catalogue import Catalogue
from duvet.queries.code_below import Span, code_below
from duvet.queries.comment_styles import comment_styles
from duvet.queries.filters import Filter
from duvet.queries.priority import prioritized
from duvet.queries.reasons import priority_rows
from duvet.queries.since import Since, since
from duvet.reports.html_page import Page
from duvet.terminal.outputs import rendered
from duvet.trace.finished import Finished
from duvet.tree.inside import Inside
from duvet.tree.recorded import ChangedError, RecordedTree
from duvet.tree.repository import Repository
from duvet.version import VERSION

if TYPE_CHECKING:
    from duvet.knowledge.pages.notes import Notes

_NEXT = 10
"""So many of the most urgent requirements are named."""


def page_of(project: Project, finished: Finished, problems: tuple[Problem, ...], snapshot: bytes | None) -> Page:
    """All that the page needs, read and computed; the snapshot is None where what is wrong can't be counted."""
    config, catalogue = project.config, project.catalogue
    rule = config.page if config else PageRule()
    commit = _commit(project)
    ##= man/spec/page.md#next
    ##% The page MUST name the ten most urgent requirements in the order of `duvet prioritize`.
    next = priority_rows(catalogue, prioritized(catalogue, Filter()), _NEXT)
    ##= man/spec/page.md#settings
    ##% With `embed-json`, the page MUST hold the JSON report, and MUST NOT hold it when an annotation is wrong.
    embedded = _json(finished) if rule.embeds_json and snapshot is not None else None
    ##= man/spec/page.md#settings
    ##% The page MUST be the same for the same inputs, whatever the folder, the time, the language and the time zone are.
    # So it is neither told the day nor where the project is.
    ##= man/spec/page.md#settings
    ##% `title` and `logo` of `[report.html]` MUST stand on the page.
    snippets = code_below(_cited(finished), _reader(project), rule.snippet_lines)
    notes = _notes(project, catalogue)
    return Page(
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
        comments=comment_styles(_sources(project)),
        embedded=embedded,
        notes=notes,
        texts=_texts(project, notes) if notes else {},
    )


def _notes(project: Project, catalogue: Catalogue) -> Notes | None:
    """The pages of the project; None where it has none."""
    from duvet.knowledge.pages.files import find_pages

    files = find_pages(project)
    if not files.prefixes:
        return None
    from duvet.knowledge.pages.notes import Notes
    from duvet.knowledge.pages.shelf import shelf_of

    shelf = shelf_of(project, files)
    return Notes(shelf, catalogue) if shelf.pages else None


def _texts(project: Project, notes: Notes) -> dict[str, str]:
    from duvet.knowledge.pages.parsing import body_of

    found = {}
    for page in notes.pages:
        # One may have gone a moment ago.
        with suppress(DuvetError):
            found[page.path] = body_of(project.tree.read(page.path), page.path)
    return found


def _commit(project: Project) -> str:
    """The commit that is checked out; empty outside a repository."""
    # What is above the project is not asked on the record: nobody wants to hear of all that happens there.
    disk = Repository(project.disk, project.root)
    top = disk.top(disk.start)
    ##= man/spec/page.md#provenance
    ##% Outside a repository the page MUST NOT name a commit.
    if top is None:
        project.tree.exists(".git")
        return ""
    ##= man/spec/page.md#provenance
    ##% The page MUST name the commit that is checked out, and MUST be made anew when that changes.
    return Repository(project.tree, project.root).head(top)


def _sources(project: Project) -> tuple[SourceRule, ...]:
    return (*(project.config.sources if project.config else ()), *project.options.sources)


def _json(finished: Finished) -> bytes:
    from duvet.reports import json_v1

    return rendered(lambda out: json_v1.render(finished, out))


def _cited(finished: Finished) -> Iterator[tuple[int, str, Span]]:
    """The comments that cite, by the numbers that they have in the catalogue."""
    ##= man/spec/page.md#code
    ##% The page MUST show the first lines of the code below each comment that cites, as many as `snippet-lines` says.
    citing = (one for one in finished.trace.annotations if one.kind is not Kind.SPEC)
    for number, one in enumerate(citing):
        if not one.from_file:
            yield number, one.path, one.source.text


def _reader(project: Project) -> Callable[[str], str | None]:
    """Reads sources of the project; what else a pattern leads to may be nobody else's business."""
    inside, tree = Inside(project.root, project.disk), project.tree
    again = tree.read_again if isinstance(tree, RecordedTree) else tree.read

    def read(path: str) -> str | None:
        ##= man/spec/page.md#code
        ##% Nothing MUST be shown of a source outside of the folder of the project, by whatever link it is reached.
        if not inside.has(path):
            return None
        try:
            return again(path).decode()
        except ChangedError:
            ##= man/spec/page.md#code
            ##% The code MUST be of the same text of its source as the comment above it, whoever writes to that in between.
            raise
        except (DuvetError, UnicodeDecodeError):
            ##= man/spec/page.md#code
            ##% A source that can't be read any more MUST NOT fail the run.
            return None

    return read


def _since(project: Project, commit: str, snapshot: bytes) -> Since | None:
    """What has changed since the snapshot in a commit; None where it holds none."""
    from duvet.terminal.committed import committed
    from duvet.terminal.report_files import snapshot_path

    path = snapshot_path(project)
    ##= man/spec/page.md#since-the-last-commit
    ##% Where `HEAD` holds no snapshot, the page MUST say nothing of that.
    if path is None or not commit:
        return None
    before = committed(project.root, commit, path)
    return None if before is None else since(before.decode(errors="replace"), snapshot.decode())

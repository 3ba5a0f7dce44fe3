"""Collects the data of the HTML report: the trace, the pages, and the snippets of code below citations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from duvet.config.languages import CommentPair, find_comment_pair
from duvet.config.settings import ExtendedHtmlReport, SourceRule, SpecText
from duvet.console.command import current_settings
from duvet.console.streams import render_bytes
from duvet.errors import DuvetError
from duvet.knowledge.pages.files import find_page_files
from duvet.model import Kind, Problem
from duvet.project.project import Project
from duvet.queries.gaps import make_priority_rows, prioritize_requirements
from duvet.queries.records import RequirementFilter
from duvet.reports.html.anchors import CommentStyle, ReportData
from duvet.trace.catalogue import Catalogue
from duvet.trace.records import Finished, GateResult
from duvet.tree.files import FolderMembership
from duvet.tree.git_repository import GitRepository
from duvet.tree.recorder import FileChangedError, RecordedTree
from duvet.version import VERSION

if TYPE_CHECKING:
    from duvet.knowledge.pages.catalogue import PageCollection
    from duvet.reports.snapshot import SnapshotDiff

_MAX_CODE_LINE = 160
_COMMENT_ENDS = frozenset(("", "*", "/*", "*/", "(*", "*)", "<!--", "-->"))
"""The first and last lines of block comments, which are not code."""
_MAX_COMMENT_ENDS = 8


def make_report_data(
    project: Project,
    finished: Finished,
    problems: tuple[Problem, ...],
    snapshot: Callable[[], bytes] | None,
    gates: tuple[GateResult, ...] = (),
) -> ReportData:
    """After errors, `snapshot` is None."""
    config, catalogue = project.config, project.catalogue
    html = config.report.html if config else None
    page = html if isinstance(html, ExtendedHtmlReport) else ExtendedHtmlReport()
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
    ##% With `embed-json`, the HTML report MUST contain the JSON report, unless there are errors other than failures of
    ##% gates.
    embedded = None
    if page.embed_json and snapshot is not None:
        from duvet.reports.json_v1 import render_json_v1

        embedded = render_bytes(partial(render_json_v1, finished))
    citations = enumerate(one for one in finished.trace.annotations if one.kind is not Kind.SPEC)
    comments = ((index, one.path, one.source.text) for index, one in citations if not one.from_file)
    snippets = read_code_below(comments, _make_reader(project), page.snippet_lines)
    pages, texts = _load_pages(project, catalogue)
    ##= man/spec/page.md#data
    ##% Until a `[[not-applicable]]` entry expires, the same inputs MUST produce the same report, whatever the folder,
    ##% the locale, the time zone and the time.
    # For this reason, the data contains neither the date nor the path of the project.
    return ReportData(
        finished=finished,
        catalogue=catalogue,
        problems=problems,
        gates=gates,
        ##= man/spec/page.md#overview
        ##% The report MUST show the configured title and logo.
        title=page.title or "",
        logo=page.logo or "",
        whole_text=page.spec_text is SpecText.FULL,
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
    members, tree = FolderMembership(project.root, project.disk), project.tree
    read_file = tree.read_again if isinstance(tree, RecordedTree) else tree.read

    def read(path: str) -> str | None:
        ##= man/spec/page.md#safety
        ##% The report MUST NOT contain code from files outside the project, even through symbolic links.
        if not members.has(path):
            return None
        try:
            return read_file(path).decode()
        except FileChangedError:
            raise
        except (DuvetError, UnicodeDecodeError):
            return None

    return read


def read_code_below(
    annotations: Iterable[tuple[int, str, tuple[int, int]]], read: Callable[[str], str | None], max_lines: int
) -> dict[int, str]:
    if not max_lines:
        return {}
    by_path: dict[str, list[tuple[tuple[int, int], int]]] = {}
    for number, path, span in annotations:
        by_path.setdefault(path, []).append((span, number))
    found: dict[int, str] = {}
    for path, own in by_path.items():
        text = read(path)
        if text is not None:
            code, end = "", len(text)
            for (start, stop), number in sorted(own, reverse=True):
                after = text.find("\n", max(stop - 1, 0)) + 1 or len(text)
                ##= man/spec/page.md#requirements-and-citations
                ##% The report MUST show the code below each citation, up to the next annotation and at most
                ##% `snippet-lines` lines.
                code = _cut_code(text, after, end, max_lines) or code
                if code:
                    found[number] = code
                end = text.rfind("\n", 0, start) + 1
    return found


def _cut_code(text: str, start: int, end: int, max_lines: int) -> str:
    stop = min(end, start + (max_lines + _MAX_COMMENT_ENDS) * _MAX_CODE_LINE)
    part = text[start:stop] if stop == end else f"{text[start:stop]}…"
    lines = part.split("\n", max_lines + _MAX_COMMENT_ENDS)
    first, last = 0, min(len(lines), max_lines + _MAX_COMMENT_ENDS)
    while first < last and lines[first].strip() in _COMMENT_ENDS:
        first += 1
    last = min(last, first + max_lines)
    while last > first and lines[last - 1].strip() in _COMMENT_ENDS:
        last -= 1
    if first >= last:
        return ""
    plain = [line.rstrip() for line in lines[first:last]]
    common = plain[0][: len(plain[0]) - len(plain[0].lstrip(" \t"))]
    for line in plain:
        while line and not line.startswith(common):
            common = common[:-1]
    plain = [line[len(common) :] for line in plain]
    return "\n".join([line if len(line) <= _MAX_CODE_LINE else f"{line[: _MAX_CODE_LINE - 1]}…" for line in plain])


def list_comment_styles(rules: Iterable[SourceRule]) -> tuple[CommentStyle, ...]:
    found: dict[tuple[str, str, CommentPair, Kind], dict[str, None]] = {}
    for rule in rules:
        for pattern in rule.patterns:
            pair = find_comment_pair(pattern, rule.meta) or CommentPair("", "")
            found.setdefault((rule.meta, rule.content, pair, rule.kind), {})[pattern] = None
    return tuple(
        CommentStyle(label=", ".join(patterns), meta=meta, content=content, first=pair.first, last=pair.last, kind=kind)
        for (meta, content, pair, kind), patterns in found.items()
    )


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


def _compare_with_commit(project: Project, commit: str, snapshot: Callable[[], bytes]) -> SnapshotDiff | None:
    path = project.snapshot_path
    if path is None or not commit:
        return None
    from duvet.tree.git import GitCommand

    # In a git hook, the variables of git may name another repository.
    environ = {name: value for name, value in current_settings().environ.items() if not name.startswith("GIT_")}
    try:
        before = GitCommand(project.root, environ).content("cat-file", "blob", f"{commit}:./{path}")
    except DuvetError:
        # The commit lacks the file, or git is not installed.
        return None
    if before is None:
        return None
    from duvet.reports.snapshot import compare_snapshots

    return compare_snapshots(before.decode(errors="replace"), snapshot().decode())

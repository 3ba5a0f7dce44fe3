"""All pages of a project, as their files say."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from duvet import rules
from duvet.cache.cache import Cache
from duvet.knowledge.pages.dates import Dates, dates_of, modified
from duvet.knowledge.pages.files import Files
from duvet.knowledge.pages.parsing import bad_slug, read_page
from duvet.knowledge.pages.records import Page, Parsed
from duvet.knowledge.pages.slugs import fault_of, slug_of
from duvet.model import Problem
from duvet.project import Project
from duvet.tree.recorded import RecordedTree
from duvet.tree.seen import Seen

_Rows = dict[str, tuple[Seen | None, Parsed]]
_HOW = "2"
"""Tells results of this way to read pages from those of another."""


class Shelf(Struct, frozen=True):
    """The pages, the newest first, and what is wrong with their files."""

    pages: tuple[Page, ...]
    problems: tuple[Problem, ...]
    rows: _Rows
    """What each file says, and what it looked like."""
    dates: Dates
    anew: frozenset[str]
    """The files that had to be read."""


def shelf_of(project: Project, files: Files, earlier: Shelf | None = None) -> Shelf:
    """The pages in these files; what is as it was is not read again."""
    reader = _Rereader(project, earlier.rows if earlier else {})
    rows = reader.rows(files.prefixes)
    dates = _dates(project, files, rows, earlier)
    problems = [*files.problems]
    pages: dict[str, Page] = {}
    for path, (_, parsed) in rows.items():
        problems += parsed.problems
        if not parsed.is_page:
            continue
        slug = parsed.slug or slug_of(path, files.prefixes[path])
        if fault := fault_of(slug):
            problems.append(bad_slug(slug, fault, path))
        elif slug in pages:
            first = pages[slug].path
            problems += (_clash(slug, first, path), _clash(slug, path, first))
        else:
            pages[slug] = _page(project, path, slug, parsed, dates)
    ##= man/spec/pages.md#tools
    ##% `list_pages` MUST answer all pages with their slugs and titles, the newest first.
    ordered = sorted(pages.values(), key=lambda page: (-page.created, page.slug))
    return Shelf(tuple(ordered), tuple(problems), rows, dates, frozenset(reader.anew))


def _page(project: Project, path: str, slug: str, parsed: Parsed, dates: Dates) -> Page:
    ##= man/spec/pages.md#dates
    ##% A page MUST be as old as its front matter says, or else as its first commit, or else as its file.
    created = parsed.created
    if created is None:
        created = dates.first.get(path)
    if created is None:
        created = modified(project, path)
    ##= man/spec/pages.md#files
    ##% The title of a page MUST be that of its front matter, or else its first heading, or else its slug.
    title = parsed.title or slug
    return Page(path=path, slug=slug, title=title, created=created, tags=parsed.tags, links=parsed.links)


def _clash(slug: str, other: str, path: str) -> Problem:
    ##= man/spec/pages.md#slugs
    ##% Two pages with one slug MUST be an error at each of the files that names the other.
    message = f"the slug `{slug}` is that of {other}, too"
    return rules.PAGE_SLUG_CLASH.problem(message, path, hint="give one of them another `slug` in its front matter")


def _dates(project: Project, files: Files, rows: _Rows, earlier: Shelf | None) -> Dates:
    known = earlier.dates if earlier else None
    if any(parsed.is_page and parsed.created is None for _, parsed in rows.values()):
        return dates_of(project, set(files.prefixes.values()), known)
    return known or Dates()


class _Rereader:
    """Reads files that are not what they were."""

    def __init__(self, project: Project, known: Mapping[str, tuple[Seen | None, Parsed]]) -> None:
        self.project = project
        self.tree = project.tree
        self.known = known
        self.anew: list[str] = []

    def rows(self, paths: Mapping[str, str]) -> _Rows:
        """What every file says."""
        ##= man/spec/pages.md#freshness
        ##% When one page has been edited, no other MUST be read again as Markdown.
        if self.known:
            return {path: self._still(path) or self._read(path) for path in sorted(paths)}
        memory = self.project.memory
        read = memory.of_files("pages", Parsed, sorted(paths), _HOW, lambda path: self._read(path)[1])
        found = {path: (self._seen(path), parsed) for path, parsed in read}
        if isinstance(memory, Cache) and self.anew:
            memory.save()
        return found

    def _still(self, path: str) -> tuple[Seen | None, Parsed] | None:
        known = self.known.get(path)
        if known is None or known[0] is None or not isinstance(self.tree, RecordedTree):
            return None
        seen = self.tree.still(path, known[0])
        return (seen, known[1]) if seen else None

    def _read(self, path: str) -> tuple[Seen | None, Parsed]:
        self.anew.append(path)
        parsed = read_page(self.tree, path)
        return self._seen(path), parsed

    def _seen(self, path: str) -> Seen | None:
        return self.tree.seen.get(path) if isinstance(self.tree, RecordedTree) else None

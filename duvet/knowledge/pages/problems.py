"""What is wrong with pages."""

from __future__ import annotations

from duvet import rules
from duvet.knowledge.pages.files import find_pages
from duvet.knowledge.pages.findings import PageFindings
from duvet.knowledge.pages.notes import Notes
from duvet.knowledge.pages.records import REQUIREMENT, Link, Page
from duvet.knowledge.pages.shelf import shelf_of
from duvet.model import Problem
from duvet.project import Project
from duvet.queries.names import nearest_hint
from duvet.text import shortened


def findings_of(project: Project) -> PageFindings:
    """Everything that is wrong with the pages of a project, by path and place."""
    files = find_pages(project)
    shelf = shelf_of(project, files)
    found = [*shelf.problems]
    # Where nothing is linked, the trace need not be known.
    if any(page.links for page in shelf.pages):
        notes = Notes(shelf, project.catalogue)
        found += [_dangling(notes, page, link) for page, link in notes.dangling()]
    problems = sorted(dict.fromkeys(found), key=lambda problem: problem.sort_key)
    links = sum(len(page.links) for page in shelf.pages)
    return PageFindings(tuple(files.prefixes), len(shelf.pages), links, tuple(problems))


def _dangling(notes: Notes, page: Page, link: Link) -> Problem:
    ##= man/spec/pages.md#checks
    ##% A link that leads nowhere MUST be a warning with its file, its line and its column, and with the nearest slug
    ##% where one is near.
    message, hint = _said(notes, link)
    return rules.PAGE_LINK_DANGLING.problem(message, page.path, link.place, hint=hint)


def _said(notes: Notes, link: Link) -> tuple[str, str]:
    """What is wrong with a link, and what to do."""
    if notes.references.is_id(link):
        hint = f"write `{REQUIREMENT}` and at least 4 digits of an id, which no other id begins with"
        return f"there is no requirement `{link.written}`", hint
    card = notes.references.specification(link)
    if card is not None:
        ##= man/spec/pages.md#checks
        ##% Of a link to a section that its specification doesn't have, the section MUST be said to be missing.
        near = nearest_hint(shortened(link.heading), [*card.titles])
        return f"`{link.target}` has no section `{link.heading}`", near or "name one of its sections, or none"
    return f"there is no page `{link.written}`", notes.near(link.target) or "write the page, or take the link out"

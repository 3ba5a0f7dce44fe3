"""What is wrong with pages."""

from __future__ import annotations

from collections.abc import Iterator

from duvet import rules
from duvet.knowledge.pages.notes import Notes
from duvet.knowledge.pages.records import REQUIREMENT, Link, Page
from duvet.model import Problem


def problems_of(notes: Notes) -> tuple[Problem, ...]:
    """Everything, by path and place."""
    found = [*notes.shelf.problems, *(_dangling(notes, page, link) for page, link in notes.dangling())]
    return tuple(sorted(dict.fromkeys(found), key=lambda problem: problem.sort_key))


def _dangling(notes: Notes, page: Page, link: Link) -> Problem:
    ##= man/spec/pages.md#checks
    ##% A link that leads nowhere MUST be a warning with its file, its line and its column, and with the nearest slug
    ##% where one is near.
    what = "there is no page" if not notes.references.is_id(link) else "there is no requirement"
    hint = "; ".join(_hints(notes, link))
    return rules.PAGE_LINK_DANGLING.problem(f"{what} `{link.written}`", page.path, link.place, hint=hint)


def _hints(notes: Notes, link: Link) -> Iterator[str]:
    if notes.references.is_id(link):
        yield f"write `{REQUIREMENT}` and at least 4 digits of an id, which no other id begins with"
    else:
        yield notes.near(link.target) or "write the page, or take the link out"

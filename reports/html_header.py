"""What the head of the page says: what this is, and what it was made from."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from msgspec import Struct

from duvet.model import Severity
from duvet.queries.links import web
from duvet.reports.html_page import Page

_NAMED = 3
"""The most specifications that a title names."""

_PARTS = ("-", "blob", "tree", "src", "raw", "issues")
"""What comes after the name of a repository in links to its files and issues."""

_COMMIT = 12


class HeaderView(Struct, frozen=True):
    """The head of the page."""

    title: str
    logo: str
    provenance: str
    has_errors: bool


def header_view(page: Page) -> HeaderView:
    """The head of this page."""
    return HeaderView(
        title_of_page(page),
        page.logo,
        _provenance(page),
        any(problem.severity is Severity.ERROR for problem in page.problems),
    )


def title_of_page(page: Page) -> str:
    """What the configuration says, or what links and specifications tell; never where the project lies."""
    ##= man/spec/page.md#header
    ##% Without a title in the configuration, the page MUST be named for the repository that its links lead to, or else for
    ##% its specifications.
    if page.title:
        return page.title
    if repository := _repository(page.finished.blob_link) or _repository(page.finished.issue_link):
        return f"{repository}: requirements report"
    names = list(dict.fromkeys(requirement.specification.name for requirement in page.finished.requirements))
    if not names or len(names) > _NAMED:
        return "Requirements report"
    return f"Requirements report: {', '.join(names)}"


def _repository(link: str | None) -> str:
    """`owner/repository`, where a link looks as if it led into one."""
    try:
        segments = urlsplit(web(link)).path.strip("/").split("/")
    except ValueError:
        return ""
    end = next((index for index, segment in enumerate(segments) if segment in _PARTS), 0)
    return unquote("/".join(segments[:end])) if end > 1 else ""


def _provenance(page: Page) -> str:
    ##= man/spec/page.md#header
    ##% The page MUST say which commit, which duvet and which configuration it comes from, as far as that is known.
    facts = {"commit": page.commit[:_COMMIT], "duvet": page.version, "configuration": page.config_path}
    return " · ".join(f"{name} {fact}" for name, fact in facts.items() if fact)

"""Renders the HTML report: a single file that works without a network and without JavaScript."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

import msgspec
from markupsafe import Markup

from duvet.model import Annotation, Kind, Severity
from duvet.queries.records import keep_web_url, make_fragment_link
from duvet.reports.html import anchors
from duvet.reports.html.citations import ReferenceWriter, SourceWriter
from duvet.reports.html.overview import make_overview_view, make_problem_view
from duvet.reports.html.specification import ArticleWriter
from duvet.templates import environment, page_file
from duvet.text import collapse_whitespace
from duvet.trace.records import compute_totals

_NAMED = 3  # Maximum number of specifications in a title.

_PARTS = ("-", "blob", "tree", "src", "raw", "issues")
"""The path segments that follow the repository's name in links to its files and issues."""


class HeaderView(msgspec.Struct, frozen=True):
    title: str
    logo: str
    provenance: str
    has_errors: bool


def make_header_view(page: anchors.ReportData) -> HeaderView:
    facts = {"commit": page.commit[:12], "duvet": page.version, "configuration": page.config_path}
    return HeaderView(
        make_report_title(page),
        page.logo,
        " · ".join(f"{name} {fact}" for name, fact in facts.items() if fact),
        any(problem.severity is Severity.ERROR for problem in page.problems),
    )


def make_report_title(page: anchors.ReportData) -> str:
    """Return the configured title, or one made from links and specifications; it never reveals local paths."""
    if page.title:
        return page.title
    if repository := _find_repository(page.finished.blob_link) or _find_repository(page.finished.issue_link):
        return f"{repository}: requirements report"
    names = list(dict.fromkeys(requirement.specification.name for requirement in page.finished.requirements))
    if not names or len(names) > _NAMED:
        return "Requirements report"
    return f"Requirements report: {', '.join(map(anchors.strip_backticks, names))}"


def _find_repository(link: str | None) -> str:
    """Return `owner/repository` if the link points to a repository."""
    try:
        segments = urlsplit(keep_web_url(link)).path.strip("/").split("/")
    except ValueError:
        return ""
    end = next((index for index, segment in enumerate(segments) if segment in _PARTS), 0)
    return unquote("/".join(segments[:end])) if end > 1 else ""


_UNSAFE = re.compile(r"[<>&\x7f-\x9f\u2028\u2029\ufdd0-\ufdef\ufffe\uffff]")


def escape_json_island(data: bytes) -> Markup:
    """Escape characters in JSON that HTML interprets or forbids."""
    text = data.decode(errors="replace")
    return Markup(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def make_script_settings(page: anchors.ReportData) -> Markup:
    styles = [
        {
            "label": one.label,
            "meta": one.meta,
            "content": one.content,
            "first": one.first,
            "last": one.last,
            "kind": one.kind.name.lower(),
        }
        for one in page.comments
    ]
    return escape_json_island(
        msgspec.json.encode({"issueLink": keep_web_url(page.finished.issue_link) or None, "styles": styles})
    )


def write_requirement_rows(
    page: anchors.ReportData, places: anchors.ReportPlaces, references: ReferenceWriter, names: anchors.SectionLabels
) -> Markup:
    """Write the rows of the table, least finished first, then by level."""
    cards = page.catalogue.requirements
    written: list[str] = []
    for index in sorted(range(len(cards)), key=lambda index: (cards[index].state, -cards[index].level)):
        card = cards[index]
        look = anchors.STATE_LOOKS[card.state]
        cited = [references.citations[number] for number in card.citations]
        kinds = [one.kind for one in cited]
        named = f" · {anchors.escape_html(card.name)}" if card.name else ""
        written.append(
            f'<tr class={look.mark}><td><a href="{places.requirements[index].link}">{look.badge}</a>'
            f"<td>{anchors.name_level(card.level)}<td>{names.section(card.specification, card.section)}{named}"
            f"<td>{anchors.escape_html(card.text)}<td class=n>{kinds.count(Kind.CITATION) + kinds.count(Kind.IMPLICATION)}"
            f"<td class=n>{kinds.count(Kind.TEST)}<td>{_render_notes(cited)}\n"
        )
    return Markup("".join(written))


def _render_notes(annotations: list[Annotation]) -> str:
    found: dict[str, None] = {}
    for one in annotations:
        if one.feature or one.tracking_issue or one.tags:
            named = [("f", one.feature), ("i", one.tracking_issue), *[("t", tag) for tag in one.tags]]
            found.update(
                (f"<i class={kind}>{anchors.escape_html(collapse_whitespace(name))}</i>", None)
                for kind, name in named
                if name
            )
    return " ".join(found)


_STYLES = ("tokens", "layout", "overview", "text", "lists", "panel", "print")

# Indentation, citations and blank lines, which the report does not need.
_FOR_WRITERS = re.compile(r"^/\*\n(?:##.*\n)+\*/\n|^\n|^ +", re.MULTILINE)

# Spaces that CSS does not need; no string in the styles contains one of these.
_SPACES = re.compile(r"(?<=[;:,{]) | (?=[{}])|;(?=\s*})")


def load_page_shell() -> dict[str, Markup]:
    """Load the styles and scripts, and the content security policy that allows only these."""
    early, module = Markup(page_file("early.js")), Markup(page_file("script.min.js"))
    allowed = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in (early, module))
    return {
        "styles": Markup(_SPACES.sub("", _FOR_WRITERS.sub("", "".join(page_file(f"{name}.css") for name in _STYLES)))),
        "early": early,
        "module": module,
        ##= man/spec/page.md#safety
        ##% The report MUST NOT load external resources.
        "policy": Markup(
            f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}; img-src data:; base-uri 'none'; "
            "form-action 'none'"
        ),
    }


_MOST_PROBLEMS = 400  # A longer list is parsed only when it is opened.

# HTML forbids these characters, even escaped.
_FORBIDDEN = bytes([*range(9), 11, 12, *range(14, 32), 127])
_ALLOWED = bytes.maketrans(_FORBIDDEN, b"?" * len(_FORBIDDEN))
_FORBIDDEN_BEYOND_ASCII = {
    0xC2: rb"\xc2[\x80-\x9f]",
    0xEF: rb"\xef(?:\xb7[\x90-\xaf]|\xbf[\xbe\xbf])",
    **{first: bytes([first]) + rb"[\x8f\x9f\xaf\xbf]\xbf[\xbe\xbf]" for first in range(0xF0, 0xF5)},
}
"""Patterns by their first byte: searching for a byte is fast, and most texts contain none of these."""


def render_html(page: anchors.ReportData, out: BinaryIO) -> None:
    out.writelines(map(_encode, environment().get_template("page/page.html.j2").generate(_render_parts(page))))


def _encode(piece: str) -> bytes:
    ##= man/spec/page.md#size-and-accessibility
    ##% The report MUST be valid HTML for every input.
    data = piece.encode(errors="replace").translate(_ALLOWED)
    if not data.isascii():
        for first, pattern in _FORBIDDEN_BEYOND_ASCII.items():
            data = re.sub(pattern, b"?", data) if first in data else data
    return data


def _render_parts(page: anchors.ReportData) -> dict[str, object]:
    counted = compute_totals(page.finished.requirements)
    sums = {total.specification.id: total for total in counted if total.specification and total.level is None}
    references, places, names = ReferenceWriter(page), anchors.assign_places(page), anchors.SectionLabels(page)
    notes = None
    if page.notes is not None:
        from duvet.reports.html.notes import PageWriter

        notes = PageWriter(page, places)
    cited = (coverage.specification for coverage in page.finished.trace.coverages)
    return {
        **load_page_shell(),
        "page": page,
        "header": make_header_view(page),
        "overview": make_overview_view(page, counted, places, names),
        "links": {id: make_fragment_link(anchor) for id, anchor in places.specifications.items()},
        "cited": anchors.CITED_LOOK,
        "problems": [make_problem_view(problem, references) for problem in page.problems],
        "problems_are_later": len(page.problems) > _MOST_PROBLEMS,
        "articles": ArticleWriter(page, places, references, sums, notes).written,
        "rows": write_requirement_rows(page, places, references, names),
        "files": SourceWriter(page, places, references, names).lines(),
        "settings": make_script_settings(page),
        "others": [(one.id, anchors.strip_backticks(one.name)) for one in cited if one.id not in sums],
        "notes": None if notes is None else notes.view(),
        "notes_id": places.notes_view,
        "json": None if page.embedded is None else escape_json_island(page.embedded),
    }

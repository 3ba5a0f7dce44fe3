"""Renders the HTML report and its overview; the report works without a network and without JavaScript."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

import msgspec
from markupsafe import Markup

from duvet.model import Kind, Severity
from duvet.queries.records import keep_web_url, make_fragment_link, make_issue_url
from duvet.reports.html import anchors
from duvet.reports.html.specification import ArticleWriter, ReferenceWriter, write_sources
from duvet.reports.problems import count_problems
from duvet.specs.locator import format_locator
from duvet.templates import environment, page_file
from duvet.text import collapse_whitespace, format_count, shorten_text
from duvet.trace.catalogue import State
from duvet.trace.records import Total, compute_totals, group_totals, judge_run


def make_next_views(
    page: anchors.ReportData, places: anchors.ReportPlaces
) -> list[tuple[anchors.StateLook, str, str, str, str]]:
    looks = {look.words: look for look in anchors.STATE_LOOKS}
    wanted = {row.text for row in page.next}
    found = {
        page.catalogue.full_path_of(card): (card, Markup(spot.link))
        for card, spot in zip(page.catalogue.requirements, places.requirements, strict=True)
        if card.text in wanted
    }
    return [
        (
            looks[row.status],
            link,
            Markup(places.label(card.specification, card.section)) + (f" · {row.name}" if row.name else ""),
            shorten_text(row.text, 120),
            row.reason,
        )
        for row, (card, link) in ((row, found[row.full_path]) for row in page.next)
    ]


_MOST = 8  # Maximum number of changes of one kind to show.


def make_snapshot_groups(page: anchors.ReportData, places: anchors.ReportPlaces) -> list[tuple[object, ...]] | None:
    if page.since is None:
        return None
    ##= man/spec/page.md#overview
    ##% If the commit `HEAD` contains a snapshot, the overview MUST list the coverage that was gained and lost since
    ##% that commit.
    cited = {format_locator(one.locator, page.finished.root): index for index, one in enumerate(places.cited)}
    groups: list[tuple[object, ...]] = []
    titles = {"gained": "Coverage gained", "lost": "Coverage lost", "added": "Added", "removed": "Removed"}
    for mark, title in titles.items():
        changes = getattr(page.since, mark)
        shown = []
        for change in changes[:_MOST]:
            index = cited.get(change.specification)
            name = change.specification if index is None else places.cited[index].name
            href, place = "", f"{name}, {change.section}"
            if index is not None and change.section in places.sections[index]:
                href = Markup(places.sections[index][change.section].spot.link)
                place = Markup(places.label(index, change.section))
            before, after = change.before or State.UNCITED.words, change.after or State.UNCITED.words
            words = {"added": after, "removed": before}.get(mark, f"{before} → {after}")
            shown.append((place, href, change.text, words))
        if changes:
            groups.append((mark, title, len(changes), shown, len(changes) - len(shown)))
    return groups


_LEFT = (State.NEEDS_TESTS, State.NEEDS_CODE, State.IN_PROGRESS, State.TO_DO, State.UNCITED)
_MAX_DETAILED_SPECIFICATIONS = 40  # With more specifications, the totals have no rows for levels.

COUNTED_STATES = (State.DONE, *_LEFT, State.EXCEPTED)


def make_total_groups(
    counted: Sequence[Total], columns: Sequence[anchors.StateLook], anchor_names: Mapping[str, str]
) -> list[dict[str, object]]:
    groups = group_totals(counted)
    if len(groups) > _MAX_DETAILED_SPECIFICATIONS + 1:
        groups = [*((group[-1],) for group in groups[:-1]), groups[-1]]
    found: list[dict[str, object]] = []
    # With one specification, the total would repeat its rows.
    for group in groups if len(groups) > 2 else groups[:-1]:
        specification = group[-1].specification
        anchor = anchor_names[specification.id] if specification else ""
        # With one level, the total would repeat its row.
        totals = group[:1] if len(group) == 2 else group
        found.append(
            {
                "name": anchors.strip_backticks(specification.name) if specification else "all",
                "href": make_fragment_link(anchor) if anchor else "",
                "rows": [make_total_row(total, columns, anchor) for total in totals],
            }
        )
    return found


def make_total_row(total: Total, looks: Sequence[anchors.StateLook], spec: str = "") -> dict[str, object]:
    counts = total.counts

    def linked(count: int, states: Iterable[State] = ()) -> anchors.LinkedNumber:
        return anchors.link_number(count, spec=spec, level=total.level, states=states)

    return {
        "name": "all" if total.level is None else anchors.name_level(total.level),
        "is_sum": total.level is None,
        "done": linked(total.done, (State.DONE,)),
        "applicable": linked(total.applicable, (State.DONE, *_LEFT)),
        "percent": "-" if total.percent is None else f"{total.percent} %",
        "numbers": [linked(counts[look.index], ([*State][look.index],)) for look in looks],
        # The class and width of each part of the bar.
        "shares": [(look.mark, counts[look.index]) for look in looks if counts[look.index]],
    }


def make_overview_view(
    page: anchors.ReportData, counted: Sequence[Total], places: anchors.ReportPlaces
) -> dict[str, object]:
    whole = counted[-1]
    states = (*COUNTED_STATES, State.NOT_APPLICABLE) if whole.not_applicable else COUNTED_STATES
    looks = tuple(anchors.STATE_LOOKS[state] for state in states)
    columns = tuple(look for look in looks if look.index == State.DONE or whole.counts[look.index])
    citations = page.catalogue.citations
    labelled = {number for number, one in enumerate(citations) if one.feature or one.tracking_issue}
    features, issues = Counter[str](), Counter[str]()
    for card in page.catalogue.requirements if labelled else ():
        found = [citations[number] for number in card.citations if number in labelled]
        features.update({collapse_whitespace(one.feature) for one in found} - {""})
        issues.update({collapse_whitespace(one.tracking_issue) for one in found} - {""})
    counts = count_problems(page.problems)
    # The report counts warnings next to the link to the problems.
    verdict = judge_run(page.problems, page.gates, page.finished.trace.citation_count, counts=counts[0] > 0)
    return {
        "verdict": verdict,
        "words": f"Coverage: {whole.words}",
        "looks": looks,
        "columns": columns,
        "whole": make_total_row(whole, looks),
        "groups": make_total_groups(counted, columns, places.specifications),
        "problems": " and ".join(
            format_count(count, word) for count, word in zip(counts, ("error", "warning"), strict=True) if count
        ),
        "since": make_snapshot_groups(page, places),
        "next": make_next_views(page, places),
        # The name of each feature or tracking issue, the URL of the issue, and the number of requirements.
        "features": [(name, "", anchors.link_number(count, feature=name)) for name, count in _most_first(features)],
        "issues": [
            (name, make_issue_url(page.finished.issue_link, name), anchors.link_number(count, issue=name))
            for name, count in _most_first(issues)
        ],
        "not_applicable": page.finished.not_applicable,
    }


def _most_first(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


_PARTS = ("-", "blob", "tree", "src", "raw", "issues")
"""The path segments that follow the repository's name in links to its files and issues."""


def make_report_title(page: anchors.ReportData) -> str:
    if page.title:
        return page.title
    if repository := _find_repository(page.finished.blob_link) or _find_repository(page.finished.issue_link):
        return f"{repository}: requirements report"
    # The report may be published, so its title must not contain a local path.
    names = list(dict.fromkeys(requirement.specification.name for requirement in page.finished.requirements))
    if not names or len(names) > 3:
        return "Requirements report"
    return f"Requirements report: {', '.join(map(anchors.strip_backticks, names))}"


def _find_repository(link: str | None) -> str:
    try:
        segments = urlsplit(keep_web_url(link)).path.strip("/").split("/")
    except ValueError:
        return ""
    end = next((index for index, segment in enumerate(segments) if segment in _PARTS), 0)
    return unquote("/".join(segments[:end])) if end > 1 else ""


_UNSAFE = re.compile(r"[<>&\x7f-\x9f\u2028\u2029\ufdd0-\ufdef\ufffe\uffff]")


def escape_json_island(data: bytes) -> Markup:
    text = data.decode(errors="replace")
    return Markup(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def write_requirement_rows(
    page: anchors.ReportData, places: anchors.ReportPlaces, references: ReferenceWriter
) -> Markup:
    cards = page.catalogue.requirements
    written: list[str] = []
    for index in sorted(range(len(cards)), key=lambda index: (cards[index].state, -cards[index].level)):
        card = cards[index]
        look = anchors.STATE_LOOKS[card.state]
        cited = [references.citations[number] for number in card.citations]
        kinds = [one.kind for one in cited]
        notes: dict[str, None] = {}
        for one in cited:
            if one.feature or one.tracking_issue or one.tags:
                for kind, note in (("f", one.feature), ("i", one.tracking_issue), *[("t", tag) for tag in one.tags]):
                    if note:
                        notes[f"<i class={kind}>{anchors.escape_html(collapse_whitespace(note))}</i>"] = None
        named = f" · {anchors.escape_html(card.name)}" if card.name else ""
        written.append(
            f'<tr class={look.mark}><td><a href="{places.requirements[index].link}">{look.badge}</a>'
            f"<td>{anchors.name_level(card.level)}<td>{places.label(card.specification, card.section)}{named}"
            f"<td>{anchors.escape_html(card.text)}<td class=n>{kinds.count(Kind.CITATION) + kinds.count(Kind.IMPLICATION)}"
            f"<td class=n>{kinds.count(Kind.TEST)}<td>{' '.join(notes)}\n"
        )
    return Markup("".join(written))


# Indentation, citations and blank lines, which the report does not need.
_FOR_WRITERS = re.compile(r"^/\*\n(?:##.*\n)+\*/\n|^\n|^ +", re.MULTILINE)

# Spaces that CSS does not need; no string in the styles contains one of these.
_SPACES = re.compile(r"(?<=[;:,{]) | (?=[{}])|;(?=\s*})")


def load_page_shell() -> dict[str, Markup]:
    styles = map(
        page_file, (f"{name}.css" for name in ("tokens", "layout", "overview", "text", "lists", "panel", "print"))
    )
    early, module = Markup(page_file("early.js")), Markup(page_file("script.min.js"))
    allowed = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in (early, module))
    return {
        "styles": Markup(_SPACES.sub("", _FOR_WRITERS.sub("", "".join(styles)))),
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
    references, places = ReferenceWriter(page), anchors.assign_places(page)
    notes = None
    if page.notes is not None:
        from duvet.reports.html.notes import PageWriter

        notes = PageWriter(page, places)
    facts = {"commit": page.commit[:12], "duvet": page.version, "configuration": page.config_path}
    styles = [{**msgspec.structs.asdict(one), "kind": one.kind.name.lower()} for one in page.comments]
    settings = {"issueLink": keep_web_url(page.finished.issue_link) or None, "styles": styles}
    return {
        **load_page_shell(),
        "title": make_report_title(page),
        "logo": page.logo,
        "provenance": " · ".join(f"{name} {fact}" for name, fact in facts.items() if fact),
        "has_errors": any(problem.severity is Severity.ERROR for problem in page.problems),
        "overview": make_overview_view(page, counted, places),
        "links": {id: make_fragment_link(anchor) for id, anchor in places.specifications.items()},
        "cited": anchors.CITED_LOOK,
        "problems": page.problems,
        "place_of": references.place,
        "problems_are_later": len(page.problems) > _MOST_PROBLEMS,
        "articles": ArticleWriter(page, places, references, sums, notes).written,
        "rows": write_requirement_rows(page, places, references),
        "files": write_sources(page, places, references),
        "settings": escape_json_island(msgspec.json.encode(settings)),
        "others": [(one.id, anchors.strip_backticks(one.name)) for one in places.cited if one.id not in sums],
        "notes": None if notes is None else notes.view(),
        "notes_id": places.notes_view,
        "json": None if page.embedded is None else escape_json_island(page.embedded),
    }

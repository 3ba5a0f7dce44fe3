"""The text of a specification by section, with marked requirements and citations, and the list of source files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup
from msgspec import Struct

from duvet.model import Format, Kind, Place, Section
from duvet.queries.gaps import describe_shortfall
from duvet.queries.records import make_blob_url, make_issue_url, make_published_url
from duvet.reports.html import anchors
from duvet.reports.html.anchors import ReportData, ReportPlaces, escape_attribute, escape_html
from duvet.reports.summary import describe_exemption
from duvet.text import WHITESPACE, collapse_whitespace, format_count, shorten_text
from duvet.trace.catalogue import CitationCard, State
from duvet.trace.coverage import segment_texts
from duvet.trace.records import TITLE_LINE, Coverage, Segment, SegmentsByLine, Total, compute_state

if TYPE_CHECKING:
    from duvet.reports.html.notes import PageWriter

KIND_WORDS = {
    Kind.CITATION: "implementation",
    Kind.TEST: "test",
    Kind.IMPLICATION: "implication",
    Kind.EXCEPTION: "exception",
    Kind.TODO: "todo",
}
"""The words for the citation types, in list order."""


class ReferenceWriter:
    def __init__(self, page: ReportData) -> None:
        finished = page.finished
        # By their numbers in the catalogue.
        self.citations = [one for one in finished.trace.annotations if one.kind is not Kind.SPEC]
        self.snippets: Mapping[int, str] = page.snippets
        self.root = f"{finished.root.rstrip('/')}/" if finished.root else ""
        self.blob_link = finished.blob_link
        self.issue_link = finished.issue_link
        self._files: dict[tuple[str, str | None], tuple[str, str]] = {}

    def lists(self, numbers: Iterable[int]) -> str:
        items: dict[Kind, list[str]] = {}
        for number in numbers:
            items.setdefault(self.citations[number].kind, []).append(self._write_item(number))
        groups = (
            f"<dt>{words}<dd><ul>{''.join(items[kind])}</ul>" for kind, words in KIND_WORDS.items() if kind in items
        )
        return f"<dl class=references>{''.join(groups)}</dl>"

    def counts(self, numbers: Iterable[int]) -> str:
        found: dict[Kind, list[int]] = {}
        for number in numbers:
            found.setdefault(self.citations[number].kind, []).append(number)
        counts = {words: len(found[kind]) for kind, words in KIND_WORDS.items() if kind in found}
        words = [format_count(count, one) for one, count in counts.items()]
        first = next(found[kind][0] for kind in KIND_WORDS if kind in found)
        annotation = self.citations[first]
        file_url, _ = self.file(annotation.path, annotation.blob_link)
        url = file_url and file_url + _make_fragment(annotation.line)
        return ", ".join([f'<a href="{url}">{words[0]}</a>' if url else words[0], *words[1:]])

    def place(self, path: str, place: Place) -> Markup:
        url, shown = self.file(path)
        words = f"{shown}:{place.line}" if place.line else shown
        if place.column:
            words += f":{place.column}"
        return Markup(f'<a href="{url}{_make_fragment(place.line)}">{words}</a>' if url else words)

    def file(self, path: str, own_base: str | None = None) -> tuple[str, str]:
        found = self._files.get((path, own_base))
        if found is None:
            shown = path.removeprefix(self.root)
            found = (
                escape_attribute(make_blob_url(own_base or self.blob_link, shown)),
                " ".join(escape_html(shown).splitlines()),
            )
            self._files[path, own_base] = found
        return found

    def _write_item(self, number: int) -> str:
        ##= man/spec/page.md#requirements-and-citations
        ##% The report MUST list the citations of each file and of each requirement with their place, type, target,
        ##% reason, feature, tracking issue and tags.
        annotation = self.citations[number]
        url, shown = self.file(annotation.path, annotation.blob_link)
        line = annotation.line
        words = f"{shown}:{line}" if line else shown
        item = f'<li><a href="{url}{_make_fragment(line)}">{words}</a>' if url else f"<li><code>{words}</code>"
        if reason := annotation.reason.strip():
            item += f" <q>{escape_html(reason)}</q>"
        elif annotation.kind is Kind.EXCEPTION:
            item += " <em>no reason given</em>"
        if annotation.feature:
            item += f" <small>feature {escape_html(annotation.feature)}</small>"
        if annotation.tracking_issue:
            issue = escape_html(annotation.tracking_issue)
            if issue_url := make_issue_url(self.issue_link, annotation.tracking_issue):
                issue = f'<a href="{escape_attribute(issue_url)}">{issue}</a>'
            item += f" <small>issue {issue}</small>"
        if annotation.tags:
            item += f" <small>tagged {escape_html(', '.join(annotation.tags))}</small>"
        snippet = self.snippets.get(number)
        return f"{item}<pre>{escape_html(snippet)}</pre>\n" if snippet else f"{item}\n"


def _make_fragment(number: int) -> str:
    return f"#L{number}" if number else ""


def write_sources(page: ReportData, places: ReportPlaces, references: ReferenceWriter) -> Markup:
    files: dict[str, list[CitationCard]] = {}
    for card in page.catalogue.citations:
        files.setdefault(card.path, []).append(card)
    folders: dict[str, list[str]] = {}
    for path, cards in files.items():
        cards.sort(key=lambda card: card.line)
        _, shown = references.file(path, cards[0].blob_link)
        folders.setdefault(posixpath.dirname(shown), []).append(path)
    written: list[str] = []
    for folder, paths in sorted(folders.items()):
        written.append(f"<h3 class=folder>{folder or '.'}/</h3>\n")
        for path in sorted(paths):
            url, shown = references.file(path, files[path][0].blob_link)
            name = f'<a href="{url}">{shown}</a>' if url else shown
            items = []
            for card in files[path]:
                words = f"line {card.line}, {KIND_WORDS[card.kind]}" if card.line else KIND_WORDS[card.kind]
                if card.is_valid:
                    section = places.sections[card.specification][card.section]
                    link = places.requirements[card.requirements[0]].link if card.requirements else section.cited.link
                    label = places.label(card.specification, card.section)
                    items.append(f'<li><a href="{link}">{words}: {label}</a>')
                else:
                    items.append(f"<li class=bad>{words}: {escape_html(collapse_whitespace(card.remark))}")
            written.append(f"<div class=file><h4>{name}</h4><ol>{''.join(items)}</ol></div>\n")
    return Markup("".join(written))


class TextOwner(NamedTuple):
    """The requirement to which a piece of text belongs; sorts by state, worst first."""

    state: State
    link: str
    name: str  # The last part of its anchor.


class SectionMarker:
    def __init__(self, section: Section, owners: Mapping[int, TextOwner]) -> None:
        self.section = section
        self.owners = owners  # The requirements, by the ids of the annotations that state them.
        self.marks = 0  # The number of written elements.
        self._linked: set[TextOwner] = set()
        self._last: TextOwner | None = None
        self._found: dict[tuple[int, ...], list[TextOwner]] = {}

    def text(self, lines: SegmentsByLine) -> str:
        ##= man/spec/page.md#requirements-and-citations
        ##% The report MUST show the text of a section with the line breaks of its specification, and link each
        ##% requirement in it to the requirement's details.
        written: list[str] = []
        text = self.section.lines
        done = next((index for index, line in enumerate(text) if line.strip(WHITESPACE)), 0)
        for index, segments in lines.items():
            if index == TITLE_LINE:
                continue
            if done < index:
                written.append(escape_html("\n".join(text[done:index])))
            line, known = "", len(self._linked)
            for segment, raw in zip(segments, segment_texts(self.section, index, segments), strict=True):
                fragment = escape_html(raw)
                if segment.flags:
                    self.marks += 1
                    fragment = self._write_fragment(segment, fragment, sign=len(self._linked) == known)
                line += fragment
            written.append(line)
            done = index + 1
        written.append(escape_html("\n".join(text[done:])))
        return "\n".join(written).rstrip(WHITESPACE)

    def _write_fragment(self, segment: Segment, text: str, *, sign: bool) -> str:
        found = self._found.get(segment.ids)
        if found is None:
            found = self._found[segment.ids] = sorted({self.owners[id] for id in segment.ids if id in self.owners})
        if not found:
            return f"<mark class={anchors.CITED_LOOK.mark}>{text}</mark>"
        # In a partly covered requirement, each part has its own style.
        state = found[0].state
        own = _own_state(segment.flags) if state is State.IN_PROGRESS else state
        mark = anchors.STATE_LOOKS[own if own <= State.TO_DO else state].mark
        begun = [owner for owner in found if owner not in self._linked]
        if begun:
            self._last = begun[0]
            self._linked.update(begun)
        # A single requirement is named only if it is not the one of the last link.
        named = "" if found[0] is self._last else f" data-r={found[0].name}"
        if len(found) > 1:
            named = f' data-r="{" ".join([owner.name for owner in found])}"'
        if not begun:
            return f"<mark class={mark}{named}>{text}</mark>"
        mark = f'"{mark} g"' if sign else mark
        return f'<a class={mark} href="{begun[0].link}"{named}>{text}</a>'


@cache
def _own_state(flags: int) -> State:
    return compute_state(frozenset((flags,)))


_WORDS = 56  # Maximum length of a requirement in the file; the script shows as much as there is room for.
_MOST_ELEMENTS = 12_000  # Maximum number of elements in the articles at first; further ones are parsed when opened.
_MOST_IN_ALL = 19_000  # The same for the whole report.
_HEAD = 10  # Maximum number of elements in an article, not counting its sections.


_WORDS_OF_DONE = {
    frozenset({Kind.CITATION, Kind.TEST}): "code and tests cite all of it",
    frozenset({Kind.IMPLICATION}): "implications cite all of it",
}


class ArticleWriter(Struct):
    """Writes articles one at a time, because they make up most of the report."""

    page: ReportData
    places: ReportPlaces
    references: ReferenceWriter
    sums: dict[str, Total]
    notes: PageWriter | None = None
    room: int = _MOST_ELEMENTS

    def written(self, around: int) -> Iterator[dict[str, object]]:
        """Yield the articles, those without requirements last; `around` is the number of elements around them."""
        self.room = min(_MOST_ELEMENTS, _MOST_IN_ALL - around)
        coverages = self.page.finished.trace.coverages
        for number in sorted(
            range(len(coverages)), key=lambda number: coverages[number].specification.id not in self.sums
        ):
            yield self._write_article(coverages[number], number)

    def _write_article(self, coverage: Coverage, number: int) -> dict[str, object]:
        specification = coverage.specification
        cards = self.page.catalogue.requirements
        places = self.places.sections[number]
        contents: list[tuple[Markup, str, int]] = []
        elements = _HEAD
        sections = ""
        for id, place in places.items():
            index = specification.by_id[id]
            text, size = self._write_section(coverage, index, place)
            sections += text
            elements += size
            if place.requirements:
                gaps = sum(cards[number].state < State.EXCEPTED for number in place.requirements)
                contents.append((Markup(place.spot.link), anchors.format_section_title(specification, index), gaps))
                elements += 3
        ##= man/spec/page.md#size-and-accessibility
        ##% The report MUST NOT create more than 20,000 HTML elements when a browser opens it.
        is_later = elements > self.room
        if is_later:
            ##= man/spec/page.md#size-and-accessibility
            ##% The report MUST be readable without scripts.
            # The article is itself kept in a `noscript` element, which can't contain another one.
            sections = sections.replace("<noscript>", "<div class=refs>").replace("</noscript>", "</div>")
        else:
            self.room -= elements
        return {
            "anchor": self.places.specifications[specification.id],
            "name": anchors.strip_backticks(specification.name),
            # The text of Markdown contains its description.
            "description": "" if specification.format is Format.MARKDOWN else specification.description,
            "specification": specification,
            "link": make_published_url(specification.url),
            "total": self.sums.get(specification.id),
            "contents": contents,
            "left_out": len(specification.sections) - len(places),
            "sections": Markup(sections),
            "is_later": is_later,
        }

    def _write_section(self, coverage: Coverage, index: int, place: anchors.SectionPlace) -> tuple[str, int]:
        section = coverage.specification.sections[index]
        owners: dict[int, TextOwner] = {}
        for number in place.requirements:
            requirement = self.page.finished.requirements[number]
            anchor, link = self.places.requirements[number]
            owner = TextOwner(requirement.state, link, anchor.rpartition("/")[2])
            owners.update(dict.fromkeys(requirement.ids, owner))
        marking = SectionMarker(section, owners)
        text = marking.text(coverage.sections.get(index, {}))
        out = make_published_url(coverage.specification.url, section.id)
        anchor, link = place.spot
        name = escape_attribute(section.name)
        real_id = "" if place.name.endswith(f"/{section.name}") else f' data-id="{name}"'
        height = len(section.lines) + 2 * len(place.requirements)
        outside = f' <a class=out href="{escape_attribute(out)}">published</a>' if out else ""
        shown = f"<pre>{text}</pre>\n" if text else ""
        title = anchors.format_section_title(coverage.specification, index)
        if title == anchors.strip_backticks(coverage.specification.name) and not (
            text or place.requirements or place.others
        ):
            # The heading of the article has this title.
            return f'<section class=part id="{anchor}"{real_id}></section>\n', 1
        written = (
            f'<section class=part id="{anchor}"{real_id} style="--lines:{height}">\n'
            f'<h3><a href="{link}">{escape_html(title)}</a>{outside}</h3>\n{shown}'
        )
        if place.requirements:
            written += f"<ul class=requirements>\n{''.join(map(self._write_requirement, place.requirements))}</ul>\n"
        if place.others:
            anchor, link = place.cited
            counts = f"{format_count(len(place.others), 'citation')} of text that is not a requirement"
            written += (
                f'<ul class=cited><li id="{anchor}" class={anchors.CITED_LOOK.mark}>'
                f'<a href="{link}">{anchors.CITED_LOOK.badge}</a> {counts}'
                f"<noscript>{self.references.lists(place.others)}</noscript>\n</ul>\n"
            )
        named = sum(number in self.places.names for number in place.requirements)
        return f"{written}</section>\n", marking.marks + 6 + 4 * len(place.requirements) + named + (
            4 if place.others else 0
        )

    def _write_requirement(self, index: int) -> str:
        ##= man/spec/page.md#requirements-and-citations
        ##% The report MUST list each requirement with its state, its level, its number of citations by type, and
        ##% whether it needs code or tests.
        card = self.page.catalogue.requirements[index]
        look = anchors.STATE_LOOKS[card.state]
        anchor, link = self.places.requirements[index]
        level = f" · {card.level.name}" if card.level else ""
        words = escape_html(shorten_text(card.text, _WORDS))
        if index in self.places.names:
            words = f'<b id="{self.places.names[index].anchor}">{escape_html(card.name)}</b> {words}'
        counts = f" · {self.references.counts(card.citations)}" if card.citations else ""
        details = self._describe_gap(index) + (self.notes.explained(index) if self.notes else "")
        if card.citations:
            details += self.references.lists(card.citations)
        hidden = f"<noscript>{details}</noscript>" if details else ""
        # Style sheets cut the end of an item, so the text comes last.
        return (
            f'<li id="{anchor}" class={look.mark}><a href="{link}">{look.badge}</a>{level}{counts} · {words}{hidden}\n'
        )

    def _describe_gap(self, index: int) -> str:
        if index in self.page.catalogue.excuses:
            return f"<p class=lacks>{escape_html(describe_exemption(self.page.catalogue.excuses[index]))}</p>"
        card = self.page.catalogue.requirements[index]
        citations = [self.references.citations[number] for number in card.citations]
        words = describe_shortfall(card.state, citations)
        if card.state is State.DONE:
            kinds = {one.kind for one in citations} & {Kind.CITATION, Kind.TEST, Kind.IMPLICATION}
            words = _WORDS_OF_DONE.get(frozenset(kinds), "code, tests or implications cite each part of it")
        lacks = f"<p class=lacks>{words[0].upper()}{words[1:]}.</p>" if words else ""
        for name, missing in zip(("implemented", "tested"), self.page.catalogue.missing.get(index, ()), strict=False):
            if missing:
                quotes = ", ".join(f"<q>{escape_html(one)}</q>" for one in missing)
                lacks += f"<p class=lacks>Not {name}: {'all of it' if missing == (card.text,) else quotes}</p>"
        return lacks

"""Citations in the HTML report, and the list of source files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence

from markupsafe import Markup
from msgspec import Struct

from duvet.model import Annotation, Kind, Place
from duvet.queries.records import make_blob_url, make_issue_url
from duvet.reports.html.anchors import ReportData, ReportPlaces, escape_attribute, escape_html
from duvet.text import collapse_whitespace, format_count
from duvet.trace.catalogue import CitationCard

KIND_WORDS = {
    Kind.CITATION: "implementation",
    Kind.TEST: "test",
    Kind.IMPLICATION: "implication",
    Kind.EXCEPTION: "exception",
    Kind.TODO: "todo",
}
"""The words for the citation types, in list order."""


class ReferenceWriter:
    """Writes citations; the link and name of each file are computed once."""

    def __init__(self, page: ReportData) -> None:
        finished = page.finished
        self.citations = [one for one in finished.trace.annotations if one.kind is not Kind.SPEC]
        """The citations, by their numbers in the catalogue."""
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
        """Return counts such as `1 implementation, 2 tests`, linked to the first citation."""
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

    def place(self, path: str, place: Place) -> str:
        """Return a place in a file as HTML, linked if the sources are on the web."""
        url, shown = self.file(path)
        words = f"{shown}:{place.line}" if place.line else shown
        if place.column:
            words += f":{place.column}"
        return f'<a href="{url}{_make_fragment(place.line)}">{words}</a>' if url else words

    def file(self, path: str, own_base: str | None = None) -> tuple[str, str]:
        """Return the URL and name of a file, both escaped."""
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
        ##% The report MUST list the citations of each file and of each requirement, each with place, type, target,
        ##% reason, feature, tracking issue and tags.
        annotation = self.citations[number]
        url, shown = self.file(annotation.path, annotation.blob_link)
        line = annotation.line
        words = f"{shown}:{line}" if line else shown
        item = f'<li><a href="{url}{_make_fragment(line)}">{words}</a>' if url else f"<li><code>{words}</code>"
        if annotation.reason or annotation.kind is Kind.EXCEPTION:
            item += _write_reason(annotation)
        if annotation.feature or annotation.tracking_issue or annotation.tags:
            item += self._write_facts(annotation)
        snippet = self.snippets.get(number)
        return f"{item}<pre>{escape_html(snippet)}</pre>\n" if snippet else f"{item}\n"

    def _write_facts(self, annotation: Annotation) -> str:
        facts = ""
        if annotation.feature:
            facts += f" <small>feature {escape_html(annotation.feature)}</small>"
        if annotation.tracking_issue:
            facts += f" <small>issue {self._write_issue(annotation.tracking_issue)}</small>"
        if annotation.tags:
            facts += f" <small>tagged {escape_html(', '.join(annotation.tags))}</small>"
        return facts

    def _write_issue(self, id: str) -> str:
        url = make_issue_url(self.issue_link, id)
        return f'<a href="{escape_attribute(url)}">{escape_html(id)}</a>' if url else escape_html(id)


def _make_fragment(number: int) -> str:
    return f"#L{number}" if number else ""


def _write_reason(annotation: Annotation) -> str:
    reason = annotation.reason.strip()
    if reason:
        return f" <q>{escape_html(reason)}</q>"
    return " <em>no reason given</em>" if annotation.kind is Kind.EXCEPTION else ""


class SourceWriter(Struct, frozen=True):
    citations: Sequence[CitationCard]
    places: ReportPlaces
    references: ReferenceWriter

    def lines(self) -> Markup:
        files: dict[str, list[CitationCard]] = {}
        for card in self.citations:
            files.setdefault(card.path, []).append(card)
        folders: dict[str, dict[str, list[CitationCard]]] = {}
        for path, cards in files.items():
            _, shown = self.references.file(path, cards[0].blob_link)
            folders.setdefault(posixpath.dirname(shown), {})[path] = cards
        return Markup(
            "".join([line for folder in sorted(folders) for line in self._write_folder(folder, folders[folder])])
        )

    def _write_folder(self, folder: str, files: dict[str, list[CitationCard]]) -> Iterator[str]:
        yield f"<h3 class=folder>{folder or '.'}/</h3>\n"
        for path in sorted(files):
            cards = sorted(files[path], key=lambda card: card.line)
            url, shown = self.references.file(path, cards[0].blob_link)
            name = f'<a href="{url}">{shown}</a>' if url else shown
            yield f"<div class=file><h4>{name}</h4><ol>{''.join(map(self._write_citation, cards))}</ol></div>\n"

    def _write_citation(self, card: CitationCard) -> str:
        words = f"line {card.line}, {KIND_WORDS[card.kind]}" if card.line else KIND_WORDS[card.kind]
        spot = self.places.of(card)
        if spot is None:
            return f"<li class=bad>{words}: {escape_html(collapse_whitespace(card.remark))}"
        return f'<li><a href="{spot.link}">{words}: {self.places.label(card.specification, card.section)}</a>'

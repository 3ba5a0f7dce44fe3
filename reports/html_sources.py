"""What each file refers to, a line of HTML a file."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from markupsafe import Markup

from duvet.queries.catalogue import CitationCard
from duvet.reports.html_names import Names
from duvet.reports.html_page import Page
from duvet.reports.html_places import Places
from duvet.reports.html_references import KIND_WORDS, References
from duvet.reports.html_text import escaped
from duvet.text import one_line


class Sources:
    """Writes the files with their citations."""

    def __init__(self, page: Page, places: Places, references: References, names: Names) -> None:
        self.citations = page.catalogue.citations
        self.places = places
        self.references = references
        self.names = names

    def lines(self) -> Markup:
        """The files of each folder below its name."""
        ##= man/spec/page.md#sources
        ##% Every citation MUST be listed below its file with its line, its kind and a link to what it refers to.
        files: dict[str, list[CitationCard]] = {}
        for card in self.citations:
            files.setdefault(card.path, []).append(card)
        folders: dict[str, dict[str, list[CitationCard]]] = {}
        for path, cards in files.items():
            _, shown = self.references.file(path, cards[0].blob_link)
            folders.setdefault(posixpath.dirname(shown), {})[path] = cards
        return Markup("".join([line for folder in sorted(folders) for line in self._folder(folder, folders[folder])]))

    def _folder(self, folder: str, files: dict[str, list[CitationCard]]) -> Iterator[str]:
        yield f"<h3 class=folder>{folder or '.'}/</h3>\n"
        for path in sorted(files):
            cards = sorted(files[path], key=lambda card: card.line)
            url, shown = self.references.file(path, cards[0].blob_link)
            name = f'<a href="{url}">{shown}</a>' if url else shown
            yield f"<div class=file><h4>{name}</h4><ol>{''.join(map(self._citation, cards))}</ol></div>\n"

    def _citation(self, card: CitationCard) -> str:
        words = f"{card.line} {KIND_WORDS[card.kind]}" if card.line else KIND_WORDS[card.kind]
        spot = self.places.of(card)
        if spot is None:
            ##= man/spec/page.md#sources
            ##% A citation that refers to nothing MUST be listed with the reason.
            return f"<li class=bad>{words}: {escaped(one_line(card.remark))}"
        return f'<li><a href="{spot.link}">{words}, {self.names.section(card.specification, card.section)}</a>'

"""What refers to a text, as HTML: every place with its link, and what is said there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from duvet.model import Annotation, Kind, Place
from duvet.queries.links import blob, issue
from duvet.reports.html_page import Page
from duvet.reports.html_text import attribute, escaped

KIND_WORDS = {
    Kind.CITATION: "implementation",
    Kind.TEST: "test",
    Kind.IMPLICATION: "implication",
    Kind.EXCEPTION: "exception",
    Kind.TODO: "to do",
}
"""What citations are called, in the order in which they are listed."""


class References:
    """Writes references; what they have in common with others of their file is written once."""

    def __init__(self, page: Page) -> None:
        finished = page.finished
        self.citations = [one for one in finished.trace.annotations if one.kind is not Kind.SPEC]
        """By their numbers in the catalogue."""
        self.snippets: Mapping[int, str] = page.snippets
        self.root = f"{finished.root.rstrip('/')}/" if finished.root else ""
        self.blob_link = finished.blob_link
        self.issue_link = finished.issue_link
        self._files: dict[tuple[str, str | None], tuple[str, str]] = {}

    def lists(self, numbers: Iterable[int]) -> str:
        """The citations by their kind."""
        items: dict[Kind, list[str]] = {}
        for number in numbers:
            items.setdefault(self.citations[number].kind, []).append(self._item(number))
        groups = (
            f"<dt>{words}<dd><ul>{''.join(items[kind])}</ul>" for kind, words in KIND_WORDS.items() if kind in items
        )
        return f"<dl class=references>{''.join(groups)}</dl>"

    def counts(self, numbers: Iterable[int]) -> str:
        """`1 implementation, 2 tests`, with a link to the first of them."""
        found: dict[Kind, list[int]] = {}
        for number in numbers:
            found.setdefault(self.citations[number].kind, []).append(number)
        words = [_counted(len(found[kind]), words) for kind, words in KIND_WORDS.items() if kind in found]
        first = next(found[kind][0] for kind in KIND_WORDS if kind in found)
        url = self._url(self.citations[first])
        return ", ".join([f'<a href="{url}">{words[0]}</a>' if url else words[0], *words[1:]])

    def place(self, path: str, place: Place) -> str:
        """A place in a file, linked where it can be read on the web."""
        url, shown = self.file(path)
        words = f"{shown}:{place.line}" if place.line else shown
        if place.column:
            words += f":{place.column}"
        return f'<a href="{url}{_line(place.line)}">{words}</a>' if url else words

    def file(self, path: str, own_base: str | None = None) -> tuple[str, str]:
        """Where a file can be read, and its name; both escaped."""
        found = self._files.get((path, own_base))
        if found is None:
            ##= man/spec/page.md#references
            ##% A path in a link MUST be escaped, so that the link leads to the file whatever its name is.
            shown = path.removeprefix(self.root)
            found = attribute(blob(own_base or self.blob_link, shown)), " ".join(escaped(shown).splitlines())
            self._files[path, own_base] = found
        return found

    def _item(self, number: int) -> str:
        ##= man/spec/page.md#size
        ##% A citation MUST NOT make the page more than 200 bytes longer, its code left aside.
        ##= man/spec/page.md#references
        ##% Each citation MUST be shown with its place, its reason, its feature, its tracking issue and its tags.
        annotation = self.citations[number]
        url, shown = self.file(annotation.path, annotation.blob_link)
        line = annotation.line
        words = f"{shown}:{line}" if line else shown
        item = f'<li><a href="{url}{_line(line)}">{words}</a>' if url else f"<li><code>{words}</code>"
        if annotation.reason or annotation.kind is Kind.EXCEPTION:
            item += _reason(annotation)
        if annotation.feature or annotation.tracking_issue or annotation.tags:
            item += self._facts(annotation)
        snippet = self.snippets.get(number)
        return f"{item}<pre>{escaped(snippet)}</pre>\n" if snippet else f"{item}\n"

    def _facts(self, annotation: Annotation) -> str:
        """What an annotation names beside its text."""
        facts = ""
        if annotation.feature:
            facts += f" <small>feature {escaped(annotation.feature)}</small>"
        if annotation.tracking_issue:
            facts += f" <small>issue {self._issue(annotation.tracking_issue)}</small>"
        if annotation.tags:
            facts += f" <small>tagged {escaped(', '.join(annotation.tags))}</small>"
        return facts

    def _url(self, annotation: Annotation) -> str:
        url, _ = self.file(annotation.path, annotation.blob_link)
        return url and url + _line(annotation.line)

    def _issue(self, id: str) -> str:
        url = issue(self.issue_link, id)
        return f'<a href="{attribute(url)}">{escaped(id)}</a>' if url else escaped(id)


def _line(number: int) -> str:
    return f"#L{number}" if number else ""


def _counted(count: int, words: str) -> str:
    return f"{count} {words}" if count == 1 or words == "to do" else f"{count} {words}s"


def _reason(annotation: Annotation) -> str:
    reason = annotation.reason.strip()
    if reason:
        return f" <q>{escaped(reason)}</q>"
    return " <em>no reason given</em>" if annotation.kind is Kind.EXCEPTION else ""

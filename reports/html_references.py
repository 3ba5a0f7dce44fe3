"""What refers to a text, as HTML: every place with its link, and what is said there."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

from duvet.model import Annotation, Kind, Place
from duvet.queries.links import blob, issue
from duvet.trace.finished import Finished

_WORDS = {
    Kind.CITATION: "implementation",
    Kind.TEST: "test",
    Kind.IMPLICATION: "implication",
    Kind.EXCEPTION: "exception",
    Kind.TODO: "to do",
}

Groups = list[tuple[str, Markup]]
"""What the references are, and their items."""


class References:
    """Writes references; what they have in common with others of their file is written once."""

    def __init__(self, report: Finished) -> None:
        self.annotations = report.trace.annotations
        self.root = f"{report.root.rstrip('/')}/" if report.root else ""
        self.blob_link = report.blob_link
        self.issue_link = report.issue_link
        self._files: dict[tuple[str, str | None], tuple[str, str]] = {}

    def groups(self, ids: Iterable[int]) -> Groups:
        """The references by their kind."""
        items: dict[Kind, list[str]] = {}
        for id in ids:
            annotation = self.annotations[id]
            items.setdefault(annotation.kind, []).append(self._item(annotation))
        # What is in the items is escaped where they are made.
        return [(words, Markup("".join(items[kind]))) for kind, words in _WORDS.items() if kind in items]

    def place(self, path: str, place: Place) -> Markup:
        """A place in a file, linked where it can be read on the web."""
        return Markup(self._place(path, place.line, None, f":{place.column}" if place.column else ""))

    def remarks(self, ids: Iterable[int]) -> Markup | None:
        """What is said of a requirement where it is stated, if anything is."""
        found = dict.fromkeys(self._facts(self.annotations[id]) for id in ids)
        facts = "".join(found)
        return Markup(facts) if facts else None

    def _item(self, annotation: Annotation) -> str:
        place = self._place(annotation.path, annotation.line, annotation.blob_link)
        if annotation.kind is Kind.EXCEPTION and not annotation.reason.strip():
            return f"<li>{place} <em>no reason given</em>{self._facts(annotation)}</li>\n"
        if annotation.reason or annotation.feature or annotation.tracking_issue or annotation.tags:
            return f"<li>{place}{_reason(annotation)}{self._facts(annotation)}</li>\n"
        return f"<li>{place}</li>\n"

    def _place(self, path: str, line: int, own_base: str | None, column: str = "") -> str:
        file = self._files.get((path, own_base))
        if file is None:
            file = self._files[path, own_base] = self._file(path, own_base)
        url, shown = file
        if not line:
            return f'<a href="{url}">{shown}</a>' if url else shown
        return f'<a href="{url}#L{line}">{shown}:{line}{column}</a>' if url else f"{shown}:{line}{column}"

    def _file(self, path: str, own_base: str | None) -> tuple[str, str]:
        shown = path.removeprefix(self.root) if self.root else path
        return str(escape(blob(own_base or self.blob_link, shown))), str(escape(shown))

    def _facts(self, annotation: Annotation) -> str:
        facts = ""
        if annotation.feature:
            facts += f" <small>feature {escape(annotation.feature)}</small>"
        if annotation.tracking_issue:
            facts += f" <small>issue {self._issue(annotation.tracking_issue)}</small>"
        if annotation.tags:
            facts += f" <small>tagged {escape(', '.join(annotation.tags))}</small>"
        return facts

    def _issue(self, id: str) -> str:
        url = issue(self.issue_link, id)
        return f'<a href="{escape(url)}">{escape(id)}</a>' if url else str(escape(id))


def _reason(annotation: Annotation) -> str:
    return f" <q>{escape(annotation.reason.strip())}</q>" if annotation.reason.strip() else ""

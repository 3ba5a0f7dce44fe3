"""What every format comes to: values with their places."""

from __future__ import annotations

from typing import Any, Protocol

from duvet.config.toml import Placed
from duvet.config.toml_spans import Keys, Spans
from duvet.errors import DuvetError
from duvet.model import Place
from duvet.text import place_of


class Document(Protocol):
    """The values of a file, and where in it they stand."""

    @property
    def values(self) -> dict[str, Any]:
        """What stands in the file."""

    @property
    def path(self) -> str:
        """The path of the file."""

    def value_place(self, *keys: str | int) -> Place:
        """The place of a value, or of the nearest one around it."""

    def key_place(self, *keys: str | int) -> Place:
        """The place of the last of the keys, or of the nearest value around it."""


class DocumentError(DuvetError):
    """A file that isn't what its name says; the message quotes nothing of it but keys."""

    def __init__(self, message: str, path: str, place: Place, hint: str = "", *, is_text: bool = True) -> None:
        super().__init__(message, path=path, line=place.line, hint=hint)
        self.place = place
        self.is_text = is_text


class PlacedDocument(Placed):
    """A document whose places were noted as it was read."""

    def __init__(self, values: dict[str, Any], text: str, path: str, spans: dict[Keys, Spans]) -> None:
        super().__init__(values, text, path)
        # In place of what would be worked out.
        self._spans = spans


class Draft:
    """A text that is being read, and the path that errors name."""

    def __init__(self, text: str, path: str, format: str) -> None:
        self.text = text
        self.path = path
        self.format = format

    def broken(self, reason: str, start: int, hint: str = "") -> DocumentError:
        """The format is not kept from this character on."""
        place = place_of(self.text, start, start)
        at = f"at line {place.line}, column {place.column}"
        return DocumentError(f"{self.format} parse error {at}: {reason}", self.path, place, hint)

    def refused(self, message: str, start: int, end: int, hint: str = "") -> DocumentError:
        """The format is kept, but these characters are more than we take."""
        return DocumentError(message, self.path, place_of(self.text, start, end), hint)

    def repeated(self, name: str, start: int, end: int, first: int) -> DocumentError:
        """A key stands here that has stood at `first` already."""
        ##= man/spec/service.md#configuration
        ##% A key that stands twice in a table MUST be an error that tells both places, in every format.
        before = place_of(self.text, first, first)
        message = f"duplicate key `{name}`, which stands at line {before.line}, column {before.column} already"
        return self.refused(message, start, end, "keep one of them")

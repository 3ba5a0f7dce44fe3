"""Text that nobody may see."""

from __future__ import annotations


class Secret:
    """A secret; what is printed of it by accident doesn't tell it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The secret itself, for who it is meant for."""
        return self._text

    def __repr__(self) -> str:
        ##= man/spec/service.md#configuration
        ##% The value of a secret, or of a variable, MUST NOT be shown by any message, hint or excerpt.
        return "Secret(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

"""Keys of providers, which nobody gets to see."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from duvet.config.secret import Secret
from duvet.config.service.providers import ProviderKind, ProviderSection
from duvet.llm.words import plain

HIDDEN = "***"
"""Stands in the place of what is covered up."""
_SHORTEST = 4
"""Anything shorter stands in any text."""


class Usual(Struct, frozen=True):
    """The provider that a kind is named after: where it is, and which variable mostly holds its key."""

    base_url: str
    variable: str


USUAL: Mapping[ProviderKind, Usual] = {
    ProviderKind.OPENAI: Usual("https://api.openai.com/v1", "OPENAI_API_KEY"),
    ProviderKind.ANTHROPIC: Usual("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
}


class Key(Secret):
    """The key of a provider, and what has to be done to keep it."""

    __slots__ = ()

    @property
    def is_sendable(self) -> bool:
        """Whether a header can carry it."""
        return self._text.isascii() and self._text.isprintable() and " " not in self._text

    def hidden_in(self, text: str) -> str:
        """The text with the secret covered up, and without what can't be seen where that takes it apart."""
        if len(self._text) < _SHORTEST:
            return text
        # What is shown of a text has nothing in it that can't be seen: the secret would be one again.
        cleaned = plain(text)
        return cleaned.replace(self._text, HIDDEN) if self._text in cleaned else text


def key_of(section: ProviderSection, environ: Mapping[str, str]) -> Key | None:
    """The key of a provider whose variables are expanded; that of the environment only where it belongs."""
    text = None if section.api_key is None else section.api_key.reveal()
    if text is None and is_usual(section):
        ##= man/spec/ask.md#keys
        ##% A key that the environment has, and the configuration doesn't name, MUST be sent to the host of OpenAI or
        ##% Anthropic that it belongs to, and to no other.
        text = environ.get(USUAL[section.kind].variable)
    text = (text or "").strip()
    return Key(text) if text else None


def is_usual(section: ProviderSection) -> bool:
    """Whether it is the provider that its kind is named after."""
    usual = USUAL.get(section.kind)
    return usual is not None and (section.base_url or usual.base_url).rstrip("/") == usual.base_url

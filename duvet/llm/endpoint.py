"""Where a provider answers, and whether it may be asked there."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from msgspec import Struct

from duvet.config.service.providers import ProviderSection
from duvet.errors import DuvetError
from duvet.llm.addresses import is_here, is_safe, parts_of
from duvet.llm.key import HIDDEN, USUAL, Key
from duvet.llm.words import plain

_LONG = 8
"""Shorter parts of a URL stand in many words, and are no secrets."""


class Endpoint(Struct, frozen=True):
    """Where a provider answers, with what it wants to be shown, and how much patience there is for it."""

    name: str
    base: str
    key: Key | None
    timeout: float
    retries: int

    @property
    def origin(self) -> str:
        """Its host without any path."""
        parts = urlsplit(self.base)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        return is_here(urlsplit(self.base))

    def without_key(self, text: str) -> str:
        """What it says, decoded: as JSON has it, a key can be written in many ways."""
        ##= man/spec/ask.md#keys
        ##% A key MUST NOT be shown or logged, whatever a provider answers.
        return self.key.hidden_in(text) if self.key else text

    def without_address(self, text: str) -> str:
        """What it says of an error, cleaned, without the key and without where it is."""
        ##= man/spec/ask.md#keys
        ##% The `baseUrl` of a provider MUST NOT be shown or logged where a call goes wrong, neither its host nor a secret
        ##% in its path.
        pieces = "|".join(map(re.escape, sorted(self._telling, key=len, reverse=True)))
        return re.sub(pieces, HIDDEN, plain(self.without_key(text)), flags=re.IGNORECASE)

    @property
    def _telling(self) -> set[str]:
        """The parts of its URL that tell where it is, or may be a secret."""
        parts = urlsplit(self.base)
        pieces = [parts.netloc, parts.hostname or "", *parts.path.split("/")]
        return {self.base, self.origin, *[piece for piece in pieces if len(piece) >= _LONG]}


def endpoint_of(name: str, section: ProviderSection, key: Key | None) -> Endpoint:
    """The endpoint of a provider; DuvetError where nothing may be sent there."""
    base = (section.base_url or USUAL[section.kind].base_url).rstrip("/")
    _check(name, base)
    if key is not None and not key.is_sendable:
        raise DuvetError(f"the key of {name} can't be sent: it holds blanks, or what is not ASCII")
    return Endpoint(name, base, key, section.timeout, section.retries)


def _check(name: str, base: str) -> None:
    parts = parts_of(base)
    # The URL itself is not told: it may hold a password.
    if parts is None:
        raise DuvetError(f"the baseUrl of {name} is not one", hint="give it as https://HOST/PATH, and a key as apiKey")
    ##= man/spec/ask.md#keys
    ##% A provider MUST be reached over HTTPS, unless it is on this machine.
    if not is_safe(parts):
        raise DuvetError(f"the baseUrl of {name} is not https", hint="http:// is for models on this machine")

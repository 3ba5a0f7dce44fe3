"""Addresses and keys of providers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from duvet.config.service_tables import ProviderKind, ProviderSection
from duvet.config.settings import Secret
from duvet.errors import DuvetError
from duvet.llm.records import strip_invisible


def parse_base_url(base: str) -> SplitResult | None:
    """The parts of a URL of the web that holds neither a user, nor a query, nor a fragment; None where it is none."""
    try:
        parts = urlsplit(base)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    is_plain = base.isascii() and base.isprintable() and not set(base) & set(" \\?#") and "@" not in parts.netloc
    return parts if is_one and is_plain else None


def is_safe_address(parts: SplitResult) -> bool:
    """Whether nobody else hears what is sent there: it is encrypted, or stays on this machine."""
    return parts.scheme == "https" or is_local_address(parts)


def is_local_address(parts: SplitResult) -> bool:
    """Whether it is on this machine."""
    host = parts.hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


HIDDEN_KEY = "***"
"""Stands in the place of what is covered up."""
_SHORTEST = 4
"""Anything shorter stands in any text."""


class ProviderDefaults(Struct, frozen=True):
    """The provider that a kind is named after: where it is, and which variable mostly holds its key."""

    base_url: str
    variable: str


PROVIDER_DEFAULTS: Mapping[ProviderKind, ProviderDefaults] = {
    ProviderKind.OPENAI: ProviderDefaults("https://api.openai.com/v1", "OPENAI_API_KEY"),
    ProviderKind.ANTHROPIC: ProviderDefaults("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
}


class ProviderKey(Secret):
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
        cleaned = strip_invisible(text)
        return cleaned.replace(self._text, HIDDEN_KEY) if self._text in cleaned else text


def find_provider_key(section: ProviderSection, environ: Mapping[str, str]) -> ProviderKey | None:
    """The key of a provider whose variables are expanded; that of the environment only where it belongs."""
    text = None if section.api_key is None else section.api_key.reveal()
    if text is None and is_default_provider(section):
        ##= man/spec/ask.md#keys
        ##% duvet MUST NOT send an OpenAI or Anthropic key that it finds in the environment to any other host, unless
        ##% the configuration names its variable.
        text = environ.get(PROVIDER_DEFAULTS[section.kind].variable)
    text = (text or "").strip()
    return ProviderKey(text) if text else None


def is_default_provider(section: ProviderSection) -> bool:
    """Whether it is the provider that its kind is named after."""
    usual = PROVIDER_DEFAULTS.get(section.kind)
    return usual is not None and (section.base_url or usual.base_url).rstrip("/") == usual.base_url


_LONG = 8
"""Shorter parts of a URL stand in many words, and are no secrets."""


class Endpoint(Struct, frozen=True):
    """Where a provider answers, with what it wants to be shown, and how much patience there is for it."""

    name: str
    base: str
    key: ProviderKey | None
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
        return is_local_address(urlsplit(self.base))

    def without_key(self, text: str) -> str:
        """What it says, decoded: as JSON has it, a key can be written in many ways."""
        ##= man/spec/ask.md#keys
        ##% duvet MUST NOT show or log a provider's key, nor its `baseUrl` when a call fails.
        return self.key.hidden_in(text) if self.key else text

    def without_address(self, text: str) -> str:
        """What it says of an error, cleaned, without the key and without where it is."""
        pieces = "|".join(map(re.escape, sorted(self._telling, key=len, reverse=True)))
        return re.sub(pieces, HIDDEN_KEY, strip_invisible(self.without_key(text)), flags=re.IGNORECASE)

    @property
    def _telling(self) -> set[str]:
        """The parts of its URL that tell where it is, or may be a secret."""
        parts = urlsplit(self.base)
        pieces = [parts.netloc, parts.hostname or "", *parts.path.split("/")]
        return {self.base, self.origin, *[piece for piece in pieces if len(piece) >= _LONG]}


def make_endpoint(name: str, section: ProviderSection, key: ProviderKey | None) -> Endpoint:
    """The endpoint of a provider; DuvetError where nothing may be sent there."""
    base = (section.base_url or PROVIDER_DEFAULTS[section.kind].base_url).rstrip("/")
    _check(name, base)
    if key is not None and not key.is_sendable:
        raise DuvetError(f"the key of {name} can't be sent: it holds blanks, or what is not ASCII")
    return Endpoint(name, base, key, section.timeout, section.retries)


def _check(name: str, base: str) -> None:
    parts = parse_base_url(base)
    # The URL itself is not told: it may hold a password.
    if parts is None:
        raise DuvetError(f"the baseUrl of {name} is not one", hint="give it as https://HOST/PATH, and a key as apiKey")
    ##= man/spec/ask.md#keys
    ##% duvet MUST reach a provider over HTTPS unless it runs on the same machine, and MUST NOT follow its redirects.
    if not is_safe_address(parts):
        raise DuvetError(f"the baseUrl of {name} is not https", hint="http:// is for models on this machine")

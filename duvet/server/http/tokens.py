"""Access tokens and their scopes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest

from msgspec import Struct

from duvet.errors import QueryError
from duvet.tools.tool import Scope

_READER = ("DUVET_READER_TOKEN", "KM_READER_TOKEN")
_ADMIN = ("DUVET_ADMIN_TOKEN", "KM_ADMIN_TOKEN")
_VISIBLE = re.compile(r"[\x21-\x7e]+")


class TokenHolder(Struct, frozen=True):
    """The owner of a token or, without configured tokens, any caller."""

    name: str
    scopes: frozenset[Scope]


READER_HOLDER = TokenHolder("reader", frozenset({Scope.READER}))
ADMIN_HOLDER = TokenHolder("admin", frozenset(Scope))


class AccessTokens(Struct, frozen=True):
    """Digests of the known tokens, all of the same length, with their holders."""

    known: tuple[tuple[bytes, TokenHolder], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.known)

    def holder(self, token: str) -> TokenHolder | None:
        """Return the holder of a token, or None; compares in constant time."""
        digest = _digest(token)
        holders = [holder for known, holder in self.known if compare_digest(known, digest)]
        return holders[0] if holders else None


def read_tokens(environ: Mapping[str, str]) -> AccessTokens:
    reader, admin = read_raw_tokens(environ)
    return AccessTokens(
        tuple((_digest(token), holder) for holder, token in ((ADMIN_HOLDER, admin), (READER_HOLDER, reader)) if token)
    )


def read_local_scopes(environ: Mapping[str, str]) -> frozenset[Scope]:
    """Return the scopes of local callers, who send no token."""
    ##= man/spec/gateway.md#access
    ##% On standard input and output and in the shell, a caller MUST have all scopes, unless only a reader's token is
    ##% set.
    reader, admin = read_raw_tokens(environ)
    return (READER_HOLDER if reader and not admin else ADMIN_HOLDER).scopes


def read_raw_tokens(environ: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Return the reader's and the maintainer's token as plain text, to send them to a gateway."""
    reader, admin = _read_token(environ, _READER), _read_token(environ, _ADMIN)
    if admin and admin == reader:
        raise QueryError(
            f"{_READER[0]} and {_ADMIN[0]} are the same",
            hint="use two different tokens; otherwise every reader has maintainer access",
        )
    return reader, admin


def _read_token(environ: Mapping[str, str], names: tuple[str, str]) -> str | None:
    values = {name: environ[name] for name in names if name in environ}
    ##= man/spec/mcp.md#http
    ##% duvet MUST refuse to start if a token is empty or has different values in its two environment variables.
    for name, value in values.items():
        if not _VISIBLE.fullmatch(value):
            fault = "contains characters that are not allowed in an HTTP header" if value else "is empty"
            raise QueryError(f"{name} {fault}", hint="set it to one or more visible ASCII characters, or unset it")
    if len(set(values.values())) > 1:
        raise QueryError(f"{names[0]} and {names[1]} differ", hint="both set the same token; unset one of them")
    return next(iter(values.values()), None)


def _digest(token: str) -> bytes:
    return sha256(token.encode("latin-1", "replace")).digest()

"""Whose token a request shows, and by what its requests are counted."""

from __future__ import annotations

from starlette.types import Scope

from duvet.server.http.hosts import headers_named
from duvet.server.http.rate import client_of
from duvet.server.http.tokens import Holder, Tokens


def holder_of(scope: Scope, tokens: Tokens) -> Holder | None:
    """Who shows a token that is known, and no other."""
    shown = headers_named(scope, b"authorization")
    if len(shown) != 1:
        return None
    scheme, _, token = shown[0].partition(" ")
    return tokens.holder(token.strip()) if scheme.lower() == "bearer" else None


def payer_of(scope: Scope, tokens: Tokens) -> str:
    """A token that is known, or else an address: whoever shows another one pays for it where it is."""
    ##= man/spec/gateway.md#access
    ##% A caller with a token MUST be counted by that token, wherever it is, and any other by its address, where requests
    ##% are limited.
    holder = holder_of(scope, tokens) if tokens else None
    return f"token {holder.name}" if holder else client_of(scope)

"""Who may come in."""

from __future__ import annotations

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.types import ASGIApp, Receive, Scope, Send

from duvet.server.caller import calling
from duvet.server.http.answers import Refusal, refuse
from duvet.server.http.holders import holder_of
from duvet.server.http.hosts import headers_named
from duvet.server.http.tokens import ADMIN, READER, Holder, Tokens
from duvet.tools.errors import Code

_CHALLENGE = 'Bearer realm="duvet"'


class BearerGuard:
    """Lets callers through that show a token, and says for their requests what they may do."""

    def __init__(self, app: ASGIApp, tokens: Tokens) -> None:
        self._app = app
        self._tokens = tokens
        # The SDK holds who uses a session against who has begun it.
        self._users = {holder: _user(holder) for holder in (READER, ADMIN)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        shown = headers_named(scope, b"authorization") if self._tokens else []
        holder = self._holder(scope)
        if holder is None:
            await refuse(scope, send, _unauthorized(bool(shown)))
            return
        ##= man/spec/mcp.md#http
        ##% A session MUST NOT be used with another token than the one that it was begun with.
        with calling(holder.scopes, holder.name):
            await self._app({**scope, "user": self._users[holder]}, receive, send)

    def _holder(self, scope: Scope) -> Holder | None:
        ##= man/spec/mcp.md#http
        ##% Without tokens, callers MUST NOT do more than read.
        if not self._tokens:
            return READER
        return holder_of(scope, self._tokens)


def _user(holder: Holder) -> AuthenticatedUser:
    return AuthenticatedUser(AccessToken(token="", client_id=holder.name, scopes=sorted(holder.scopes)))


def _unauthorized(is_wrong: bool) -> Refusal:
    ##= man/spec/mcp.md#http
    ##% With tokens, a request to `/mcp` that doesn't show one of them MUST be refused with 401 and a `WWW-Authenticate`.
    challenge = f'{_CHALLENGE}, error="invalid_token"' if is_wrong else _CHALLENGE
    return Refusal(
        status=401,
        code=Code.UNAUTHORIZED,
        message="This token is not known" if is_wrong else "A token is needed",
        hint="send Authorization: Bearer TOKEN",
        headers=(("www-authenticate", challenge),),
    )

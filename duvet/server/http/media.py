"""Which media `/mcp` takes."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from duvet.server.http.answers import Refusal, refuse
from duvet.server.http.hosts import headers_named
from duvet.tools.errors import Code

METHODS = ("GET", "POST", "DELETE")
_OTHER_MEDIA = Refusal(
    status=415,
    code=Code.INVALID_REQUEST,
    message="A message is application/json",
    headers=(("accept", "application/json"),),
)
_OTHER_ACCEPTED = Refusal(
    status=406,
    code=Code.INVALID_REQUEST,
    message="Answers are application/json or text/event-stream",
    hint="accept both",
)
_JSON = ("application/json", "application/*", "*/*")
_EVENTS = ("text/event-stream", "text/*", "*/*")


class MediaGuard:
    """Lets requests through that the SDK understands."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if refusal := _refusal(scope):
            await refuse(scope, send, refusal)
        else:
            await self._app(scope, receive, send)


def _refusal(scope: Scope) -> Refusal | None:
    ##= man/spec/mcp.md#http
    ##% What is not served MUST be refused in JSON: another path with 404, another method with 405, another medium with 415,
    ##% and a client that doesn't accept the media of answers with 406.
    method = scope["method"]
    if method == "POST" and _media(scope, b"content-type") != ["application/json"]:
        return _OTHER_MEDIA
    accepted = _media(scope, b"accept")
    wanted = {"POST": (_JSON, _EVENTS), "GET": (_EVENTS,)}.get(method, ())
    return None if all(set(accepted) & set(one) for one in wanted) else _OTHER_ACCEPTED


def _media(scope: Scope, header: bytes) -> list[str]:
    values = ",".join(headers_named(scope, header)).split(",")
    return [value.partition(";")[0].strip().lower() for value in values]

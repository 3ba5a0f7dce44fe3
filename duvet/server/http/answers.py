"""What the server answers when it doesn't let a request through."""

from __future__ import annotations

import math
from collections.abc import Mapping

from msgspec import Struct, json
from starlette.types import Scope, Send

from duvet.tools.errors import Code

API = "/api/"


class Refusal(Struct, frozen=True, kw_only=True):
    """A status, and what a client can do about it."""

    status: int
    code: Code
    message: str
    hint: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    details: object = None


def too_busy(status: int, message: str, seconds: float) -> Refusal:
    """To be tried again after so many seconds."""
    headers = (("retry-after", str(max(1, math.ceil(seconds)))),)
    return Refusal(status=status, code=Code.UPSTREAM_ERROR, message=message, hint="try again later", headers=headers)


async def refuse(scope: Scope, send: Send, refusal: Refusal) -> None:
    """Answer with it."""
    error = complaint(scope, refusal.code, refusal.message, refusal.hint)
    details = {} if refusal.details is None else {"details": refusal.details}
    await answer(send, refusal.status, json.encode({**error, **details}), dict(refusal.headers))


def complaint(scope: Scope, code: Code, message: str, hint: str) -> dict[str, object]:
    """What went wrong, in the shape that is usual below a path."""
    ##= man/spec/service.md#rest
    ##% Below `/api`, `error` MUST be the sentence that tells what went wrong, with `code` and `hint` beside it.
    if scope["path"].startswith(API):
        return {"status": "error", "error": message, "code": code.value, "hint": hint}
    return {"status": "error", "error": {"code": code.value, "message": message, "hint": hint}}


async def answer(send: Send, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
    """Send JSON as a whole."""
    await answer_with(send, status, body, "application/json", headers)


async def answer_with(
    send: Send, status: int, body: bytes, media: str, headers: Mapping[str, str] | None = None
) -> None:
    """Send a body as a whole."""
    given = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    length = str(len(body)).encode()
    fixed = [(b"content-type", media.encode()), (b"content-length", length), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": [*fixed, *given]})
    await send({"type": "http.response.body", "body": body})

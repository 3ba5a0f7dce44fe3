"""What the server answers when it doesn't let a request through."""

from __future__ import annotations

import math
from collections.abc import Mapping

from msgspec import Struct, json
from starlette.types import Send

from duvet.tools.errors import Code


class Refusal(Struct, frozen=True, kw_only=True):
    """A status, and what a client can do about it."""

    status: int
    code: Code
    message: str
    hint: str = ""
    headers: tuple[tuple[str, str], ...] = ()


def too_busy(status: int, message: str, seconds: float) -> Refusal:
    """To be tried again after so many seconds."""
    headers = (("retry-after", str(max(1, math.ceil(seconds)))),)
    return Refusal(status=status, code=Code.UPSTREAM_ERROR, message=message, hint="try again later", headers=headers)


async def refuse(send: Send, refusal: Refusal) -> None:
    """Answer with it."""
    error = {"code": refusal.code.value, "message": refusal.message, "hint": refusal.hint}
    body = json.encode({"status": "error", "error": error})
    await answer(send, refusal.status, body, dict(refusal.headers))


async def answer(send: Send, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
    """Send JSON as a whole."""
    given = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    length = str(len(body)).encode()
    fixed = [(b"content-type", b"application/json"), (b"content-length", length), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": [*fixed, *given]})
    await send({"type": "http.response.body", "body": body})

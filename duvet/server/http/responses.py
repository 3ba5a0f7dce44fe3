"""JSON responses and refusals: turns every failure into an HTTP answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, json
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Scope, Send

from duvet.tools.tool import ErrorCode, MissingArgumentError, ToolError

API_PREFIX = "/api/"
_STATUS_BY_CODE = {
    ErrorCode.INVALID_REQUEST: 400,
    ErrorCode.INVALID_IDENTIFIER: 400,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.RECIPE_NOT_FOUND: 404,
    ErrorCode.UNAUTHORIZED: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.UNSUPPORTED_OPERATION: 400,
    ErrorCode.ASSERT_FAILED: 409,
    ErrorCode.TIMEOUT: 504,
    ErrorCode.UPSTREAM_ERROR: 503,
    ErrorCode.CANCELLED: 503,
}
_DEFECT_STATUS = 500
_STATUS_BY_MODEL_FAULT = {"rate_limited": 503, "unavailable": 503, "timeout": 504}
_CODE_BY_STATUS = {404: ErrorCode.NOT_FOUND, 405: ErrorCode.UNSUPPORTED_OPERATION}


class HttpRefusal(Struct, frozen=True, kw_only=True):
    status: int
    code: ErrorCode
    message: str
    hint: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    details: object = None


UNEXPECTED_ERROR = HttpRefusal(status=500, code=ErrorCode.UPSTREAM_ERROR, message="Internal server error")


def make_busy_refusal(status: int, message: str, seconds: float, *headers: tuple[str, str]) -> HttpRefusal:
    return HttpRefusal(
        status=status,
        code=ErrorCode.UPSTREAM_ERROR,
        message=message,
        hint="try again later",
        headers=(("retry-after", str(max(1, math.ceil(seconds)))), *headers),
    )


def make_tool_refusal(error: ToolError, headers: Mapping[str, str]) -> HttpRefusal:
    message = error.message
    if isinstance(error, MissingArgumentError):
        message = f"Missing required parameter: {error.argument}"
    return HttpRefusal(
        status=_find_status(error),
        code=error.code,
        message=message,
        hint=error.hint,
        headers=tuple(headers.items()),
        details=error.details,
    )


def _find_status(error: ToolError) -> int:
    """Return the HTTP status of an error; for a workflow, that of the failure that ended it."""
    ##= man/spec/service.md#rest
    ##% The server MUST answer 503 only if the same call can succeed later.
    if error.code is ErrorCode.MODEL_FAILED:
        return _STATUS_BY_MODEL_FAULT.get(error.cause, _DEFECT_STATUS)
    code = error.cause if error.code is ErrorCode.TOOL_FAILED else error.code
    return _STATUS_BY_CODE.get(ErrorCode(code), _DEFECT_STATUS) if code in {*ErrorCode} else _DEFECT_STATUS


def make_error_body(path: str, code: ErrorCode, message: str, hint: str = "") -> dict[str, object]:
    if path.startswith(API_PREFIX):
        return {"status": "error", "error": message, "code": code.value, "hint": hint}
    return {"status": "error", "error": {"code": code.value, "message": message, "hint": hint}}


async def send_refusal(scope: Scope, send: Send, refusal: HttpRefusal) -> None:
    error = make_error_body(scope["path"], refusal.code, refusal.message, refusal.hint)
    details = {} if refusal.details is None else {"details": refusal.details}
    await send_json(send, refusal.status, json.encode({**error, **details}), dict(refusal.headers))


async def send_json(send: Send, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
    await send_body(send, status, body, "application/json", headers)


async def send_body(
    send: Send, status: int, body: bytes, media_type: str, headers: Mapping[str, str] | None = None
) -> None:
    fixed = {"content-type": media_type, "content-length": str(len(body)), "cache-control": "no-store"}
    pairs = [(name.encode(), value.encode()) for name, value in [*fixed.items(), *(headers or {}).items()]]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


async def _refuse_route(request: Request, error: HTTPException) -> Response:
    code = _CODE_BY_STATUS.get(error.status_code, ErrorCode.INVALID_REQUEST)
    return JSONResponse(
        make_error_body(request.scope["path"], code, error.detail), error.status_code, headers=error.headers
    )


async def _refuse_failure(request: Request, error: Exception) -> Response:
    return JSONResponse(make_error_body(request.scope["path"], ErrorCode.UPSTREAM_ERROR, "Internal error"), 500)


ERROR_HANDLERS: Mapping[Any, Any] = {HTTPException: _refuse_route, Exception: _refuse_failure}
"""Exception handlers of the application: for unknown paths, wrong methods and defects."""


def get_headers(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]

"""What goes wrong outside of the protocol, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from duvet.server.http.answers import complaint
from duvet.tools.errors import Code

_CODES = {404: Code.NOT_FOUND, 405: Code.UNSUPPORTED_OPERATION}


def handlers() -> Mapping[Any, Any]:
    """What answers to a path that isn't there, to another method, and to a bug of ours."""
    return {HTTPException: _refused, Exception: _failed}


async def _refused(request: Request, error: HTTPException) -> Response:
    code = _CODES.get(error.status_code, Code.INVALID_REQUEST)
    return _response(request, error.status_code, code, error.detail, error.headers)


async def _failed(request: Request, error: Exception) -> Response:
    return _response(request, 500, Code.UPSTREAM_ERROR, "Internal error", None)


def _response(request: Request, status: int, code: Code, message: str, headers: Mapping[str, str] | None) -> Response:
    return JSONResponse(complaint(request.scope, code, message, ""), status, headers=headers)

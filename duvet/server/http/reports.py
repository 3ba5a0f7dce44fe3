"""`/api/v1`: the reports about what was taken in, as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

import msgspec
from starlette.types import Receive, Scope, Send

from duvet.server.caller import scopes
from duvet.server.http.answers import Refusal, answer, refuse
from duvet.server.http.rest import STATUSES, UNFORESEEN
from duvet.server.protocol.guard import LOG
from duvet.tools.ctx import Caller
from duvet.tools.desk import Desk
from duvet.tools.errors import Code, ToolError
from duvet.tools.faces import REST

COVERAGE, LIFECYCLE, HISTORY = "/api/v1/coverage", "/api/v1/lifecycle", "/api/v1/lifecycle/history"
PATHS = (COVERAGE, LIFECYCLE, HISTORY)
_TOOLS = {COVERAGE: "km-coverage-summary", LIFECYCLE: "km-lifecycle-report", HISTORY: "km-lifecycle-report"}
_USUAL, _MOST = 10, 100
_NUMBER = re.compile("[0-9]{1,9}")


class Reports:
    """Answers with what the tools that report answer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        try:
            ##= man/spec/gateway.md#access
            ##% `GET /api/v1/coverage`, `/api/v1/lifecycle` and `/api/v1/lifecycle/history` MUST answer the reports themselves
            ##% to those who may call the tools that make them, and 404 where nothing was taken in.
            found = await self._found(path, _limit(scope) if path == HISTORY else None)
        except ToolError as error:
            await refuse(scope, send, _refusal(path, error))
        except Exception:  # noqa: BLE001 - the caller is told nothing of it
            ##= man/spec/gateway.md#access
            ##% No answer and no line of the log MUST hold a token or, but for why a store can't be read, the text of an
            ##% exception, nor, but for the `stored_path` of a file that was handed in, the folder of the project.
            LOG.exception("%s failed", path)
            await refuse(scope, send, UNFORESEEN)
        else:
            await answer(send, 200, msgspec.json.encode(found))

    async def _found(self, path: str, limit: int | None) -> object:
        given: dict[str, Any] = {} if limit is None else {"history": limit, "limit": 1}
        caller = Caller(scopes=scopes(), face=REST)
        value = (await self._desk.call(_TOOLS[path], given, caller)).value
        return value if limit is None else {"status": "ok", "history": _history(value)}


def _history(report: object) -> object:
    value: Mapping[str, Any] = msgspec.to_builtins(report)
    return value["history"]


def _limit(scope: Scope) -> int:
    """How many earlier reports are asked for; ToolError where that is no number of them."""
    given = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True).get("limit", [str(_USUAL)])
    if len(given) != 1 or not _NUMBER.fullmatch(given[0]) or not 1 <= int(given[0]) <= _MOST:
        raise ToolError(Code.INVALID_REQUEST, "limit is no number of reports", f"give one from 1 to {_MOST}")
    return int(given[0])


def _refusal(path: str, error: ToolError) -> Refusal:
    from duvet.tools.knowledge.known import NOTHING

    is_off = error.code is Code.NOT_FOUND
    if is_off or error.message == NOTHING:
        message = f"{'Coverage' if path == COVERAGE else 'Lifecycle'} report not found"
        hint = f"{_TOOLS[path]}, of the pack `knowledge`, is switched off" if is_off else error.hint
        return Refusal(status=404, code=Code.NOT_FOUND, message=message, hint=hint)
    status = STATUSES.get(error.code, 503)
    return Refusal(status=status, code=error.code, message=error.message, hint=error.hint)

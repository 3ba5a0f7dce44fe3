"""How services are closed, and how failures are described to callers."""

from __future__ import annotations

import anyio
import pytest

from duvet import rules
from duvet.errors import DuvetError, FetchError, NotFoundError, ProblemsError, QueryError, UnreadableError
from duvet.llm.records import SETUP_HINT, ModelError, ModelFault, NoModelError
from duvet.model import Place
from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import ToolDispatcher, ToolEnvironment
from duvet.tools.packs import Registry
from duvet.tools.tool import ErrorCode, make_tool_error
from tests.unit.tools.made import Fixed


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_all_services_are_closed_even_where_others_fail_or_hang(context: ProjectSnapshot, is_cancelled: bool) -> None:
    closed: list[bool] = []

    async def fail() -> None:
        raise RuntimeError("it is stuck")

    async def close() -> None:
        await anyio.lowlevel.checkpoint()
        closed.append(True)

    async def close_all() -> None:
        closers = [close] if is_cancelled else [fail, anyio.sleep_forever, close]
        with anyio.fail_after(30), anyio.CancelScope() as scope:
            if is_cancelled:
                scope.cancel()
            environment = ToolEnvironment(closers=closers, patience=0.1)
            await ToolDispatcher(Registry(), Fixed(context), environment).aclose()

    anyio.run(close_all)
    assert closed == [True]


AGAIN = "put that right and ask again: what is on disk then is read"
FAULT = rules.CONFIG_SYNTAX.problem("this is no TOML", ".duvet/config.toml", Place(3, 1))


@pytest.mark.parametrize(
    ("error", "code", "message", "hint"),
    [
        # The project is read again with the next call.
        (UnreadableError("gone", path="a.md"), "upstream_error", "a.md: gone", AGAIN),
        (FetchError("the host is away"), "upstream_error", "the host is away", AGAIN),
        (ProblemsError((FAULT,)), "upstream_error", ".duvet/config.toml:3: this is no TOML", AGAIN),
        (UnreadableError("gone", path="/home/a/b.md", hint="look"), "upstream_error", "b.md: gone", "look"),
        # Nothing else is.
        (ModelError(ModelFault.TOO_LARGE, "too much"), "upstream_error", "too much", ""),
        (ModelError(ModelFault.TIMEOUT, "late", hint="wait"), "upstream_error", "late", "wait"),
        (NoModelError(), "upstream_error", "no model is set up", SETUP_HINT),
        (DuvetError("the answer is no JSON"), "upstream_error", "the answer is no JSON", ""),
        (NotFoundError("no such page", path="a.md"), "not_found", "a.md: no such page", ""),
        (QueryError("what?"), "invalid_request", "what?", ""),
    ],
)
def test_an_error_is_described_with_what_to_do(error: DuvetError, code: str, message: str, hint: str) -> None:
    ##= man/spec/mcp.md#freshness
    ##= type=test
    ##% While the project cannot be read, the server MUST answer each request with the reason, and recover without a
    ##% restart.
    found = make_tool_error(error)
    assert (found.code, found.message, found.hint) == (ErrorCode(code), message, hint)

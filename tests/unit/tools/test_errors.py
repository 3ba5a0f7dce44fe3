"""What callers are told of failures, and what they can do about them."""

from __future__ import annotations

import pytest

from duvet import rules
from duvet.errors import DuvetError, FetchError, NotFoundError, ProblemsError, QueryError, UnreadableError
from duvet.llm.records import SETUP_HINT, ModelError, ModelFault, NoModelError
from duvet.model import Place
from duvet.tools.tool import ErrorCode, make_tool_error

AGAIN = "put that right and ask again: what is on disk then is read"
FAULT = rules.CONFIG_SYNTAX.problem("this is no TOML", ".duvet/config.toml", Place(3, 1))


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (UnreadableError("gone", path="a.md"), (ErrorCode.UPSTREAM_ERROR, "a.md: gone", AGAIN)),
        (FetchError("the host is away"), (ErrorCode.UPSTREAM_ERROR, "the host is away", AGAIN)),
        (ProblemsError((FAULT,)), (ErrorCode.UPSTREAM_ERROR, ".duvet/config.toml:3: this is no TOML", AGAIN)),
        (UnreadableError("gone", path="/home/a/b.md", hint="look"), (ErrorCode.UPSTREAM_ERROR, "b.md: gone", "look")),
    ],
)
def test_a_project_is_read_again(error: DuvetError, told: tuple[ErrorCode, str, str]) -> None:
    found = make_tool_error(error)
    assert (found.code, found.message, found.hint) == told


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            ModelError(ModelFault.TOO_LARGE, "one answers too much"),
            (ErrorCode.UPSTREAM_ERROR, "one answers too much", ""),
        ),
        (ModelError(ModelFault.TIMEOUT, "late", hint="wait"), (ErrorCode.UPSTREAM_ERROR, "late", "wait")),
        (NoModelError(), (ErrorCode.UPSTREAM_ERROR, "no model is set up", SETUP_HINT)),
        (DuvetError("the answer is no JSON"), (ErrorCode.UPSTREAM_ERROR, "the answer is no JSON", "")),
        (NotFoundError("no such page", path="a.md"), (ErrorCode.NOT_FOUND, "a.md: no such page", "")),
        (QueryError("what?"), (ErrorCode.INVALID_REQUEST, "what?", "")),
    ],
)
def test_nothing_else_is_read_from_disk(error: DuvetError, told: tuple[ErrorCode, str, str]) -> None:
    ##= man/spec/mcp.md#freshness
    ##= type=test
    ##% While the project cannot be read, the server MUST answer each request with the reason, and recover without a
    ##% restart.
    found = make_tool_error(error)
    assert (found.code, found.message, found.hint) == told

"""What callers are told of failures, and what they can do about them."""

from __future__ import annotations

import pytest

from duvet import rules
from duvet.errors import DuvetError, FetchError, NotFoundError, QueryError, UnreadableError
from duvet.llm.errors import SETTING_UP, Fault, ModelError, NoModelError
from duvet.model import Place, ProblemsError
from duvet.tools.errors import Code, tool_error

AGAIN = "put that right and ask again: what is on disk then is read"
FAULT = rules.CONFIG_SYNTAX.problem("this is no TOML", ".duvet/config.toml", Place(3, 1))


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (UnreadableError("gone", path="a.md"), (Code.UPSTREAM_ERROR, "a.md: gone", AGAIN)),
        (FetchError("the host is away"), (Code.UPSTREAM_ERROR, "the host is away", AGAIN)),
        (ProblemsError((FAULT,)), (Code.UPSTREAM_ERROR, ".duvet/config.toml:3: this is no TOML", AGAIN)),
        (UnreadableError("gone", path="/home/a/b.md", hint="look"), (Code.UPSTREAM_ERROR, "b.md: gone", "look")),
    ],
)
def test_a_project_is_read_again(error: DuvetError, told: tuple[Code, str, str]) -> None:
    ##= man/spec/mcp.md#errors
    ##= type=test
    ##% A project that can't be read MUST be answered with a hint that it is read again once it is put right.
    found = tool_error(error)
    assert (found.code, found.message, found.hint) == told


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ModelError(Fault.TOO_LARGE, "one answers too much"), (Code.UPSTREAM_ERROR, "one answers too much", "")),
        (ModelError(Fault.TIMEOUT, "late", hint="wait"), (Code.UPSTREAM_ERROR, "late", "wait")),
        (NoModelError(), (Code.UPSTREAM_ERROR, "no model is set up", SETTING_UP)),
        (DuvetError("the answer is no JSON"), (Code.UPSTREAM_ERROR, "the answer is no JSON", "")),
        (NotFoundError("no such page", path="a.md"), (Code.NOT_FOUND, "a.md: no such page", "")),
        (QueryError("what?"), (Code.INVALID_REQUEST, "what?", "")),
    ],
)
def test_nothing_else_is_read_from_disk(error: DuvetError, told: tuple[Code, str, str]) -> None:
    ##= man/spec/mcp.md#errors
    ##= type=test
    ##% That hint MUST NOT be given for what goes wrong with anything else, such as a model.
    found = tool_error(error)
    assert (found.code, found.message, found.hint) == told

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from duvet import rules
from duvet.errors import DuvetError, FetchError, NotFoundError, ProblemsError, QueryError, UnreadableError
from duvet.knowledge.feedback import AuditEntry
from duvet.llm.records import SETUP_HINT, ModelError, ModelFault, NoModelError
from duvet.model import Place
from duvet.tools.call_context import Caller
from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import AuditLog, CallRecord, ToolDispatcher, ToolEnvironment, select_plain_arguments
from duvet.tools.packs import KNOWLEDGE, TRACE, Registry
from duvet.tools.tool import EnabledPack, ErrorCode, make_tool_error
from tests.unit.knowledge.stored_project import CLOCK, places
from tests.unit.tools.tool_calls import Fixed


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


def test_arguments_of_knowledge_tools_are_recorded_without_measures(context: ProjectSnapshot) -> None:
    seen: list[CallRecord] = []
    environment = ToolEnvironment(observers=[seen.append], measures=lambda: False)
    desk = ToolDispatcher(Registry([EnabledPack(TRACE), EnabledPack(KNOWLEDGE)]), Fixed(context), environment)
    for name, arguments in (("km-help", {"tool": "km-search"}), ("list_uncited_requirements", {"limit": 1})):
        anyio.run(desk.call, name, arguments, Caller())
    assert [(one.code, one.arguments, one.bytes_in) for one in seen] == [("", "tool=str(9)", 0), ("", "", 0)]


AGAIN = "fix the problem and try again; no restart is needed"
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
        (ModelError(ModelFault.TOO_LARGE, "too much"), "model_failed", "too much", ""),
        (ModelError(ModelFault.TIMEOUT, "late", hint="wait"), "model_failed", "late", "wait"),
        (NoModelError(), "model_failed", "no model is configured", SETUP_HINT),
        (DuvetError("the answer is no JSON"), "upstream_error", "the answer is no JSON", ""),
        (NotFoundError("no such page", path="a.md"), "not_found", "a.md: no such page", ""),
        (QueryError("what?"), "invalid_request", "what?", ""),
    ],
)
def test_an_error_is_described_with_what_to_do(error: DuvetError, code: str, message: str, hint: str) -> None:
    found = make_tool_error(error)
    assert (found.code, found.message, found.hint) == (ErrorCode(code), message, hint)


CALLED: dict[str, Any] = {"tool": "km-upload", "face": "rest", "request": "q1", "arguments": "source_path=str(3)"}
BY: dict[str, Any] = {"holder": "admin", "scopes": ("maintainer", "reader"), "given": {"source_path": "a.md"}}
CHANGE = CallRecord(pack="knowledge", scope="maintainer", seconds=0.25, changes=True, **CALLED, **BY)
WHO = {"who": "admin", "scopes": ["maintainer", "reader"], "parameters": {"source_path": "a.md"}}
WHEN = {"timestamp": CLOCK.isoformat(timespec="milliseconds"), "duration_seconds": 0.25}
LINE = {**CALLED, **WHEN, **WHO, "outcome": "success"}


def log_calls(folder: Path, *calls: Any) -> tuple[list[AuditEntry], list[str]]:
    told: list[AuditEntry] = []
    failed: list[str] = []
    log = AuditLog(lambda: places(folder), lambda: CLOCK, told.append, failed.append)
    for call in calls:
        anyio.run(log.record_call, call)
    return told, failed


def test_calls_that_change_something_are_logged(tmp_path: Path) -> None:
    ##= man/spec/gateway.md#audit
    ##% Before answering a permitted call to a tool that changes something, the server MUST write the time, the tool,
    ##% the outcome and the caller to `audit.jsonl`.
    failures = replace(CHANGE, code="upstream_error", holder="", has_failed=True), replace(CHANGE, has_failed=True)
    others = (replace(CHANGE, **more) for more in ({"code": "forbidden"}, {"code": "unauthorized"}, {"changes": False}))
    told, failed = log_calls(tmp_path, CHANGE, *failures, *others)
    lines = [json.loads(line) for line in Path(places(tmp_path).audit).read_text().splitlines()]
    assert lines == [LINE, {**LINE, "outcome": "upstream_error", "who": "local"}, {**LINE, "outcome": "failure"}]
    assert ([one.outcome for one in told], failed) == (["success", "upstream_error", "failure"], [])


def test_a_call_that_fails_makes_no_folder(tmp_path: Path) -> None:
    told, failed = log_calls(tmp_path, replace(CHANGE, code="upstream_error", holder=""))
    assert (len(told), failed, list(tmp_path.iterdir())) == (1, [], [])
    # A server logs every attempt of a named caller.
    assert log_calls(tmp_path, replace(CHANGE, code="upstream_error"))[1] == []
    assert os.path.exists(places(tmp_path).audit)
    # A log that can't be written is reported.
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".duvet").write_text("")
    told, failed = log_calls(tmp_path / "other", CHANGE)
    assert len(told) == len(failed) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
@pytest.mark.anyio
async def test_writing_the_log_does_not_block_other_calls(tmp_path: Path) -> None:
    from fcntl import LOCK_EX, LOCK_UN, flock

    failed: list[str] = []
    kept = places(tmp_path)
    with open(kept.prepare(kept.audit), "w") as file:  # noqa: ASYNC230 - it is empty
        flock(file, LOCK_EX)
        await AuditLog(lambda: kept, lambda: CLOCK, lambda deed: None, failed.append, patience=0).record_call(CHANGE)
        assert failed == ["writing takes longer than 0 seconds"]
        log = AuditLog(lambda: kept, lambda: CLOCK, lambda deed: None, failed.append)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(log.record_call, CHANGE)
            await anyio.wait_all_tasks_blocked()
            flock(file, LOCK_UN)
    assert len(failed) == 1
    assert LINE in [json.loads(line) for line in Path(kept.audit).read_text().splitlines()]


def test_only_plain_arguments_are_logged() -> None:
    ##= man/spec/gateway.md#audit
    ##% The audit log MUST NOT contain tokens, or the text of files, notes and uploads.
    given = {"note": "secret", "vote": 1.5, "profile": "x" * 5000, "dry_run": True, "paths": ["a"], "none": None}
    found = select_plain_arguments(given, ["vote", "profile", "dry_run", "paths", "none", "other"])
    assert {**found, "profile": ""} == {"vote": 1.5, "profile": "", "dry_run": True, "paths": "array(1)", "none": None}
    assert len(str(found["profile"])) < 320

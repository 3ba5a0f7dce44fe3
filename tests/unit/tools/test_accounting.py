"""The account of what is changed."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from duvet.knowledge.feedback import AuditEntry
from duvet.tools.audit import AuditLog, CallRecord, select_plain_arguments
from tests.unit.knowledge.stored import CLOCK, places

CHANGE = CallRecord(
    tool="km-upload",
    pack="knowledge",
    face="rest",
    request="q1",
    scope="maintainer",
    arguments="source_path=str(3)",
    seconds=0.25,
    changes=True,
    holder="admin",
    scopes=("maintainer", "reader"),
    given={"source_path": "a.md"},
)
LINE = {
    "timestamp": CLOCK.isoformat(timespec="milliseconds"),
    "tool": "km-upload",
    "outcome": "success",
    "face": "rest",
    "who": "admin",
    "scopes": ["maintainer", "reader"],
    "request": "q1",
    "duration_seconds": 0.25,
    "arguments": "source_path=str(3)",
    "parameters": {"source_path": "a.md"},
}


def saw(folder: Path, *calls: Any) -> tuple[list[AuditEntry], list[str]]:
    told: list[AuditEntry] = []
    failed: list[str] = []
    accountant = AuditLog(lambda: places(folder), lambda: CLOCK, told.append, failed.append)
    for call in calls:
        anyio.run(accountant.saw, call)
    return told, failed


def changed(**more: Any) -> CallRecord:
    return CallRecord(**{name: getattr(CHANGE, name) for name in CHANGE.__struct_fields__} | more)


def test_what_is_written_down(tmp_path: Path) -> None:
    told, failed = saw(
        tmp_path,
        CHANGE,
        changed(code="upstream_error", holder="", has_failed=True),
        changed(has_failed=True),
        changed(code="forbidden"),
        changed(code="unauthorized"),
        changed(changes=False),
    )
    lines = [json.loads(line) for line in Path(places(tmp_path).audit).read_text().splitlines()]
    assert lines == [
        LINE,
        {**LINE, "outcome": "upstream_error", "who": "local"},
        {**LINE, "outcome": "failure"},
    ]
    assert ([one.outcome for one in told], failed) == (["success", "upstream_error", "failure"], [])


def test_what_fails_makes_no_folder(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#storage
    ##= type=test
    ##% duvet MUST NOT create an index in order to read, and MUST say when the project is not indexed yet.
    told, failed = saw(tmp_path, changed(code="upstream_error", holder=""))
    assert (len(told), failed, list(tmp_path.iterdir())) == (1, [], [])
    # A server is to account for whoever has tried.
    assert saw(tmp_path, changed(code="upstream_error"))[1] == []
    assert os.path.exists(places(tmp_path).audit)


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / ".duvet").write_text("")
    told, failed = saw(tmp_path, CHANGE)
    assert len(told) == len(failed) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
@pytest.mark.anyio
async def test_others_are_answered_while_it_is_written(tmp_path: Path) -> None:
    ##= man/spec/gateway.md#audit
    ##= type=test
    ##% For each call of a tool that changes something, the server MUST write time, tool, outcome and caller to
    ##% `audit.jsonl` and the log before it answers, or log a delay of more than 10 seconds.
    from fcntl import LOCK_EX, LOCK_UN, flock

    failed: list[str] = []
    kept = places(tmp_path)
    with open(kept.make(kept.audit), "w") as file:  # noqa: ASYNC230 - it is empty
        flock(file, LOCK_EX)
        await AuditLog(lambda: kept, lambda: CLOCK, lambda deed: None, failed.append, patience=0).saw(CHANGE)
        assert failed == ["it takes longer than 0 seconds"]
        accountant = AuditLog(lambda: kept, lambda: CLOCK, lambda deed: None, failed.append)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(accountant.saw, CHANGE)
            await anyio.wait_all_tasks_blocked()
            flock(file, LOCK_UN)
    assert len(failed) == 1
    assert LINE in [json.loads(line) for line in Path(kept.audit).read_text().splitlines()]


def test_what_tells_nothing_secret() -> None:
    ##= man/spec/gateway.md#audit
    ##= type=test
    ##% The audit log MUST NOT contain tokens or the content of files, texts and notes.
    given = {"note": "secret", "vote": 1.5, "profile": "x" * 5000, "dry_run": True, "paths": ["a"], "none": None}
    found = select_plain_arguments(given, ["vote", "profile", "dry_run", "paths", "none", "other"])
    assert {**found, "profile": ""} == {"vote": 1.5, "profile": "", "dry_run": True, "paths": "array(1)", "none": None}
    assert len(str(found["profile"])) < 320

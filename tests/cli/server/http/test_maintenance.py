"""The tools for maintainers on every face, and servers that are killed while they are at it."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from duvet.knowledge.settings import FEEDBACK_FILE
from tests.cli.made import make
from tests.cli.running import run
from tests.unit.server.clients import MODERN, client_of, over_stdio
from tests.unit.server.http.command import Command
from tests.unit.server.http.maintaining import CALLS, CONFIG, KEPT, SECRET, audit, project
from tests.unit.server.http.nexus import API, post
from tests.unit.server.http.serving import ADMIN, READER, asking, call, value_of
from tests.unit.server.http.team import TOKENS

__all__ = ["project"]  # fixtures, which tests ask for by name

pytestmark = pytest.mark.anyio
LONGEST = 60
SHAPES: dict[str, set[str]] = {
    "km-ingest-trigger": {
        *("status", "run_id", "profile", "started_at", "duration_seconds", "success", "artifact_counts", "chunk_count"),
        *("changed", "removed", "dry_run", "run"),
    },
    "km-upload": {"status", "stored_path", "relative_path", "overwritten", "ingest_triggered", "ingest_run"},
    "km-storetext": {"status", "stored_path", "relative_path", "overwritten", "ingest_triggered", "ingest_run"},
    "km-feedback-submit": {"status", "request_id", "chunk_id", "vote", "note", "context", "timestamp", "source"},
    "km-backup-trigger": {"status", "archive", "size"},
}


async def test_the_same_on_every_face(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#audit
    ##= type=test
    ##% For each call of a tool that changes something, the server MUST write time, tool, outcome and caller to
    ##% `audit.jsonl` and the log before it answers, or log a delay of more than 10 seconds.
    faces: dict[str, dict[str, Any]] = {"mcp": {}, "http": {}, "rest": {}, "shell": {}}
    with anyio.fail_after(LONGEST):
        async with client_of(over_stdio(duvet_command, project), MODERN) as client:
            for tool, given in CALLS.items():
                found = await client.call_tool(tool, given)
                assert not found.is_error and found.structured_content == value_of(found)
                faces["mcp"][tool] = found.structured_content
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where, ADMIN) as http:
            for tool, given in CALLS.items():
                faces["http"][tool] = (await call(http, tool, given)).json()["result"]["structuredContent"]
                status, faces["rest"][tool] = await post(http, tool, **given)
                assert status == 200
        log = command.end()[2]
    for tool, given in CALLS.items():
        done = run(duvet_command, project, "call", tool, "--json", json.dumps(given))
        faces["shell"][tool] = json.loads(done.out)
    for face, answers in faces.items():
        for tool, answer in answers.items():
            assert answer.keys() == SHAPES[tool], (face, tool)
            assert answer["status"] == ("ok" if tool in ("km-feedback-submit", "km-backup-trigger") else "success")
    lines = audit(project)
    assert [(one["tool"], one["outcome"]) for one in lines] == [
        (tool, "success") for times in (1, 2, 1) for tool in CALLS for _ in range(times)
    ]
    whole = ["maintainer", "reader"]
    assert {(one["face"], one["who"], *one["scopes"]) for one in lines} == {
        ("mcp", "local", *whole),
        ("mcp", "admin", *whole),
        ("rest", "admin", *whole),
        ("shell", "local", *whole),
    }
    assert [line.split()[3] for line in log.splitlines() if " INFO audit " in line] == [
        f"tool={tool}" for tool in CALLS for _ in range(2)
    ]
    stored = next(one for one in lines if one["tool"] == "km-storetext")
    assert stored["parameters"] == {"overwrite": True, "ingest": True}
    assert stored["arguments"] == "content=str(11) title=str(6) tags=array(1) overwrite=true ingest=true"
    ##= man/spec/gateway.md#audit
    ##= type=test
    ##% The audit log MUST NOT contain tokens or the content of files, texts and notes.
    for text in (log, json.dumps(lines)):
        assert not any(secret in text for secret in (SECRET, ADMIN, READER))


async def test_a_quiet_log(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#audit
    ##= type=test
    ##% For each call of a tool that changes something, the server MUST write time, tool, outcome and caller to
    ##% `audit.jsonl` and the log before it answers, or log a delay of more than 10 seconds.
    make(project, {"duvet.config.json": json.dumps({**CONFIG, "server": {"logLevel": "error"}})})
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where, ADMIN) as client:
            assert (await post(client, "km-storetext", content="x", title="x"))[0] == 200
            assert (await post(client, "km-help"))[0] == 200
        (line,) = command.end()[2].splitlines()
    assert " INFO audit tool=km-storetext outcome=success who=admin face=rest " in line
    assert run(duvet_command, project, "call", "km-storetext", "--content", "x").err == ""


async def test_progress(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#indexing-and-feedback
    ##= type=test
    ##% During an ingest run, the server MUST go on answering and report progress, and a cancelled run MUST leave the
    ##% index unchanged.
    told: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    with anyio.fail_after(LONGEST):
        async with client_of(over_stdio(duvet_command, project), MODERN) as client:
            found = await client.call_tool("km-ingest-trigger", {}, progress_callback=hear)
    assert not found.is_error
    assert told[0][0] == 1.0 and "Looking for files" in [message for _, message in told]
    assert [done for done, _ in told] == sorted({done for done, _ in told})


async def test_who_may_call(duvet_command: str, project: Path) -> None:
    async def statuses(client: httpx2.AsyncClient) -> set[int]:
        return {(await post(client, tool, **given))[0] for tool, given in CALLS.items()}

    for environ, token in ((TOKENS, READER), ({}, "")):
        with Command(duvet_command, project, **environ) as command:
            async with asking(command.where, token) as client:
                assert await statuses(client) == {403}
                listed = {tool["name"] for tool in (await client.get(API)).json()["tools"]}
                assert listed.isdisjoint(CALLS)
    # Who may not has not done anything, and leaves nothing on the disk.
    assert not (project / KEPT).exists()
    config = {**CONFIG, "toolPacks": {"knowledge": {"mode": "read-only"}}}
    make(project, {"duvet.config.json": json.dumps(config)})
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where, ADMIN) as client:
            assert await statuses(client) == {400}


async def test_what_was_acknowledged_is_there_once_a_server_is_killed(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#indexing-and-feedback
    ##= type=test
    ##% Feedback that was acknowledged MUST survive killed processes, concurrent writers, a replaced index and a
    ##% restored backup.
    (project / "docs/large.md").write_text("tea " * 200_000)
    told: list[tuple[str, str]] = []

    async def again_and_again(client: httpx2.AsyncClient, tool: str, who: int) -> None:
        for number in range(10_000):
            name = f"{who}-{number}"
            given: dict[str, Any] = {
                "km-storetext": {"content": f"{name} " * 20_000, "destination": f"texts/{name}.md"},
                "km-upload": {"source_path": "docs/large.md", "destination": f"copies/{name}.md"},
                "km-feedback-submit": {"request_id": name, "chunk_id": "a::0", "note": "tea " * 2_000},
            }[tool]
            try:
                status, _ = await post(client, tool, **given)
            except httpx2.HTTPError:
                return
            assert status == 200
            told.append((tool, name))

    with Command(duvet_command, project, **TOKENS) as command:
        with anyio.fail_after(LONGEST):
            async with asking(command.where, ADMIN) as client, anyio.create_task_group() as tasks:
                for tool in ("km-storetext", "km-upload", "km-feedback-submit"):
                    for who in range(2):
                        tasks.start_soon(again_and_again, client, tool, who)
                while len(told) < 60:
                    await anyio.wait_all_tasks_blocked()
                command.process.send_signal(signal.SIGKILL)
    texts = {path.stem: path.read_text() for path in (project / "texts").glob("*.md")}
    assert all(text == f"{name} " * 20_000 + "\n" for name, text in texts.items())
    copies = {path.stem: path.read_bytes() for path in (project / "copies").glob("*.md")}
    assert set(copies.values()) == {(project / "docs/large.md").read_bytes()}
    lines = [
        json.loads(line)
        for line in (project / KEPT / FEEDBACK_FILE).read_text().splitlines(keepends=True)
        if line.endswith("\n")
    ]
    there = {
        *(("km-storetext", name) for name in texts),
        *(("km-upload", name) for name in copies),
        *(("km-feedback-submit", one["request_id"]) for one in lines),
    }
    assert set(told) <= there

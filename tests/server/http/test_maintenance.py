"""The tools for maintainers on every face, and servers that are killed while they are at it."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from duvet.knowledge.upkeep.places import AUDIT, FEEDBACK
from tests.commands.made import make
from tests.commands.running import run
from tests.knowledge.ingest.made import LEDGER
from tests.server.clients import MODERN, client_of, over_stdio
from tests.server.http.command import Command
from tests.server.http.nexus import API, post
from tests.server.http.serving import ADMIN, READER, asking, call, value_of

pytestmark = pytest.mark.anyio
LONGEST = 60
SECRET = "do not tell"
CONFIG: dict[str, Any] = {"toolPacks": {"knowledge": {}}, "ingest": {"semantic": False}, "server": {"logLevel": "info"}}
TOKENS = {"KM_READER_TOKEN": READER, "KM_ADMIN_TOKEN": ADMIN}
KEPT = ".duvet/knowledge"
CALLS: dict[str, dict[str, Any]] = {
    "km-ingest-trigger": {"profile": "faces"},
    "km-upload": {"source_path": "docs/spec.md", "destination": "copies/spec.md", "overwrite": True},
    "km-storetext": {"content": SECRET, "title": "A note", "tags": ["a"], "overwrite": True, "ingest": True},
    "km-feedback-submit": {"request_id": "r", "chunk_id": "docs/spec.md::0", "vote": 1, "note": SECRET},
    "km-backup-trigger": {"destination": "kept"},
}
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


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make(tmp_path / "ledger", {**LEDGER, "duvet.config.json": json.dumps(CONFIG)})


def audit(project: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project / KEPT / AUDIT).read_text().splitlines()]


async def test_the_same_on_every_face(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% Each call of a tool that changes something, by a caller who may, MUST be a line of `audit.jsonl` beside the store
    ##% and of the log, with its time, its tool, what came of it, and who has made it in which way.
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
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% That line MUST hold neither the contents of files, texts and notes, nor a token.
    for text in (log, json.dumps(lines)):
        assert not any(secret in text for secret in (SECRET, ADMIN, READER))


async def test_a_quiet_log(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% A server MUST write that line of the log whatever `logLevel` says.
    make(project, {"duvet.config.json": json.dumps({**CONFIG, "server": {"logLevel": "error"}})})
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where, ADMIN) as client:
            assert (await post(client, "km-storetext", content="x", title="x"))[0] == 200
            assert (await post(client, "km-help"))[0] == 200
        (line,) = command.end()[2].splitlines()
    assert " INFO audit tool=km-storetext outcome=success who=admin face=rest " in line
    assert run(duvet_command, project, "call", "km-storetext", "--content", "x").err == ""


async def test_progress(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% While the project is taken in, the server MUST go on answering, MUST tell the caller how far it is where that is
    ##% wanted, and MUST leave what is known as it was where the call is cancelled.
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


async def test_errors(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% `km-upload` MUST read any file that the server can for a caller on its own machine, and for one that comes over HTTP
    ##% only those below the content root that are neither hidden, nor ignored by git, nor kept there by duvet itself, nor
    ##% what may hold secrets or others have written: what is handed in can be searched, and a token is no leave to read the
    ##% machine.
    outside = make(project.parent, {"outside.md": "# Out\n"}) / "outside.md"
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where, ADMIN) as client:
            for path in (str(outside), "/etc/hostname", "../outside.md"):
                status, answer = await post(client, "km-upload", source_path=path)
                assert (status, answer["code"]) == (400, "invalid_request")
                found = (await call(client, "km-upload", {"source_path": path})).json()["result"]
                assert found["isError"] is True
            status, answer = await post(client, "km-ingest-trigger", paths=["docs"])
            assert (status, answer["code"]) == (400, "unsupported_operation")
            status, answer = await post(client, "km-backup-trigger")
            assert (status, answer["code"], answer["error"]) == (
                503,
                "upstream_error",
                "nothing was taken in of this project yet",
            )
    assert run(duvet_command, project, "call", "km-upload", "--source-path", str(outside)).code == 0
    assert [one["outcome"] for one in audit(project)] == [
        *["invalid_request"] * 6,
        "unsupported_operation",
        "upstream_error",
        "success",
    ]
    assert run(duvet_command, project, "call", "km-storetext", "--content", " ").code == 2


async def test_a_token_does_not_widen_what_it_is_for(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% While a server over HTTP runs, edits of `uploads` and `store` MUST NOT be in force before it is started again, and
    ##% the log MUST say so.
    wider = {**CONFIG, "uploads": {"root": str(project.parent)}, "store": {"path": "elsewhere.db"}}
    make(project, {"duvet.config.json": "{}", "conf/team.json": json.dumps(CONFIG)})
    given: dict[str, Any] = {"content": json.dumps(wider), "overwrite": True}
    with Command(duvet_command, project, DUVET_CONFIG="conf/team.json", **TOKENS) as command:
        async with asking(command.where, ADMIN) as client:
            for path in ("conf/team.json", "duvet.config.json", ".duvet/config.toml"):
                assert (await post(client, "km-storetext", **given, destination=path))[0] == 400
            assert json.loads((project / "conf/team.json").read_text()) == CONFIG
            # Who edits it on the machine is heard, but for this.
            for size in (7, 8):
                edited = {**wider, "server": {**CONFIG["server"], "pageSize": size}}
                make(project, {"conf/team.json": json.dumps(edited)})
                status, found = await post(client, "km-storetext", content="Tea", destination=f"{size}.md")
                assert (status, found["stored_path"]) == (200, str(project / f"{size}.md"))
        log = command.end()[2]
    warned = [line for line in log.splitlines() if "a restart is needed" in line]
    assert len(warned) == 1 and warned[0].endswith('keys="uploads store"'), warned
    assert not (project / "elsewhere.db").exists()


async def test_the_longest_text(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% The content of `km-storetext` MUST have at most 500,000 bytes, whichever way it comes, and its schema MUST say so.
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where, ADMIN) as client:
            tools = {tool["name"]: tool for tool in (await client.get(API)).json()["tools"]}
            assert "500,000 bytes" in json.dumps(tools["km-storetext"])
            for content in ("x" * 500_000, '\n"' * 249_999 + "xx", "é" * 250_000):
                given: dict[str, Any] = {"content": content, "destination": "x.md", "overwrite": True}
                assert (await post(client, "km-storetext", **given))[0] == 200
                assert (await call(client, "km-storetext", given)).status_code == 200
                status, answer = await post(client, "km-storetext", **{**given, "content": content + "y"})
                assert (status, answer["code"]) == (400, "invalid_request")
                assert answer["error"].startswith("content has more than 500,000 ")


async def test_variables(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% Where the configuration says nothing of it below `uploads`, `KM_CONTENT_ROOT`, `KM_UPLOAD_DEFAULT_OVERWRITE` and
    ##% `KM_UPLOAD_DEFAULT_INGEST` MUST count.
    (project.parent / "content").mkdir()
    more = {
        "KM_CONTENT_ROOT": str(project.parent / "content"),
        "KM_UPLOAD_DEFAULT_OVERWRITE": "true",
        "KM_UPLOAD_DEFAULT_INGEST": "true",
    }
    store = ("call", "km-storetext", "--content", "x", "--title", "x")
    for overwritten in (False, True):
        found = json.loads(run(duvet_command, project, *store, environ=more).out)
        assert found["stored_path"] == str(project.parent / "content/docs/x.md")
        assert (found["overwritten"], found["ingest_triggered"]) == (overwritten, True)
    assert json.loads(run(duvet_command, project, *store).out)["ingest_triggered"] is False
    assert run(duvet_command, project, *store).code == 2


@pytest.mark.parametrize("name", ["KM_UPLOAD_DEFAULT_OVERWRITE", "KM_UPLOAD_DEFAULT_INGEST"])
def test_variables_that_say_nothing(duvet_command: str, project: Path, name: str) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% A `KM_UPLOAD_DEFAULT_OVERWRITE` or `KM_UPLOAD_DEFAULT_INGEST` that is neither true nor false MUST be an error before
    ##% anything is served, and MUST NOT keep those tools from their work that hand no file in.
    wrong = {name: "maybe"}
    for words in (("mcp", "--check"), ("mcp",), ("mcp", "--http", "0")):
        done = run(duvet_command, project, *words, environ=wrong)
        assert (done.code, done.out) == (1, "")
        assert f"the variable `{name}` is neither true nor false" in done.err
    feedback = ("km-feedback-submit", "--request-id", "r", "--chunk-id", "c", "--vote", "1")
    assert run(duvet_command, project, "call", *feedback, environ=wrong).code == 0
    assert run(duvet_command, project, "call", "km-storetext", "--content", "x", environ=wrong).code == 1


async def test_what_was_acknowledged_is_there_once_a_server_is_killed(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% What was acknowledged MUST be on the disk, in whole lines, however many write at once and whoever is killed.
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
        for line in (project / KEPT / FEEDBACK).read_text().splitlines(keepends=True)
        if line.endswith("\n")
    ]
    there = {
        *(("km-storetext", name) for name in texts),
        *(("km-upload", name) for name in copies),
        *(("km-feedback-submit", one["request_id"]) for one in lines),
    }
    assert set(told) <= there

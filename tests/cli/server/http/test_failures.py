"""Every code of an error on every face, and what no answer and no line of the log may hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict

from tests.unit.knowledge.stored import STORE
from tests.unit.server.http.command import Command
from tests.unit.server.http.nexus import API, post
from tests.unit.server.http.serving import ADMIN, MEDIA, READER, asking, call
from tests.unit.server.http.team import FAILING, TOKENS, Failing, piped, shell, team
from tests.unit.server.wire import Wire, request

pytestmark = pytest.mark.anyio
BROKEN = Failing("km-search", {"query": "boil"}, "upstream_error", 503)
DEAD = "http://127.0.0.1:9"


def break_store(folder: Path) -> None:
    (folder / STORE).write_bytes(b"no database " * 1000)


async def test_over_http(duvet_command: str, tmp_path: Path) -> None:
    folder = team(tmp_path / "pot")
    with Command(duvet_command, folder, **TOKENS) as command:
        async with asking(command.where, ADMIN) as client:
            for failing in (*FAILING, BROKEN):
                if failing is BROKEN:
                    break_store(folder)
                status, found = await post(client, failing.tool, **failing.given)
                assert (status, found["status"], found["code"]) == (failing.status, "error", failing.code), failing
                assert found["error"] and "hint" in found
                result = (await call(client, failing.tool, failing.given)).json()["result"]
                told = json.loads(result["content"][0]["text"])
                assert result["isError"] is True and told["status"] == "error"
                assert told["error"]["code"] == failing.code and told["error"]["message"]
        async with asking(command.where, READER) as client:
            assert (await post(client, "km-ingest-status"))[1]["code"] == "forbidden"
        async with asking(command.where) as client:
            assert (await post(client, "km-ingest-status"))[1]["code"] == "unauthorized"


def test_over_pipes(duvet_command: str, tmp_path: Path) -> None:
    folder = team(tmp_path / "pot")
    local, forwards = Wire(duvet_command, folder), Wire(duvet_command, folder, KM_GATEWAY_URL=DEAD)
    reader = Wire(duvet_command, folder, KM_GATEWAY_URL=DEAD, KM_READER_TOKEN=READER)
    try:
        for wire in (local, forwards, reader):
            wire.greet()
        for failing in FAILING:
            told = piped(local, failing.tool, failing.given)
            assert (told["status"], told["error"]["code"]) == ("error", failing.code), asdict(failing)
        break_store(folder)
        assert piped(local, BROKEN.tool, BROKEN.given)["error"]["code"] == BROKEN.code
        assert piped(forwards, "km-ingest-status", {})["error"]["code"] == "unauthorized"
        assert piped(reader, "km-ingest-status", {})["error"]["code"] == "forbidden"
        assert piped(reader, "km-search", {"query": "x"})["error"]["code"] == "upstream_error"
    finally:
        for wire in (local, forwards, reader):
            wire.kill()


def test_in_the_shell(duvet_command: str, tmp_path: Path) -> None:
    folder = team(tmp_path / "pot")
    usage = ("invalid_request", "invalid_identifier")
    for failing in FAILING:
        done = shell(duvet_command, folder, failing.tool, failing.given)
        assert (done.code, done.out) == (2 if failing.code in usage else 1, ""), asdict(failing)
        assert "rror: " in done.err and "Traceback" not in done.err
    break_store(folder)
    assert shell(duvet_command, folder, BROKEN.tool, BROKEN.given).code == 1
    refused = shell(duvet_command, folder, "km-ingest-status", {}, KM_GATEWAY_URL=DEAD, KM_READER_TOKEN=READER)
    assert refused.code == 1 and "error: km-ingest-status needs the scope maintainer" in refused.err


NESTED = json.loads("[" * 300 + "]" * 300)
HOSTILE: list[dict[str, Any]] = [
    {"tool": "km-graph-node", "input": {"node_id": "DesignDoc:../../../../etc/passwd"}},
    {"tool": "km-graph-node", "input": {"node_id": "Chunk:" + "x" * 19_000 + "::0"}},
    {"tool": "km-graph-search", "input": {"term": "'; DROP TABLE node; --"}},
    {"tool": "km-search", "input": {"query": '" OR * NEAR( ^'}},
    {"tool": "km-search", "input": {"query": "\ud800"}},
    {"tool": "km-search", "input": {"query": "x", "filters": {"symbols": {"a": 1}}}},
    {"tool": "km-search", "input": {"query": "x", "limit": 10**30}},
    {"tool": "km-search", "input": {"query": "x", "filters": {"updated_after": "9999999-99-99"}}},
    {"tool": "km-search", "input": {"query": "x", "filters": {"max_age_days": 10**18}}},
    {"tool": "km-graph-subsystem", "input": {"name": "Kettle", "cursor": "AAAA////"}},
    {"tool": "km-ingest-trigger", "input": {"profile": "../../x\n"}},
    {"tool": "km-backup-trigger", "input": {"destination": "/etc"}},
    {"tool": "km-backup-trigger", "input": {"destination": "a\x00b"}},
    {"tool": "km-upload", "input": {"source_path": "/etc/passwd"}},
    {"tool": "km-upload", "input": {"source_path": "a\x00b"}},
    {"tool": "km-upload", "input": {"source_path": "given.md", "destination": "../../x"}},
    {"tool": "km-storetext", "input": {"content": "x", "destination": "/etc/x.md"}},
    {"tool": "km-storetext", "input": {"content": "x", "destination": "con.md"}},
    {"tool": "km-storetext", "input": {"content": "x", "title": "a\n---\nb: !!python/object:os.system"}},
    {"tool": "km-recipe-run", "input": {"recipe": "../../../etc/passwd"}},
    {"tool": "km-recipe-run", "input": {"recipe": "good", "vars": {"__class__": 1}}},
    {"tool": "km-feedback-submit", "input": {"request_id": "r", "chunk_id": "../../x", "vote": 1e308}},
    {"tool": "km-feedback-submit", "input": {"request_id": "r", "chunk_id": "c", "context": {"a": ["x"] * 9_000}}},
    {"tool": "km-feedback-submit", "input": {"request_id": "r", "chunk_id": "c", "context": {"a": NESTED}}},
]
BODIES = [b"", b"{", b"\xff\xfe", b"[" * 60_000, b'{"tool": "km-search", "input": [1]}', b'{"tool": 5}', b"null"]


async def test_nothing_leaks(duvet_command: str, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#access
    ##= type=test
    ##% Answers and log lines MUST NOT contain tokens nor, apart from `stored_path` and the reason why an index cannot
    ##% be read, the folder of the project or the text of exceptions.
    folder = team(tmp_path / "pot")
    heard: list[str] = []
    with Command(duvet_command, folder, **TOKENS) as command:
        for token in (ADMIN, READER, "wrong-token", ""):
            async with asking(command.where, token) as client:
                # The first one does it again when the store is broken; more would fill the pipe that its log goes to.
                for _ in range(2 if token == ADMIN else 1):
                    for one in HOSTILE:
                        answer = await client.post(API, content=json.dumps(one).encode())
                        found = answer.json()
                        if isinstance(found.get("result"), dict):
                            found["result"].pop("stored_path", None)
                        assert answer.status_code != 500, one
                        heard += [json.dumps(found), str(answer.headers)]
                        heard.append(json.dumps(_without(await _over_mcp(client, one))))
                    for body in BODIES:
                        for path in (API, "/mcp"):
                            answer = await client.post(path, content=body, headers=MEDIA)
                            assert 400 <= answer.status_code < 500
                            heard.append(answer.text)
                    for path in (
                        "/api/v1/coverage",
                        "/api/v1/lifecycle/history?limit=%00",
                        "/metrics",
                        f"/x?t={ADMIN}",
                    ):
                        heard.append((await client.get(path)).text)
                    if token == ADMIN:
                        break_store(folder)
        _, out, err = command.end()
    everything = "\n".join([*heard, out, err])
    for secret in (ADMIN, READER, str(folder), "Traceback", 'File "', "sqlite3."):
        where = everything.find(secret)
        assert where < 0, everything[max(where - 300, 0) : where + 300]
    assert err.count(" call ") > 4 * len(HOSTILE)


async def _over_mcp(client: Any, one: dict[str, Any]) -> Any:
    params = {"name": one["tool"], "arguments": one["input"]}
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    message = request("tools/call", {**params, "_meta": meta})
    more = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": one["tool"]}
    return (await client.post("/mcp", content=json.dumps(message).encode(), headers={**MEDIA, **more})).json()


def _without(value: Any) -> Any:
    """The same without where files were stored."""
    if isinstance(value, dict):
        found = {name: _without(one) for name, one in value.items() if name != "stored_path"}
        if isinstance(found.get("text"), str) and "stored_path" in found["text"]:
            found["text"] = _without(json.loads(found["text"]))
        return found
    return [_without(one) for one in value] if isinstance(value, list) else value

"""What is handed in over HTTP and elsewhere: how much, from where, to where, and which variables have a say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.made import make
from tests.cli.running import run
from tests.unit.server.http.command import Command
from tests.unit.server.http.maintaining import CONFIG, audit, project
from tests.unit.server.http.nexus import API, post
from tests.unit.server.http.serving import ADMIN, asking, call
from tests.unit.server.http.team import TOKENS

__all__ = ["project"]  # fixtures, which tests ask for by name

pytestmark = pytest.mark.anyio


async def test_errors(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#uploads
    ##= type=test
    ##% Over HTTP, `km-upload` MUST read only files below the content root that are not hidden, ignored by git, secret,
    ##% vendored or duvet's own.
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
    ##= man/spec/service.md#configuration
    ##= type=test
    ##% The server MUST apply a valid edit of its configuration from the next request on, except for `uploads` and
    ##% `store` over HTTP, notify its clients, and keep the previous configuration after an invalid edit.
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
    ##= man/spec/gateway.md#uploads
    ##= type=test
    ##% `km-storetext` MUST write at most 500,000 bytes, with title, subsystem, tags and metadata as YAML before them,
    ##% to a file named after the title or the time.
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
    ##= man/spec/gateway.md#uploads
    ##= type=test
    ##% `KM_CONTENT_ROOT`, `KM_UPLOAD_DEFAULT_OVERWRITE` and `KM_UPLOAD_DEFAULT_INGEST` MUST apply where `uploads` sets
    ##% nothing, and be refused at the start if they are invalid.
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
    ##= man/spec/gateway.md#uploads
    ##= type=test
    ##% `KM_CONTENT_ROOT`, `KM_UPLOAD_DEFAULT_OVERWRITE` and `KM_UPLOAD_DEFAULT_INGEST` MUST apply where `uploads` sets
    ##% nothing, and be refused at the start if they are invalid.
    wrong = {name: "maybe"}
    for words in (("mcp", "--check"), ("mcp",), ("mcp", "--http", "0")):
        done = run(duvet_command, project, *words, environ=wrong)
        assert (done.code, done.out) == (1, "")
        assert f"the variable `{name}` is neither true nor false" in done.err
    feedback = ("km-feedback-submit", "--request-id", "r", "--chunk-id", "c", "--vote", "1")
    assert run(duvet_command, project, "call", *feedback, environ=wrong).code == 0
    assert run(duvet_command, project, "call", "km-storetext", "--content", "x", environ=wrong).code == 1

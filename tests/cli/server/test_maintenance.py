import json
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import anyio
import httpx2
import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.store.location import AUDIT_FILE, FEEDBACK_FILE
from tests.cli.command import play, run, runner
from tests.cli.sample_project import make
from tests.cli.server.team import Given, by_mcp, by_pipes, by_rest, by_shell
from tests.unit.knowledge.ingest.held_git import HeldGit
from tests.unit.knowledge.ingest.ingest_projects import LEDGER
from tests.unit.server.clients import MODERN, client_of, over_stdio
from tests.unit.server.http.command import Command
from tests.unit.server.http.http_server import ADMIN, READER, TOKENS, asking, post
from tests.unit.server.stdio_server import Wire

Start = Callable[..., Wire]

pytestmark = pytest.mark.anyio
LONGEST = 60
SECRET = "do not tell"
CONFIG: dict[str, Any] = {"toolPacks": {"knowledge": {}}, "ingest": {"semantic": False}, "server": {"logLevel": "info"}}
STORED = ".duvet/knowledge"
CALLS: dict[str, Given] = {
    "km-ingest-trigger": {"profile": "faces"},
    "km-upload": {"source_path": "docs/spec.md", "destination": "copies/spec.md", "overwrite": True},
    "km-storetext": {"content": SECRET, "title": "A note", "tags": ["a"], "overwrite": True, "ingest": True},
    "km-feedback-submit": {"request_id": "r", "chunk_id": "docs/spec.md::0", "vote": 1, "note": SECRET},
    "km-backup-trigger": {"destination": "kept"},
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make(tmp_path / "ledger", {**LEDGER, "duvet.config.json": json.dumps(CONFIG)})


def audit(project: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project / STORED / AUDIT_FILE).read_text().splitlines()]


def test_every_change_is_in_the_audit_log(duvet_command: str, project: Path, wire: Start) -> None:
    session, answers = wire(), dict[str, Any]()
    session.greet()
    with Command(duvet_command, project, **TOKENS) as command:
        with command.client(ADMIN) as client:
            for ask in (by_pipes(session), by_mcp(client), by_rest(client), by_shell(duvet_command, project)):
                for tool, given in CALLS.items():
                    code, answer = ask(tool, given)
                    assert (code, answer.keys()) == ("", answers.setdefault(tool, answer).keys())
                    is_stored = tool in ("km-feedback-submit", "km-backup-trigger")
                    assert answer["status"] == ("ok" if is_stored else "success")
        log = command.end()[2]
    lines, both = audit(project), ["maintainer", "reader"]
    faces = (("mcp", "local"), ("mcp", "admin"), ("rest", "admin"), ("shell", "local"))
    assert [(one["face"], one["who"], one["scopes"], one["tool"], one["outcome"]) for one in lines] == [
        (face, who, both, tool, "success") for face, who in faces for tool in CALLS
    ]
    logged = [line.split()[3] for line in log.splitlines() if " INFO audit " in line]
    assert logged == [f"tool={tool}" for tool in CALLS] * 2
    stored = next(one for one in lines if one["tool"] == "km-storetext")
    assert stored["parameters"] == {"overwrite": True, "ingest": True}
    assert stored["arguments"] == "content=str(11) title=str(6) tags=array(1) overwrite=true ingest=true"
    for text in (log, json.dumps(lines)):
        assert not any(secret in text for secret in (SECRET, ADMIN, READER))


def test_changes_are_logged_at_every_level(duvet_command: str, project: Path) -> None:
    make(project, {"duvet.config.json": json.dumps({**CONFIG, "server": {"logLevel": "error"}})})
    with Command(duvet_command, project, **TOKENS) as command:
        with command.client(ADMIN) as client:
            assert client.post_tool("km-storetext", content="x", title="x")[0] == 200
            assert client.post_tool("km-help")[0] == 200
        (line,) = command.end()[2].splitlines()
    assert " INFO audit tool=km-storetext outcome=success who=admin face=rest " in line
    assert run(duvet_command, project, "call", "km-storetext", "--content", "x").err == ""


async def test_a_run_reports_progress(duvet_command: str, project: Path) -> None:
    told: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    with anyio.fail_after(LONGEST):
        async with client_of(over_stdio(duvet_command, project), MODERN) as client:
            found = await client.call_tool("km-ingest-trigger", {}, progress_callback=hear)
    assert not found.is_error
    assert told[0][0] == 1.0 and "Finding files" in [message for _, message in told]
    assert [done for done, _ in told] == sorted({done for done, _ in told})


def test_a_refused_caller_leaves_nothing_on_the_disk(duvet_command: str, project: Path) -> None:
    read_only = {**CONFIG, "toolPacks": {"knowledge": {"mode": "read-only"}}}
    for config, environ, token, status in (
        (CONFIG, TOKENS, READER, 403),
        (CONFIG, {}, "", 403),
        (read_only, TOKENS, ADMIN, 400),
    ):
        make(project, {"duvet.config.json": json.dumps(config)})
        with Command(duvet_command, project, **environ) as command, command.client(token) as client:
            assert {client.post_tool(tool, **given)[0] for tool, given in CALLS.items()} == {status}
            assert client.listed.keys().isdisjoint(CALLS)
        assert not (project / STORED).exists()


async def test_acknowledged_changes_survive_a_killed_server(duvet_command: str, project: Path) -> None:
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

    with Command(duvet_command, project, **TOKENS) as command, anyio.fail_after(LONGEST):
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
    votes = (project / STORED / FEEDBACK_FILE).read_text().splitlines(keepends=True)
    there = {
        *(("km-storetext", name) for name in texts),
        *(("km-upload", name) for name in copies),
        *(("km-feedback-submit", json.loads(vote)["request_id"]) for vote in votes if vote.endswith("\n")),
    }
    assert set(told) <= there


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_an_ingest_process_ends_with_its_server(duvet_command: str, project: Path, number: signal.Signals) -> None:
    ##= man/spec/gateway.md#indexing
    ##% The server MUST end an ingest run when the call that started it is cancelled, or when the server stops.
    assert run(duvet_command, project, "ingest").code == 0
    config = {**CONFIG, "server": {**CONFIG["server"], "shutdownTimeout": 0.2}}
    make(project, {"docs/new.md": "# Marmalade\n", "duvet.config.json": json.dumps(config)})
    git = HeldGit(project.parent / "held")
    answers: list[int] = []

    def ingest() -> None:
        with command.client(ADMIN) as other, suppress(httpx2.HTTPError):
            answers.append(other.post_tool("km-ingest-trigger")[0])

    with Command(duvet_command, project, **TOKENS, PATH=git.path) as command, command.client(READER) as client:
        thread = Thread(target=ingest)
        thread.start()
        git.wait()
        status, found = client.post_tool("km-search", query="balance")
        assert (status, found["metadata"]["result_count"] > 0) == (200, True)
        command.process.send_signal(number)
        command.process.wait(LONGEST)
        thread.join(LONGEST)
        assert 200 not in answers and git.has_ended()
    found = json.loads(run(duvet_command, project, "ingest", "--format", "json").out)
    assert found["added_files"] == ["docs/new.md"]


@pytest.mark.criterion("knowledge 1.1")
def test_a_token_of_a_reader_limits_local_callers(duvet_command: str, project: Path, wire: Start) -> None:
    ##= man/spec/gateway.md#access
    ##% A caller over standard input and output or in the shell MUST have all scopes, unless only a reader's token is
    ##% set.
    reader, admin = {"KM_READER_TOKEN": "r"}, {"DUVET_ADMIN_TOKEN": "a"}
    for environ, is_limited in (({}, False), (reader, True), (admin, False), (reader | admin, False)):
        session = wire(**environ)
        session.greet()
        names = {tool["name"] for tool in session.ask("tools/list")["result"]["tools"]}
        outcome = by_pipes(session)("km-ingest-status", {})
        assert ("km-search" in names, "km-ingest-status" in names) == (True, not is_limited)
        assert outcome.code == ("forbidden" if is_limited else "")
        shell = by_shell(duvet_command, project, **environ)
        assert (shell("km-help", {}).code, shell("km-ingest-status", {}).code) == ("", "exit 1" if is_limited else "")


def test_uploads_are_files_of_the_project(duvet_command: str, project: Path, wire: Start) -> None:
    outside = make(project.parent, {"outside.md": "# Out\n"}) / "outside.md"
    with Command(duvet_command, project, **TOKENS) as command, command.client(ADMIN) as client:
        for path in (str(outside), "/etc/hostname", "../outside.md"):
            assert by_rest(client)("km-upload", {"source_path": path}).code == "invalid_request"
            assert by_mcp(client)("km-upload", {"source_path": path}).code == "invalid_request"
        assert by_rest(client)("km-ingest-trigger", {"paths": ["docs"]}).code == "unsupported_operation"
        unknown = ("upstream_error", "this project is not indexed yet")
        assert by_rest(client)("km-backup-trigger", {}) == unknown
    # An agent on this machine may be told by a text that it has read to copy a file of its user.
    session = wire()
    session.greet()
    shell = by_shell(duvet_command, project)
    for path in (str(outside), "/etc/hostname", "../outside.md", ".duvet/config.toml"):
        assert by_pipes(session)("km-upload", {"source_path": path}).code == "invalid_request"
        assert shell("km-upload", {"source_path": path}).code == "exit 2"
    assert shell("km-upload", {"source_path": "docs/spec.md", "destination": "docs/copy.md"}).code == ""
    outcomes = ["invalid_request"] * 6 + ["unsupported_operation", "upstream_error"] + ["invalid_request"] * 8
    outcomes += ["success"]
    assert [one["outcome"] for one in audit(project)] == outcomes


def test_an_admin_cannot_widen_the_root_or_move_the_store(duvet_command: str, project: Path) -> None:
    named = {**CONFIG, "toolPacks": {"knowledge": {}, "kettle": {"path": "packs/kettle.py"}}}
    pack = "import duvet\n\n@duvet.tool\ndef boil() -> int:\n    return 1\n"
    wider = {**named, "uploads": {"root": str(project.parent)}, "store": {"path": "elsewhere.db"}}
    make(project, {"duvet.config.json": "{}", "conf/team.json": json.dumps(named), "packs/kettle.py": pack})
    given: dict[str, Any] = {"content": json.dumps(wider), "overwrite": True}
    with Command(duvet_command, project, DUVET_CONFIG="conf/team.json", **TOKENS) as command:
        with command.client(ADMIN) as client:
            for path in ("conf/team.json", "duvet.config.json", ".duvet/config.toml", "packs/kettle.py"):
                assert client.post_tool("km-storetext", **given, destination=path)[0] == 400
            assert json.loads((project / "conf/team.json").read_text()) == named
            assert (project / "packs/kettle.py").read_text() == pack
            # An edit on the machine applies, but not to these.
            for size in (7, 8):
                edited = {**wider, "server": {**CONFIG["server"], "pageSize": size}}
                make(project, {"conf/team.json": json.dumps(edited)})
                status, found = client.post_tool("km-storetext", content="Tea", destination=f"{size}.md")
                assert (status, found["stored_path"]) == (200, str(project / f"{size}.md"))
        log = command.end()[2]
    warned = [line for line in log.splitlines() if "restart the server to apply" in line]
    assert len(warned) == 1 and warned[0].endswith('keys="uploads store"'), warned
    assert not (project / "elsewhere.db").exists()


def test_the_longest_text(duvet_command: str, project: Path) -> None:
    with Command(duvet_command, project, **TOKENS) as command, command.client(ADMIN) as client:
        assert "500,000 bytes" in json.dumps(client.listed["km-storetext"])
        for content in ("x" * 500_000, '\n"' * 249_999 + "xx", "é" * 250_000):
            given = {"destination": "x.md", "overwrite": True}
            for ask in (by_rest(client), by_mcp(client)):
                assert ask("km-storetext", {**given, "content": content}).code == ""
            code, message = by_rest(client)("km-storetext", {**given, "content": content + "y"})
            assert code == "invalid_request" and message.endswith("; the limit is 500,000")


GIVEN = {"km-storetext": "--content x", "km-upload": "--source-path docs/spec.md"}
UPLOADS = [f"duvet call {tool} {given} --destination docs/{tool}.md" for tool, given in GIVEN.items()]
SHOWN = "| grep -Eo '(stored_path|overwritten|triggered|success).*'"
DEFAULTS = ("KM_UPLOAD_DEFAULT_OVERWRITE", "KM_UPLOAD_DEFAULT_INGEST")
ALL_SET = f"KM_CONTENT_ROOT=$(dirname $PWD)/content {'=true '.join(DEFAULTS)}=true"
WRONG = (
    "mcp --check",
    "mcp",
    "mcp --http 0",
    "call km-feedback-submit --request-id r --chunk-id c --vote 1 >/dev/null",
)


def test_variables_set_the_defaults_of_uploads(duvet_command: str, project: Path, gold: Snapshot) -> None:
    lines = [f"$ {environ} {line} {SHOWN}" for line in UPLOADS for environ in (ALL_SET, ALL_SET, "", "")]
    lines += [f"$ {name}=maybe duvet {line}" for name in DEFAULTS for line in (*WRONG, "call km-storetext --content x")]
    told = play(runner(duvet_command, project), project, "$ mkdir ../content", *lines, "$ ls ../content/docs")
    gold.assert_match(told.replace(str(project.parent), "<above>"), "variables.txt")

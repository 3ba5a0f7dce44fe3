import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Done, run
from tests.cli.sample_project import make
from tests.cli.server import team
from tests.cli.server.team import ALL, by_pipes, by_rest, by_shell
from tests.unit.knowledge.stored_project import STORE
from tests.unit.server.http.command import Command
from tests.unit.server.http.http_server import ADMIN, READER, TOKENS, samples
from tests.unit.server.stdio_server import Wire
from tests.unit.tools.tool_calls import FILES

ONLY_READER = {"KM_READER_TOKEN": READER}
PROMPT = "Vote on a result with km-feedback-submit, this request_id and the result's chunk_id"
SEARCH = {"query": "boil"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return team.team(tmp_path / "pot", {"toolPacks": {"knowledge": {}}, "ingest": {"semantic": False}})


class Desk:
    def __init__(self, command: str, folder: Path, stack: ExitStack, url: str, **environ: str) -> None:
        self.command, self.folder, self.stack = command, folder, stack
        self.environ = {"KM_GATEWAY_URL": url.removesuffix("/mcp"), **environ}

    def run(self, *args: str) -> Done:
        return run(self.command, self.folder, *args, environ=self.environ)

    def ask(self, tool: str, /, **given: Any) -> team.Outcome:
        return by_shell(self.command, self.folder, **self.environ)(tool, given)

    @cached_property
    def wire(self) -> Wire:
        wire = Wire(self.command, self.folder, **self.environ)
        self.stack.callback(wire.kill)
        wire.greet()
        return wire

    def pipe(self, tool: str, given: team.Given) -> team.Outcome:
        return by_pipes(self.wire)(tool, given)


Open = Callable[..., Desk]


@pytest.fixture
def desk(duvet_command: str, tmp_path: Path) -> Iterator[Open]:
    folder = make(tmp_path / "desk", {**FILES, "given.md": "# Given\n"})
    with ExitStack() as stack:
        yield partial(Desk, duvet_command, folder, stack)
    # Forwarding stores nothing locally.
    assert not (folder / STORE).parent.exists()


@pytest.mark.criterion("knowledge 1.2")
def test_calls_are_forwarded_with_the_token_of_the_reader_or_else_of_the_admin(
    duvet_command: str, project: Path, desk: Open
) -> None:
    ##= man/spec/gateway.md#forwarding
    ##% With `KM_GATEWAY_URL`, `duvet call` and `duvet mcp` on standard input and output MUST forward calls of
    ##% `km-` tools, except `km-help`, to the gateway.
    with Command(duvet_command, project, **TOKENS) as command:
        both, readers = desk(command.url, **TOKENS), desk(command.url, **ONLY_READER)
        for tool in ("km-search", "km-ingest-status", "km-help"):
            assert both.ask(tool, **ALL[tool]).code == ""
        with command.client(ADMIN) as client:
            counted = samples(client.get("/metrics").text, "duvet_tool_requests_total")
        assert counted == {("rest", "success", "km-search"): 1, ("rest", "success", "km-ingest-status"): 1}
        # The reader's token is sent there, and votes are stored here.
        metadata = [one.pipe("km-search", SEARCH).value["metadata"] for one in (both, readers)]
        assert metadata[0]["feedback_prompt"] == PROMPT and "feedback_prompt" not in metadata[1]
        refused = readers.ask("km-ingest-status")
        assert (
            refused.code == "exit 1" and "set KM_ADMIN_TOKEN to the maintainers' token of the gateway" in refused.value
        )
        assert desk(command.url, DUVET_ADMIN_TOKEN=ADMIN).ask("km-lifecycle-report").code == ""
        # The wrong scope, and an unknown token.
        for token, code in ((READER, "forbidden"), ("another-token", "unauthorized")):
            here = desk(command.url, KM_ADMIN_TOKEN=token)
            answers = [here.pipe(tool, given) for tool, given in team.MAINTAINERS.items()]
            assert {answer.code for answer in answers} == {code} and token not in str(answers)


def test_a_gateway_without_tokens_serves_readers(duvet_command: str, project: Path, desk: Open) -> None:
    with Command(duvet_command, project) as command:
        ask = desk(command.url).pipe
        codes = {tool: ask(tool, given).code for tool, given in ALL.items()}
    assert codes == dict.fromkeys(team.READERS, "") | dict.fromkeys(team.MAINTAINERS, "unauthorized")


def test_errors_of_the_gateway_are_passed_on(duvet_command: str, project: Path, desk: Open) -> None:
    with Command(duvet_command, project, **TOKENS) as command:
        here = desk(command.url, **TOKENS)
        given = {"name": "km-graph-node", "arguments": {"node_id": "Code:gone.py"}}
        result = here.wire.ask("tools/call", given)["result"]
        assert json.loads(result["content"][0]["text"])["error"] == {
            "code": "not_found",
            "message": "Node 'Code:gone.py' not found",
            "hint": "call km-graph-search to find nodes by part of a name",
        }
        assert here.ask("km-graph-node", node_id="nowhere").code == "exit 2"
        team.break_store(project)
        code, message = here.ask("km-search", **SEARCH)
        assert code == "exit 1" and str(project) not in message and "store.db" in message
        make(project, {"duvet.config.json": "{}"})
        code, message = here.ask("km-search", **SEARCH)
        assert (code, "Tool not found: km-search" in message) == ("exit 2", True), message


@pytest.mark.criterion("knowledge 3.11")
def test_an_upload_is_the_file_of_this_machine(duvet_command: str, project: Path, desk: Open) -> None:
    ##= man/spec/gateway.md#forwarding
    ##% If duvet forwards a `km-upload` call, it MUST read the file on its own machine and send the content. duvet MUST
    ##% refuse to send the gateway a file that may contain secrets.
    with Command(duvet_command, project, **TOKENS) as command:
        here = desk(command.url, **TOKENS)
        make(here.folder, {"given.md": "# Ours \u00e9\n", "large.bin": "x" * 750_001})
        hidden = (".env", ".config/a.md", "docs/.aws/credentials", "docs/secrets.toml", "../outside.md", "link.md")
        make(here.folder, dict.fromkeys(hidden[:-1], "SECRET=1\n"))
        (here.folder / "link.md").symlink_to(here.folder / ".env")
        not_visible = "it is outside the project, hidden, ignored by git or vendored, or may contain secrets"
        stored = here.pipe("km-upload", {"source_path": "given.md"})
        assert (stored.code, stored.value["relative_path"]) == ("", "docs/given.md")
        assert (project / "docs/given.md").read_text() == "# Ours \u00e9\n"
        for path, reason in (
            ("src/kettle/boil.py", "it can't be read"),  # A file of the server.
            *((path, not_visible) for path in hidden),
            ("large.bin", "it has more than 750,000 bytes"),
        ):
            refused = here.pipe("km-upload", {"source_path": path})
            assert refused == ("invalid_request", f'can\'t send "{path}" to the gateway: {reason}')
        with command.client(ADMIN) as client:
            answer = by_rest(client)("km-upload", {"source_path": "x.md", "content": "no base64!"})
            assert answer == ("invalid_request", "content is not valid base64")


def test_a_forwarded_report_is_cut_for_agents(duvet_command: str, project: Path, desk: Open) -> None:
    make(project, {f"src/many/part_{number:03}.py": "" for number in range(300)})
    assert run(duvet_command, project, "ingest").code == 0
    with Command(duvet_command, project, **TOKENS) as command:
        here = desk(command.url, **TOKENS)
        report = here.pipe("km-coverage-summary", {}).value
        assert 0 < len(report["artifacts"]) < report["summary"]["artifact_total"] >= 300
        whole = here.ask("km-coverage-summary").value
        assert len(whole["artifacts"]) == whole["summary"]["artifact_total"]


def test_workflows_forward_their_calls(duvet_command: str, project: Path, desk: Open) -> None:
    steps = [{"id": "look", "tool": "km-ingest-status"}]
    workflow = {"description": "Looks", "steps": steps, "outputs": {"run": "${steps.look.result.run_id}"}}
    with Command(duvet_command, project, **TOKENS) as command:
        here, readers = desk(command.url, **TOKENS), desk(command.url, **ONLY_READER)
        make(here.folder, {"duvet.config.json": json.dumps({"workflows": {"look": workflow}})})
        assert here.ask("workflow.look").value["outputs"] == {"run": "r1"}
        code, message = readers.ask("workflow.look")
        assert (readers.run("mcp", "--check").code, code) == (0, "exit 1")
        assert "km-ingest-status requires the scope maintainer" in message


def test_the_gateway_is_shown_before_anything_is_forwarded(desk: Open) -> None:
    here = desk("http://127.0.0.1:8931/team", **ONLY_READER)
    lines = here.run("mcp", "--check").out.splitlines()
    about = "127.0.0.1:8931: calls to km- tools, except km-help, are forwarded there, with KM_READER_TOKEN"
    assert lines[3] == f"gateway        {about}"
    assert "               km-search" in lines and "               km-ingest-status" not in lines
    described = here.run("mcp", "--describe").out
    assert json.loads(described)["gateway"] == {"at": "127.0.0.1:8931", "tokens": ["KM_READER_TOKEN"]}
    assert READER not in described
    bare = desk("http://127.0.0.1:8931")
    assert "are forwarded there, without a token\n" in bare.run("mcp", "--check").out
    alone = desk("")
    assert json.loads(alone.run("mcp", "--describe").out)["gateway"] is None
    assert "gateway" not in alone.run("mcp", "--check").out


def test_an_address_with_credentials_is_refused(desk: Open) -> None:
    for words in ("mcp --check", "mcp", "call km-search --query x", "tools"):
        done = desk("https://user:geheim@example.org").run(*words.split())
        assert (done.code, done.out) == (1, "")
        assert "KM_GATEWAY_URL is not the URL of a server" in done.err and "geheim" not in done.err


def test_the_configuration_decides_on_forwarding(duvet_command: str, project: Path, desk: Open) -> None:
    here = desk("http://127.0.0.1:9")
    make(here.folder, {"duvet.config.json": '{"toolPacks": {"knowledge": {"enabled": false}}}'})
    assert "km-search" not in here.run("tools").out
    make(here.folder, {"duvet.config.json": '{"toolPacks": {"knowledge": {"tools": {"km-search": false}}}}'})
    listed = here.run("tools").out
    assert "km-search" not in listed and "km-graph-search" in listed
    # A server over HTTP forwards nothing, because it could forward to itself forever.
    with Command(duvet_command, project, KM_GATEWAY_URL="http://127.0.0.1:9") as command:
        pass
    assert "WARN KM_GATEWAY_URL is ignored over HTTP" in command.first

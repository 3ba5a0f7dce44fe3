import json
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import run
from tests.cli.sample_project import make
from tests.cli.server import team
from tests.pairwise import pairwise
from tests.unit.knowledge.stored_project import NODES, STORE, fill
from tests.unit.server.http.command import Command
from tests.unit.server.http.http_server import ADMIN, API, MEDIA, READER, TOKENS, refused
from tests.unit.server.stdio_server import Wire
from tests.unit.tools.tool_calls import FILES

LOCAL = ("pipes", "shell")
FACES = ("rest", "mcp", *LOCAL, "forwarding pipes", "forwarding shell")


class Faces:
    def __init__(self, command: str, folder: Path, stack: ExitStack) -> None:
        self.command = command
        self.stack = stack
        self.served = stack.enter_context(Command(command, team.team(folder / "served/pot"), **TOKENS))
        self.local = team.team(folder / "local/pot")
        self.desk = make(folder / "desk/pot", FILES)
        self.opened: dict[tuple[str, str], tuple[team.Ask, set[str] | None]] = {}

    @cached_property
    def reference(self) -> dict[str, Any]:
        return {
            tool: team.replace_varying_values(team.by_shell(self.command, self.local)(tool, given).value)
            for tool, given in team.ALL.items()
        }

    def get(self, face: str, caller: str) -> tuple[team.Ask, set[str] | None]:
        if (face, caller) not in self.opened:
            self.opened[face, caller] = self.open(face, caller)
        return self.opened[face, caller]

    def open(self, face: str, caller: str) -> tuple[team.Ask, set[str] | None]:
        if face in ("rest", "mcp"):
            client = self.stack.enter_context(self.served.client("".join(team.CALLERS[caller].values())))
            listed = None if caller == "nobody" else {*client.listed}
            return (team.by_rest if face == "rest" else team.by_mcp)(client), listed
        folder, environ = (self.local if face in LOCAL else self.desk), dict(team.CALLERS[caller])
        if face not in LOCAL:
            environ["KM_GATEWAY_URL"] = self.served.url.removesuffix("/mcp")
        if face.endswith("shell"):
            rows = json.loads(run(self.command, folder, "tools", "--format", "json", environ=environ).out)
            return team.by_shell(self.command, folder, **environ), {row["name"] for row in rows}
        wire = Wire(self.command, folder, **environ)
        self.stack.callback(wire.kill)
        wire.greet()
        return team.by_pipes(wire), {tool["name"] for tool in wire.ask("tools/list")["result"]["tools"]}


@pytest.fixture(scope="module")
def faces(duvet_command: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faces]:
    with ExitStack() as stack:
        yield Faces(duvet_command, tmp_path_factory.mktemp("faces"), stack)


@pytest.mark.parametrize(
    "row", pairwise(tool=team.ALL, face=FACES, caller=team.CALLERS), ids=lambda row: " ".join(map(str, row.values()))
)
def test_every_tool_on_every_face_for_every_caller(faces: Faces, row: dict[str, str]) -> None:
    tool, face, caller = row["tool"], row["face"], row["caller"]
    is_forwarded, is_readers = face.startswith("forwarding"), tool in team.READERS
    is_allowed = caller == "admin" or (is_readers and caller == "reader")
    if is_allowed or (face in LOCAL and caller == "nobody") or (is_forwarded and tool == "km-help"):
        expected = ""
    else:
        expected = "unauthorized" if caller == "nobody" else "forbidden"
    ask, listed = faces.get(face, caller)
    code, value = ask(tool, team.ALL[tool])
    if face.endswith("shell") and expected:
        assert code == "exit 1" and ("scope maintainer" in value) == (not is_readers)
    else:
        assert code == expected
    if not expected:
        assert value["status"] in ("ok", "success")
        assert team.replace_varying_values(value) == faces.reference[tool]
    if listed is not None:
        assert (tool in listed) == (is_readers or caller == "admin" or (face in LOCAL and caller == "nobody"))
    if face == "rest":
        # A caller without permission learns nothing about its arguments.
        assert ask(tool, {"nonsense": 1}).code == (expected or "invalid_request")


def test_workflows_and_recipes_give_no_rights(faces: Faces) -> None:
    ##= man/spec/service.md#workflows
    ##% The server MUST offer a workflow only to callers that may call every tool in the workflow.
    for caller, code in (("reader", "forbidden"), ("admin", "")):
        ask, listed = faces.get("rest", caller)
        assert [ask("workflow.look", {}).code, ask("km-recipe-run", {"recipe": "good"}).code] == [code, code]
        assert listed is not None and ("workflow.look" in listed) == (not code)
    for face, caller in (("pipes", "admin"), ("shell", "nobody")):
        ran = faces.get(face, caller)[0]("workflow.look", {}).value["outputs"]
        expected = {f"step{number}": faces.reference[tool] for number, tool in enumerate(team.READING)}
        assert team.replace_varying_values(ran) == expected


@pytest.mark.criterion("knowledge 2")
def test_the_catalogue_has_scopes_and_hints(faces: Faces, duvet_command: str) -> None:
    with faces.served.client(ADMIN) as client:
        scopes = {name: tool["scope"] for name, tool in client.listed.items() if name.startswith("km-")}
    assert scopes == dict.fromkeys(team.READERS, "reader") | dict.fromkeys(team.MAINTAINERS, "maintainer")
    wire = Wire(duvet_command, faces.local)
    wire.greet()
    tools = wire.ask("tools/list")["result"]["tools"]
    wire.kill()
    hints = {tool["name"]: tool["annotations"]["readOnlyHint"] for tool in tools}
    assert {tool: hints[tool] for tool in team.ALL} == {tool: tool in team.READING for tool in team.ALL}
    assert hints["workflow.look"]


WRONG_SEARCHES: list[tuple[dict[str, Any], str]] = [
    ({}, "Field 'query' is required"),
    ({"query": "a", "limit": "5"}, "Field 'limit' must be an integer"),
    ({"query": "a", "filters": []}, "Field 'filters' must be an object"),
    ({"query": "a", "filters": {"tags": "a"}}, "filters.tags must be an array of strings"),
    ({"query": "a", "filters": {"artifact_types": ["poem"]}}, "Unsupported artifact type 'poem'"),
]
FAILING: list[tuple[str, dict[str, Any], str, str]] = [  # The last one once the store is broken.
    *(("km-search", given, "invalid_request", message) for given, message in WRONG_SEARCHES),
    ("km-graph-node", {"node_id": "Code:gone.py"}, "not_found", "Node 'Code:gone.py' not found"),
    ("km-graph-node", {"node_id": "nowhere"}, "invalid_identifier", "Invalid node identifier"),
    ("km-ingest-trigger", {"paths": ["a"]}, "unsupported_operation", ""),
    ("km-recipe-run", {"recipe": "nowhere"}, "recipe_not_found", ""),
    ("km-recipe-run", {"recipe": "bad"}, "invalid_request", ""),
    ("km-recipe-run", {"recipe": "failing"}, "tool_failed", ""),
    ("km-recipe-run", {"recipe": "wrong"}, "assert_failed", ""),
    ("km-recipe-run", {"recipe": "late"}, "timeout", ""),
    ("km-upload", {"source_path": "nowhere"}, "invalid_request", ""),
    ("km-storetext", {"content": " "}, "invalid_request", ""),
    ("km-search", {"query": "boil"}, "upstream_error", ""),
]


@pytest.mark.parametrize("face", ["rest", "mcp", *LOCAL])
@pytest.mark.criterion("knowledge 4")
def test_every_failure_on_every_face(duvet_command: str, tmp_path: Path, face: str) -> None:
    with ExitStack() as stack:
        faces = Faces(duvet_command, tmp_path, stack)
        ask, _ = faces.get(face, "admin")
        # More than the limit of the schema counts as the limit.
        assert ask("km-search", {"query": "boil", "limit": 1000}).code == ""
        for tool, given, code, message in FAILING:
            if code == "upstream_error":
                for name in ("served/pot", "local/pot"):
                    team.break_store(tmp_path / name)
            found = ask(tool, given)
            if face == "shell":
                is_usage = code in ("invalid_request", "invalid_identifier")
                assert found.code == ("exit 2" if is_usage else "exit 1"), (tool, given)
                assert "rror: " in found.value and message in found.value
            else:
                assert found.code == code and found.value, (tool, given)
                assert not message or found.value == message


def test_a_server_follows_a_repaired_store(duvet_command: str, tmp_path: Path) -> None:
    project = team.team(tmp_path / "pot")
    with Command(duvet_command, project, **TOKENS) as command, command.client(ADMIN) as client:
        hint = "write LABEL:KEY, such as DesignDoc:docs/README.md"
        wrong = refused("invalid_identifier", "Invalid node identifier", hint)
        assert client.post_tool("km-graph-node", node_id="nowhere") == (400, wrong)
        status, found = client.post_tool("km-search", query="boil " * 200_000)
        assert status == 200 and found["results"]
        team.break_store(project)
        assert client.post_tool("km-search", query="boil")[0] == 503
        for path in project.joinpath(STORE).parent.iterdir():
            path.unlink()
        assert client.post_tool("km-ingest-status")[1] == {"status": "not_found"}
        fill(project)
        assert client.post_tool("km-ingest-status")[1]["run_id"] == "r1"
        text = client.get("/metrics").text
    assert 'duvet_tool_failures_total{error="upstream_error",tool="km-search"} 1.0' in text


def test_the_pack_is_off_unless_it_is_enabled(duvet_command: str, tmp_path: Path) -> None:
    project = team.team(tmp_path / "pot", {})
    other = json.dumps({**team.SETTINGS, "store": {"path": "other/store.db"}})
    node = {"node_id": NODES[0].id}
    with Command(duvet_command, project) as command, command.client() as client:
        assert client.listed.keys().isdisjoint(team.ALL)
        assert client.post_tool("km-search", query="boil")[0] == 400
        # An edit of the configuration applies to the next request, but not the place of the store.
        for config in (json.dumps({"toolPacks": {"knowledge": {}}}), other):
            make(project, {"duvet.config.json": config})
            assert client.post_tool("km-graph-node", **node)[1]["status"] == "ok"
    with Command(duvet_command, project) as command, command.client() as client:
        assert client.post_tool("km-graph-node", **node)[0] == 503


def test_a_recipe_has_variables_and_the_record_of_its_steps(faces: Faces) -> None:
    ask, _ = faces.get("rest", "admin")
    assert ask("km-recipe-run", {"recipe": "look", "vars": {"x": 2}}).value["outputs"] == {"x": 2}
    assert faces.get("pipes", "admin")[0]("km-recipe-run", {"recipe": "look"}).value["outputs"] == {"x": 1}
    states = {"failing": ["error", "skipped"], "wrong": ["error"], "late": ["error"], "bad": None, "nowhere": None}
    with faces.served.client(ADMIN) as client:
        for name, expected in states.items():
            by_plain_http = client.post_tool("km-recipe-run", recipe=name)[1]
            told = json.loads(client.call("km-recipe-run", recipe=name)["result"]["content"][0]["text"])
            for error in (by_plain_http, told["error"]):
                steps = error.get("details", {}).get("steps")
                assert (steps and [step["status"] for step in steps]) == expected, name


NESTED = json.loads("[" * 300 + "]" * 300)
HOSTILE: list[tuple[str, dict[str, Any]]] = [
    *(("km-graph-node", {"node_id": node}) for node in ("", ":", "x", "Label:", "Nothing:x", ":x")),
    ("km-graph-node", {"node_id": "DesignDoc:../../../../etc/passwd"}),
    ("km-graph-node", {"node_id": "Chunk:" + "x" * 19_000 + "::0"}),
    ("km-graph-node", {"node_id": "Code:" + "x" * 30_000}),
    ("km-graph-search", {"term": "'; DROP TABLE node; --"}),
    *(("km-search", {"query": query}) for query in ('" OR * NEAR( ^', "\ud800")),
    ("km-search", {"query": "x", "limit": 10**30}),
    ("km-search", {"query": "x", "filters": {"symbols": {"a": 1}}}),
    ("km-search", {"query": "x", "filters": {"updated_after": "9999999-99-99"}}),
    ("km-search", {"query": "x", "filters": {"max_age_days": 10**18}}),
    ("km-graph-subsystem", {"name": "Kettle", "cursor": "AAAA////"}),
    ("km-ingest-trigger", {"profile": "../../x\n"}),
    *(("km-backup-trigger", {"destination": path}) for path in ("/etc", "a\x00b")),
    *(("km-upload", {"source_path": path}) for path in ("/etc/passwd", "a\x00b")),
    ("km-upload", {"source_path": "given.md", "destination": "../../x"}),
    *(
        ("km-storetext", {"content": "x", "destination": path})
        for path in ("../x.md", "/etc/x.md", "docs/../../x.md", "~/x.md\x00", "C:\\x.md", "con.md")
    ),
    ("km-storetext", {"content": "x", "title": "a\n---\nb: !!python/object:os.system"}),
    ("km-recipe-run", {"recipe": "../../../etc/passwd"}),
    ("km-recipe-run", {"recipe": "good", "vars": {"__class__": 1}}),
    ("km-feedback-submit", {"request_id": "r", "chunk_id": "../../x", "vote": 1e308}),
    ("km-feedback-submit", {"request_id": "r", "chunk_id": "c", "context": {"a": ["x"] * 9_000}}),
    ("km-feedback-submit", {"request_id": "r", "chunk_id": "c", "context": {"a": NESTED}}),
]
BODIES = [b"", b"{", b"\xff\xfe", b"[" * 60_000, b'{"tool": "km-search", "input": [1]}', b'{"tool": 5}', b"null"]


@pytest.mark.criterion("knowledge 6")
def test_nothing_leaks(duvet_command: str, tmp_path: Path) -> None:
    folder = team.team(tmp_path / "pot")
    heard: list[str] = []
    paths = ("/api/v1/coverage", "/api/v1/lifecycle/history?limit=%00", "/metrics", f"/x?t={ADMIN}")
    with Command(duvet_command, folder, **TOKENS) as command:
        for token in (ADMIN, READER, "wrong-token", ""):
            with command.client(token) as client:
                # The first one does it again when the store is broken; more would fill the pipe that its log goes to.
                for _ in range(2 if token == ADMIN else 1):
                    # Without a token, arguments are not read.
                    for tool, given in HOSTILE if token in (ADMIN, READER) else HOSTILE[::6]:
                        status, found = client.post_tool(tool, **given)
                        assert status != 500, (tool, given)
                        if tool == "km-storetext" and "destination" in given:
                            assert (status, found["code"]) == (400, "invalid_request") or token != ADMIN
                        heard += [json.dumps(_hide_stored_path(one)) for one in (found, client.call(tool, **given))]
                    for body in BODIES:
                        for path in (API, "/mcp"):
                            answer = client.post(path, content=body, headers=MEDIA)
                            assert 400 <= answer.status_code < 500
                            heard += [answer.text, str(answer.headers)]
                    heard += [client.get(path).text for path in paths]
                    if token == ADMIN:
                        team.break_store(folder)
        _, out, err = command.end()
    everything = "\n".join([*heard, out, err])
    for secret in (ADMIN, READER, str(folder), "Traceback", 'File "', "sqlite3."):
        where = everything.find(secret)
        assert where < 0, everything[max(where - 300, 0) : where + 300]
    assert err.count(" call ") > 3 * len(HOSTILE)


def _hide_stored_path(value: Any) -> Any:
    if isinstance(value, dict):
        found = {name: _hide_stored_path(one) for name, one in value.items() if name != "stored_path"}
        if isinstance(found.get("text"), str) and "stored_path" in found["text"]:
            found["text"] = _hide_stored_path(json.loads(found["text"]))
        return found
    return [_hide_stored_path(one) for one in value] if isinstance(value, list) else value

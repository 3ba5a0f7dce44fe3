import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import failed, play, run, runner
from tests.cli.sample_project import PROJECTS, make
from tests.unit.server.clients import client_of, over_stdio
from tests.unit.server.http.command import Command
from tests.unit.server.stdio_server import Wire, request
from tests.unit.specs.download_server import LONGEST
from tests.unit.tools.tool_calls import FILES

pytestmark = pytest.mark.anyio
Start = Callable[..., Wire]
PACK = (PROJECTS / "pack/kettle.py").read_text()
CONFIG: dict[str, Any] = {
    "toolPacks": {"kettle": {"path": "./kettle.py", "settings": {"drink": "milk"}}},
    "workflows": {
        name: {
            "description": "x",
            "variables": {"given": {"type": kind}},
            "steps": [{"id": "s", "tool": tool, "params": {argument: "${vars.given}"}}],
        }
        for name, kind, tool, argument in [
            ("spilling", "integer", "spill", "cups"),
            ("uncited", "string", "list_uncited_requirements", "level"),
        ]
    },
}


def kettle(folder: Path, config: dict[str, Any] = CONFIG, **server: Any) -> Path:
    text = json.dumps({**config, "server": server})
    return make(folder / "project", {**FILES, "kettle.py": PACK, "duvet.config.json": text})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return kettle(tmp_path)


@pytest.mark.criterion("core 2.1.2", "core 2.1.3", "core 2.1.4", "core 2.4.2")
async def test_a_file_of_the_project_is_a_pack(duvet_command: str, tmp_path: Path, version: str) -> None:
    ##= man/spec/service.md#packs
    ##% A function in the file of a pack MUST become a tool, a resource or a prompt if it has one of duvet's decorators.
    async with client_of(over_stdio(duvet_command, kettle(tmp_path)), version) as client:
        tools = {one.name: one for one in (await client.list_tools()).tools}
        boil = tools["boil"]
        assert (boil.title, boil.description) == ("Boil", "Return how many seconds water takes to boil.")
        assert boil.input_schema == {
            "type": "object",
            "properties": {
                "litres": {"description": "how much water is in the kettle", "type": "number"},
                "celsius": {"description": "how warm the water should be", "type": "integer", "default": 100},
            },
            "required": ["litres"],
        }
        assert boil.output_schema == {
            "type": "object",
            "properties": {"result": {"type": "integer"}},
            "required": ["result"],
        }
        assert (await client.call_tool("boil", {"litres": 1})).structured_content == {"result": 167}
        first = (await client.list_resources()).resources[0]
        assert (first.uri, first.description) == ("duvet:///packs/kettle/menu", "What there is to drink.")
        (content,) = (await client.read_resource(first.uri)).contents
        assert (content.mime_type, content.text) == ("application/json", '["milk"]')  # type: ignore[union-attr]
        brew = {one.name: one for one in (await client.list_prompts()).prompts}["brew"]
        told = [(one.name, one.description, one.required) for one in brew.arguments or ()]
        assert told == [("kind", "what to brew", True), ("cups", "", False)]
        (message,) = (await client.get_prompt("brew", {"kind": "tea"})).messages
        assert message.content.text == "Brew one of tea."  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="kind is missing"):
            await client.get_prompt("brew", {})


def test_the_shell_has_the_parts_of_packs(duvet_command: str, tmp_path: Path) -> None:
    duvet = runner(duvet_command, kettle(tmp_path))
    assert duvet("prompt", "brew", "--arg", "kind=tea").out == "Brew one of tea.\n"
    assert json.loads(duvet("prompt", "--format", "json").out)[-1]["name"] == "brew"
    assert "Error: kind is missing\n" in duvet("prompt", "brew").err
    described = json.loads(duvet("mcp", "--describe").out)
    assert described["resources"][-1]["uri"] == "duvet:///packs/kettle/menu"
    assert described["prompts"][-1]["name"] == "brew" and "`brew`" in described["instructions"]
    assert "pack           kettle: 3 tools, 1 resource, 1 prompt\n" in duvet("mcp", "--check").out


def test_files_outside_are_refused(duvet_command: str, tmp_path: Path) -> None:
    ##= man/spec/service.md#packs
    ##% duvet MUST load the file of a pack only from inside the project or, with `--pages`, from inside the folder of
    ##% the service configuration.
    (tmp_path / "kettle.py").write_text("raise SystemExit(7)")
    for name, path, reason in (
        ("kettle", "../kettle.py", "../kettle.py is not a file inside the project"),
        ("kettle", "link.py", "link.py is not a file inside the project"),
        ("kettle", "gone.py", "gone.py does not exist"),
        ("pages", "kettle.py", "pages is a built-in pack; choose another name for the pack in kettle.py"),
    ):
        folder = kettle(tmp_path, {"toolPacks": {name: {"path": path}}})
        (folder / "link.py").unlink(missing_ok=True)
        (folder / "link.py").symlink_to("../kettle.py")
        column = (folder / "duvet.config.json").read_text().index('"path"') + 1
        refused = failed(f"toolPacks.{name}.path: {reason} [DUV005]", f"duvet.config.json:1:{column}")
        assert run(duvet_command, folder, "tools") == refused


def test_other_commands_run_no_file(duvet_command: str, tmp_path: Path) -> None:
    folder = kettle(tmp_path)
    (folder / "kettle.py").write_text("open('ran', 'w')\nraise ValueError('no\\ntea')\n")
    for line in ("report", "search coffee", "validate", "workflow list", "pages"):
        run(duvet_command, folder, *line.split())
    assert not (folder / "ran").exists()
    unloaded = 'WARN a pack was not loaded pack=kettle reason="ValueError: no (line 2)"\n'
    for line in ("tools", "tools boil", "call boil", "call coverage_summary", "prompt", "prompt x"):
        assert run(duvet_command, folder, *line.split()).err.count(unloaded) == 1
    assert (folder / "ran").exists()


def test_two_tools_of_a_file_need_two_names(duvet_command: str, tmp_path: Path) -> None:
    folder = kettle(tmp_path)
    # A second name for a function is not a second tool.
    (folder / "kettle.py").write_text(f"{PACK}\nheat = boil\ncard = menu\n")
    assert run(duvet_command, folder, "call", "boil", "--litres", "1").out == '{\n  "result": 167\n}\n'
    (folder / "kettle.py").write_text(f"{PACK}\n@tool(name='boil')\ndef heat() -> int:\n    return 1\n")
    told = run(duvet_command, folder, "mcp", "--check")
    assert "left out       kettle: the name boil occurs more than once\n" in told.out and told.code == 1


def list_changes(wire: Wire) -> list[str]:
    found: list[str] = []
    while len(set(found)) < 3:
        found.append(wire.read()["method"])
    return sorted(set(found))


CHANGES = [f"notifications/{name}/list_changed" for name in ("prompts", "resources", "tools")]


@pytest.mark.criterion("core 2.2.5")
@pytest.mark.parametrize("has_project", [True, False])
def test_a_pack_is_loaded_again_when_it_changes(project: Path, wire: Start, has_project: bool) -> None:
    if not has_project:
        (project / ".duvet/config.toml").unlink()
    session = wire()

    def call(tool: str) -> Any:
        return session.ask("tools/call", {"name": tool, "arguments": {"litres": 1}}).get("result")

    def names(method: str, part: str) -> list[str]:
        return [one["name"] for one in session.ask(method, {})["result"][part]]

    session.greet()
    assert "boil" in names("tools/list", "tools")
    assert call("boil")["structuredContent"] == {"result": 167}
    (project / "kettle.py").write_text(PACK.replace("def boil(", "def heat("))
    assert list_changes(session) == CHANGES
    assert call("heat")["structuredContent"] == {"result": 167} and call("boil") is None
    (project / "duvet.config.json").write_text('{"toolPacks": {"kettle": {"path": "kettle.py", "enabled": false}}}')
    assert list_changes(session) == CHANGES
    assert "heat" not in names("tools/list", "tools")
    assert "brew" not in names("prompts/list", "prompts")
    assert "menu" not in names("resources/list", "resources")
    text = session.ask("prompts/get", {"name": "system"})["result"]["messages"][0]["content"]["text"]
    assert "brew" not in text and "heat" not in text
    assert session.end() == 0


STATUSES: list[tuple[str, dict[str, Any], int, str, str]] = [
    ("spill", {"cups": 0}, 500, "tool_failed", "spill failed"),
    ("spill", {"cups": "x"}, 400, "invalid_request", "cups: expected integer, got string"),
    ("workflow.spilling", {"given": 0}, 500, "tool_failed", "spilling failed in step s: spill: spill failed"),
    ("workflow.spilling", {}, 400, "invalid_request", "Missing required parameter: given"),
    (
        "workflow.uncited",
        {"given": "WILL"},
        400,
        "tool_failed",
        "uncited failed in step s: list_uncited_requirements: level: invalid enum value 'WILL'",
    ),
]


def test_a_status_says_whose_fault_it_is(duvet_command: str, tmp_path: Path) -> None:
    ##= man/spec/service.md#rest
    ##% The server MUST answer 503 only if the same call can succeed later.
    with Command(duvet_command, kettle(tmp_path)) as command, command.client() as client:
        for tool, given, status, code, message in STATUSES:
            answered, error = client.post_tool(tool, **given)
            assert (answered, error["code"], error["error"]) == (status, code, message)


@pytest.mark.parametrize("level", ["warn", "debug"])
def test_exceptions_of_tools_are_logged(duvet_command: str, tmp_path: Path, level: str) -> None:
    with Command(duvet_command, kettle(tmp_path, logFormat="json", logLevel=level)) as command:
        with command.client() as client:
            client.post_tool("spill", cups=0)
        code, out, err = command.end()
    lines = [json.loads(line) for line in (command.first + err).splitlines()]
    assert (code, out, lines[0]["message"]) == (0, "", "duvet mcp: serving")
    raised = next(one for one in lines if one["message"] == "a tool raised an exception")
    place = f"kettle.py:{PACK.splitlines().index('    return 1 // cups') + 1}"
    assert (raised["tool"], raised["at"]) == ("spill", place)
    assert raised["error"] == "ZeroDivisionError: integer division or modulo by zero"
    assert ("    return 1 // cups" in [one["message"] for one in lines]) == (level == "debug")


@pytest.mark.criterion("core 2.2.6")
@pytest.mark.parametrize(("sort", "seconds"), [(signal.SIGINT, 0.2), (signal.SIGTERM, 20)])
def test_a_signal_lets_running_calls_end(tmp_path: Path, wire: Start, sort: signal.Signals, seconds: float) -> None:
    folder = kettle(tmp_path, shutdownTimeout=seconds, logLevel="info")
    os.mkfifo(folder / "pipe")
    session = wire()
    session.greet()
    given = {"name": "pour", "arguments": {"path": "pipe"}, "_meta": {"progressToken": 1}}
    session.send(request("tools/call", given, id=7))
    assert session.read()["params"]["message"] == "pouring"
    session.process.send_signal(sort)
    if seconds > 1:
        (folder / "pipe").write_text("tea")
    answer = session.read()
    assert (session.process.wait(LONGEST), session.line()) == (0, b"")
    told = session.told()
    if seconds > 1:
        assert (answer["id"], answer["result"]["structuredContent"]) == (7, {"result": "tea"})
        assert "tool=pour" in told and "status=ok" in told
    else:
        assert (answer["id"], answer["error"]["code"]) == (7, -32000)
        assert "tool=pour" in told and "code=cancelled" in told


async def test_without_a_project_there_are_no_resources(duvet_command: str, tmp_path: Path) -> None:
    folder = make(tmp_path / "empty", {"a.txt": ""})
    async with client_of(over_stdio(duvet_command, folder), "2025-11-25") as client:
        assert (await client.list_resources()).resources == []
    make(folder, {"kettle.py": PACK, "duvet.config.json": json.dumps({"toolPacks": CONFIG["toolPacks"]})})
    async with client_of(over_stdio(duvet_command, folder), "2025-11-25") as client:
        assert [one.name for one in (await client.list_resources()).resources] == ["menu"]


async def test_a_disabled_pack_is_gone_from_every_face(duvet_command: str, tmp_path: Path) -> None:
    packs = {**CONFIG["toolPacks"], "trace": {"enabled": False}}
    folder = kettle(tmp_path, {"toolPacks": packs})
    async with client_of(over_stdio(duvet_command, folder), "2025-11-25") as client:
        assert [one.name for one in (await client.list_tools()).tools] == ["boil", "spill", "pour"]
        assert [one.name for one in (await client.list_prompts()).prompts] == ["system", "brew"]
        assert [one.name for one in (await client.list_resources()).resources] == ["menu"]
        assert (await client.list_resource_templates()).resource_templates == []
        with pytest.raises(MCPError, match="the pack `trace` is disabled"):
            await client.read_resource("duvet:///requirements")
        with pytest.raises(MCPError, match="unknown prompt"):
            await client.get_prompt("triage_uncited", {})
        text = client.instructions or ""
    assert "requirement" not in text.replace("Links the requirements of specifications", "").replace(
        "requirements traceability", ""
    )
    assert "`boil` (litres)" in text and "`brew`" in text and "resources" not in text
    told = json.loads(run(duvet_command, folder, "prompt", "--format", "json").out)
    assert [one["name"] for one in told] == ["system", "brew"]


def test_a_new_pack_passes_its_test(tmp_path: Path, duvet_command: str, gold: Snapshot) -> None:
    ##= man/spec/service.md#packs
    ##% `duvet pack new` MUST write a pack and a test that passes, and MUST NOT overwrite files.
    folder = make(tmp_path / "new", {".duvet/.gitignore": ""})
    lines = ("pack new tea", "call tea_count_words --text 'one two'", "pack new tea", "pack new milk")
    told = play(runner(duvet_command, folder), folder, *lines, "pack new pages", "pack new My-pack")
    gold.assert_match(told, "new.txt")

    right = (folder / "packs/test_tea.py").read_text()
    make(folder, {"packs/test_wrong.py": right.replace('{"result": 1}', '{"result": 9}')})
    program, alone = str(Path(duvet_command).with_name("pytest")), {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    out = run(program, folder, "-q", "-p", "no:cacheprovider", "packs", environ=alone).out
    assert "E           AssertionError: assert {'result': 1} == {'result': 9}\n" in out and "Group" not in out
    assert "1 failed, " in out and "FAILED packs/test_wrong.py" in out and "FAILED packs/test_tea.py" not in out


def test_a_pack_knows_its_tools_without_their_prefix(duvet_command: str, tmp_path: Path) -> None:
    code = "from duvet import PackContext, tool\n\n@tool\ndef heat() -> int:\n    return 9\n\n"
    code += "@tool\ndef brew(ctx: PackContext) -> int:\n    return ctx.call('heat').value.result\n"
    config = {"toolPacks": {"tea": {"path": "tea.py", "prefix": "tea."}}}
    make(tmp_path, {"tea.py": code, "duvet.config.json": json.dumps(config)})
    assert json.loads(run(duvet_command, tmp_path, "call", "tea.brew").out) == {"result": 9}

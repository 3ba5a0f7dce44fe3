"""`duvet prompt`"""

from __future__ import annotations

from pathlib import Path

from msgspec import json

from duvet.config.service_tables import ServerSection
from duvet.prompts.library import load_prompts
from duvet.server.messages import render_instructions
from duvet.tools.packs import Registry, enable_packs
from tests.cli.command import Done, Run, runner
from tests.cli.sample_project import make


def test_the_list_needs_no_project(tmp_path: Path, duvet_command: str, duvet: Run) -> None:
    done = duvet("prompt")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[3].split("\t")[:2] == ["review_citations", "[spec] [file]"]
    assert [line.split("\t")[0] for line in done.out.splitlines()] == [prompt.name for prompt in load_prompts()]
    bare = runner(duvet_command, tmp_path)
    assert bare("prompt") == duvet("prompt", "--format", "plain") == done
    assert bare("prompt", "system") == Done(0, render_instructions(ServerSection(), Registry()), "")
    assert json.decode(duvet("prompt", "--format", "json").out) == json.decode(json.encode(load_prompts()))


def test_the_server_in_the_configuration(duvet: Run, kettle: Path) -> None:
    config = "'$schema' = 'duvet-cli/config/v1'\n[server]\ntitle = 'Tea'\npacks = []\n"
    make(kettle, {".duvet/config.toml": config})
    assert duvet("prompt", "system").out == render_instructions(ServerSection(title="Tea"), Registry(enable_packs(())))


def test_a_prompt_equals_that_of_prioritize(tea: Run) -> None:
    ranked = json.decode(tea("prioritize", "--format", "json", "--limit", "1").out)
    for name in ("implement_requirement", "write_test"):
        printed = tea("prompt", name, "--arg", f"requirement={ranked[0]['identifier']}")
        assert printed == tea("prioritize", "--prompt", name)

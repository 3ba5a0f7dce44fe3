import re
from pathlib import Path

import click
import pytest

from duvet.cli import COMMANDS, cli
from duvet.templates.guide_pages import guide_text, guide_topics
from tests.cli.documents import Session, find_blocks, list_examples, parse_commands
from tests.cli.sample_project import PROJECTS, make
from tests.conftest import ROOT
from tests.sample_project import read_files

README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = {"README": README, "index": guide_text("index"), **{name: guide_text(name) for name in guide_topics()}}
SKIPPED = {
    "README": ["needs the package index"],
    "tutorial": ["opens a browser and runs until interrupted"],
    "configuration": ["installs into the home directory"],
    "agents": ["needs a model", "needs a key", "needs a model"],
    "notes": ["needs a model"],
    "packs": ["needs a model"],
    "pre-commit": ["installs hooks from the network"],
    "teams": [*["serves until interrupted"] * 2, *["needs a running server"] * 2],
}
"""The blocks that no test can run, by document, with the reason that stands before each of them."""


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_block_does_what_the_document_says(name: str, tmp_path: Path) -> None:
    session = Session(tmp_path)
    project = re.search("<!-- project: (.*) -->", DOCUMENTS[name])
    if project:
        init, report, drift = [block.text for block in find_blocks(README) if block.language == "sh"][1:4]
        assert session.execute(init + report, "sh") == 0
        if project[1] == "repaired kettle":
            assert session.execute(drift, "sh") == 1
            assert session.execute("duvet validate --unsafe-fixes && duvet report", "sh") == 0
    assert session.run_document(DOCUMENTS[name]) == []


def test_blocks_that_are_not_run_are_known() -> None:
    skipped = {
        name: [block.value for block in find_blocks(text) if block.key == "skip"] for name, text in DOCUMENTS.items()
    }
    assert {name: reasons for name, reasons in skipped.items() if reasons} == SKIPPED


def test_links_between_documents_lead_somewhere() -> None:
    for name, text in DOCUMENTS.items():
        folder = ROOT if name == "README" else ROOT / "man/guide"
        links = re.findall(r"\]\(([^)#:\s]+)(?:#([\w-]+))?\)", re.sub(r"(?ms)^```.*?^```$", "", text))
        for path, anchor in links:
            target = folder / path
            assert target.exists(), f"{name}: {path}"
            headings = re.findall(r"(?m)^#+ (.*)$", target.read_text()) if anchor else []
            slugs = [re.sub(r"[^\w]+", "-", heading.lower().replace("`", "")).strip("-") for heading in headings]
            assert not anchor or anchor in slugs, f"{name}: {path}#{anchor}"


def test_the_readme_is_short_and_the_guide_names_every_command() -> None:
    assert len(README.splitlines()) <= 150
    guide = "\n".join(DOCUMENTS.values())
    assert [name for name in COMMANDS if f"duvet {name}" not in guide] == []


EXAMPLES = sorted({*list_examples(click.Context(cli, info_name="duvet"))})
NOT_RUN = re.compile(r"https://|ssh |/mnt/|--open|--watch|duvet( -C \S+)? mcp$|--http |duvet ask|~/")
"""Examples that need the network, a model or another folder, or that run until they are interrupted."""
FAILING = (
    *("duvet diff origin/main --fail-on regression", "duvet query", "duvet report --ci", "duvet workflow run"),
    *("duvet report --require-citations", "duvet restore .duvet/", "duvet recipe run", "duvet uncited --fail-on must"),
)
"""Gates and checks that may exit with 1 in the project of the examples."""
PROJECT = read_files(PROJECTS / "examples")
PREPARED = """
git init -q . && git add . && git commit -qm 'Add a kettle' && git commit -q --allow-empty -m 'Add nothing'
git tag v1.0 && git update-ref refs/remotes/origin/main HEAD
duvet -q ingest && duvet backup --output km.tgz && mkdir recipes
duvet recipe show release-prep --output recipes/release-prep.yaml
duvet report --json-v2 client.json --blob-link https://git.example/client
duvet report --json-v2 server.json --blob-link https://git.example/server
cp duvet.config.yaml models.yaml
"""


BEFORE = {
    "duvet init": "rm .duvet/config.toml",
    **dict.fromkeys(("duvet cite 3b42c44e", "duvet cite rfc"), "yes 'fn f() {}' | head -n 91 >src/lib.rs"),
}
"""A script to run before some examples."""


def test_examples_in_help_and_man_pages_run(tmp_path: Path) -> None:
    session = Session(make(tmp_path / "project", PROJECT))
    assert session.execute(PREPARED, "sh") == 0, session.output
    problems: list[str] = []
    for line in EXAMPLES:
        if NOT_RUN.search(line):
            problems += parse_commands(line)
            continue
        before = next((script for start, script in BEFORE.items() if line.startswith(start)), "")
        session.execute(f"git checkout -q .\n{before}", "sh")
        code = session.execute(re.sub(r" \| jq .*", "", line), "sh")
        if code not in ((0, 1) if line.startswith(FAILING) else (0,)):
            problems.append(f"{line}: {code}\n{session.output}")
    assert "\n".join(problems) == ""

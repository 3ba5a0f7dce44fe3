"""The README and the guide do what they say: each of their blocks is run, and their configurations are checked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from duvet.cli import COMMANDS
from duvet.templates import guide_text, guide_topics
from tests.cli.documents import Session, find_blocks
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = {"README": README, "index": guide_text("index"), **{name: guide_text(name) for name in guide_topics()}}
SKIPPED = {
    "README": ["needs the package index"],
    "tutorial": ["opens a browser and runs until interrupted"],
    "configuration": ["installs into the home directory"],
    "agents": ["needs a model"],
    "pre-commit": ["installs hooks from the network"],
    "teams": [*["serves until interrupted"] * 2, *["needs a running server"] * 2],
}
"""The blocks that no test can run, by document, with the reason that stands before each of them."""


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_block_does_what_the_document_says(name: str, tmp_path: Path) -> None:
    session = Session(tmp_path)
    if "<!-- project: kettle -->" in DOCUMENTS[name]:
        tour = list(find_blocks(README))
        scripts = [block.text for block in tour if block.language == "sh" and block.key == ""]
        assert session.execute("\n".join(scripts[:2]), "sh") == 0
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
            assert target.exists() or path.startswith("reference-"), f"{name}: {path}"
            headings = re.findall(r"(?m)^#+ (.*)$", target.read_text()) if anchor else []
            slugs = [re.sub(r"[^\w]+", "-", heading.lower().replace("`", "")).strip("-") for heading in headings]
            assert not anchor or anchor in slugs, f"{name}: {path}#{anchor}"


def test_the_readme_is_short_and_the_guide_names_every_command() -> None:
    assert len(README.splitlines()) <= 150
    guide = "\n".join(DOCUMENTS.values())
    assert [name for name in COMMANDS if f"duvet {name}" not in guide] == []

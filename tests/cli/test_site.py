"""The documentation site contains the guide and a complete reference."""

from __future__ import annotations

import re
import tomllib

import pytest

from duvet.cli import COMMANDS
from duvet.rules import list_rules
from duvet.tools.packs import BUILT_IN_PACKS, Registry, enable_packs
from man.site import make_site_pages
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return make_site_pages()


def test_the_reference_is_complete(pages: dict[str, str]) -> None:
    commands = re.findall(r"(?m)^## duvet ([\w-]+)$", pages["reference-commands.md"])
    assert commands == list(COMMANDS)
    assert re.findall(r"(?m)^## (DUV\d+)", pages["reference-rules.md"]) == sorted(list_rules())
    tools = {tool.name for tool in Registry(enable_packs(tuple(BUILT_IN_PACKS))).list_all()}
    assert set(re.findall(r"(?m)^### (\S+)$", pages["reference-tools.md"])) == tools
    keys = re.findall(r"(?m)^- \*\*`(.*?)`\*\* \(", pages["reference-configuration.md"])
    assert {"source[].pattern", "report.html.spec-text", "server.page-size", "server.pageSize"} <= set(keys)
    assert {"toolPacks.NAME.mode", "workflows.NAME.steps[].tool", "$schema"} <= set(keys)


def test_the_navigation_names_every_page_and_links_stay_on_the_site(pages: dict[str, str]) -> None:
    config = tomllib.loads((ROOT / "man/zensical.toml").read_text())
    assert sorted(re.findall(r"[\w-]+\.md", str(config["project"]["nav"]))) == sorted(pages)
    links = {link for text in pages.values() for link in re.findall(r"\]\(([^):#]+)(?:#[^)]*)?\)", text)}
    assert links <= pages.keys()
    assert "<!--" not in pages["tutorial.md"]

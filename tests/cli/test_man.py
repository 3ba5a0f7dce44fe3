"""The committed man pages say what the commands and the configuration say: `make man` writes them again."""

from __future__ import annotations

import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.cli import cli
from duvet.config.languages import Language
from duvet.config.schema import json_schema, service_schema
from man.build import make_command_pages, make_config_page, make_service_page
from tests.conftest import ROOT

MAN = ROOT / "man"
WRITTEN_BY_HAND = {"duvet.7"}


def made_pages() -> dict[str, str]:
    styles: dict[tuple[str, str], list[str]] = {}
    for language in Language:
        styles.setdefault(language.style, []).append(language.value)
    number = version("duvet-cli")
    config = make_config_page(json_schema(extended=False), json_schema(extended=True), styles, number)
    examples = {path.name: path.read_text().rstrip() for path in sorted((MAN / "examples").glob("duvet.config.*"))}
    service = make_service_page(service_schema(), examples, number)
    return {**make_command_pages(cli, number), "duvet-config.toml.5": config, "duvet.config.5": service}


PAGES = made_pages()


@pytest.mark.parametrize("name", PAGES)
def test_page_is_as_made(name: str, snapshot: Snapshot) -> None:
    snapshot.snapshot_dir = MAN
    snapshot.assert_match(PAGES[name], name)


def test_no_other_page_is_there() -> None:
    assert {path.name for path in MAN.glob("*.[1-9]")} == PAGES.keys() | WRITTEN_BY_HAND


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@pytest.mark.parametrize("page", sorted(MAN.glob("*.[1-9]")), ids=lambda page: str(page.name))
def test_pages_are_clean_roff(page: Path) -> None:
    # One long sheet, as a terminal is: tables that a printer would have to cut are fine.
    roff = ".pl 1000i\n" + page.read_text()
    command = ["groff", "-man", "-t", "-k", "-ww", "-z", "-Tutf8"]
    assert subprocess.run(command, input=roff, capture_output=True, text=True, check=False).stderr == ""

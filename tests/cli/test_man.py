import re
import shutil
import subprocess
import tomllib
from importlib.metadata import version

import click
import pytest
from hypothesis import given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet.cli import COMMANDS, cli
from duvet.config.languages import Language
from duvet.config.schema import json_schema, service_schema
from duvet.rules import list_rules
from duvet.tools.packs import BUILT_IN_PACKS, Registry, enable_packs
from man.build import escape_roff, format_prose, make_command_pages, make_config_page, make_service_page
from man.criteria import CRITERIA, fill_tables, list_untested
from man.site import make_site_pages
from tests.conftest import ROOT

MAN = ROOT / "man"


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
"""Made before a test runs `config` without `duvet`, for which click caches a help option without `-h`."""


def test_pages_are_as_made(snapshot: Snapshot) -> None:
    snapshot.snapshot_dir = MAN
    for name, text in PAGES.items():
        snapshot.assert_match(text, name)
    assert {path.name for path in MAN.glob("*.[1-9]")} == PAGES.keys() | {"duvet.7"}


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_pages_are_clean_roff() -> None:
    # One long sheet, as a terminal is: tables that a printer would have to cut are fine.
    pages = sorted(MAN.glob("*.[1-9]"))
    roff = "".join(f".lf 1 {page.name}\n.pl 1000i\n{page.read_text()}" for page in pages)
    command = ["groff", "-man", "-t", "-k", "-ww", "-z", "-Tutf8"]
    assert subprocess.run(command, input=roff, capture_output=True, text=True, check=False).stderr == ""


def test_a_page_has_what_the_help_shows_and_then_the_details() -> None:
    brew = click.Command("brew", help="Fill a cup.\f\nTwo details.", epilog="\b\nExamples:\n  pot brew")
    page = make_command_pages(click.Group("pot", {"brew": brew}), "1.2")["duvet-brew.1"]
    assert ".SH DESCRIPTION\nFill a cup.\n.SH DETAILS\nTwo details.\n.SH OPTIONS\n" in page
    assert ".SH EXAMPLES\n.EX\npot brew\n.EE\n" in page


def test_a_page_of_a_group_describes_its_subcommands() -> None:
    size = click.Option(["--size"], help="Millilitres.")
    fill = click.Command("fill", help="Fill it.\n\n\b\nExamples:\n  pot cup fill", params=[size])
    old = click.Command("pour", help="Pour it.", hidden=True)
    cup = click.Group("cup", {"fill": fill, "pour": old}, help="Use a cup.")
    page = make_command_pages(click.Group("pot", {"cup": cup}), "1.2")["duvet-cup.1"]
    section = page.partition(".SH COMMANDS\n")[2].partition(".SH OPTIONS\n")[0]
    option = ".TP\n\\fB\\-\\-size\\fR \\fITEXT\\fR\nMillilitres.\n"
    example = ".PP\nExamples:\n.PP\n.EX\npot cup fill\n.EE\n"
    assert section == f".SS duvet cup fill [OPTIONS]\nFill it.\n{option}{example}"


LINE = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E))


def test_text_in_roff() -> None:
    hostile = '.TH\n\'br \\n "a" --b `c` ~^'
    assert escape_roff(hostile) == "\\&.TH\n\\(aqbr \\en \\(dqa\\(dq \\-\\-b \\(gac\\(ga \\(ti\\(ha"
    assert escape_roff("é→𝄞") == r"\[u00E9]\[u2192]\[u1D11E]"
    assert format_prose("Write\n  `report.html`, or   not.") == r"Write \fBreport.html\fR, or not."


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@given(st.lists(LINE, min_size=5, max_size=20))
def test_groff_shows_what_was_escaped(lines: list[str]) -> None:
    text = "\n".join(f".{line}" for line in lines)
    roff = f".nf\n{escape_roff(text)}\n"
    done = subprocess.run(["groff", "-Tascii"], input=roff, capture_output=True, text=True, check=True)
    assert done.stdout.rstrip("\n") == text


def test_each_criterion_names_its_tests(snapshot: Snapshot) -> None:
    text = CRITERIA.read_text(encoding="utf-8")
    snapshot.snapshot_dir = CRITERIA.parent
    snapshot.assert_match(fill_tables(text), CRITERIA.name)
    assert list_untested(text) == []


def test_a_mark_without_a_row_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"no row in criteria\.md for .*pages 3\.2"):
        fill_tables("| pages 1.1 | It boils. | |\n")


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

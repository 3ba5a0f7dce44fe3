"""The committed man pages say what the commands and the configuration say: `make man` writes them again."""

from __future__ import annotations

import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet.cli import cli
from duvet.config.languages import Language
from duvet.config.schema import json_schema, service_schema
from man.build import escape_roff, format_prose, make_command_pages, make_config_page, make_service_page
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


@pytest.mark.parametrize("name", PAGES)
def test_page_is_as_made(name: str, snapshot: Snapshot) -> None:
    snapshot.snapshot_dir = MAN
    snapshot.assert_match(PAGES[name], name)
    assert {path.name for path in MAN.glob("*.[1-9]")} == PAGES.keys() | {"duvet.7"}


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@pytest.mark.parametrize("page", sorted(MAN.glob("*.[1-9]")), ids=lambda page: str(page.name))
def test_pages_are_clean_roff(page: Path) -> None:
    # One long sheet, as a terminal is: tables that a printer would have to cut are fine.
    roff = ".pl 1000i\n" + page.read_text()
    command = ["groff", "-man", "-t", "-k", "-ww", "-z", "-Tutf8"]
    assert subprocess.run(command, input=roff, capture_output=True, text=True, check=False).stderr == ""


@click.group(help="Brew coffee.\n\n\b\nExamples:\n  pot brew")
def pot() -> None:
    pass


@pot.command(epilog="\b\nExamples:\n  pot brew -s \\\n    strong")
@click.option("-s", "--strength", metavar="WORD", help="How `strong` it's to be.", default="mild", show_default=True)
@click.option("--milk/--no-milk", help="With or without.")
@click.option("--secret", hidden=True)
@click.argument("cup")
def brew(strength: str, milk: bool, secret: str, cup: str) -> None:
    """Fill a cup.

    \b
    One line
      and the next

    Never spills.\f
    What nobody reads.
    """


BREW = r""".\" Made from the help of the command: `make man`.
.TH DUVET\-BREW 1 "" "duvet 1.2" "duvet"
.SH NAME
duvet\-brew \- fill a cup
.SH SYNOPSIS
.B duvet brew
.I [OPTIONS]
.I CUP
.SH DESCRIPTION
Fill a cup.
.PP
.RS 4
.EX
One line
  and the next
.EE
.RE
.PP
Never spills.
.SH OPTIONS
.TP
\fB\-s\fR, \fB\-\-strength\fR \fIWORD\fR
How \fBstrong\fR it\(aqs to be. [default: mild]
.TP
\fB\-\-milk\fR / \fB\-\-no\-milk\fR
With or without.
.TP
\fB\-\-help\fR
Show this message and exit.
.SH EXAMPLES
.EX
pot brew \-s \e
  strong
.EE
.SH EXIT STATUS
0 when all is well, 1 when the answer is no or it could not be done, 2 for wrong usage, 3 for a mistake in duvet itself.
See
.BR duvet (1).
.SH SEE ALSO
.BR duvet (1),
.BR duvet\-config.toml (5),
.BR duvet (7)
"""


def test_pages_of_a_small_command_line() -> None:
    pages = make_command_pages(pot, "1.2")
    assert list(pages) == ["duvet.1", "duvet-brew.1"]
    assert pages["duvet-brew.1"] == BREW
    assert ".SH COMMANDS\n.TP\n.BR duvet\\-brew (1)\nFill a cup.\n.SH OPTIONS\n" in pages["duvet.1"]


def schema(**source: Any) -> dict[str, Any]:
    """A file with a list of sources, and a report that is a table in a table."""
    report = {"enabled": {"type": "boolean", "default": True, "description": "Write it"}}
    return {
        "$ref": "#/$defs/File",
        "$defs": {
            "File": {
                "properties": {
                    "$schema": {"type": "string"},
                    "source": {"type": "array", "items": {"properties": source}},
                    "report": {"properties": {"html": {"$ref": "#/$defs/Report"}}},
                }
            },
            "Report": {"properties": report},
            "Type": {"enum": ["a", "b"], "description": "A letter"},
            "Style": {"properties": {"meta": {"type": "string", "description": "What begins it"}}},
        },
    }


PATTERN = {"type": "string", "description": "Which files"}
PATTERNS = {"anyOf": [{"type": "string"}, {"type": "array"}], "description": "Which files, one or more"}
TYPE = {"$ref": "#/$defs/Type", "default": "a", "description": "Which letter"}
STYLE = {"$ref": "#/$defs/Style"}

KEYS = r""".SH KEYS
.SS [[source]]
.TP
\fBpattern\fR = a string
Which files.
In the extended schema: Which files, one or more.
.TP
\fBtype\fR = a | b
Which letter. Default: \fBa\fR.
.TP
\fBstyle.meta\fR = a string
What begins it.
Only in the extended schema.
.SS [report.html]
.TP
\fBenabled\fR = true | false
Write it. Default: \fBtrue\fR.
.SH PATTERNS
"""


def test_keys_of_both_schemas() -> None:
    extended = schema(pattern=PATTERNS, type=TYPE, style=STYLE)
    page = make_config_page(schema(pattern=PATTERN, type=TYPE), extended, {("//=", "//#"): ["c", "go"]}, "1.2")
    assert KEYS in page
    assert "T{\nc, go\nT}\t//=\t//#\n" in page


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

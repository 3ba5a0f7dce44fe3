"""`duvet search` on terminals, in pipes and with closed streams; its colours."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.running import Done, Run, runner
from tests.cli.searching import find, gold, tea

__all__ = ["find", "gold", "tea"]  # fixtures, which tests ask for by name


def test_plain_in_a_pipe(find: Run) -> None:
    assert find("search", "server must") == find("search", "server", "must", "--format", "plain")


@pytest.mark.skipif(sys.platform == "win32", reason="file descriptors")
def test_streams_that_are_closed(find: Run, tea: Path, duvet_command: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    assert find("search", "pot", stdout=writer) == Done(0, "", "")
    os.close(writer)
    shell = runner("/bin/sh", tea)
    assert shell("-c", f"{duvet_command} search pot <&- | head -c 4") == Done(0, "d587", "")
    assert shell("-c", f"{duvet_command} search pot >&-").code == 1


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
@pytest.mark.parametrize("columns", [40, 80, 120])
def test_on_a_terminal(columns: int, duvet_command: str, tea: Path, gold: Snapshot) -> None:
    from tests.cli.terminals import shown

    coloured = shown(duvet_command, tea, "search", "server", columns=columns)
    gold.assert_match(coloured, f"terminal_{columns}.txt")
    plain = re.sub(r"\x1b\[1;33m|(?<=server)\x1b\[0m", "**", coloured)
    dumb = shown(duvet_command, tea, "search", "server", columns=columns, NO_COLOR="1")
    if columns > 100:
        assert dumb == re.sub(r"\x1b\[\d*m", "", plain)
    assert "\x1b" not in dumb and dumb.count("**server**") == 4
    assert shown(duvet_command, tea, "search", "coffee") == ""


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
def test_on_a_terminal_that_is_too_narrow(duvet_command: str, tea: Path) -> None:
    from tests.cli.terminals import shown

    assert (
        shown(duvet_command, tea, "--color", "never", "search", "cups", columns=5)
        == """\
id
  level  status
  section
  text
035b57d7f4bd
  MAY    not started
  tea#serving
  **Cups** MAY be
  warmed.
"""
    )


def test_colours_elsewhere(find: Run) -> None:
    asked = ("search", "cups", "--format", "plain")
    coloured = "\tMAY\tnot started\ttea#serving\t\x1b[1;33mCups\x1b[0m MAY be warmed.\n"
    assert find("--color", "always", *asked).out.endswith(coloured)
    assert find(*asked, environ={"CLICOLOR_FORCE": "1"}).out.endswith(coloured)
    plain = "\tMAY\tnot started\ttea#serving\t**Cups** MAY be warmed.\n"
    assert find("--color", "never", *asked, environ={"CLICOLOR_FORCE": "1"}).out.endswith(plain)

"""`duvet cite`: what is written, and what stays as it is."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.cli.citing import LID, duvet, tea
from tests.cli.examples import examples
from tests.cli.made import make
from tests.cli.running import Done, Run, files, runner

__all__ = ["duvet", "tea"]  # fixtures, which tests ask for by name

PATHS = [f"/specifications/tea/sections/{section}/requirements/1dd64a535306" for section in ("pot", "cup")]


def test_a_citation_is_inserted_and_shown(duvet: Run, tea: Path) -> None:
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST print the citation with its place, or with `--dry-run` print a unified diff and write nothing.
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST NOT change any other byte of the file, including line endings, a byte order mark and a missing
    ##% final newline.
    before = files(tea)
    assert duvet("cite", LID, "--at", "src/lid.rs:2", "--width", "60") == Done(0, SHOWN, "")
    after = files(tea)
    assert after.pop("src/lid.rs") == (
        b"fn lid() {\r\n"
        b"\t//= tea.md#pot\r\n"
        b"\t//# The lid MUST fit the pot, unless there is none,\r\n"
        b"\t//# which is a pity that many a tea party has seen\r\n"
        b"\t//# already.\r\n"
        b"\tturn();\r\n}"
    )
    assert before.items() >= after.items()
    code, out, _ = duvet("show", LID)
    assert code == 0 and "needs tests" in out and "\nsrc/lid.rs:2\n" in out


SHOWN = """\
src/lid.rs:2
    //= tea.md#pot
    //# The lid MUST fit the pot, unless there is none,
    //# which is a pity that many a tea party has seen
    //# already.
"""


def test_a_dry_run_shows_the_difference(duvet: Run, tea: Path) -> None:
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST print the citation with its place, or with `--dry-run` print a unified diff and write nothing.
    before = files(tea)
    done = duvet("cite", LID, "--at", "src/lid.rs:3:1", "--dry-run", "--part", "The lid MUST\nfit")
    assert done == Done(0, DIFFERENCE, "")
    assert files(tea) == before


DIFFERENCE = """\
--- a/src/lid.rs
+++ b/src/lid.rs
@@ -1,3 +1,5 @@
 fn lid() {\r
 \tturn();\r
+//= tea.md#pot\r
+//# The lid MUST fit\r
 }
\\ No newline at end of file
"""


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        (
            (LID, "--at", "tests/test_pot.py:4", "--part", "The lid"),
            "tests/test_pot.py:4\n    \x23#= tea.md#pot\n    \x23#% The lid\n",
        ),
        (
            (LID, "--at", "tests/test_pot.py:4", "--part", "The lid", "--type", "citation"),
            "tests/test_pot.py:4\n    \x23#= tea.md#pot\n    \x23#= type=implementation\n    \x23#% The lid\n",
        ),
        (
            (LID, "--at", "src/lid.rs:1", "--part", "the pot", "--type", "exception", "--reason", "No lids\nhere."),
            "src/lid.rs:1\n//= tea.md#pot\n//= type=exception\n//= reason=No lids here.\n//# the pot\n",
        ),
        (
            (LID, "--at", "src/lid.rs:1", "--part", "the pot", "--type", "todo", "--feature", "a", "--tracking-issue", "7"),
            "src/lid.rs:1\n//= tea.md#pot\n//= type=todo\n//= feature=a\n//= tracking-issue=7\n//# the pot\n",
        ),
        (
            (LID, "--at", "src/lid.rs:1", "--part", "the pot", "--type", "implication"),
            "src/lid.rs:1\n//= tea.md#pot\n//= type=implication\n//# the pot\n",
        ),
        (("tea#pot", "--at", "src/lid.rs:1"), "src/lid.rs:1\n//= tea.md#pot\n"),
        ((PATHS[0], "--at", "src/lid.rs:1"), "src/lid.rs:1\n//= tea.md#pot\n//# The pot MUST be warm.\n"),
        (
            ("tests/test_pot.py:4", "--at", "src\\lid.rs:1"),
            "src/lid.rs:1\n//= tea.md#pot\n//# The pot MUST be warm.\n",
        ),
        (("tea#sugar", "--at", "./c/pot.c:1"), "c/pot.c:1\n/*\n *= tea.md#sugar\n */\n"),
    ],
)  # fmt: skip
def test_what_is_written(args: tuple[str, ...], shown: str, duvet: Run) -> None:
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST wrap the citation at the requested width, and quote the whole requirement, only the words of
    ##% `--part`, or nothing for a section.
    before = duvet("report").err.count("error:")
    assert duvet("cite", *args) == Done(0, shown, "")
    assert duvet("report").err.count("error:") == before == 2


def test_links_and_permissions_stay(duvet: Run, tea: Path) -> None:
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST write the file completely or not at all, through links and with its permissions, unless the
    ##% file has changed since it was read.
    real = tea / "real.txt"
    (tea / "src/lid.rs").rename(real)
    (tea / "src/lid.rs").symlink_to("../real.txt")
    real.chmod(0o750)
    assert duvet("cite", "tea#cup", "--at", f"{tea}/src/lid.rs:1").out == "src/lid.rs:1\n//= tea.md#cup\n"
    assert (tea / "src/lid.rs").is_symlink()
    assert real.read_bytes().startswith(b"//= tea.md#cup\r\nfn lid() {\r\n")
    assert stat.S_IMODE(real.stat().st_mode) == 0o750
    assert [path.name for path in tea.iterdir() if path.name.endswith(".new")] == []


@pytest.mark.parametrize("example", examples("cite"), ids=" ".join)
def test_examples(example: list[str], duvet_command: str, tmp_path: Path) -> None:
    rfc = "RFC 9114\n\n4.1.  Messages\n\n   A client MUST send only a single request on a given stream.\n"
    config = """
    '$schema' = "duvet-cli/config/v1"
    source = [{ pattern = "src/*.rs" }, { pattern = "tests/*.rs" }]
    specification = [{ source = "rfc9114.txt" }]
    """
    lines = "//= rfc9114.txt#section-4.1\n//# A client MUST send only a single request on a given stream.\n"
    source = "fn f() {}\n" * 41 + (lines if "tests/requests.rs:7" in example else "") + "fn f() {}\n" * 50
    texts = {".duvet/config.toml": config, "rfc9114.txt": rfc, "src/lib.rs": source, "tests/requests.rs": "\n" * 9}
    done = runner(duvet_command, make(tmp_path / "example", texts))(*example)
    assert (done.code, done.err) == (0, "") and done.out

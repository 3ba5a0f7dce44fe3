"""`[[not-applicable]]`: what `duvet report` says of requirements that are not owed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.made import CONFIG, KETTLE, make
from tests.cli.running import Done, Run, files, run
from tests.histories import ENVIRON, history

EXTENDED = CONFIG.replace("https://awslabs.github.io/duvet/config/v0.4.json", "duvet-cli/config/v1")
WITHOUT_SNAPSHOT = EXTENDED.partition("[report.snapshot]")[0]
ENTRY = """\
[[not-applicable]]
target = "spec.md#pouring"
reason = "It has no spout"
owner = "the foundry"
expiry = {day}
"""
PAST, FUTURE = "2001-12-31", "9999-12-31"
SUMMARY = """\
                                             needs        in      not                   not
specification  MUST  SHOULD  MAY  done       tests  progress  started  excepted  applicable
Kettle          1/1     0/1  0/0   1/2  50%      0         0        1         0           1

not applicable: 1 requirement of spec.md#pouring: It has no spout (the foundry, until 9999-12-31)
PASS: 1 of 2 applicable requirements done (50 %), 0 excepted, 1 not applicable
"""
EXPIRED = """\
error: this expired on 2001-12-31, and the requirements of spec.md#pouring are owed again [DUV080]
  --> .duvet/config.toml:14:10
   |
14 | expiry = 2001-12-31
   |          ^^^^^^^^^^
   = help: give it a later date, or remove it

encountered 1 errors
"""
EXPIRED_SUMMARY = """\
                                             needs        in      not
specification  MUST  SHOULD  MAY  done       tests  progress  started  excepted
Kettle          1/1     0/1  0/1   1/3  33%      0         0        2         0

expired: 1 requirement of spec.md#pouring: It has no spout (the foundry, expired 2001-12-31)
FAIL: 1 problem, 2 requirements not cited
"""
WRONG = """\
[[not-applicable]]
target = "spec.md#purring"
reason = "a"
[[not-applicable]]
target = "speck.md"
reason = "b"
[[not-applicable]]
target = "spec.md#kettle"
reason = "c"
[[not-applicable]]
target = "spec.md#pouring"
quote = "The spout MUST drip."
reason = "d"
"""
WRONG_SAID = """\
error: there is no section "purring" in spec.md [DUV081]
  --> .duvet/config.toml:11:10
   |
11 | target = "spec.md#purring"
   |          ^^^^^^^^^^^^^^^^^
   = help: did you mean pouring?

error: there is no specification "speck.md" [DUV081]
  --> .duvet/config.toml:14:10
   |
14 | target = "speck.md"
   |          ^^^^^^^^^^
   = help: did you mean spec?

error: spec.md#kettle has no requirement [DUV082]
  --> .duvet/config.toml:17:10
   |
17 | target = "spec.md#kettle"
   |          ^^^^^^^^^^^^^^^^
   = help: did you mean spec.md#heating?

error: no requirement of spec.md#pouring says this [DUV082]
  --> .duvet/config.toml:21:9
   |
21 | quote = "The spout MUST drip."
   |         ^^^^^^^^^^^^^^^^^^^^^^
   = help: did you mean "The spout MAY drip."?

encountered 4 errors
"""


def configured(folder: Path, config: str) -> Path:
    return make(folder, {".duvet/config.toml": config})


def ended(done: Done) -> str:
    """The table and what follows it."""
    return done.err[done.err.rindex("                                             needs") :]


def test_the_end_of_a_report(kettle: Path, duvet: Run) -> None:
    ##= man/spec/gates.md#not-applicable
    ##% The summary, the report, both versions of JSON and the snapshot MUST list every entry with its target, reason,
    ##% owner, expiry date and number of requirements.
    configured(kettle, EXTENDED + ENTRY.format(day=FUTURE))
    first, again = duvet("report"), duvet("report")
    assert (first.code, ended(first)) == (again.code, ended(again)) == (0, SUMMARY)
    assert "nothing has changed" in again.err


def test_an_entry_that_has_expired(kettle: Path, duvet: Run) -> None:
    ##= man/spec/gates.md#not-applicable
    ##% An entry MUST apply until the end of the day on which it expires; after that day, duvet MUST report the entry
    ##% and require its requirements again.
    configured(kettle, EXTENDED + ENTRY.format(day=PAST))
    assert duvet("-q", "report") == Done(1, "", EXPIRED)
    assert ended(duvet("report")) == EXPIRED_SUMMARY
    assert not (kettle / ".duvet/reports/report.json").exists()
    assert '<strong class="fail">expired</strong>' in (kettle / ".duvet/reports/report.html").read_text()


def test_everything_that_is_wrong(kettle: Path, duvet: Run) -> None:
    ##= man/spec/gates.md#not-applicable
    ##% duvet MUST report an entry that matches no requirement where it is written, and SHOULD suggest what is most
    ##% similar.
    configured(kettle, EXTENDED + WRONG)
    assert duvet("-q", "report") == Done(1, "", WRONG_SAID)


@pytest.mark.parametrize(("day", "left"), [(FUTURE, 1), (PAST, 1)])
def test_gates_do_not_ask_for_it(day: str, left: int, kettle: Path, duvet: Run) -> None:
    ##= man/spec/gates.md#not-applicable
    ##% duvet MUST NOT require code or tests for a requirement that is not applicable.
    configured(kettle, WITHOUT_SNAPSHOT + ENTRY.format(day=day))
    done = duvet("-q", "report", "--ci", "--require-citations", "spec.md")
    codes = [line[-7:-1] for line in done.err.splitlines() if line.startswith("error")]
    assert codes == (["DUV080"] if day == PAST else ["DUV062"])
    assert ("spec.md#pouring: The spout" in done.err) is False


def test_the_snapshot_has_it(kettle: Path, duvet: Run) -> None:
    configured(kettle, EXTENDED + ENTRY.format(day=FUTURE))
    assert duvet("-q", "report").code == 0
    assert duvet("-q", "report", "--ci") == Done(0, "", "")
    configured(kettle, EXTENDED + ENTRY.format(day=FUTURE).replace("no spout", "a lid"))
    done = duvet("-q", "report", "--ci")
    assert (done.code, done.err.count("-  REASON: It has no spout\n+  REASON: It has a lid\n")) == (1, 1)


def test_reports_of_packages_are_merged(kettle: Path, duvet: Run) -> None:
    configured(kettle, EXTENDED + ENTRY.format(day=FUTURE))
    for name in ("a", "b"):
        link = f"https://host/{name}"
        assert duvet("-q", "report", "--json-v2", f"{name}.json", "--blob-link", link).code == 0
    assert duvet("merge", "--input", "a.json", "--input", "b.json", "--output", "all.json").code == 0
    found = files(kettle)
    assert found["all.json"].count(b'"reason": "It has no spout"') == found["a.json"].count(b'"reason"') == 1


def test_a_configuration_shows_it(kettle: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#configuration
    ##% `duvet config` MUST show each value in force and where it comes from.
    configured(kettle, EXTENDED + ENTRY.format(day=FUTURE))
    rows = [line.split(None, 1) for line in duvet("config").out.splitlines() if line.startswith("not-applicable")]
    assert [(key, " ".join(rest.split())) for key, rest in rows] == [
        ("not-applicable[0].target", "spec.md#pouring .duvet/config.toml:11"),
        ("not-applicable[0].quote", "- default"),
        ("not-applicable[0].reason", "It has no spout .duvet/config.toml:12"),
        ("not-applicable[0].owner", "the foundry .duvet/config.toml:13"),
        ("not-applicable[0].expiry", "9999-12-31 .duvet/config.toml:14"),
    ]


@pytest.mark.parametrize(("day", "words"), [(FUTURE, "1 of 2"), (PAST, "1 of 3")])
def test_an_earlier_revision_is_held_against_this_day(day: str, words: str, duvet_command: str, tmp_path: Path) -> None:
    config = {".duvet/config.toml": EXTENDED + ENTRY.format(day=day)}
    folder = history(tmp_path / "kettle", {**KETTLE, **config})
    for _ in range(2):
        done = run(duvet_command, folder, "diff", environ=ENVIRON)
        assert (done.code, done.out.count(f"{words} applicable requirements done")) == (0, 2)

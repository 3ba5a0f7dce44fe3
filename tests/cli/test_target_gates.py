"""`duvet report --require-citations TARGET --require-tests TARGET`"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.made import CONFIG, SOURCE, make
from tests.cli.running import Done, Run, files

SNAPSHOT = ".duvet/snapshot.txt"
WITHOUT_SNAPSHOT = {".duvet/config.toml": CONFIG.partition("[report.snapshot]")[0]}


def offender(code: str, what: str, line: int, text: str, target: str) -> str:
    """What is said of a requirement."""
    shown = {5: "The kettle MUST boil water. It SHOULD whistle when done.", 9: "The spout MAY drip."}[line]
    return (
        f"error: this requirement is not {what} [{code}]\n --> spec.md:{line}\n  |\n{line} | {shown}\n"
        f"  | {'^' * len(shown)}\n  = help: spec.md#{target}: {text}\n\n"
    )


WHISTLE, DRIP = "It SHOULD whistle when done.", "The spout MAY drip."
NO_WHISTLE = offender("DUV062", "implemented: uncited", 5, WHISTLE, "heating")
NO_DRIP = offender("DUV062", "implemented: uncited", 9, DRIP, "pouring")
NO_WHISTLE_TEST = offender("DUV063", "tested: uncited", 5, WHISTLE, "heating")
NO_DRIP_TEST = offender("DUV063", "tested: uncited", 9, DRIP, "pouring")
NO_BOIL_TEST = offender("DUV063", "tested: missing test", 5, "The kettle MUST boil water.", "heating")


@pytest.mark.parametrize(
    ("args", "offenders"),
    [
        (("--require-citations", "spec.md"), [NO_WHISTLE, NO_DRIP]),
        (("--require-citations=./spec.md",), [NO_WHISTLE, NO_DRIP]),
        (("--require-citations", "Kettle#pouring"), [NO_DRIP]),
        (("--require-citations", "spec.md#pouring", "--require-citations", "spec.md#heating"), [NO_WHISTLE, NO_DRIP]),
        (("--require-citations", "spec.md", "--require-citations", "spec.md#pouring"), [NO_WHISTLE, NO_DRIP]),
        (("--require-citations", "spec.md#kettle"), []),
        (("--require-tests", "spec.md#heating"), [NO_BOIL_TEST, NO_WHISTLE_TEST]),
        (
            ("--require-tests", "spec.md", "--require-citations", "spec.md#pouring"),
            [NO_BOIL_TEST, NO_WHISTLE_TEST, NO_DRIP, NO_DRIP_TEST],
        ),
        (("--require-citations", "--require-tests", "false"), []),
    ],
)
def test_every_offender(args: tuple[str, ...], offenders: list[str], reported: Path, duvet: Run) -> None:
    ##= man/spec/gates.md#gates-for-targets
    ##% With a target, even without `--ci`, `--require-citations` MUST list each of its requirements that is not fully
    ##% implemented, and `--require-tests` each one that is neither done nor fully tested.
    ##= man/spec/gates.md#gates-for-targets
    ##% duvet MUST list each offender with its target and its place in the specification.
    make(reported, {"src/a.rs": SOURCE.partition("\n\n")[0]})
    count = f"encountered {len(offenders)} errors\n" if offenders else ""
    wanted = Done(1 if offenders else 0, "", "".join(offenders) + count)
    assert duvet("-q", "report", *args) == wanted
    # Now the snapshot has what is there.
    assert duvet("-q", "report", "--ci", *args) == wanted


def test_beside_a_snapshot_that_differs(reported: Path, duvet: Run) -> None:
    before = files(make(reported, {"src/a.rs": SOURCE.partition("\n\n")[0]}))
    done = duvet("-q", "report", "--ci", "--require-tests", "spec.md#heating", "--require-citations", "spec.md#pouring")
    codes = [line[-7:-1] for line in done.err.splitlines() if line.startswith("error")]
    assert (done.code, codes) == (1, ["DUV061", "DUV063", "DUV063", "DUV062"])
    assert files(reported)[SNAPSHOT] == before[SNAPSHOT]


@pytest.mark.parametrize(
    ("args", "codes"),
    [
        ((), ["DUV062"]),
        (("--require-citations", "false"), []),
        (("--require-citations", "spec.md"), ["DUV062", "DUV062"]),
        (("--require-citations", "false", "--require-citations", "spec.md#pouring"), ["DUV062"]),
        (("--require-tests", "spec.md#pouring"), ["DUV062", "DUV063"]),
    ],
)
def test_with_ci_and_without_a_snapshot(args: tuple[str, ...], codes: list[str], kettle: Path, duvet: Run) -> None:
    """What is on a line with something that is implemented passes by lines, and not by requirements."""
    make(kettle, WITHOUT_SNAPSHOT)
    done = duvet("-q", "report", "--ci", *args)
    assert [line[-7:-1] for line in done.err.splitlines() if line.startswith("error")] == codes


UNKNOWN = """\
error: there is no section "purring" in spec.md, which --require-citations names [DUV064]
  = help: did you mean pouring?

error: there is no specification "speck.md", which --require-tests names [DUV064]
  = help: did you mean spec?

encountered 2 errors
"""


def test_targets_that_are_unknown(kettle: Path, duvet: Run) -> None:
    ##= man/spec/gates.md#gates-for-targets
    ##% duvet MUST refuse an unknown target, and SHOULD suggest similar names.
    args = ("--require-citations", "spec.md#purring", "--require-tests", "speck.md")
    assert duvet("-q", "report", *args) == Done(1, "", UNKNOWN)


def test_a_switch_stands_once(kettle: Path, duvet: Run) -> None:
    done = duvet("report", "--require-tests", "true", "--require-tests", "spec.md", "--require-tests", "false")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("Error: the argument '--require-tests <REQUIRE_TESTS>' cannot be used multiple times\n")


def test_lcov_is_not_about_targets(reported: Path, duvet: Run) -> None:
    duvet("-q", "report", "--lcov", "one")
    duvet("-q", "report", "--lcov", "other", "--require-citations", "spec.md#heating")
    found = files(reported)
    assert found["one/compliance.0.lcov"] == found["other/compliance.0.lcov"]

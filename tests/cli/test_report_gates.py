"""The gates of `duvet report`: the snapshot, citations and tests, and requirements that are not applicable."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Done, Run, files, run
from tests.cli.sample_project import CONFIG, HALF, KETTLE, SOURCE, SPECIFICATION, SUMMARY, make
from tests.cli.terminals import Terminal
from tests.histories import ENVIRON, history

SNAPSHOT = ".duvet/snapshot.txt"
WITHOUT_SNAPSHOT = {".duvet/config.toml": CONFIG.partition("[report.snapshot]")[0]}


def messages(done: Done) -> list[str]:
    return re.findall(r"^error: (.*)$", done.err, re.MULTILINE)


def codes(done: Done) -> list[str]:
    return re.findall(r"^error: .*\[(DUV\d+)\]$", done.err, re.MULTILINE)


def all_codes(done: Done) -> list[str]:
    return re.findall(r"^(?:error|warning): .*\[(DUV\d+)\]$", done.err, re.MULTILINE)


def test_a_snapshot_is_compared(reported: Path, duvet: Run, gold: Snapshot) -> None:
    before = files(reported)
    assert duvet("-q", "report", "--ci") == Done(0, "", "")
    # Only the HTML report shows the verdict of the gate.
    page = ".duvet/reports/report.html"
    assert b"PASS: snapshot .duvet/snapshot.txt is up to date" in files(reported)[page]
    assert files(reported) | {page: b""} == before | {page: b""}
    make(reported, {"src/a.rs": HALF})
    done = duvet("-q", "report", "--ci")
    gold.assert_match(done.err, "differs.txt")
    assert (done.code, done.out) == (1, "")
    after = files(reported)
    assert after[SNAPSHOT] == before[SNAPSHOT]
    assert after[".duvet/reports/report.json"] != before[".duvet/reports/report.json"]
    (reported / SNAPSHOT).unlink()
    done = duvet("-q", "report", "--ci")
    gold.assert_match(done.err, "missing.txt")
    assert (done.code, done.out) == (1, "")
    assert files(reported).keys() == before.keys() - {SNAPSHOT}


@pytest.mark.parametrize(
    ("ci", "args", "code"),
    [
        (None, "", 0),
        ("false", "", 0),
        ("0", "", 0),
        ("true", "", 1),
        ("1", "", 1),
        ("False", "", 1),
        ("", "", 1),
        ("true", "--ci false", 0),
        ("true", "--ci=false", 0),
        ("false", "--ci", 1),
        ("false", "--ci true", 1),
        (None, "--ci --require-tests false --require-citations false", 1),
    ],
)
def test_when_a_snapshot_is_checked(ci: str | None, args: str, code: int, kettle: Path, duvet: Run) -> None:
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--ci`, or if the environment variable `CI` is true, `duvet report` MUST compare the current coverage with
    ##% the configured snapshot instead of overwriting the snapshot.
    environ = {} if ci is None else {"CI": ci}
    done = duvet("-q", "report", *args.split(), environ=environ)
    assert (done.code, codes(done)) == (code, ["DUV060"] * code)
    assert (kettle / SNAPSHOT).exists() == (code == 0)
    # Without a snapshot, the environment alone asks for no requirements.
    make(kettle, WITHOUT_SNAPSHOT)
    if "--ci" not in args:
        assert duvet("-q", "report", environ=environ) == Done(0, "", "")


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ("", ["DUV063", "DUV062"]),
        ("--require-tests=false", ["DUV062"]),
        ("--require-citations false --require-tests false", []),
    ],
)
def test_without_a_snapshot(args: str, found: list[str], kettle: Path, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--ci` and without a configured snapshot, `duvet report` MUST list each line of a requirement or of
    ##% other annotated text that no code cites, or that code cites but no test does.
    lines = SPECIFICATION.replace(". It SHOULD", ".\n\nIt should")
    make(kettle, {**WITHOUT_SNAPSHOT, "src/a.rs": HALF, "spec.md": lines})
    done = duvet("-q", "report", "--ci", *args.split())
    assert (done.code, done.out, codes(done)) == (bool(found), "", found)
    if not args:
        gold.assert_match(done.err, "lines.txt")
    assert (kettle / ".duvet/reports/report.json").exists()


NO_WHISTLE = '"It SHOULD whistle when done." is not fully implemented (uncited) [DUV062]'
NO_DRIP = '"The spout MAY drip." is not fully implemented (uncited) [DUV062]'
NO_DRIP_TEST = '"The spout MAY drip." is not fully tested (uncited) [DUV063]'
NO_TESTS = [
    '"It SHOULD whistle when done." is not fully tested (uncited) [DUV063]',
    '"The kettle MUST boil water." is not fully tested (needs tests) [DUV063]',
]


@pytest.mark.parametrize(
    ("args", "offenders"),
    [
        ("--require-citations spec.md", [NO_WHISTLE, NO_DRIP]),
        ("--require-citations=./spec.md", [NO_WHISTLE, NO_DRIP]),
        ("--require-citations Kettle#pouring", [NO_DRIP]),
        ("--require-citations spec.md#pouring --require-citations spec.md#heating", [NO_WHISTLE, NO_DRIP]),
        ("--require-citations spec.md --require-citations spec.md#pouring", [NO_WHISTLE, NO_DRIP]),
        ("--require-citations spec.md#kettle", []),
        ("--require-tests spec.md#heating", NO_TESTS),
        ("--require-tests spec.md --require-citations spec.md#pouring", [*NO_TESTS, NO_DRIP, NO_DRIP_TEST]),
        ("--require-citations --require-tests false", []),
    ],
)
def test_every_offender_of_a_target(
    args: str, offenders: list[str], reported: Path, duvet: Run, gold: Snapshot
) -> None:
    make(reported, {"src/a.rs": HALF})
    done = duvet("-q", "report", *args.split())
    assert (done.code, done.out, messages(done)) == (bool(offenders), "", offenders)
    # Now the snapshot has what is there.
    assert duvet("-q", "report", "--ci", *args.split()) == done
    if NO_DRIP_TEST in offenders:
        gold.assert_match(done.err, "targets.txt")


def test_targets_beside_a_snapshot_that_differs(reported: Path, duvet: Run) -> None:
    before = files(make(reported, {"src/a.rs": HALF}))
    done = duvet("-q", "report", "--ci", "--require-tests", "spec.md#heating", "--require-citations", "spec.md#pouring")
    assert (done.code, codes(done)) == (1, ["DUV061", "DUV063", "DUV063", "DUV062"])
    assert files(reported)[SNAPSHOT] == before[SNAPSHOT]


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ("", ["DUV062"]),
        ("--require-citations false", []),
        ("--require-citations spec.md", ["DUV062", "DUV062"]),
        ("--require-citations false --require-citations spec.md#pouring", ["DUV062"]),
        ("--require-tests spec.md#pouring", ["DUV062", "DUV063"]),
    ],
)
def test_targets_with_ci_and_without_a_snapshot(args: str, found: list[str], kettle: Path, duvet: Run) -> None:
    # A line with anything implemented passes a gate by lines, but not one by requirements.
    make(kettle, WITHOUT_SNAPSHOT)
    assert codes(duvet("-q", "report", "--ci", *args.split())) == found


def test_targets_that_are_unknown(duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/gates.md#gates-for-targets
    ##% duvet MUST refuse a gate on an unknown target, and suggest similar names.
    args = ("--require-citations", "spec.md#purring", "--require-tests", "speck.md")
    done = duvet("-q", "report", *args)
    gold.assert_match(done.err, "unknown.txt")
    assert (done.code, done.out) == (1, "")
    id = json.loads(duvet("uncited", "--format", "json").out)[0]["identifier"]
    for name, target in ((id, "spec.md#heating"), ("pouring", "spec.md#pouring"), ("src", "")):
        done = duvet("-q", "report", "--require-tests", name)
        hint = f"write `--require-tests {target}`" if target else "available: spec"
        message = f'--require-tests takes a specification or SPEC#SECTION, and "{name}" is neither [DUV064]'
        assert (done.code, done.err.partition("\n\n")[0]) == (1, f"error: {message}\n  = help: {hint}")


def test_lcov_is_not_about_targets(reported: Path, duvet: Run) -> None:
    duvet("-q", "report", "--lcov", "one")
    duvet("-q", "report", "--lcov", "other", "--require-citations", "spec.md#heating")
    found = files(reported)
    assert found["one/compliance.0.lcov"] == found["other/compliance.0.lcov"]


UPSTREAM = "https://awslabs.github.io/duvet/config/v0.4.json"
EXTENDED = CONFIG.replace("https://awslabs.github.io/duvet/config/v0.4.json", "duvet-cli/config/v1")
ENTRY = """\
[[not-applicable]]
target = "spec.md#pouring"
reason = "It has no spout"
owner = "the foundry"
expiry = {day}
"""
PAST, FUTURE = "2001-12-31", "9999-12-31"


def test_not_applicable_requirements_are_in_every_report(kettle: Path, duvet: Run, gold: Snapshot) -> None:
    entry = ENTRY.format(day=FUTURE)
    make(kettle, {".duvet/config.toml": EXTENDED + entry})
    first = duvet("report")
    gold.assert_match(first.err, "not_applicable.txt")
    assert (first.code, duvet("report")) == (0, first)
    assert duvet("-q", "report", "--ci") == Done(0, "", "")
    for name in ("a", "b"):
        assert duvet("report", "--json-v2", f"{name}.json", "--blob-link", f"https://host/{name}").code == 0
    assert duvet("merge", "--input", "a.json", "--input", "b.json", "--output", "all.json").code == 0
    found = files(kettle)
    assert found["all.json"].count(b'"reason": "It has no spout"') == found["a.json"].count(b'"reason"') == 1
    make(kettle, {".duvet/config.toml": EXTENDED + entry.replace("no spout", "a lid")})
    done = duvet("-q", "report", "--ci")
    assert (done.code, done.err.count("-  REASON: It has no spout\n+  REASON: It has a lid\n")) == (1, 1)


def test_an_entry_that_has_expired(kettle: Path, duvet: Run, gold: Snapshot) -> None:
    make(kettle, {".duvet/config.toml": EXTENDED + ENTRY.format(day=PAST)})
    done = duvet("report")
    gold.assert_match(done.err, "expired.txt")
    assert duvet("-q", "report") == Done(1, "", done.err.partition("\n\n")[0] + "\n")
    assert not (kettle / ".duvet/reports/report.json").exists()
    assert '<strong class="fail">expired</strong>' in (kettle / ".duvet/reports/report.html").read_text()


@pytest.mark.parametrize(("day", "code"), [(FUTURE, "DUV062"), (PAST, "DUV080")])
def test_gates_do_not_ask_for_what_is_not_applicable(day: str, code: str, kettle: Path, duvet: Run) -> None:
    make(kettle, {".duvet/config.toml": EXTENDED.partition("[report.snapshot]")[0] + ENTRY.format(day=day)})
    done = duvet("-q", "report", "--ci", "--require-citations", "spec.md")
    assert (codes(done), "spec.md#pouring: The spout" in done.err) == ([code], False)


@pytest.mark.parametrize(("day", "words"), [(FUTURE, "50 % (1 of 2)"), (PAST, "33 % (1 of 3)")])
def test_an_earlier_revision_is_held_against_this_day(day: str, words: str, duvet_command: str, tmp_path: Path) -> None:
    config = {".duvet/config.toml": EXTENDED + ENTRY.format(day=day)}
    folder = history(tmp_path / "kettle", {**KETTLE, **config})
    for _ in range(2):
        done = run(duvet_command, folder, "diff", environ=ENVIRON)
        assert (done.code, done.out.count(words)) == (0, 2)


OURS = "'$schema' = 'duvet-cli/config/v1'\n[[source]]\npattern = 'src/*.rs'\n"
SPEC = "[[specification]]\nsource = 'spec.md'\n"
WITH_SNAPSHOT = OURS + SPEC + "[report.snapshot]\nenabled = true\n"


@pytest.fixture
def own(kettle: Path) -> Path:
    return make(kettle, {".duvet/config.toml": OURS + SPEC})


SETUPS: dict[str, tuple[dict[str, str], str]] = {
    "no configuration": ({}, "DUV008"),
    "no file matches": ({".duvet/config.toml": OURS + SPEC, "spec.md": SPECIFICATION}, "DUV009"),
    "no specification": ({".duvet/config.toml": OURS, "src/a.rs": "", "spec.md": SPECIFICATION}, "DUV065"),
    "no requirements": ({".duvet/config.toml": OURS + SPEC, "src/a.rs": "", "spec.md": "# Kettle\n"}, "DUV066"),
}


@pytest.mark.parametrize(("texts", "code"), SETUPS.values(), ids=SETUPS)
def test_a_gate_with_nothing_to_check_fails(
    texts: dict[str, str], code: str, tmp_path: Path, duvet_command: str
) -> None:
    ##= man/spec/gates.md#gates-with-nothing-to-check
    ##% A gate MUST fail if there is no configuration, no specification or no requirement, or if a source pattern
    ##% matches no file.
    ##= man/spec/gates.md#gates-with-nothing-to-check
    ##% Without a gate, duvet MUST warn about each of these problems.
    make(tmp_path, texts)
    plain, gated = (run(duvet_command, tmp_path, *args) for args in (["report"], ["report", "--ci"]))
    assert (plain.code, all_codes(plain), gated.code, codes(gated)) == (0, [code], 1, [code])
    assert "\nOK: " in plain.err and "PASS" not in plain.err + gated.err
    assert "\nFAIL: citations and tests: not checked because of 1 error\n" in gated.err


@pytest.mark.parametrize(
    ("gate", "setup"),
    [
        ("diff --fail-on regression", "no file matches"),
        ("diff --fail-on new", "no specification"),
        ("uncited --fail-on must", "no requirements"),
        ("uncited --fail-on any --todo", "no file matches"),
    ],
)
def test_every_gate_without_requirements_fails(gate: str, setup: str, tmp_path: Path, duvet_command: str) -> None:
    ##= man/spec/gates.md#gates-with-nothing-to-check
    ##% A gate MUST fail if there is no configuration, no specification or no requirement, or if a source pattern
    ##% matches no file.
    texts, code = SETUPS[setup]
    folder = history(tmp_path / "kettle", texts)
    done = run(duvet_command, folder, *gate.split())
    assert (done.code, "PASS" in done.err) == (1, False)
    assert all_codes(done) == codes(done) == [code]
    assert f"\nFAIL: {gate.partition(' ')[2].removesuffix(' --todo')}: not checked because of 1 error\n" in done.err
    make(folder, {".duvet/config.toml": texts[".duvet/config.toml"].replace("duvet-cli/config/v1", UPSTREAM)})
    assert code not in run(duvet_command, folder, *gate.split()).err


def test_each_pattern_has_to_match(kettle: Path, duvet: Run) -> None:
    lists = "pattern = ['src/*.rs', 'scr/*.rs', 'lib/*.rs']\n[[source]]\nlanguage = 'rust'\n[[source]]\nlanguage = 'c'"
    make(kettle, {".duvet/config.toml": OURS.replace("pattern = 'src/*.rs'", lists) + SPEC})
    done = duvet("report")
    assert (done.code, re.findall(r"warning: no file matches (.*) \[DUV009\]\n.*toml:(.*)", done.err)) == (
        0,
        [('"scr/*.rs"', "3:24"), ('"lib/*.rs"', "3:36"), ('"**/*.c", "**/*.h"', "6:1")],
    )


def test_warnings_of_our_schema(own: Path, duvet: Run) -> None:
    ##= man/spec/gates.md#gates-with-nothing-to-check
    ##% duvet MUST warn about a cited specification that is not configured.
    cited = "//= other.md#cup\n//# A cup.\n//= spec.md#pouring\n//= type=exception\n//# The spout MAY drip.\n"
    make(own, {"other.md": "# Cup\n\nA cup.\n", "src/a.rs": cited})
    done, strict = duvet("report"), duvet("report", "--strict")
    assert (done.code, all_codes(done), strict.code) == (0, ["DUV046", "DUV090"], 1)
    make(own, {".duvet/config.toml": (OURS + SPEC).replace("duvet-cli/config/v1", UPSTREAM)})
    assert all_codes(duvet("report")) == []


def test_gates_are_named(own: Path, duvet: Run, gold: Snapshot) -> None:
    args = ("report", "--require-citations", "spec.md#pouring", "--require-tests", "spec.md#pouring")
    gold.assert_match(duvet(*args).err, "named/targets.txt")
    make(own, {".duvet/config.toml": WITH_SNAPSHOT})
    gold.assert_match(duvet("report").err, "named/none.txt")
    gold.assert_match(duvet("report", "--ci").err, "named/snapshot.txt")


def test_the_summary_fits_the_terminal(own: Path, duvet_command: str) -> None:
    # The second run recalls its result.
    for _ in range(2):
        for columns, table in (
            (80, SUMMARY.splitlines()[:2]),
            (26, ["name    done       uncited", "Kettle   1/3  33%        2"]),
            (20, ["Kettle", "  1/3 done, 2", "  uncited"]),
        ):
            terminal = Terminal(duvet_command, own, "report", columns=columns)
            assert terminal.code() == 0
            lines = terminal.shown.lines
            assert lines[lines.index(table[0]) : lines.index("", lines.index(table[0]))] == table


def test_steps_are_printed_only_on_request_except_with_the_schema_of_upstream(
    tmp_path: Path, duvet_command: str
) -> None:
    warning = run(duvet_command, tmp_path, "report").err
    assert warning.startswith("warning: no configuration") and "Scan" not in warning
    make(tmp_path, {".duvet/config.toml": OURS + SPEC, "spec.md": SPECIFICATION, "src/a.rs": SOURCE})
    for _ in range(2):
        assert run(duvet_command, tmp_path, "report").err == f"{SUMMARY}reports: .duvet/reports/report.html\n"
    assert "Scann" not in "\n".join(Terminal(duvet_command, tmp_path, "report", columns=80).shown.lines)
    assert "Scanning sources" in run(duvet_command, tmp_path, "-v", "report").err
    make(tmp_path, {".duvet/config.toml": (OURS + SPEC).replace("duvet-cli/config/v1", UPSTREAM)})
    assert "Scanning sources" in run(duvet_command, tmp_path, "report").err


def test_the_reports_are_named(own: Path, duvet: Run) -> None:
    make(own, {".duvet/config.toml": WITH_SNAPSHOT, "src/a.rs": HALF})

    def named(*args: str) -> str:
        return duvet("report", *args).err.rpartition("reports: ")[2]

    usual = ".duvet/reports/report.html, .duvet/snapshot.txt"
    assert named() == f"{usual}\n"
    make(own, {"src/a.rs": SOURCE})
    assert [named(), named(), named("--no-cache")] == [f"{usual} (changed)\n", f"{usual}\n", f"{usual}\n"]
    others = [f"--{kind}={kind}" for kind in ("json", "html", "json-v2", "lcov")]
    expected = "json, json-v2, html, .duvet/reports/report.html, lcov/compliance.0.lcov and 1 more\n"
    assert named(*others) == expected
    make(own, {"src/a.rs": "//= gone.md#a\n//# b\n//= spec.md#heating\n//# nothing\n"})
    wrong = duvet("report").err
    assert wrong.endswith("reports: .duvet/reports/report.html\n")
    assert re.findall(r".*\berrors?$", wrong, re.MULTILINE) == ["2 errors"]
    assert "reports: " not in duvet("-q", "report").err


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ("--require-citations true", ["DUV062", "DUV062"]),
        ("--require-tests true", ["DUV063", "DUV063"]),
        ("--ci --require-tests", ["DUV063", "DUV063"]),
        ("--require-citations false --require-tests spec.md#pouring", ["DUV063"]),
        ("--require-citations false --require-tests false", []),
        ("", []),
    ],
)
def test_true_names_every_specification(args: str, found: list[str], own: Path, duvet: Run) -> None:
    make(own, {".duvet/config.toml": WITH_SNAPSHOT})
    duvet("report")
    done = duvet("report", *args.split())
    assert (done.code, codes(done)) == (1 if found else 0, found)
    assert ("\nFAIL: " in done.err) == bool(found)
    make(own, {".duvet/config.toml": WITH_SNAPSHOT.replace("duvet-cli/config/v1", UPSTREAM)})
    if "spec.md" not in args:
        assert duvet("report", *args.split()).code == 0


def test_a_gate_in_plain_words(own: Path, duvet: Run, gold: Snapshot) -> None:
    gold.assert_match(duvet("report", "--ci").err, "plain/lines.txt")
    make(own, {".duvet/config.toml": WITH_SNAPSHOT})
    gold.assert_match(duvet("report", "--ci").err, "plain/no_snapshot.txt")
    make(own, {SNAPSHOT: "old\n"})
    gold.assert_match(duvet("report", "--ci").err, "plain/old_snapshot.txt")


def test_no_gate_passes_without_requirements(tmp_path: Path, duvet_command: str) -> None:
    done = run(duvet_command, tmp_path, "report", "--ci", "--require-citations=false", "--require-tests=false")
    assert (done.code, "error: no configuration in this folder or above it [DUV008]" in done.err) == (1, True)
    # awslabs duvet accepts such a project, so the exit code is 0.
    make(tmp_path, {".duvet/config.toml": "'$schema' = 'https://awslabs.github.io/duvet/config/v0.4.0.json'\n"})
    done = run(duvet_command, tmp_path, "report", "--ci")
    assert done.code == 0 and done.err.endswith("\nOK: no annotations to check\ncoverage: no requirements\n")


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("no_cited", "--ci --require-citations false"),
        ("no_tests", "--require-tests spec.md#kettle"),
        ("no_citations", "--require-citations spec.md#kettle --require-citations spec.md#scope"),
    ],
)
def test_a_gate_that_nothing_can_break_fails(
    name: str, args: str, tmp_path: Path, duvet_command: str, gold: Snapshot
) -> None:
    ##= man/spec/gates.md#gates-with-nothing-to-check
    ##% A gate on tests MUST fail if code cites none of the requirements.
    ##= man/spec/gates.md#gates-with-nothing-to-check
    ##% A gate on a target MUST fail if the target has no requirements.
    text = "# Kettle\n\nWords.\n\n## Scope\n\nAll kettles.\n\n## Heating\n\nThe kettle MUST boil.\n"
    make(tmp_path, {".duvet/config.toml": OURS + SPEC, "src/a.rs": "fn a() {}\n", "spec.md": text})
    done = run(duvet_command, tmp_path, "report", *args.split())
    assert done.code == 1
    gold.assert_match(done.err, f"{name}.txt")


def test_the_gate_of_uncited_without_requirements(tmp_path: Path, duvet_command: str, gold: Snapshot) -> None:
    make(tmp_path, SETUPS["no specification"][0])
    args = ("uncited", "--fail-on", "must")
    done = run(duvet_command, tmp_path, *args)
    gold.assert_match(done.err, "uncited/text.txt")
    assert (done.code, done.out) == (1, "")
    on_github = run(duvet_command, tmp_path, *args, environ={"GITHUB_ACTIONS": "true"})
    gold.assert_match(on_github.out, "uncited/github.txt")
    assert (on_github.code, on_github.err) == (1, done.err)
    (tmp_path / "none" / ".git").mkdir(parents=True)
    done = run(duvet_command, tmp_path / "none", "-q", *args)
    gold.assert_match(done.err, "uncited/no_configuration.txt")
    assert (done.code, done.out) == (1, "")

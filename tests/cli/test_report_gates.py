import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Done, Run, files, play, run, runner
from tests.cli.sample_project import CONFIG, HALF, KETTLE, SOURCE, SPECIFICATION, SUMMARY, make
from tests.cli.terminals import Terminal
from tests.histories import ENVIRON, history

SNAPSHOT, PATH, PAGE = ".duvet/snapshot.txt", ".duvet/config.toml", ".duvet/reports/report.html"
UPSTREAM = "https://awslabs.github.io/duvet/config/v0.4.json"
OURS = "'$schema' = 'duvet-cli/config/v1'\n[[source]]\npattern = 'src/*.rs'\n"
SPEC = "[[specification]]\nsource = 'spec.md'\n"
WITH_SNAPSHOT = f"{OURS}{SPEC}[report.snapshot]\nenabled = true\n"
OWN = {**KETTLE, PATH: OURS + SPEC}
Step = str | Mapping[str, str]


def codes(done: Done, severity: str = "error") -> list[str]:
    return re.findall(rf"^(?:{severity}): .*\[(DUV\d+)\]$", done.err, re.MULTILINE)


def test_a_snapshot_is_compared(reported: Path, duvet: Run, gold: Snapshot) -> None:
    before = files(reported)
    told = play(duvet, reported, "-q report --ci")
    # Only the HTML report shows the verdict of the gate.
    assert b"PASS: snapshot .duvet/snapshot.txt is up to date" in files(reported)[PAGE]
    assert files(reported) | {PAGE: b""} == before | {PAGE: b""}
    told += play(duvet, reported, {"src/a.rs": HALF}, "-q report --ci")
    after = files(reported)
    assert after[SNAPSHOT] == before[SNAPSHOT]
    assert after[".duvet/reports/report.json"] != before[".duvet/reports/report.json"]
    (reported / SNAPSHOT).unlink()
    gold.assert_match(told + play(duvet, reported, "-q report --ci"), "snapshot.txt")
    assert files(reported).keys() == before.keys() - {SNAPSHOT}
    (reported / SNAPSHOT).mkdir()
    assert "set `path` in `[report.snapshot]` to a file that duvet can read" in duvet("report", "--ci").err


CHECKED = [
    *((None, "", 0), ("false", "", 0), ("0", "", 0), ("true", "", 1), ("1", "", 1), ("False", "", 1), ("", "", 1)),
    *(("true", "--ci false", 0), ("true", "--ci=false", 0), ("false", "--ci", 1), ("false", "--ci true", 1)),
    (None, "--ci --require-tests false --require-citations false", 1),
]


def test_when_a_snapshot_is_checked(kettle: Path, duvet: Run) -> None:
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--ci`, or if the environment variable `CI` is set to a value other than `false` and `0`, `duvet
    ##% report` MUST compare the current coverage with the configured snapshot instead of overwriting the
    ##% snapshot.
    for ci, args, code in CHECKED:
        environ = {} if ci is None else {"CI": ci}
        done = duvet("-q", "report", *args.split(), environ=environ)
        assert (done.code, codes(done)) == (code, ["DUV060"] * code)
        assert (kettle / SNAPSHOT).exists() == (code == 0)
        (kettle / SNAPSHOT).unlink(missing_ok=True)
    # Without a configured snapshot, the environment alone asks for no requirements.
    make(kettle, {PATH: CONFIG.partition("[report.snapshot]")[0]})
    assert duvet("-q", "report", environ={"CI": "true"}) == Done(0, "", "")


TEXT = "# Kettle\n\nWords.\n\n## Scope\n\nAll kettles.\n\n## Heating\n\nThe kettle MUST boil.\n"
LISTS = "pattern = ['src/*.rs', 'scr/*.rs', 'lib/*.rs']\n[[source]]\nlanguage = 'rust'\n[[source]]\nlanguage = 'c'"
OTHER = "//= other.md#cup\n//# A cup.\n//= spec.md#pouring\n//= type=exception\n//# The spout MAY drip.\n"
TARGETS = (
    *("--require-citations spec.md", "--require-citations=./spec.md", "--require-citations Kettle#pouring"),
    "--require-citations spec.md#pouring --require-citations spec.md#heating",
    "--require-citations spec.md --require-citations spec.md#pouring",
    *("--require-citations spec.md#kettle", "--require-tests spec.md#heating"),
    "--require-tests spec.md --require-citations spec.md#pouring",
    "--require-citations --require-tests false",
)
ALL = (
    *("--require-citations true", "--require-tests true", "--ci --require-tests"),
    *("--require-citations false --require-tests spec.md#pouring", "--require-citations false --require-tests false"),
)
NOTHING_SET_UP: dict[str, dict[str, str]] = {
    "no configuration": {},
    "no file matches": {PATH: OURS + SPEC, "spec.md": SPECIFICATION},
    "no specification": {PATH: OURS, "src/a.rs": "", "spec.md": SPECIFICATION},
    "no requirements": {PATH: OURS + SPEC, "src/a.rs": "", "spec.md": "# Kettle\n"},
}
SCENARIOS: dict[str, tuple[Mapping[str, str], tuple[Step, ...]]] = {
    "targets": (
        {**KETTLE, "src/a.rs": HALF},
        (
            # With --ci, the gate of the snapshot passes, because it was just written.
            *(f"-q report {args}" for args in TARGETS),
            *(f"-q report --ci {args}" for args in TARGETS[-2:]),
            "-q report --require-citations spec.md#purring --require-tests speck.md",
            *(f"-q report --require-tests {name}" for name in ("f4d03c71d17c", "pouring", "src")),
            {"src/a.rs": SOURCE},
            "-q report --ci --require-tests spec.md#heating --require-citations spec.md#pouring",
        ),
    ),
    "without a snapshot": (
        {**KETTLE, PATH: CONFIG.partition("[report.snapshot]")[0]},
        (
            # A line with anything implemented passes a gate by lines, but not one by requirements.
            *("-q report --ci", "-q report --ci --require-citations false"),
            "-q report --ci --require-citations spec.md",
            "-q report --ci --require-citations false --require-citations spec.md#pouring",
            "-q report --ci --require-tests spec.md#pouring",
            {"src/a.rs": HALF, "spec.md": SPECIFICATION.replace(". It SHOULD", ".\n\nIt should")},
            *("-q report --ci", "-q report --ci --require-tests=false"),
            "-q report --ci --require-citations false --require-tests false",
        ),
    ),
    "every specification": (
        {**KETTLE, PATH: WITH_SNAPSHOT},
        (
            *("report", "report --ci", *(f"report {args}" for args in ALL)),
            *({PATH: WITH_SNAPSHOT.replace("duvet-cli/config/v1", UPSTREAM)}, "-q report"),
            *(f"-q report {args}" for args in ALL if "spec.md" not in args),
        ),
    ),
    "names of gates": (
        OWN,
        (
            "report --require-citations spec.md#pouring --require-tests spec.md#pouring",
            *("report --ci", {PATH: WITH_SNAPSHOT}, "report --ci", {SNAPSHOT: "old\n"}, "report --ci"),
        ),
    ),
    "patterns": ({**KETTLE, PATH: OURS.replace("pattern = 'src/*.rs'", LISTS) + SPEC}, ("report",)),
    "warnings": (
        {**OWN, "other.md": "# Cup\n\nA cup.\n", "src/a.rs": OTHER},
        (*("report", "-q report --strict", {PATH: (OURS + SPEC).replace("duvet-cli/config/v1", UPSTREAM)}, "report"),),
    ),
    # awslabs duvet accepts an empty project, so the exit code is 0.
    "an empty project": (
        {},
        (
            *("report --ci --require-citations=false --require-tests=false", "-q uncited --fail-on must"),
            *({PATH: f"'$schema' = '{UPSTREAM}'\n"}, "report --ci"),
        ),
    ),
    "gates that nothing can break": (
        {PATH: OURS + SPEC, "src/a.rs": "fn a() {}\n", "spec.md": TEXT},
        (
            *("report --ci --require-citations false", "report --require-tests spec.md#kettle"),
            "report --require-citations spec.md#kettle --require-citations spec.md#scope",
        ),
    ),
    **{name: (texts, ("report", "report --ci")) for name, texts in NOTHING_SET_UP.items()},
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_gates(name: str, tmp_path: Path, duvet_command: str, gold: Snapshot) -> None:
    ##= man/spec/gates.md#gates-for-targets
    ##% duvet MUST refuse a gate on an unknown target, and suggest similar names.
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--ci` and without a configured snapshot, `duvet report` MUST list each requirement or other
    ##% annotated text unless code and tests cite every line of it.
    ##= man/spec/gates.md#gates-with-nothing-to-check
    ##% A gate MUST fail if there is no configuration, no specification or no requirement, or if a source pattern
    ##% matches no file.
    ##= man/spec/gates.md#gates-with-nothing-to-check
    ##% duvet MUST warn about a cited specification that is not configured.
    ##= man/spec/gates.md#gates-with-nothing-to-check
    ##% Without a gate, `duvet report` MUST warn, but not fail, if there is no configuration, no specification or no
    ##% requirement, or if a source pattern matches no file.
    ##= man/spec/gates.md#gates-with-nothing-to-check
    ##% A gate on tests MUST fail if code cites none of the requirements.
    ##= man/spec/gates.md#gates-with-nothing-to-check
    ##% A gate on a target MUST fail if the target has no requirements.
    texts, steps = SCENARIOS[name]
    folder = make(tmp_path / "project", {**texts, ".git/HEAD": ""})
    gold.assert_match(play(runner(duvet_command, folder), folder, *steps), f"{name.replace(' ', '_')}.txt")


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
    texts = NOTHING_SET_UP[setup]
    folder = history(tmp_path / "kettle", texts)
    done = run(duvet_command, folder, *gate.split())
    (code,) = codes(done)
    assert (done.code, "PASS" in done.err, codes(done, "error|warning")) == (1, False, [code])
    assert f"\nFAIL: {gate.partition(' ')[2].removesuffix(' --todo')}: not checked because of 1 error\n" in done.err
    make(folder, {PATH: texts[PATH].replace("duvet-cli/config/v1", UPSTREAM)})
    assert code not in run(duvet_command, folder, *gate.split()).err


def test_the_gate_of_uncited_on_github(tmp_path: Path, duvet_command: str, gold: Snapshot) -> None:
    folder = make(tmp_path, NOTHING_SET_UP["no specification"])
    done, on_github = (
        run(duvet_command, folder, "uncited", "--fail-on", "must", environ={"GITHUB_ACTIONS": value})
        for value in ("false", "true")
    )
    gold.assert_match(f"{done.err}\n{on_github.out}", "uncited.txt")
    assert (done.code, done.out, on_github.code, on_github.err) == (1, "", 1, done.err)


def test_lcov_is_not_about_targets(reported: Path, duvet: Run) -> None:
    duvet("-q", "report", "--lcov", "one")
    duvet("-q", "report", "--lcov", "other", "--require-citations", "spec.md#heating")
    found = files(reported)
    assert found["one/compliance.0.lcov"] == found["other/compliance.0.lcov"]


EXTENDED = CONFIG.replace(UPSTREAM, "duvet-cli/config/v1")
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
    make(kettle, {PATH: EXTENDED + entry})
    first = duvet("report")
    gold.assert_match(first.err, "not_applicable.txt")
    assert (first.code, duvet("report")) == (0, first)
    assert duvet("-q", "report", "--ci") == Done(0, "", "")
    for name in ("a", "b"):
        assert duvet("report", "--json-v2", f"{name}.json", "--blob-link", f"https://host/{name}").code == 0
    assert duvet("merge", "--input", "a.json", "--input", "b.json", "--output", "all.json").code == 0
    found = files(kettle)
    assert found["all.json"].count(b'"reason": "It has no spout"') == found["a.json"].count(b'"reason"') == 1
    make(kettle, {PATH: EXTENDED + entry.replace("no spout", "a lid")})
    done = duvet("-q", "report", "--ci")
    assert (done.code, done.err.count("-  REASON: It has no spout\n+  REASON: It has a lid\n")) == (1, 1)


def test_an_entry_that_has_expired(kettle: Path, duvet: Run, gold: Snapshot) -> None:
    make(kettle, {PATH: EXTENDED + ENTRY.format(day=PAST)})
    gold.assert_match(play(duvet, kettle, "report", "-q report"), "expired.txt")
    assert not (kettle / ".duvet/reports/report.json").exists()
    assert '<strong class="fail">expired</strong>' in (kettle / PAGE).read_text()


@pytest.mark.parametrize(
    ("day", "code", "words"), [(FUTURE, "DUV062", "50 % (1 of 2)"), (PAST, "DUV080", "33 % (1 of 3)")]
)
def test_gates_and_an_earlier_revision_on_this_day(
    day: str, code: str, words: str, duvet_command: str, tmp_path: Path
) -> None:
    config = {PATH: EXTENDED.partition("[report.snapshot]")[0] + ENTRY.format(day=day)}
    folder = history(tmp_path / "kettle", {**KETTLE, **config})
    done = run(duvet_command, folder, "-q", "report", "--ci", "--require-citations", "spec.md")
    assert (codes(done), "spec.md#pouring: The spout" in done.err) == ([code], False)
    for _ in range(2):
        done = run(duvet_command, folder, "diff", environ=ENVIRON)
        assert (done.code, done.out.count(words)) == (0, 2)


def test_the_summary_fits_the_terminal(tmp_path: Path, duvet_command: str) -> None:
    make(tmp_path, OWN)
    # The second run recalls its result.
    for _ in range(2):
        for columns, table in (
            (80, SUMMARY.splitlines()[:2]),
            (26, ["name    done       uncited", "Kettle   1/3  33%        2"]),
            (20, ["Kettle", "  1/3 done, 2", "  uncited"]),
        ):
            terminal = Terminal(duvet_command, tmp_path, "report", columns=columns)
            assert terminal.code() == 0
            lines = terminal.shown.lines
            assert lines[lines.index(table[0]) : lines.index("", lines.index(table[0]))] == table


def test_steps_are_printed_only_on_request_except_with_the_schema_of_upstream(
    tmp_path: Path, duvet_command: str
) -> None:
    warning = run(duvet_command, tmp_path, "report").err
    assert warning.startswith("warning: no configuration") and "Scan" not in warning
    make(tmp_path, OWN)
    for _ in range(2):
        assert run(duvet_command, tmp_path, "report").err == f"{SUMMARY}reports: {PAGE}\n"
    assert "Scann" not in "\n".join(Terminal(duvet_command, tmp_path, "report", columns=80).shown.lines)
    assert "Scanning sources" in run(duvet_command, tmp_path, "-v", "report").err
    make(tmp_path, {PATH: (OURS + SPEC).replace("duvet-cli/config/v1", UPSTREAM)})
    assert "Scanning sources" in run(duvet_command, tmp_path, "report").err


def test_the_reports_are_named(kettle: Path, duvet: Run) -> None:
    make(kettle, {PATH: WITH_SNAPSHOT, "src/a.rs": HALF})

    def named(*args: str) -> str:
        return duvet("report", *args).err.rpartition("reports: ")[2]

    usual = f"{PAGE}, {SNAPSHOT}"
    assert named() == f"{usual}\n"
    make(kettle, {"src/a.rs": SOURCE})
    assert [named(), named(), named("--no-cache")] == [f"{usual} (changed)\n", f"{usual}\n", f"{usual}\n"]
    others = [f"--{kind}={kind}" for kind in ("json", "html", "json-v2", "lcov")]
    assert named(*others) == f"json, json-v2, html, {PAGE}, lcov/compliance.0.lcov and 1 more\n"
    make(kettle, {"src/a.rs": "//= gone.md#a\n//# b\n//= spec.md#heating\n//# nothing\n"})
    wrong = duvet("report").err
    assert wrong.endswith(f"reports: {PAGE}\n")
    assert re.findall(r".*\berrors?$", wrong, re.MULTILINE) == ["2 errors"]
    assert "reports: " not in duvet("-q", "report").err

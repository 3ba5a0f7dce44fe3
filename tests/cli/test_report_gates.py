import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Done, Run, files, play, runner
from tests.cli.sample_project import CONFIG, HALF, KETTLE, SOURCE, SPECIFICATION, SUMMARY, make
from tests.cli.terminals import Terminal

SNAPSHOT, PATH, PAGE = ".duvet/snapshot.txt", ".duvet/config.toml", ".duvet/reports/report.html"
UPSTREAM = "https://awslabs.github.io/duvet/config/v0.4.json"
OURS = "'$schema' = 'duvet-cli/config/v1'\n[[source]]\npattern = 'src/*.rs'\n"
SPEC = "[[specification]]\nsource = 'spec.md'\n"
WITH_SNAPSHOT = f"{OURS}{SPEC}[report.snapshot]\nenabled = true\n"
OWN = {**KETTLE, PATH: OURS + SPEC}
Step = str | Mapping[str, str]
R, N = "$ duvet diff --fail-on regression >out", "$ duvet diff --fail-on new >out"


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
    assert (
        "make this a readable file, or set `path` in `[report.snapshot]` to another file" in duvet("report", "--ci").err
    )


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
GIT = "$ rm -r .git; git init -q; git add .; git commit -qm 1"
TODO, MUST = "uncited --fail-on any --todo", "uncited --fail-on must"
WITH_UPSTREAM = {PATH: OURS.replace("duvet-cli/config/v1", UPSTREAM)}
OTHER_GATES: dict[str, tuple[Step, ...]] = {
    "no configuration": (),
    "no file matches": (GIT, R, TODO, {PATH: WITH_UPSTREAM[PATH] + SPEC}, R, TODO),
    "no specification": (GIT, N, MUST, f"$ GITHUB_ACTIONS=true duvet {MUST}", WITH_UPSTREAM, N, MUST),
    "no requirements": (MUST, {PATH: WITH_UPSTREAM[PATH] + SPEC}, MUST),
}
EXTENDED = CONFIG.replace(UPSTREAM, "duvet-cli/config/v1")
ENTRY = """\
[[not-applicable]]
target = "spec.md#pouring"
reason = "It has no spout"
owner = "the foundry"
expiry = {day}
"""
PAST, FUTURE = (ENTRY.format(day=day) for day in ("2001-12-31", "9999-12-31"))
LCOV, MERGE = (
    "duvet -q report --lcov",
    "; ".join(
        [
            *(f"duvet -q report --json-v2 {name}.json --blob-link https://host/{name}" for name in "ab"),
            "duvet merge --input a.json --input b.json --output all.json",
        ]
    ),
)
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
    **{name: (texts, ("report", "report --ci", *OTHER_GATES[name])) for name, texts in NOTHING_SET_UP.items()},
    "not applicable": (
        {**KETTLE, PATH: EXTENDED + FUTURE},
        (
            *("report", "report", "-q report --ci", f"$ {MERGE}; grep -c 'It has no spout' *.json"),
            *({PATH: EXTENDED + FUTURE.replace("no spout", "a lid")}, "-q report --ci"),
        ),
    ),
    "expired": (
        {**KETTLE, PATH: EXTENDED + PAST},
        ("report", "-q report", f"$ ls .duvet/reports; grep -o '<strong class=\"fail\">expired</strong>' {PAGE}"),
    ),
    **{
        f"gate and an entry of {when}": (
            {**KETTLE, PATH: EXTENDED.partition("[report.snapshot]")[0] + entry},
            (GIT, "-q report --ci --require-citations spec.md", "$ duvet diff | tail -2", "$ duvet diff | tail -2"),
        )
        for when, entry in (("the past", PAST), ("the future", FUTURE))
    },
    "lcov": (KETTLE, (f"$ {LCOV} one; {LCOV} other --require-citations spec.md#heating; cmp */compliance.0.lcov",)),
    "names of reports": (
        {**KETTLE, PATH: WITH_SNAPSHOT, "src/a.rs": HALF},
        (
            *("report", {"src/a.rs": SOURCE}, "report", "report", "report --no-cache"),
            "report --json=json --html=html --json-v2=json-v2 --lcov=lcov",
            *({"src/a.rs": "//= gone.md#a\n//# b\n//= spec.md#heating\n//# nothing\n"}, "report", "-q report"),
        ),
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_gates(name: str, tmp_path: Path, duvet_command: str, gold: Snapshot) -> None:
    ##= man/spec/gates.md#gates-for-targets
    ##% duvet MUST refuse a gate on an unknown target, and suggest similar names.
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--ci` and without a configured snapshot, `duvet report` MUST list each requirement, and any
    ##% other annotated text, unless every line of it is excepted, implied, or cited by both code and
    ##% tests.
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
    told = re.sub(r"[0-9a-f]{12}(?= \(HEAD\))", "COMMIT", play(runner(duvet_command, folder), folder, *steps))
    gold.assert_match(told, f"{name.replace(' ', '_')}.txt")


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
            assert "Scann" not in "\n".join(lines)
            assert lines[lines.index(table[0]) : lines.index("", lines.index(table[0]))] == table

import subprocess
import sys
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Done, Run, environment, files, play
from tests.cli.sample_project import PROJECTS, make
from tests.sample_project import read_files

PROJECT = read_files(PROJECTS / "query")
CONFIG = PROJECT[".duvet/config.toml"]
JAVA = {**read_files(PROJECTS / "java"), "src/k/sing.py": "#= spec.md#heating\n#- It MAY sing.\nsing()\n"}
"""A project with coverage reports."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / "kettle", PROJECT)


@pytest.fixture
def java(tmp_path: Path, folder: Path) -> Path:
    (folder / "src/a.rs").unlink()
    (folder / "src/b.rs").unlink()
    return make(folder, JAVA)


@pytest.mark.parametrize(
    ("name", "args", "code"),
    [
        ("implementation", ("-c", "implementation"), 1),
        ("implementation-verbose", ("-c", "implementation", "-v"), 1),
        ("test", ("-c", "test", "--verbose"), 1),
        ("duplicates", ("-c", "duplicates", "-v"), 1),
        ("filtered", ("-c", "test,implementation", "-s", "spec.md#pouring", "-q", "POUR", "-q", "boil"), 0),
        ("coverage", ("-c", "coverage", "-r", "all.xml"), 1),
        ("coverage-verbose", ("-c", "coverage", "-r", "all.xml", "-r", "wh*.xml", "-v", "-s", "spec.md#heating"), 1),
        ("coverage-idle", ("-c", "coverage", "-r", "idle.xml", "-q", "boil", "-q", "drip"), 1),
        ("executed-coverage", ("-c", "executed-coverage", "-r", "idle.xml"), 0),
        ("no-report", ("-c", "coverage", "-r", "none/*.xml", "-q", "whistle"), 1),
    ],
)
def test_each_check_has_its_verdict(
    name: str, args: tuple[str, ...], code: int, duvet: Run, request: pytest.FixtureRequest, gold: Snapshot
) -> None:
    ##= man/spec/query.md#checks
    ##% For each test, the check `coverage` MUST require that code quotes some of the text that the test quotes, and
    ##% that the test and all of this code ran.
    ##= man/spec/query.md#checks
    ##% The check `executed-coverage` MUST equal the check `coverage`, except that it ignores tests that did not run.
    if "-r" in args:
        request.getfixturevalue("java")
        args = ("-f", "jacoco-xml", *args)
    done = duvet("query", *args)
    assert (done.code, done.out) == (code, "")
    gold.assert_match(done.err, f"{name}.txt")


def test_java_that_cannot_be_parsed(duvet: Run, java: Path, gold: Snapshot) -> None:
    ##= man/spec/query.md#executed-lines
    ##% If duvet cannot parse a Java file, or a coverage report lists lines that the file does not have, `duvet query`
    ##% MUST report the annotations in the file as unknown.
    make(java, {"src/k/Kettle.java": JAVA["src/k/Kettle.java"].replace("boil()", "boil(")})
    done = duvet("query", "-c", "coverage", "-f", "jacoco-xml", "-r", "all.xml", "-q", "boil")
    assert done.code == 1
    gold.assert_match(done.err, "defeated.txt")


WITHOUT_JAVA = """
import importlib.util, sys
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name.startswith("tree_sitter") else found(name, *more)
from duvet.cli import run_command_line
sys.exit(run_command_line(sys.argv[1:]))
"""


def test_without_the_grammar(java: Path, gold: Snapshot) -> None:
    told = []
    for name in ("all.xml", "other.xml"):
        words = ["query", "-c", "coverage", "-f", "jacoco-xml", "-r", name, "-q", "lid"]
        command = [sys.executable, "-c", WITHOUT_JAVA, *words]
        done = subprocess.run(command, cwd=java, env=environment(), capture_output=True, text=True, check=False)
        told.append(f"{name}: {done.returncode}\n{done.stderr.partition(' references ')[2]}")
    gold.assert_match("\n".join(told), "no_grammar.txt")


WRONG = [
    *("-c nonsense", "-c Test", "-c test,", "-c", "-f lcov", "-f jacoco-xml -f jacoco-xml", "-v -v", "--frobnicate"),
    *("--config x", "--offline", "test", "-c test,coverage", "-c executed-coverage -f jacoco-xml", "-c coverage -r x"),
]
UPSTREAM, OURS = "https://awslabs.github.io/duvet/config/v0.4.json", "duvet-cli/config/v1"
TABLES = """\
[duplicates.claims]
test = 2
implementation = 3
types = ["test+todo"]
[duplicates.targets]
count = 15
sections = 2
types = []
"""
PATH, DUPLICATES, IMPLEMENTED = (
    ".duvet/config.toml",
    "query -c duplicates -v -s spec.md#pouring",
    "query -c implementation",
)
SCENARIOS: dict[str, tuple[str | dict[str, str], ...]] = {
    "misuse": (*(f"query {args}" for args in WRONG), "--config .duvet/config.toml query -c test"),
    # Projects above the working directory don't count.
    "folders": ("-C src query -c test",),
    "quiet": ("-q query -c test -q boil", "-q query -c test -q whistle -q glow"),
    "wrong annotations": (
        *({"src/c.rs": "//= spec.md#heating\n//# It MUST explode.\n"}, IMPLEMENTED),
        {"src/c.rs": "//= spec.md#heating\n//# The kettle MUST boil watr.\nfn c() {}\n"},
        f"{IMPLEMENTED} -s spec.md#heating",
    ),
    "tables of duplicates": (
        *({PATH: CONFIG + TABLES}, DUPLICATES, {PATH: CONFIG}, DUPLICATES),
        *({PATH: (CONFIG + TABLES).replace(UPSTREAM, OURS)}, DUPLICATES),
        *({PATH: f"{CONFIG}[duplicates.claims]\ntest = 0\nspec = 2\n"}, "query -c duplicates"),
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_queries_that_fail_or_print_little(name: str, duvet: Run, folder: Path, gold: Snapshot) -> None:
    ##= man/spec/query.md#results
    ##% `duvet query` MUST exit with 0 if all checks pass, with 1 if a check fails or cannot run, and with 2 for a usage
    ##% error.
    gold.assert_match(play(duvet, folder, *SCENARIOS[name]), f"{name.replace(' ', '_')}.txt")


def test_a_query_without_a_check_prints_help(duvet: Run) -> None:
    help = duvet("query", "--help").out
    assert duvet("query") == Done(0, f"{help}\n", "    Starting duvet in query mode...\n")
    assert duvet("query", "-h").out == help
    # The help of awslabs duvet begins with these words.
    assert "Queries requirement traceability using coverage data" in " ".join(help.split())


def test_a_query_prints_results_and_writes_requirement_files(duvet: Run, folder: Path) -> None:
    before = files(folder)
    assert duvet("query", "-c", "implementation,duplicates", "-r", "none.xml").code == 1
    new = files(folder).keys() - before.keys()
    assert new == {".duvet/requirements/spec/heating.toml", ".duvet/requirements/spec/pouring.toml"}

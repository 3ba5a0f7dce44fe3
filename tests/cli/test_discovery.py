import json
import re
import shutil
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Done, Run, files, play, runner
from tests.cli.sample_project import CONFIG, SPECIFICATION, WRONG, make

OURS = CONFIG.replace("https://awslabs.github.io/duvet/config/v0.4.json", "duvet-cli/config/v1")
REPORT_FILES = {".duvet/snapshot.txt", ".duvet/reports/report.html", ".duvet/reports/report.json"}


@pytest.fixture
def inside(kettle: Path, duvet_command: str) -> Run:
    return runner(duvet_command, kettle / "src")


@pytest.mark.parametrize("config", [CONFIG, OURS])
@pytest.mark.parametrize("source", ["", WRONG])
def test_a_report_is_the_same(source: str, config: str, kettle: Path, duvet_command: str, tmp_path: Path) -> None:
    if source:
        make(kettle, {"src/a.rs": source})
    make(kettle, {".duvet/config.toml": config, "src/deep/b.rs": ""})
    above = runner(duvet_command, Path(shutil.copytree(kettle, tmp_path / "above/kettle")))
    done = runner(duvet_command, kettle / "src/deep")("report")
    expected = above("report")
    text = re.sub(r"--> src/", "--> ../", expected.err)
    text = re.sub(r"(?m)(^ *(?:Writing|Wrote) |^reports: |, )\.duvet/", r"\1../../.duvet/", text)
    assert done == Done(expected.code, expected.out, text)
    assert files(kettle) == files(tmp_path / "above/kettle")
    assert files(kettle).keys() >= REPORT_FILES if not source else "../a.rs:1:" in done.err


PATHS = (
    *("-q report --json out.json --lcov ../lcov", "validate a.rs", "validate src/a.rs", "validate ../spec.md"),
    *("-q validate nope.rs --output found.txt", "cat src/found.txt"),
    # What a list prints is understood everywhere.
    *("show a.rs:1", "show src/a.rs:1", "search a.rs:1", "uncited", "uncited --spec ../spec.md"),
    *("uncited --section ../spec.md#pouring", "cite ../spec.md#pouring --at a.rs:3 --type test"),
    *("-q extract ../spec.md -f md -o reqs", {"src/other.toml": CONFIG.replace("spec.md", "none.md")}),
    *("-q --config other.toml report", "-q report --config-path other.toml"),
)


def test_paths_on_the_command_line(kettle: Path, inside: Run, gold: Snapshot) -> None:
    gold.assert_match(play(inside, kettle, *PATHS), "paths.txt")
    assert (kettle / "src/out.json").exists() and (kettle / "lcov").is_dir()
    assert (kettle / "src/reqs/spec/heating.toml").exists()
    for form in ("json", "sarif", "github", "junit"):
        assert "src/nope.rs" in inside("validate", "nope.rs", "--format", form).out


def test_the_configuration_of_the_service(kettle: Path, inside: Run) -> None:
    make(kettle, {"duvet.config.yaml": "server: {name: outer}\n", "named.yaml": "server: {name: named}\n"})

    def name(*words: str, **environ: str) -> str:
        shown: str = json.loads(inside("mcp", "--describe", *words, environ=environ).out)["server"]["name"]
        return shown

    assert (name(), name(DUVET_CONFIG="../named.yaml"), name("--config", "../named.yaml")) == (
        "outer",
        "named",
        "named",
    )
    make(kettle, {"src/duvet.config.toml": '[server]\nname = "inner"\n[[pages]]\npattern = "notes/*.md"\n'})
    assert (name(), name("--config", "../duvet.config.yaml")) == ("inner", "outer")
    make(kettle, {"notes/a.md": "# Tea\n\n[[nothing]]\n"})
    assert " --> ../notes/a.md:3:" in inside("validate").err


def test_agents_start_in_the_project(kettle: Path, inside: Run) -> None:
    server = json.loads(inside("mcp", "--print-config", "claude").out)["mcpServers"]["duvet"]
    assert server["args"][-3:] == ["-C", str(kettle), "mcp"]
    assert inside("call", "coverage_summary").code == 0
    (kettle / "src/deep").mkdir()
    assert inside("-C", "deep", "-q", "report") == Done(0, "", "")


def test_names_are_completed(kettle: Path, inside: Run) -> None:
    assert inside("search", "water").code == 0
    environ = {"_DUVET_COMPLETE": "bash_complete", "COMP_WORDS": "duvet show ke", "COMP_CWORD": "2"}
    assert inside(environ=environ).out == inside("-C", "..", environ=environ).out
    assert "spec" in inside(environ={**environ, "COMP_WORDS": "duvet show sp"}).out


def test_the_flags_of_awslabs_duvet_describe_the_working_directory(kettle: Path, inside: Run) -> None:
    ##= man/spec/init.md#project-discovery
    ##% `duvet init`, `duvet query`, and any command with `--source-pattern`, `--spec-pattern` or `--spec-path` MUST
    ##% NOT search the folders above the working directory.
    make(kettle, {"src/spec.md": SPECIFICATION})
    assert inside("-q", "report", "--source-pattern", "*.rs", "--json", "out.json").code == 0
    assert json.loads((kettle / "src/out.json").read_text())["annotations"][0]["source"] == "a.rs"
    for flag in ("--source-pattern", "--spec-pattern", "--spec-path"):
        inside("report", f"{flag}=.")
    assert not (kettle / ".duvet/snapshot.txt").exists()
    assert inside("init").err.startswith("error: this folder is inside the project in `..` [DUV122]\n")
    assert inside("init", "--nested").code == 0 and (kettle / "src/.duvet/config.toml").exists()


def test_a_repository_of_its_own(kettle: Path, inside: Run) -> None:
    make(kettle, {"src/.git": "gitdir: ../elsewhere\n"})
    done = inside("uncited")
    assert done.code == 1 and done.err.startswith("error: no configuration in this folder or above it [DUV008]\n")

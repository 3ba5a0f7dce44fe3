import re
import shutil
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Done, files, play, runner
from tests.cli.sample_project import CONFIG, SPECIFICATION, WRONG, make

OURS = CONFIG.replace("https://awslabs.github.io/duvet/config/v0.4.json", "duvet-cli/config/v1")
REPORT_FILES = {".duvet/snapshot.txt", ".duvet/reports/report.html", ".duvet/reports/report.json"}


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


NAME = "$ cd src; {}duvet mcp --describe{} | grep -m1 name"
COMPLETE = "$ cd src; _DUVET_COMPLETE=bash_complete COMP_CWORD=2 COMP_WORDS='duvet show {}' duvet"
PAGES = '[server]\nname = "inner"\n[[pages]]\npattern = "notes/*.md"\n'
SCENARIOS: dict[str, tuple[str | dict[str, str], ...]] = {
    "paths": (
        *("-q report --json out.json --lcov ../lcov", "validate a.rs", "validate src/a.rs", "validate ../spec.md"),
        *("-q validate nope.rs --output found.txt", "cat src/found.txt"),
        # What a list prints is understood everywhere.
        *("show a.rs:1", "show src/a.rs:1", "search a.rs:1", "uncited", "uncited --spec ../spec.md"),
        *("uncited --section ../spec.md#pouring", "cite ../spec.md#pouring --at a.rs:3 --type test"),
        *("-q extract ../spec.md -f md -o reqs", {"src/other.toml": CONFIG.replace("spec.md", "none.md")}),
        *("-q --config other.toml report", "-q report --config-path other.toml", "$ ls src lcov src/reqs/spec"),
        "$ cd src; for n in json sarif github junit; do duvet validate nope.rs --format $n | grep -o src/nope.rs; done",
    ),
    "service": (
        {"duvet.config.yaml": "server: {name: outer}\n", "named.yaml": "server: {name: named}\n"},
        *(
            NAME.format("", ""),
            NAME.format("DUVET_CONFIG=../named.yaml ", ""),
            NAME.format("", " --config ../named.yaml"),
        ),
        *({"src/duvet.config.toml": PAGES}, NAME.format("", ""), NAME.format("", " --config ../duvet.config.yaml")),
        *({"notes/a.md": "# Tea\n\n[[nothing]]\n"}, "validate"),
    ),
    "agents": (
        *(
            "$ cd src; duvet -q mcp --print-config claude | grep -A2 -e -C",
            "$ cd src; duvet call coverage_summary >out",
        ),
        *("$ mkdir src/deep", "-C deep -q report"),
    ),
    "completion": ("search water", COMPLETE.format("ke"), f"{COMPLETE.format('ke')} -C ..", COMPLETE.format("sp")),
    "flags of awslabs duvet": (
        *(
            {"src/spec.md": SPECIFICATION},
            "-q report --source-pattern *.rs --json out.json",
            "$ grep -o '\"a.rs\"' src/out.json",
        ),
        *(f"-q report --{flag}=." for flag in ("source-pattern", "spec-pattern", "spec-path")),
        *("$ ls .duvet", "init", "init --nested", "$ ls src/.duvet"),
    ),
    "a repository of its own": ({"src/.git": "gitdir: ../elsewhere\n"}, "uncited"),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_commands_in_a_subfolder(name: str, kettle: Path, duvet_command: str, gold: Snapshot) -> None:
    ##= man/spec/init.md#project-discovery
    ##% `duvet init`, `duvet query`, and any command with `--source-pattern`, `--spec-pattern` or `--spec-path` MUST
    ##% NOT search the folders above the working directory.
    told = play(runner(duvet_command, kettle / "src"), kettle, *SCENARIOS[name])
    gold.assert_match(told, f"{name.replace(' ', '_')}.txt")

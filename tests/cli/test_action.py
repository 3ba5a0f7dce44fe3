import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import yaml

from tests import zygote
from tests.cli.sample_project import KETTLE, SOURCE, make
from tests.conftest import ROOT

ACTION: dict[str, Any] = yaml.decode((ROOT / "action.yml").read_bytes())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
SCRIPTS = {step["name"]: step for step in STEPS if "run" in step}
DEFAULTS = {name: one["default"] for name, one in ACTION["inputs"].items()}
WRONG = "//= spec.md#heating\n//# The kettle MUST boil milk.\n"


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    folder = tmp_path / "runner"
    folder.mkdir()
    return folder


def run(name: str, project: Path, temporary: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    known = {f"inputs.{key}": value for key, value in {**DEFAULTS, **inputs}.items()}
    known["steps.install.outputs.duvet"] = str(zygote.commands() / "duvet")
    step = SCRIPTS[name]
    filled = {key: re.sub(r"\$\{\{ (.*?) \}\}", lambda one: known[one[1]], text) for key, text in step["env"].items()}
    environ = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "RUNNER_TEMP": str(temporary), "GITHUB_ACTIONS": "true"}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=project / known["inputs.working-directory"],
        env={**environ, **filled},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_github_understands_it() -> None:
    program, options = Path(sys.executable).with_name("check-jsonschema"), "--builtin-schema vendor.github-actions"
    command = [str(program), *options.split(), "action.yml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "ok -- validation done\n")


def test_scripts_are_sound_and_no_input_is_code() -> None:
    assert [name for name, step in SCRIPTS.items() if "${{" in step["run"]] == []
    assert {step["shell"] for step in SCRIPTS.values()} == {"bash"}
    assert {subprocess.run(["bash", "-nc", one["run"]], check=False).returncode for one in SCRIPTS.values()} == {0}
    # Every input is used, and every one that is used is declared.
    text = (ROOT / "action.yml").read_text()
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == DEFAULTS.keys()


def test_the_gate(tmp_path: Path, temporary: Path) -> None:
    project = make(tmp_path / "kettle", KETTLE)
    assert run("Run the gate", project, temporary, gate="report").returncode == 0
    assert run("Run the gate", project, temporary).returncode == 0
    make(project, {".duvet/snapshot.txt": "", "src/b.rs": WRONG})
    done = run("Run the gate", project, temporary)
    marked = [line.partition(",col=")[0] for line in done.stdout.splitlines() if line.startswith("::")]
    assert (done.returncode, marked) == (1, ["::error file=src/b.rs,line=2"])
    (project / "src/b.rs").unlink()
    assert run("Run the gate", project, temporary).returncode == 1


def test_arguments_are_words_and_nothing_else(tmp_path: Path, temporary: Path) -> None:
    project = make(tmp_path / "kettle", KETTLE)
    hostile = "--json $(touch${IFS}made);touch made\n* `touch made`"
    done = run("Run the gate", project, temporary, gate="report", arguments=hostile)
    assert done.returncode == 2
    assert "Got unexpected extra arguments (made * `touch made`)" in done.stderr
    assert sorted(path.name for path in project.iterdir()) == [".duvet", "spec.md", "src"]


@pytest.mark.parametrize("source", [SOURCE, WRONG])
def test_the_page_is_written_whatever_is_wrong(source: str, tmp_path: Path, temporary: Path) -> None:
    project = make(tmp_path / "all", {f"kettle/{name}": text for name, text in {**KETTLE, "src/a.rs": source}.items()})
    done = run("Write the HTML report", project, temporary, **{"working-directory": "kettle"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (temporary / "duvet-report" / "duvet.html").read_text().startswith("<!doctype html>")
    assert not (project / "kettle" / ".duvet" / "snapshot.txt").exists()
    uploaded = next(step for step in STEPS if step["name"] == "Upload the HTML report")
    assert uploaded["with"]["path"] == "${{ runner.temp }}/duvet-report/duvet.html"


VALID = "OK: all 2 annotations are valid"
VERDICTS = [
    ("report --ci", "", "FAIL: citations and tests: 1 problem"),
    ("report", "--ci --html duvet.html", VALID),
    ("uncited --fail-on must", "", VALID),
    ("", "", VALID),
]


def test_the_page_has_the_verdict_of_the_gate_alone(tmp_path: Path, temporary: Path) -> None:
    config = KETTLE[".duvet/config.toml"].partition("[report.json]")[0]
    project = make(tmp_path / "kettle", {**KETTLE, ".duvet/config.toml": config})
    for gate, arguments, verdict in VERDICTS:
        done = run("Write the HTML report", project, temporary, gate=gate, arguments=arguments)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        page = (temporary / "duvet-report" / "duvet.html").read_text()
        (temporary / "duvet-report" / "duvet.html").unlink()
        assert (verdict in page, "FAIL" in page) == (True, verdict.startswith("FAIL"))


def test_a_page_that_cant_be_written_fails_nothing(tmp_path: Path, temporary: Path) -> None:
    project = make(tmp_path / "kettle", {".duvet/config.toml": "x = ["})
    done = run("Write the HTML report", project, temporary)
    assert (done.returncode, (temporary / "duvet-report" / "duvet.html").exists()) == (0, False)

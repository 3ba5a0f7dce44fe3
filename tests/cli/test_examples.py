import re
from pathlib import Path

import pytest

from tests.cli.command import run
from tests.cli.sample_project import make
from tests.conftest import ROOT

MAN = ROOT / "man"
VARIABLES = {"OPENAI_API_KEY": "1", "ANTHROPIC_API_KEY": "2", "LOCAL_PORT": "11434", "USER": "me"}
"""The variables that the comment at the top of contextive.yaml lists."""

PROJECT = "'$schema' = 'duvet-cli/config/v1'\nspecification = [{ source = 'requirements.md' }]\n"
SERVICES = sorted(path.name for path in (MAN / "examples").iterdir() if path.name != "spexus.toml")
RFC = "\n\n2.  Tea\n\n2.1.  Commands\n\n2.1.1.  The BREW method\n\n   Commands MUST use POST.\n\n"
SPECIFICATIONS = {
    "requirements.md": "# Requirements\n\nThe server MUST answer.\n",
    "spec.md": "# Tea\n\n## Pouring\n\nThe spout MAY drip.\n",
    ".duvet/specifications/www.rfc-editor.org/rfc/rfc2324.txt": RFC,
}


def read_blocks(page: str) -> list[str]:
    texts = re.findall(r"^\.EX\n(.*?)^\.EE$", (MAN / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    signs = {r"\(aq": "'", r"\(dq": '"', r"\-": "-", r"\&": "", r"\e": "\\"}
    return [re.sub(r"\\(?:\(..|[-&e])", lambda found: signs[found[0]], text) for text in texts]


def test_the_pages_have_these_examples() -> None:
    pages = ("duvet-config.toml.5", "duvet.config.5", "duvet.7")
    assert [len(read_blocks(page)) for page in pages] == [4, 4, 6]
    assert read_blocks("duvet.config.5")[1:] == [
        (MAN / "examples" / f"duvet.config.{ending}").read_text(encoding="utf-8") for ending in ("json", "toml", "yaml")
    ]


@pytest.mark.parametrize("index", range(4))
def test_a_project_configuration(duvet_command: str, tmp_path: Path, index: int) -> None:
    text = read_blocks("duvet-config.toml.5")[index]
    make(tmp_path, {**SPECIFICATIONS, ".duvet/config.toml": text})
    shown = run(duvet_command, tmp_path, "config")
    assert (shown.code, shown.err) == (0, "")
    done = run(duvet_command, tmp_path, "validate", "--offline")
    # The patterns of the example match nothing here.
    assert not re.search(r"DUV00(?!9)", done.err), done.err


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_configuration(duvet_command: str, tmp_path: Path, name: str) -> None:
    text = (MAN / "examples" / name).read_text(encoding="utf-8")
    is_whole = name == "contextive.yaml"
    project = {**SPECIFICATIONS, ".duvet/config.toml": PROJECT}
    make(tmp_path, {**project, "duvet.config.yaml" if is_whole else name: text})
    done = run(duvet_command, tmp_path, "mcp", "--check", environ=VARIABLES if is_whole else {})
    assert (done.code, done.err) == (0, ""), done.err


def test_the_workflow_of_the_service_page(duvet_command: str, tmp_path: Path) -> None:
    text = (MAN / "examples/duvet.config.yaml").read_text(encoding="utf-8")
    make(tmp_path, {**SPECIFICATIONS, ".duvet/config.toml": PROJECT, "duvet.config.yaml": text})
    done = run(duvet_command, tmp_path, "workflow", "run", "next-up")
    assert (done.code, '"level":"MUST"' in done.out) == (0, True), done.err


def test_a_project_with_a_custom_server(duvet_command: str, tmp_path: Path) -> None:
    text = (MAN / "examples/spexus.toml").read_text(encoding="utf-8")
    make(tmp_path, {**SPECIFICATIONS, ".duvet/config.toml": text})
    for arguments in (("config",), ("mcp", "--check")):
        done = run(duvet_command, tmp_path, *arguments)
        assert (done.code, done.err) == (0, "")


def test_the_subsystems_of_the_service_page(duvet_command: str, tmp_path: Path) -> None:
    make(tmp_path, {"subsystems.yaml": read_blocks("duvet.config.5")[0], "src/heater.py": "heat = 1\n"})
    assert run(duvet_command, tmp_path, "ingest").code == 0
    done = run(duvet_command, tmp_path, "call", "km-graph-subsystem", "--name", "Heating")
    assert (done.code, "Brings water to the boil" in done.out, "Power" in done.out) == (0, True, True), done


def test_the_annotations_of_section_7(duvet_command: str, tmp_path: Path) -> None:
    specification, code, test, targets, exception, entries = read_blocks("duvet.7")
    specification += "\n## Milk\n\nThe pot SHOULD offer milk.\n\n## Clock\n\nThe pot MAY show the time.\n"
    config = "'$schema' = 'duvet-cli/config/v1'\nsource = [{ language = 'rust' }]\n"
    config += "specification = [{ source = 'brewing.md' }]\n"
    files = {
        "brewing.md": specification,
        "docs/brewing.md": specification,
        ".duvet/config.toml": config,
        ".duvet/specifications/www.rfc-editor.org/rfc/rfc2324.txt": RFC,
        "src/pot.rs": f"{code}}}\n\n{test}}}\n\n{exception}\n",
        "src/targets.rs": "\n\n".join(targets.splitlines()),
        ".duvet/exceptions/brewing.toml": entries,
    }
    make(tmp_path, files)
    checked = run(duvet_command, tmp_path, "validate", "--offline")
    assert checked.code == 0, checked.err
    shown = run(duvet_command, tmp_path, "show", "brewing.md#temperature", "--offline")
    assert (shown.code, re.findall(r"\bdone\b", shown.out)[:1]) == (0, ["done"]), shown.out

"""Details in which reports equal those of awslabs duvet byte by byte."""

import json
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Done, Run
from tests.cli.sample_project import make

CONFIG = """\
'$schema' = "https://awslabs.github.io/duvet/config/v0.4.json"
[[source]]
pattern = "src/*.rs"
[report.html]
enabled = false
[report.snapshot]
enabled = true
"""
SPECIFIED = "//= {}\n//= type=spec\n//# {}\n"


SNAPSHOT = ".duvet/snapshot.txt"
PROJECT = {".duvet/config.toml": CONFIG}


@pytest.fixture
def tea(folder: Path) -> Path:
    return folder


def test_white_space_before_a_requirement_stays_in_the_snapshot(tea: Path, duvet: Run, gold: Snapshot) -> None:
    text = "# Tea\n\n- Tea\n\n\tIt MUST be hot.\n\n\u3000It MUST be sweet. \t\n\nand\tit MUST be strong.\n"
    words = ("It MUST be hot.", "It MUST be sweet.", "it MUST be strong.")
    comments = [SPECIFIED.format("tea.md#tea", one).replace("//#", "//= level=MUST\n//#") for one in words]
    make(tea, {"tea.md": text, "src/a.rs": "\n".join(comments)})
    assert duvet("-q", "report") == Done(0, "", "")
    gold.assert_match((tea / SNAPSHOT).read_text(encoding="utf-8"), "blanks.txt")


def test_paths_stay_as_they_are_written(tea: Path, duvet: Run, gold: Snapshot) -> None:
    config = CONFIG.replace("src/*.rs", "src/./*.rs") + '[[specification]]\nsource = "docs/./tea.md"\n'
    cited = "//= docs//tea.md#tea\n//# It MUST be hot.\n"
    make(tea, {".duvet/config.toml": config, "docs/tea.md": "# Tea\nIt MUST be hot.\n", "src/a.rs": cited})
    assert duvet("-q", "report", "--json", "v1.json", "--json-v2", "v2.json", "--lcov", "lcov") == Done(0, "", "")
    for path in (SNAPSHOT, ".duvet/requirements/docs/tea/tea.toml", "v2.json", "lcov/compliance.0.lcov"):
        gold.assert_match((tea / path).read_text(), f"paths/{Path(path).name}")
    v1 = json.loads((tea / "v1.json").read_text())
    del v1["refs"]
    gold.assert_match(json.dumps(v1, indent=1) + "\n", "paths/v1.json")


def test_a_slash_behind_a_file_is_left_out(tea: Path, duvet: Run, gold: Snapshot) -> None:
    config = CONFIG + '[[specification]]\nsource = "tea.md/"\n'
    make(tea, {".duvet/config.toml": config, "tea.md": "# Tea\nIt MUST be hot.\n"})
    assert duvet("-q", "report") == Done(0, "", "")
    gold.assert_match((tea / SNAPSHOT).read_text(), "slash.txt")


def test_a_requirement_of_one_byte_is_not_on_a_line(tea: Path, duvet: Run) -> None:
    comments = [SPECIFIED.format("tea.md#tea", words) for words in ("x", "MUST", "")]
    make(tea, {"tea.md": "# Tea\nx MUST.\n", "src/a.rs": "\n".join(comments)})
    assert duvet("-q", "report", "--json", "v1.json") == Done(0, "", "")
    report = json.loads((tea / "v1.json").read_text())
    specification = report["specifications"]["tea.md"]
    assert specification["requirements"] == [0, 1, 2]
    assert specification["sections"] == [
        {"id": "tea", "title": "Tea", "lines": [[[[], 0, "x "], [[1], 32, "MUST"], [[], 0, "."]]], "requirements": [1]}
    ]


def test_statuses_are_in_the_order_of_specifications(tea: Path, duvet: Run) -> None:
    urls = SPECIFIED.format("https://example.com/tea.md#tea", "It MUST.")
    make(tea, {".duvet/specifications/example.com/tea.txt": "# Tea\nIt MUST.\n", "src/z.rs": urls})
    for name in "ba":
        make(tea, {f"{name}.md": "# Tea\nIt MUST.\n"})
    make(tea, {"src/a.rs": "\n".join(SPECIFIED.format(f"{name}.md#tea", "It MUST.") for name in "bab")})
    assert duvet("-q", "report", "--json", "v1.json") == Done(0, "", "")
    assert list(json.loads((tea / "v1.json").read_text())["statuses"]) == ["3", "1", "0", "2"]


def test_lcov_names_a_downloaded_specification_by_its_relative_path(tea: Path, duvet: Run, gold: Snapshot) -> None:
    text = SPECIFIED.format("https://example.com/tea.md#tea", "It MUST.")
    make(tea, {".duvet/specifications/example.com/tea.txt": "# Tea\nIt MUST.\n", "src/a.rs": text})
    assert duvet("-q", "report", "--lcov", "lcov") == Done(0, "", "")
    gold.assert_match((tea / "lcov/compliance.0.lcov").read_text(), "downloaded.lcov")


@pytest.mark.parametrize("schema", ["https://awslabs.github.io/duvet/config/v0.4.json", "duvet-cli/config/v1"])
def test_markdown_on_which_the_parser_fails(schema: str, tea: Path, duvet: Run, gold: Snapshot) -> None:
    config = f"'$schema' = '{schema}'\n[[specification]]\nsource = 'tea.md'\n[[source]]\npattern = 'src/*.rs'\n"
    config += "[[specification]]\nsource = 'milk.md'\n"
    cited = "//= tea.md#tea\n//# It MUST.\n\n//= milk.md#milk\n//# It MUST.\n"
    make(tea, {".duvet/config.toml": config, "milk.md": "# Milk\nIt MUST.\n", "src/a.rs": cited})
    for name, broken in (("item", "+ Tea\n   {#tea}\n  ===\n"), ("quote", "> Tea\n>  {#tea}\n> ===\n")):
        make(tea, {"tea.md": f"# Ü\n\n{broken}"})
        done = duvet("validate")
        gold.assert_match(done.err, "broken.txt")
        assert (done.code, done.out) == (1, "")
        gold.assert_match(duvet("extract", "-f", "markdown", "tea.md").err, f"broken_{name}.txt")

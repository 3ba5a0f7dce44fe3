"""Details in which reports equal those of awslabs duvet byte by byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import Done, Run, runner
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
HINT = "rewrite the line; write attributes such as `{#id}` after the text of the heading"
SPECIFIED = "//= {}\n//= type=spec\n//# {}\n"


@pytest.fixture
def tea(tmp_path: Path) -> Path:
    return make(tmp_path, {".duvet/config.toml": CONFIG})


@pytest.fixture
def duvet(duvet_command: str, tea: Path) -> Run:
    return runner(duvet_command, tea)


def test_white_space_before_a_requirement_stays_in_the_snapshot(tea: Path, duvet: Run) -> None:
    text = "# Tea\n\n- Tea\n\n\tIt MUST be hot.\n\n\u3000It MUST be sweet. \t\n\nand\tit MUST be strong.\n"
    words = ("It MUST be hot.", "It MUST be sweet.", "it MUST be strong.")
    comments = [SPECIFIED.format("tea.md#tea", one).replace("//#", "//= level=MUST\n//#") for one in words]
    make(tea, {"tea.md": text, "src/a.rs": "\n".join(comments)})
    assert duvet("-q", "report") == Done(0, "", "")
    assert (tea / ".duvet/snapshot.txt").read_text(encoding="utf-8") == (
        "SPECIFICATION: [Tea](tea.md)\n"
        "  SECTION: [Tea](#tea)\n"
        "    TEXT[!MUST]: \tIt MUST be hot.\n"
        "    TEXT[!MUST]: \u3000It MUST be sweet.\n"
        "    TEXT[!MUST]: it MUST be strong.\n"
    )


def test_paths_stay_as_they_are_written(tea: Path, duvet: Run) -> None:
    config = CONFIG.replace("src/*.rs", "src/./*.rs") + '[[specification]]\nsource = "docs/./tea.md"\n'
    cited = "//= docs//tea.md#tea\n//# It MUST be hot.\n"
    make(tea, {".duvet/config.toml": config, "docs/tea.md": "# Tea\nIt MUST be hot.\n", "src/a.rs": cited})
    assert duvet("-q", "report", "--json", "v1.json", "--json-v2", "v2.json", "--lcov", "lcov") == Done(0, "", "")
    assert (tea / ".duvet/snapshot.txt").read_text() == (
        "SPECIFICATION: [Tea](docs/./tea.md)\n  SECTION: [Tea](#tea)\n    TEXT[!MUST,implementation]: It MUST be hot.\n"
    )
    assert (tea / ".duvet/requirements/docs/tea/tea.toml").read_text() == (
        'target = "docs/./tea.md#tea"\n\n# Tea\n#\n# It MUST be hot.\n\n'
        "[[spec]]\nlevel = \"MUST\"\nquote = '''\nIt MUST be hot.\n'''\n\n"
    )
    v1 = json.loads((tea / "v1.json").read_text())
    assert list(v1["specifications"]) == ["docs/./tea.md"]
    assert [(one["source"], one["target_path"]) for one in v1["annotations"]] == [
        (".duvet/requirements/docs/tea/tea.toml", "docs/./tea.md"),
        ("src/./a.rs", "docs//tea.md"),
    ]
    v2 = json.loads((tea / "v2.json").read_text())
    files = [one["file_name"] for bucket in v2["sources"].values() for one in bucket.values()]
    assert sorted(files) == [".duvet/requirements/docs/tea/tea.toml", "docs/./tea.md", "src/./a.rs"]
    assert (tea / "lcov/compliance.0.lcov").read_text().startswith("TN:Compliance\nSF:docs/./tea.md\nFN:1,Tea\n")


def test_a_slash_behind_a_file_is_left_out(tea: Path, duvet: Run) -> None:
    config = CONFIG + '[[specification]]\nsource = "tea.md/"\n'
    make(tea, {".duvet/config.toml": config, "tea.md": "# Tea\nIt MUST be hot.\n"})
    assert duvet("-q", "report") == Done(0, "", "")
    assert (tea / ".duvet/snapshot.txt").read_text() == (
        "SPECIFICATION: [Tea](tea.md)\n  SECTION: [Tea](#tea)\n    TEXT[!MUST]: It MUST be hot.\n"
    )


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


def test_lcov_names_a_downloaded_specification_by_its_relative_path(tea: Path, duvet: Run) -> None:
    text = SPECIFIED.format("https://example.com/tea.md#tea", "It MUST.")
    make(tea, {".duvet/specifications/example.com/tea.txt": "# Tea\nIt MUST.\n", "src/a.rs": text})
    assert duvet("-q", "report", "--lcov", "lcov") == Done(0, "", "")
    assert (tea / "lcov/compliance.0.lcov").read_text() == (
        "TN:Compliance\nSF:.duvet/specifications/example.com/tea.txt\nFN:1,Tea\nFNF:1\n"
        "BRDA:2,0,0,0\nFNDA:0,Tea\nBRDA:1,0,0,0\nBRDA:2,1,0,0\nFNDA:0,Tea\nBRDA:1,1,0,0\nDA:2,0\nend_of_record\n"
    )


@pytest.mark.parametrize("broken", ["+ Tea\n   {#tea}\n  ===\n", "> Tea\n>  {#tea}\n> ===\n"])
@pytest.mark.parametrize("schema", ["https://awslabs.github.io/duvet/config/v0.4.json", "duvet-cli/config/v1"])
def test_markdown_on_which_the_parser_fails(schema: str, broken: str, tea: Path, duvet: Run) -> None:
    config = f"'$schema' = '{schema}'\n[[specification]]\nsource = 'tea.md'\n[[source]]\npattern = 'src/*.rs'\n"
    config += "[[specification]]\nsource = 'milk.md'\n"
    cited = "//= tea.md#tea\n//# It MUST.\n\n//= milk.md#milk\n//# It MUST.\n"
    make(tea, {".duvet/config.toml": config, "tea.md": f"# Ü\n\n{broken}", "milk.md": "# Milk\nIt MUST.\n"})
    make(tea, {"src/a.rs": cited})
    assert duvet("validate") == Done(
        1,
        "",
        "error: tea.md:4: the Markdown parser fails on this line [DUV016]\n"
        " --> .duvet/config.toml:3:10\n"
        "  |\n"
        "3 | source = 'tea.md'\n"
        "  |          ^^^^^^^^ configured here\n"
        f"  = help: {HINT}\n"
        "\n"
        "checked 2 annotations in 1 file: 1 error\n",
    )
    line = broken.splitlines()[1]
    assert duvet("extract", "-f", "markdown", "tea.md").err.endswith(
        "error: the Markdown parser fails on this line [DUV016]\n"
        " --> tea.md:4\n"
        "  |\n"
        f"4 | {line}\n"
        f"  | {('^' * len(line.strip())).rjust(len(line))}\n"
        f"  = help: {HINT}\n"
    )

"""The extended schema at work, and what upstream's says to its keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.made import CONFIG, make
from tests.cli.running import Done, Run

RIGHT = "{meta} spec.md#heating\n{content} The kettle MUST boil water.\n"
SOURCES = """\
'$schema' = "duvet-cli/config/v1"
[[source]]
pattern = ["src/**/*.rs", "lib/*.rs"]
exclude = ["src/gen/**", "**/x_*"]
[[source]]
language = "python"
gitignore = true
[[specification]]
source = "spec.md"
"""
REFUSED = """\
error: invalid type: sequence, expected a string [DUV004]
 --> .duvet/config.toml:3:11
  |
3 | pattern = ["src/**/*.rs", "lib/*.rs"]
  |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: this needs `'$schema' = "duvet-cli/config/v1"`

error: unknown field `exclude`, expected one of `pattern`, `comment-style`, `type`, `blob-link` [DUV002]
 --> .duvet/config.toml:4:1
  |
4 | exclude = ["src/gen/**", "**/x_*"]
  | ^^^^^^^
  = help: this needs `'$schema' = "duvet-cli/config/v1"`

error: missing field `pattern` [DUV003]
 --> .duvet/config.toml:5:1
  |
5 | [[source]]
  | ^^^^^^^^^^
  = help: this needs `'$schema' = "duvet-cli/config/v1"`

error: unknown field `language`, expected one of `pattern`, `comment-style`, `type`, `blob-link` [DUV002]
 --> .duvet/config.toml:6:1
  |
6 | language = "python"
  | ^^^^^^^^
  = help: this needs `'$schema' = "duvet-cli/config/v1"`

error: unknown field `gitignore`, expected one of `pattern`, `comment-style`, `type`, `blob-link` [DUV002]
 --> .duvet/config.toml:7:1
  |
7 | gitignore = true
  | ^^^^^^^^^
  = help: this needs `'$schema' = "duvet-cli/config/v1"`

encountered 5 errors
"""


def annotated(err: str) -> list[str]:
    """The sources that `-v` names."""
    return [line.strip() for line in err.splitlines() if line.endswith((" annotation", " annotations")) and ":" in line]


@pytest.fixture
def wide(kettle: Path) -> Path:
    """A project with sources of several kinds in several folders."""
    rust = RIGHT.format(meta="//=", content="//#")
    python = RIGHT.format(meta="##=", content="##%")
    names = ("src/gen/a.rs", "src/gen/deep/a.rs", "src/x_a.rs", "src/x_b/a.rs", "lib/a.rs", "lib/deep/a.rs")
    make(kettle, dict.fromkeys(names, rust))
    names = ("a.py", "src/a.pyi", "build/a.py", "src/a_pb2.py", "src/kept_pb2.py", "src/own/a.py")
    make(kettle, dict.fromkeys(names, python))
    ignored = {".gitignore": "build/\n*_pb2.py\n!kept_pb2.py\n", "src/own/.gitignore": "a.py\n"}
    return make(kettle, {**ignored, ".duvet/config.toml": SOURCES})


def test_sources(wide: Path, duvet: Run) -> None:
    done = duvet("-v", "report")
    assert (done.code, done.out) == (0, "")
    assert annotated(done.err) == [
        "src/a.rs: 2 annotations",
        "lib/a.rs: 1 annotation",
        "a.py: 1 annotation",
        "src/kept_pb2.py: 1 annotation",
        "src/a.pyi: 1 annotation",
        ".duvet/requirements/spec/heating.toml: 2 annotations",
        ".duvet/requirements/spec/pouring.toml: 1 annotation",
    ]


def test_what_is_left_out_is_not_even_read(wide: Path, duvet: Run) -> None:
    for name in ("src/gen/deep/a.rs", "src/x_a.rs", "build/a.py", "src/own/a.py"):
        (wide / name).write_bytes(b"//= \xff\n##= \xff\n")
    assert duvet("-q", "report") == Done(0, "", "")


def test_upstream_refuses_it_and_says_what_it_needs(wide: Path, duvet: Run) -> None:
    schema = CONFIG.splitlines(keepends=True)[0]
    make(wide, {".duvet/config.toml": schema + SOURCES.partition("\n")[2]})
    assert duvet("-q", "report") == duvet("-q", "config") == Done(1, "", REFUSED)


def test_a_style_of_its_own(kettle: Path, duvet: Run) -> None:
    source = '[[source]]\npattern = "*.py"\nlanguage = "python"\ncomment-style = { meta = "#=", content = "#%" }\n'
    make(kettle, {".duvet/config.toml": f"'$schema' = \"duvet-cli/config/v1\"\n{source}"})
    make(kettle, {"a.py": RIGHT.format(meta="#=", content="#%") + RIGHT.format(meta="##=", content="##%")})
    done = duvet("-v", "report")
    assert (done.code, annotated(done.err)) == (0, ["a.py: 1 annotation"])


def test_the_extended_schema_from_the_start(tmp_path: Path, duvet: Run) -> None:
    make(tmp_path / "new", {"setup.py": "", "spec.md": "# Kettle\n"})
    assert duvet("-q", "init", "--extended", "--specification", "spec.md", cwd=tmp_path / "new") == Done(0, "", "")
    assert duvet("-q", "report", cwd=tmp_path / "new") == Done(0, "", "")
    config = (tmp_path / "new/.duvet/config.toml").read_text()
    assert config.startswith("'$schema' = \"duvet-cli/config/v1\"\n") and 'language = "python"' in config

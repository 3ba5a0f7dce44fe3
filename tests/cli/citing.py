"""A project to insert citations into, and the command in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.made import make
from tests.cli.made_tea import TEA_PROJECT
from tests.cli.running import Run, runner

LID = "5bfbf88b"
MORE = {
    ".duvet/config.toml": TEA_PROJECT[".duvet/config.toml"]
    + '[[source]]\npattern = "c/*.c"\ncomment-style = { meta = "*=", content = "*#" }\n',
    "c/pot.c": "int pot;\n",
    "src/lid.rs": "fn lid() {\r\n\tturn();\r\n}",
    "src/text.rs": 'const TEXT: &str = "\nfn lid() {\n";\n',
    "notes.txt": "A lid.\n",
}


@pytest.fixture
def tea(tmp_path: Path) -> Path:
    return make(tmp_path / "tea", {**TEA_PROJECT, **MORE})


@pytest.fixture
def duvet(duvet_command: str, tea: Path) -> Run:
    return runner(duvet_command, tea)

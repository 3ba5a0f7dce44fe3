import time
from collections.abc import Callable
from pathlib import Path

import pytest

from duvet import MemoryTree, Project
from duvet.model import Severity
from tests.cli.command import Run
from tests.cli.sample_project import make

CONFIG = """\
'$schema' = "duvet-cli/config/v1"
[[source]]
language = "python"
pattern = "src/*.py"
[[specification]]
source = "spec.md"
[report.html]
enabled = false
[report.json]
enabled = true
"""
CITED = "##= spec.md#tea\n##% It MUST be hot.\n"
TEA = b"# Tea\n\nIt MUST be hot.\n\n"
MEGABYTE = 1 << 20


def repeat(line: str, count: int) -> bytes:
    return "".join(line.format(index) for index in range(count)).encode()


GROWING: dict[str, tuple[Callable[[int], bytes], int]] = {
    "items": (lambda size: repeat("- Pot {} MUST be hot.\n", size), 40_000),
    "equal items": (lambda size: repeat("- Pots MUST be hot.\n", size), 40_000),
    "items below a lead-in": (lambda size: b"Pots MUST:\n\n" + repeat("- be {} degrees hot\n", size), 40_000),
    "items with ids": (lambda size: repeat("- **FR-{0}**: Pot {0} MUST be hot.\n", size), 40_000),
    "numbered items": (lambda size: repeat("{0}. Pot {0} MUST be hot.\n", size), 40_000),
    "tasks": (lambda size: repeat("- [x] Pot {} MUST be hot.\n", size), 40_000),
    "rows": (lambda size: b"| id | pot |\n|---|---|\n" + repeat("| FR-{0} | Pot {0} MUST be hot. |\n", size), 10_000),
    "cells": (lambda size: b"|" + b" a |" * size + b"\n|" + b"-|" * size + b"\n|" + b" MUST |" * size, 10_000),
    "nested quotes": (lambda size: b">" * size + b" It MUST be sweet.\n", 10_000),
    "nested items": (lambda size: b"- " * size + b"It MUST be sweet.\n", 10_000),
    "an unclosed fence": (lambda size: b"```\n" + repeat("It MUST be cold.\n", size), 100_000),
    "an unclosed comment": (lambda size: b"<!--\n" + repeat("It MUST be cold.\n", size), 100_000),
    "a long line": (lambda size: b"It MUST be " + b"very " * size + b"sweet.\n", MEGABYTE // 5),
    "sentences": (lambda size: repeat("Pot {} MUST be hot. ", size), 50_000),
    "abbreviations": (lambda size: b"It MUST be hot, " + b"e.g. i.e. " * size + b"\n", 100_000),
    "unclosed emphasis": (lambda size: b"It MUST be " + b"*a **b _c " * size + b"\n", 100_000),
    "unclosed brackets": (lambda size: b"It MUST be " + b"[" * size + b"a" + b"](b)" * size + b"\n", 100_000),
    "unclosed quotation marks": (lambda size: b"It MUST be " + b'"a. ' * size + b"\n", 100_000),
    "code spans": (lambda size: b"It MUST be " + b"`a. b` ``c " * size + b"\n", 100_000),
    "sections": (lambda size: repeat("# Pot\n\nPot {} MUST be hot.\n\n", size), 10_000),
    "blanks": (lambda size: "It MUST be\t\u00e9  ".encode() * size + b"hot.\n", 100_000),
    "HTML on a line": (
        lambda size: b"<div>" + "<b>Pots</b> \u00e9 MUST be hot. ".encode() * size + b"</div>\n",
        50_000,
    ),
    "an unclosed tag": (lambda size: b"<div>\n<" + b"a" * size + b"\n\nIt MUST be hot.\n", MEGABYTE),
    "links": (lambda size: repeat("Pot {0} MUST be [hot][h{0}].\n\n[h{0}]: x\n\n", size), 10_000),
}
"""Texts by size, and the size at which they are hostile."""


def measure(data: bytes) -> float:
    files = {".duvet/config.toml": CONFIG.encode(), "src/a.py": CITED.encode(), "spec.md": data}
    start = time.process_time()
    project = Project("/project", tree=MemoryTree(files))
    assert project.requirements and not project.trace.failures
    assert [one for one in project.trace.problems if one.severity is Severity.ERROR] == []
    return time.process_time() - start


@pytest.mark.parametrize("name", GROWING)
def test_work_on_hostile_markdown_grows_with_the_text(name: str) -> None:
    text, size = GROWING[name]
    small, large = min(measure(TEA + text(size // 10)) for _ in range(3)), measure(TEA + text(size))
    # Ten times the text; were the work quadratic, the ratio would be 100.
    assert large < 25 * max(small, 0.005)


BROKEN = {
    "a NUL": (b"# Tea\n\nIt MUST be\0 hot.\n\nIt MUST be hot.\n", 0, ""),
    "lone carriage returns": (b"# Tea\r\rIt MUST be hot.\r\r- It MAY be sweet.\r", 1, "DUV043"),
    "no UTF-8": (b"# Tea\n\nIt MUST be \xff hot.\n", 1, "DUV011"),
    "a byte order mark": (b"\xef\xbb\xbf# Tea\n\nIt MUST be hot.\n", 0, ""),
    "nothing": (b"", 1, "DUV043"),
    "only a NUL": (b"\0", 1, "DUV043"),
    "half a character": (b"# Tea\n\nIt MUST be hot.\xe2\x82", 1, "DUV011"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_markdown_is_read_or_reported(name: str, kettle: Path, duvet: Run) -> None:
    data, code, problem = BROKEN[name]
    make(kettle, {".duvet/config.toml": CONFIG, "src/a.py": CITED})
    (kettle / "spec.md").write_bytes(data)
    done = duvet("report", "--no-cache")
    assert (done.code, done.out, "error" in done.err) == (code, "", bool(problem)), done.err
    assert f"[{problem}]" in done.err if problem else "Traceback" not in done.err, done.err

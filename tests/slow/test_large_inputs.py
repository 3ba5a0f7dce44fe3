from pathlib import Path

import pytest

from tests.cli.command import Done, Run

LARGE = 50_000_000
HEATING = b"//= spec.md#heating\n//# "
LINES = {
    "no annotation": (b"x" * LARGE, ""),
    "blanks before": (b" " * LARGE + HEATING, ""),
    "a quote": (HEATING + b"x" * LARGE, "DUV050"),
    "a target": (b"//= " + b"x" * LARGE, "DUV040"),
    "a section": (HEATING[:-5] + b"x" * LARGE, "DUV043"),
    "a type": (b"//= spec.md#heating\n//= type=" + b"x" * LARGE, "DUV022"),
    "prefixes": (b"//# " * (LARGE // 4), "DUV027"),
    "no UTF-8": (b"\xff" * LARGE, "DUV011"),
}


@pytest.mark.parametrize("name", LINES)
def test_a_large_source_is_read_or_reported(name: str, kettle: Path, duvet: Run) -> None:
    data, code = LINES[name]
    (kettle / "src/b.rs").write_bytes(data)
    done = duvet("report", "--offline")
    assert done.code == (code not in ("", "DUV027"))
    assert f"[{code}]\n --> src/b.rs:" in done.err if code else "[DUV" not in done.err
    assert len(done.err) < 10_000


@pytest.mark.parametrize("more", [b"x" * LARGE, b"MUST MAY " * 500_000], ids=["one word", "keywords"])
def test_a_large_specification_is_read(more: bytes, kettle: Path, duvet: Run) -> None:
    (kettle / "spec.md").write_bytes(b"# Kettle\n\n## Heating\n\nThe kettle MUST boil water. " + more)
    assert duvet("-q", "report", "--offline") == Done(0, "", "")


def test_many_requirements_are_traced(kettle: Path, duvet: Run) -> None:
    (kettle / ".duvet/todos").mkdir()
    (kettle / ".duvet/todos/a.toml").write_bytes(b"target = " + b"x" * LARGE)
    done = duvet("-q", "report")
    assert (done.code, done.err.count("error:")) == (1, 1)
    assert "[DUV030]\n --> .duvet/todos/a.toml:1:10\n" in done.err and len(done.err) < 10_000

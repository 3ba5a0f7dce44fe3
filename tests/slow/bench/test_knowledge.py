"""The project that is taken in and searched to measure that."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.bench.knowledge import FEW, MANY, Size, measured, sentences_of

SENTENCES = (
    "The server resumes a session when the ticket that it receives has not expired yet.",
    "Every record carries a number that the receiver compares with those it has seen before.",
)
AFTERWARDS = (
    "taken in again, ms",
    "km-search, p50 in ms",
    "km-search, p99 in ms",
    "memory of the server, MB",
)


@pytest.mark.skipif(sys.platform != "linux", reason="the clock of another process is one of Linux")
@pytest.mark.parametrize(
    ("size", "names"),
    [
        (FEW, ("taken in by words, ms for each thousand", "taken in with vectors, ms for each thousand", *AFTERWARDS)),
        (
            MANY,
            (
                "taken in with vectors, ms for each thousand",
                AFTERWARDS[0],
                "room on disk, to what it may be",
                *AFTERWARDS[1:],
            ),
        ),
    ],
)
def test_a_project_is_taken_in_and_searched(
    duvet_command: str, tmp_path: Path, size: Size, names: tuple[str, ...]
) -> None:
    figures = list(measured(duvet_command, tmp_path, size, 30, SENTENCES))
    assert [figure.name for figure in figures] == [f"{size.name}: {name}" for name in names]
    assert all(figure.value > 0 for figure in figures)


def test_sentences_stand_on_a_line(tmp_path: Path) -> None:
    text = "   " + SENTENCES[0].replace(" when", "\n   when") + "\n   +-----+\n   | Box |\n   +-----+\n"
    (tmp_path / "rfc1.txt").write_text(text)
    assert list(sentences_of(tmp_path)) == [SENTENCES[0]]

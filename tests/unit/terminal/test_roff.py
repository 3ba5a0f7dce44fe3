"""Text in roff."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from man.build import escape_roff, format_prose

LINE = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E))


def test_nothing_is_taken_for_a_request_or_an_escape() -> None:
    assert escape_roff('.TH\n\'br \\n "a" --b `c` ~^') == (
        "\\&.TH\n\\(aqbr \\en \\(dqa\\(dq \\-\\-b \\(gac\\(ga \\(ti\\(ha"
    )


def test_other_scripts_are_named_by_number() -> None:
    assert escape_roff("é→𝄞") == r"\[u00E9]\[u2192]\[u1D11E]"


def test_backticks_make_bold() -> None:
    assert format_prose("Write\n  `report.html`, or   not.") == r"Write \fBreport.html\fR, or not."


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@given(st.lists(LINE, min_size=5, max_size=20))
def test_groff_shows_what_was_escaped(lines: list[str]) -> None:
    text = "\n".join(f".{line}" for line in lines)
    done = subprocess.run(
        ["groff", "-Tascii"], input=f".nf\n{escape_roff(text)}\n", capture_output=True, text=True, check=True
    )
    assert done.stdout.rstrip("\n") == text

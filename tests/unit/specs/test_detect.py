"""The format of a specification, where nobody says."""

from __future__ import annotations

import pytest

from duvet.model import Format
from duvet.specs.library import detect_format


@pytest.mark.parametrize(
    ("path", "text", "format"),
    [
        ("a/spec.md", "plain", Format.MARKDOWN),
        ("spec.markdown", "plain", Format.MARKDOWN),
        ("spec.txt", "\n\u3000 # Title", Format.MARKDOWN),
        ("spec.txt", "[//]: # (licence)", Format.MARKDOWN),
        ("spec.txt", "\ufeff# Title", Format.IETF),
        ("spec.txt", "1.  Title", Format.IETF),
        ("spec.MD", "plain", Format.IETF),
        (".md", "plain", Format.IETF),
        ("a/.md", "plain", Format.IETF),
        ("md", "", Format.IETF),
    ],
)
def test_detect(path: str, text: str, format: Format) -> None:
    ##= man/spec/trace.md#specifications
    ##% duvet MUST read a specification in the configured format, or as Markdown if its name or its beginning suggests
    ##% that, or else as IETF text.
    assert detect_format(path, text) is format


def test_what_is_wanted_wins() -> None:
    ##= man/spec/trace.md#specifications
    ##% duvet MUST read a specification in the configured format, or as Markdown if its name or its beginning suggests
    ##% that, or else as IETF text.
    assert detect_format("spec.md", "# Title", Format.IETF) is Format.IETF
    assert detect_format("spec.txt", "1.  Title", Format.MARKDOWN) is Format.MARKDOWN

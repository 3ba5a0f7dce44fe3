"""The snapshot."""

from __future__ import annotations

import pytest

from tests.unit.reports.report_projects import TYPES, finished, snapshot_of

ALL_TYPES = """\
SPECIFICATION: [Tea](tea.md)
  SECTION: [Pot](#pot)
    TEXT[!MUST,implementation,test]: The pot MUST be warm.
    TEXT[!SHOULD,test]: It
    TEXT[!SHOULD]:  SHOULD
    TEXT[!SHOULD]: be round.

  SECTION: [Cup](#cup)
    TEXT[!MAY,exception]: A cup MAY be
    TEXT[!MAY]:  ☕
    TEXT[!MAY,todo]: or not be
    TEXT[!MAY]:  ☕ blue.

SPECIFICATION: [Tea](tea.md)
  SECTION: [Pot](#pot)
    TEXT[implication]: It SHOULD
    TEXT[implication]: be round.
"""
CONFIG = TYPES[".duvet/config.toml"].partition("[[specification]]")[0]
POT = "1.  Pot\n\n   It may be.\n\n2.  Lid\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (TYPES, ALL_TYPES),
        ({}, ""),
        # Specifications of which nothing but titles is cited are left out.
        (
            {
                "src/a.rs": "//= pot.txt#1\n\n//= pot.txt#2\n\n//= tea.md#pot\n",
                "pot.txt": POT.replace("may", "MUST"),
                "tea.md": TYPES["tea.md"],
                ".duvet/config.toml": CONFIG,
            },
            "\n",
        ),
        # IETF text has no title.
        (
            {"src/a.rs": "//= pot.txt#1\n//# It\n", "pot.txt": POT, ".duvet/config.toml": CONFIG},
            "SPECIFICATION: pot.txt\n  SECTION: [Pot](#section-1)\n    TEXT[implementation]:    It\n",
        ),
    ],
)
def test_snapshots_match_upstreams(files: dict[str, str], expected: str) -> None:
    assert snapshot_of(finished(files)) == expected

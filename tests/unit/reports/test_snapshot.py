"""The snapshot"""

from __future__ import annotations

from io import BytesIO

from duvet.reports import snapshot
from tests.unit.reports.made import FILES, finished

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


def shown(files: dict[str, str]) -> str:
    out = BytesIO()
    snapshot.render_snapshot(finished(files), out)
    return out.getvalue().decode()


def test_all_types() -> None:
    assert shown(FILES) == ALL_TYPES


def test_nothing() -> None:
    assert shown({}) == ""


def test_what_only_titles_are_cited_of_is_left_out() -> None:
    text = "1.  Pot\n\n   It MUST be hot.\n\n2.  Lid\n"
    comments = "//= pot.txt#1\n\n//= pot.txt#2\n\n//= tea.md#pot\n"
    config = FILES[".duvet/config.toml"].partition("[[specification]]")[0]
    assert (
        shown({".duvet/config.toml": config, "src/a.rs": comments, "pot.txt": text, "tea.md": FILES["tea.md"]}) == "\n"
    )


def test_ietf_text_has_no_title() -> None:
    config = FILES[".duvet/config.toml"].partition("[[specification]]")[0]
    files = {
        ".duvet/config.toml": config,
        "src/a.rs": "//= pot.txt#1\n//# It\n",
        "pot.txt": "1.  Pot\n\n   It may be.\n",
    }
    assert shown(files) == "SPECIFICATION: pot.txt\n  SECTION: [Pot](#section-1)\n    TEXT[implementation]:    It\n"

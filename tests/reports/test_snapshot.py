"""The snapshot"""

from __future__ import annotations

from io import BytesIO

from duvet.reports import snapshot
from tests.reports.made import FILES, finished
from tests.reports.test_json_v1 import SMALL


def rendered(files: dict[str, str]) -> str:
    out = BytesIO()
    snapshot.render(finished(files), out)
    return out.getvalue().decode()


def test_a_small_snapshot() -> None:
    assert rendered(SMALL) == (
        "SPECIFICATION: https://host.example/cup\n"
        "  SECTION: [Cup](#section-1)\n"
        "    TEXT[todo]:    A cup\n"
        "\n"
        "SPECIFICATION: [Tea](tea.md)\n"
        "  SECTION: [Pot](#pot)\n"
        "    TEXT[!MUST]:   The\n"
        "    TEXT[!MUST,exception]: pot\n"
        "    TEXT[!MUST,test]: MUST be ☕.\n"
        "    TEXT[!MAY,test]: It\n"
    )


def test_sections_and_statuses() -> None:
    assert rendered(FILES) == (
        "SPECIFICATION: [Tea](tea.md)\n"
        "  SECTION: [Pot](#pot)\n"
        "    TEXT[!MUST,implementation,test]: The pot MUST be warm.\n"
        "    TEXT[!SHOULD,test]: It\n"
        "    TEXT[!SHOULD]:  SHOULD\n"
        "    TEXT[!SHOULD]: be round.\n"
        "\n"
        "  SECTION: [Cup](#cup)\n"
        "    TEXT[!MAY,exception]: A cup MAY be\n"
        "    TEXT[!MAY]:  ☕\n"
        "    TEXT[!MAY,todo]: or not be\n"
        "    TEXT[!MAY]:  ☕ blue.\n"
        "\n"
        "SPECIFICATION: [Tea](tea.md)\n"
        "  SECTION: [Pot](#pot)\n"
        "    TEXT[implication]: It SHOULD\n"
        "    TEXT[implication]: be round.\n"
    )


def test_nothing() -> None:
    assert rendered({}) == ""


def test_a_specification_of_which_only_titles_are_quoted_leaves_its_blank_line() -> None:
    files = {**SMALL, "b.rs": "//= bare.md#bare\n\n//= z.md#z\n", "bare.md": "# Bare\n", "z.md": "# Z\n"}
    assert rendered(files) == rendered(SMALL).replace("\n\nSPEC", "\n\n\nSPEC") + "\n"


def test_a_requirement_without_a_level_shows_nothing() -> None:
    comment = "//= tea.md#pot\n//= type=spec\n//# It MAY\n"
    assert rendered({**SMALL, "a.rs": comment}) == "SPECIFICATION: [Tea](tea.md)\n  SECTION: [Pot](#pot)\n"


def test_the_indent_of_a_line_is_kept_once() -> None:
    tea = "# Tea\n\n## Pot\n\n- a  bb\n  cc\n"
    comments = "//= tea.md#pot\n//# bb\n\n//= tea.md#pot\n//# cc\n"
    assert rendered({**SMALL, "tea.md": tea, "a.rs": comments}) == (
        "SPECIFICATION: [Tea](tea.md)\n"
        "  SECTION: [Pot](#pot)\n"
        "    TEXT[implementation]: bb\n"
        "    TEXT[implementation]:   cc\n"
    )

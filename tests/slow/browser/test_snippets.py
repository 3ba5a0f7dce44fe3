"""The code below a comment is shown with it, to the letter."""

from __future__ import annotations

from pathlib import Path

from tests.made import written
from tests.slow.browser.projects import CONFIG, PASSING, TEA
from tests.slow.browser.reports import Report, Reports
from tests.slow.browser.visits import Visits

CITED = "//= tea.md#pot\n//# The pot MUST be warm.\n"
FILES: dict[str, str | bytes] = {
    ".duvet/config.toml": CONFIG,
    "tea.md": TEA,
    "src/a_code.rs": f"{CITED}    fn warm() {{\n        <b>heat()</b>;\n    }}\n",
    "src/b_last.rs": CITED,
    "src/c_tabs.rs": f"{CITED}\tif cold {{\n\t\theat();\n\t}}\n",
    "src/d_minified.rs": f"{CITED}{'x' * 9_000}\n",
    "src/e_bytes.rs": CITED.encode() + b"let caf\xe9 = 1;\n",
    "src/f_long.rs": CITED + "".join(f"line{number}();\n" for number in range(9)),
}


def shown(visit: Visits, reports: Reports, name: str, files: dict[str, str | bytes]) -> dict[str, str]:
    """The code of each reference in the panel, by its source."""
    page = visit(f"{reports.of(name, files).url}#tea")
    page.locator("article pre a").first.click()
    found: list[list[str]] = page.locator("#panel .references li").evaluate_all(
        "all => all.map(one => [one.querySelector('a, code').textContent, one.querySelector('pre')?.textContent ?? ''])"
    )
    return {place.partition("/")[2].partition(".")[0]: code for place, code in found}


def test_code_is_dedented_cut_and_literal(visit: Visits, reports: Reports) -> None:
    found = shown(visit, reports, "snippets", FILES)
    assert found | {"d_minified": "", "e_bytes": ""} == {
        "a_code": "fn warm() {\n    <b>heat()</b>;\n}",
        "b_last": "",
        "c_tabs": "if cold {\n\theat();\n}",
        "d_minified": "",
        "e_bytes": "",
        "f_long": "\n".join(f"line{number}();" for number in range(6)),
    }
    assert len(found["d_minified"]) <= 161 and found["d_minified"].startswith("x" * 100)


def test_no_lines_are_shown_where_none_are_wished_for(visit: Visits, reports: Reports) -> None:
    config = f"{CONFIG}\n[report.html]\nsnippet-lines = 0\n"
    found = shown(visit, reports, "no snippets", {**FILES, ".duvet/config.toml": config})
    assert len(found) > 4 and set(found.values()) == {""}


def test_what_stands_outside_of_the_project_stays_there(duvet_command: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.rs"
    secret.write_text(f"{CITED}let password = 'hunter2';\n")
    folder = written(tmp_path / "project", {name: text.encode() for name, text in PASSING.items()})
    (folder / "src" / "link.rs").symlink_to(secret)
    page = Report(duvet_command, folder).html
    assert "src/link.rs:1" in page
    assert "hunter2" not in page and "password" not in page

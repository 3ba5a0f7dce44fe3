"""What `duvet validate` says of pages"""

from __future__ import annotations

from pathlib import Path

from tests.cli.made import make
from tests.cli.noting import DANGLING, duvet, folder
from tests.cli.running import Run
from tests.unit.knowledge.pages.made import TRACE

__all__ = ["duvet", "folder"]  # fixtures, which tests ask for by name


def test_validate(duvet: Run) -> None:
    ##= man/spec/pages.md#checks
    ##= type=test
    ##% `duvet validate` MUST report the problems of pages, and `duvet pages check` MUST exit with 1 for broken links,
    ##% duplicate slugs and unreadable pages.
    expected = (0, "", f"{DANGLING}checked 3 annotations in 2 files: 1 warning\n")
    assert duvet("validate") == duvet("validate") == duvet("--no-cache", "validate") == expected
    assert duvet("validate", "--strict").code == 1
    assert duvet("validate", "src") == (0, "", "checked 1 annotation in 1 file: no problems\n")
    assert duvet("validate", "docs/cups.md") == (0, "", f"{DANGLING}checked 0 annotations in 0 files: 1 warning\n")


def test_an_edit_of_a_page_is_in_the_next_answer(duvet: Run, folder: Path) -> None:
    assert "1 warning" in duvet("validate").err
    make(folder, {"docs/ketle.md": "# New\n"})
    assert duvet("validate") == (0, "", "checked 3 annotations in 2 files: no problems\n")
    (folder / "docs/ketle.md").unlink()
    assert "1 warning" in duvet("validate").err


def test_validate_with_mending_and_with_standard_input(duvet: Run, folder: Path, tmp_path: Path) -> None:
    ##= man/spec/pages.md#checks
    ##= type=test
    ##% `duvet validate` MUST report the problems of pages, and `duvet pages check` MUST exit with 1 for broken links,
    ##% duplicate slugs and unreadable pages.
    expected = (0, "", f"{DANGLING}checked 3 annotations in 2 files: 1 warning\n")
    assert duvet("validate", "--diff") == duvet("validate", "--fix") == expected
    make(tmp_path, {"elsewhere/secret.md": "[[nowhere]]", "tea/docs/d.md": "---\nslug: cups\n---\n"})
    given = tmp_path / "given"
    given.write_text("x [[nowhere]]")
    (folder / "docs/link.md").symlink_to(tmp_path / "elsewhere/secret.md")
    for option in ((), ("--fix",), ("--diff",)):
        assert [duvet("validate", *option, f"docs/{name}.md").code for name in ("d", "cups", "kettle")] == [1, 1, 0]
        if option == ("--fix",):
            continue
        with given.open("rb") as stream:
            done = duvet("validate", *option, "--stdin-path", "docs/../docs/kettle.md", "-", stdin=stream)
        assert (done.code, done.out) == (0, "")
        assert done.err == (
            "warning: there is no page `nowhere` [DUV103]\n --> docs/kettle.md:1:3\n  |\n1 | x [[nowhere]]\n"
            "  |   ^^^^^^^^^^^\n  = help: write the page, or take the link out\n\n1 warning\n"
            "checked 0 annotations in 0 files: 1 warning\n"
        )


def test_what_is_mended_in_a_page(duvet: Run, folder: Path) -> None:
    config = TRACE[".duvet/config.toml"] + "[[source]]\npattern = 'docs/*.rs.md'\n"
    text = "//= docs/spec.md#brewing\n//# Tea MUST be  hott.\n\n[[nowhere]]\n"
    make(folder, {".duvet/config.toml": config, "docs/a.rs.md": text})
    done = duvet("validate", "--fix", "docs/a.rs.md")
    assert (folder / "docs/a.rs.md").read_text() == text.replace(" hott", "hot")
    assert "--> docs/a.rs.md:4:1\n" in done.err

"""`duvet report --open`, and the page on standard output."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.made import CONFIG
from tests.cli.running import Run, files
from tests.cli.watched import Watch
from tests.unit.watching.edits import save_by_rename

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a script as browser")

PAGE = ".duvet/reports/report.html"
NO_PAGE = """\
error: there is no page to open
  = help: name a file with `--html FILE`, or set `enabled = true` in `[report.html]` of the configuration

encountered 1 errors
"""


@pytest.fixture
def browser(tmp_path: Path) -> Path:
    """A browser that writes down what it is asked to show."""
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> "{tmp_path}/shown"\n')
    script.chmod(0o755)
    return script


def shown(browser: Path) -> list[str]:
    """What has been shown, less the folder of the test."""
    path = browser.with_name("shown")
    lines = path.read_text().splitlines() if path.exists() else []
    return [line.replace(browser.parent.as_uri(), "<test>") for line in lines]


def test_the_page_that_is_written_or_kept(kettle: Path, duvet: Run, browser: Path) -> None:
    ##= man/spec/page.md#working-with-the-report
    ##% `duvet report --open` MUST open the finished report in the browser, once even with `--watch`, or fail when no
    ##% report is written.
    environ = {"BROWSER": str(browser)}
    assert duvet("report").code == 0
    assert shown(browser) == []
    again = duvet("report", "--open", environ=environ)
    assert "nothing has changed" in again.err
    assert duvet("--no-cache", "report", "--open", environ=environ).code == 0
    assert shown(browser) == [f"<test>/kettle/{PAGE}"] * 2


def test_another_file(kettle: Path, duvet: Run, browser: Path) -> None:
    done = duvet("report", "--html", "a page#1.html", "--open", environ={"BROWSER": str(browser)})
    assert (done.code, shown(browser)) == (0, ["<test>/kettle/a%20page%231.html"])


def test_a_run_that_fails(kettle: Path, duvet: Run, browser: Path) -> None:
    (kettle / "src/a.rs").write_text("//= spec.md#heating\n//# It is cold.\n")
    done = duvet("report", "--open", environ={"BROWSER": str(browser)})
    assert (done.code, shown(browser)) == (1, [f"<test>/kettle/{PAGE}"])


@pytest.mark.parametrize("options", [(), ("--html", "-")])
def test_no_page(kettle: Path, duvet: Run, browser: Path, options: tuple[str, ...]) -> None:
    ##= man/spec/page.md#working-with-the-report
    ##% `duvet report --open` MUST open the finished report in the browser, once even with `--watch`, or fail when no
    ##% report is written.
    (kettle / ".duvet/config.toml").write_text(CONFIG + "[report.html]\nenabled = false\n")
    done = duvet("report", "--open", *options, environ={"BROWSER": str(browser)})
    assert (done.code, shown(browser)) == (1, [])
    assert done.err.endswith(NO_PAGE)


def test_no_page_could_be_written(kettle: Path, duvet: Run, browser: Path) -> None:
    (kettle / PAGE).mkdir(parents=True)
    done = duvet("report", "--open", environ={"BROWSER": str(browser)})
    assert (done.code, shown(browser)) == (1, [])
    assert "can't write this file" in done.err
    assert "no page to open" not in done.err


@pytest.mark.parametrize("name", ["/no/browser", "/no/browser 'of mine %s"])
def test_no_browser(kettle: Path, duvet: Run, name: str) -> None:
    done = duvet("report", "--open", environ={"BROWSER": name, "PATH": "/nowhere"})
    assert done.code == 1
    assert done.err.endswith(
        f"error: no browser was found\n --> {PAGE}\n"
        "  = help: open the file yourself, or name a browser in the environment variable BROWSER\n"
        "\nencountered 1 errors\n"
    )


def test_watching(kettle: Path, duvet: Run, browser: Path, watch: Watch) -> None:
    ##= man/spec/page.md#working-with-the-report
    ##% `duvet report --open` MUST open the finished report in the browser, once even with `--watch`, or fail when no
    ##% report is written.
    watched = watch("report", "--watch", "--open", BROWSER=str(browser))
    watched.until()
    save_by_rename("src/a.rs", "")(kettle)
    watched.until()
    watched.interrupted()
    assert shown(browser) == [f"<test>/kettle/{PAGE}"]


def test_watching_what_can_not_be_reported_on_at_first(kettle: Path, duvet: Run, browser: Path, watch: Watch) -> None:
    (kettle / ".duvet/config.toml").write_text("[")
    watched = watch("report", "--watch", "--open", BROWSER=str(browser))
    watched.until()
    assert shown(browser) == []
    save_by_rename(".duvet/config.toml", CONFIG)(kettle)
    watched.until()
    watched.interrupted()
    assert shown(browser) == [f"<test>/kettle/{PAGE}"]


def test_the_page_on_standard_output(kettle: Path, duvet: Run) -> None:
    plain = duvet("report", "--html", "page.html")
    done = duvet("report", "--html", "-")
    assert done.code == plain.code == 0
    assert done.out.encode() == files(kettle)["page.html"] == files(kettle)[PAGE]
    assert done.err.splitlines()[-1] == plain.err.splitlines()[-1]
    assert duvet("report", "--html", "-").out == done.out

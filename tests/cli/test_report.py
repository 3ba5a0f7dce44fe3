"""`duvet report`: where its reports go, and where its text comes from."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.made import CONFIG, SOURCE, SPECIFICATION, make
from tests.cli.running import Done, Run, files

PAGE = ".duvet/reports/report.html"
WRONG = "//= spec.md#heating\n//# The kettle MUST boil milk.\n"


def problems(done: Done) -> list[tuple[str, str]]:
    """The code and the place of each problem."""
    return re.findall(r"\[(DUV\d+)\]\n *--> (.*)", done.err)


def test_a_report_on_standard_output(kettle: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#reports
    ##% `duvet report` MUST write nothing to standard output, except for a report or problems that are sent there.
    done = duvet("-q", "report", "--json", "-")
    assert done == Done(0, (kettle / ".duvet/reports/report.json").read_text(), "")


def test_what_an_error_keeps_from_being_written(reported: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#reports
    ##% When an annotation is wrong, `duvet report` MUST write the HTML report with every problem, but no JSON, LCOV or
    ##% snapshot.
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet MUST report a target that has no section or leads nowhere, where it is written, and SHOULD suggest similar
    ##% sections.
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet MUST report a quote that its section does not contain.
    make(reported, {"src/a.rs": WRONG, "src/b.rs": f"{WRONG}\n//= nothing.md#here\n"})
    before = files(reported)
    done = duvet("report", "--json", "new.json", "--json-v2", "v2.json", "--lcov", "lcov")
    page = (reported / PAGE).read_text()
    assert problems(done) == [("DUV050", "src/a.rs:2:5"), ("DUV050", "src/b.rs:2:5"), ("DUV040", "src/b.rs:4:5")]
    assert {name: data for name, data in files(reported).items() if before.get(name) != data} == {PAGE: page.encode()}
    assert ">FAIL: 3 problems, 3 requirements not cited<" in page
    assert [page.count(text) for text in ("src/a.rs:2:5", "src/b.rs:2:5", "src/b.rs:4:5")] == [1, 1, 1]


def test_problems_of_every_kind_are_in_one_order(reported: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#diagnostics
    ##% Once it can read the configuration, duvet MUST report all problems of a run, sorted by path and place.
    make(reported, {"spec.md": SPECIFICATION.replace("MAY", "might"), "src/a.rs": WRONG})
    stale = ".duvet/requirements/spec/pouring.toml"
    found = [("DUV036", f"{stale}:1"), ("DUV050", f"{stale}:9:9"), ("DUV050", "src/a.rs:2:5")]
    assert problems(duvet("-q", "report", "--strict")) == found


def test_nothing_drives_the_terminal(kettle: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#diagnostics
    ##% An input MUST NOT cause a traceback or control the terminal.
    evil = "\x1b[31m"
    config = CONFIG.replace("[report.json]\n", '[report.json]\npath = "\\u001b[31m.json"\n')
    specification = SPECIFICATION.replace("drip", f"{evil}drip")
    make(kettle, {".duvet/config.toml": config, "spec.md": specification, ".duvet/snapshot.txt": evil})
    shown = [duvet("report", "--ci"), duvet("-v", "report"), duvet("config")]
    make(kettle, {f"src/{evil}.rs": f"//= {evil}\n//# x\n"})
    shown += [duvet("-v", "report")]
    assert [done.code for done in shown] == [1, 0, 0, 1]
    assert all(r"\u{1b}[31m" in done.out + done.err and "\x1b" not in done.out + done.err for done in shown)


def test_downloads_that_are_off(kettle: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#specifications
    ##% With `--offline`, duvet MUST NOT download anything.
    url = "https://host.invalid/spec.md"
    make(kettle, {".duvet/config.toml": CONFIG.replace("spec.md", url), "src/a.rs": SOURCE.replace("spec.md", url)})
    done = duvet("-q", "report", "--offline")
    assert (done.code, problems(done)) == (1, [("DUV045", ".duvet/config.toml:5:10")])
    assert f"error: could not download {url}: downloads are off [DUV045]\n" in done.err
    make(kettle, {".duvet/specifications/host.invalid/spec.txt": SPECIFICATION})
    assert duvet("-q", "report", "--offline") == Done(0, "", "")

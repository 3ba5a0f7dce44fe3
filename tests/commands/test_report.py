"""`duvet report`: what it says, what it writes, and what makes it fail."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.commands.made import CONFIG, SOURCE, make
from tests.commands.running import Done, Run, files, times

PAGE, SNAPSHOT = ".duvet/reports/report.html", ".duvet/snapshot.txt"
SUMMARY = """\
                                             needs        in      not
specification  MUST  SHOULD  MAY  done       tests  progress  started  excepted
Kettle          1/1     0/1  0/1   1/3  33%      0         0        2         0

PASS: 1 of 3 applicable requirements done (33 %), 0 excepted
"""
WRONG = "//= spec.md#heating\n//# The kettle MUST boil milk.\n"
UNTESTED = SOURCE.partition("\n\n")[0]


def problems(done: Done) -> list[tuple[str, str]]:
    """The code and the place of each problem."""
    return re.findall(r"\[(DUV\d+)\]\n *--> (.*)", done.err)


def test_a_run_that_passes(kettle: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#reports
    ##% `duvet report` MUST write nothing to standard output unless a report is sent there.
    ##= man/spec/trace.md#reports
    ##% `duvet report` MUST end with a summary on standard error, unless only errors are asked for.
    done = duvet("report")
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith(f"       Wrote {SNAPSHOT} \n{SUMMARY}")
    report = (kettle / ".duvet/reports/report.json").read_text()
    assert duvet("-q", "report", "--json", "-") == Done(0, report, "")


def test_what_an_error_keeps_from_being_written(reported: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#reports
    ##% When an annotation is wrong, JSON, LCOV and the snapshot MUST NOT be written.
    ##= man/spec/trace.md#reports
    ##% When an annotation is wrong, the page MUST be written with the verdict and every problem.
    ##= man/spec/trace.md#targets
    ##% A target that leads nowhere MUST be reported where it is written.
    ##= man/spec/trace.md#quotes
    ##% A quote that is found nowhere in its section MUST be reported where it is written.
    make(reported, {"src/a.rs": WRONG, "src/b.rs": f"{WRONG}\n//= nothing.md#here\n"})
    before = files(reported)
    done = duvet("report", "--json", "new.json", "--json-v2", "v2.json", "--lcov", "lcov")
    page = (reported / PAGE).read_text()
    assert problems(done) == [("DUV050", "src/a.rs:2:5"), ("DUV050", "src/b.rs:2:5"), ("DUV040", "src/b.rs:4:5")]
    assert {name: data for name, data in files(reported).items() if before.get(name) != data} == {PAGE: page.encode()}
    assert ">FAIL: 3 problems, 3 requirements not cited<" in page
    assert [page.count(text) for text in ("src/a.rs:2:5", "src/b.rs:2:5", "src/b.rs:4:5")] == [1, 1, 1]


def test_all_problems_of_all_phases(kettle: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#diagnostics
    ##% Once the configuration can be read, all problems of all phases MUST be reported in one run, sorted by path and
    ##% place.
    config = f'{CONFIG}[[source]]\npattern = "[a"\n[[specification]]\nsource = "gone.md"\n'
    stray = "//# stray\n\n//= spec.md#heating\n//= type=what\n\n"
    requirements = "target = 'spec.md#heating'\n[[todo]]\n"
    texts = {".duvet/config.toml": config, ".duvet/todos/a.toml": requirements, "src/a.rs": stray + WRONG}
    (make(kettle, texts) / "src/b.rs").write_bytes(b"\n\xff")
    done = duvet("-q", "report", "--strict")
    assert (done.code, problems(done)) == (
        1,
        [
            ("DUV006", ".duvet/config.toml:11:11"),
            ("DUV010", ".duvet/config.toml:13:10"),
            ("DUV032", ".duvet/todos/a.toml:2:1"),
            ("DUV027", "src/a.rs:1:5"),
            ("DUV022", "src/a.rs:4:10"),
            ("DUV050", "src/a.rs:7:5"),
            ("DUV011", "src/b.rs:2"),
        ],
    )


def test_a_warning_fails_where_it_is_taken_for_an_error(kettle: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#gates
    ##% With `--strict`, a warning MUST fail the run.
    make(kettle, {"src/b.rs": "//# stray\n"})
    runs = [duvet("report"), duvet("report", "--strict")]
    assert [(done.code, problems(done)) for done in runs] == [(code, [("DUV027", "src/b.rs:1:5")]) for code in (0, 1)]


@pytest.mark.parametrize(
    ("args", "environ"),
    [(("--ci",), {}), ((), {"CI": "true"}), ((), {"CI": ""}), (("--ci", "true"), {"CI": "false"})],
)
def test_a_snapshot_that_is_compared(
    args: tuple[str, ...], environ: dict[str, str], reported: Path, duvet: Run
) -> None:
    ##= man/spec/trace.md#gates
    ##% With `--ci`, a configured snapshot MUST be compared instead of written.
    ##= man/spec/trace.md#gates
    ##% Where the environment variable `CI` says so, a configured snapshot MUST be compared without `--ci`, too.
    before = (reported / SNAPSHOT).read_bytes()
    assert duvet("-q", "report", *args, environ=environ) == Done(0, "", "")
    make(reported, {"src/a.rs": UNTESTED})
    done = duvet("-q", "report", *args, environ=environ)
    assert (done.code, problems(done)) == (1, [("DUV061", SNAPSHOT)])
    assert "-    TEXT[!MUST,implementation,test]: The kettle MUST boil water.\n" in done.err
    assert "+    TEXT[!MUST,implementation]: The kettle MUST boil water.\n" in done.err
    assert (reported / SNAPSHOT).read_bytes() == before


@pytest.mark.parametrize(
    ("args", "environ"), [((), {}), ((), {"CI": "false"}), ((), {"CI": "0"}), (("--ci=false",), {"CI": "true"})]
)
def test_a_snapshot_that_is_written(args: tuple[str, ...], environ: dict[str, str], reported: Path, duvet: Run) -> None:
    make(reported, {"src/a.rs": UNTESTED})
    assert duvet("-q", "report", *args, environ=environ) == Done(0, "", "")
    assert b"[!MUST,implementation]: " in (reported / SNAPSHOT).read_bytes()


NOT_TESTED, NOT_CITED = ("DUV063", "spec.md:5"), ("DUV062", "spec.md:9")


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ((), [NOT_TESTED, NOT_TESTED, NOT_CITED]),
        (("--require-tests", "false"), [NOT_CITED]),
        (("--require-citations", "false"), [NOT_TESTED, NOT_TESTED]),
        (("--require-citations=false", "--require-tests=false"), []),
    ],
)
def test_ci_without_a_snapshot(args: tuple[str, ...], named: list[tuple[str, str]], kettle: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#gates
    ##% With `--ci` and no snapshot, what is quoted on a line that has no code, or code and no test, MUST be named.
    ##= man/spec/trace.md#gates
    ##% With `--require-citations false` or `--require-tests false`, what lacks code or tests MUST NOT be named.
    make(kettle, {".duvet/config.toml": CONFIG.partition("[report.snapshot]")[0], "src/a.rs": UNTESTED})
    done = duvet("-q", "report", "--ci", *args)
    assert (done.code, problems(done)) == (int(bool(named)), named)


def test_requirements_that_are_as_they_should_be(reported: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#requirements
    ##% A requirement file MUST NOT be written when its bytes are what they should be.
    folder = reported / ".duvet/requirements"
    make(folder, {"spec/pouring.toml": "changed"})
    before = times(folder)
    assert duvet("-q", "report").code == 0
    assert [name for name, time in times(folder).items() if before[name] != time] == ["spec/pouring.toml"]


def test_requirements_that_nothing_asks_for(reported: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#requirements
    ##% A requirement file that nothing asks for any more SHOULD cause a warning.
    ##= man/spec/trace.md#requirements
    ##% With `--prune`, such files MUST be removed, and no other file.
    stale, own = ".duvet/requirements/spec/pouring.toml", ".duvet/requirements/spec/own.toml"
    make(reported, {"spec.md": (reported / "spec.md").read_text().replace("MAY", "may")})
    make(reported, {own: "target = 'spec.md#heating'\n[[todo]]\nquote = 'The kettle'\n"})
    told = duvet("report")
    assert (told.code, problems(told)) == (1, [("DUV036", f"{stale}:1"), ("DUV050", f"{stale}:9:9")])
    before = files(reported)
    pruned = duvet("report", "--prune")
    assert (pruned.code, problems(pruned)) == (0, [])
    assert before.keys() - files(reported).keys() == {stale}


def test_nothing_drives_the_terminal(kettle: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#diagnostics
    ##% Text from files MUST NOT drive the terminal.
    evil = "\x1b[31m"
    config = CONFIG.replace("[report.json]\n", '[report.json]\npath = "\\u001b[31m.json"\n')
    specification = (
        (kettle / "spec.md").read_text().replace("# Kettle", f"# Kettle {evil}").replace("drip", f"{evil}drip")
    )
    make(kettle, {".duvet/config.toml": config, "spec.md": specification, f"src/{evil}.rs": f"//= {evil}\n//# x\n"})
    shown = [duvet("-v", "report"), duvet("config")]
    (kettle / f"src/{evil}.rs").unlink()
    make(kettle, {".duvet/snapshot.txt": evil})
    shown += [duvet("-v", "report"), duvet("report", "--ci")]
    make(kettle, {".duvet/snapshot.txt": evil})
    shown += [duvet("report", "--ci")]
    assert [done.code for done in shown] == [1, 0, 0, 0, 1]
    assert all(r"\u{1b}[31m" in done.out + done.err and "\x1b" not in done.out + done.err for done in shown)


def test_downloads_that_are_off(kettle: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#specifications
    ##% With `--offline`, duvet MUST NOT download anything.
    url = "https://host.invalid/spec.md"
    make(kettle, {".duvet/config.toml": CONFIG.replace("spec.md", url), "src/a.rs": SOURCE.replace("spec.md", url)})
    done = duvet("-q", "report", "--offline")
    assert (done.code, problems(done)) == (1, [("DUV045", ".duvet/config.toml:5:10")])
    assert f"error: could not download {url}: downloads are off [DUV045]\n" in done.err
    make(kettle, {".duvet/specifications/host.invalid/spec.txt": (kettle / "spec.md").read_text()})
    assert duvet("-q", "report", "--offline") == Done(0, "", "")

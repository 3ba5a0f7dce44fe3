import os
import re
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Done, Run, files, play, times
from tests.cli.sample_project import CONFIG, SOURCE, SPECIFICATION, WRONG, make

PAGE = ".duvet/reports/report.html"
SPOUT = ".duvet/requirements/spec/pouring.toml"
HEATING = ".duvet/requirements/spec/heating.toml"
WRITTEN = [PAGE, ".duvet/reports/report.json", HEATING, SPOUT, ".duvet/snapshot.txt"]


def places(done: Done) -> list[tuple[str, str]]:
    return re.findall(r"\[(DUV\d+)\]\n *--> (.*)", done.err)


def changed(folder: Path, before: dict[str, bytes]) -> set[str]:
    after = files(folder)
    return {name for name in after if after[name] != before.get(name)}


def test_a_project_without_problems_is_reported(kettle: Path, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/trace.md#commands
    ##% `duvet report` MUST write nothing to standard output except GitHub workflow commands, and reports and problems
    ##% that the user directs there.
    before = files(kettle)
    done = duvet("report")
    assert (done.code, done.out) == (0, "")
    gold.assert_match(done.err, "progress.txt")
    written = files(kettle)
    assert sorted(written.keys() - before.keys()) == WRITTEN
    assert duvet("-q", "report") == Done(0, "", "")
    assert files(kettle) == written
    report = written[".duvet/reports/report.json"]
    assert duvet("-q", "report", "--json", "-") == Done(0, report.decode(), "")
    done = duvet("-q", "report", "--json", "a.json", "--json-v2", "-", "--html", "new/a.html", "--lcov", "lcov")
    assert (done.code, done.out[:1], done.err) == (0, "{", "")
    found = files(kettle)
    assert sorted(found.keys() - written.keys()) == ["a.json", "lcov/compliance.0.lcov", "new/a.html"]
    assert (found["a.json"], found["new/a.html"]) == (report, written[PAGE])


def test_reports_that_are_not_written_after_an_error(reported: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#reports
    ##% If there are errors other than failures of gates, `duvet report` MUST write the HTML report with every problem,
    ##% but no JSON, LCOV or snapshot.
    make(reported, {"src/a.rs": WRONG, "src/b.rs": "//= spec.md#heating\n//# It MUST sing.\n\n//= nothing.md#here\n"})
    before = files(reported)
    done = duvet("report", "--json", "new.json", "--json-v2", "v2.json", "--lcov", "lcov")
    found = [
        ("DUV043", "src/a.rs:1:5"),
        ("DUV050", "src/a.rs:5:5"),
        ("DUV025", "src/a.rs:7:10"),
        ("DUV050", "src/b.rs:2:5"),
        ("DUV040", "src/b.rs:4:5"),
    ]
    assert (done.code, done.out, places(done)) == (1, "", found)
    assert changed(reported, before) == {PAGE}
    page = (reported / PAGE).read_text()
    assert done.err.count("\nencountered 5 errors\n") == 1 and done.err.endswith("\n\ncoverage: 0 % (0 of 3)\n")
    assert '<p class="verdict fail">5 errors</p>\n<p class="coverage">Coverage: 0 % (0 of 3)</p>' in page
    assert [page.count(place) for _, place in found] == [1] * 5
    for problem in ("missing section", "could not find text in section", "comment is missing source specification"):
        assert problem in page and problem in done.err


def test_every_problem_of_every_phase_by_place(kettle: Path, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/trace.md#commands
    ##% If the configuration is valid, duvet MUST report all problems of a run, sorted by path and place.
    more = '[[specification]]\nsource = "gone.md"\n[[source]]\npattern = "a**"\n'
    make(kettle, {".duvet/config.toml": CONFIG + more, ".duvet/todos/a.toml": "todo = 1\n", "src/b.rs": WRONG})
    make(kettle, {"src/a.rs": "//# stray\n\n" + SOURCE.replace("The kettle MUST boil", "The kettle MUST b0il")})
    (kettle / "src/c.rs").write_bytes(b"\xff")
    done = duvet("report")
    gold.assert_match(done.err.partition("references \n")[2], "every_problem.txt")
    assert (done.code, done.out) == (1, "")


def test_nothing_drives_the_terminal(kettle: Path, duvet: Run) -> None:
    evil = "\x1b[31m"
    config = CONFIG.replace("[report.json]\n", '[report.json]\npath = "\\u001b[31m.json"\n')
    specification = SPECIFICATION.replace("drip", f"{evil}drip")
    make(kettle, {".duvet/config.toml": config, "spec.md": specification, ".duvet/snapshot.txt": evil})
    shown = [duvet("report", "--ci"), duvet("-v", "report"), duvet("config")]
    make(kettle, {f"src/{evil}.rs": f"//= {evil}\n//# x\n"})
    shown += [duvet("-v", "report")]
    assert [done.code for done in shown] == [1, 0, 0, 1]
    assert all(r"\u{1b}[31m" in done.out + done.err and "\x1b" not in done.out + done.err for done in shown)


def test_line_ends_and_empty_sources_make_no_difference(reported: Path, duvet: Run) -> None:
    kept = [*(name for name in WRITTEN if name.endswith("toml")), ".duvet/snapshot.txt"]
    before, texts = files(reported), {"src/a.rs": SOURCE, "spec.md": SPECIFICATION}
    for ends in ("\r\n", "\n"):
        make(reported, {"src/b.rs": "", **{name: text.replace("\n", ends) for name, text in texts.items()}})
        assert duvet("-q", "report") == Done(0, "", "")
        assert {name: files(reported)[name] for name in kept} == {name: before[name] for name in kept}


EXTRACT = "extract -f md -o .duvet/requirements spec.md"


@pytest.mark.parametrize("line", ["report", EXTRACT])
def test_requirements_that_stay_are_not_written_again(line: str, reported: Path, duvet: Run) -> None:
    for path in (reported / ".duvet/requirements/spec").iterdir():
        os.utime(path, ns=(1, 1))
    make(reported, {"spec.md": SPECIFICATION.replace("drip", "leak")})
    assert duvet("-q", *line.split()) == Done(0, "", "")
    written = times(reported / ".duvet/requirements/spec")
    assert (written["heating.toml"], written["pouring.toml"] > 1) == (1, True)


FAILING = (
    *("-e json spec.md", "-o out.toml spec.md", "gone.md", "src", "file:///spec.md"),
    *("--offline https://host.example/spec", "http://host.example/spec", "ftp://host.example/spec"),
)


def test_failing_extractions(kettle: Path, duvet: Run, gold: Snapshot) -> None:
    before = files(kettle)
    gold.assert_match(play(duvet, kettle, *(f"-q extract {args}" for args in FAILING)), "extract.txt")
    assert files(kettle) == before


DOUBTFUL = """\
//# stray text

//= spec.md#heating

//# The kettle MUST boil water.

//= spec.md#heating
//# The kettle MUST boil watr.
"""


def test_doubtful_annotations_are_warnings(reported: Path, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/gates.md#verdicts
    ##% With `--strict`, `duvet report` and `duvet validate` MUST exit with 1 if there are warnings.
    before = files(make(reported, {"src/a.rs": DOUBTFUL}))
    strict = duvet("-q", "report", "--strict")
    assert changed(reported, before) == {PAGE}
    (told,) = re.findall(r"(?ms)^warning:.*^\d+ warnings\n", duvet("report").err)
    gold.assert_match(told, "doubts.txt")
    assert strict == Done(1, "", told.replace("warning:", "error:").replace("3 warnings", "encountered 3 errors"))
    assert ".duvet/snapshot.txt" in changed(reported, before)


LIST, NONE = "$ ls .duvet/requirements/*", "$ rm -r .duvet/requirements"
# A section without requirements, which nothing cites.
STALE = {"spec.md": SPECIFICATION.replace("MAY drip", "may drip")}
STALE_AND_OURS = {**STALE, ".duvet/requirements/spec/mine.toml": ""}
# The unchanged requirement file of a specification that is no longer configured.
LEFT = (
    {"tea.md": "# Tea\n\nIt MUST be hot.\n", "src/a.rs": "", ".duvet/config.toml": CONFIG.replace("spec.md", "tea.md")},
    f"$ rm {HEATING}",
)
CLASH = {
    "spec.markdown": SPECIFICATION.replace("kettle", "pot"),
    "src/a.rs": "",
    ".duvet/config.toml": f'{CONFIG}[[specification]]\nsource = "spec.markdown"\n',
}
SCENARIOS: dict[str, tuple[str | dict[str, str], ...]] = {
    "order": (
        {"spec.md": SPECIFICATION.replace("MAY", "might"), "src/a.rs": WRONG.partition("\n\n")[2].partition("\n\n")[0]},
        "-q report --strict",
    ),
    "no requirements": (
        *(NONE, {"spec.md": "# Kettle\n\n## Heating\n\nThe kettle boils.\n", "src/a.rs": "//= spec.md#heating\n"}),
        "report",
    ),
    "extracted": (NONE, EXTRACT, f"-q {EXTRACT} -e rs", LIST, f"$ head -3 {HEATING} {HEATING[:-4]}rs"),
    "clash": (NONE, CLASH, "report"),
    # It still stands in the section, so that nothing but its age is wrong with it.
    "stale": (STALE, f"$ sed 's/The spout MAY drip/drip/' {SPOUT} >new; mv new {SPOUT}", "report", LIST),
    "pruned by a report": (STALE_AND_OURS, "report --prune", LIST),
    "pruned by extract": (STALE_AND_OURS, EXTRACT, f"{EXTRACT} --prune", LIST),
    "nothing left": ({"spec.md": "# Kettle\n\n## Heating\n", "src/a.rs": ""}, "-q report --prune", LIST),
    "left": (
        # It stays while the other specification is missing.
        *(*LEFT, "report", "$ mv tea.md away.md", "report --prune", LIST, "$ mv away.md tea.md", "-q report --prune"),
        *(LIST, "-q report --strict"),
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_requirement_files(name: str, reported: Path, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/trace.md#requirement-files
    ##% Except with duvet's own schema, `duvet extract` MUST write the same requirement files as awslabs duvet.
    told = play(duvet, reported, *SCENARIOS[name])
    verbs = "(?:Scan|Pars|Load|Mapp|Match|Sort|Writ|Wrote)"
    steps = rf"(?m)^! +(?:{verbs}\w* |Extract(?:ing|ed) requirements\b(?! from spec)).*\n"
    gold.assert_match(re.sub(steps, "", told), f"{name.replace(' ', '_')}.txt")


OURS: tuple[dict[str, str], ...] = (
    {SPOUT: "{}# Ours.\n"},
    {SPOUT: "[[spec]]\ntarget = 'spec.md#pouring'\nquote = 'The spout MAY drip.'\n"},
    {".duvet/requirements/by/hand.toml": "{}"},
    {".duvet/requirements/spec/other.toml": "{}"},
    {".duvet/exceptions/spec/pouring.toml": "{}"},
    {SPOUT: "{}", ".duvet/config.toml": CONFIG.partition("[[specification]]")[0]},
    {SPOUT: "{}", ".duvet/config.toml": CONFIG.replace('"spec.md"', '"./spec.md"')},
)


def test_files_of_people_are_not_pruned(reported: Path, duvet: Run) -> None:
    play(duvet, reported, *LEFT)
    text = (reported / SPOUT).read_text()
    (reported / SPOUT).unlink()
    before = (reported / ".duvet/config.toml").read_text()
    for change in OURS:
        make(reported, {path: content.replace("{}", text) for path, content in change.items()})
        duvet("report", "--prune")
        assert set(change) <= set(files(reported))
        assert "DUV036" not in duvet("report").err
        for path in change:
            (reported / path).unlink()
        make(reported, {".duvet/config.toml": before})


def test_a_report_that_is_merged_alone_stays_as_it_is(reported: Path, duvet: Run) -> None:
    report = duvet("-q", "report", "--json-v2", "-").out
    assert duvet("merge", "--input", "-", "--output", "-", input=report.encode()) == Done(0, report, "")
    make(reported, {"one.json": report})
    assert duvet("merge", "--input", "one.json", "--output", "new/a.json") == Done(0, "", "")
    assert files(reported)["new/a.json"].decode() == report
    done = duvet("merge", "--input", "one.json", "--input", "none.json", "--output", "one.json")
    assert (done.code, "failed to open file 'none.json'" in done.err) == (1, True)
    assert files(reported)["one.json"].decode() == report

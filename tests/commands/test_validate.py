"""`duvet validate`: what is wrong in some files or in all, and what mends it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.reports.problem_format import ProblemFormat
from tests.commands.examples import examples
from tests.commands.made import make
from tests.commands.running import NOBODY, Done, Run, files, run, runner
from tests.commands.test_streams import unread
from tests.conftest import ROOT
from tests.validation.made import BROKEN, FILES, RIGHT
from tests.validation.test_fixing import FIXED

GOLD = ROOT / "tests" / "gold" / "validate"
RIGHT_COUNT = "checked 1 annotation in 1 file: no problems\n"
ALL_COUNT = "checked 23 annotations in 8 files: 12 errors, 5 warnings\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / "tea", FILES)


@pytest.fixture
def duvet(duvet_command: str, folder: Path) -> Run:
    return runner(duvet_command, folder)


def kept(folder: Path) -> bool:
    """Whether the cache holds what a run has found out."""
    return (folder / ".duvet/cache/validate").exists()


@pytest.mark.parametrize("format", ProblemFormat)
def test_formats(format: ProblemFormat, folder: Path, duvet: Run, snapshot: Snapshot) -> None:
    ##= man/spec/validate.md#choosing-files
    ##% Without a name of a file, all inputs of the project MUST be checked.
    ##= man/spec/validate.md#outcome
    ##% `duvet validate` MUST exit with 0 if nothing is an error, and with 1 otherwise.
    before = files(folder)
    done = duvet("validate", "--format", format, "--output", "-")
    snapshot.snapshot_dir = GOLD
    snapshot.assert_match(done.out, f"all.{format}.txt")
    assert (done.code, done.err) == (1, ALL_COUNT)
    ##= man/spec/validate.md#outcome
    ##% Where nothing has changed since the last run, `duvet validate` MUST give the same answer without reading the sources.
    assert kept(folder) and files(folder) == before
    assert duvet("validate", "--format", format, "--output", "-") == done
    assert duvet("--no-cache", "validate", "--format", format, "--output", "-") == done


def test_colours(duvet: Run, snapshot: Snapshot) -> None:
    snapshot.snapshot_dir = GOLD
    snapshot.assert_match(duvet("--color", "always", "validate", "src/broken.rs").err, "colours.txt")


@pytest.mark.parametrize(
    ("names", "code", "said"),
    [
        (("src/right.py",), 0, RIGHT_COUNT),
        (("src/right.py", "./src/right.py", "src\\right.py"), 0, RIGHT_COUNT),
        (
            ("README.md", "src/right.py", "tea.md"),
            0,
            f"not checked, because no pattern matches it: README.md, tea.md\n{RIGHT_COUNT}",
        ),
        (
            ("README.md",),
            0,
            "not checked, because no pattern matches it: README.md\nchecked 0 annotations in 0 files: no problems\n",
        ),
        (("src",), 1, "checked 15 annotations in 3 files: 11 errors, 5 warnings\n"),
        ((".duvet/exceptions",), 1, "checked 1 annotation in 1 file: 1 error\n"),
        ((".",), 1, ALL_COUNT),
    ],
)
def test_what_is_checked(names: tuple[str, ...], code: int, said: str, duvet: Run) -> None:
    ##= man/spec/validate.md#choosing-files
    ##% What is wrong in files that were not named MUST NOT be reported, but for the configuration.
    ##= man/spec/validate.md#choosing-files
    ##% A file that is no input MUST be left out, and that MUST be said on standard error.
    ##= man/spec/validate.md#outcome
    ##% `duvet validate` MUST end with how much it checked and what that came to, on standard error, unless only errors are
    ##% asked for.
    done = duvet("validate", *names)
    assert (done.code, done.out, done.err[-len(said) :]) == (code, "", said)
    quiet = duvet("-q", "validate", *names)
    assert (quiet.code, "checked" in quiet.err, "warning:" in quiet.err) == (code, False, False)


def test_names_without_end(folder: Path, duvet: Run) -> None:
    names = [f"{number:02}.txt" for number in range(12)]
    make(folder, dict.fromkeys(names, ""))
    said = "not checked, because no pattern matches it: " + ", ".join(names[:10]) + " and 2 more\n"
    assert duvet("validate", "src/right.py", *names).err == said + RIGHT_COUNT


def test_a_folder_to_run_in(duvet_command: str, folder: Path) -> None:
    ##= man/spec/validate.md#choosing-files
    ##% All spellings of a path MUST name the same file: absolute or relative to the working directory, and with the
    ##% separators of Windows.
    for name in ("src/right.py", str(folder / "src/right.py")):
        assert run(duvet_command, folder.parent, "-C", "tea", "validate", name) == Done(0, "", RIGHT_COUNT)


def test_a_path_that_does_not_exist(duvet: Run) -> None:
    ##= man/spec/validate.md#choosing-files
    ##% A path that does not exist MUST be an error.
    assert duvet("validate", "src/gone.rs", "src/right.py") == Done(
        1,
        "",
        "error: there is no such file or folder [DUV010]\n"
        " --> src/gone.rs\n"
        "  = help: paths begin in the working directory\n"
        "\nencountered 1 errors\n"
        "checked 1 annotation in 1 file: 1 error\n",
    )


def test_the_configuration_counts_whatever_is_named(folder: Path, duvet: Run) -> None:
    ##= man/spec/validate.md#choosing-files
    ##% What is wrong in files that were not named MUST NOT be reported, but for the configuration.
    config = folder / ".duvet/config.toml"
    config.write_text(FILES[".duvet/config.toml"] + "[[specification]]\nsource = 'gone.md'\n")
    done = duvet("validate", "src/right.py")
    assert (done.code, done.err.count("error: "), "--> .duvet/config.toml:" in done.err) == (1, 1, True)
    config.write_text("nonsense")
    done = duvet("validate", "--format", "json", "src/right.py")
    assert (done.code, [one["code"] for one in json.loads(done.out)["problems"]]) == (1, ["DUV001"])


def test_without_a_configuration(folder: Path, duvet: Run) -> None:
    shutil.rmtree(folder / ".duvet")
    done = duvet("validate")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: ")


def test_warnings(folder: Path, duvet: Run) -> None:
    ##= man/spec/validate.md#outcome
    ##% With `--strict`, `duvet validate` MUST take a warning as an error.
    (folder / "src/right.py").write_text(RIGHT + RIGHT)
    done = duvet("validate", "src/right.py")
    assert (done.code, done.err.splitlines()[-1]) == (0, "checked 2 annotations in 1 file: 1 warning")
    done = duvet("validate", "--strict", "src/right.py")
    assert (done.code, done.err.splitlines()[-1]) == (1, "checked 2 annotations in 1 file: 1 error")


@pytest.mark.parametrize("edit", ["src/right.py", "tea.md", ".duvet/config.toml", "src/new.py"])
def test_what_is_known_is_forgotten_when_anything_changes(edit: str, folder: Path, duvet: Run) -> None:
    ##= man/spec/validate.md#outcome
    ##% Where nothing has changed since the last run, `duvet validate` MUST give the same answer without reading the sources.
    duvet("validate")
    path = folder / edit
    path.write_text(
        (path.read_text() if path.exists() else "##= tea.md#gone\n")
        .replace("boil", "cook")
        .replace("src/**/*.py", "*.py")
    )
    assert duvet("validate") == duvet("--no-cache", "validate")


def test_what_would_be_done(folder: Path, duvet: Run, snapshot: Snapshot) -> None:
    ##= man/spec/validate.md#mending
    ##% With `--diff`, what `--fix` would do MUST be shown as a unified diff on standard output, and nothing written.
    before = files(folder)
    done = duvet("validate", "--diff", "src/broken.rs")
    assert files(folder) == before
    assert (done.code, duvet("validate", "--diff", "--fix", "src/broken.rs")) == (1, done)
    snapshot.snapshot_dir = GOLD
    snapshot.assert_match(done.out, "diff.txt")
    assert done.err == duvet("validate", "src/broken.rs").err


def test_the_difference_is_one_for_patch(folder: Path, duvet: Run) -> None:
    if shutil.which("patch") is None:
        pytest.skip("no patch")
    (folder / "src/broken.rs").write_bytes(b"//= tea.md#srving\r\n//# Everybody SHOULD wait")
    done = duvet("validate", "--diff")
    assert done.out.endswith(" //# Everybody SHOULD wait\n\\ No newline at end of file\n")
    subprocess.run(
        ["patch", "--binary", "-p1"], cwd=folder, input=done.out.encode(), check=True, stdout=subprocess.DEVNULL
    )
    assert (folder / "src/broken.rs").read_bytes() == b"//= tea.md#serving\r\n//# Everybody SHOULD wait"


def test_mending(folder: Path, duvet: Run, snapshot: Snapshot) -> None:
    ##= man/spec/validate.md#mending
    ##% With `--fix`, a quote or a target that is wrong MUST be rewritten where exactly one answer is good.
    ##= man/spec/validate.md#mending
    ##% After mending, all that is still wrong MUST be reported.
    before = files(folder)
    done = duvet("validate", "--fix", "src")
    snapshot.snapshot_dir = GOLD
    snapshot.assert_match(done.err, "fix.txt")
    assert (done.code, done.out) == (1, "")
    assert files(folder) == {**before, "src/broken.rs": FIXED.encode()}
    again = duvet("validate", "--fix", "src")
    assert again.err == done.err.removeprefix("mended 8 citations in 1 file\n") == duvet("validate", "src").err
    assert files(folder)["src/broken.rs"] == FIXED.encode()


def test_only_what_is_named_is_mended(folder: Path, duvet: Run) -> None:
    before = files(folder)
    assert duvet("validate", "--fix", "src/right.py") == Done(0, "", RIGHT_COUNT)
    assert files(folder) == before
    make(folder, {"src/deep/other.rs": "//= tea.md#srving\n//# Everybody SHOULD wait\n"})
    assert duvet("validate", "--fix", "src/deep") == Done(
        0, "", "mended 1 citation in 1 file\nchecked 1 annotation in 1 file: no problems\n"
    )
    assert files(folder)["src/broken.rs"] == BROKEN.encode()


@pytest.mark.parametrize("fault", ["read-only file", "read-only folder"])
def test_a_file_that_must_not_be_written(fault: str, public: Path, duvet_command: str) -> None:
    ##= man/spec/validate.md#mending
    ##% A file that changed after it was read, or that must not be written to, MUST be left alone.
    wrong = "//= spec.md#heating\n//# The kettle MUST boil the water.\n"
    path = make(public, {"src/a.rs": wrong}) / "src/a.rs"
    os.chown(path, *((65534, 65534) if NOBODY else (-1, -1)))
    denied = path if fault == "read-only file" else path.parent
    denied.chmod(0o555)
    done = run(duvet_command, public, "validate", "--fix", before=NOBODY)
    denied.chmod(0o755)
    assert (done.code, "[DUV015]" in done.err, "[DUV050]" in done.err, done.err.startswith("mended")) == (
        1,
        True,
        True,
        False,
    )
    assert (path.read_text(), [one.name for one in path.parent.iterdir()]) == (wrong, ["a.rs"])
    assert run(duvet_command, public, "validate", "--fix", before=NOBODY).err.startswith(
        "mended 1 citation in 1 file\n"
    )


def piped(duvet: Run, tmp_path: Path, data: bytes, *args: str) -> Done:
    """The outcome with this on standard input."""
    (tmp_path / "input").write_bytes(data)
    with open(tmp_path / "input", "rb") as stream:
        return duvet("validate", *args, stdin=stream)


@pytest.mark.parametrize("path", ["src/right.py", "./src/right.py", "src/new/file.py"])
def test_standard_input(path: str, folder: Path, tmp_path: Path, duvet: Run) -> None:
    ##= man/spec/validate.md#choosing-files
    ##% With `-`, the text on standard input MUST be checked as if it stood in the file that `--stdin-path` names.
    before = files(folder)
    assert piped(duvet, tmp_path, RIGHT.encode(), "--stdin-path", path, "-") == Done(0, "", RIGHT_COUNT)
    wrong = RIGHT.replace("boil", "cook").encode()
    done = piped(duvet, tmp_path, b"\n" + wrong, "--stdin-path", path, "-")
    assert (done.code, done.err.splitlines()[:5]) == (
        1,
        [
            'error: could not find text in section "brewing" of tea.md [DUV050]',
            f" --> {path.removeprefix('./')}:3:5",
            "  |",
            "3 | ##% The water MUST cook before the leaves are put into the pot.",
            "  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        ][:5],
    ) or done.err.splitlines()[4].endswith("^ text here")
    shown = piped(duvet, tmp_path, wrong, "--stdin-path", path, "--diff", "-")
    assert shown.out.splitlines()[-3:-1] == [f"-{wrong.decode().splitlines()[1]}", f"+{RIGHT.splitlines()[1]}"]
    assert files(folder) == before


def test_standard_input_for_a_file_elsewhere(folder: Path, tmp_path: Path, duvet: Run) -> None:
    """Patterns may lead out of the project, and call files by the way there."""
    make(tmp_path, {"other/a.py": RIGHT})
    config = folder / ".duvet/config.toml"
    config.write_text(config.read_text() + "[[source]]\nlanguage = 'python'\npattern = '../other/*.py'\n")
    wrong = RIGHT.replace("boil", "cook").encode()
    for path in ("../other/a.py", str(tmp_path / "other/a.py")):
        done = piped(duvet, tmp_path, wrong, "--stdin-path", path, "--diff", "-")
        assert (done.code, done.out.splitlines()[:2]) == (1, ["--- a/../other/a.py", "+++ b/../other/a.py"])
    assert duvet("validate", "../other/a.py") == Done(0, "", RIGHT_COUNT)


def test_odd_standard_input(tmp_path: Path, duvet: Run) -> None:
    def problems(data: bytes, path: str) -> tuple[int, list[str], str]:
        done = piped(duvet, tmp_path, data, "--stdin-path", path, "--format", "json", "-")
        return done.code, [one["code"] for one in json.loads(done.out)["problems"]], done.err

    assert problems(b"", "src/right.py") == (0, [], "checked 0 annotations in 1 file: no problems\n")
    assert problems(b"\xff\x00\xfe", "src/right.py") == (1, ["DUV011"], "checked 0 annotations in 1 file: 1 error\n")
    assert problems(RIGHT.encode(), "notes.txt") == (
        0,
        [],
        "not checked, because no pattern matches it: notes.txt\nchecked 0 annotations in 0 files: no problems\n",
    )
    windows = b"\xef\xbb\xbf# Tea\r\n" + RIGHT.replace("\n", "\r\n").encode()
    assert problems(windows, "src/right.py") == (0, [], RIGHT_COUNT)


def test_standard_input_is_closed(folder: Path, duvet_command: str) -> None:
    line = '"$0" validate --stdin-path src/right.py - <&-'
    done = subprocess.run(["sh", "-c", line, duvet_command], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: standard input is closed")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-",), "`-` and --stdin-path belong together"),
        (("--stdin-path", "a.rs", "src"), "`-` and --stdin-path belong together"),
        (("--stdin-path", "", "-"), "`-` and --stdin-path belong together"),
        (("--fix", "--stdin-path", "src/a.rs", "-"), "standard input can't be mended; --diff shows how to"),
        (("--diff", "--format", "json"), "only one result can go to standard output; give the others a file"),
    ],
)
def test_wrong_usage(args: tuple[str, ...], message: str, duvet: Run) -> None:
    done = duvet("validate", *args)
    assert (done.code, done.out, done.err.splitlines()[-1]) == (2, "", f"Error: {message}")


def test_the_page_of_a_rule(duvet: Run) -> None:
    ##= man/spec/validate.md#outcome
    ##% `duvet validate --explain` MUST print the page of a rule.
    page = (ROOT / "templates/rules/DUV091.md").read_text(encoding="utf-8")
    assert duvet("validate", "--explain", "duv091") == Done(0, page, "")
    assert duvet("validate", "--explain", "citation-repeated", "nowhere") == Done(0, page, "")
    done = duvet("validate", "--explain", "DUV999")
    assert (done.code, done.out, done.err.startswith('error: there is no rule "DUV999"\n')) == (1, "", True)


def test_nobody_reads(duvet: Run) -> None:
    stream = unread()
    assert duvet("-q", "validate", "--format", "json", "src/right.py", stdout=stream) == Done(0, "", "")
    assert duvet("-q", "validate", "--diff", "src/broken.rs", stdout=stream).code == 1
    os.close(stream)


def test_examples(folder: Path, duvet: Run) -> None:
    """Each one is understood, in a project that has what it names."""
    make(folder, {"src/heating.rs": "", "docs/x": ""})
    found = [args[: args.index("<")] if "<" in args else args for args in examples("validate")]
    assert len(found) == 7
    assert all(duvet(*args).code in (0, 1) for args in found)

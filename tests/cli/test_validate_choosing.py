"""`duvet validate`: which files are checked, and the text on standard input."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.made import make
from tests.cli.running import Done, Run, files, run
from tests.cli.validating import ALL_COUNT, RIGHT_COUNT, duvet, folder
from tests.unit.project.made import FILES, RIGHT

__all__ = ["duvet", "folder"]  # fixtures, which tests ask for by name


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
    ##% `duvet validate` MUST check only the configuration and the files and folders that it is given, or all inputs of
    ##% the project.
    ##= man/spec/validate.md#choosing-files
    ##% `duvet validate` MUST skip a file that is not an input, with a notice, and fail for a path that does not exist.
    ##= man/spec/trace.md#reports
    ##% `duvet report` and `duvet validate` MUST end with a summary on standard error, unless only errors are requested.
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
    ##= man/spec/show.md#references
    ##% duvet MUST find a file by its relative or absolute path, with the separators of any system.
    for name in ("src/right.py", str(folder / "src/right.py")):
        assert run(duvet_command, folder.parent, "-C", "tea", "validate", name) == Done(0, "", RIGHT_COUNT)


def test_a_path_that_does_not_exist(duvet: Run) -> None:
    ##= man/spec/validate.md#choosing-files
    ##% `duvet validate` MUST skip a file that is not an input, with a notice, and fail for a path that does not exist.
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
    config = folder / ".duvet/config.toml"
    config.write_text(FILES[".duvet/config.toml"] + "[[specification]]\nsource = 'gone.md'\n")
    done = duvet("validate", "src/right.py")
    assert (done.code, done.err.count("error: "), "--> .duvet/config.toml:" in done.err) == (1, 1, True)
    config.write_text("nonsense")
    done = duvet("validate", "--format", "json", "src/right.py")
    assert (done.code, [one["code"] for one in json.loads(done.out)["problems"]]) == (1, ["DUV001"])


def piped(duvet: Run, tmp_path: Path, data: bytes, *args: str) -> Done:
    """The outcome with this on standard input."""
    (tmp_path / "input").write_bytes(data)
    with open(tmp_path / "input", "rb") as stream:
        return duvet("validate", *args, stdin=stream)


@pytest.mark.parametrize("path", ["src/right.py", "./src/right.py", "src/new/file.py"])
def test_standard_input(path: str, folder: Path, tmp_path: Path, duvet: Run) -> None:
    ##= man/spec/validate.md#choosing-files
    ##% With `-`, `duvet validate` MUST check standard input as the content of the file that `--stdin-path` names.
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

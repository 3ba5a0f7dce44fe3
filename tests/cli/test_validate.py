import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.reports.problems import ProblemFormat
from tests.cli.command import NOBODY, Done, Run, files, play, run, runner
from tests.cli.sample_project import make
from tests.unit.project.faulty_project import FILES, FIXED, RIGHT

PROJECT, PATH = FILES, ".duvet/config.toml"
RIGHT_COUNT = "checked 1 annotation in 1 file: no problems\n"
SAFE = "5 fixes are safe: use --fix, or --diff for a preview\n"
ALL_COUNT = f"{SAFE}checked 16 annotations in 4 files: 12 errors, 6 warnings\n"


@pytest.mark.parametrize("format", ProblemFormat)
def test_problems_in_every_format(format: ProblemFormat, folder: Path, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/validate.md#checks
    ##% `duvet validate` MUST report an exception without a reason as an error.
    before = files(folder)
    done = duvet("validate", "--format", format, "--output", "-")
    gold.assert_match(done.out, f"all.{format}.txt")
    assert (done.code, done.err) == (1, ALL_COUNT)
    assert (folder / ".duvet/cache/validate").exists() and files(folder) == before
    assert duvet("validate", "--format", format, "--output", "-") == done
    assert duvet("--no-cache", "validate", "--format", format, "--output", "-") == done


def test_cached_results_expire_with_any_change(folder: Path, duvet: Run) -> None:
    for edit in ("src/right.py", "tea.md", "src/new.py", ".duvet/config.toml"):
        duvet("validate")
        path = folder / edit
        text = path.read_text() if path.exists() else "##= tea.md#gone\n"
        path.write_text(text.replace("boil", "cook").replace("src/**/*.py", "*.py"))
        assert duvet("validate") == duvet("--no-cache", "validate")


def test_the_page_of_a_rule(duvet: Run) -> None:
    for name in ("DUV091", " Citation-Repeated ", "DUV999"):
        assert duvet("validate", "--explain", name) == duvet("explain", name)
    assert duvet("validate", "--explain", "citation-repeated", "nowhere") == duvet("explain", "DUV091")


NAMES = [f"{number:02}.txt" for number in range(12)]
CHECKED = (
    *("src/right.py", "src/right.py ./src/right.py 'src\\right.py'", "README.md src/right.py tea.md", "README.md"),
    *(f"src/right.py {' '.join(NAMES)}", "src", ".duvet/exceptions", "."),
)
SUMMED_UP = "2>&1 | sed -n -e /^checked/p -e /^skipped/p -e /^warning:/p"
STDIN, ELSEWHERE = "duvet validate --stdin-path", "[[source]]\nlanguage = 'python'\npattern = '../other/*.py'\n"
COOKED = RIGHT.replace("boil", "cook")
SCENARIOS: dict[str, tuple[str | dict[str, str], ...]] = {
    "unknown path": ("validate src/gone.rs src/right.py",),
    "warnings": ({"src/right.py": RIGHT + RIGHT}, "validate src/right.py", "validate --strict src/right.py"),
    # The configuration is checked whatever is named.
    "configuration": (
        *({PATH: FILES[PATH] + "[[specification]]\nsource = 'gone.md'\n"}, "validate src/right.py"),
        *({PATH: "nonsense"}, "validate --format json src/right.py"),
    ),
    "standard input": (
        *({"in": "\ufeff# Tea\r\n" + RIGHT.replace("\n", "\r\n")}, "$ duvet validate --stdin-path src/right.py - <in"),
        *("$ duvet validate --stdin-path notes.txt - <in", "$ duvet validate --stdin-path src/right.py - </dev/null"),
        "$ printf '\\377\\0\\376' | duvet validate --stdin-path src/right.py --format json -",
        "$ duvet validate --stdin-path src/right.py - <&-",
        *({"right": RIGHT, "cooked": COOKED, "second": f"\n{COOKED}"}, "$ ls -R . >before"),
        *(
            f"$ {STDIN} {path} - <right; {STDIN} {path} - <second; {STDIN} {path} --diff --unsafe-fixes - <cooked"
            for path in ("src/right.py", "./src/right.py", "src/new/file.py")
        ),
        *({"typo": RIGHT.replace("brewing", "brewin")}, f"$ {STDIN} src/right.py - <typo"),
        "$ rm typo; ls -R . | diff - before; cat src/right.py",
    ),
    # Patterns may lead out of the project; paths then contain `..`.
    "standard input elsewhere": (
        {"../other/a.py": RIGHT, PATH: FILES[PATH] + ELSEWHERE, "cooked": COOKED},
        *(f"$ {STDIN} {path} --diff --unsafe-fixes - <cooked" for path in ("../other/a.py", "$PWD/../other/a.py")),
        "validate ../other/a.py",
    ),
    "checked": (
        dict.fromkeys(NAMES, ""),
        *(f"$ set -o pipefail; duvet {q}validate {names} {SUMMED_UP}" for names in CHECKED for q in ("", "-q ")),
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_runs(name: str, folder: Path, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/validate.md#choosing-files
    ##% `duvet validate` MUST check the configuration and the named files and folders, or all inputs of the project if
    ##% none are named.
    ##= man/spec/validate.md#choosing-files
    ##% With `-`, `duvet validate` MUST check standard input as the content of the file that `--stdin-path` names.
    ##= man/spec/validate.md#choosing-files
    ##% `duvet validate` MUST fail for a path that does not exist, and skip a file that is not an input of the
    ##% project.
    gold.assert_match(play(duvet, folder, *SCENARIOS[name]), f"{name.replace(' ', '_')}.txt")


def test_a_folder_to_run_in(duvet_command: str, folder: Path) -> None:
    for name in ("src/right.py", str(folder / "src/right.py")):
        assert run(duvet_command, folder.parent, "-C", "project", "validate", name) == Done(0, "", RIGHT_COUNT)


def test_planned_fixes_in_colour(folder: Path, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/validate.md#fixes
    ##% With `--diff`, `duvet validate` MUST print its fixes as a unified diff without writing them.
    before = files(folder)
    done = duvet("validate", "--diff", "src/broken.rs")
    assert files(folder) == before
    assert (done.code, duvet("validate", "--diff", "--fix", "src/broken.rs")) == (1, done)
    gold.assert_match(done.out, "diff.txt")
    gold.assert_match(duvet("--color", "always", "validate", "src/broken.rs").err, "colours.txt")
    unsafe = "3 fixes are unsafe: use --unsafe-fixes, or --interactive to decide on each\n"
    ##= man/spec/validate.md#fixes
    ##% Without an option for fixes, `duvet validate` MUST print how many of its fixes are safe.
    told = duvet("validate", "src/broken.rs").err
    assert SAFE in told
    plan, found = "5 citations in 1 file can be fixed; nothing was written\n", told.replace(SAFE, "")
    assert unsafe in done.err and done.err.replace(unsafe, "") == plan + found
    plan = plan.replace("5", "8")
    assert duvet("validate", "--diff", "--unsafe-fixes", "src/broken.rs").err == plan + found
    assert files(folder) == before


def test_the_difference_is_one_for_patch(folder: Path, duvet: Run) -> None:
    if shutil.which("patch") is None:
        pytest.skip("no patch")
    (folder / "src/broken.rs").write_bytes(b"//= tea.md#srving\r\n//# Everybody SHOULD wait")
    done = duvet("validate", "--diff")
    assert done.out.endswith(" //# Everybody SHOULD wait\n\\ No newline at end of file\n")
    command = ["patch", "--binary", "-p1"]
    subprocess.run(command, cwd=folder, input=done.out.encode(), check=True, stdout=subprocess.DEVNULL)
    assert (folder / "src/broken.rs").read_bytes() == b"//= tea.md#serving\r\n//# Everybody SHOULD wait"


def test_fixes_are_written(folder: Path, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/validate.md#fixes
    ##% With `--fix`, `duvet validate` MUST correct a wrong target or quote if there is exactly one correction and it is
    ##% safe.
    before = files(folder)
    assert duvet("validate", "--fix", "src/right.py") == Done(0, "", RIGHT_COUNT)
    assert files(folder) == before
    quote = "Everybody SHOULD wait until the host has poured the last cup of tea."
    make(folder, {"src/deep/other.rs": f"//= tea.md#srving\n//# {quote}\n"})
    said = "src/deep/other.rs:1: change the target to tea.md#serving\nfixed 1 citation in 1 file\n"
    assert duvet("validate", "--fix", "src/deep") == Done(0, "", said + RIGHT_COUNT)
    shutil.rmtree(folder / "src/deep")
    assert files(folder) == before
    done = duvet("validate", "--fix", "--unsafe-fixes", "src")
    gold.assert_match(done.err, "fix.txt")
    assert (done.code, done.out) == (1, "")
    assert files(folder) == {**before, "src/broken.rs": FIXED.encode()}
    again = duvet("validate", "--unsafe-fixes", "src")
    _, _, remaining = done.err.partition("fixed 8 citations in 1 file\n")
    assert again.err == remaining == duvet("validate", "src").err
    assert files(folder)["src/broken.rs"] == FIXED.encode()


@pytest.mark.parametrize("denied", ["src/a.rs", "src"])
def test_a_file_or_folder_that_is_read_only(denied: str, public: Path, duvet_command: str) -> None:
    wrong = "//= spec.md#heating\n//# The kettle MUST boil the water.\n"
    path = make(public, {"src/a.rs": wrong}) / "src/a.rs"
    os.chown(path, *((65534, 65534) if NOBODY else (-1, -1)))
    (public / denied).chmod(0o555)
    code, _, err = run(duvet_command, public, "validate", "--fix", before=NOBODY)
    (public / denied).chmod(0o755)
    assert (code, "[DUV015]" in err, "[DUV050]" in err, err.startswith("fixed")) == (1, True, True, False)
    assert (path.read_text(), [one.name for one in path.parent.iterdir()]) == (wrong, ["a.rs"])
    again = run(duvet_command, public, "validate", "--fix", before=NOBODY)
    listed = "src/a.rs:2: update the quote\n    The kettle MUST boil [-the-] water.\n"
    assert again.err.startswith(f"{listed}fixed 1 citation in 1 file\n")


SPEC, SETUP = (
    "[[specification]]\nsource = '{}.md'\n",
    "'$schema' = 'duvet-cli/config/v1'\n[[source]]\npattern = 'src/*.rs'\n",
)
INCOMPLETE = {
    "DUV065": ("", ""),
    "DUV066": (SPEC.format("spec"), "# Pot\n\nA pot is round.\n"),
    "DUV046": (SPEC.format("cup"), "# Pot\n\nA pot MUST boil.\n"),
    "DUV010": (SPEC.format("nope"), ""),
    "DUV009": (f"{SPEC.format('spec')}[[source]]\npattern = 'a/*'\n", "# Pot\n\nIt MUST.\n"),
}


@pytest.mark.parametrize("code", INCOMPLETE)
def test_a_setup_that_is_incomplete(code: str, tmp_path: Path, duvet_command: str, gold: Snapshot) -> None:
    table, text = INCOMPLETE[code]
    cited = "//= spec.md#pot\n//# A pot MUST boil.\n" if code == "DUV046" else "fn a() {}\n"
    make(tmp_path, {PATH: SETUP + table, "spec.md": text, "src/a.rs": cited, "cup.md": "It MUST."})
    told = play(runner(duvet_command, tmp_path), tmp_path, "validate", "validate --strict", "report")
    gold.assert_match(told, f"{code}.txt")


def test_annotations_are_counted_as_in_the_report(tmp_path: Path, duvet_command: str, gold: Snapshot) -> None:
    texts = {PATH: SETUP + SPEC.format("spec"), "spec.md": "# Pot\n\nA pot MUST boil.\n"}
    make(tmp_path, {**texts, "src/a.rs": "//= spec.md#pot\n//# A pot MUST boil.\n", "src/b.rs": ""})
    told = play(runner(duvet_command, tmp_path), tmp_path, "report", "validate", "validate src .duvet")
    gold.assert_match(told, "counted.txt")


STYLED = """\
'$schema' = 'duvet-cli/config/v1'
[[source]]
pattern = 'src/*.c'
comment-style = { meta = '*=', content = '*#' }
[[source]]
pattern = '**/*.py'
language = 'python'
[[specification]]
source = 'spec.md'
[report.html]
enabled = false
"""
READ = "/*\n *= spec.md#heating\n *# The kettle MUST boil.\n */\nint right;\n"
UNREAD = "//= spec.md#heating\n//# The kettle MUST boil.\nint wrong;\n"
STYLED_TEXTS = {
    PATH: STYLED,
    "spec.md": "# Kettle\n\n## Heating\n\nThe kettle MUST boil.\n",
    "src/a.c": READ,
    "a.py": "",
}
NO_SECTION = {"src/b.c": UNREAD.replace("#heating", "")}
SEVERAL = {"src/b.c": UNREAD * 3 + UNREAD.replace("//", "///")}
STYLED_UPSTREAM = STYLED.replace("duvet-cli/config/v1", "https://awslabs.github.io/duvet/config/v0.4.0.json")
STYLED_UPSTREAM = STYLED_UPSTREAM.replace("language = 'python'", "comment-style = { meta = '##=', content = '##%' }")


def test_a_style_that_the_source_does_not_have(tmp_path: Path, duvet_command: str, gold: Snapshot) -> None:
    ##= man/spec/trace.md#annotations
    ##% With its own schema, duvet MUST warn about citations that it does not read because their `[[source]]` has
    ##% another comment style, and name both styles.
    make(tmp_path, {**STYLED_TEXTS, "src/b.c": UNREAD})
    lines = ("validate", "validate", "report", "validate src/a.c", NO_SECTION, "validate", SEVERAL, "validate")
    told = play(runner(duvet_command, tmp_path), tmp_path, *lines, {PATH: STYLED_UPSTREAM}, "validate")
    gold.assert_match(told, "comment_styles.txt")


OTHERS = {
    "src/a1.c": UNREAD.replace("spec.md", "other.md"),
    "src/a2.c": "x //= spec.md#heating\na |= spec.md#heating\nint b; //= spec.md#heating\n",
    "src/a3.c": "//= spec.md#heating and more words\n// spec.md#heating\n//= heating\n",
    "src/a4.c": "/*\n *= spec.md#heating\n *= type=todo\n *# //= spec.md#heating\n */\n",
    "a5.py": "x //= 2\ny = 3  # spec.md#heating\nz = 'spec.md#heating'\n",
    "a6.py": f'EXAMPLE = """\n{UNREAD}"""\n',
    "a7.py": "##= spec.md#heating\n##% The kettle MUST boil.\n",
    "a8.md": UNREAD,
}
SIGNS = ["//", "///", "#", "--", ";;", "%", "(*", "<!--", "/*", " *", "!", "REM "]


def test_citations_with_other_signs_are_reported(tmp_path: Path, duvet_command: str) -> None:
    text = "\t{0}= spec.md#heating\r\n\t{0}% The kettle MUST boil.\r\n"
    make(
        tmp_path,
        {**STYLED_TEXTS, **OTHERS, **{f"b{index:02}.py": text.format(sign) for index, sign in enumerate(SIGNS)}},
    )
    done = run(duvet_command, tmp_path, "validate")
    assert re.findall(r"comment style `\s*(.+)=` \[DUV029\]\n +--> (b\d+\.py):1:", done.err) == [
        (sign.lstrip(), f"b{index:02}.py") for index, sign in enumerate(SIGNS)
    ]
    assert done.err.count("[DUV029]") == len(SIGNS)

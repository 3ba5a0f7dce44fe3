"""`duvet diff`: the base of the comparison, the listed changes, and gates."""

from __future__ import annotations

import json
import os
import re
from functools import partial
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Done, Run, failed, files, run, shell
from tests.cli.sample_project import CONFIG, KETTLE, SOURCE, SPECIFICATION, make
from tests.histories import ENVIRON, commit, git, history

LOST = "FAIL: --fail-on regression: 1 requirement lost coverage\n"
NOTHING = "\n\nNo changes.\n"
OTHER_REVISION = "use a commit, branch or tag; in CI, fetch it first"
RED = {"spec.md": SPECIFICATION + "\nIt MUST be red.\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a project without changes since its only commit."""
    return history(tmp_path / "kettle", KETTLE)


@pytest.fixture
def diff(duvet_command: str, folder: Path) -> Run:
    return partial(run, duvet_command, folder, "diff", environ=ENVIRON)


def base_of(done: Done) -> tuple[str, str, bool]:
    base = json.loads(done.out)["base"]
    return base["commit"], base["revision"], base["is_merge_base"]


def test_a_branch_is_compared_with_where_it_began(folder: Path, diff: Run) -> None:
    ##= man/spec/diff.md#the-base
    ##% `duvet diff` MUST compare with the merge base of `HEAD` and BASE, or with BASE itself if `--exact` is given or
    ##% no merge base exists.
    began = git(folder, "rev-parse", "HEAD")
    git(folder, "checkout", "--quiet", "-b", "work")
    commit(folder)
    git(folder, "checkout", "--quiet", "main")
    main = commit(make(folder, RED))
    git(folder, "checkout", "--quiet", "work")
    assert base_of(diff("main", "--format", "json")) == (began, "main", True)
    assert diff("main").out.startswith(f"Compared with {began[:12]}, the merge base of HEAD and main{NOTHING}")
    assert base_of(diff("main", "--exact", "--format", "json")) == (main, "main", False)
    assert diff("--exact", "main").out.startswith(f"Compared with {main[:12]} (main)\n\nRequirements removed (1)\n")
    git(folder, "checkout", "--quiet", "--orphan", "other")
    other = commit(folder)
    git(folder, "checkout", "--quiet", "work")
    assert base_of(diff("other", "--format", "json")) == (other, "other", False)


def test_the_default_base(folder: Path, tmp_path: Path, duvet_command: str) -> None:
    ##= man/spec/diff.md#the-base
    ##% Without BASE, `duvet diff` MUST compare the working tree with the default branch of `origin`, or with `HEAD` if
    ##% that branch is unknown.
    began = git(folder, "rev-parse", "HEAD")
    git(tmp_path, "clone", "--quiet", str(folder), "work")
    work = tmp_path / "work"
    head = commit(make(work, {"more.txt": "more"}))
    diff = partial(run, duvet_command, work, "diff", "--format", "json", environ=ENVIRON)
    assert base_of(diff()) == (began, "origin/HEAD", False)
    git(work, "remote", "set-head", "origin", "--delete")
    assert base_of(diff()) == (began, "origin/main", False)
    git(work, "update-ref", "refs/remotes/origin/master", "origin/main")
    git(work, "update-ref", "-d", "refs/remotes/origin/main")
    assert base_of(diff()) == (began, "origin/master", False)
    git(work, "remote", "remove", "origin")
    assert base_of(diff()) == (head, "HEAD", False)


TWO_ADDED = """\
Compared with {} (HEAD)

Citations added (2)
  spec.md#heating  1 citation
      The kettle MUST boil water.
      src/new.rs:1
  spec.md#heating  1 test
      The kettle MUST boil water.
      src/new.rs:5

then: 20 % (1 of 5)
now:  20 % (1 of 5)
"""


def test_specifications_that_were_not_committed(folder: Path, diff: Run) -> None:
    url = "https://example.org/tea.md"
    config = CONFIG + f'[[specification]]\nsource = "{url}"\n[[specification]]\nsource = "../milk.md"\n'
    tea = "# Tea\n\n## Leaves\n\nLeaves MUST be green.\n"
    cites = f"//= {url}#leaves\n//# Leaves MUST be green.\n"
    make(folder, {".gitignore": "/.duvet/specifications/\n/reports\n", ".duvet/config.toml": config, "src/b.rs": cites})
    make(folder, {"../milk.md": tea.replace("Leaves", "Milk")})
    head = commit(folder)
    make(folder, {".duvet/specifications/example.org/tea.txt": tea, "src/new.rs": SOURCE})
    done = diff("--offline", "--exact")
    assert done.err == f"2 specifications are not in {head[:12]} (HEAD); duvet read them from disk\n"
    assert done.out == TWO_ADDED.format(head[:12])
    assert diff("--offline", "--exact") == done
    make(folder, {".duvet/specifications/example.org/tea.txt": tea + "\nLeaves MUST be dry.\n"})
    assert diff("--offline", "--exact").out == done.out.replace(" of 5)", " of 6)").replace("20 %", "16 %")


def test_specifications_that_one_state_does_not_configure(folder: Path, diff: Run) -> None:
    make(folder, {".gitignore": "/*.md\n", ".duvet/config.toml": f'{CONFIG}[[specification]]\nsource = "tea.md"\n'})
    make(folder, {"tea.md": "# Tea\n\nTea MUST be hot.\n", "milk.md": "# Milk\n\nMilk MUST be cold.\n"})
    head = commit(make(folder, {"src/milk.rs": "//= milk.md#milk\n//# Milk MUST be cold.\n"}))
    make(folder, {".duvet/config.toml": CONFIG})
    done = diff()
    assert done.err == f"2 specifications are not in {head[:12]} (HEAD); duvet read them from disk\n"
    assert "\nRequirements removed (1)\n  tea.md#tea  MUST; uncited\n      Tea MUST be hot.\n" in done.out
    assert "Citations" not in done.out


def test_a_project_in_a_folder_of_the_repository(tmp_path: Path, duvet_command: str) -> None:
    texts = {
        "sub/.duvet/config.toml": CONFIG.replace('"spec.md"', '"../spec.md"').replace('"src/', '"code/'),
        "spec.md": SPECIFICATION,
        "sub/code/a.rs": SOURCE.replace("spec.md", "../spec.md"),
    }
    folder = make(history(tmp_path / "all", texts), {"sub/code/a.rs": ""})
    done = run(duvet_command, folder / "sub", "diff", "--fail-on", "regression", environ=ENVIRON)
    assert (done.code, done.err) == (1, LOST)
    assert "  ../spec.md#heating  MUST; was done, now uncited; implementation and tests lost\n" in done.out


def test_a_hook_of_a_project_in_a_folder(tmp_path: Path, duvet_command: str) -> None:
    folder = history(tmp_path / "all", {f"sub/{name}": text for name, text in KETTLE.items()})
    git(folder, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    for top in (folder, tmp_path / "tree"):
        (top / "sub" / "src" / "a.rs").unlink()
        for place in (git(top, "rev-parse", "--absolute-git-dir"), ".git"):
            environ = {**ENVIRON, "GIT_DIR": place}
            done = run(duvet_command, top, "-C", "sub", "diff", "HEAD", "--fail-on", "regression", environ=environ)
            assert (done.code, done.err) == (1, LOST)


def test_a_revision_without_a_configuration(folder: Path, diff: Run, duvet_command: str) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST treat a revision without the project or its configuration as empty.
    now = commit(folder)
    git(folder, "rm", "--quiet", "--cached", "-r", ".duvet")
    git(folder, "commit", "--quiet", "--message=without")
    without = git(folder, "rev-parse", "HEAD")
    commit(folder)
    inner = run(duvet_command, make(folder / "new", KETTLE), "diff", "main", "--fail-on", "regression", environ=ENVIRON)
    for done in (diff("HEAD~1", "--fail-on", "regression"), inner):
        assert (done.code, "everything counts as new\nPASS: no regression since " in done.err) == (0, True)
        assert "Requirements added (3)\n" in done.out and "then: no requirements\n" in done.out
    said = f"no configuration in {without[:12]} (HEAD~1); everything counts as new\n"
    assert diff("HEAD~1").err == said
    assert diff("HEAD~2").out.startswith(f"Compared with {now[:12]} (HEAD~2){NOTHING}")


def test_errors_in_the_base_revision(folder: Path, diff: Run) -> None:
    head = commit(make(folder, {"src/b.rs": "//= spec.md#heating\n//# nowhere\n"}))
    (folder / "src" / "b.rs").unlink()
    done = diff("--fail-on", "regression")
    said = f"1 error in {head[:12]} (HEAD); its results may be incomplete\nPASS: no regression since "
    assert (done.code, done.err.startswith(said)) == (0, True)
    assert "No changes." in done.out


NOW = {
    "spec.md": """\
# Kettle

## Heating

The kettle MUST boil milk. It SHOULD whistle when done. It MUST NOT `rm -rf` | <b>boast</b> to @everyone.

The spout MAY drip.

## Pouring

Tea SHALL be poured by hand.
""",
    "src/a.rs": "",
    "src/other/b.rs": "// more\n\n" + SOURCE + "\n//= spec.md#heating\n//# It SHOULD whistle when done.\n",
}
THEN = {
    "spec.md": SPECIFICATION + "\nA lid MUST stay on.\n",
    "src/c.rs": "//= spec.md#pouring\n//= type=todo\n//# A lid MUST stay on.\n",
}


def test_nothing_has_changed(folder: Path, diff: Run) -> None:
    head = git(folder, "rev-parse", "--short=12", "HEAD")
    same = "33 % (1 of 3)\n"
    before = files(folder)
    assert diff() == Done(0, f"Compared with {head} (HEAD){NOTHING}\nthen: {same}now:  {same}", "")
    assert files(folder) == before


@pytest.mark.parametrize("format", ["text", "json", "markdown"])
def test_every_kind_of_change(format: str, folder: Path, diff: Run, gold: Snapshot) -> None:
    commit(make(folder, THEN))
    make(folder, NOW)
    (folder / "src" / "c.rs").unlink()
    done = diff("--format", format)
    said = "2 errors in the project; results may be incomplete; run `duvet validate` to list them\n"
    assert (done.code, done.err) == (0, said)
    gold.assert_match(done.out, f"every_change.{format}")
    assert diff("--format", format) == done == diff("--format", format, "--no-cache")


def test_a_gate_of_a_project_without_requirements_fails(folder: Path, diff: Run) -> None:
    commit(make(folder, {"spec.md": "# Kettle\n\n## Heating\n\n## Pouring\n", "src/a.rs": ""}))
    assert diff("--fail-on", "new") == Done(1, diff().out, "FAIL: --fail-on new: the project has no requirements\n")
    done = diff("--fail-on", "new", "--format", "markdown")
    assert done.out.startswith("### duvet: --fail-on new failed: the project has no requirements\n\nCompared with ")


def test_the_comment_of_a_gate_that_was_not_checked(tmp_path: Path, duvet_command: str) -> None:
    config = "'$schema' = 'duvet-cli/config/v1'\n[[source]]\npattern = 'src/*.rs'\n"
    folder = history(tmp_path / "kettle", {".duvet/config.toml": config})
    done = run(
        duvet_command, folder, "diff", "--fail-on", "regression", "--format", "markdown", "HEAD", environ=ENVIRON
    )
    head = git(folder, "rev-parse", "--short=12", "HEAD").strip()
    assert (done.code, done.out) == (
        1,
        (
            "### duvet: --fail-on regression failed: not checked because of 2 errors\n\n"
            '- `.duvet/config.toml` `no file matches "src/*.rs"` [DUV009]\n'
            "- `.duvet/config.toml` `no specification is configured` [DUV065]\n\n"
            f"Compared with `{head}` (`HEAD`).\n\n"
            "| | then | now |\n|---|--:|--:|\n| requirements | 0 | 0 |\n"
        ),
    )
    assert run(duvet_command, folder, "diff", "--format", "markdown", "HEAD", environ=ENVIRON).out.startswith(
        "### duvet: no coverage lost\n"
    )


def test_examples_and_a_closed_pipe(folder: Path, diff: Run, duvet_command: str) -> None:
    commit(folder)
    git(folder, "tag", "v1.0")
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")
    lines = re.findall(r"^ *(duvet .*)", diff("--help").out.partition("Examples:")[2], re.MULTILINE)
    assert [shell(duvet_command, folder, line, **ENVIRON).code for line in lines] == [0] * 4
    head = git(folder, "rev-parse", "--short=12", "HEAD")
    said = f"PASS: no regression since {head} (origin/main)\n"
    assert shell(duvet_command, folder, "duvet diff --fail-on regression | true", **ENVIRON) == Done(0, "", said)
    assert (folder / "comment.md").read_text().startswith("### duvet: no coverage lost\n")


@pytest.mark.parametrize(
    ("revision", "hint"),
    [
        ("mian", "did you mean main?"),
        ("feature/stem", "did you mean feature/steam?"),
        ("0123456789", OTHER_REVISION),
        ("", OTHER_REVISION),
        ("HEAD:spec.md", OTHER_REVISION),
        ("--all", OTHER_REVISION),
        ("a\x1b[31mb", OTHER_REVISION),
    ],
)
def test_an_unknown_revision(revision: str, hint: str, folder: Path, diff: Run) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST NOT let git read the name of a revision as an option.
    git(folder, "branch", "feature/steam")
    git(folder, "tag", "v1.0")
    shown = revision.replace("\x1b", "\\u{1b}")
    assert diff("--", revision) == failed(f'unknown revision "{shown}" [DUV120]', hint=hint)


def test_a_shallow_clone(folder: Path, tmp_path: Path, duvet_command: str) -> None:
    commit(folder)
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{folder}", "w")
    hint = "this clone is shallow; run `git fetch --unshallow`"
    done = run(duvet_command, tmp_path / "w", "diff", "HEAD~1", environ=ENVIRON)
    assert done == failed('unknown revision "HEAD~1" [DUV120]', hint=hint)
    assert run(duvet_command, tmp_path / "w", "diff", environ=ENVIRON).code == 0


def test_a_partial_clone(folder: Path, tmp_path: Path, duvet_command: str) -> None:
    commit(make(folder, {"src/a.rs": SOURCE + "\n"}))
    git(folder, "config", "uploadpack.allowFilter", "true")
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", f"file://{folder}", "w")
    hint = "fetch it with git, for example by checking out the revision; duvet does not fetch"
    lacking = failed("this clone lacks the file [DUV010]", "HEAD~1:src/a.rs", hint)
    diff = partial(run, duvet_command, tmp_path / "w", "diff", "HEAD~1", environ=ENVIRON)
    assert diff() == lacking == diff()
    git(tmp_path / "w", "show", "HEAD~1:src/a.rs")
    assert diff().code == 0


def test_a_gate_needs_a_default_branch(folder: Path, diff: Run) -> None:
    git(folder, "remote", "add", "origin", str(folder))
    hint = "give a BASE, such as origin/main; in CI, fetch it first"
    assert diff("--fail-on", "regression") == failed("the default branch of origin is unknown [DUV120]", hint=hint)
    assert (diff().code, diff("HEAD", "--fail-on", "regression").code) == (0, 0)


def test_no_repository_no_commits_and_no_git(tmp_path: Path, duvet_command: str) -> None:
    folder = make(tmp_path / "kettle", KETTLE)
    diff = partial(run, duvet_command, folder, "diff")
    nowhere = failed("not a git repository (or any of the parent directories): .git", "<project>")
    assert diff(environ={**ENVIRON, "GIT_CEILING_DIRECTORIES": str(tmp_path)}) == nowhere
    git(folder, "init", "--quiet")
    for args in ((), ("main",)):
        none = failed("the repository has no commits [DUV120]", hint="make a commit to compare with")
        assert diff(*args, environ=ENVIRON) == none
    done = diff(environ={**ENVIRON, "PATH": str(folder / "src")})
    assert done == failed("git was not found", hint="install git, which duvet needs to read revisions")
    os.remove(folder / ".duvet" / "config.toml")
    hint = "create one with `duvet init`"
    assert diff() == failed("no configuration in this folder or above it [DUV008]", ".duvet/config.toml", hint)


def test_a_broken_configuration_then(folder: Path, diff: Run) -> None:
    began = commit(make(folder, {".duvet/config.toml": "[[source]]\npattrn = 1\n"}))[:12]
    git(folder, "branch", "broken")
    git(folder, "switch", "--quiet", "--create=more")
    commit(make(folder, KETTLE))
    git(folder, "switch", "--quiet", "main")
    commit(make(folder, {"other.md": "# Other\n"}))
    git(folder, "switch", "--quiet", "more")
    for revision, name in (("broken", "broken"), ("main", began)):
        done = diff(revision)
        assert (done.code, done.out) == (1, "")
        assert re.findall(r"(?m)^ --> .*", done.err) == [f" --> {name}:.duvet/config.toml:{line}:1" for line in (1, 2)]


@pytest.mark.parametrize(
    ("texts", "code", "verdict"),
    [
        ({"src/a.rs": SOURCE.partition("\n\n")[0]}, (1, 0), "1 requirement lost coverage"),
        ({"spec.md": SPECIFICATION.replace("## Pouring", "## Brewing")}, (1, 0), "1 citation went stale"),
        (RED, (0, 1), "1 new requirement without a citation"),
        ({**RED, "src/b.rs": "//= spec.md#pouring\n//# It MUST be red.\n"}, (0, 0), ""),
    ],
)
def test_failing_comparisons(
    texts: dict[str, str], code: tuple[int, int], verdict: str, folder: Path, diff: Run
) -> None:
    ##= man/spec/diff.md#gates
    ##% With `--fail-on regression`, `duvet diff` MUST exit with 1 if coverage was lost or a citation became invalid,
    ##% but not because of other differences.
    ##= man/spec/diff.md#gates
    ##% With `--fail-on new`, `duvet diff` MUST exit with 1 if a new requirement is uncited, but not because of other
    ##% differences.
    commit(make(folder, {"src/c.rs": "//= spec.md#pouring\n"}))
    make(folder, texts)
    regression, new = ("--fail-on", "regression"), ("--fail-on", "new")
    assert (diff(*regression).code, diff(*new).code) == code
    done = diff(*regression, *new)
    failure = f"FAIL: --fail-on regression and new: {verdict}\n"
    success = "PASS: no regression and no new requirement without a citation since "
    assert done.code == max(code)
    assert done.err.splitlines()[-1].startswith(failure.strip() if verdict else success)
    if max(code):
        assert diff("-q", *regression, *new) == done._replace(err=failure)
    assert diff("-q", *(regression if code[1] else new)).err == ""


def test_annotations_on_github(folder: Path, diff: Run) -> None:
    ##= man/spec/problems.md#formats
    ##% If the environment variable `GITHUB_ACTIONS` is `true` and no format is requested, duvet MUST also write
    ##% problems and failures of gates as workflow commands.
    make(folder, {"spec.md": SPECIFICATION.replace("boil water.", "boil all water. It MUST sing.")})
    environ = {**ENVIRON, "GITHUB_ACTIONS": "true"}
    done = diff("--fail-on", "regression", "--fail-on", "new", environ=environ)
    stale = 'this citation was valid and is now invalid: could not find text in section "heating" of spec.md\n'
    assert done.out.partition("\nnow: ")[2].partition("\n")[2] == (
        "::error file=spec.md,line=5,title=DUV067 coverage-lost::this requirement was done and is now uncited; it "
        "lost its implementation and its tests%0Ahelp: spec.md#heating: The kettle MUST boil all water.\n"
        f"::error file=src/a.rs,line=1,title=DUV068 citation-stale::{stale}"
        f"::error file=src/a.rs,line=5,title=DUV068 citation-stale::{stale}"
        "::error file=spec.md,line=5,title=DUV069 requirement-uncited::this requirement is new, and nothing cites it"
        "%0Ahelp: spec.md#heating: It MUST sing.\n"
    )
    assert "::error" not in diff("--fail-on", "regression", "--format", "json", environ=environ).out
    assert "::error" not in diff(environ=environ).out + diff("--fail-on", "regression").out

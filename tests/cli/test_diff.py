import json
import os
import re
from functools import partial
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Done, Run, failed, files, play, run, shell
from tests.cli.sample_project import CONFIG, HALF, KETTLE, PROJECTS, SOURCE, SPECIFICATION, make
from tests.histories import ENVIRON, commit, git, history
from tests.sample_project import read_files

PATH = ".duvet/config.toml"
LOST = "FAIL: --fail-on regression: 1 requirement lost coverage\n"
OTHER_REVISION = "use a commit, branch or tag; in CI, fetch it first"
RED = {"spec.md": SPECIFICATION + "\nIt MUST be red.\n"}
REGRESSION = ("--fail-on", "regression")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return history(tmp_path / "kettle", KETTLE)


def differ(command: str, folder: Path, *words: str) -> Run:
    return partial(run, command, folder, "diff", *words, environ=ENVIRON)


@pytest.fixture
def diff(duvet_command: str, folder: Path) -> Run:
    return differ(duvet_command, folder)


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
    git(folder, "checkout", "--quiet", "--orphan", "other")
    other = commit(folder)
    git(folder, "checkout", "--quiet", "work")
    for words, base in (
        (["main"], (began, "main", True)),
        (["main", "--exact"], (main, "main", False)),
        (["other"], (other, "other", False)),
    ):
        assert base_of(diff(*words, "--format", "json")) == base
    assert diff("main").out.startswith(f"Compared with {began[:12]}, the merge base of HEAD and main\n\nNo changes.\n")
    assert diff("--exact", "main").out.startswith(f"Compared with {main[:12]} (main)\n\nRequirements removed (1)\n")


def test_the_default_base(folder: Path, tmp_path: Path, duvet_command: str, diff: Run) -> None:
    ##= man/spec/diff.md#the-base
    ##% Without BASE, `duvet diff` MUST compare the working tree with the default branch of `origin`.
    ##= man/spec/diff.md#the-base
    ##% If BASE is not given and the default branch is unknown, `duvet diff` MUST compare with `HEAD`, or fail if
    ##% `--fail-on` is given and the remote `origin` exists.
    began = git(folder, "rev-parse", "HEAD")
    git(tmp_path, "clone", "--quiet", str(folder), "work")
    work = tmp_path / "work"
    head = commit(make(work, {"more.txt": "more"}))
    clone = differ(duvet_command, work, "--format", "json")
    assert base_of(clone()) == (began, "origin/HEAD", False)
    git(work, "remote", "set-head", "origin", "--delete")
    assert base_of(clone()) == (began, "origin/main", False)
    git(work, "update-ref", "refs/remotes/origin/master", "origin/main")
    git(work, "update-ref", "-d", "refs/remotes/origin/main")
    assert base_of(clone()) == (began, "origin/master", False)
    git(work, "remote", "remove", "origin")
    assert base_of(clone()) == (head, "HEAD", False)
    git(folder, "remote", "add", "origin", str(folder))
    hint = "give a BASE, such as origin/main; in CI, fetch it first"
    assert diff(*REGRESSION) == failed("the default branch of origin is unknown [DUV120]", hint=hint)
    assert (diff().code, diff("HEAD", *REGRESSION).code) == (0, 0)


def test_specifications_that_were_not_committed(folder: Path, duvet_command: str, gold: Snapshot) -> None:
    url, stored = "https://example.org/tea.md", ".duvet/specifications/example.org/tea.txt"
    config = CONFIG + f'[[specification]]\nsource = "{url}"\n[[specification]]\nsource = "../milk.md"\n'
    tea = "# Tea\n\n## Leaves\n\nLeaves MUST be green.\n"
    cites = f"//= {url}#leaves\n//# Leaves MUST be green.\n"
    make(folder, {".gitignore": "/.duvet/specifications/\n/reports\n", PATH: config, "src/b.rs": cites})
    make(folder, {"../milk.md": tea.replace("Leaves", "Milk")})
    first = commit(folder)[:12]
    duvet = partial(run, duvet_command, folder, environ=ENVIRON)
    line = "diff --offline --exact"
    more = {stored: tea + "\nLeaves MUST be dry.\n"}
    told = play(duvet, folder, {stored: tea, "src/new.rs": SOURCE}, line, line, more, line)
    # One of two states does not configure these.
    make(folder, {".gitignore": "/*.md\n", PATH: f'{CONFIG}[[specification]]\nsource = "tea.md"\n', "src/b.rs": ""})
    make(folder, {"tea.md": "# Tea\n\nTea MUST be hot.\n", "milk.md": "# Milk\n\nMilk MUST be cold.\n"})
    second = commit(make(folder, {"src/milk.rs": "//= milk.md#milk\n//# Milk MUST be cold.\n"}))[:12]
    told += play(duvet, folder, {PATH: CONFIG}, "diff")
    gold.assert_match(told.replace(first, "FIRST").replace(second, "SECOND"), "uncommitted.txt")


def test_a_project_in_a_folder_of_the_repository(tmp_path: Path, duvet_command: str) -> None:
    texts = {
        "sub/.duvet/config.toml": CONFIG.replace('"spec.md"', '"../spec.md"').replace('"src/', '"code/'),
        "spec.md": SPECIFICATION,
        "sub/code/a.rs": SOURCE.replace("spec.md", "../spec.md"),
    }
    folder = make(history(tmp_path / "all", texts), {"sub/code/a.rs": ""})
    done = differ(duvet_command, folder / "sub")(*REGRESSION)
    assert (done.code, done.err) == (1, LOST)
    assert "  ../spec.md#heating  MUST; done -> uncited; implementation and tests lost\n" in done.out
    # A hook in this folder and in another working tree.
    git(folder, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    make(tmp_path / "tree", {"sub/code/a.rs": ""})
    for top in (folder, tmp_path / "tree"):
        for place in (git(top, "rev-parse", "--absolute-git-dir"), ".git"):
            environ = {**ENVIRON, "GIT_DIR": place}
            done = run(duvet_command, top, "-C", "sub", "diff", "HEAD", *REGRESSION, environ=environ)
            assert (done.code, done.err) == (1, LOST)


def test_a_revision_without_a_configuration(folder: Path, diff: Run, duvet_command: str) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST treat a revision without the project or its configuration as empty.
    now = commit(folder)
    git(folder, "rm", "--quiet", "--cached", "-r", ".duvet")
    git(folder, "commit", "--quiet", "--message=without")
    without = git(folder, "rev-parse", "HEAD")
    commit(folder)
    inner = differ(duvet_command, make(folder / "new", KETTLE))("main", *REGRESSION)
    for done in (diff("HEAD~1", *REGRESSION), inner):
        assert (done.code, "everything counts as new\nPASS: no regression since " in done.err) == (0, True)
        assert "Requirements added (3)\n" in done.out and "then: no requirements\n" in done.out
    said = f"no configuration in {without[:12]} (HEAD~1); everything counts as new\n"
    assert diff("HEAD~1").err == said
    assert diff("HEAD~2").out.startswith(f"Compared with {now[:12]} (HEAD~2)\n\nNo changes.\n")


def test_errors_in_the_base_revision(folder: Path, diff: Run) -> None:
    head = commit(make(folder, {"src/b.rs": "//= spec.md#heating\n//# nowhere\n"}))
    (folder / "src" / "b.rs").unlink()
    done = diff(*REGRESSION)
    said = f"1 error in {head[:12]} (HEAD); results may be incomplete\nPASS: no regression since "
    assert (done.code, done.err.startswith(said)) == (0, True)
    assert "No changes." in done.out


NOW = {
    **read_files(PROJECTS / "changed"),
    "src/a.rs": "",
    "src/other/b.rs": "// more\n\n" + SOURCE + "\n//= spec.md#heating\n//# It SHOULD whistle when done.\n",
}
THEN = {
    "spec.md": SPECIFICATION + "\nA lid MUST stay on.\n",
    "src/c.rs": "//= spec.md#pouring\n//= type=todo\n//# A lid MUST stay on.\n",
}


@pytest.mark.parametrize("format", ["text", "json", "markdown"])
def test_every_kind_of_change(format: str, folder: Path, diff: Run, gold: Snapshot) -> None:
    head, before = git(folder, "rev-parse", "--short=12", "HEAD"), files(folder)
    if format == "text":
        same = "33 % (1 of 3)\n"
        assert diff() == Done(0, f"Compared with {head} (HEAD)\n\nNo changes.\n\nthen: {same}now:  {same}", "")
        assert files(folder) == before
    commit(make(folder, THEN))
    make(folder, NOW)
    (folder / "src" / "c.rs").unlink()
    done = diff("--format", format)
    said = "2 errors in the project; results may be incomplete; run `duvet validate` to list them\n"
    assert (done.code, done.err) == (0, said)
    gold.assert_match(done.out, f"every_change.{format}")
    assert diff("--format", format) == done == diff("--format", format, "--no-cache")


def test_a_gate_of_a_project_without_requirements_fails(
    folder: Path, diff: Run, duvet_command: str, gold: Snapshot
) -> None:
    commit(make(folder, {"spec.md": "# Kettle\n\n## Heating\n\n## Pouring\n", "src/a.rs": ""}))
    assert diff("--fail-on", "new") == Done(1, diff().out, "FAIL: --fail-on new: the project has no requirements\n")
    done = diff("--fail-on", "new", "--format", "markdown")
    assert done.out.startswith("### duvet: --fail-on new failed: the project has no requirements\n\nCompared with ")
    # A gate that was not checked.
    (folder / "src/a.rs").unlink()
    head = commit(make(folder, {PATH: "'$schema' = 'duvet-cli/config/v1'\n[[source]]\npattern = 'src/*.rs'\n"}))
    duvet, line = partial(run, duvet_command, folder, environ=ENVIRON), "diff --format markdown HEAD"
    told = play(duvet, folder, f"{line} --fail-on regression", line)
    gold.assert_match(told.replace(head[:12], "HEAD"), "not_checked.txt")


def test_a_closed_pipe(folder: Path, duvet_command: str) -> None:
    commit(folder)
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")
    head = git(folder, "rev-parse", "--short=12", "HEAD")
    said = f"PASS: no regression since {head} (origin/main)\n"
    assert shell(duvet_command, folder, "duvet diff --fail-on regression | true", **ENVIRON) == Done(0, "", said)


UNKNOWN = {
    "mian": "did you mean main?",
    "feature/stem": "did you mean feature/steam?",
    **dict.fromkeys(("0123456789", "", "HEAD:spec.md", "--all", "a\x1b[31mb"), OTHER_REVISION),
}


def test_an_unknown_revision(folder: Path, diff: Run) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST NOT let git read the name of a revision as an option.
    git(folder, "branch", "feature/steam")
    git(folder, "tag", "v1.0")
    for revision, hint in UNKNOWN.items():
        shown = revision.replace("\x1b", "\\u{1b}")
        assert diff("--", revision) == failed(f'unknown revision "{shown}" [DUV120]', hint=hint)


def test_shallow_and_partial_clones(folder: Path, tmp_path: Path, duvet_command: str) -> None:
    commit(make(folder, {"src/a.rs": SOURCE + "\n"}))
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{folder}", "shallow")
    diff = differ(duvet_command, tmp_path / "shallow")
    hint = "this clone is shallow; run `git fetch --unshallow`"
    assert diff("HEAD~1") == failed('unknown revision "HEAD~1" [DUV120]', hint=hint)
    assert diff().code == 0
    git(folder, "config", "uploadpack.allowFilter", "true")
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", f"file://{folder}", "partial")
    diff = differ(duvet_command, tmp_path / "partial", "HEAD~1")
    hint = "fetch it with git, for example by checking out the revision; duvet does not fetch"
    lacking = failed("this clone lacks the file [DUV010]", "HEAD~1:src/a.rs", hint)
    assert diff() == lacking == diff()
    git(tmp_path / "partial", "show", "HEAD~1:src/a.rs")
    assert diff().code == 0


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
    os.remove(folder / PATH)
    hint = "create one with `duvet init`"
    assert diff() == failed("no configuration in this folder or above it [DUV008]", PATH, hint)


def test_a_broken_configuration_then(folder: Path, diff: Run) -> None:
    began = commit(make(folder, {PATH: "[[source]]\npattrn = 1\n"}))[:12]
    git(folder, "branch", "broken")
    git(folder, "switch", "--quiet", "--create=more")
    commit(make(folder, KETTLE))
    git(folder, "switch", "--quiet", "main")
    commit(make(folder, {"other.md": "# Other\n"}))
    git(folder, "switch", "--quiet", "more")
    for revision, name in (("broken", "broken"), ("main", began)):
        done = diff(revision)
        assert (done.code, done.out) == (1, "")
        assert re.findall(r"(?m)^ --> .*", done.err) == [f" --> {name}:{PATH}:{line}:1" for line in (1, 2)]


FAILING: list[tuple[dict[str, str], tuple[int, int], str]] = [
    ({"src/a.rs": HALF}, (1, 0), "1 requirement lost coverage"),
    ({"spec.md": SPECIFICATION.replace("## Pouring", "## Brewing")}, (1, 0), "1 citation went stale"),
    (RED, (0, 1), "1 new requirement without a citation"),
    ({**RED, "src/b.rs": "//= spec.md#pouring\n//# It MUST be red.\n"}, (0, 0), ""),
]


def test_failing_comparisons(folder: Path, diff: Run) -> None:
    ##= man/spec/diff.md#gates
    ##% With `--fail-on regression`, `duvet diff` MUST exit with 1 if coverage was lost or a citation became invalid,
    ##% but not because of other differences.
    ##= man/spec/diff.md#gates
    ##% With `--fail-on new`, `duvet diff` MUST exit with 1 if a new requirement is uncited, but not because of other
    ##% differences.
    commit(make(folder, {"src/c.rs": "//= spec.md#pouring\n"}))
    new = ("--fail-on", "new")
    for texts, code, verdict in FAILING:
        git(folder, "checkout", "--quiet", ".")
        make(folder, texts)
        assert (diff(*REGRESSION).code, diff(*new).code) == code
        done = diff(*REGRESSION, *new)
        failure = f"FAIL: --fail-on regression and new: {verdict}\n"
        success = "PASS: no regression and no new requirement without a citation since "
        assert done.code == max(code)
        assert done.err.splitlines()[-1].startswith(failure.strip() if verdict else success)
        if max(code):
            assert diff("-q", *REGRESSION, *new) == done._replace(err=failure)
        assert diff("-q", *(REGRESSION if code[1] else new)).err == ""


def test_annotations_on_github(folder: Path, diff: Run, gold: Snapshot) -> None:
    ##= man/spec/problems.md#formats
    ##% If the environment variable `GITHUB_ACTIONS` is `true` and neither `--format` nor `--output` is given,
    ##% duvet MUST also write problems and failures of gates as GitHub workflow commands.
    make(folder, {"spec.md": SPECIFICATION.replace("boil water.", "boil all water. It MUST sing.")})
    environ = {**ENVIRON, "GITHUB_ACTIONS": "true"}
    gates = (*REGRESSION, "--fail-on", "new")
    done = diff(*gates, environ=environ)
    gold.assert_match(done.out.partition("\nnow: ")[2].partition("\n")[2], "github.txt")
    assert "::error" not in diff(*REGRESSION, "--format", "json", environ=environ).out
    assert "::error" not in diff(environ=environ).out + diff(*REGRESSION).out

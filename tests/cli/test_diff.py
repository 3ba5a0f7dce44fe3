import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Run, play, run
from tests.cli.sample_project import CONFIG, HALF, KETTLE, PROJECTS, SOURCE, SPECIFICATION, make
from tests.histories import ENVIRON, commit, git, history
from tests.sample_project import read_files

PATH = ".duvet/config.toml"
RED = {"spec.md": SPECIFICATION + "\nIt MUST be red.\n"}
SUB = {
    "sub/.duvet/config.toml": CONFIG.replace('"spec.md"', '"../spec.md"').replace('"src/', '"code/'),
    "sub/code/a.rs": SOURCE.replace("spec.md", "../spec.md"),
}
URL, STORED = "https://example.org/tea.md", ".duvet/specifications/example.org/tea.txt"
LEAVES = "# Tea\n\n## Leaves\n\nLeaves MUST be green.\n"
NOT_COMMITTED = {
    PATH: CONFIG + f'[[specification]]\nsource = "{URL}"\n[[specification]]\nsource = "../milk.md"\n',
    ".gitignore": "/.duvet/specifications/\n/reports\n",
    "src/b.rs": f"//= {URL}#leaves\n//# Leaves MUST be green.\n",
    "../milk.md": LEAVES.replace("Leaves", "Milk"),
}
# One of two states does not configure these.
IGNORED = {
    PATH: f'{CONFIG}[[specification]]\nsource = "tea.md"\n',
    ".gitignore": "/*.md\n",
    "src/b.rs": "",
    "src/milk.rs": "//= milk.md#milk\n//# Milk MUST be cold.\n",
    "tea.md": "# Tea\n\nTea MUST be hot.\n",
    "milk.md": "# Milk\n\nMilk MUST be cold.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return history(tmp_path / "kettle", KETTLE)


@pytest.fixture
def duvet(duvet_command: str, folder: Path) -> Run:
    return partial(run, duvet_command, folder, environ=ENVIRON)


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
def test_every_kind_of_change(format: str, folder: Path, duvet: Run, gold: Snapshot) -> None:
    commit(make(folder, THEN))
    make(folder, NOW)
    (folder / "src" / "c.rs").unlink()
    done = duvet("diff", "--format", format)
    said = "2 errors in the project; results may be incomplete; run `duvet validate` for details\n"
    assert (done.code, done.err) == (0, said)
    gold.assert_match(done.out, f"every_change.{format}")
    assert duvet("diff", "--format", format) == done == duvet("diff", "--format", format, "--no-cache")


R, N, ON_GITHUB = "--fail-on regression", "--fail-on new", "$ GITHUB_ACTIONS=true duvet"
GATES = (f"$ duvet -q diff {R} >out", f"$ duvet -q diff {N} >out", f"diff {R} {N}", f"$ duvet -q diff {R} {N} >out")
STALE = {"src/c.rs": "//= spec.md#pouring\n"}
TODO = {"src/b.rs": "//= spec.md#pouring\n//= type=todo\n//# It MUST be red.\n"}
NO_REQUIREMENTS = {"spec.md": "# Kettle\n\n## Heating\n\n## Pouring\n", "src/a.rs": ""}
UNKNOWN = ("mian", "feature/stem", "0123456789", "", "HEAD:spec.md", "--all", "a\x1b[31mb")
SCENARIOS: dict[str, tuple[str | Mapping[str, str], ...]] = {
    "nothing": ("diff", "$ git status --short"),
    "branch": (
        *("$ git checkout -q -b work", "git commit", "$ git checkout -q main", RED, "git commit"),
        *("$ git checkout -q --orphan other", "git commit", "$ git checkout -q work", "diff main", "diff --exact main"),
        *("diff other", *(f"$ duvet diff {base} --format json | head -7" for base in ("main", "other"))),
    ),
    "default base": (
        "$ git clone -q . ../work; cd ../work; echo more >more.txt; git add .; git commit -qm more",
        *("-C ../work diff", "$ git -C ../work remote set-head origin --delete", "-C ../work diff"),
        "$ cd ../work; git update-ref {0}/master {0}/main; git update-ref -d {0}/main".format("refs/remotes/origin"),
        *("-C ../work diff", "$ git -C ../work remote remove origin", "-C ../work diff", "$ git remote add origin ."),
        *(f"diff {R}", "diff", f"diff HEAD {R}"),
    ),
    "uncommitted": (
        *(NOT_COMMITTED, "git commit", {STORED: LEAVES, "src/new.rs": SOURCE}),
        *["diff --offline --exact"] * 2,
        *({STORED: LEAVES + "\nLeaves MUST be dry.\n"}, "diff --offline --exact", IGNORED, "git commit"),
        *({PATH: CONFIG}, "diff"),
    ),
    # Also in hooks of the repository and of another working tree.
    "subfolder": (
        *(SUB, "git commit", "$ git worktree add -q ../tree; : >sub/code/a.rs; : >../tree/sub/code/a.rs"),
        f"-C sub diff {R}",
        *(
            f"$ cd {top}; GIT_DIR={place} duvet -C sub diff HEAD {R} >out"
            for top in (".", "../tree")
            for place in (".git", "$(git rev-parse --absolute-git-dir)")
        ),
    ),
    "regression": (STALE, "git commit", {"src/a.rs": HALF}, *GATES),
    "stale": (STALE, "git commit", {"spec.md": SPECIFICATION.replace("## Pouring", "## Brewing")}, *GATES),
    "new": (STALE, "git commit", RED, *GATES, TODO, f"diff {N}"),
    "cited": (STALE, "git commit", {**RED, "src/b.rs": "//= spec.md#pouring\n//# It MUST be red.\n"}, *GATES),
    "unknown": ("$ git branch feature/steam; git tag v1.0", *(f"diff -- '{one}'" for one in UNKNOWN)),
    "broken configuration": (
        *({PATH: "[[source]]\npattrn = 1\n"}, "git commit", "$ git branch broken; git switch -qc more", KETTLE),
        *("git commit", "$ git switch -q main", {"other.md": "# Other\n"}, "git commit", "$ git switch -q more"),
        *("diff broken", "diff main"),
    ),
    "no configuration": (
        *("git commit", "$ git rm -rq --cached .duvet; git -c user.name=A -c user.email=a@b.c commit -qm 1"),
        *("git commit", "diff HEAD~1", f"diff HEAD~1 {R}", "diff HEAD~2"),
        *({f"new/{name}": text for name, text in KETTLE.items()}, f"-C new diff main {R}"),
    ),
    "errors in the base": (
        *({"src/b.rs": "//= spec.md#heating\n//# nowhere\n"}, "git commit", "$ rm src/b.rs", f"diff {R}"),
    ),
    "no requirements": (
        *(NO_REQUIREMENTS, "git commit", "diff", f"diff {N}", f"diff {N} --format markdown", "$ rm src/a.rs"),
        # A gate that was not checked.
        *({PATH: "'$schema' = 'duvet-cli/config/v1'\n[[source]]\npattern = 'src/*.rs'\n"}, "git commit"),
        *(f"diff --format markdown HEAD {R}", "diff --format markdown HEAD"),
    ),
    "closed pipe": ("$ git update-ref refs/remotes/origin/main HEAD", f"$ duvet diff {R} | true"),
    "github": (
        {"spec.md": SPECIFICATION.replace("boil water.", "boil all water. It MUST sing.")},
        *(f"{ON_GITHUB} diff {R} {N}", f"{ON_GITHUB} diff {R} --format json | grep -c ::error"),
        *(f"{ON_GITHUB} diff | grep -c ::error", f"$ duvet diff {R} | grep -c ::error"),
    ),
    "clones": (
        *({"src/a.rs": SOURCE + "\n"}, "git commit", '$ git clone -q --depth=1 "file://$PWD" ../shallow'),
        *("-C ../shallow diff HEAD~1", "-C ../shallow diff", "$ git config uploadpack.allowFilter true"),
        "$ git config uploadpack.allowAnySHA1InWant true; git clone -q --filter=blob:none file://$PWD ../partial",
        *(*["-C ../partial diff HEAD~1"] * 2, "$ cd ../partial; git show HEAD~1:src/a.rs >out; duvet diff HEAD~1"),
    ),
    "no repository": (
        {f"../bare/{name}": text for name, text in KETTLE.items()},
        *("$ GIT_CEILING_DIRECTORIES=$(dirname $PWD) duvet -C ../bare diff", "$ git -C ../bare init -q"),
        *("-C ../bare diff", "-C ../bare diff main", "$ PATH=${PATH%%:*} duvet -C ../bare diff"),
        *("$ rm ../bare/.duvet/config.toml", "-C ../bare diff"),
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_comparisons(name: str, folder: Path, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/diff.md#the-base
    ##% Without BASE, `duvet diff` MUST compare the working tree with the default branch of `origin`.
    ##= man/spec/diff.md#the-base
    ##% If BASE is not given and the default branch is unknown, `duvet diff` MUST compare with `HEAD`, or fail if
    ##% `--fail-on` is given and the remote `origin` exists.
    ##= man/spec/diff.md#the-base
    ##% `duvet diff` MUST compare with the merge base of `HEAD` and BASE, or with BASE itself if `--exact` is given or
    ##% no merge base exists.
    ##= man/spec/diff.md#gates
    ##% With `--fail-on regression`, `duvet diff` MUST exit with 1 if coverage was lost or a citation became invalid,
    ##% but not because of other differences.
    ##= man/spec/diff.md#gates
    ##% With `--fail-on new`, `duvet diff` MUST exit with 1 if a new requirement is `uncited` or `to do`, but not
    ##% because of other differences.
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST NOT let git read the name of a revision as an option.
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST treat a revision without the project or its configuration as empty.
    ##= man/spec/problems.md#formats
    ##% If the environment variable `GITHUB_ACTIONS` is `true` and neither `--format` nor `--output` is given,
    ##% duvet MUST also write problems and failures of gates as GitHub workflow commands.
    told = play(duvet, folder, *SCENARIOS[name])
    for number, hash in enumerate(git(folder, "rev-list", "--all", "--reverse", "--topo-order").split()):
        told = told.replace(hash, f"COMMIT-{number}").replace(hash[:12], f"COMMIT-{number}")
    told = re.sub(r"\b[0-9a-f]{12}\b", "OTHER", told.replace(str(folder.parent), "<above>"))
    gold.assert_match(told, f"{name.replace(' ', '_')}.txt")

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from duvet.errors import DuvetError
from duvet.project.project import Options, Project
from duvet.specs.library import Policy
from duvet.tree.files import DiskTree, MemoryTree, Tree, is_folder
from duvet.tree.git import GitRevisions, GitTree
from duvet.tree.git_repository import GitRepository
from tests.cli.sample_project import KETTLE, make
from tests.histories import ENVIRON, commit, git, history

FILES = {
    "top.md": "top",
    "sub/a.rs": "a",
    "sub/src/b.rs": "b",
    "sub/src/d/c.rs": "c",
    "sub/src/-x 'y\n\té.rs": "odd",
    "sub/crlf.rs": "one\r\ntwo\r\n",
    "sub/lfs.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
}
LINKS = {
    "sub/link": "src",
    "sub/up": "../top.md",
    "sub/deep": "link/d/../b.rs",
    "sub/loop": "loop",
    "sub/gone": "nothing",
    "sub/out": "../../beside.md",
    "sub/whole": "/",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make(tmp_path_factory.mktemp("built") / "r", FILES)
    for name, target in LINKS.items():
        (folder / name).symlink_to(target)
    (folder.parent / "beside.md").write_text("beside")
    return history(folder, {}).parent


@pytest.fixture
def checkout(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built, tmp_path, symlinks=True, dirs_exist_ok=True) / "r" / "sub"


@contextmanager
def tree_of(folder: Path, revision: str = "HEAD") -> Iterator[GitTree]:
    revisions = GitRevisions(str(folder), ENVIRON)
    found = revisions.find(revision)
    assert found is not None
    with revisions.tree(found, DiskTree(str(folder))) as tree:
        yield tree


def answers(tree: Tree, path: str) -> list[Any]:
    return [
        *map(_heard, (lambda: tree.read(path), lambda: tree.is_file(path), lambda: tree.exists(path))),
        *([] if "\0" in path else [_heard(lambda: listed(tree, path))]),
    ]


def _heard(ask: Callable[[], object]) -> object:
    try:
        return ask()
    except DuvetError as error:
        return type(error), error.message


def listed(tree: Tree, path: str) -> list[tuple[str, bool, bool]]:
    found = (entry for entry in tree.entries(path) if entry.name != ".git")
    return sorted((entry.name, is_folder(entry), entry.is_symlink()) for entry in found)


PATHS = [
    *("", ".", "..", "../..", "src", "src/", "src//b.rs", "./src/./b.rs", "src/d/../b.rs", "src/.", "src/d/.."),
    *("a.rs", "a.rs/", "a.rs/.", "a.rs/..", "a.rs/x", "crlf.rs", "lfs.bin", "src/-x 'y\n\té.rs", "nothing", "no/thing"),
    *("link", "link/", "link/b.rs", "link/..", "link/../a.rs", "up", "up/", "deep", "../top.md", "../../sub/a.rs"),
    *("loop", "loop/x", "gone", "gone/", "out", "out/", "../../beside.md", "../../r/sub/a.rs", "whole/dev", "a\0b"),
]


def test_the_same_answers_as_on_disk(checkout: Path, tmp_path: Path) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST read a revision from git's objects, without a checkout, and trace it as if its files were
    ##% on disk.
    with tree_of(checkout) as tree:
        for path in PATHS:
            assert answers(tree, path) == answers(DiskTree(str(checkout)), path), path
    (tmp_path / "other name").symlink_to(checkout.parent)
    for folder in (checkout, tmp_path / "other name" / "sub"):
        with tree_of(folder) as tree:
            paths = [str(folder / name) for name in ("", "src/b.rs", "link/../up", "../top.md", "nothing")]
            for path in (*paths, f"{folder.parent.parent}/./{folder.parent.name}/sub/a.rs"):
                assert answers(tree, path) == answers(DiskTree(), path), path
            assert tree.taken == {}


def test_a_loop_of_folders_is_seen_and_the_git_folder_is_read_from_disk(checkout: Path) -> None:
    with tree_of(checkout) as tree:
        for path in ("../.git", "../.git/info/exclude", f"{checkout.parent}/.git/info/exclude", ".git"):
            assert answers(tree, path) == answers(DiskTree(str(checkout)), path)
        assert tree.taken == {}
    (checkout / "src" / "back").symlink_to("..")
    commit(checkout)
    with tree_of(checkout) as tree:
        assert tree.identity("src/back/src") == tree.identity("link") != tree.identity("src/back")
        assert tree.identity("/") == DiskTree().identity("/")
        with pytest.raises(DuvetError, match="Too many levels"):
            tree.identity("loop")


def test_a_revision_is_read_without_the_disk(checkout: Path) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% If a revision lacks a specification, `duvet diff` MUST read the specification from disk and say so. If a
    ##% revision lacks a source file, `duvet diff` MUST NOT read that file from disk.
    with tree_of(checkout) as tree:
        before = [answers(tree, path) for path in PATHS if "whole" not in path]
    (checkout / "src" / "b.rs").write_text("changed")
    (checkout / "nothing").write_text("new")
    (checkout / "a.rs").unlink()
    with tree_of(checkout) as tree:
        tree.lent = frozenset(), ".duvet/specifications"
        assert [answers(tree, path) for path in PATHS if "whole" not in path] == before
        assert set(tree.taken) == {"out", "../../beside.md"}


def test_lent_files_and_folders(checkout: Path) -> None:
    make(checkout, {"spec.md": "spec", "downloads/x/y.txt": "text", "downloads/src.rs": "new", "a.rs": "changed"})
    with tree_of(checkout) as tree:
        tree.lent = frozenset({"spec.md", "a.rs", "absent.md"}), "downloads"
        assert [tree.is_file(path) for path in ("spec.md", "./spec.md", "absent.md", "other.md")] == [1, 1, 0, 0]
        assert (tree.read("spec.md"), tree.read("downloads/x/y.txt"), tree.read("a.rs")) == (b"spec", b"text", b"a")
        assert tree.exists("downloads/x/y.txt") and not tree.exists("downloads")
        assert list(tree.entries("downloads")) == []
        assert tree.taken == {"spec.md": None, "downloads/x/y.txt": None}


def test_caches_line_ends_and_submodules_of_a_commit(checkout: Path, tmp_path: Path) -> None:
    make(checkout, {".duvet/cache/x": "x", ".duvet/config.toml": ""})
    make(checkout, {"../.gitattributes": "*.txt text eol=crlf\n", "lines.txt": "one\r\ntwo\r\n"})
    git(checkout, "submodule", "--quiet", "add", str(history(tmp_path / "other", {"x.rs": "x"})), "module")
    commit(checkout)
    with tree_of(checkout) as tree:
        assert listed(tree, ".duvet") == [("config.toml", False, False)] == listed(DiskTree(str(checkout)), ".duvet")
        assert not tree.exists(".duvet/cache") and listed(tree, ".duvet/cache") == []
        assert (tree.read("lines.txt"), tree.read("crlf.rs")) == (b"one\ntwo\n", b"one\r\ntwo\r\n")
        # A submodule is an empty folder.
        assert (checkout / "module" / "x.rs").exists() and ("module", True, False) in listed(tree, "")
        assert (listed(tree, "module"), tree.exists("module/x.rs")) == ([], False)


KINDS = {
    "sha256": [],
    "bare": ["clone --quiet --bare r w"],
    "worktree": ["-C r worktree add --quiet --detach ../w"],
    "shallow": ["-C r commit --quiet --allow-empty --message=x", "clone --quiet --depth=1 file://{} w"],
    "tag": ["-C r tag --annotate --message=x v1"],
    "packed": ["-C r gc --quiet"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_repositories_of_every_kind(kind: str, tmp_path: Path) -> None:
    folder = history(tmp_path / "r", KETTLE, *(["--object-format=sha256"] if kind == "sha256" else []))
    for command in KINDS[kind]:
        git(tmp_path, *command.format(folder).split())
    other = tmp_path / "w" if (tmp_path / "w").exists() else folder
    with tree_of(other, "v1" if kind == "tag" else "HEAD") as tree:
        project = folder if kind == "bare" else other
        then = Project(str(project), tree=tree)
        assert then.catalogue == Project(str(project)).catalogue
        assert len(then.catalogue.requirements) == 3 and then.catalogue.problems == ()
        assert not tree.exists("../HEAD")


def test_a_real_project_is_read_from_git(shared: Path, tmp_path: Path) -> None:
    shutil.copytree(shared / "golden" / "h3-704b37a" / "project", tmp_path / "r")
    folder = history(tmp_path / "r", {})
    with tree_of(folder) as tree:
        then = Project(str(folder), tree=tree).catalogue
        assert then == Project(str(folder), Options(policy=Policy(offline=True))).catalogue
        assert len(then.requirements) > 200 and tree.taken == {}


def test_objects_that_a_partial_clone_lacks_are_not_fetched(tmp_path: Path) -> None:
    folder = history(tmp_path / "r", KETTLE)
    git(folder, "config", "uploadpack.allowFilter", "true")
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{folder}", "w")
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    with tree_of(tmp_path / "w") as tree:
        assert [name for name, _, _ in listed(tree, "")] == [".duvet", "spec.md", "src"]
        for _ in range(2):
            with pytest.raises(DuvetError, match="this clone lacks the object"):
                tree.read("spec.md")
        assert [name for name, _, _ in listed(tree, "src")] == ["a.rs"]
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


def is_running(pid: int) -> bool:
    """Return whether a process runs, which may not be a child of this one."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and "Z" not in stat.read_text().split()[2]


def test_nothing_is_left_running(checkout: Path) -> None:
    program = (
        "import os; from duvet.tree.files import DiskTree; from duvet.tree.git import GitRevisions\n"
        "revisions = GitRevisions(os.getcwd(), os.environ)\n"
        "opened = revisions.tree(revisions.find('HEAD'), DiskTree()); tree = opened.__enter__(); tree.read('a.rs')\n"
        "print(tree.objects._process.pid, flush=True); os.kill(os.getpid(), 9)\n"
    )
    command = [sys.executable, "-c", program]
    killed = subprocess.run(command, cwd=checkout, env={**ENVIRON}, stdout=subprocess.PIPE, text=True, check=False)
    assert killed.returncode == -9
    while is_running(int(killed.stdout)):
        os.sched_yield()
    with tree_of(checkout) as tree:
        tree.read("a.rs")
        process = tree.objects._process
        assert process is not None and process.poll() is None
    assert process.poll() is not None


def test_a_git_that_dies_is_started_again(checkout: Path) -> None:
    with tree_of(checkout) as tree:
        assert tree.read("a.rs") == b"a"
        process = tree.objects._process
        assert process is not None
        process.kill()
        process.wait()
        with pytest.raises(DuvetError, match="this clone lacks the object"):
            tree.read("crlf.rs")
        assert tree.lacks == ["sub/crlf.rs"]
        assert tree.read("crlf.rs") == b"one\r\ntwo\r\n"


def test_hostile_names_of_revisions(checkout: Path) -> None:
    hostile = "--all|--branches|--glob=refs/heads/main|--git-dir|-q|^main|main..main|HEAD:sub/a.rs|HEAD^{tree}||a\nb| "
    revisions = GitRevisions(str(checkout), ENVIRON)
    head = git(checkout, "rev-parse", "HEAD")
    assert [revisions.find(name) for name in ("main", "HEAD^{/change}", ":/change", "@", head[:10])] == [head] * 5
    assert [name for name in hostile.split("|") if revisions.find(name)] == []
    with pytest.raises(DuvetError, match="can't contain NUL characters"):
        revisions.find("a\0b")
    git(checkout, "update-ref", "refs/heads/--all", "HEAD")
    assert revisions.find("--all") == head


def test_variables_of_git(checkout: Path, tmp_path: Path) -> None:
    log, other = tmp_path / "log", history(tmp_path / "other", {"sub/x.rs": "x"})
    traces = {"GIT_TRACE": str(log), "GIT_TRACE2_EVENT": str(log), "GIT_TRACE_SETUP": str(log)}
    assert GitRevisions(str(checkout), {**ENVIRON, **traces}).find("HEAD")
    assert not log.exists()
    environ = {**ENVIRON, "GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(checkout.parent), "GIT_TRACE": "1"}
    revisions = GitRevisions(str(checkout), environ)
    commit = revisions.find("HEAD")
    assert commit is not None
    with revisions.tree(commit, DiskTree(str(checkout))) as tree:
        assert tree.read("x.rs") == b"x" and not tree.exists("a.rs")


def head(folder: Path) -> str | None:
    found = GitRepository(DiskTree(str(folder)), str(folder))
    top = found.top(found.start)
    return None if top is None else found.head(top)


def test_the_commit_of_a_branch(tmp_path: Path) -> None:
    folder = history(tmp_path / "a", {"deep/x": "1"})
    assert head(tmp_path) is None
    first = git(folder, "rev-parse", "HEAD")
    assert head(folder) == head(folder / "deep") == first
    assert commit(folder) == head(folder) != first
    git(folder, "branch", "other/main")
    git(folder, "tag", "--annotate", "--message=x", "v1")
    git(folder, "pack-refs", "--all", "--prune")
    assert not (folder / ".git/refs/heads/main").exists()
    assert head(folder) == git(folder, "rev-parse", "HEAD")
    assert commit(folder) == head(folder)
    git(folder, "checkout", "--quiet", "--detach")
    assert head(folder) == git(folder, "rev-parse", "HEAD")


def test_the_commit_of_other_working_trees(tmp_path: Path) -> None:
    folder = history(tmp_path / "a", {"x": "1"})
    git(folder, "worktree", "add", "--quiet", "-b", "further", "../b")
    other = commit(tmp_path / "b")
    assert head(tmp_path / "b") == other != head(folder)
    history(tmp_path / "c", {"y": "1"}, "--object-format=sha256")
    assert head(tmp_path / "c") == git(tmp_path / "c", "rev-parse", "HEAD")
    history(tmp_path / "d", {"y": "1"})
    git(folder, "submodule", "--quiet", "add", "../d", "inner")
    assert head(folder / "inner") == git(folder / "inner", "rev-parse", "HEAD") != head(folder)
    (tmp_path / "e").mkdir()
    git(tmp_path / "e", "init", "--quiet")
    assert head(tmp_path / "e") == ""


def test_repositories_that_can_not_be_read() -> None:
    for files in [
        *({}, {".git": b"nothing"}, {".git": b"gitdir: elsewhere\n"}, {".git/HEAD": b"\xff"}),
        *({".git/HEAD": b"ref: HEAD\n"}, {".git/HEAD": b"0123456\n"}),
        {".git/HEAD": b"ref: refs/heads/main\n", ".git/packed-refs": b"# pack-refs\nx refs/heads/main\n"},
    ]:
        assert GitRepository(MemoryTree(files), "/project").head("/project/") == ""

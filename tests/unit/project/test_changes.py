import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread, Timer

import pytest

from duvet import MemoryTree, Project
from duvet.errors import DuvetError, UnreadableError
from duvet.project.changes import ChangeWatcher, FollowedReading, WatchedPlaces
from duvet.tree.cache import DiskCache
from duvet.tree.file_events import MODIFIED_EVENT, FolderEvent
from duvet.tree.files import DiskTree
from duvet.tree.recorder import TreeRecord, make_file_stamp
from tests.cli.sample_project import CONFIG, KETTLE, SOURCE, make
from tests.edits import Edit, append, create, delete, link, move, save_by_rename, save_with_backup

Follow = Callable[..., "Following"]


class Following:
    def __init__(self, folder: Path, environ: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.changes = ChangeWatcher(environ)
        self.read()

    def read(self) -> None:
        self.changes.follow(self.project())

    def project(self) -> Project:
        root = "" if self.folder == Path() else str(self.folder)
        cache = DiskCache(DiskTree(root), {})
        project = Project(root, environ=cache.environ, tree=cache.tree, memory=cache)
        with suppress(DuvetError):
            assert project.trace
        cache.save()
        return project

    def next(self) -> tuple[str, ...] | None:
        timer = Timer(60, self.changes.stop)
        timer.start()
        try:
            return self.changes.wait()
        finally:
            timer.cancel()


@pytest.fixture
def kettle(tmp_path: Path) -> Path:
    make(tmp_path / "elsewhere", {"deep/x.rs": "", "y.rs": ""})
    return make(tmp_path / "kettle", {**KETTLE, "docs/notes.md": "", "node_modules/a/b/c.rs": ""})


@pytest.fixture
def follow(kettle: Path) -> Iterator[Follow]:
    followed: list[Following] = []

    def begin(environ: Mapping[str, str] | None = None) -> Following:
        followed.append(Following(kettle, environ))
        return followed[-1]

    yield begin
    for one in followed:
        one.changes.__exit__(None, None, None)


CHANGED = {
    "a file is edited": (append("src/a.rs"), {"src/a.rs"}),
    "a file is saved by renaming": (save_by_rename("src/a.rs", SOURCE), {"src/a.rs"}),
    "a file is saved with a backup": (save_with_backup("src/a.rs", SOURCE), {"src/a.rs"}),
    "a file is deleted": (delete("src/a.rs"), {"src/a.rs"}),
    "a file gets another name": (move("src/a.rs", "src/b.rs"), {"src/a.rs", "src/b.rs"}),
    "a file gets a name that nothing matches": (move("src/a.rs", "src/a.txt"), {"src/a.rs"}),
    "a file gets a name that something matches": (move("docs/notes.md", "src/notes.rs"), {"src/notes.rs"}),
    "a file is new": (create("src/b.rs"), {"src/b.rs"}),
    "a file is new in new folders": (create("src/one/two/three.rs"), {"src/one/two/three.rs"}),
    "a folder gets another name": (move("src", "code"), {"src/a.rs"}),
    "a folder is deleted": (delete("src"), {"src/a.rs"}),
    "a folder is moved in": (move("node_modules/a", "src/a"), {"src/a/b/c.rs"}),
    "the specification": (append("spec.md"), {"spec.md"}),
    "the configuration": (append(".duvet/config.toml"), {".duvet/config.toml"}),
    "the configuration is deleted": (delete(".duvet/config.toml"), {".duvet/config.toml"}),
    "the configuration is moved away": (move(".duvet", "away"), {".duvet/config.toml"}),
    "a list of what is to do": (create(".duvet/todos/a.toml", "target = 'spec.md'\n"), {".duvet/todos/a.toml"}),
}


@pytest.mark.parametrize("at_work", [False, True], ids=["between runs", "while a run is at work"])
@pytest.mark.parametrize(("edit", "changed"), CHANGED.values(), ids=CHANGED)
def test_changes_are_noticed(edit: Edit, changed: set[str], at_work: bool, kettle: Path, follow: Follow) -> None:
    following = follow()
    project = following.project() if at_work else None
    edit(kettle)
    if project:
        following.changes.follow(project)
    assert following.next() == tuple(sorted(changed))


def test_irrelevant_events_are_no_changes(kettle: Path, follow: Follow) -> None:
    following = follow()
    for edit in {
        "a file of the editor": create("src/.a.rs.swp"),
        "an empty folder": lambda folder: (folder / "src" / "empty").mkdir(),
        "a file that nothing matches": create("src/notes.txt"),
        "a file at the top": create("README.md"),
        "a file in the cache": create(".duvet/cache/new.rs"),
        "a file that is not watched": append("docs/notes.md"),
    }.values():
        edit(kettle)
    append("spec.md")(kettle)
    assert following.next() == ("spec.md",)


def notice(following: Following, *steps: tuple[Edit, tuple[str, ...]]) -> None:
    for edit, changed in steps:
        edit(following.folder)
        assert following.next() == changed
        following.read()


def test_changes_outside_the_project_are_noticed(kettle: Path, follow: Follow) -> None:
    absolute = f"{kettle.parent}/more/coffee.md"
    names = "../specs/new/tea.md", absolute
    make(kettle, {".duvet/config.toml": CONFIG + "".join(f"[[specification]]\nsource = '{name}'\n" for name in names)})
    notice(
        follow(),
        (create("../specs/new/tea.md", "# Tea\n"), ("../specs/new/tea.md",)),
        (move("../specs", "../away"), ("../specs/new/tea.md",)),
        (move("../away", "../specs"), ("../specs/new/tea.md",)),
        (save_by_rename("../specs/new/tea.md", "# Tea\n\nIt MUST be hot.\n"), ("../specs/new/tea.md",)),
        (delete("../specs"), ("../specs/new/tea.md",)),
        (create("../more/coffee.md", "# Coffee\n"), (absolute,)),
        (append("../more/coffee.md"), (absolute,)),
    )


def test_changes_behind_links_and_to_unreadable_files_are_noticed(kettle: Path, follow: Follow) -> None:
    make(kettle.parent / "other", {"y.rs": "// other\n", "z.rs": ""})
    for name, target in (("x.rs", "deep/x.rs"), ("more", ""), ("gone.rs", "none.txt")):
        link(f"src/{name}", f"../../elsewhere/{target}")(kettle)
    (kettle / "src" / "b.rs").mkdir()
    folder = tuple(f"src/more{name}" for name in ("", "/deep", "/deep/x.rs", "/y.rs", "/z.rs"))
    notice(
        follow(),
        (append("../elsewhere/y.rs"), ("src/more/y.rs",)),
        (append("../elsewhere/deep/x.rs"), ("src/more/deep/x.rs", "src/x.rs")),
        (link("src/more", "../../other"), folder),
        (create("../elsewhere/none.txt"), ("src/gone.rs",)),
    )
    (kettle / "src" / "b.rs").rmdir()
    following = follow()
    create("src/b.rs")(kettle)
    assert following.next() == ("src/b.rs",)


def test_changes_to_ignored_files_are_skipped(kettle: Path, follow: Follow) -> None:
    config = CONFIG.replace("https://awslabs.github.io/duvet/config/v0.4.json", "duvet-cli/config/v1")
    config = config.replace("pattern =", "gitignore = true\npattern =")
    make(kettle, {".duvet/config.toml": config, ".gitignore": "generated\n", "src/generated/b.rs": ""})
    following = follow()
    append("src/generated/b.rs")(kettle)
    create("src/generated/c.rs")(kettle)
    notice(following, (append(".gitignore", "a.rs\n"), (".gitignore",)))


def test_changes_in_new_folders_are_noticed(follow: Follow) -> None:
    names = [f"src/{count}/{count}/a.rs" for count in range(10)]
    notice(follow(), *((create(name), (name,)) for name in names))


def test_a_new_folder_is_watched(kettle: Path) -> None:
    reading = FollowedReading(Following(kettle).project(), None)
    events: list[list[FolderEvent]] = [[], [(ADDED, f"{kettle}/src/two")]]
    for name, found in zip(("one", "two"), events, strict=True):
        (kettle / "src" / name).mkdir()
        assert (reading.find_changes(found) if found else reading.find_all_changes()) == set()
        assert f"src/{name}" in {os.path.relpath(folder, kettle) for folder in reading.folders}


def test_a_folder_that_replaces_another_is_watched(follow: Follow) -> None:
    def replace_folder(folder: Path) -> None:
        (folder / "src").rename(folder.parent / "old")
        shutil.copytree(folder.parent / "old", folder / "src")

    notice(follow(), (replace_folder, ("src/a.rs",)), (append("src/a.rs"), ("src/a.rs",)))


def test_one_change_of_many_files(kettle: Path, follow: Follow) -> None:
    names = [f"src/{count:03}.rs" for count in range(300)]
    following = follow()
    for name in names:
        create(name)(kettle)
    noticed: set[str] = set()
    while len(noticed) < len(names):
        noticed.update(following.next() or ())
        following.read()
    assert sorted(noticed) == names


@pytest.mark.skipif(sys.platform != "linux", reason="names that are not UTF-8")
def test_a_changed_file_whose_name_is_not_utf_8_is_noticed(kettle: Path, follow: Follow) -> None:
    following = follow()
    (kettle / "src" / os.fsdecode(b"\xff.txt")).touch()
    notice(following, *[(append("src/a.rs"), ("src/a.rs",))] * 2)


def test_a_removed_project_is_reported(follow: Follow) -> None:
    notice(
        follow(),
        (move("", "../away"), (".", ".duvet/config.toml", "spec.md", "src/a.rs")),
        (lambda folder: folder.with_name("away").rename(folder), (".",)),
        (append("src/a.rs"), ("src/a.rs",)),
    )


def test_a_removed_working_directory_is_reported(kettle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(kettle)
    following = Following(Path())
    delete("")(kettle)
    with pytest.raises(UnreadableError, match="the folder no longer exists"):
        following.next()
    following.changes.__exit__(None, None, None)


def test_changes_are_noticed_by_polling(follow: Follow) -> None:
    following = follow({"WATCHFILES_FORCE_POLLING": "true", "WATCHFILES_POLL_DELAY_MS": "10"})
    notice(following, (append("src/a.rs"), ("src/a.rs",)))


def test_a_watcher_can_be_stopped(follow: Follow) -> None:
    changes = follow().changes
    heard: list[object] = []
    thread = Thread(target=lambda: heard.append(changes.wait()))
    thread.start()
    changes.stop()
    thread.join(60)
    assert heard == [None]


def test_only_a_project_on_disk_can_be_watched() -> None:
    files = {name: text.encode() for name, text in KETTLE.items()}
    with ChangeWatcher() as changes, pytest.raises(TypeError):
        changes.follow(Project(tree=MemoryTree(files)))


ADDED = 1


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make(tmp_path, {"project/src/a.rs": "", "project/docs/old/spec.md": "", "specs/spec.md": "", "other/b.rs": ""})
    (tmp_path / "project" / "link").symlink_to("../other")
    (tmp_path / "project" / "b.rs").symlink_to("../other/b.rs")
    return tmp_path / "project"


def places(root: Path, *absent: str) -> WatchedPlaces:
    return WatchedPlaces(TreeRecord(absent=dict.fromkeys(absent)), DiskTree(str(root)))


def test_the_folders_of_paths_are_watched(root: Path) -> None:
    for path, expected in {
        "src/a.rs": {"", "src"},
        "docs/new/spec.md": {"", "docs"},
        "docs/old/spec.md": {"", "docs", "docs/old"},
        "../specs/spec.md": {"", "..", "../specs"},
        "link/b.rs": {"", "../other"},
        "b.rs": {"", "../other"},
    }.items():
        assert places(root, path).folders == {str((root / name).resolve()) for name in expected}
    # Folders around the project are watched as far down as both are in.
    path = f"{root.parent}/specs/spec.md"
    assert places(root, path).folders == {str(root), str(root.parent), f"{root.parent}/specs"}
    found = places(root, "docs/new/spec.md")
    assert not found.has_grown()
    (root / "docs" / "new").mkdir()
    assert found.has_grown()
    assert not places(root, "docs/new/spec.md").has_grown()


def test_events_touch_recorded_paths(root: Path) -> None:
    disk = DiskTree(str(root))
    listed = {"src": make_file_stamp(disk.status("src"))}
    watched = WatchedPlaces(TreeRecord(folders=listed, absent=dict.fromkeys(("src/a.rs", "link/b.rs", "b.rs"))), disk)
    for name, ((kind, path), expected) in {
        "a file": ((MODIFIED_EVENT, "project/src/a.rs"), ({"src/a.rs"}, False)),
        "another file": ((ADDED, "project/src/b.rs"), ({"src/b.rs"}, True)),
        "a file where no name was listed": ((ADDED, "project/other.md"), ({"other.md"}, False)),
        "a file behind a link": ((MODIFIED_EVENT, "other/b.rs"), ({"b.rs", "link/b.rs"}, False)),
        "a folder around": ((ADDED, "project/src"), None),
        "a folder that a link leads to": ((ADDED, "other"), None),
        "a link to a folder": ((ADDED, "project/link"), None),
        "a folder elsewhere": ((ADDED, "elsewhere"), (set(), False)),
    }.items():
        assert watched.find_touched([(kind, f"{root.parent}/{path}")]) == expected, name

"""An edit is in the next answer, and while there is none, nothing is looked at."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from duvet import Project
from duvet.server.live_project import LiveProject
from duvet.server.staleness import ChangeDetector, open_descriptor
from duvet.tree.cache import DiskCache
from duvet.tree.file_events import Mount, MountTable
from duvet.tree.files import DiskTree
from tests.cli.made import CONFIG, KETTLE, SOURCE, SPECIFICATION, make
from tests.unit.server.opened import PAGE_SIZE, living, opened, read
from tests.unit.watching.edits import Edit, append, create, delete, link, move, save_by_rename, save_with_backup

pytestmark = pytest.mark.anyio
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify")

TWO = SOURCE + "\n//= spec.md#pouring\n//# The spout MAY drip.\n"
SAME_SIZE = SOURCE.replace("//= spec.md#heating", "//= spec.md#pouring")


@pytest.fixture
def kettle(tmp_path: Path) -> Path:
    make(tmp_path / "elsewhere", {"x.rs": TWO})
    return make(tmp_path / "kettle", {**KETTLE, "docs/notes.md": "", "more/src/b.rs": TWO})


def checked_out(folder: Path) -> None:
    """What git does when another branch is checked out."""
    for count in range(50):
        create(f"src/deep{count % 7}/{count}.rs", TWO)(folder)
    delete("src/a.rs")(folder)
    save_by_rename("spec.md", SPECIFICATION.replace("Pouring", "Spilling"))(folder)


EDITS = {
    "a source is edited": append("src/a.rs", TWO),
    "a source is saved by renaming": save_by_rename("src/a.rs", TWO),
    "a source is saved with a backup": save_with_backup("src/a.rs", TWO),
    "a source is as long as before": lambda folder: (folder / "src" / "a.rs").write_text(SAME_SIZE),
    "a source is new": create("src/b.rs", TWO),
    "a source is new in new folders": create("src/one/two/three.rs", TWO),
    "a source is deleted": delete("src/a.rs"),
    "a source is renamed": move("src/a.rs", "src/b.rs"),
    "a source is behind a link": link("src/x.rs", "../../elsewhere/x.rs"),
    "a folder is moved in": move("more/src", "src/more"),
    "a folder is moved away": move("src", "docs/src"),
    "the specification": save_by_rename("spec.md", SPECIFICATION.replace("MAY", "MUST")),
    "the specification is deleted": delete("spec.md"),
    "the configuration": save_by_rename(".duvet/config.toml", CONFIG.replace("src/**", "more/**")),
    "the configuration is deleted": delete(".duvet/config.toml"),
    "another branch": checked_out,
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
async def test_an_edit_is_in_the_next_answer(edit: Edit, kettle: Path) -> None:
    ##= man/spec/mcp.md#freshness
    ##= type=test
    ##% An answer MUST describe one state of the project, with everything that was written to disk before the request.
    async with living(kettle) as live:
        before = (await live.context()).catalogue
        edit(kettle)
        assert (await live.context()).catalogue == read(kettle) != before


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
async def test_an_edit_is_in_the_next_answer_where_the_system_does_not_tell(edit: Edit, kettle: Path) -> None:
    async with living(kettle) as live:
        live.close()
        before = (await live.context()).catalogue
        edit(kettle)
        assert (await live.context()).catalogue == read(kettle) != before


async def test_edit_after_edit(kettle: Path) -> None:
    """Each of them within the same tick of the clock of the disk, more often than not."""
    async with living(kettle) as live:
        for count in range(30):
            text = SOURCE.replace("boil", ("boil", "cook", "heat")[count % 3])
            (kettle / "src" / "a.rs").write_text(text)
            assert (await live.context()).catalogue == read(kettle)


@on_linux
async def test_nothing_is_looked_at_while_nothing_changes(kettle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ##= man/spec/mcp.md#freshness
    ##= type=test
    ##% The server MUST rely on the system's notifications of changes, and look for changes itself only where they are
    ##% missing or unreliable, as on network file systems.
    def refused(*args: object, **options: object) -> None:
        raise AssertionError("the disk was asked")

    async with living(kettle) as live:
        context = await live.context()
        with monkeypatch.context() as patched:
            for name in ("stat", "lstat", "open", "scandir", "listdir"):
                patched.setattr(os, name, refused)
            assert await live.context() is context


NOTHING = {
    "a file of the editor": create("src/.a.rs.swp"),
    "an empty folder": lambda folder: (folder / "src" / "empty").mkdir(),
    "a file that nothing matches": create("src/notes.txt"),
    "a file at the top": create("README.md"),
    "the same again": save_by_rename("docs/notes.md", "other"),
}


@pytest.mark.parametrize("edit", NOTHING.values(), ids=NOTHING)
async def test_what_does_not_matter_is_not_read_again(edit: Edit, kettle: Path) -> None:
    async with living(kettle) as live:
        context = await live.context()
        edit(kettle)
        assert await live.context() is context


async def test_what_the_server_keeps_is_no_change(kettle: Path) -> None:
    caches: list[DiskCache] = []

    def open_project() -> Project:
        caches.append(DiskCache(DiskTree(str(kettle)), {}))
        return Project(str(kettle), tree=caches[-1].tree, memory=caches[-1])

    async with living(kettle, open_project) as live:
        context = await live.context()
        caches[0].store("catalogue", "", context.catalogue)
        caches[0].save()
        assert (kettle / ".duvet" / "cache" / "catalogue").exists()
        assert await live.context() is context
    assert len(caches) == 1


@on_linux
async def test_a_file_that_is_written_to_by_another_name(kettle: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.rs"
    os.link(kettle / "src" / "a.rs", other)
    async with living(kettle) as live:
        assert (await live.context()).catalogue == read(kettle)
        for text in (TWO, SOURCE, SAME_SIZE):
            other.write_text(text)
            assert (await live.context()).catalogue == read(kettle)
            assert await live.context() is await live.context()


@on_linux
async def test_a_file_system_that_others_write_to(kettle: Path, tmp_path: Path) -> None:
    for kind, handles in (("ext4", True), ("nfs4", False)):
        doubt = ChangeDetector(
            open_descriptor({}), MountTable([Mount("/", "ext4"), Mount(str(tmp_path.resolve()), kind)])
        )
        live = LiveProject(lambda: opened(kettle), PAGE_SIZE, detector=doubt)
        try:
            before = (await live.context()).catalogue
            assert (doubt.handle is not None, doubt.is_silent()) == (handles, handles)
            append("src/a.rs", TWO)(kettle)
            assert (await live.context()).catalogue == read(kettle) != before
        finally:
            live.close()

"""What is installed leaves signs."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from duvet.tools.plugins import find_entry_point_stamps
from tests.unit.tools.installed import install_made


def test_what_declares_entry_points(site: Path) -> None:
    path = [str(site), str(site.parent / "missing"), str(site)]
    assert find_entry_point_stamps(path) == ()
    install_made(site, "warm", "")
    (site / "bare-1.dist-info").mkdir()
    file = site / "warm_pack-1.dist-info" / "entry_points.txt"
    os.utime(file, ns=(5, 5))
    assert find_entry_point_stamps(path) == (f"{file} {file.stat().st_size} 5",)
    file.write_text("[duvet.tool_packs]\n")
    os.utime(file, ns=(6, 6))
    assert find_entry_point_stamps(path) == (f"{file} 19 6",)


def test_an_archive_changes_as_a_whole(tmp_path: Path) -> None:
    archive = tmp_path / "packs.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("x-1.dist-info/entry_points.txt", "")
    os.utime(archive, ns=(5, 5))
    assert find_entry_point_stamps([str(archive)]) == (f"{archive} {archive.stat().st_size} 5",)


def test_the_working_directory_is_a_folder_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_made(tmp_path, "warm", "")
    monkeypatch.chdir(tmp_path)
    (mark,) = find_entry_point_stamps([""])
    assert mark.startswith("./warm_pack-1.dist-info/entry_points.txt ")

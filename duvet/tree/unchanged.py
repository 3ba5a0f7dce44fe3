"""Whether a tree would answer today as it is on record."""

from __future__ import annotations

import os

from duvet.errors import UnreadableError
from duvet.tree.disk import DiskTree
from duvet.tree.record import Record, listing
from duvet.tree.recorded import RecordedTree
from duvet.tree.seen import Seen, digest, is_fresh, marks


def unchanged(record: Record, tree: RecordedTree) -> Record | None:
    """The record, less the digests that are needed no more, if every answer is the same; variables are not asked."""
    disk = tree.disk
    files = _same_files(record.files, tree)
    folders = None if files is None else _same_folders(record.folders, tree)
    if files is None or folders is None or not record.settled or not _same_facts(record, disk):
        return None
    if files is record.files and folders is record.folders:
        return record
    return Record(
        files,
        folders,
        record.absent,
        record.regular,
        record.present,
        record.links,
        record.identities,
        record.variables,
    )


def _same_files(files: dict[str, Seen], tree: RecordedTree) -> dict[str, Seen] | None:
    renewed: dict[str, Seen] = {}
    at, compared = tree.disk.at, tree.compared
    stat = os.stat
    try:
        for path, seen in files.items():
            if seen.digest:
                found = compared(path, seen)
                if found is None:
                    return None
                if not found.digest:
                    renewed[path] = found
            elif not seen.looks_like(stat(at(path))):
                return None
    except (OSError, ValueError):
        return None
    return {**files, **renewed} if renewed else files


def _same_folders(folders: dict[str, Seen], tree: RecordedTree) -> dict[str, Seen] | None:
    renewed: dict[str, Seen] = {}
    for path, seen in folders.items():
        try:
            info = tree.disk.marks(path)
            if not seen.looks_like(info):
                return None
            if seen.digest:
                if digest(listing(tree.disk.entries(path))) != seen.digest:
                    return None
                if not is_fresh(info, tree.now):
                    renewed[path] = marks(info)
        except UnreadableError:
            return None
    return {**folders, **renewed} if renewed else folders


def _same_facts(record: Record, disk: DiskTree) -> bool:
    return (
        not any(_is_there(disk, path) for path in record.absent)
        and all(disk.is_file(path) == answer for path, answer in record.regular.items())
        and all(disk.exists(path) == answer for path, answer in record.present.items())
        and all(os.path.isdir(disk.at(path)) == answer for path, answer in record.links.items())
        and all(_identity(disk, path) == answer for path, answer in record.identities.items())
    )


def _is_there(disk: DiskTree, path: str) -> bool:
    """Anything but a plain absence; a fault may hide a file."""
    try:
        disk.marks(path)
    except UnreadableError as error:
        return not isinstance(error.__cause__, (FileNotFoundError, NotADirectoryError))
    return True


def _identity(disk: DiskTree, path: str) -> object:
    try:
        return disk.identity(path)
    except UnreadableError:
        return None

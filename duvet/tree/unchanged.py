"""Whether a tree would answer today as it is on record."""

from __future__ import annotations

import os
from collections.abc import Iterator

from duvet.errors import UnreadableError
from duvet.tree.disk import DiskTree, fault
from duvet.tree.record import Record, listing
from duvet.tree.recorded import RecordedTree
from duvet.tree.seen import Seen, digest, is_fresh, marks


def unchanged(record: Record, tree: RecordedTree) -> Record | None:
    """The record, less the digests that are needed no more, if every answer is the same; variables are not asked."""
    disk = tree.disk
    files = _same_files(record.files, tree)
    folders = None if files is None else _same_folders(record.folders, tree)
    if files is None or folders is None or not record.settled or _says_otherwise(record, disk):
        return None
    if files is record.files and folders is record.folders:
        return record
    return Record(
        files,
        folders,
        record.absent,
        record.unlisted,
        record.regular,
        record.present,
        record.links,
        record.identities,
        record.variables,
        record.days,
    )


def _says_otherwise(record: Record, disk: DiskTree) -> bool:
    return any(_is_there(disk, path) for path in record.unlisted) or any(True for _ in _other_facts(record, disk))


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
        found = _folder_compared(path, seen, tree)
        if found is None:
            return None
        if found is not seen:
            renewed[path] = found
    return {**folders, **renewed} if renewed else folders


def _folder_compared(path: str, seen: Seen, tree: RecordedTree) -> Seen | None:
    """The marks of a folder that holds what it held when it looked like that; None for any other."""
    try:
        info = tree.disk.marks(path)
        if not seen.looks_like(info):
            return None
        if seen.digest and digest(listing(tree.disk.entries(path))) != seen.digest:
            return None
    except UnreadableError:
        return None
    return marks(info) if seen.digest and not is_fresh(info, tree.now) else seen


def altered(record: Record, tree: RecordedTree) -> Iterator[str]:
    """The paths that the tree would say something else about; what folders hold is not asked, nor are variables."""
    yield from (path for path, seen in record.files.items() if tree.compared(path, seen) is None)
    yield from record.unsteady
    yield from _other_facts(record, tree.disk)


def refilled(record: Record, tree: RecordedTree) -> Iterator[str]:
    """The folders that may hold something else than they did."""
    yield from (path for path in record.unlisted if _is_there(tree.disk, path))
    yield from (path for path, seen in record.folders.items() if _folder_compared(path, seen, tree) is None)


def _other_facts(record: Record, disk: DiskTree) -> Iterator[str]:
    yield from (path for path in record.absent if _is_there(disk, path))
    yield from (path for path, answer in record.regular.items() if disk.is_file(path) != answer)
    yield from (path for path, answer in record.present.items() if disk.exists(path) != answer)
    yield from (path for path, answer in record.links.items() if os.path.isdir(disk.at(path)) != answer)
    yield from (path for path, answer in record.identities.items() if _identity(disk, path) != answer)
    yield from (path for path, answer in record.faults.items() if fault(disk, path) != answer)


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

"""Which file systems folders are on: some don't tell of what others do to them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from msgspec import Struct

_BLIND = re.compile(
    r"(nfs\d?|9p|fuse.*|virtiofs|cifs|smb.*|vboxsf|vmhgfs|prl_fs|drvfs|ceph|afs|lustre|beegfs|ocfs2|gfs2?)\Z"
)
"""Others than this machine write there, or this machine past the system that we ask."""
_LAYERS = re.compile(r"(?:\A|,)(?:lowerdir|upperdir)\+?=((?:\\.|[^,])*)")
_ESCAPED = re.compile(r"\\(0[0-7]{2}|1[0-7]{2})")
_MOUNTED = "/proc/self/mountinfo"


class Mount(Struct, frozen=True):
    """A file system, and where it begins."""

    folder: str
    kind: str
    options: str = ""


class Mounts:
    """All that are mounted."""

    def __init__(self, mounts: Iterable[Mount] = ()) -> None:
        # What was mounted last hides what was there before.
        self._mounts = {mount.folder: mount for mount in mounts}

    def are_blind(self, folders: Iterable[str]) -> bool:
        """Whether changes in one of these real folders may be made without being told of."""
        found = {mount.folder: mount for mount in map(self._mount_of, folders) if mount}
        return any(map(self._is_blind, found.values()))

    def _is_blind(self, mount: Mount) -> bool:
        if mount.kind != "overlay":
            return bool(_BLIND.match(mount.kind))
        layers = [layer for listed in _LAYERS.findall(mount.options) for layer in listed.split(":")]
        below = [self._mount_of(_plain(layer)) for layer in layers]
        return any(_BLIND.match(one.kind) for one in below if one)

    def _mount_of(self, folder: str) -> Mount | None:
        path = PurePosixPath(folder)
        return next((self._mounts[str(one)] for one in (path, *path.parents) if str(one) in self._mounts), None)


def mounts_in(table: str) -> Mounts:
    """What a table of the system says."""
    return Mounts(_mounts(table))


def _mounts(table: str) -> Iterable[Mount]:
    for line in table.splitlines():
        place, _, kind = line.partition(" - ")
        places, kinds = place.split(" "), kind.split(" ")
        if len(places) > 4 and len(kinds) > 2:
            yield Mount(_plain(places[4]), kinds[0], kinds[2])


def _plain(written: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), written)


def mounts() -> Mounts:
    """Those of this process; none where the system has no such table."""
    try:
        with open(_MOUNTED, encoding="utf-8", errors="surrogateescape") as table:
            return mounts_in(table.read())
    except OSError:
        return Mounts()

"""File systems on which others write, too."""

from __future__ import annotations

import pytest

from duvet.tree.file_events import parse_mounts, read_mounts

TABLE = r"""
22 1 254:1 / / rw,relatime - ext4 /dev/root rw
23 22 0:21 / /proc rw - proc proc rw
40 22 0:50 / /net rw,relatime shared:5 - nfs4 server:/all rw,vers=4.2
41 40 254:2 / /net/local rw - ext4 /dev/b rw
42 22 0:51 / /with\040space\134 rw - fuse.sshfs host:/ rw
43 22 0:52 / /layers rw - overlay overlay rw,lowerdir=/usr:/net/images\054a,upperdir=/var/u,workdir=/var/w
44 22 0:53 / /local-layers rw - overlay overlay rw,lowerdir=/usr,upperdir=/var/u,workdir=/net/w
45 22 0:54 / /twice rw - 9p share rw
46 22 254:3 / /twice rw - xfs /dev/c rw
a line that is none
47 22
"""
BLIND = {
    "/": False,
    "/home/me/project": False,
    "/netting": False,
    "/net": True,
    "/net/deep/down": True,
    "/net/local/project": False,
    "/with space\\/a": True,
    "/layers/a": True,
    "/local-layers/a": False,
    "/twice/a": False,
}


@pytest.mark.parametrize(("folder", "blind"), BLIND.items())
def test_folders(folder: str, blind: bool) -> None:
    assert parse_mounts(TABLE).are_blind([folder]) is blind


def test_one_is_enough() -> None:
    assert parse_mounts(TABLE).are_blind(["/", "/net/a", "/usr"])


def test_nothing_is_known() -> None:
    assert not parse_mounts("").are_blind(["/", ""])


def test_the_table_of_this_system_is_read() -> None:
    assert isinstance(read_mounts().are_blind(["/proc/self"]), bool)

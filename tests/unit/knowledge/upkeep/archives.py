"""Archives that are made by hand."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

from blake3 import blake3
from msgspec import json

from duvet.store.database import SCHEMA_VERSION


def member(
    name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname = kind, len(data), link
    return info, data


def manifest(files: dict[str, bytes], **more: Any) -> tuple[tarfile.TarInfo, bytes]:
    entries = {name: {"size": len(data), "digest": blake3(data).hexdigest()} for name, data in files.items()}
    told = {
        "format": 1,
        "duvet": "1",
        "schema": SCHEMA_VERSION,
        "revision": "r",
        "created_at": "t",
        "files": entries,
        **more,
    }
    return member("manifest.json", json.encode(told))


def members(path: str) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        found = {}
        for member in archive:
            file = archive.extractfile(member)
            assert file is not None
            found[member.name] = file.read()
        return found


def packed(path: Path, parts: list[tuple[tarfile.TarInfo, bytes]]) -> str:
    with tarfile.open(path, "w:gz") as archive:
        for info, data in parts:
            archive.addfile(info, io.BytesIO(data))
    return str(path)


STORE = b"no store at all" * 99
GOOD = manifest({"store.db": STORE})
ESCAPES = ("/etc/passwd", "../store.db", "reports/../../x", "store.db/x", "C:\\x", "\\\\host\\x", "")
LINKS = {"link": tarfile.SYMTYPE, "hard link": tarfile.LNKTYPE}
DEVICES = {"device": tarfile.CHRTYPE, "block": tarfile.BLKTYPE, "pipe": tarfile.FIFOTYPE, "folder": tarfile.DIRTYPE}
HOSTILE: dict[str, list[tuple[tarfile.TarInfo, bytes]]] = {
    "empty": [],
    "no manifest": [member("store.db", STORE)],
    "nothing but a manifest": [GOOD],
    "a manifest that is a link": [member("manifest.json", kind=tarfile.SYMTYPE, link="/etc/passwd")],
    "no JSON": [member("manifest.json", b"{")],
    "another format": [manifest({"store.db": STORE}, format=2), member("store.db", STORE)],
    "a manifest of everything": [manifest({"store.db": STORE, "../x": b""}), member("store.db", STORE)],
    "neither a store nor feedback": [manifest({})],
    "a further header": [member("x", b"10 path=x\n", tarfile.XHDTYPE), GOOD, member("store.db", STORE)],
    "a further header for all": [member("x", b"10 path=x\n", tarfile.XGLTYPE), GOOD, member("store.db", STORE)],
    "a long name": [member("x", b"manifest.json\0", tarfile.GNUTYPE_LONGNAME), GOOD, member("store.db", STORE)],
    "another store": [GOOD, member("store.db", STORE[::-1])],
    "a shorter store": [GOOD, member("store.db", STORE[1:])],
    "twice": [GOOD, member("store.db", STORE), member("store.db", STORE)],
    "no store of duvet": [GOOD, member("store.db", STORE)],
    **{f"escape {name}": [GOOD, member("store.db", STORE), member(name, b"x")] for name in ESCAPES},
    **{f"a {name}": [GOOD, member("store.db", kind=kind, link="/etc/passwd")] for name, kind in LINKS.items()},
    **{f"a {name}": [GOOD, member("store.db", kind=kind)] for name, kind in DEVICES.items()},
}

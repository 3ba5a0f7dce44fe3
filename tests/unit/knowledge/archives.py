import io
import tarfile
from pathlib import Path
from typing import Any

from blake3 import blake3
from msgspec import json

from duvet.store.database import SCHEMA_VERSION

Member = tuple[tarfile.TarInfo, bytes]


def member(name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = "") -> Member:
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname = kind, len(data), link
    return info, data


def manifest(files: dict[str, bytes], **more: Any) -> Member:
    entries = {name: {"size": len(data), "digest": blake3(data).hexdigest()} for name, data in files.items()}
    fields = {"duvet": "1", "schema": SCHEMA_VERSION, "revision": "r", "created_at": "t", "files": entries}
    return member("manifest.json", json.encode({"format": 1, **fields, **more}))


def members(path: str) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        found = {}
        for member in archive:
            file = archive.extractfile(member)
            assert file is not None
            found[member.name] = file.read()
        return found


def packed(path: Path, parts: list[Member]) -> str:
    with tarfile.open(path, "w:gz") as archive:
        for info, data in parts:
            archive.addfile(info, io.BytesIO(data))
    return str(path)

"""Where the requirements extracted from a specification are written."""

from __future__ import annotations

import posixpath
import re

from duvet.specs.urls import without_extension
from duvet.text import path_parts

_FIXED = ("/", ".", "..")
# What leads to another folder, and what no file name should hold or can.
_NAMELESS = re.compile(r"[/\x00-\x1f\x7f]")
# File systems take names of 255 bytes, and a whole paragraph is a title where a line of hyphens follows it.
_LONGEST, _KEPT = 240, 50


def requirements_folder(source: str, out: str, downloads: str = "") -> str:
    """The folder below `out` for the requirements of the specification in the file `source`.

    It repeats the path of the source: from the folder of downloads, where a configuration has one and the source is in
    it, else from `out`, where the source is in that, else from the root or the working directory.
    """
    parts = path_parts(source)
    kept = _below(parts, downloads) or _below(parts, out) or [part for part in parts if part not in _FIXED]
    return posixpath.join(out, without_extension("/".join(kept)))


def requirements_file(folder: str, section: str, extension: str = "toml") -> str:
    """The file in that folder for a section; an id never names another folder."""
    ##= man/spec/trace.md#requirements
    ##% A requirement file MUST be written below the folder for its specification, whatever its section is called.
    name = _NAMELESS.sub(lambda found: f"%{ord(found[0]):02X}", section)
    if len(name.encode()) > _LONGEST:
        from blake3 import blake3

        name = f"{name[:_KEPT]}-{blake3(section.encode()).hexdigest(6)}"
    return posixpath.join(folder, f"{name}.{extension}")


def _below(parts: list[str], folder: str) -> list[str]:
    start = path_parts(folder)
    return parts[len(start) :] if start and parts[: len(start)] == start else []

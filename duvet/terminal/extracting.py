"""One run of `duvet extract`."""

from __future__ import annotations

import os
import posixpath

from duvet.errors import DuvetError
from duvet.model import Format
from duvet.project import Project
from duvet.specs.extraction import EXTENSIONS, extract_one
from duvet.specs.resolve import locate
from duvet.terminal.failures import report
from duvet.terminal.requirement_writing import write_requirements
from duvet.text import quoted

_FORMATS = {"auto": Format.AUTO, "ietf": Format.IETF, "markdown": Format.MARKDOWN, "md": Format.MARKDOWN}


def run_extract(project: Project, target: str, written: str, extension: str, out: str, *, prune: bool) -> None:
    """Write the requirements of a specification below a folder."""
    if extension not in EXTENSIONS:
        raise DuvetError(f"unsupported extraction type: {quoted(extension)}", hint="`toml` and `rs` are supported")
    target, out = (name.replace(os.sep, "/") for name in (target, out))
    if posixpath.splitext(out)[1]:
        raise DuvetError(f"single file extraction not supported, got {out}", hint="name a folder")
    project.progress.begin(f"Extracting requirements from {target}")
    specification = project.library.load(locate(target, _FORMATS[written.lower()]))
    downloads = project.downloads if project.config else ""
    extraction, count = extract_one(specification, out, downloads, project.root, extension)
    report(write_requirements(project, extraction, prune=prune))
    project.progress.end(f"Extracted {count} requirements across {len(extraction.files)} sections")

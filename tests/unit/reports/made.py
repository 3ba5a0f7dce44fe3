"""Finished traces of small projects that are held in memory."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from io import BytesIO

from duvet.project.project import Project
from duvet.reports import json_v2
from duvet.trace.records import Finished
from duvet.tree.files import MemoryTree

CONFIG = """\
'$schema' = "https://awslabs.github.io/duvet/config/v0.4.0.json"

[[source]]
pattern = "src/**/*.rs"

[[requirement]]
pattern = "more/*.toml"

[[specification]]
source = "tea.md"
"""
TEA = """\
# Tea

## Pot

The pot MUST be warm. It SHOULD
be round.

## Cup

A cup MAY be ☕ or not be ☕ blue.
"""
COMMENTS = """\
//= tea.md#pot
//# The pot MUST be warm.

//= tea.md#pot
//= type=test
//# The pot MUST
//# be warm. It

//= tea.md#pot
//= type=implication
//= reason=clay
//= format=markdown
//# It SHOULD be round.

//= tea.md#cup
//= type=exception
//= reason=all are "white"
//# A cup MAY be

//= tea.md#cup
//= type=todo
//= feature=paint
//= tracking-issue=7
//= level=MUST
"""
MORE = """\
target = "tea.md#cup"

[[todo]]
quote = "or not be"
tags = ["b", "a"]
reason = "hue"
"""
FILES = {".duvet/config.toml": CONFIG, "tea.md": TEA, "src/a.rs": COMMENTS, "more/b.toml": MORE}


def project(files: Mapping[str, str] = FILES, today: date | None = None) -> Project:
    """A project of these files on that day."""
    tree = MemoryTree({path: text.encode() for path, text in files.items()})
    return Project("/w", tree=tree, today=today)


def finished(files: Mapping[str, str] = FILES, blob_link: str | None = None, issue_link: str | None = None) -> Finished:
    """All that can be reported of these files."""
    return project(files).finished(blob_link, issue_link)


def json_v2_of(report: Finished) -> bytes:
    """The report in upstream's second JSON format."""
    out = BytesIO()
    json_v2.render_json_v2(report, out)
    return out.getvalue()

"""Projects in memory: with each type of annotation, with each state, and with `[[not-applicable]]` entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from io import BytesIO
from typing import Any

from duvet.project.project import Project
from duvet.reports import json_v1, json_v2, snapshot, summary
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
TYPE_COMMENTS = """\
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
TYPE_ENTRIES = """\
target = "tea.md#cup"

[[todo]]
quote = "or not be"
tags = ["b", "a"]
reason = "hue"
"""
TYPES = {".duvet/config.toml": CONFIG, "tea.md": TEA, "src/a.rs": TYPE_COMMENTS, "more/b.toml": TYPE_ENTRIES}
"""A project with each type of annotation."""

STATES_TEA = """\
# Tea & <biscuits>

How to make tea.

## Pot

Pots come first.

1. The pot MUST be warm. It SHOULD be
   round. It MAY
   be <b>brown</b>.
2. The lid MUST NOT be lost.

## Cup

A cup MUST be clean and
MUST be dry. A saucer MAY be used. A spoon SHOULD be silver ☕.
Sugar is OPTIONAL.

## Milk

The pot MUST be warm.
"""
MANNERS = """\
# Manners

## Hosts

Nobody reads this.

## Guests

Guests say thank you.
Guests leave early.
"""
COMMENTS = """\
//= tea.md#pot
//# The pot MUST be warm.

//= tea.md#pot
//= type=test
//# The pot MUST be warm.

//= tea.md#pot
//# It SHOULD be round.

//= tea.md#pot
//= type=test
//# It MAY be <b>brown</b>.

//= tea.md#pot
//= type=implication
//# The lid MUST NOT be lost.

//= tea.md#cup
//# A cup MUST be clean

//= tea.md#cup
//= type=exception
//= reason=saucers are out of fashion
//# A saucer MAY be used.

//= tea.md#cup
//= type=todo
//= feature=cutlery
//= tracking-issue=7
//# A spoon SHOULD be silver ☕.

//= manners.md#guests
//# Guests say thank you.

//= manners.md#guests
//= type=exception
"""
STATES_ENTRIES = """\
target = "tea.md#pot"

[[spec]]
level = "MAY"
quote = "Pots come first."

[[exception]]
target = "tea.md#cup"
quote = "A saucer MAY be used."
reason = "we have none"

[[todo]]
quote = "Pots come first."
feature = "later"
tags = ["order", "style"]
tracking-issue = "https://git.example/42"
"""
STATES = {
    ".duvet/config.toml": CONFIG,
    "tea.md": STATES_TEA,
    "manners.md": MANNERS,
    "src/a.rs": COMMENTS,
    "more/b.toml": STATES_ENTRIES,
}
"""A project with a requirement in each state, and with a specification that is only cited."""

UPSTREAM_SCHEMA = "https://awslabs.github.io/duvet/config/v0.4.0.json"
EXTENDED = CONFIG.replace(UPSTREAM_SCHEMA, "duvet-cli/config/v1")
NOT_APPLICABLE_DAY = date(2030, 1, 31)


def with_entries(entries: str) -> dict[str, str]:
    """The project with a requirement in each state, and with these entries in its configuration."""
    return STATES | {".duvet/config.toml": EXTENDED + entries}


NOT_APPLICABLE = with_entries("""\

[[not-applicable]]
target = "tea.md#cup"
reason = "We drink from <pots>,\\nand always did"
owner = "the & kitchen"
expiry = 2030-01-31

[[not-applicable]]
target = "tea.md#pot"
quote = "It MAY\\nbe <b>brown</b>."
reason = "We have no brown"
""")


def project(files: Mapping[str, str] = TYPES, today: date | None = None) -> Project:
    """A project of these files on that day."""
    tree = MemoryTree({path: text.encode() for path, text in files.items()})
    return Project("/w", tree=tree, today=today)


def finished(
    files: Mapping[str, str] = TYPES,
    blob_link: str | None = None,
    issue_link: str | None = None,
    today: date | None = None,
) -> Finished:
    """The trace of these files."""
    return project(files, today).finished(blob_link, issue_link)


def not_applicable(files: Mapping[str, str] = NOT_APPLICABLE, today: date = NOT_APPLICABLE_DAY) -> Finished:
    """The trace of a project with `[[not-applicable]]` entries."""
    return finished(files, today=today)


def rendered(report: Finished, render: Callable[..., None], *more: Any) -> str:
    """A report as text."""
    out = BytesIO()
    render(report, *more, out)
    return out.getvalue().decode()


def summary_of(report: Finished) -> str:
    return rendered(report, summary.render_summary, ())


def json_v1_of(report: Finished) -> str:
    return rendered(report, json_v1.render_json_v1)


def json_v2_of(report: Finished) -> str:
    return rendered(report, json_v2.render_json_v2)


def snapshot_of(report: Finished) -> str:
    return rendered(report, snapshot.render_snapshot)

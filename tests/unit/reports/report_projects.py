from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from duvet.project.project import Project
from duvet.reports import json_v1, json_v2, snapshot, summary
from duvet.reports.cells import TableLook
from duvet.trace.records import Finished
from duvet.tree.files import MemoryTree
from tests.sample_project import read_files

PROJECTS = Path(__file__).with_name("projects")
TYPES = read_files(PROJECTS / "types")
"""A project with each type of annotation."""
STATES = read_files(PROJECTS / "states")
"""A project with a requirement in each state, and with a specification that is only cited."""
CONFIG = STATES[".duvet/config.toml"]

UPSTREAM_SCHEMA = "https://awslabs.github.io/duvet/config/v0.4.0.json"
EXTENDED = CONFIG.replace(UPSTREAM_SCHEMA, "duvet-cli/config/v1")
NOT_APPLICABLE_DAY = date(2030, 1, 31)


def with_entries(entries: str) -> dict[str, str]:
    # In our own schema, an item of a list is one requirement, so these sentences must not be in a list.
    tea = STATES["tea.md"].replace("1. ", "   ").replace("2. ", "   ")
    return STATES | {".duvet/config.toml": EXTENDED + entries, "tea.md": tea}


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
    return Project("/w", tree=MemoryTree({path: text.encode() for path, text in files.items()}), today=today)


def finished(
    files: Mapping[str, str] = TYPES,
    blob_link: str | None = None,
    issue_link: str | None = None,
    today: date | None = None,
) -> Finished:
    return project(files, today).finished(blob_link, issue_link)


def not_applicable(files: Mapping[str, str] = NOT_APPLICABLE, today: date = NOT_APPLICABLE_DAY) -> Finished:
    return finished(files, today=today)


def rendered(report: object, render: Callable[..., None], *more: Any) -> str:
    out = BytesIO()
    render(report, *more, out)
    return out.getvalue().decode()


def summary_of(report: Finished, look: TableLook = TableLook()) -> str:  # noqa: B008 - immutable
    return summary.format_summary(summary.summarize_run(report, (), ()), look)


json_v1_of: Callable[[Finished], str] = partial(rendered, render=json_v1.render_json_v1)
json_v2_of: Callable[[Finished], str] = partial(rendered, render=json_v2.render_json_v2)
snapshot_of: Callable[[Finished], str] = partial(rendered, render=snapshot.render_snapshot)

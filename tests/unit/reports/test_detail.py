"""A workflow run as text and JSON."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import json
from msgspec.structs import replace

from duvet.console.workflow_run import make_run_blocks
from duvet.reports.cells import TableLook
from duvet.reports.detail import render_blocks_text
from duvet.reports.tables import encode_json
from duvet.tools.tool import ErrorCode
from duvet.workflows.workflow import StepRun, WorkflowFailure, WorkflowRun

BEGIN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
GOOD = WorkflowRun(
    workflow="release",
    status="success",
    outputs={"id": "a", "none": "", "all": {"n": [1, None]}, "text": "Two\nlines\x1b[31m."},
    steps=[
        StepRun(id="find", status="success", duration_seconds=1.25, result={"id": "a\x1b"}),
        StepRun(id="use", status="success"),
    ],
    started_at=BEGIN,
    finished_at=BEGIN,
    duration_seconds=1.3,
    warnings=["use: main/a did not answer"],
)
BAD = replace(
    GOOD,
    status="error",
    outputs={},
    steps=[StepRun(id="find", status="error", message="search: no\x1b[2J"), StepRun(id="use", status="skipped")],
    error=WorkflowFailure(
        code=ErrorCode.TOOL_FAILED, step="find", message="search: no\x1b[2J", hint="look again", cause="not_found"
    ),
    warnings=(),
)
GOOD_TEXT = r"""release  success  1.3 s
  step  status   time   message
  find  success  1.2 s
  use   success  0.0 s

Warnings

  use: main/a did not answer

Outputs
  id    a
  none  ""
  all   {"n":[1,null]}
text

  Two
  lines\u{1b}[31m.
"""
BAD_TEXT = r"""release  error  1.3 s
  step  status   time   message
  find  error    0.0 s  search: no\u{1b}[2J
  use   skipped

Error
  step     find
  code     tool_failed
  cause    not_found
  message  search: no\u{1b}[2J
  hint     look again
"""


def test_a_run_as_text() -> None:
    assert render_blocks_text(make_run_blocks(GOOD), TableLook()).decode() == GOOD_TEXT
    assert render_blocks_text(make_run_blocks(BAD), TableLook()).decode() == BAD_TEXT
    assert b"\x1b[2J" not in render_blocks_text(make_run_blocks(BAD), TableLook(20, colour=True))


def test_a_run_as_json() -> None:
    assert json.decode(encode_json(GOOD)) == {
        "workflow": "release",
        "status": "success",
        "outputs": {"id": "a", "none": "", "all": {"n": [1, None]}, "text": "Two\nlines\x1b[31m."},
        "steps": [
            {"id": "find", "status": "success", "duration_seconds": 1.25, "result": {"id": "a\x1b"}},
            {"id": "use", "status": "success"},
        ],
        "started_at": "2026-01-02T03:04:05Z",
        "finished_at": "2026-01-02T03:04:05Z",
        "duration_seconds": 1.3,
        "warnings": ["use: main/a did not answer"],
    }
    assert b"\x1b" not in encode_json(GOOD)
    assert json.decode(encode_json(BAD), type=WorkflowRun) == replace(BAD, steps=BAD.steps)

from datetime import UTC, datetime

from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.console.workflow_run import make_run_blocks
from duvet.reports.cells import TableLook, encode_json
from duvet.reports.detail import render_blocks_text
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


def test_a_run_as_text_and_json(snapshot: Snapshot) -> None:
    for name, run in (("good", GOOD), ("bad", BAD)):
        snapshot.assert_match(render_blocks_text(make_run_blocks(run), TableLook()), f"workflow/{name}.txt")
        snapshot.assert_match(encode_json(run), f"workflow/{name}.json")
    assert b"\x1b[2J" not in render_blocks_text(make_run_blocks(BAD), TableLook(20, colour=True))

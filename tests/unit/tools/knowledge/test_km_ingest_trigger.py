"""`km-ingest-trigger`"""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from duvet.tools.call_context import Caller
from duvet.tools.tool import ToolError
from tests.unit.knowledge.ingest.made import PLAIN
from tests.unit.knowledge.stored import plain
from tests.unit.tools.knowledge.made import Asking
from tests.unit.tools.knowledge.upkept import refused, run_row

TOOL = "km-ingest-trigger"


def test_a_run(kept: Asking) -> None:
    ##= man/spec/gateway.md#indexing-and-feedback
    ##= type=test
    ##% `km-ingest-trigger` MUST index the project under the given `profile`, `ingest.profile` or `manual`, answer as
    ##% `km-ingest-status` does, and refuse `paths` as `unsupported_operation`.
    found = kept.value(TOOL)
    row = run_row(
        found,
        profile="manual",
        success=True,
        artifact_counts=found["artifact_counts"],
        chunk_count=7,
        changed=7,
        removed=0,
    )
    assert sum(found["artifact_counts"].values()) == 7
    assert found == {"status": "success", **row, "dry_run": False, "run": row}
    assert kept.value("km-ingest-status") == {"status": "ok", **row, "run": row}
    assert kept.value(TOOL, profile="nightly.2", use_dummy_embeddings=True)["run"]["profile"] == "nightly.2"
    assert kept.value("km-search", query="balance")["metadata"]["result_count"] > 0
    assert refused(kept, TOOL, paths=["docs"]) == (
        "unsupported_operation",
        "Single paths can't be taken in on their own",
    )
    assert kept.value(TOOL, paths=None)["changed"] == 0


def test_what_runs_are_called(kept: Asking) -> None:
    ##= man/spec/gateway.md#indexing-and-feedback
    ##= type=test
    ##% `km-ingest-trigger` MUST index the project under the given `profile`, `ingest.profile` or `manual`, answer as
    ##% `km-ingest-status` does, and refuse `paths` as `unsupported_operation`.
    assert kept.value(TOOL, profile=None)["profile"] == "manual"
    kept.turn_to(ingest=replace(PLAIN, profile="nightly"))
    assert (kept.value(TOOL)["profile"], kept.value(TOOL, profile="x")["profile"]) == ("nightly", "x")
    stored = kept.value("km-storetext", content="x", ingest=True)
    assert stored["ingest_run"]["profile"] == "nightly"


def test_a_dry_run_changes_nothing(kept: Asking) -> None:
    found = kept.value(TOOL, dry_run=True)
    assert (found["status"], found["dry_run"], found["changed"]) == ("success", True, 7)
    assert not kept.file.exists() and kept.value("km-ingest-status") == {"status": "not_found"}


@pytest.mark.parametrize("profile", ["", "a b", "x" * 65, "../x", "a\n"])
def test_profiles_that_are_none(kept: Asking, profile: str) -> None:
    assert refused(kept, TOOL, profile=profile)[0] == "invalid_request"


def test_one_that_fails(kept: Asking) -> None:
    kept.value(TOOL)
    (kept.folder / "subsystems.yaml").write_text("Tea: [\n")
    found = kept.answer(TOOL)
    value = plain(found.value)
    assert (value["status"], value["success"], value["run"]["success"]) == ("failure", False, False)
    assert "subsystems.yaml" in value["error"] and "as it was" in found.next_step
    assert kept.value("km-ingest-status")["run_id"] == value["run_id"]
    assert kept.value("km-coverage-summary")["run"]["run_id"] != value["run_id"]
    # What is not recorded is an error.
    code, message = refused(kept, TOOL, dry_run=True)
    assert code == "upstream_error" and "subsystems.yaml" in message


def test_a_store_that_is_damaged(kept: Asking) -> None:
    kept.file.parent.mkdir()
    kept.file.write_bytes(b"no store" * 999)
    code, message = refused(kept, TOOL)
    assert code == "upstream_error" and message.startswith("store.db: it is damaged")
    assert str(kept.folder) not in message


def test_progress(kept: Asking) -> None:
    told: list[tuple[float, float | None, str]] = []

    async def progress(done: float, total: float | None, message: str) -> None:
        told.append((done, total, message))

    kept.answer(TOOL, progress=progress)
    steps = [message for _, _, message in told if ":" not in message]
    assert [step for step in steps if step.startswith(("Looking", "Reading"))] == ["Looking for files", "Reading files"]
    assert [done for done, _, _ in told] == sorted({done for done, _, _ in told})


class TestCancelling:
    def test_it_leaves_everything_as_it_was(self, kept: Asking) -> None:
        ##= man/spec/gateway.md#indexing-and-feedback
        ##= type=test
        ##% During an ingest run, the server MUST go on answering and report progress, and a cancelled run MUST leave
        ##% the index unchanged.
        before = kept.value(TOOL)
        (kept.folder / "docs/new.md").write_text("# New\n")
        anyio.run(self.cancelled, kept)
        assert kept.value("km-coverage-summary")["run"]["run_id"] == before["run_id"]
        assert "docs/new.md" not in [
            one["chunk"]["artifact_path"] for one in kept.value("km-search", query="new")["results"]
        ]
        # Whoever asks how it went is told that, too.
        last = kept.value("km-ingest-status")
        assert (last["success"], last["error"]) == (False, "CancelledError")
        assert kept.value(TOOL)["changed"] == 1

    async def cancelled(self, kept: Asking) -> None:
        reading = anyio.Event()
        on = anyio.Event()
        answers: list[Any] = []

        async def progress(done: float, total: float | None, message: str) -> None:
            if message.startswith("Reading files"):
                reading.set()
                await on.wait()

        async def call() -> None:
            answers.append(await kept.desk.call(TOOL, {}, Caller(progress=progress)))

        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                await reading.wait()
                # Others are answered meanwhile, as before it.
                found = await kept.desk.call("km-search", {"query": "balance"}, Caller())
                assert plain(found.value)["metadata"]["result_count"] > 0
                with pytest.raises(ToolError) as caught:
                    await kept.desk.call(TOOL, {"dry_run": False}, Caller())
                assert (
                    caught.value.code.value == "upstream_error" and "somebody else is writing" in caught.value.message
                )
                assert caught.value.hint == "try again when that is done"
                tasks.cancel_scope.cancel()
                on.set()
        assert answers == []

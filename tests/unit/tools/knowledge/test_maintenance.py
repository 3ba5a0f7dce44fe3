import json
import os
import subprocess
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.config.service_tables import SearchSection, StoreSection, UploadRule
from duvet.text import quote_text, shorten_text
from duvet.tools.call_context import Caller
from duvet.tools.packs import KNOWLEDGE
from duvet.tools.tool import EnabledPack, Pack, Scope, ToolError
from tests.unit.knowledge.ingest.held_git import HeldGit
from tests.unit.knowledge.ingest.ingest_projects import PLAIN
from tests.unit.knowledge.stored_project import CLOCK, STAMP, fill, plain
from tests.unit.tools.knowledge.knowledge_calls import STATUS, Asking
from tests.unit.tools.tool_calls import describe_calls

INGEST, FEEDBACK, BACKUP = "km-ingest-trigger", "km-feedback-submit", "km-backup-trigger"
UPLOAD, STORE, SEARCH = "km-upload", "km-storetext", "km-search"


def refused(asking: Asking, tool: str, /, **arguments: object) -> tuple[str, str]:
    return asking.refusal(tool, **arguments)[:2]


def test_a_run_indexes_the_project_and_is_answered_like_its_status(kept: Asking) -> None:
    found = kept.value(INGEST)
    assert sum(found["artifact_counts"].values()) == 7
    row = {name: found[name] for name in ("run_id", "started_at", "duration_seconds", "artifact_counts")}
    row |= {"profile": "manual", "success": True, "chunk_count": 7, "changed": 7, "removed": 0}
    assert found == {"status": "success", **row, "dry_run": False, "run": row}
    assert kept.value(STATUS) == {"status": "ok", **row, "run": row}
    # Backups are not indexed, and a given profile replaces the configured one.
    kept.value(BACKUP, destination="kept")
    kept.turn_to(ingest=replace(PLAIN, profile="nightly"))
    again = kept.value(INGEST, profile="nightly.2", use_dummy_embeddings=True)["run"]
    assert (again["profile"], again["artifact_counts"]) == ("nightly.2", row["artifact_counts"])
    assert kept.value(STORE, content="x", ingest=True)["ingest_run"]["profile"] == "nightly"
    assert kept.value(SEARCH, query="balance")["metadata"]["result_count"] > 0
    told = ("unsupported_operation", "Indexing only some paths is not supported")
    assert refused(kept, INGEST, paths=["docs"]) == told
    assert kept.value(INGEST, paths=None)["changed"] == 0


def test_a_dry_run_and_a_wrong_profile_change_nothing(kept: Asking) -> None:
    assert refused(kept, BACKUP) == ("upstream_error", "this project is not indexed yet")
    assert not kept.file.parent.exists()
    found = kept.value(INGEST, dry_run=True)
    assert (found["status"], found["dry_run"], found["changed"]) == ("success", True, 7)
    assert not kept.file.exists() and kept.value(STATUS) == {"status": "not_found"}
    told = "invalid_request", "use 1 to 64 ASCII letters, digits, `.`, `-` and `_`"
    for profile in ("", "a b", "x" * 65, "../x", "a\n"):
        assert kept.refusal(INGEST, profile=profile)[::2] == told


def test_a_run_that_fails_is_recorded_and_the_index_stays_unless_it_is_damaged(kept: Asking) -> None:
    kept.value(INGEST)
    (kept.folder / "subsystems.yaml").write_text("Tea: [\n")
    found = kept.answer(INGEST)
    value = plain(found.value)
    assert (value["status"], value["success"], value["run"]["success"]) == ("failure", False, False)
    assert "subsystems.yaml" in value["error"] and "is unchanged" in found.next_step
    assert kept.value(STATUS)["run_id"] == value["run_id"]
    assert kept.value("km-coverage-summary")["run"]["run_id"] != value["run_id"]
    # A dry run is not recorded, so its failure is an error.
    code, message = refused(kept, INGEST, dry_run=True)
    assert code == "upstream_error" and "subsystems.yaml" in message
    kept.file.write_bytes(b"no store" * 999)
    code, message = refused(kept, INGEST)
    assert code == "upstream_error" and message.startswith("store.db: the index is damaged")
    assert str(kept.folder) not in message


def test_a_cancelled_run_ends_its_process_and_leaves_the_index_as_it_was(kept: Asking) -> None:
    ##= man/spec/gateway.md#indexing
    ##% During an ingest run, the server MUST report progress and answer other requests.
    ##= man/spec/gateway.md#indexing
    ##% The server MUST end an ingest run when the call that started it is cancelled, or when the server stops.
    ##= man/spec/knowledge.md#ingest-runs
    ##% An ingest run that fails, is cancelled or is killed MUST leave the index unchanged.
    before = kept.value(INGEST)
    (kept.folder / "docs/new.md").write_text("# New\n")
    git = HeldGit(kept.folder.parent / "held")
    kept.environ["PATH"] = git.path
    answers: list[Any] = []
    steps: list[Any] = []

    async def progress(*step: object) -> None:
        steps.append(step[-1])

    async def call() -> None:
        answers.append(await kept.desk.call(INGEST, {}, Caller(progress=progress)))

    async def cancel() -> None:
        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                await anyio.to_thread.run_sync(git.wait)
                # Other calls are answered meanwhile.
                found = await kept.desk.call(SEARCH, {"query": "balance"}, Caller())
                assert plain(found.value)["metadata"]["result_count"] > 0
                kept.environ["PATH"] = os.environ["PATH"]
                with pytest.raises(ToolError, match="another process is writing") as caught:
                    await kept.desk.call(INGEST, {"dry_run": False}, Caller())
                told = caught.value.code.value, caught.value.hint
                assert told == ("upstream_error", "try again when it has finished")
                tasks.cancel_scope.cancel()

    anyio.run(cancel)
    assert answers == [] and "Finding files" in steps and git.has_ended()
    assert kept.value(STATUS)["run_id"] == before["run_id"]
    found = [one["chunk"]["artifact_path"] for one in kept.value(SEARCH, query="new")["results"]]
    assert "docs/new.md" not in found
    assert kept.value(INGEST)["changed"] == 1


def test_a_vote_is_stored_with_its_note_and_context(known: Asking) -> None:
    rated: dict[str, Any] = {"request_id": "uuid", "chunk_id": "docs/tea.md::0"}
    vote = {**rated, "vote": 1, "note": "useful", "context": {"task": "demo"}}
    voted = {**vote, "vote": 1.0, "timestamp": CLOCK.isoformat(timespec="milliseconds"), "source": "mcp.manual"}
    ##= man/spec/gateway.md#feedback
    ##% `km-feedback-submit` MUST store a vote from -1 to 1, a note and a context for a search result.
    assert refused(known, FEEDBACK, **{**vote, "vote": 2})[0] == "invalid_request"
    assert not (known.file.parent / "feedback.jsonl").exists()
    assert known.value(FEEDBACK, **vote) == {"status": "ok", **voted}
    nothing = {"vote": 0.0, "note": None, "context": None}
    assert known.value(FEEDBACK, **rated, vote=0) == {"status": "ok", **voted, **nothing}
    # Empty feedback and feedback on an unknown chunk are stored with a warning.
    empty: list[dict[str, Any]] = [{}, {"note": " "}, {"context": {}}, {"vote": None, "note": "", "context": None}]
    for less in empty:
        answer = known.answer(FEEDBACK, {**rated, **less})
        assert answer.warning == "The feedback is empty; submit a vote from -1 to 1, or a note."
    warning = "The index has no chunk with this chunk_id; the feedback was stored anyway."
    for name in ("docs/tea.md::1", "docs/gone.md::0", "x", "docs/tea.md::-1", "docs/tea.md::²"):
        assert known.answer(FEEDBACK, {**vote, "chunk_id": name}).warning == warning
    assert known.answer(FEEDBACK, vote).warning == ""
    known.file.unlink()
    assert known.answer(FEEDBACK, vote).warning == ""
    votes = [json.loads(line) for line in (known.file.parent / "feedback.jsonl").read_text().splitlines()]
    assert (votes[:2], len(votes)) == ([voted, {**voted, **nothing}], 13)
    fill(known.folder)


def test_votes_order_search_results_where_that_is_configured(known: Asking) -> None:
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST use weights and votes only to reorder results with nearly equal scores.
    def search() -> dict[str, Any]:
        found = known.value(SEARCH, query="boil heat", limit=25)["results"]
        return {one["chunk"]["chunk_id"]: one["scoring"] for one in found}

    before = search()
    first, second = [*before][:2]
    for chunk, vote in ((first, -1), (first, -0.5), (second, 1), ("gone::0", 1)):
        known.value(FEEDBACK, request_id="r", chunk_id=chunk, vote=vote)
    assert search() == before
    known.turn_to(search=SearchSection(feedback=True))
    after = search()
    signals = {chunk: one["signals"]["feedback"] for chunk, one in after.items()}
    assert signals == {**dict.fromkeys(before, 0.0), first: -0.75, second: 1.0}
    for chunk, change in ((second, 0.009), (first, -0.00675)):
        assert after[chunk]["adjusted_score"] - before[chunk]["adjusted_score"] == pytest.approx(change)
    # A vote counts in the next search.
    known.value(FEEDBACK, request_id="r", chunk_id=second, vote=-1)
    assert search()[second]["signals"]["feedback"] == 0.0


def test_only_callers_who_can_vote_are_asked_for_feedback(known: Asking) -> None:
    def prompt(asking: Asking, query: str = "boil", **more: Any) -> str | None:
        metadata = plain(asking.answer(SEARCH, {"query": query}, **more).value)["metadata"]
        found: str | None = metadata.get("feedback_prompt")
        return found

    asked = "Vote on a result with km-feedback-submit, this request_id and the result's chunk_id"
    assert prompt(known) == asked
    assert prompt(known, scopes=frozenset([Scope.READER])) is None
    assert prompt(known, "zymurgy") is None
    foreign = EnabledPack(Pack("votes", [one for one in EnabledPack(KNOWLEDGE).tools() if one.name == FEEDBACK]))
    without = EnabledPack(KNOWLEDGE, switches={FEEDBACK: False})
    for chosen in ([EnabledPack(KNOWLEDGE, writes=False)], [without], [without, foreign]):
        other = Asking(known.folder, packs=chosen)
        assert prompt(other) is None
        other.knowledge.close()


def test_a_backup_is_written_to_a_new_file(known: Asking) -> None:
    ##= man/spec/gateway.md#backups
    ##% `km-backup-trigger` MUST write only new files, and only in the project or in the folder that `store.backups`
    ##% sets.
    name = f"km-backup-{STAMP}.tgz"
    for destination, archive in (
        (None, f".duvet/knowledge/backups/{name}"),
        ("kept", f"kept/{name}"),
        ("kept/", f"kept/km-backup-{STAMP}-2.tgz"),
        ("kept/my.tgz", "kept/my.tgz"),
        ("my.tar.gz", "my.tar.gz"),
    ):
        found = known.value(BACKUP, destination=destination)
        assert found == {"status": "ok", "archive": archive, "size": (known.folder / archive).stat().st_size}
    before = (known.folder / "my.tar.gz").read_bytes()
    assert refused(known, BACKUP, destination="my.tar.gz") == ("invalid_request", '"my.tar.gz" already exists')
    assert (known.folder / "my.tar.gz").read_bytes() == before
    # Git ignores a backup of any name.
    subprocess.run(["git", "init", "--quiet", str(known.folder)], check=True)
    known.value(BACKUP, destination=".duvet/knowledge/backups/mine.tgz")
    told = ["git", "-C", str(known.folder), "status", "--short", "--untracked-files=all", ".duvet/knowledge"]
    assert subprocess.run(told, capture_output=True, text=True, check=True).stdout == ""


BACKUPS = ".duvet/knowledge/backups"
ELSEWHERE = ["..", "../x.tgz", "/tmp", "/x.tgz", "out", "out/x.tgz", "a\0b", "docs/../../x", ".git/refs/heads", "a:b"]
ELSEWHERE += [".git/x.tgz", "link", "link/x.tgz", ".duvet", "docs/con/x.tgz", "x /y", "notes.md/x.tgz", "docs/../x.tgz"]
ELSEWHERE += ["node_modules/x.tgz", "notes.md", "ok.md/", "q.tgz", "new.zip", f"{BACKUPS}/a.tgz/"]
ELSEWHERE.append(f"{BACKUPS}/{'a' * 300}")


def test_a_backup_is_not_written_elsewhere(known: Asking, tmp_path: Path, answers: Snapshot) -> None:
    (known.folder / "out").symlink_to(tmp_path.parent)
    (known.folder / ".git/refs/heads").mkdir(parents=True)
    (known.folder / "link").symlink_to(".git")
    (known.folder / "q.tgz").mkdir()
    for name in ("notes.md", "ok.md"):
        (known.folder / name).touch()
    known.value(BACKUP, destination=f"{BACKUPS}/a.tgz")
    before = sorted(tmp_path.parent.iterdir()), sorted(known.folder.rglob("*"))
    found = describe_calls(known.answer, [(BACKUP, {"destination": name}) for name in ELSEWHERE])
    answers.assert_match(found, "backups.txt")
    assert (sorted(tmp_path.parent.iterdir()), sorted(known.folder.rglob("*"))) == before


def test_backups_can_be_kept_elsewhere(known: Asking, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("backups")
    (known.file.parent / "backups").symlink_to(elsewhere)
    assert refused(known, BACKUP) == ("invalid_request", '"backups" is outside the project')
    assert list(elsewhere.iterdir()) == []
    known.turn_to(store=StoreSection(backups=str(elsewhere)))
    assert known.value(BACKUP)["archive"] == str(elsewhere / f"km-backup-{STAMP}.tgz")
    assert known.value(BACKUP, destination=str(elsewhere / "more"))["archive"].startswith(str(elsewhere / "more"))
    assert refused(known, BACKUP, destination=str(elsewhere.parent))[0] == "invalid_request"


@pytest.fixture
def source(kept: Asking) -> Path:
    path = kept.folder / "notes/design.md"
    path.parent.mkdir()
    path.write_bytes(b"# Design\r\n\xff")
    return path


def stored(kept: Asking, relative: str, **more: bool) -> dict[str, object]:
    place = {"stored_path": str(kept.folder / relative), "relative_path": relative}
    return {"status": "success", **place, "overwritten": False, "ingest_triggered": False, "ingest_run": None, **more}


def test_a_file_is_copied_to_its_destination(kept: Asking, source: Path, tmp_path: Path) -> None:
    assert kept.value(UPLOAD, source_path=str(source)) == stored(kept, "docs/design.md")
    for destination, relative in (("docs/uploads/", "docs/uploads/design.md"), ("a/b.txt", "a/b.txt")):
        assert kept.value(UPLOAD, source_path=str(source), destination=destination) == stored(kept, relative)
        assert (kept.folder / relative).read_bytes() == b"# Design\r\n\xff"
    # A relative path begins at the project.
    assert kept.value(UPLOAD, source_path="./notes/design.md", destination="c") == stored(kept, "c/design.md")
    # A file is overwritten only on request.
    given: dict[str, object] = {"source_path": str(source), "destination": "tool.sh"}
    assert refused(kept, UPLOAD, **given) == ("invalid_request", '"tool.sh" already exists')
    assert (kept.folder / "tool.sh").read_text() == "echo\n"
    assert kept.value(UPLOAD, **given, overwrite=True) == stored(kept, "tool.sh", overwritten=True)
    assert refused(kept, UPLOAD, **given, overwrite=False)[0] == "invalid_request"
    # Uploads have a configured root.
    root = tmp_path / "content"
    kept.uploads = UploadRule(root=str(root), root_origin="uploads.root", docs_subdir="notes/in")
    assert kept.refusal(UPLOAD, source_path=str(source))[::2] == (
        "upstream_error",
        "set `uploads.root` to an existing folder",
    )
    root.mkdir()
    place = {"stored_path": str(root / "notes/in/design.md"), "relative_path": "notes/in/design.md"}
    assert kept.value(UPLOAD, source_path=str(source)) == {**stored(kept, ""), **place}


def test_an_upload_is_indexed_where_that_is_asked_or_configured(kept: Asking, source: Path) -> None:
    source.write_text("# Samovar\n\nIt hums.\n")
    answer = kept.answer(UPLOAD, {"source_path": str(source), "ingest": True})
    found = plain(answer.value)
    run = found["ingest_run"]
    assert (found["ingest_triggered"], run["success"], run["profile"], answer.warning) == (True, True, "manual", "")
    paths = [one["chunk"]["artifact_path"] for one in kept.value(SEARCH, query="samovar")["results"]]
    assert paths == ["docs/design.md", "notes/design.md"]
    kept.uploads = UploadRule(ingest=True)
    assert kept.value(UPLOAD, source_path=str(source), destination="x.md")["ingest_run"]["changed"] == 1
    assert kept.value(UPLOAD, source_path=str(source), destination="y.md", ingest=False)["ingest_run"] is None


def test_an_upload_that_is_not_indexed_has_a_warning_or_an_error(kept: Asking, source: Path, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#uploads
    ##% If the server stored a file but could not index it, the server MUST say so.
    def warning(destination: str) -> str:
        return kept.answer(UPLOAD, {"source_path": str(source), "destination": destination, "ingest": True}).warning

    (kept.folder / ".gitignore").write_text("ignored/\n")
    start = "was stored, but is not in the index: "
    assert warning("ignored/a.md") == f"ignored/a.md {start}git or the configuration ignores it"
    (tmp_path / "content").mkdir()
    kept.uploads = UploadRule(root=str(tmp_path / "content"))
    assert warning("a.md") == f"a.md {start}it is not in the project"
    # An upload that can't be indexed is stored, too.
    kept.uploads = UploadRule()
    (kept.folder / "subsystems.yaml").write_text("Tea: [\n")
    code, message = refused(kept, UPLOAD, source_path=str(source), ingest=True)
    assert code == "upstream_error"
    assert message.startswith("docs/design.md was stored, but the project could not be indexed: ")
    assert (kept.folder / "docs/design.md").exists()
    kept.file.write_bytes(b"no store" * 999)
    code, message = refused(kept, UPLOAD, source_path=str(source), destination="b.md", ingest=True)
    assert code == "upstream_error" and message.startswith("b.md was stored, but ") and "damaged" in message


def test_only_regular_files_of_limited_size_are_uploaded(kept: Asking, source: Path) -> None:
    os.mkfifo(kept.folder / "pipe")
    for path in ("nowhere.md", str(kept.folder), "docs", "pipe", "a\0b", " "):
        assert refused(kept, UPLOAD, source_path=path)[0] == "invalid_request"
    kept.uploads = UploadRule(max_bytes=10)
    code, message = refused(kept, UPLOAD, source_path=str(source))
    assert code == "invalid_request" and message.endswith("is larger than the limit of 10 bytes")


@pytest.mark.parametrize(("holder", "place"), [("", "the project"), ("admin", "the content root")])
def test_only_visible_files_of_the_project_are_uploaded(kept: Asking, tmp_path: Path, holder: str, place: str) -> None:
    ##= man/spec/gateway.md#uploads
    ##% `km-upload` MUST read only files of the project and, over HTTP, only files under the content root.
    ##= man/spec/gateway.md#uploads
    ##% `km-upload` MUST NOT read a file that is hidden, ignored by git, secret or vendored.
    inside, source = kept.folder / "docs", tmp_path / "notes/design.md"
    source.parent.mkdir()
    source.write_text("secret")
    own = [f"var/{name}" for name in ("s.db", "audit.jsonl", "feedback.jsonl", "km-backup-1.tgz")]
    secret = ["id_rsa", "docs/server.key", "docs/key.pem", "docs/node_modules/a/b.md", "docs/venv/lib/a.md"]
    for name in (*own, *secret, ".env", "docs/.git/config", "secrets/key.md", "docs/venv/pyvenv.cfg"):
        (kept.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (kept.folder / name).write_text("secret")
    (kept.folder / ".gitignore").write_text("secrets/\n")
    kept.turn_to(store=StoreSection(path="var/s.db"))
    for name, target in {"out.md": str(source), "key.md": "../secrets/key.md", "plain.md": "../id_rsa"}.items():
        (inside / name).symlink_to(target)
    elsewhere = [str(source), "../notes/design.md", "/etc/passwd", "/nowhere"]
    hidden = [".env", "docs/.git/config", "secrets/key.md", "docs/plain.md", "docs/key.md", "docs/out.md"]
    for path in (*secret, *own, *hidden, *elsewhere):
        found = kept.refusal(UPLOAD, "library", holder, source_path=path, destination="x.md")[:2]
        reason = f"it is outside {place}, hidden, ignored by git or vendored, or may contain secrets"
        assert found == ("invalid_request", f"can't upload {quote_text(shorten_text(path))}: {reason}")
    assert not (kept.folder / "x.md").exists()
    for path in ("docs/spec.md", str(inside / "spec.md")):
        kept.answer(UPLOAD, {"source_path": path, "destination": "x.md", "overwrite": True}, holder=holder)
        assert (kept.folder / "x.md").read_text() == (inside / "spec.md").read_text()


TEXT: dict[str, Any] = {"content": "## Body\nDetails\n", "title": "Release Notes", "destination": "docs/uploads/"}
HEAD = {"subsystem": "Deployment", "tags": ["release", "notes"], "metadata": {"author": "agent"}}
EVERYTHING = {**TEXT, **HEAD, "overwrite": False, "ingest": True}


def test_a_text_is_stored_with_its_front_matter_and_indexed(kept: Asking) -> None:
    found = kept.value(STORE, **EVERYTHING)
    run = found.pop("ingest_run")
    relative = "docs/uploads/release-notes.md"
    assert {**found, "ingest_run": None} == stored(kept, relative, ingest_triggered=True)
    assert (run["success"], run["profile"]) == (True, "manual")
    head = "title: Release Notes\nsubsystem: Deployment\ntags: [release, notes]\nmetadata: {author: agent}\n"
    assert (kept.folder / relative).read_text() == f"---\n{head}---\n\n## Body\nDetails\n"
    (first, *_) = kept.value(SEARCH, query="details", filters={"tags": ["notes"]})["results"]
    assert (first["chunk"]["artifact_path"], first["chunk"]["subsystem"]) == (relative, "Deployment")
    assert refused(kept, STORE, **EVERYTHING) == ("invalid_request", f'"{relative}" already exists')
    assert kept.value(STORE, **{**EVERYTHING, "overwrite": True, "ingest": False})["overwritten"] is True


def test_a_name_that_duvet_has_chosen_never_overwrites_and_a_refused_text_leaves_nothing(kept: Asking) -> None:
    kept.uploads = UploadRule(overwrite=True)
    for content, title, more, number in (
        ("one", "", {}, ""),
        ("two", "", {}, "-2"),
        ("three", "!?", {"overwrite": True}, "-3"),
        ("four", "", {"overwrite": False}, "-4"),
    ):
        found = kept.value(STORE, content=content, title=title, **more)
        assert found["relative_path"] == f"docs/note-20270115-080000{number}.md"
        assert found["overwritten"] is False
        assert (kept.folder / found["relative_path"]).read_text().endswith(f"{content}\n")
    assert [kept.value(STORE, content="a", destination="x.md")["overwritten"] for _ in range(2)] == [False, True]
    # A refused text leaves nothing.
    kept.uploads = UploadRule()
    before = sorted(kept.folder.rglob("*"))
    for path in ("../x.md", ".git/hooks/pre-commit.sh", ".duvet/knowledge/store.db", "duvet.config.yaml"):
        assert refused(kept, STORE, **{**EVERYTHING, "destination": path})[0] == "invalid_request"
    kept.uploads = UploadRule(max_bytes=10)
    for content in ("", "x" * 11):
        assert refused(kept, STORE, content=content)[0] == "invalid_request"
    assert sorted(kept.folder.rglob("*")) == before
    assert kept.value(STORE, content="x" * 9)["status"] == "success"

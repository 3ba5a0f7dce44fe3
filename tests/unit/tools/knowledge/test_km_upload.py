"""`km-upload`"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from duvet.config.settings import StoreSection, UploadRule
from tests.unit.tools.knowledge.made import Asking
from tests.unit.tools.knowledge.upkept import refused

TOOL = "km-upload"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "notes/design.md"
    path.parent.mkdir()
    path.write_bytes(b"# Design\r\n\xff")
    return path


def stored(kept: Asking, relative: str, *, overwritten: bool = False) -> dict[str, object]:
    return {
        "status": "success",
        "stored_path": str(kept.folder / relative),
        "relative_path": relative,
        "overwritten": overwritten,
        "ingest_triggered": False,
        "ingest_run": None,
    }


def test_a_copy(kept: Asking, source: Path) -> None:
    assert kept.value(TOOL, source_path=str(source)) == stored(kept, "docs/design.md")
    for destination, relative in (("docs/uploads/", "docs/uploads/design.md"), ("a/b.txt", "a/b.txt")):
        assert kept.value(TOOL, source_path=str(source), destination=destination) == stored(kept, relative)
        assert (kept.folder / relative).read_bytes() == b"# Design\r\n\xff"
    # From where the project is.
    assert kept.value(TOOL, source_path="../notes/design.md", destination="c") == stored(kept, "c/design.md")


def test_what_is_there(kept: Asking, source: Path) -> None:
    ##= man/spec/gateway.md#uploads
    ##= type=test
    ##% The server MUST write an upload completely or not at all, and MUST NOT overwrite a file without `overwrite` or
    ##% under a name that duvet has chosen.
    given: dict[str, object] = {"source_path": str(source), "destination": "tool.sh"}
    assert refused(kept, TOOL, **given) == ("invalid_request", '"tool.sh" is there already')
    assert (kept.folder / "tool.sh").read_text() == "echo\n"
    os.chmod(kept.folder / "tool.sh", 0o750)
    assert kept.value(TOOL, **given, overwrite=True) == stored(kept, "tool.sh", overwritten=True)
    assert (kept.folder / "tool.sh").read_bytes() == source.read_bytes()
    assert (kept.folder / "tool.sh").stat().st_mode & 0o777 == 0o750
    kept.uploads = UploadRule(overwrite=True)
    assert kept.value(TOOL, **given) == stored(kept, "tool.sh", overwritten=True)
    assert refused(kept, TOOL, **given, overwrite=False)[0] == "invalid_request"


def test_another_root(kept: Asking, source: Path, tmp_path: Path) -> None:
    root = tmp_path / "content"
    kept.uploads = UploadRule(root=str(root), root_said_by="uploads.root", docs_subdir="notes/in")
    assert kept.refusal(TOOL, source_path=str(source))[::2] == ("upstream_error", "see what uploads.root says")
    root.mkdir()
    found = kept.value(TOOL, source_path=str(source))
    assert found["stored_path"] == str(root / "notes/in/design.md")
    assert found["relative_path"] == "notes/in/design.md"


def test_it_is_taken_in(kept: Asking, source: Path) -> None:
    source.write_text("# Samovar\n\nIt hums.\n")
    found = kept.value(TOOL, source_path=str(source), ingest=True)
    assert (found["ingest_triggered"], found["ingest_run"]["success"]) == (True, True)
    assert found["ingest_run"]["profile"] == "manual"
    assert kept.value("km-search", query="samovar")["results"][0]["chunk"]["artifact_path"] == "docs/design.md"
    kept.uploads = UploadRule(ingest=True)
    assert kept.value(TOOL, source_path=str(source), destination="x.md")["ingest_run"]["changed"] == 1
    assert kept.value(TOOL, source_path=str(source), destination="y.md", ingest=False)["ingest_run"] is None


def test_it_is_not_among_what_is_taken_in(kept: Asking, source: Path, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#uploads
    ##= type=test
    ##% The server MUST answer `upstream_error` when it stored a file but could not index the project, and warn when the
    ##% index does not contain the file.
    def warning(destination: str) -> str:
        given: dict[str, object] = {"source_path": str(source), "destination": destination, "ingest": True}
        found = kept.answer(TOOL, given)
        return found.warning

    (kept.folder / ".gitignore").write_text("ignored/\n")
    assert warning("a.md") == ""
    start = "is stored, but is not among what was taken in: "
    assert warning("ignored/a.md") == f"ignored/a.md {start}git ignores it, or the configuration leaves it out"
    (tmp_path / "content").mkdir()
    kept.uploads = UploadRule(root=str(tmp_path / "content"))
    assert warning("a.md") == f"a.md {start}it is not in the project"


def test_it_is_stored_but_can_not_be_taken_in(kept: Asking, source: Path) -> None:
    ##= man/spec/gateway.md#uploads
    ##= type=test
    ##% The server MUST answer `upstream_error` when it stored a file but could not index the project, and warn when the
    ##% index does not contain the file.
    (kept.folder / "subsystems.yaml").write_text("Tea: [\n")
    code, message = refused(kept, TOOL, source_path=str(source), ingest=True)
    assert code == "upstream_error"
    assert message.startswith("docs/design.md is stored, but the project could not be taken in: ")
    assert (kept.folder / "docs/design.md").exists()
    kept.file.write_bytes(b"no store" * 999)
    code, message = refused(kept, TOOL, source_path=str(source), destination="b.md", ingest=True)
    assert code == "upstream_error" and message.startswith("b.md is stored, but ") and "damaged" in message


def test_what_can_not_be_read(kept: Asking, source: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("nowhere.md", str(tmp_path), str(tmp_path / "pipe"), "a\0b", " ", "/dev/zero"):
        assert refused(kept, TOOL, source_path=path)[0] == "invalid_request"
    kept.uploads = UploadRule(max_bytes=10)
    code, message = refused(kept, TOOL, source_path=str(source))
    assert code == "invalid_request" and message.endswith("has more than 10 bytes")


def test_callers_over_http(kept: Asking, source: Path, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#uploads
    ##= type=test
    ##% Over HTTP, `km-upload` MUST read only files below the content root that are not hidden, ignored by git, secret,
    ##% vendored or duvet's own.
    inside = kept.folder / "docs"
    (inside / "out.md").symlink_to(source)
    (inside / "gone.md").symlink_to(inside / "nothing")
    (kept.folder / ".env").write_text("SECRET=1")
    (inside / ".git").mkdir()
    (inside / ".git/config").write_text("token")
    (kept.folder / ".gitignore").write_text("secrets/\n")
    (kept.folder / "secrets").mkdir()
    (kept.folder / "secrets/key.md").write_text("key")
    (inside / "key.md").symlink_to("../secrets/key.md")
    (kept.folder / "var").mkdir()
    own = [f"var/{name}" for name in ("s.db", "audit.jsonl", "feedback.jsonl", "km-backup-1.tgz")]
    for name in own:
        (kept.folder / name).write_text("ours")
    kept.turn_to(store=StoreSection(path="var/s.db"))
    secret = ["id_rsa", "docs/server.key", "docs/key.pem", "docs/node_modules/a/b.md", "docs/venv/lib/a.md"]
    for name in (*secret, "docs/venv/pyvenv.cfg"):
        (kept.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (kept.folder / name).write_text("secret")
    (inside / "plain.md").symlink_to("../id_rsa")
    paths = [
        *secret,
        "docs/plain.md",
        "secrets/key.md",
        "docs/key.md",
        *own,
        str(source),
        "../notes/design.md",
        "docs/out.md",
        ".env",
        "docs/.git/config",
        "/etc/passwd",
        "/nowhere",
    ]
    for path in paths:
        code, message = refused(kept, TOOL, "admin", source_path=path, destination="x.md")
        assert code == "invalid_request" and message.endswith("is no file below the content root that may be read"), (
            path
        )
    assert not (kept.folder / "x.md").exists()
    for path in ("docs/spec.md", str(inside / "spec.md")):
        found = kept.answer(TOOL, {"source_path": path, "destination": "x.md", "overwrite": True}, holder="admin")
        assert (kept.folder / "x.md").read_text() == (inside / "spec.md").read_text(), found

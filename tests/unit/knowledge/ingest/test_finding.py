"""Which files are taken in."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from duvet.config.settings import IngestRule
from duvet.errors import ProblemsError
from duvet.knowledge.ingest.files import find_ingest_files
from tests.unit.knowledge.ingest.made import project, written

FILES = {
    ".duvet/cache/x": "",
    ".duvet/config.toml": "'$schema' = 'duvet-cli/config/v1'\n[report.json]\npath = 'made/report.json'\n",
    ".duvet/knowledge/store.db": "",
    ".duvet/reports/report.html": "",
    ".duvet/snapshot.txt": "",
    ".git/HEAD": "ref: refs/heads/main\n",
    ".github/a.yml": "",
    ".gitignore": "*.log\nbuild/\n",
    "a.log": "",
    "build/b.py": "",
    "docs/a.md": "",
    "docs/a/b.md": "",
    "made/report.json": "",
    "src/a.py": "",
    "src/b/c.py": "",
}


def found(folder: Path, include: tuple[str, ...] = ("**",), exclude: tuple[str, ...] = ()) -> tuple[str, ...]:
    return find_ingest_files(project(folder), IngestRule(include=include, exclude=exclude)).paths


def test_what_is_not_of_the_project_is_left_out(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#files
    ##= type=test
    ##% `duvet ingest` MUST skip what git ignores, links, and what duvet itself has made, including backups.
    folder = written(tmp_path / "a", FILES)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x.md").write_text("x")
    (folder / "src/out").symlink_to(tmp_path / "outside")
    (folder / "src/loop").symlink_to(folder)
    (folder / "src/same.py").symlink_to(folder / "src/a.py")
    assert found(folder) == (
        ".duvet/config.toml",
        ".github/a.yml",
        ".gitignore",
        "docs/a.md",
        "docs/a/b.md",
        "src/a.py",
        "src/b/c.py",
    )


def test_what_was_left_unfinished(tmp_path: Path) -> None:
    ##= man/spec/trace.md#reports
    ##= type=test
    ##% duvet MUST ignore the temporary files of killed runs and remove them in a later run, but not those of a run that
    ##% is still writing.
    left = ".t-0-18.md.16748-1765d643927350aa.new"
    names = (left, f"docs/{left}", f"docs/deep/{left}", f"var/.km-backup-x.{left}/feedback.jsonl")
    folder = written(tmp_path, {**dict.fromkeys(names, "x"), "docs/new.md": "x", "docs/.a.new": "x"})
    assert found(folder) == ("docs/.a.new", "docs/new.md")


def test_patterns_choose(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#files
    ##= type=test
    ##% `duvet ingest` MUST index the files that `ingest.include` matches and `ingest.exclude` does not.
    folder = written(tmp_path, FILES)
    assert found(folder, include=("src", "**/*.md"), exclude=("docs/a", "src/*.py")) == ("docs/a.md", "src/b/c.py")
    assert found(folder, include=("../**", "/etc")) == ()


UNASKED = (
    *(
        ".env",
        ".env.local",
        ".envs/db",
        "a/.ENV",
        "a/server.pem",
        "a/b.key",
        "c.p12",
        "d.pfx",
        "id_rsa",
        "id_ed25519.pub",
    ),
    *(".netrc", ".npmrc", ".pypirc", "node_modules/x/y.js", "web/node_modules/z.js", "a/__pycache__/c.pyc"),
    *("my-env/pyvenv.cfg", "my-env/lib/x.py"),
)
ASKED = (".env.example", "keys.md", "env.py", "dist/a.js", "pyvenv.cfg", "target/b.rs")


def test_secrets_and_what_others_have_written_are_left_out(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#files
    ##= type=test
    ##% `duvet ingest` MUST skip files that may contain secrets and vendored folders, unless `ingest.include` names
    ##% their exact path.
    folder = written(tmp_path, dict.fromkeys((*UNASKED, *ASKED), "x"))
    assert found(folder) == tuple(sorted(ASKED))
    named = (".env", "my-env/lib", "node_modules/x/", "a/server.pem")
    taken = {".env", "my-env/lib/x.py", "node_modules/x/y.js", "a/server.pem"}
    assert found(folder, include=named) == tuple(sorted(taken))
    assert found(folder, include=("**", *named)) == tuple(sorted({*ASKED, *taken}))
    assert found(folder, include=("**", *named), exclude=("a",)) == tuple(sorted({*ASKED, *taken} - {"a/server.pem"}))


def test_a_pattern_that_means_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError, match=r"ingest\.exclude: Pattern syntax error near position 0"):
        found(tmp_path, exclude=("a**",))


@pytest.mark.skipif(sys.platform != "linux", reason="names are UTF-8 there")
def test_names_that_are_no_text_are_told(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#files
    ##= type=test
    ##% `duvet ingest` MUST keep only the name of a file that is empty, too large, not UTF-8 or unreadable, and skip one
    ##% whose name is not UTF-8.
    folder = written(tmp_path, {"a.md": "x"})
    (Path(os.fsdecode(os.fsencode(folder) + b"/\xff.md"))).write_text("x")
    result = find_ingest_files(project(folder), IngestRule())
    assert result.paths == ("a.md",)
    assert [(one.path, one.message) for one in result.problems] == [("\\xff.md", "the name of this file is not UTF-8")]

from pathlib import Path

import pytest

from duvet.config.service_tables import IngestRule
from duvet.errors import ProblemsError
from duvet.knowledge.ingest.files import detect_kind, detect_namespace, find_ingest_files
from duvet.store.records import FileKind
from tests.unit.knowledge.ingest.ingest_projects import project, written

EMPTY = (
    ".duvet/cache/x .duvet/knowledge/store.db .duvet/reports/report.html .duvet/snapshot.txt .github/a.yml "
    "a.log build/b.py docs/a.md docs/a/b.md made/report.json src/a.py src/b/c.py"
)
FILES = {
    ".duvet/config.toml": "'$schema' = 'duvet-cli/config/v1'\n[report.json]\npath = 'made/report.json'\n",
    ".git/HEAD": "ref: refs/heads/main\n",
    ".gitignore": "*.log\nbuild/\n",
    **dict.fromkeys(EMPTY.split(), ""),
}
TEMPORARY = ".t-0-18.md.16748-1765d643927350aa.new"
WRITTEN = (
    *(TEMPORARY, f"docs/{TEMPORARY}", f"docs/deep/{TEMPORARY}", f"var/.km-backup-x.{TEMPORARY}/feedback.jsonl"),
    "kept/km-backup-1.tgz",
)


def find_paths(folder: Path, include: tuple[str, ...] = ("**",), exclude: tuple[str, ...] = ()) -> tuple[str, ...]:
    return find_ingest_files(project(folder), IngestRule(include=include, exclude=exclude))[0]


def test_ignored_generated_and_linked_files_are_skipped(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#files
    ##% `duvet ingest` MUST skip files that git ignores, symbolic links, and files that duvet wrote.
    folder = written(tmp_path / "a", {**FILES, **dict.fromkeys((*WRITTEN, "docs/.a.new"), "x")})
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x.md").write_text("x")
    (folder / "src/out").symlink_to(tmp_path / "outside")
    (folder / "src/loop").symlink_to(folder)
    (folder / "src/same.py").symlink_to(folder / "src/a.py")
    indexed = ".duvet/config.toml .github/a.yml .gitignore docs/.a.new docs/a.md docs/a/b.md src/a.py src/b/c.py"
    assert " ".join(find_paths(folder)) == indexed


def test_patterns_include_and_exclude_files(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#files
    ##% `duvet ingest` MUST index the files that match `ingest.include` and do not match `ingest.exclude`.
    folder = written(tmp_path, FILES)
    assert find_paths(folder, include=("src", "**/*.md"), exclude=("docs/a", "src/*.py")) == ("docs/a.md", "src/b/c.py")
    assert find_paths(folder, include=("../**", "/etc")) == ()
    with pytest.raises(ProblemsError, match=r"ingest\.exclude: Pattern syntax error near position 0"):
        find_paths(folder, exclude=("a**",))


SECRETS = ".env .env.local .envs/db a/.ENV a/server.pem a/b.key c.p12 d.pfx id_rsa id_ed25519.pub .netrc .npmrc .pypirc"
SECRETS += " .git-credentials .ssh/id_work .aws/credentials credentials.json a/Credentials.csv secrets.yml .secrets.env"
VENDORED = "node_modules/x/y.js web/node_modules/z.js a/__pycache__/c.pyc my-env/pyvenv.cfg my-env/lib/x.py"
INDEXED = (".env.example", "credentials.md", "credentials/a.py", "keys.md", "env.py", "dist/a.js", "pyvenv.cfg", "b.rs")


def test_secrets_and_vendored_files_are_skipped_unless_they_are_named(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#files
    ##% `duvet ingest` MUST skip secret files and vendored folders unless `ingest.include` names their exact path.
    folder = written(tmp_path, dict.fromkeys((*SECRETS.split(), *VENDORED.split(), *INDEXED), "x"))
    assert find_paths(folder) == tuple(sorted(INDEXED))
    named = (".env", "my-env/lib", "node_modules/x/", "a/server.pem")
    taken = {".env", "my-env/lib/x.py", "node_modules/x/y.js", "a/server.pem"}
    assert find_paths(folder, include=named) == tuple(sorted(taken))
    assert find_paths(folder, include=("**", *named)) == tuple(sorted({*INDEXED, *taken}))
    kept = find_paths(folder, include=("**", *named), exclude=("a",))
    assert kept == tuple(sorted({*INDEXED, *taken} - {"a/server.pem"}))


KINDS = {
    FileKind.TEST: (
        "tests/data/a.json tests/README.md src/a/test/B.java web/__tests__/a.js test_a.py a/b_test.py a_test.go "
        "a.test.ts a.spec.js b.test.tsx c_test.rs src/tests.rs conftest.py FooTest.java"
    ),
    FileKind.DOC: "README LICENSE a.md a.rst a.adoc notes.txt docs/conf.py docs/a.png src/a/docs/notes.yaml CHANGELOG.md",
    FileKind.PROTO: "a/b.proto src/x/_generated/y.py",
    FileKind.CONFIG: "pyproject.toml a.yml .codacy/x .editorconfig Dockerfile requirements.txt CMakeLists.txt go.mod a.ini",
    FileKind.CODE: "src/a.py a.rs a/b.go web/a.tsx src/docs/view.ts contest.py Makefile.mk run.sh protest.py latest.py",
    FileKind.OTHER: "a.png bin/tool a.b.zzz .hidden data.parquet",
}
NAMESPACES = {"README.md": "", "docs/a.md": "docs", "src/a.py": "src", "src/app/b.py": "app", "lib/app/b.py": "lib"}


def test_kind_and_namespace_of_a_file_follow_from_its_path() -> None:
    paths = {path: kind for kind, paths in KINDS.items() for path in paths.split()}
    assert {path: detect_kind(path) for path in paths} == paths
    assert {path: detect_namespace(path) for path in NAMESPACES} == NAMESPACES

"""What files are by their names."""

from __future__ import annotations

import pytest

from duvet.knowledge.ingest.files import detect_kind, detect_namespace
from duvet.store.records import FileKind

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


@pytest.mark.parametrize(("path", "kind"), [(path, kind) for kind, paths in KINDS.items() for path in paths.split()])
def test_kind(path: str, kind: FileKind) -> None:
    assert detect_kind(path) is kind


def test_namespaces() -> None:
    assert {path: detect_namespace(path) for path in NAMESPACES} == NAMESPACES

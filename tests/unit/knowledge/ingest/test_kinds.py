"""What files are by their names."""

from __future__ import annotations

import pytest

from duvet.knowledge.ingest.kinds import kind_of, namespace_of
from duvet.store.records import Kind

KINDS = {
    Kind.TEST: (
        "tests/data/a.json tests/README.md src/a/test/B.java web/__tests__/a.js test_a.py a/b_test.py a_test.go "
        "a.test.ts a.spec.js b.test.tsx c_test.rs src/tests.rs conftest.py FooTest.java"
    ),
    Kind.DOC: "README LICENSE a.md a.rst a.adoc notes.txt docs/conf.py docs/a.png src/a/docs/notes.yaml CHANGELOG.md",
    Kind.PROTO: "a/b.proto src/x/_generated/y.py",
    Kind.CONFIG: "pyproject.toml a.yml .codacy/x .editorconfig Dockerfile requirements.txt CMakeLists.txt go.mod a.ini",
    Kind.CODE: "src/a.py a.rs a/b.go web/a.tsx src/docs/view.ts contest.py Makefile.mk run.sh protest.py latest.py",
    Kind.OTHER: "a.png bin/tool a.b.zzz .hidden data.parquet",
}
NAMESPACES = {"README.md": "", "docs/a.md": "docs", "src/a.py": "src", "src/app/b.py": "app", "lib/app/b.py": "lib"}


@pytest.mark.parametrize(("path", "kind"), [(path, kind) for kind, paths in KINDS.items() for path in paths.split()])
def test_kind(path: str, kind: Kind) -> None:
    assert kind_of(path) is kind


def test_namespaces() -> None:
    assert {path: namespace_of(path) for path in NAMESPACES} == NAMESPACES

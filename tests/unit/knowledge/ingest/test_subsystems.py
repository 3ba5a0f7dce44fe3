"""Which subsystem files belong to."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from duvet.knowledge.ingest.files import detect_kind
from duvet.knowledge.ingest.subsystems import (
    SubsystemIndex,
    SubsystemMembership,
    find_imports,
    find_roots,
    read_subsystem_catalogue,
)
from duvet.model import Severity
from duvet.tree.files import MemoryTree
from tests.unit.knowledge.ingest.made import LEDGER, opened, taken, written

CATALOGUE = b"""Ledger:
  description: What was paid
  criticality: Critical
  owner: accounts
  tags: [money]
  labels: audit
  paths: [lib/book, "scripts/*.sh"]
  depends_on: mail
Book of books:
  includes: lib/book/books
"""


def belonging(files: dict[str, bytes], said: dict[str, str] | None = None) -> dict[str, str]:
    """The subsystem of each of these files."""
    found = _subsystems(files)
    return {path: found.of(path, detect_kind(path), (said or {}).get(path, "")).subsystem for path in sorted(files)}


def _subsystems(files: dict[str, bytes]) -> SubsystemIndex:
    tree, paths = MemoryTree(files), sorted(files)
    return SubsystemIndex(read_subsystem_catalogue(tree), find_roots(tree, paths), paths)


def tree(*paths: str, **more: bytes) -> dict[str, bytes]:
    return {**dict.fromkeys(paths, b"x"), **{name.replace("__", "."): data for name, data in more.items()}}


def test_folders_of_one_package_in_src() -> None:
    assert belonging(tree("src/app/ledger/a.py", "src/app/mail/x/b.py", "src/app/main.py", "src/top.txt", "x.py")) == {
        "src/app/ledger/a.py": "ledger",
        "src/app/mail/x/b.py": "mail",
        "src/app/main.py": "app",
        "src/top.txt": "",
        "x.py": "",
    }


def test_several_packages_in_src() -> None:
    assert belonging(tree("src/ledger/core/a.py", "src/mail/b.py")) == {
        "src/ledger/core/a.py": "ledger",
        "src/mail/b.py": "mail",
    }


def test_packages_that_pyproject_names() -> None:
    project = b"[project]\nname = 'my-tool'\n[tool.setuptools]\npackages = ['other.part']\n"
    project += b"[tool.setuptools.package-dir]\n'other.commands' = 'commands'\n"
    files = tree("my_tool/ledger/a.py", "my_tool/b.py", "other/x/c.py", "commands/d.py", pyproject__toml=project)
    assert belonging(files) == {
        "commands/d.py": "commands",
        "my_tool/b.py": "my_tool",
        "my_tool/ledger/a.py": "ledger",
        "other/x/c.py": "x",
        "pyproject.toml": "",
    }
    assert belonging(tree("src/a/b.py", pyproject__toml=b"project = [")) == {"pyproject.toml": "", "src/a/b.py": "a"}


def test_crates_modules_and_packages() -> None:
    workspace = b"[workspace]\nmembers = ['quic/*', 'tool']\n"
    files = tree(
        *("quic/core/Cargo.toml", "quic/core/src/a.rs", "tool/Cargo.toml", "tool/src/x/b.rs", "other/src/c.rs"),
        *("sub/go.mod", "sub/inner/d.go", "internal/store/e.go", "packages/web/f.ts", "packages/README.md"),
        Cargo__toml=workspace,
    )
    assert {path: name for path, name in belonging(files).items() if name} == {
        "internal/store/e.go": "store",
        "packages/web/f.ts": "web",
        "quic/core/Cargo.toml": "core",
        "quic/core/src/a.rs": "core",
        "sub/go.mod": "sub",
        "sub/inner/d.go": "sub",
        "tool/Cargo.toml": "tool",
        "tool/src/x/b.rs": "tool",
    }


def test_tests_and_documents_are_called_after_subsystems() -> None:
    code = ("src/app/ledger/a.py", "src/app/mail/b.py")
    files = ("tests/ledger/test_a.py", "tests/test_mail.py", "tests/other/test_c.py", "docs/Mail.md", "docs/mail/x.md")
    assert {path: name for path, name in belonging(tree(*code, *files)).items() if path in files} == {
        "docs/Mail.md": "mail",
        "docs/mail/x.md": "mail",
        "tests/ledger/test_a.py": "ledger",
        "tests/other/test_c.py": "",
        "tests/test_mail.py": "mail",
    }


HTTP = ("src/pkg/http/client.py", "src/pkg/db/pool.py", "src/pkg/cli.py", "src/pkg/__init__.py")


def test_usual_layouts_of_tests_and_documents() -> None:
    ##= man/spec/knowledge.md#subsystems
    ##= type=test
    ##% A test or document MUST belong to the subsystem that its path names below `tests` or `docs`, and a test
    ##% otherwise to that of its imports or of the requirements that it cites.
    expected = {
        "docs/cli.md": "pkg",
        "docs/guides/http/intro.md": "http",
        "docs/guides/intro.md": "",
        "tests/http/db/test_x.py": "db",
        "tests/integration/db/test_pool.py": "db",
        "tests/test_cli.py": "pkg",
        "tests/test_http_client.py": "http",
        "tests/test_other.py": "",
        "tests/unit/test_http.py": "http",
        "web/http.client.test.ts": "http",
    }
    assert {path: name for path, name in belonging(tree(*HTTP, *expected)).items() if path in expected} == expected


IMPORTS = {
    "from pkg.http.client import Client, Other": "http",
    "import pkg.db.pool": "db",
    "from pkg import db": "db",
    "from pkg.cli import main": "pkg",
    "import pkg": "pkg",
    "from http.client import HTTPConnection\nimport os.path\nimport pkg.db.pool": "db",
    "from pkg.db import pool\nfrom pkg.http import client, server\nimport pkg.http.client": "http",
    "text = 'from pkg.http import x'": "",
    "import unknown": "",
}


@pytest.mark.parametrize("text", IMPORTS)
def test_what_a_test_imports(text: str) -> None:
    ##= man/spec/knowledge.md#subsystems
    ##= type=test
    ##% A test or document MUST belong to the subsystem that its path names below `tests` or `docs`, and a test
    ##% otherwise to that of its imports or of the requirements that it cites.
    path = "tests/test_all.py"
    found = _subsystems(tree(*HTTP, path)).of(path, detect_kind(path), imports=find_imports(path, text))
    assert found.subsystem == IMPORTS[text]


@pytest.mark.parametrize(
    ("path", "text", "code"),
    [
        ("test/all.test.ts", "import { a } from '../src/http/client.js'\n", "src/http/client.ts"),
        ("test/all.test.js", "const a = require('../src/http');\n", "src/http/index.js"),
        ("all_test.go", 'import (\n\t"testing"\n\ts "example.com/tool/internal/http"\n)\n', "internal/http/a.go"),
        ("tests/all.rs", "use crate::http::{client};\n", "src/http/client.rs"),
        ("tests/all_test.cc", '#include "http/client.h"\n', "src/http/client.cc"),
    ],
)
def test_what_tests_import_in_other_languages(path: str, text: str, code: str) -> None:
    found = _subsystems(tree(code, "src/db/x.py", path)).of(path, detect_kind(path), imports=find_imports(path, text))
    assert found.subsystem == "http"


def test_what_is_cited_together(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#subsystems
    ##= type=test
    ##% A test or document MUST belong to the subsystem that its path names below `tests` or `docs`, and a test
    ##% otherwise to that of its imports or of the requirements that it cites.
    folder = written(tmp_path, {"tests/test_all.py": LEDGER["tests/ledger/test_book.py"], **LEDGER})
    for _ in range(2):
        taken(folder)
        with closing(opened(folder)) as store:
            assert store.artifacts()["tests/test_all.py"].subsystem == "ledger"


def test_what_wins() -> None:
    ##= man/spec/knowledge.md#subsystems
    ##= type=test
    ##% A file MUST belong to the subsystem that its front matter names, or else that of the longest matching pattern,
    ##% or else that of its path, in any case.
    files = tree("lib/book/a.py", "lib/book/books/b.py", "scripts/x.sh", "docs/c.md", "src/ledger/d.py")
    files["subsystems.yaml"] = CATALOGUE
    said = {"docs/c.md": "Mail", "lib/book/a.py": "mail"}
    assert belonging(files, said) == {
        "docs/c.md": "Mail",
        "lib/book/a.py": "Mail",
        "lib/book/books/b.py": "Book of books",
        "scripts/x.sh": "Ledger",
        "src/ledger/d.py": "Ledger",
        "subsystems.yaml": "",
    }
    known = _subsystems(files)
    assert known.of("src/ledger/d.py", detect_kind("d.py")) == SubsystemMembership(
        "Ledger", "critical", ("money", "audit")
    )
    ledger = known.find_entry("LEDGER")
    assert ledger is not None and (ledger.owner, ledger.dependencies) == ("accounts", ("mail",))


def test_what_is_depended_on_and_is_not_there() -> None:
    ##= man/spec/knowledge.md#subsystems
    ##= type=test
    ##% `duvet ingest` MUST read subsystems from `subsystems.yaml`, `.yml` or `.json` at the top, in `.duvet`,
    ##% `.metadata` or `docs`, and stop at an error in it with its line.
    text = b"A:\n  depends_on: [b, Mial,\n    ledger]\n  dependencies: Nope\nB: {}\n"
    files = {**tree("src/ledger/a.py", "src/mail/b.py"), "subsystems.yaml": text}
    found = list(_subsystems(files).unknown())
    assert [(one.path, one.place.line, one.message, one.hint) for one in found] == [
        ("subsystems.yaml", 4, 'there is no subsystem "Nope"', ""),
        ("subsystems.yaml", 2, 'there is no subsystem "Mial"', "did you mean mail?"),
    ]
    assert not any(one.severity is Severity.ERROR for one in found)

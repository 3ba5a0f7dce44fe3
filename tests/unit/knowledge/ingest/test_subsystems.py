from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from duvet.errors import ProblemsError
from duvet.knowledge.ingest import subsystems
from duvet.knowledge.ingest.files import detect_kind
from duvet.model import Severity
from duvet.tree.files import MemoryTree
from tests.unit.knowledge.ingest.ingest_projects import LEDGER, ingest_files, opened, written


def read_catalogue(text: bytes, path: str = "subsystems.yaml") -> Sequence[subsystems.CatalogueSubsystem]:
    return subsystems.read_subsystem_catalogue(MemoryTree({path: text, "docs/subsystems.json": b'{"b": {}}'}))


def test_the_catalogue_is_read_from_several_places() -> None:
    for path in ("subsystems.yaml", ".duvet/subsystems.yml", ".metadata/subsystems.json"):
        assert [one.name for one in read_catalogue(b'{"a": {"paths": "x"}}', path)] == ["a"]
        assert [one.name for one in read_catalogue(b'{"subsystems": {"c": {}}}', path)] == ["c"]
    text = b"a: {criticality: LOW}\nb: {criticality: ' High '}\nc: {criticality: ''}\nd: {}\n"
    assert [one.criticality for one in read_catalogue(text)] == ["low", "high", "", ""]
    with pytest.raises(ProblemsError) as error:
        read_catalogue(b"a: {criticality: hihg}\n")
    problems = [(one.message, one.hint) for one in error.value.problems]
    assert problems == [('unknown criticality "hihg"', "did you mean high?")]


MANY = "too many values: the limit is 100,000"
LARGE = "too many characters in strings and keys"
BAD = {
    b"a: [1]\n": (1, "invalid type"),
    b"a:\n  path: x\n": (2, "unknown field `path`"),
    b"a:\n  tags: {}\n": (2, "invalid type"),
    b"a:\n  paths:\n  - 'x**'\n": (3, "Pattern syntax error"),
    b"a:\n  paths: x\n  includes: 'x**'\n": (3, "Pattern syntax error"),
    b"a: &x [*x]\n": (1, "the alias refers to a value that contains it"),
    b"a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
    b"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n": (5, MANY),
    b"a: {owner: &d " + b"x" * 500_000 + b"}\n" + b"".join(b"b%d: {owner: *d}\n" % n for n in range(9)): (9, LARGE),
    b"a: {\n": (2, "YAML parse error"),
    b"b: {}\na:\n  owner: x\n  criticality: urgent\n": (4, 'unknown criticality "urgent"'),
    b"A:\n  owner: x\na:\n  owner: y\n": (3, '"a" and "A" name the same subsystem'),
    b"a: {}\n' ': {}\n": (2, "a subsystem must have a name"),
    b"a: {owner: \xff}\n": (1, "UTF-8"),
}
CODES = {b"a: {\n": ("DUV001", ""), b"a: {owner: \xff}\n": ("DUV011", "save the file as UTF-8")}


def test_errors_in_the_catalogue_have_their_line() -> None:
    ##= man/spec/knowledge.md#subsystems
    ##% `duvet ingest` MUST fail if the subsystems file has errors, and report the line of each error.
    for text, (line, message) in BAD.items():
        with pytest.raises(ProblemsError) as error:
            read_catalogue(text)
        problem = error.value.problems[0]
        assert (problem.path, problem.place.line) == ("subsystems.yaml", line)
        assert message in problem.message
        if text in CODES:
            assert (problem.code, problem.hint) == CODES[text]


def index_of(files: dict[str, bytes]) -> subsystems.SubsystemIndex:
    tree, paths = MemoryTree(files), sorted(files)
    catalogue = subsystems.read_subsystem_catalogue(tree)
    return subsystems.SubsystemIndex(catalogue, subsystems.find_roots(tree, paths), paths)


def tree(*paths: str, **more: bytes) -> dict[str, bytes]:
    return {**dict.fromkeys(paths, b"x"), **{name.replace("__", "."): data for name, data in more.items()}}


def find_subsystems(files: dict[str, bytes], front: dict[str, str] | None = None) -> dict[str, str]:
    found, fronts = index_of(files), front or {}
    return {path: found.find_membership(path, detect_kind(path), fronts.get(path, "")).name for path in sorted(files)}


PROJECT = b"""[project]
name = 'my-tool'
[tool.setuptools]
packages = ['other.part']
[tool.setuptools.package-dir]
'other.commands' = 'commands'
"""
HTTP = ("src/pkg/http/client.py", "src/pkg/db/pool.py", "src/pkg/cli.py", "src/pkg/__init__.py")
LAYOUTS: dict[str, tuple[dict[str, bytes], str]] = {
    "folders of one package in src": (
        {},
        "src/app/ledger/a.py=ledger src/app/mail/x/b.py=mail src/app/main.py=app src/top.txt= x.py=",
    ),
    "several packages in src": ({}, "src/ledger/core/a.py=ledger src/mail/b.py=mail"),
    "packages that pyproject.toml names": (
        {"pyproject.toml": PROJECT},
        "commands/d.py=commands my_tool/b.py=my_tool my_tool/ledger/a.py=ledger other/x/c.py=x pyproject.toml=",
    ),
    "a broken pyproject.toml": ({"pyproject.toml": b"project = ["}, "src/a/b.py=a"),
    "crates": (
        {"Cargo.toml": b"[workspace]\nmembers = ['quic/*', 'tool']\n"},
        "Cargo.toml= quic/core/Cargo.toml=core quic/core/src/a.rs=core tool/Cargo.toml=tool tool/src/x/b.rs=tool other/c.rs=",
    ),
    "modules and packages": (
        {},
        "sub/go.mod=sub sub/inner/d.go=sub internal/store/e.go=store packages/web/f.ts=web packages/README.md=",
    ),
    "tests and documents": (
        {"src/app/ledger/a.py": b"x", "src/app/mail/b.py": b"x"},
        "docs/Mail.md=mail docs/mail/x.md=mail tests/ledger/test_a.py=ledger tests/other/test_c.py= tests/test_mail.py=mail",
    ),
    "layouts of documents": (tree(*HTTP), "docs/cli.md=pkg docs/guides/http/intro.md=http docs/guides/intro.md="),
    "layouts of tests": (
        tree(*HTTP),
        "tests/http/db/test_x.py=db tests/integration/db/test_pool.py=db tests/test_cli.py=pkg tests/test_other.py=",
    ),
    "layouts of tests of a folder": (
        tree(*HTTP),
        "tests/test_http_client.py=http tests/unit/test_http.py=http web/http.client.test.ts=http",
    ),
}
"""Files, and paths with their subsystems."""


def test_the_path_of_a_file_names_its_subsystem() -> None:
    for name, (files, paths) in LAYOUTS.items():
        expected = dict(part.split("=") for part in paths.split())
        found = find_subsystems({**tree(*expected), **files})
        assert {path: found[path] for path in expected} == expected, name


IMPORTS = {
    "from pkg.http.client import Client, Other": "http",
    "import pkg.db.pool": "db",
    "from pkg import db": "db",
    "from pkg.cli import main": "pkg",
    "import pkg": "pkg",
    "from http.client import HTTPConnection\nimport os.path\nimport pkg.db.pool": "db",
    "from pkg.db import pool\nfrom pkg.http import client, server\nimport pkg.http.client": "http",
    "from pkg.http import client\nfrom pkg.cli import main": "http",
    "text = 'from pkg.http import x'": "",
    "import unknown": "",
}
OTHER_LANGUAGES = [
    ("test/all.test.ts", "import { a } from '../src/http/client.js'\n", "src/http/client.ts"),
    ("test/all.test.js", "const a = require('../src/http');\n", "src/http/index.js"),
    ("all_test.go", 'import (\n\t"testing"\n\ts "example.com/tool/internal/http"\n)\n', "internal/http/a.go"),
    ("tests/all.rs", "use crate::http::{client};\n", "src/http/client.rs"),
    ("tests/all_test.cc", '#include "http/client.h"\n', "src/http/client.cc"),
]


def test_the_imports_of_a_test_name_its_subsystem() -> None:
    def find(path: str, text: str, *code: str) -> str:
        found = index_of(tree(*code, path))
        return found.find_membership(path, detect_kind(path), imports=subsystems.find_imports(path, text)).name

    assert {text: find("tests/test_all.py", text, *HTTP) for text in IMPORTS} == IMPORTS
    assert {find(path, text, code, "src/db/x.py") for path, text, code in OTHER_LANGUAGES} == {"http"}
    many = "".join(f"import a{number}\n" for number in range(99))
    assert subsystems.find_imports("a.py", many) == tuple(f"a{number}" for number in range(64))
    long = f"import {'a' * 201}\nimport {'b' * 200}\n{'#' * (1 << 16)}\nimport c\n"
    assert subsystems.find_imports("a.py", long) == ("b" * 200,)
    script, path = "import { a } from '../src/pkg/http'\n", "tests/all.test.js"
    for other, module, text in (("Aa.py", "__init__.py", "import pkg.http"), ("client.js", "index.js", script)):
        files = tree(f"src/pkg/http/{other}", f"src/pkg/http/{module}")
        files["subsystems.yaml"] = f"Other: {{paths: src/pkg/http/{other}}}\n".encode()
        imports = subsystems.find_imports(path, text)
        assert index_of(files).find_membership(path, detect_kind(path), imports=imports).name == "http"


def test_the_requirements_that_a_test_cites_name_its_subsystem(tmp_path: Path) -> None:
    folder = written(tmp_path, {"tests/test_all.py": LEDGER["tests/ledger/test_book.py"], **LEDGER})
    for _ in range(2):
        ingest_files(folder)
        with closing(opened(folder)) as store:
            assert store.artifacts()["tests/test_all.py"].subsystem == "ledger"


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


def test_front_matter_comes_before_patterns_and_paths() -> None:
    ##= man/spec/knowledge.md#subsystems
    ##% `duvet ingest` MUST assign a file to the subsystem in its front matter, or else to the subsystem with the
    ##% longest matching pattern, or else to the subsystem whose name occurs in the file's path.
    files = tree("lib/book/a.py", "lib/book/books/b.py", "scripts/x.sh", "docs/c.md", "src/ledger/d.py")
    files["subsystems.yaml"] = CATALOGUE
    assert find_subsystems(files, {"docs/c.md": "Mail", "lib/book/a.py": "mail"}) == {
        "docs/c.md": "Mail",
        "lib/book/a.py": "Mail",
        "lib/book/books/b.py": "Book of books",
        "scripts/x.sh": "Ledger",
        "src/ledger/d.py": "Ledger",
        "subsystems.yaml": "",
    }
    ledger = index_of(files).find_membership("src/ledger/d.py", detect_kind("d.py"))
    assert (ledger.name, ledger.criticality, ledger.tags) == ("Ledger", "critical", ("money", "audit"))
    assert (ledger.owner, ledger.dependencies) == ("accounts", ("mail",))


def test_an_unknown_dependency_is_a_warning() -> None:
    text = b"A:\n  depends_on: [b, Mial,\n    ledger]\n  dependencies: Nope\nB: {}\n"
    found = list(index_of({**tree("src/ledger/a.py", "src/mail/b.py"), "subsystems.yaml": text}).find_unknown())
    assert [(one.path, one.place.line, one.message, one.hint) for one in found] == [
        ("subsystems.yaml", 4, 'unknown subsystem "Nope"', ""),
        ("subsystems.yaml", 2, 'unknown subsystem "Mial"', "did you mean mail?"),
    ]
    assert not any(one.severity is Severity.ERROR for one in found)

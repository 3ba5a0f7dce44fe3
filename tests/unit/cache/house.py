"""A project with something of everything."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from tests.cli.made import SPECIFICATION, make

_EXTENDED = """\
'$schema' = "duvet-cli/config/v1"
[[source]]
pattern = ["src/**/*.rs", "lib/*/*.rs"]
exclude = ["src/**/old", "lib/x*"]
gitignore = true
[[source]]
pattern = "tests/**/*.rs"
type = "test"
blob-link = "${{ LINK || 'https://host/tests' }}"
[[source]]
pattern = "docs/**/*"
[[specification]]
source = "spec.md"
[[specification]]
source = "specs/tea.txt"
[[requirement]]
pattern = "notes/*.toml"
[report.html]
blob-link = "${{ LINK || 'https://host/blob' }}"
[report.json]
enabled = true
[report.snapshot]
enabled = true
"""
_SMALL = """\
'$schema' = "https://awslabs.github.io/duvet/config/v0.4.json"
[[source]]
pattern = "**/*.rs"
[[specification]]
source = "spec.md"
[report.html]
enabled = true
issue-link = "${{ LINK || OTHER }}"
"""
_ENTRIES = """\
[[not-applicable]]
target = "spec.md#pouring"
reason = "no spout"
expiry = 2030-01-31
[[not-applicable]]
target = "specs/tea.txt#1"
quote = "The pot MUST be warm."
reason = "no pot"
expiry = 2030-02-01
"""
DAYS = (None, *(date(2030, month, day) for month, day in ((1, 30), (1, 31), (2, 1), (2, 2))))
"""Before, while and after one entry and the other expires."""
NOT_OWED = _EXTENDED + _ENTRIES
CONFIGS = (
    _EXTENDED,
    NOT_OWED,
    _EXTENDED.replace("gitignore = true\n", ""),
    _EXTENDED.replace("docs/**/*", "docs/**").replace('exclude = ["src/**/old", "lib/x*"]\n', ""),
    _EXTENDED.replace("[[specification]]", "[report.snapshot]\npath = 'other.txt'\n[[specification]]", 1).replace(
        "[report.snapshot]\nenabled = true\n", ""
    ),
    _SMALL,
    _SMALL.replace("**/*.rs", "src/**x"),
    _SMALL.replace("enabled = true", "enabled = 'yes'"),
    _SMALL.replace("spec.md", "./spec.md"),
    "not TOML",
)
TEA = """\
1.  Tea

   The pot MUST be warm.  It SHOULD be brown.

2.  Milk

   Milk MAY be added, but MUST NOT be warm.
"""
BLOCKS = (
    "//= spec.md#heating\n//# The kettle MUST boil water.\n",
    "//= spec.md#heating\n//= type=test\n//# The kettle MUST boil water.\n",
    "//= spec.md#pouring\n//= type=exception\n//= reason=no\n//# The spout MAY drip.\n",
    "//= spec.md#pouring\n//= type=todo\n//# The spout MAY drip.\n",
    "//= specs/tea.txt#1\n//# The pot MUST be warm.\n",
    "//= specs/tea.txt#2\n//= type=implication\n//# Milk MAY be added,\n//# but MUST NOT be warm.\n",
    "//= spec.md#heating\n//# The kettle MUST boil watr.\n",
    "//= spec.md#heating\n//# The kettle MUST cook tea.\n",
    "//= spec.md#heeting\n//# The kettle MUST boil water.\n",
    "//= gone.md#heating\n//# The kettle MUST boil water.\n",
    "//= type=test\n",
    "fn main() {}\n",
    "",
    "\xe9\n",
)
TODO = 'target = "spec.md#heating"\n\n[[TODO]]\nquote = "It SHOULD whistle when done."\n'
HOUSE = {
    ".duvet/config.toml": _EXTENDED,
    "spec.md": SPECIFICATION,
    "specs/tea.txt": TEA,
    "src/a.rs": BLOCKS[0],
    "src/deep/er/b.rs": BLOCKS[4],
    "src/old/c.rs": BLOCKS[7],
    "lib/one/d.rs": BLOCKS[3],
    "tests/t.rs": BLOCKS[0],
    "docs/page.txt": BLOCKS[11],
    "notes/todo.toml": TODO.replace("TODO", "todo"),
    ".duvet/exceptions/e.toml": TODO.replace("TODO", "exception").replace("\n\n[", "\n\n[") + 'reason = "quiet"\n',
}
FOLDERS = (
    *("src", "src/deep", "src/deep/er", "src/old", "src/new", "src/\udcfe", "lib", "lib/one", "lib/xy"),
    *("tests", "docs", "docs/q", "docs/n\nl"),
)
NAMES = ("a.rs", "b.rs", "c.rs", "n\nl.rs", "é.rs", "\udcff.rs", "z.txt")
OUTPUTS = (
    *("out.json", "out2.json", "page.html", ".duvet/reports/report.html", ".duvet/reports/report.json"),
    *(".duvet/snapshot.txt", "other.txt", "cover/spec.lcov", "src/z.txt"),
)
OPTIONS: tuple[tuple[str, ...], ...] = (
    (),
    (),
    (),
    ("--json", "out.json", "--json-v2", "out2.json", "--html", "page.html", "--lcov", "cover"),
    ("--json", "other.json"),
    ("--json", "-"),
    ("--ci",),
    ("--strict",),
    ("--prune",),
    ("--lcov", "cover", "--require-tests", "false"),
    ("--config-path", "second.toml"),
    ("--source-pattern", "(##=,##%)docs/*", "--spec-pattern", "notes/*.toml"),
    ("--html", "docs/page.html", "--json", "src/z.txt"),
)


def fill(folder: Path) -> None:
    """The project as it is in the beginning."""
    make(folder, HOUSE)

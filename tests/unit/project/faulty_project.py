"""A project with every error that validation knows."""

from __future__ import annotations

from duvet.project.project import Project
from duvet.tree.files import MemoryTree

CONFIG = """\
'$schema' = "duvet-cli/config/v1"
[[source]]
language = "rust"
pattern = "src/**/*.rs"
[[source]]
language = "python"
pattern = "src/**/*.py"
[[specification]]
source = "tea.md"
[[specification]]
source = "docs/pot.md"
[report.html]
enabled = false
"""
TEA = """\
# Tea

## Brewing

The water MUST boil before the leaves are put into the pot.
The leaves MUST be dry.
The cup SHOULD be warm, and the host SHOULD smile at every guest.

## Serving

Everybody SHOULD wait until the host has poured the last cup of tea.
A biscuit MAY be offered to those who ask for one politely.

## Cleaning

The pot MUST be rinsed with water, and MUST NOT be washed with soap.
"""
POT = """\
# Pot

## Lid

The lid MUST fit the pot so well that no steam gets out of it.
"""
BROKEN = """\
//= tea.md#brewing
//# The water MUST cook before
//#   the leaves are put into the pot.
fn brew() {
    //= tea.md#brewing
    //= type=test
    //# Everybody SHOULD wait until the host has poured the last cup of tea.
    wait();

    //= tea.md#brewing
    //# The leafs MUST be dry.
    //= tea.md#srving
    //# A biscuit MAY be offered to those who ask for one politely.
    offer();

    //= tea.md
    //# The pot MUST be rinsed with water,
    rinse();
}

//= tae.md#cleaning
//# The pot MUST be rinsed with water, and MUST NOT be washed with soap.
fn clean() {}

//= tea.md#serving
//# The pot MUST be rinsed with water, but MUST NOT be washed with soap.
fn clean_again() {}

//= tea.md#serving
//# The lid MUST fit the pot so well that no steam gets out of it.
fn cover() {}

//= tea.md#serving
//# Nothing of the kind was ever written down by anybody.
fn invent() {}

//= ./tea.md#serving
//# Everybody SHOULD wait
fn spell() {}
"""
FIXED = (
    BROKEN.replace("MUST cook", "MUST boil")
    .replace("    //= tea.md#brewing\n    //= type=test", "    //= tea.md#serving\n    //= type=test")
    .replace("leafs", "leaves")
    .replace("srving", "serving")
    .replace("    //= tea.md\n", "    //= tea.md#cleaning\n")
    .replace("tae.md", "tea.md")
    .replace(
        "//= tea.md#serving\n//# The pot MUST be rinsed with water, but",
        "//= tea.md#cleaning\n//# The pot MUST be rinsed with water, and",
    )
    .replace("./tea.md", "tea.md")
)
DOUBTFUL = """\
//= docs/pot.md#lid
//= type=exception
//# The lid MUST fit the pot so well that no steam gets out of it.

//= docs/pot.md#lid
//# The lid MUST fit the pot
fn fit() {
    //= docs/pot.md#lid
    //# The lid MUST fit the pot
    let example = r#"
//= tea.md#serving
//# Everybody SHOULD wait
"#;
}

//= tea.md#serving
//= type=exeption
//# Everybody SHOULD wait
"""
# These are no comments of this file, so no line of it begins as they do.
RIGHT = "##= tea.md#brewing\n##% The water MUST boil before the leaves are put into the pot.\ndef brew(): ...\n"
EXCEPTIONS = """\
target = "tea.md#cleaning"

[[exception]]
quote = "The pot MUST be rinsed with vinegar"
reason = "There is no sink."
"""
FILES = {
    ".duvet/config.toml": CONFIG,
    ".duvet/exceptions/cleaning.toml": EXCEPTIONS,
    "tea.md": TEA,
    "docs/pot.md": POT,
    "src/broken.rs": BROKEN,
    "src/doubtful.rs": DOUBTFUL,
    "src/right.py": RIGHT,
    "README.md": "Tea.\n",
}


def project(files: dict[str, str] | None = None) -> Project:
    """Return the project in memory, optionally with other files."""
    return Project(tree=MemoryTree({path: text.encode() for path, text in {**FILES, **(files or {})}.items()}))

"""A project with requirements in every state that sources can give them, and its catalogue."""

from __future__ import annotations

from duvet.project.project import Project
from duvet.trace.catalogue import Catalogue
from duvet.tree.files import MemoryTree

CONFIG = """\
'$schema' = "duvet-cli/config/v1"
[[source]]
language = "rust"
pattern = "src/*.rs"
[[source]]
language = "rust"
pattern = "tests/*.rs"
type = "test"
[[specification]]
source = "tea.md"
[[specification]]
source = "pot.md"
[[specification]]
source = "spoon.md"
[report.html]
enabled = false
"""
TEA = """\
# Tea

How tea is made.

## Brewing

The water MUST boil.
The leaves MUST be dry.
The leaves MUST NOT be old.
The cup MUST be warm and clean.
The host MUST smile.
Milk MAY be added.
Sugar SHOULD be brown.
A lemon SHOULD be at hand.

## Serving

Everybody SHOULD wait.
A biscuit MAY be offered.
"""
POT = """\
# Pot

## Lid

The lid is round.
The lid MUST fit.
"""
SPOON = """\
# Spoon

A spoon is small.
"""
BREWING = """\
fn brew() {
    //= tea.md#brewing
    //# The water MUST boil.
    boil();
    //= tea.md#brewing
    //# The leaves MUST be dry.
    dry();
    //= tea.md#brewing
    //# The cup MUST be warm
    warm();
}

//= tea.md#brewing
//= type=todo
//= feature=drying
//= tracking-issue=12
//# The leaves MUST be dry.

//= tea.md#brewing
//= type=todo
//# The leaves MUST NOT be old.

//= tea.md#brewing
//= type=todo
//= tracking-issue=https://issues.example/7
//# The leaves MUST NOT be old.

//= tea.md#brewing
//= type=exception
//= reason=There is no other here.
//# Sugar SHOULD be brown.

//= tea.md#brewing
//= type=implication
//# A lemon SHOULD be at hand.

//= tea.md#serving
//= type=exception
//# A biscuit MAY be offered.

//= pot.md#lid
//= type=spec
//# The lid is round.
"""
TESTING = """\
fn brews() {
    //= tea.md#brewing
    //# The water MUST boil.
    assert!(brew());
    //= tea.md#brewing
    //# The host MUST smile.
    assert!(host());
}
"""
FILES = {
    ".duvet/config.toml": CONFIG,
    "tea.md": TEA,
    "pot.md": POT,
    "spoon.md": SPOON,
    "src/brewing.rs": BREWING,
    "tests/test_brewing.rs": TESTING,
}

RFC = "https://www.rfc-editor.org/rfc/rfc7"
RFC_FILE = ".duvet/specifications/www.rfc-editor.org/rfc/rfc7.txt"
NUMBERED = """\
1.  Pot

   One MUST be.

1.1.  Lid

   Two MUST be.

1.1.1.  Knob

   Three MUST be.

10.  Cup

   Four MUST be.

Appendix A.  Saucer

   Five MUST be.

A.1.  Rim

   Six MUST be.
"""


def catalogue_of_files(**changed: str) -> Catalogue:
    """The catalogue of the project with some files changed."""
    tree = MemoryTree({path: text.encode() for path, text in {**FILES, **changed}.items()})
    return Project(tree=tree).catalogue


def numbered_catalogue() -> Catalogue:
    """That of a project whose only specification has numbered sections."""
    config = f'\'$schema\' = "duvet-cli/config/v1"\nspecification = [{{ source = "{RFC}" }}]\n'
    tree = MemoryTree({".duvet/config.toml": config.encode(), RFC_FILE: NUMBERED.encode()})
    return Project(tree=tree).catalogue


def texts(catalogue: Catalogue, indexes: list[int] | tuple[int, ...]) -> list[str]:
    """The sentences of these requirements."""
    return [catalogue.requirements[index].text for index in indexes]

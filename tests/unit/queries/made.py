"""Projects in memory: one with requirements in every state, one with numbered sections, and one to search in."""

from __future__ import annotations

from collections.abc import Mapping
from struct import unpack

from duvet.project.project import Project
from duvet.queries.embeddings import Embedder, VectorSpace, find_embedder
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

SEARCH_CONFIG = """\
'$schema' = "https://awslabs.github.io/duvet/config/v0.4.json"
[[source]]
pattern = "src/**/*.rs"
[[specification]]
source = "tea.md"
[[specification]]
source = "retry.md"
"""
SEARCH_TEA = """\
# Tea

## Brewing

The server MUST warm the pot before the leaves are added.
A server SHOULD NOT boil the water twice.
The kettle MUST NOT be left without water.

## Serving

Cups MAY be warmed.
The server MUST pour within five minutes.
"""
RETRY = """\
# Retry tokens

## Validation

A server MUST validate each token that it is sent.
The connection error MUST be of type INVALID_TOKEN.
An error of the connection SHOULD be logged.

## Retry packets

Clients MUST discard a packet with an empty token.
"""
SOURCE = """\
//= tea.md#brewing
//# The server MUST warm the pot before the leaves are added.
fn warm() {}

//= tea.md#brewing
//= type=test
//# The server MUST warm the pot before the leaves are added.
fn warms() {}

//= retry.md#validation
//= type=todo
//# An error of the connection SHOULD be logged.
"""
SEARCH_FILES = {
    ".duvet/config.toml": SEARCH_CONFIG,
    "tea.md": SEARCH_TEA,
    "retry.md": RETRY,
    "src/server.rs": SOURCE,
}

EMBEDDED_TEXTS = (
    "A client MUST discard a packet that holds an empty token.",
    "The kettle is filled with fresh water and set on the stove.",
    "A certificate that has expired MUST be refused.",
    "Logs are rotated each night.",
    "",
    "--- *** ---",
)


def make_catalogue(files: Mapping[str, str]) -> Catalogue:
    """The catalogue of a project of these files."""
    return Project(tree=MemoryTree({path: text.encode() for path, text in files.items()})).catalogue


def catalogue_of_files(**changed: str) -> Catalogue:
    """The catalogue of the project with requirements in every state, with some files changed."""
    return make_catalogue({**FILES, **changed})


def numbered_catalogue() -> Catalogue:
    """The catalogue of a project whose only specification has numbered sections."""
    config = f'\'$schema\' = "duvet-cli/config/v1"\nspecification = [{{ source = "{RFC}" }}]\n'
    return make_catalogue({".duvet/config.toml": config, RFC_FILE: NUMBERED})


def texts(catalogue: Catalogue, indexes: list[int] | tuple[int, ...]) -> list[str]:
    """The sentences of these requirements."""
    return [catalogue.requirements[index].text for index in indexes]


def embedder() -> Embedder:
    """The installed model."""
    found = find_embedder(True)
    assert found is not None
    return found


def unpacked(space: VectorSpace, rows: bytes) -> list[list[float]]:
    """The vectors of rows."""
    size = space.width + 4
    vectors = []
    for at in range(0, len(rows), size):
        *numbers, scale = unpack(f"<{space.width}bf", rows[at : at + size])
        vectors.append([number * scale for number in numbers])
    return vectors


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))

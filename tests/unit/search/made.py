"""A small project to search in."""

from __future__ import annotations

from duvet.project.project import Project
from duvet.trace.catalogue import Catalogue
from duvet.tree.files import MemoryTree

CONFIG = """\
'$schema' = "https://awslabs.github.io/duvet/config/v0.4.json"
[[source]]
pattern = "src/**/*.rs"
[[specification]]
source = "tea.md"
[[specification]]
source = "retry.md"
"""
TEA = """\
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
FILES = {".duvet/config.toml": CONFIG, "tea.md": TEA, "retry.md": RETRY, "src/server.rs": SOURCE}


def catalogue(files: dict[str, str]) -> Catalogue:
    """The catalogue of a project in memory."""
    return Project(tree=MemoryTree({path: text.encode() for path, text in files.items()})).catalogue

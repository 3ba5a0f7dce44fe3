"""What the configuration says about the server, and what is left of it when the rest is wrong"""

from __future__ import annotations

import pytest

from duvet.config.duvet_tables import PackName
from duvet.config.project_file import CONFIG_PATH, read_config
from duvet.config.service import load_service
from duvet.config.settings import EXTENDED_SCHEMA, ServerRule
from duvet.tools.packs import BUILT_IN_PACKS, DEFAULT_PACKS
from duvet.tree.files import MemoryTree

BEGIN = f"'$schema' = '{EXTENDED_SCHEMA}'\n"
SERVER = """[server]
name = "tea"
title = "Tea"
version = "1.2.3"
description = "What tea has to be"
protocol-version = "2025-03-26"
page-size = 7
packs = []
"""
TEA = ServerRule(
    name="tea",
    title="Tea",
    version="1.2.3",
    description="What tea has to be",
    protocol_version="2025-03-26",
    page_size=7,
    packs=(),
)


def rule(tree: MemoryTree, path: str | None = None) -> ServerRule:
    return load_service(tree, {}, project_path=path).rule


def quick(text: str) -> ServerRule:
    return rule(MemoryTree({CONFIG_PATH: text.encode()}))


def test_all_of_it() -> None:
    assert quick(BEGIN + SERVER) == TEA
    assert read_config((BEGIN + SERVER).encode(), CONFIG_PATH, {}).extended


def test_nothing_of_it() -> None:
    assert quick(BEGIN) == ServerRule()
    assert rule(MemoryTree({})) == ServerRule()


def test_a_file_that_is_named() -> None:
    tree = MemoryTree({"other.toml": (BEGIN + SERVER).encode()})
    assert rule(tree, "other.toml") == TEA
    assert rule(tree, "absent.toml") == ServerRule()


def test_only_our_schema_knows_it() -> None:
    assert quick("'$schema' = 'https://awslabs.github.io/duvet/config/v0.4.0.json'\n" + SERVER) == ServerRule()


@pytest.mark.parametrize("wrong", ["[[source]]\n", "[report.pdf]\n", "[[specification]]\nformat = 'x'\n"])
def test_what_is_wrong_elsewhere_keeps_nothing_from_it(wrong: str) -> None:
    assert quick(BEGIN + SERVER + wrong) == TEA


@pytest.mark.parametrize(
    "wrong", ["[server", "server = 1\n", "[server]\nname = 1\n", "[server]\nnam = 'x'\n", "[[server]]\nname = 'x'\n"]
)
def test_what_is_wrong_in_it_leaves_the_defaults(wrong: str) -> None:
    ##= man/spec/mcp.md#handshake
    ##% The server MUST answer `initialize` without waiting for the SDK or the project, as it would later, and even with
    ##% an invalid configuration.
    assert quick(BEGIN + wrong) == ServerRule()
    assert rule(MemoryTree({CONFIG_PATH: b"server \xff"})) == ServerRule()


def test_packs_are_those_that_there_are() -> None:
    assert [pack.value for pack in PackName] == list(BUILT_IN_PACKS)
    assert ServerRule().packs == DEFAULT_PACKS

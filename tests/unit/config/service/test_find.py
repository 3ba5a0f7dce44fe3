"""Where the configuration of the service is looked for."""

from __future__ import annotations

import pytest

from duvet.config.service import SERVICE_FILE_NAMES, ServiceFile, find_service_file
from duvet.errors import DuvetError
from duvet.tree.files import MemoryTree

ALL = MemoryTree({"given.json": b"", "named.toml": b"", "other.yml": b"", "duvet.config.yaml": b""})
BOTH = {"DUVET_CONFIG": "named.toml", "CONTEXTIVE_CONFIG": "other.yml"}


def refusal(tree: MemoryTree, environ: dict[str, str], given: str | None = None) -> str:
    with pytest.raises(DuvetError) as error:
        find_service_file(tree, environ, given)
    return f"{error.value}; {error.value.hint}"


@pytest.mark.parametrize(
    ("environ", "given", "expected"),
    [
        (BOTH, "given.json", ServiceFile("given.json", "--config")),
        ({"DUVET_CONFIG": "named.toml"}, None, ServiceFile("named.toml", "DUVET_CONFIG")),
        ({"CONTEXTIVE_CONFIG": "other.yml"}, None, ServiceFile("other.yml", "CONTEXTIVE_CONFIG")),
        ({"DUVET_CONFIG": "", "CONTEXTIVE_CONFIG": "other.yml"}, None, ServiceFile("other.yml", "CONTEXTIVE_CONFIG")),
        (
            {"DUVET_CONFIG": "other.yml", "CONTEXTIVE_CONFIG": "other.yml"},
            None,
            ServiceFile("other.yml", "DUVET_CONFIG"),
        ),
        ({"DUVET_CONFIG": "", "CONTEXTIVE_CONFIG": ""}, "", ServiceFile("duvet.config.yaml", "found")),
    ],
)
def test_who_wins(environ: dict[str, str], given: str | None, expected: ServiceFile) -> None:
    ##= man/spec/service.md#configuration
    ##% duvet MUST read the service's configuration from the file of `--config`, of `DUVET_CONFIG` or
    ##% `CONTEXTIVE_CONFIG`, or from `duvet.config.*` or `contextive.config.*` in the working directory, or else use the
    ##% defaults.
    assert find_service_file(ALL, environ, given) == expected


@pytest.mark.parametrize("path", SERVICE_FILE_NAMES)
def test_each_of_eight_names_is_found(path: str) -> None:
    assert find_service_file(MemoryTree({path: b"", f"below/{path}": b""}), {}) == ServiceFile(path, "found")


def test_without_any_there_are_the_defaults() -> None:
    assert find_service_file(MemoryTree({"config.json": b""}), {}) == ServiceFile("", "defaults")


def test_several_that_are_found_or_named() -> None:
    ##= man/spec/service.md#configuration
    ##% duvet MUST fail when several files could be the configuration or a named one is missing, and name these files.
    assert refusal(MemoryTree(dict.fromkeys(("duvet.config.yml", "contextive.config.json"), b"")), {}) == (
        "more than one configuration: `duvet.config.yml` and `contextive.config.json`; "
        "keep one of them, or name it with `--config`"
    )
    assert refusal(ALL, BOTH) == (
        "two configurations: `DUVET_CONFIG` names `named.toml` and `CONTEXTIVE_CONFIG` names `other.yml`; "
        "unset one of the variables"
    )


def test_a_named_file_is_there_and_of_a_known_format() -> None:
    ##= man/spec/service.md#configuration
    ##% duvet MUST fail when several files could be the configuration or a named one is missing, and name these files.
    said = "no such file, though `{}` names it; name another, or none"
    assert refusal(ALL, {}, "gone.json") == f"gone.json: {said.format('--config')}"
    assert refusal(ALL, {"DUVET_CONFIG": "gone.json"}) == f"gone.json: {said.format('DUVET_CONFIG')}"
    assert refusal(MemoryTree({"a.json/x": b"", "config": b""}), {}, "config") == (
        "config: `--config` names a file of an unknown format; it ends in `.json`, `.yaml`, `.yml`, `.toml`"
    )

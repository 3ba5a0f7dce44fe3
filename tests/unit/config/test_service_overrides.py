"""Environment variables that override keys of the service configuration."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import to_builtins
from pytest_snapshot.plugin import Snapshot

from duvet.config.service import load_service, load_service_ingest
from duvet.config.settings import Secret
from duvet.errors import DuvetError, ProblemsError
from duvet.tree.files import MemoryTree

FILE = json.dumps({"server": {"port": 1}, "providers": {"my-local": {"defaultModel": "a"}}})
OVERRIDES: list[tuple[dict[str, str], str, Any]] = [
    ({"DUVET_SERVER__PORT": "99"}, "server.port", 99),
    ({"DUVET_SERVER__LOG_LEVEL": "debug"}, "server.log_level", "debug"),
    ({"DUVET_SERVER__RATE": " 1.5 "}, "server.rate", 1.5),
    ({"DUVET_SERVER__ALLOWED_HOSTS": "a, b"}, "server.allowed_hosts", ["a", "b"]),
    ({"DUVET_SERVER__ALLOWED_HOSTS": '["a"]'}, "server.allowed_hosts", ["a"]),
    ({"DUVET_PROVIDERS__MY_LOCAL__DEFAULT_MODEL": "b"}, "providers.my-local.default_model", "b"),
    ({"DUVET_PROVIDERS__OTHER__ENABLED": "FALSE"}, "providers.other.enabled", False),
    ({"DUVET_TOOL_PACKS__TRACE__ENABLED": "false"}, "tool_packs.trace.enabled", False),
    ({"DUVET_TOOL_PACKS__TRACE__TOOLS__GET_SECTION": "false"}, "tool_packs.trace.tools.get_section", False),
    ({"DUVET_TOOL_PACKS__MINE__SETTINGS__WATTS": "5"}, "tool_packs.mine.settings.watts", 5),
    ({"DUVET_INGEST__SYMBOLS": "auto"}, "ingest.symbols", "auto"),
    ({"DUVET_INGEST__SYMBOLS": "true"}, "ingest.symbols", True),
    ({"DUVET_STORE__PATH": "x.db"}, "store.path", "x.db"),
    ({"DUVET_PAGES": "x", "OTHER_SERVER__PORT": "x"}, "server.port", 1),
]


@pytest.mark.criterion("core 2.3.3", "core 4.1.3")
@pytest.mark.parametrize("has_file", [True, False])
@pytest.mark.parametrize(("environ", "path", "expected"), OVERRIDES)
def test_a_variable_overrides_a_key(environ: dict[str, str], path: str, expected: Any, has_file: bool) -> None:
    ##= man/spec/service.md#configuration
    ##% An environment variable `DUVET_TABLE__KEY` MUST override `KEY` in `TABLE` of the service configuration, with one
    ##% more `__` for each nested table.
    tree = MemoryTree({"duvet.config.json": FILE.encode()} if has_file else {})
    service = load_service(tree, environ)
    value: Any = service.config
    for name in path.replace("my-local", "my-local" if has_file else "my_local").split("."):
        value = value[name] if isinstance(value, dict) else getattr(value, name)
    assert (list(value) if isinstance(value, tuple) else to_builtins(value)) == (
        expected if has_file or "DUVET_PAGES" not in environ else 8931
    )
    assert service.overrides == tuple(name for name in environ if name.startswith("DUVET_") and "__" in name)


def test_variables_override_keys_of_every_kind_of_table() -> None:
    environ = {"DUVET_PROVIDERS__A__API_KEY": "secret", "DUVET_SERVER__TITLE": "T", "DUVET_INGEST__STALE_DAYS": "5"}
    project = b'\'$schema\' = "duvet-cli/config/v1"\n[server]\nname = "n"\n'
    tree = MemoryTree({".duvet/config.toml": project})
    service = load_service(tree, environ)
    assert service.config.providers["a"].api_key == Secret("secret")
    assert (service.config.server.name, service.config.server.title) == ("n", "T")
    assert load_service_ingest(tree, environ)[0].stale_days == 5


WRONG = {
    "SERVER__PORTS": "1",
    "SERVR__PORT": "1",
    "SERVER__PORT": "secret",
    "SERVER__RATE": "-1",
    "SERVER__MODE": "x",
    "SERVER__NAME": " ",
    "SERVER__PORT__X": "1",
    "PROVIDERS__A__ENABLED": "1",
    "WORKFLOWS__A__DESCRIPTION": "x",
    "PAGES__X": "1",
    "PROVIDERS__A__API_KEY": " ",
    "SERVER__ALLOWED_HOSTS": "[1]",
}


def test_a_variable_for_an_unknown_key_is_refused(problem_files: Snapshot) -> None:
    lines: list[str] = []
    for name, value in WRONG.items():
        with pytest.raises(DuvetError) as error:
            load_service(MemoryTree({}), {f"DUVET_{name}": value})
        lines.append(f"{error.value.message}; {error.value.hint}")
    problem_files.assert_match("\n".join(lines), "variables.txt")


VALUES: list[tuple[dict[str, Any], dict[str, str], Any]] = [
    ({"server": {"port": "$PORT"}}, {"PORT": "5"}, 5),
    ({"server": {"port": "${PORT:-6}"}}, {}, 6),
    ({"server": {"port": "${PORT:-6}"}}, {"PORT": ""}, 6),
    ({"server": {"port": "${PORT:-6}"}}, {"PORT": "7"}, 7),
    ({"server": {"port": "$PORT"}}, {"PORT": "x"}, "server.port: the value is not an integer from 1 to 65535 after "),
    ({"server": {"port": "$PORT"}}, {"PORT": "70000"}, "server.port: the value is not an integer from 1 to 65535 "),
    ({"server": {"port": "$PORT"}}, {}, "server.port: the environment variable `PORT` is not set"),
    ({"server": {"port": "5"}}, {}, 'server.port: invalid type: string "5", expected an integer'),
]


@pytest.mark.criterion("core 2.3.3")
@pytest.mark.parametrize(("config", "environ", "expected"), VALUES)
def test_numbers_and_defaults(config: dict[str, Any], environ: dict[str, str], expected: Any) -> None:
    ##= man/spec/service.md#configuration
    ##% In a service configuration, duvet MUST replace `$NAME` and `${NAME}` with the environment variable, and
    ##% `${NAME:-default}` with the default if the variable is not set or empty.
    tree = MemoryTree({"duvet.config.json": json.dumps(config).encode()})
    if isinstance(expected, int):
        assert load_service(tree, environ).config.server.port == expected
        return
    with pytest.raises(ProblemsError) as error:
        load_service(tree, environ)
    (problem,) = error.value.problems
    assert problem.message.startswith(expected)


@pytest.mark.parametrize(
    ("part", "is_needed"),
    [
        ({"providers": {"a": {"apiKey": "$NO"}}}, True),
        ({"providers": {"a": {"apiKey": "$NO", "enabled": False}}}, False),
        ({"providers": {"x": {}, "a": {"apiKey": "$NO"}}}, False),
        ({"providers": {"x": {}, "a": {"baseUrl": "https://$NO"}}}, False),
        ({"providers": {"x": {}, "a": {"apiKey": "$NO"}}, "routing": {"t": {"model": "a/b"}}}, True),
        ({"providers": {"x": {}, "a": {"apiKey": "$NO"}}, "routing": {"t": {"model": "x", "fallbacks": ["a"]}}}, True),
        (
            {
                "providers": {"x": {}, "a": {"apiKey": "$NO"}},
                "workflows": {"w": {"description": "x", "steps": [{"id": "s", "model": "a", "prompt": "x"}]}},
            },
            True,
        ),
        ({"toolPacks": {"trace": {"enabled": False, "settings": {"a": "$NO"}}}}, False),
        ({"toolPacks": {"trace": {"settings": {"a": "$NO"}}}}, True),
    ],
)
def test_variables_of_parts_that_nothing_needs(part: dict[str, Any], is_needed: bool) -> None:
    tree = MemoryTree({"duvet.config.json": json.dumps(part).encode()})
    if is_needed:
        with pytest.raises(ProblemsError, match="the environment variable `NO` is not set"):
            load_service(tree, {})
        return
    service = load_service(tree, {})
    (warning,) = service.warnings
    assert warning.message.endswith("the environment variable `NO` is not set") and str(warning.severity) == "warning"
    assert not service.config.providers.get("a") or not service.config.providers["a"].enabled

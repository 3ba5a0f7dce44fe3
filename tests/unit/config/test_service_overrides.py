import json
from itertools import product
from typing import Any

import pytest
from msgspec import to_builtins
from pytest_snapshot.plugin import Snapshot

from duvet.config.service import load_service, load_service_ingest
from duvet.config.service_tables import Secret
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
def test_a_variable_overrides_a_key() -> None:
    ##= man/spec/service.md#configuration
    ##% An environment variable `DUVET_TABLE__KEY` MUST override `KEY` in `TABLE` of the service configuration, with one
    ##% more `__` for each nested table.
    for (environ, path, expected), has_file in product(OVERRIDES, (True, False)):
        service = load_service(MemoryTree({"duvet.config.json": FILE.encode()} if has_file else {}), environ)
        value: Any = service.config
        for name in path.replace("my-local", "my-local" if has_file else "my_local").split("."):
            value = value[name] if isinstance(value, dict) else getattr(value, name)
        wanted = expected if has_file or "DUVET_PAGES" not in environ else 8931
        assert (list(value) if isinstance(value, tuple) else to_builtins(value)) == wanted
        assert service.overrides == tuple(name for name in environ if name.startswith("DUVET_") and "__" in name)
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
    "SERVER__TOOL_TIMEOUT": "-1",
    "INGEST__SYMBOLS": "perhaps",
    "SERVER__MODE": "x",
    "SERVER__NAME": " ",
    "SERVER__PORT__X": "1",
    "PROVIDERS__A__ENABLED": "1",
    "WORKFLOWS__A__DESCRIPTION": "x",
    "PAGES__X": "1",
    "PROVIDERS__A__API_KEY": " ",
    "SERVER__ALLOWED_HOSTS": "[1]",
}


def test_a_variable_for_an_unknown_key_is_refused(snapshot: Snapshot) -> None:
    lines: list[str] = []
    for name, value in WRONG.items():
        with pytest.raises(DuvetError) as error:
            load_service(MemoryTree({}), {f"DUVET_{name}": value})
        lines.append(f"{error.value.message}; {error.value.hint}")
    snapshot.assert_match("\n".join(lines), "problems/variables.txt")


PORTS: list[tuple[str, dict[str, str], int | str]] = [
    ("$PORT", {"PORT": "5"}, 5),
    ("${PORT:-6}", {}, 6),
    ("${PORT:-6}", {"PORT": ""}, 6),
    ("${PORT:-6}", {"PORT": "7"}, 7),
    ("$PORT", {"PORT": "x"}, "server.port: the value is not an integer from 1 to 65535 after "),
    ("$PORT", {"PORT": "70000"}, "server.port: the value is not an integer from 1 to 65535 "),
    ("$PORT", {}, "server.port: the environment variable `PORT` is not set"),
    ("5", {}, 'server.port: invalid type: string "5", expected an integer'),
]


@pytest.mark.criterion("core 2.3.3")
def test_numbers_and_defaults() -> None:
    ##= man/spec/service.md#configuration
    ##% In a service configuration, duvet MUST replace `$NAME` and `${NAME}` with the value of the environment
    ##% variable, and `${NAME:-default}` with the default if the variable is unset or empty.
    for port, environ, expected in PORTS:
        tree = MemoryTree({"duvet.config.json": json.dumps({"server": {"port": port}}).encode()})
        if isinstance(expected, int):
            assert load_service(tree, environ).config.server.port == expected
            continue
        with pytest.raises(ProblemsError) as error:
            load_service(tree, environ)
        (problem,) = error.value.problems
        assert problem.message.startswith(expected)


SECOND: dict[str, Any] = {"providers": {"x": {}, "a": {"apiKey": "$NO"}}}
STEP = {"id": "s", "model": "a", "prompt": "x"}
NEEDED: list[dict[str, Any]] = [
    {"providers": {"a": {"apiKey": "$NO"}}},
    SECOND | {"routing": {"t": {"model": "a/b"}}},
    SECOND | {"routing": {"t": {"model": "x", "fallbacks": ["a"]}}},
    SECOND | {"workflows": {"w": {"description": "x", "steps": [STEP]}}},
    {"toolPacks": {"trace": {"settings": {"a": "$NO"}}}},
]
UNNEEDED: list[dict[str, Any]] = [
    {"providers": {"a": {"apiKey": "$NO", "enabled": False}}},
    SECOND,
    {"providers": {"x": {}, "a": {"baseUrl": "https://$NO"}}},
    {"toolPacks": {"trace": {"enabled": False, "settings": {"a": "$NO"}}}},
]


def test_variables_of_parts_that_nothing_needs() -> None:
    for part in NEEDED:
        with pytest.raises(ProblemsError, match="the environment variable `NO` is not set"):
            load_service(MemoryTree({"duvet.config.json": json.dumps(part).encode()}), {})
    for part in UNNEEDED:
        service = load_service(MemoryTree({"duvet.config.json": json.dumps(part).encode()}), {})
        (warning,) = service.warnings
        assert warning.message.endswith("the environment variable `NO` is not set")
        assert str(warning.severity) == "warning"
        assert not service.config.providers.get("a") or not service.config.providers["a"].enabled

"""The JSON Schema of the service's configuration says of a file what reading it says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from duvet.config.document_formats import DOCUMENT_ENDINGS
from duvet.config.schema import DIALECT, service_schema
from duvet.errors import ProblemsError
from tests.unit.config.service.made import service, written

SCHEMA = service_schema()
VALIDATOR = Draft202012Validator(SCHEMA)
CHECK = {"path": "x", "exists": True}


def workflow(*steps: Any, **more: Any) -> dict[str, Any]:
    return {"workflows": {"w": {"description": "x", "steps": list(steps), **more}}, "providers": {"a": {}}}


def step(**more: Any) -> dict[str, Any]:
    return workflow({"id": "s", **more})


def variable(**more: Any) -> dict[str, Any]:
    return workflow({"id": "s", "tool": "x"}, variables={"n": more})


GOOD: list[dict[str, Any]] = [
    {},
    {"$schema": "https://kettle.example/schema.json"},
    {"server": {}},
    {"server": {"name": "x", "title": "y", "version": "1", "description": "z", "host": "$HOST"}},
    {"server": {"protocolVersion": "2025-11-25", "pageSize": 0, "mode": "http", "port": 65_535}},
    {"server": {"allowedHosts": [], "rate": 0, "logLevel": "trace", "logFormat": "json"}},
    {"server": {"allowedHosts": ["a", "b"], "rate": 0.5, "toolTimeout": 0.001, "shutdownTimeout": 86_400}},
    {"providers": {}, "toolPacks": {}, "workflows": {}, "routing": {}},
    {"providers": {"a": {}, "B2-_": {"kind": "anthropic", "enabled": False}}},
    {"providers": {"a": {"baseUrl": "http://x", "apiKey": "$KEY", "defaultModel": "m", "timeout": 1, "retries": 10}}},
    {"providers": {"a": {"kind": "client", "apiKey": "${KEY}", "discover": True, "llmsTxt": True}}},
    {"ingest": {}, "store": {"path": "$HOST/store.db"}},
    {"ingest": {"include": ["src", "docs/**/*.md"], "exclude": "x", "maxFileBytes": 1, "symbols": "auto"}},
    {
        "ingest": {
            "symbols": True,
            "semantic": False,
            "profile": "a.b-c_1",
            "staleDays": 0,
            "editorUri": "vscode:{path}",
        }
    },
    {"toolPacks": {"x": {"enabled": False, "mode": "read-only", "tools": {"any name": True}}}},
    {"toolPacks": {"x": {"settings": {"a": [1, 1.5, "b", False, {"c": {}}], "": []}}}},
    {"providers": {"a": {}}, "routing": {"t": {"model": "a"}, "u": {"model": "a/b/c", "fallbacks": ["a", "a/x"]}}},
    step(tool="x", description="", params={"a": {"b": [1]}}, expect={"a.b": 1}, timeoutSeconds=1),
    step(model="a/x", prompt="y", system="z", params={"maxTokens": 5}),
    step(wait={"tool": "x", "until": CHECK}),
    step(wait={"tool": "x", "params": {}, "until": CHECK, "intervalSeconds": 0.5, "timeoutSeconds": 1}),
    step(tool="x", capture=[{"name": "c", "path": "y"}], **{"assert": [CHECK, {"path": "x", "equals": 1}]}),
    step(tool="x", **{"assert": [{"path": "x", "notEquals": {"a": []}}]}),
    workflow({"id": "s", "tool": "x"}, outputs={"a": "${captures.x}"}, timeoutSeconds=5),
    variable(),
    variable(description="y"),
    variable(default="y"),
    variable(type="integer", default=1),
    variable(type="integer", default=1.0),
    variable(type="number", default=1.5),
    variable(type="boolean", default=False),
    variable(type="array", default=[1]),
    variable(type="object", default={"a": 1}),
]
BAD: list[dict[str, Any]] = [
    {"servers": {}},
    {"ingest": {"symbols": "yes"}},
    {"ingest": {"include": []}},
    {"ingest": {"profile": "a b"}},
    {"ingest": {"maxFileBytes": 0}},
    {"store": {"path": " "}},
    {"$schema": 1},
    {"server": []},
    {"server": {"nam": "x"}},
    {"server": {"name": ""}},
    {"server": {"name": "\t \n"}},
    {"server": {"name": True}},
    {"server": {"protocolVersion": "2026-07-28"}},
    {"server": {"pageSize": -1}},
    {"server": {"pageSize": True}},
    {"server": {"mode": "HTTP"}},
    {"server": {"port": 0}},
    {"server": {"port": 65_536}},
    {"server": {"port": "80"}},
    {"server": {"allowedHosts": "a"}},
    {"server": {"allowedHosts": [""]}},
    {"server": {"rate": -0.1}},
    {"server": {"toolTimeout": 0}},
    {"server": {"toolTimeout": 86_400.5}},
    {"server": {"logLevel": "warning"}},
    {"providers": []},
    {"providers": {"": {}}},
    {"providers": {"1a": {}}},
    {"providers": {"a b": {}}},
    {"providers": {"a\n": {}}},
    {"providers": {"a" * 65: {}}},
    {"providers": {"a": {"kind": "openAI"}}},
    {"providers": {"a": {"apiKey": "sk-123"}}},
    {"providers": {"a": {"apiKey": "$KEY "}}},
    {"providers": {"a": {"apiKey": "${KEY"}}},
    {"providers": {"a": {"apiKey": "$$KEY"}}},
    {"providers": {"a": {"apiKey": "$KEY\n"}}},
    {"providers": {"a": {"apiKey": "$É"}}},
    {"providers": {"a": {"apiKey": 1}}},
    {"providers": {"a": {"retries": 11}}},
    {"providers": {"a": {"retries": 0.5}}},
    {"toolPacks": {"x": {"mode": "write"}}},
    {"toolPacks": {"x": {"tools": {"a": 1}}}},
    {"toolPacks": {"x": {"settings": []}}},
    {"toolPacks": {"x": True}},
    {"routing": {"t": {}}},
    {"providers": {"a": {}}, "routing": {"t": {"model": "a/"}}},
    {"providers": {"a": {}}, "routing": {"t": {"model": "a/x y"}}},
    {"providers": {"a": {}}, "routing": {"t": {"model": "a", "fallbacks": "a"}}},
    workflow(),
    {"workflows": {"w": {"steps": [{"id": "s", "tool": "x"}]}}},
    {"workflows": {"w": {"description": "x"}}},
    workflow({"tool": "x"}),
    step(),
    step(tool=" "),
    step(tool="x", wait={"tool": "x", "until": CHECK}),
    step(tool="x", model="a", prompt="y"),
    step(model="a"),
    step(tool="x", prompt="y"),
    step(tool="x", system="y"),
    step(prompt="y"),
    step(tool="x", params=[]),
    step(tool="x", capture=[{"name": "c"}]),
    step(tool="x", timeoutSeconds=0),
    step(tool="x", **{"assert": [{"path": "x"}]}),
    step(tool="x", **{"assert": [{"path": "x", "equals": 1, "notEquals": 2}]}),
    step(tool="x", **{"assert": [{"exists": True}]}),
    step(wait={"tool": "x"}),
    step(wait={"tool": "x", "until": {"path": "y"}}),
    step(wait={"tool": "x", "until": CHECK, "intervalSeconds": 0.4}),
    variable(type="str"),
    variable(default=1),
    variable(type="integer", default=1.5),
    variable(type="integer", default=True),
    variable(type="number", default="1"),
    variable(type="array", default={}),
    variable(type="object", default=[]),
]
WITH_NULL: list[tuple[dict[str, Any], bool]] = [
    (step(tool="x", params={"a": None}, **{"assert": [{"path": "x", "equals": None}]}), True),
    ({"toolPacks": {"x": {"settings": {"a": None}}}}, True),
    ({"server": None}, False),
    ({"providers": {"a": {"apiKey": None}}}, False),
    ({"providers": {"a": None}}, False),
    (step(tool=None, model="a", prompt="x"), False),
    (variable(default=None), False),
]
BEYOND: dict[str, dict[str, Any]] = {
    "a provider that isn't there": {"routing": {"t": {"model": "a"}}},
    "a step with such a model": {**step(model="b", prompt="x")},
    "a task that is a provider": {"providers": {"a": {}}, "routing": {"a": {"model": "a"}}},
    "two steps of one name": workflow({"id": "s", "tool": "x"}, {"id": "s", "tool": "x"}),
    "two captures of one name": step(tool="x", capture=[{"name": "c", "path": "x"}, {"name": "c", "path": "y"}]),
    "names that are too much alike": {"providers": {"a-b": {}, "a_b": {}}},
    "a variable that is not set": {"server": {"host": "$NOWHERE"}},
    "a number with a point where JSON Schema takes it for an integer": {"server": {"port": 8080.0}},
}


def is_read(document: dict[str, Any], ending: str) -> bool:
    try:
        service(written(document, ending), f"duvet.config.{ending}")
    except ProblemsError as error:
        assert error.problems
        return False
    return True


def misjudged(cases: list[tuple[dict[str, Any], bool]], ending: str) -> list[tuple[str, bool, bool]]:
    """The documents of which duvet or the schema says something else, with what both say."""
    found = [(one, right, is_read(one, ending), VALIDATOR.is_valid(one)) for one, right in cases]
    return [(json.dumps(one), ours, schemas) for one, right, ours, schemas in found if {ours, schemas} != {right}]


def test_the_schema_is_one() -> None:
    VALIDATOR.check_schema(SCHEMA)
    assert (SCHEMA["$schema"], SCHEMA["title"]) == (DIALECT, "Configuration of the service of duvet")
    assert "null" not in json.dumps(SCHEMA)


@pytest.mark.parametrize("ending", DOCUMENT_ENDINGS)
def test_duvet_and_the_schema_accept_the_same_files(ending: str) -> None:
    ##= man/spec/service.md#configuration
    ##% The schema that `duvet config --schema service` prints MUST accept exactly the files that duvet accepts, apart
    ##% from names and variables.
    cases = [*((one, True) for one in GOOD), *((one, False) for one in BAD)]
    # TOML has no null.
    assert misjudged([*cases, *(WITH_NULL if ending != "toml" else ())], ending) == []


@pytest.mark.parametrize("ending", DOCUMENT_ENDINGS)
def test_duvet_refuses_what_a_schema_cannot_express(ending: str) -> None:
    found = {name: (is_read(one, ending), VALIDATOR.is_valid(one)) for name, one in BEYOND.items()}
    assert found == dict.fromkeys(BEYOND, (False, True))

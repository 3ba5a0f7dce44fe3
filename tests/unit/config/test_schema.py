import json
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from duvet.config.project_file import read_config
from duvet.config.schema import DIALECT, json_schema, service_schema
from duvet.errors import ProblemsError
from tests.unit.config.configurations import EXTENDED, UPSTREAM, encode, load

VALIDATORS = {
    UPSTREAM: Draft202012Validator(json_schema(extended=False)),
    EXTENDED: Draft202012Validator(json_schema(extended=True)),
}
SERVICE = Draft202012Validator(service_schema())
CHECK = {"path": "x", "exists": True}


def is_valid(document: dict[str, Any], schema: str) -> bool:
    """Validate as an editor does, in which dates are texts."""
    return bool(VALIDATORS[schema].is_valid(json.loads(json.dumps(document, default=str))))


def is_read(document: dict[str, Any]) -> bool:
    data = encode(document, "toml")
    assert tomllib.loads(data.decode()) == document
    try:
        read_config(data, "config.toml", {})
    except ProblemsError as error:
        assert error.problems
        return False
    return True


def test_the_schemas_are_schemas_without_null() -> None:
    for validator in [*VALIDATORS.values(), SERVICE]:
        validator.check_schema(validator.schema)
        assert validator.schema["$schema"] == DIALECT
        assert "null" not in json.dumps(validator.schema)
    fields = json_schema(extended=False)["$defs"]["UpstreamSource"]["properties"]
    style = {"description": "Prefixes of annotation comments", "$ref": "#/$defs/StyleTable", "default": {}}
    assert fields["pattern"] == {"description": "Glob pattern of the files", "type": "string"}
    assert (fields["comment-style"], fields["type"]["default"]) == (style, "implementation")


def each(table: str, *values: Any) -> list[dict[str, Any]]:
    return [{table: value} for value in values]


BOTH: list[dict[str, Any]] = [
    {},
    {"source": [{"pattern": "x"}]},
    {"source": [{"pattern": "x", "comment-style": {}, "type": "spec", "blob-link": "y"}]},
    {"requirement": [{"pattern": "x"}], "specification": [{}, {"source": "x", "format": "md"}]},
    {"report": {"html": {"enabled": False, "path": "x", "blob-link": "y", "issue-link": "z"}}},
    {"report": {"json": {"enabled": True}, "snapshot": {"path": "x"}}},
]
OURS: list[dict[str, Any]] = [
    {"source": [{"language": "python"}]},
    {"source": [{"pattern": ["x", "y"], "exclude": ["z"], "gitignore": True}]},
    {"source": [{"pattern": "x", "exclude": "z", "language": "c"}]},
    {"not-applicable": [{"target": "x", "reason": "y"}]},
    {"not-applicable": [{"target": "x#y", "quote": "z", "reason": " y", "owner": "", "expiry": date(2030, 1, 31)}]},
    {"report": {"html": {"title": "", "logo": "x", "spec-text": "full", "snippet-lines": 50, "embed-json": True}}},
    {"server": {"name": "x", "title": "y", "version": "1", "description": "z", "packs": []}},
    {"server": {"protocol-version": "2025-03-26", "page-size": 0, "packs": ["trace"]}},
]
NEITHER: list[dict[str, Any]] = [
    *each("sources", []),
    *each("source", {"pattern": "x"}, [{}], [{"pattern": 1}], [{"pattern": []}]),
    *each("source", [{"pattern": "x", "type": "citation"}], [{"pattern": "x", "language": "klingon"}]),
    *each("requirement", [{}]),
    *each("specification", [{"format": "auto"}]),
    *each("report", {"pdf": {}}, *({"html": {"snippet-lines": lines}} for lines in (-1, 51, True))),
    *each("report", *({"html": html} for html in ({"enabled": 1}, {"spec-text": "some"}, {"embed-json": 1}))),
    *each("not-applicable", {"target": "x", "reason": "y"}, [{"target": "x"}], [{"reason": "x"}]),
    *each("not-applicable", [{"target": "x", "reason": " \t"}], [{"target": "", "reason": "x"}]),
    *each("not-applicable", *([{"target": target, "quote": "y", "reason": "z"}] for target in ("x", "x#"))),
    *each("not-applicable", [{"target": "x#y", "quote": "", "reason": "z"}]),
    *each("not-applicable", [{"target": "x", "reason": "y", "expiry": 2030}]),
    *each("server", {"name": ""}, {"protocol-version": "2026-07-28"}, {"page-size": 10_001}, {"packs": "trace"}, [{}]),
]


@pytest.mark.parametrize("schema", [UPSTREAM, EXTENDED])
def test_duvet_and_the_schema_accept_the_same_files(schema: str) -> None:
    ##= man/spec/trace.md#configuration
    ##% The JSON schema that `duvet config schema` prints MUST accept exactly the keys and types that duvet accepts,
    ##% except alternative spellings of keys.
    for document in BOTH + OURS + NEITHER:
        whole = {"$schema": schema, **document}
        expected = document in BOTH or (document in OURS and schema == EXTENDED)
        assert [is_read(whole), is_valid(whole, schema)] == [expected, expected], document
    # The name of the schema itself.
    for document in ({}, *({"$schema": name} for name in (1, "", "https://awslabs.github.io/duvet/config/v9.json"))):
        assert [is_read(document), is_valid(document, schema)] == [False, False]


KEYS = st.sampled_from(["pattern", "type", "format", "source", "report", "html", "path", "language", "meta", "x"])
WORDS = st.sampled_from(["", "test", "md", "ietf", "python", "${", "é"])
LEAVES = st.one_of(WORDS, st.booleans(), st.integers(-9, 9), st.just(0.5))
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)


def table(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    named = {name.replace("_", "-"): value | VALUES for name, value in fields.items()}
    return st.fixed_dictionaries({}, optional=named)


SOURCES = table(
    pattern=WORDS | st.lists(WORDS, max_size=2),
    comment_style=table(meta=WORDS, content=WORDS),
    type=WORDS,
    blob_link=WORDS,
    exclude=WORDS | st.lists(WORDS, max_size=2),
    gitignore=st.booleans(),
    language=WORDS,
)
OUTPUTS = table(
    enabled=st.booleans(), path=WORDS, blob_link=WORDS, spec_text=WORDS | st.just("full"), snippet_lines=LEAVES
)
ENTRIES = table(target=WORDS | st.just("x#y"), quote=WORDS, reason=WORDS, owner=WORDS, expiry=st.dates())
DOCUMENTS = table(
    source=st.lists(SOURCES, max_size=2),
    requirement=st.lists(table(pattern=WORDS), max_size=2),
    specification=st.lists(table(source=WORDS, format=WORDS), max_size=2),
    report=table(html=OUTPUTS, json=OUTPUTS, snapshot=OUTPUTS),
    not_applicable=st.lists(ENTRIES, max_size=2),
)


@given(DOCUMENTS, st.sampled_from([UPSTREAM, EXTENDED]))
def test_one_verdict_on_any_document(document: dict[str, Any], schema: str) -> None:
    whole = {"$schema": schema, **document}
    assert is_read(whole) == is_valid(whole, schema)


def test_the_configurations_that_upstream_reads_are_valid(shared: Path) -> None:
    cases = {case.parent: tomllib.loads(case.read_text()) for case in shared.glob("probes/open/*/*/case.toml")}
    fine = [folder for folder, case in cases.items() if case["exit"] == [0] and "duvet report" in case["cmd"][0]]
    texts = [path.read_text("utf-8-sig") for folder in fine for path in folder.glob("project/.duvet/config.toml")]
    documents = [tomllib.loads(text) for text in texts]
    assert documents
    assert [document for document in documents if not VALIDATORS[UPSTREAM].is_valid(document)] == []


def workflow(*steps: Any, **more: Any) -> dict[str, Any]:
    return {"workflows": {"w": {"description": "x", "steps": list(steps), **more}}, "providers": {"a": {}}}


def step(**more: Any) -> dict[str, Any]:
    return workflow({"id": "s", **more})


def variable(**more: Any) -> dict[str, Any]:
    return workflow({"id": "s", "tool": "x"}, variables={"n": more})


def assertion(**check: Any) -> dict[str, Any]:
    return step(tool="x", **{"assert": [check]})


GOOD: list[dict[str, Any]] = [
    *({}, {"$schema": "https://kettle.example/schema.json"}, {"ingest": {}, "store": {"path": "$HOST/store.db"}}),
    {"providers": {}, "toolPacks": {}, "workflows": {}, "routing": {}},
    *each("server", {}, {"name": "x", "title": "y", "version": "1", "description": "z", "host": "$HOST"}),
    *each("server", {"protocolVersion": "2025-11-25", "pageSize": 0, "mode": "http", "port": 65_535}),
    *each("server", {"allowedHosts": [], "rate": 0, "logLevel": "trace", "logFormat": "json"}),
    *each("server", {"allowedHosts": ["a", "b"], "rate": 0.5, "toolTimeout": 0.001, "shutdownTimeout": 86_400}),
    *each("providers", {"a": {}, "B2-_": {"kind": "anthropic", "enabled": False}}),
    {"providers": {"a": {"baseUrl": "http://x", "apiKey": "$KEY", "defaultModel": "m", "timeout": 1, "retries": 10}}},
    {"providers": {"a": {"kind": "client", "apiKey": "${KEY}", "discover": True, "llmsTxt": True}}},
    {"ingest": {"include": ["src", "docs/**/*.md"], "exclude": "x", "maxFileBytes": 1, "symbols": "auto"}},
    *each(
        "ingest", {"symbols": True, "semantic": False, "profile": "a.b-c_1", "staleDays": 0, "editorUri": "x:{path}"}
    ),
    {"toolPacks": {"x": {"enabled": False, "mode": "read-only", "tools": {"any name": True}}}},
    {"toolPacks": {"x": {"settings": {"a": [1, 1.5, "b", False, {"c": {}}], "": []}}}},
    {"providers": {"a": {}}, "routing": {"t": {"model": "a"}, "u": {"model": "a/b/c", "fallbacks": ["a", "a/x"]}}},
    step(tool="x", description="", params={"a": {"b": [1]}}, expect={"a.b": 1}, timeoutSeconds=1),
    step(model="a/x", prompt="y", system="z", params={"maxTokens": 5}),
    step(wait={"tool": "x", "until": CHECK}),
    step(wait={"tool": "x", "params": {}, "until": CHECK, "intervalSeconds": 0.5, "timeoutSeconds": 1}),
    step(tool="x", capture=[{"name": "c", "path": "y"}], **{"assert": [CHECK, {"path": "x", "equals": 1}]}),
    assertion(path="x", notEquals={"a": []}),
    workflow({"id": "s", "tool": "x"}, outputs={"a": "${captures.x}"}, timeoutSeconds=5),
    *(variable(), variable(description="y"), variable(default="y"), variable(type="number", default=1.5)),
    *(variable(type="integer", default=1), variable(type="integer", default=1.0), variable(type="array", default=[1])),
    *(variable(type="boolean", default=False), variable(type="object", default={"a": 1})),
]
BAD: list[dict[str, Any]] = [
    *({"servers": {}}, {"store": {"path": " "}}, {"$schema": 1}, {"routing": {"t": {}}}),
    *each("ingest", {"symbols": "yes"}, {"include": []}, {"profile": "a b"}, {"maxFileBytes": 0}),
    *each("server", [], {"nam": "x"}, {"name": ""}, {"name": "\t \n"}, {"name": True}, {"logLevel": "warning"}),
    *each("server", {"protocolVersion": "2026-07-28"}, {"pageSize": -1}, {"pageSize": True}, {"mode": "HTTP"}),
    *each("server", {"port": 0}, {"port": 65_536}, {"port": "80"}, {"allowedHosts": "a"}, {"allowedHosts": [""]}),
    *each("server", {"rate": -0.1}, {"toolTimeout": 0}, {"toolTimeout": 86_400.5}),
    *each("providers", [], *({name: {}} for name in ("", "1a", "a b", "a\n", "a" * 65))),
    *each("providers", *({"a": {"apiKey": key}} for key in ("sk-123", "$KEY ", "${KEY", "$$KEY", "$KEY\n", "$É", 1))),
    *each("providers", {"a": {"kind": "openAI"}}, {"a": {"retries": 11}}, {"a": {"retries": 0.5}}),
    *each("toolPacks", {"x": {"mode": "write"}}, {"x": {"tools": {"a": 1}}}, {"x": {"settings": []}}, {"x": True}),
    *({"providers": {"a": {}}, "routing": {"t": {"model": model}}} for model in ("a/", "a/x y")),
    {"providers": {"a": {}}, "routing": {"t": {"model": "a", "fallbacks": "a"}}},
    *(workflow(), *each("workflows", {"w": {"steps": [{"id": "s", "tool": "x"}]}}, {"w": {"description": "x"}})),
    *(workflow({"tool": "x"}), step(), step(tool=" "), step(model="a"), step(prompt="y"), step(tool="x", prompt="y")),
    *(step(tool="x", wait={"tool": "x", "until": CHECK}), step(tool="x", model="a", prompt="y")),
    *(step(tool="x", system="y"), step(tool="x", params=[]), step(tool="x", timeoutSeconds=0)),
    step(tool="x", capture=[{"name": "c"}]),
    *(assertion(path="x"), assertion(path="x", equals=1, notEquals=2), assertion(exists=True)),
    *(step(wait={"tool": "x"}), step(wait={"tool": "x", "until": {"path": "y"}})),
    step(wait={"tool": "x", "until": CHECK, "intervalSeconds": 0.4}),
    *(variable(type="str"), variable(default=1), variable(type="integer", default=1.5)),
    *(variable(type="integer", default=True), variable(type="number", default="1")),
    *(variable(type="array", default={}), variable(type="object", default=[])),
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


def is_loaded(document: dict[str, Any], ending: str) -> bool:
    try:
        load(encode(document, ending), f"duvet.config.{ending}")
    except ProblemsError as error:
        assert error.problems
        return False
    return True


@pytest.mark.criterion("core 2.3.2")
def test_duvet_and_the_schema_accept_the_same_service_files() -> None:
    ##= man/spec/service.md#configuration
    ##% The schema that `duvet config schema service` prints MUST accept exactly the files that duvet accepts, except
    ##% that it checks no names and variables, and accepts no alternative spellings of keys.
    cases = [*((one, True) for one in GOOD), *((one, False) for one in BAD), *WITH_NULL]
    assert [one for one, right in cases if SERVICE.is_valid(one) != right] == []
    # What a schema can't express.
    assert [name for name, one in BEYOND.items() if not SERVICE.is_valid(one)] == []
    cases += [(one, False) for one in BEYOND.values()]
    for ending in ("json", "yaml", "toml"):
        # TOML has no null.
        wanted = [case for case in cases if ending != "toml" or case not in WITH_NULL]
        assert [one for one, right in wanted if is_loaded(one, ending) != right] == []

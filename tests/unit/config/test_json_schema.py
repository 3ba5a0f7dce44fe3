"""The JSON Schemas: they say of a file what reading it says."""

from __future__ import annotations

import json
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from duvet.config.project_file import read_config
from duvet.config.schema import DIALECT, json_schema
from duvet.errors import ProblemsError

UPSTREAM = "https://awslabs.github.io/duvet/config/v0.4.0.json"
EXTENDED = "duvet-cli/config/v1"
VALIDATORS = {
    UPSTREAM: Draft202012Validator(json_schema(extended=False)),
    EXTENDED: Draft202012Validator(json_schema(extended=True)),
}
SCHEMAS = pytest.mark.parametrize("schema", [UPSTREAM, EXTENDED])


def as_toml(value: Any) -> str:
    """A value as TOML writes it, on one line."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(key)} = {as_toml(inner)}' for key, inner in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    return json.dumps(value)


def is_valid(document: dict[str, Any], schema: str) -> bool:
    """What an editor says, for which a date is text."""
    return bool(VALIDATORS[schema].is_valid(json.loads(json.dumps(document, default=str))))


def is_read(document: dict[str, Any]) -> bool:
    text = "".join(f"{json.dumps(key)} = {as_toml(value)}\n" for key, value in document.items())
    assert tomllib.loads(text) == document
    try:
        read_config(text.encode(), "config.toml", {})
    except ProblemsError as error:
        assert error.problems
        return False
    return True


@SCHEMAS
def test_the_schemas_are_schemas(schema: str) -> None:
    validator = VALIDATORS[schema]
    validator.check_schema(validator.schema)
    assert isinstance(validator.schema, dict)
    assert validator.schema["$schema"] == DIALECT


def test_null_is_nowhere_in_them() -> None:
    assert "null" not in json.dumps([validator.schema for validator in VALIDATORS.values()])


def test_the_table_of_a_source_in_upstreams_schema() -> None:
    assert json_schema(extended=False)["$defs"]["UpstreamSource"] == {
        "title": "UpstreamSource",
        "description": "Source files, and how their comments are marked.",
        "type": "object",
        "properties": {
            "pattern": {"description": "Which files: a pattern of paths", "type": "string"},
            "comment-style": {
                "description": "What comments begin with",
                "$ref": "#/$defs/StyleTable",
                "default": {},
            },
            "type": {
                "description": "The type of comments that name none",
                "$ref": "#/$defs/SourceType",
                "default": "implementation",
            },
            "blob-link": {"description": "The URL below which these sources can be read", "type": "string"},
        },
        "required": ["pattern"],
        "additionalProperties": False,
    }


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
    {"sources": []},
    {"source": [{}]},
    {"source": [{"pattern": 1}]},
    {"source": [{"pattern": []}]},
    {"source": [{"pattern": "x", "type": "citation"}]},
    {"source": [{"pattern": "x", "language": "klingon"}]},
    {"source": {"pattern": "x"}},
    {"requirement": [{}]},
    {"specification": [{"format": "auto"}]},
    {"report": {"html": {"enabled": 1}}},
    {"report": {"html": {"spec-text": "some"}}},
    {"report": {"html": {"snippet-lines": -1}}},
    {"report": {"html": {"snippet-lines": 51}}},
    {"report": {"html": {"snippet-lines": True}}},
    {"report": {"html": {"embed-json": 1}}},
    {"report": {"pdf": {}}},
    {"not-applicable": [{"target": "x"}]},
    {"not-applicable": [{"reason": "x"}]},
    {"not-applicable": [{"target": "x", "reason": " \t"}]},
    {"not-applicable": [{"target": "", "reason": "x"}]},
    {"not-applicable": [{"target": "x", "quote": "y", "reason": "z"}]},
    {"not-applicable": [{"target": "x#", "quote": "y", "reason": "z"}]},
    {"not-applicable": [{"target": "x#y", "quote": "", "reason": "z"}]},
    {"not-applicable": [{"target": "x", "reason": "y", "expiry": 2030}]},
    {"not-applicable": {"target": "x", "reason": "y"}},
    {"server": {"name": ""}},
    {"server": {"protocol-version": "2026-07-28"}},
    {"server": {"page-size": 10_001}},
    {"server": {"packs": "trace"}},
    {"server": [{}]},
]


@SCHEMAS
def test_duvet_and_the_schema_accept_the_same_files(schema: str) -> None:
    ##= man/spec/trace.md#configuration
    ##% The schema that `duvet config --schema` prints MUST accept exactly the keys and types of values that duvet
    ##% accepts.
    for document in BOTH + OURS + NEITHER:
        whole = {"$schema": schema, **document}
        expected = document in BOTH or (document in OURS and schema == EXTENDED)
        assert [is_read(whole), is_valid(whole, schema)] == [expected, expected], document


@SCHEMAS
@pytest.mark.parametrize("name", [None, 1, "", "https://awslabs.github.io/duvet/config/v9.json"])
def test_one_verdict_on_the_name_of_the_schema(name: object, schema: str) -> None:
    document = {} if name is None else {"$schema": name}
    assert [is_read(document), is_valid(document, schema)] == [False, False]


KEYS = st.sampled_from(["pattern", "type", "format", "source", "report", "html", "path", "language", "meta", "x"])
WORDS = st.sampled_from(["", "test", "md", "ietf", "python", "${", "é"])
LEAVES = st.one_of(WORDS, st.booleans(), st.integers(-9, 9), st.just(0.5))
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)


def table(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A table that is mostly right: any of these keys, each with a value of its own or of any kind."""
    named = {name.replace("_", "-"): value | VALUES for name, value in fields.items()}
    return st.fixed_dictionaries({}, optional=named)


STYLES = table(meta=WORDS, content=WORDS)
SOURCES = table(
    pattern=WORDS | st.lists(WORDS, max_size=2),
    comment_style=STYLES,
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
    ##= man/spec/trace.md#configuration
    ##% The schema that `duvet config --schema` prints MUST accept exactly the keys and types of values that duvet
    ##% accepts.
    whole = {"$schema": schema, **document}
    assert is_read(whole) == is_valid(whole, schema)


def test_the_configurations_that_upstream_reads_are_valid(shared: Path) -> None:
    cases = {case.parent: tomllib.loads(case.read_text()) for case in shared.glob("probes/open/*/*/case.toml")}
    fine = [folder for folder, case in cases.items() if case["exit"] == [0] and "duvet report" in case["cmd"][0]]
    texts = [path.read_text("utf-8-sig") for folder in fine for path in folder.glob("project/.duvet/config.toml")]
    documents = [tomllib.loads(text) for text in texts]
    assert documents
    assert [document for document in documents if not VALIDATORS[UPSTREAM].is_valid(document)] == []

"""Identifiers of nodes."""

from __future__ import annotations

import pytest

from duvet.knowledge.graph import IdentifierError, parse_identifier

NAMES = {
    "DesignDoc:docs/README.md": ("DesignDoc", ["docs/README.md"]),
    "Code:gateway/mcp/server.py": ("SourceFile", ["gateway/mcp/server.py"]),
    "Doc:a.md": ("DesignDoc", ["a.md"]),
    "Test:a.py": ("TestCase", ["a.py"]),
    "Config:a.toml": ("ConfigFile", ["a.toml"]),
    "Spec:rfc2324": ("Specification", ["rfc2324"]),
    " Chunk:src/a::b:c.py::3 ": ("Chunk", ["src/a::b:c.py::3"]),
    "SourceFile:src%2Fa%3A%3Ab.py": ("SourceFile", ["src%2Fa%3A%3Ab.py", "src/a::b.py"]),
    "SourceFile%3Asrc%2Fa.py": ("SourceFile", ["src/a.py"]),
    "SourceFile:100%.py": ("SourceFile", ["100%.py"]),
    "Subsystem:Kettle: the second": ("Subsystem", ["Kettle: the second"]),
    f"Requirement:spec#a/{'3b' * 32}": ("Requirement", [f"spec#a/{'3b' * 32}", "spec#a/3b3b3b3b3b3b"]),
}


def test_an_identifier_is_a_label_and_a_key() -> None:
    ##= man/spec/knowledge.md#graph
    ##% `km-graph-node` MUST find a node by `LABEL:KEY`, a requirement by four or more digits of its id, and a
    ##% specification, section or requirement by its full path.
    parsed = {name: parse_identifier(name) for name in NAMES}
    assert {name: (found.label.value, list(found.keys)) for name, found in parsed.items()} == NAMES


WRONG = {
    **dict.fromkeys(
        ("", "docs/README.md", "DesignDoc:", "DesignDoc: ", f"Code:{'x' * 5000}"), "Invalid node identifier"
    ),
    ":docs/README.md": "Unsupported node label ''",
    "designdoc:a.md": "Unsupported node label 'designdoc'",
    "docs/README.md::3": "Unsupported node label 'docs/README.md'",
    "'; DROP TABLE node; --:x": "Unsupported node label ''; DROP TABLE node; --'",
}


def test_an_identifier_that_is_refused() -> None:
    for name, message in WRONG.items():
        with pytest.raises(IdentifierError) as failure:
            parse_identifier(name)
        assert failure.value.message == message and failure.value.hint

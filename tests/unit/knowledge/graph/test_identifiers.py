"""What nodes are called."""

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


@pytest.mark.parametrize("name", NAMES)
def test_labels_and_keys(name: str) -> None:
    ##= man/spec/knowledge.md#graph
    ##= type=test
    ##% `km-graph-node` MUST find a node by `LABEL:KEY`, a requirement also by four or more digits of its id, and
    ##% specifications, sections and requirements by their full path.
    found = parse_identifier(name)
    assert (found.label.value, list(found.keys)) == NAMES[name]


WRONG = {
    "": "Invalid node identifier",
    "docs/README.md": "Invalid node identifier",
    "DesignDoc:": "Invalid node identifier",
    "DesignDoc: ": "Invalid node identifier",
    "Code:" + "x" * 5000: "Invalid node identifier",
    ":docs/README.md": "Unsupported node label ''",
    "designdoc:a.md": "Unsupported node label 'designdoc'",
    "docs/README.md::3": "Unsupported node label 'docs/README.md'",
    "'; DROP TABLE node; --:x": "Unsupported node label ''; DROP TABLE node; --'",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_can_be_no_name(name: str) -> None:
    with pytest.raises(IdentifierError) as failure:
        parse_identifier(name)
    assert failure.value.message == WRONG[name]
    assert failure.value.hint

"""URIs that open a place in an editor"""

from __future__ import annotations

import pytest

from duvet.errors import DuvetError
from duvet.knowledge.search import make_editor_uri_formatter
from tests.unit.store.made import symbol

POUR = symbol("Spout.pour<T>", "method", 4, 9)


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("vscode://file/{abs_path}:{line_start}", "vscode://file//home/me/my%20tea/src/a%23b%20c.py:4"),
        ("x://{path}?from={line_start}&to={line_end}#{name}", "x://src/a%23b%20c.py?from=4&to=9#Spout.pour%3CT%3E"),
        ("x://{{{path}}}", "x://{src/a%23b%20c.py}"),
        ("x://nothing", "x://nothing"),
    ],
)
def test_uris(template: str, uri: str) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST fill in the editor's URI for each symbol, and refuse a template with an unknown field.
    made = make_editor_uri_formatter(template, "/home/me/my tea/")
    assert made is not None
    assert made("src/a#b c.py", POUR) == uri


def test_none_is_none() -> None:
    assert make_editor_uri_formatter(None, "/") is make_editor_uri_formatter("", "/") is None


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("x://{file}", "no field {file}"),
        ("x://{}", "no field {}"),
        ("x://{path.__class__}", "no field {path.__class__}"),
        ("x://{path!r}", "no field {path}"),
        ("x://{line_start:>100000000}", "no field {line_start}"),
        ("x://{path", "expected '}' before end of string"),
    ],
)
def test_other_fields_are_refused(template: str, reason: str) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST fill in the editor's URI for each symbol, and refuse a template with an unknown field.
    with pytest.raises(DuvetError) as raised:
        make_editor_uri_formatter(template, "/")
    assert raised.value.message == f"the template of editor URIs can't be used: {reason}: {template}"

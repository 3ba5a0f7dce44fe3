"""The second JSON report as text"""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import Raw

from duvet.errors import DuvetError
from duvet.reports.json_v2 import (
    InlineSource,
    V2Annotations,
    V2Report,
    V2Sources,
    build_v2_report,
    decode_v2_report,
    encode_v2_report,
)
from tests.unit.reports.made import finished

CITES = "https://awslabs.github.io/duvet/v2/annotations.json#cite"
CITE = '{"source": {"src": "l"}, "target": {"src": "s", "ranges": []}, "type": "TEST"}'


def text(sources: str = "{}", annotations: str = "{}") -> bytes:
    return f'{{"version": "2.0",\n"sources": {sources},\n"annotations": {annotations}}}'.encode()


def fault(data: bytes) -> str:
    with pytest.raises(DuvetError) as caught:
        decode_v2_report(data)
    return caught.value.message


def test_round_trip() -> None:
    report = build_v2_report(finished(blob_link="https://b.example", issue_link="https://i.example"))
    assert decode_v2_report(encode_v2_report(report)) == report


def test_buckets_may_be_absent() -> None:
    assert decode_v2_report(text()) == V2Report()


def test_unknown_buckets_are_kept() -> None:
    report = decode_v2_report(text('{"u": {"b": [1.5, "é"], "a": null}}', '{"v": 12345678901234567890123}'))
    assert report == V2Report(
        sources=V2Sources(extensions={"u": Raw('{"a":null,"b":[1.5,"é"]}'.encode())}),
        annotations=V2Annotations(extensions={"v": Raw(b"12345678901234567890123")}),
    )
    document = json.loads(encode_v2_report(report))
    assert document["sources"]["u"] == {"a": None, "b": [1.5, "é"]}
    assert document["annotations"]["v"] == 12345678901234567890123


def test_records_are_sorted() -> None:
    records = {name: InlineSource(file_name=name, contents="") for name in "ba"}
    assert list(decode_v2_report(encode_v2_report(V2Report(sources=V2Sources(inline=records)))).sources.inline) == [
        "a",
        "b",
    ]


def test_a_citation_always_says_its_level() -> None:
    report = decode_v2_report(text(annotations=f'{{"{CITES}": {{"c": {CITE}}}}}'))
    assert json.loads(encode_v2_report(report))["annotations"][CITES]["c"] == json.loads(CITE) | {"level": "AUTO"}


def test_characters_are_escaped_as_upstream_does() -> None:
    odd = '\0\b\t\n\f\r\x1f\x7f"\\/é\u2028𝄞</'
    data = encode_v2_report(V2Report(issue_links=(odd,)))
    assert '"\\u0000\\b\\t\\n\\f\\r\\u001f\x7f\\"\\\\/é\u2028𝄞</"'.encode() in data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "Input data was truncated"),
        (b"[]", "Expected `object`, got `array`"),
        (b'{"version": "2.0",\n  bad}', "JSON is malformed: object keys must be strings at line 2 column 3"),
        (b'{"version": "2.0", "extra": 1}', "unknown field `extra`"),
        (b'{"version": "2.0"}', "missing field `sources`"),
        (text(annotations=f'{{"{CITES}": {{"c": {{}}}}}}'), "missing field `source` - at `$[...]`"),
        (text(annotations=f'{{"{CITES}": null}}'), "Expected `object`, got `null`"),
        (b'{"version": "\xff"}', "a string is not UTF-8"),
        (text('{"u": ' + "[" * 9999 + "]" * 9999 + "}"), "it is nested too deeply"),
    ],
)
def test_no_report(data: bytes, message: str) -> None:
    assert fault(data) == f"failed to parse JSON: {message}"


def test_what_is_too_deep_is_not_written() -> None:
    deep = Raw(b"[" * 9999 + b"]" * 9999)
    with pytest.raises(DuvetError, match="nested too deeply"):
        encode_v2_report(V2Report(sources=V2Sources(extensions={"u": deep})))


def test_another_version() -> None:
    assert fault(text().replace(b"2.0", b"1.0")) == "unsupported report version '1.0', expected '2.0'"


@given(st.binary())
@example(b"\xef\xbb\xbf{}")
@example(b'{"version": "\\ud800"}')
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    assert fault(data)

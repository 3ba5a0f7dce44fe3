import json
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from msgspec import Raw
from pytest_snapshot.plugin import Snapshot

from duvet.errors import DuvetError, ProblemsError
from duvet.reports import json_v2
from duvet.tree.files import MemoryTree
from tests.unit.reports.report_projects import CONFIG, TYPES, finished, json_v1_of, json_v2_of

ANNOTATIONS = "https://awslabs.github.io/duvet/v2/annotations.json#"
SOURCES = "https://awslabs.github.io/duvet/v2/sources.json#"
CITES = f"{ANNOTATIONS}cite"
CITE = '{"source": {"src": "l"}, "target": {"src": "s", "ranges": []}, "type": "TEST"}'


def test_all_annotation_types_and_an_empty_project_are_written(snapshot: Snapshot) -> None:
    snapshot.assert_match(json_v2_of(finished()), "json_v2/all_types.json")
    snapshot.assert_match(json_v2_of(finished({})), "json_v2/empty.json")


def test_links_are_written() -> None:
    pattern = 'pattern = "src/**/*.rs"'
    config = CONFIG.replace(pattern, f'{pattern}\nblob-link = "https://own.example/"')
    files, blobs = TYPES | {".duvet/config.toml": config}, "https://github.com/org/repo/blob/main"
    found = json.loads(json_v2_of(finished(files, blobs, "https://issues.example")))
    assert found["issue_links"] == ["https://issues.example"]
    assert found["repositories"] == {
        "repo-2a688096043d13a6": {"blob_link": "https://github.com/org/repo/blob/main"},
        "repo-e55db6b7d5eccc6b": {"blob_link": "https://own.example/"},
    }
    repositories = {one["file_name"]: one["repository"] for one in found["sources"][f"{SOURCES}linked"].values()}
    assert (repositories["src/a.rs"], repositories["more/b.toml"]) == ("repo-e55db6b7d5eccc6b", "repo-2a688096043d13a6")


def document(files: dict[str, str]) -> Any:
    return json.loads(json_v2_of(finished(TYPES | files)))


def test_one_text_under_two_names_counts_once() -> None:
    comments = TYPES["src/a.rs"] + "\n//= ./tea.md#pot\n//# The pot MUST be warm.\n"
    found = document({"src/a.rs": comments, "./tea.md": TYPES["tea.md"]})
    assert [one["file_name"] for one in found["sources"][f"{SOURCES}inline"].values()] == ["./tea.md"]
    assert [len(found["annotations"][ANNOTATIONS + name]) for name in ("specification", "section")] == [1, 3]


def test_annotations_on_one_line_are_one_and_one_beside_a_requirement_does_not_cover_it() -> None:
    more = 'target = "tea.md#cup"\nspec = [{ quote = "A cup" }, { quote = "not be", level = "MUST" }]\n'
    more += 'todo = [{ quote = "A cu", reason = "first" }, { quote = "be ☕" }]\n'
    found = document({"more/b.toml": more, "src/a.rs": ""})
    requirements, cites = (found["annotations"][ANNOTATIONS + name].values() for name in ("requirement", "cite"))
    (cite,) = cites
    assert cite["comment"] == "first"
    assert cite["target"]["ranges"] == [{"start": 66, "end": 70}, {"start": 76, "end": 82}]
    requirement = next(one for one in requirements if one["level"] == "AUTO")
    assert requirement["origin"]["ranges"] == [{"start": 66, "end": 71}, {"start": 86, "end": 92}]
    assert list(requirement["coverage"].values()) == [[{"start": 66, "end": 70}]]
    more = 'target = "tea.md#cup"\nspec = [{ quote = "A cu" }]\ntodo = [{ quote = "p MAY" }]\n'
    requirements = document({"more/b.toml": more, "src/a.rs": ""})["annotations"][f"{ANNOTATIONS}requirement"].values()
    assert [one.get("coverage") for one in requirements if one["level"] == "AUTO"] == [None]


def test_a_specification_from_the_web_has_a_url() -> None:
    url, path = "https://example.com/tea.md", ".duvet/specifications/example.com/tea.txt"
    texts = {name: TYPES[name].replace("tea.md", url) for name in (".duvet/config.toml", "src/a.rs")}
    report = finished({**texts, path: TYPES["tea.md"]})
    found = json.loads(json_v2_of(report))
    (inline,) = found["sources"][f"{SOURCES}inline"].values()
    (specification,) = found["annotations"][f"{ANNOTATIONS}specification"].values()
    assert (inline["file_name"], specification["url"]) == (path, url)
    assert {one["target_path"] for one in json.loads(json_v1_of(report))["annotations"]} == {url}


def text(sources: str = "{}", annotations: str = "{}") -> bytes:
    return f'{{"version": "2.0",\n"sources": {sources},\n"annotations": {annotations}}}'.encode()


def fault(data: bytes) -> str:
    with pytest.raises(DuvetError) as caught:
        json_v2.decode_v2_report(data)
    return caught.value.message


def test_reading_and_writing_keep_a_report() -> None:
    report = json_v2.build_v2_report(finished(blob_link="https://b.example", issue_link="https://i.example"))
    assert json_v2.decode_v2_report(json_v2.encode_v2_report(report)) == report
    assert json_v2.decode_v2_report(text()) == json_v2.V2Report()
    report = json_v2.decode_v2_report(text('{"u": {"b": [1.5, "é"], "a": null}}', '{"v": 12345678901234567890123}'))
    assert report == json_v2.V2Report(
        sources=json_v2.V2Sources(extensions={"u": Raw('{"a":null,"b":[1.5,"é"]}'.encode())}),
        annotations=json_v2.V2Annotations(extensions={"v": Raw(b"12345678901234567890123")}),
    )
    document = json.loads(json_v2.encode_v2_report(report))
    assert document["sources"]["u"] == {"a": None, "b": [1.5, "é"]}
    assert document["annotations"]["v"] == 12345678901234567890123
    # A citation always has its level.
    report = json_v2.decode_v2_report(text(annotations=f'{{"{CITES}": {{"c": {CITE}}}}}'))
    cite = json.loads(json_v2.encode_v2_report(report))["annotations"][CITES]["c"]
    assert cite == json.loads(CITE) | {"level": "AUTO"}
    # Records are sorted by their names.
    records = {name: json_v2.InlineSource(file_name=name, contents="") for name in "ba"}
    data = json_v2.encode_v2_report(json_v2.V2Report(sources=json_v2.V2Sources(inline=records)))
    assert list(json_v2.decode_v2_report(data).sources.inline) == ["a", "b"]
    data = json_v2.encode_v2_report(json_v2.V2Report(issue_links=('\0\b\t\n\f\r\x1f\x7f"\\/é\u2028𝄞</',)))
    assert '"\\u0000\\b\\t\\n\\f\\r\\u001f\x7f\\"\\\\/é\u2028𝄞</"'.encode() in data


def test_bytes_and_values_that_are_no_report_are_refused() -> None:
    for data, message in [
        (b"", "Input data was truncated"),
        (b"[]", "Expected `object`, got `array`"),
        (b'{"version": "2.0",\n  bad}', "JSON is malformed: object keys must be strings at line 2 column 3"),
        (b'{"version": "2.0", "extra": 1}', "unknown field `extra`"),
        (b'{"version": "2.0"}', "missing field `sources`"),
        (text(annotations=f'{{"{CITES}": {{"c": {{}}}}}}'), "missing field `source` - at `$[...]`"),
        (text(annotations=f'{{"{CITES}": null}}'), "Expected `object`, got `null`"),
        (b'{"version": "\xff"}', "a string is not UTF-8"),
        (text('{"u": ' + "[" * 9999 + "]" * 9999 + "}"), "it is nested too deeply"),
        (text().replace(b"2.0", b"1.0"), "unsupported report version '1.0', expected '2.0'"),
    ]:
        assert fault(data).removeprefix("failed to parse JSON: ") == message
    deep = Raw(b"[" * 9999 + b"]" * 9999)
    with pytest.raises(DuvetError, match="nested too deeply"):
        json_v2.encode_v2_report(json_v2.V2Report(sources=json_v2.V2Sources(extensions={"u": deep})))


@given(st.binary())
@example(b"\xef\xbb\xbf{}")
@example(b'{"version": "\\ud800"}')
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    assert fault(data)


def test_reports_are_read_and_every_file_without_one_is_named() -> None:
    report, empty = json_v2.V2Report(issue_links=("i",)), json_v2.V2Report()
    written = {"b.json": json_v2.encode_v2_report(report), "a.json": json_v2.encode_v2_report(empty)}
    tree = MemoryTree({**written, "bad": b"{"})
    assert json_v2.read_reports(["b.json", "a.json"], tree) == [("b.json", report), ("a.json", empty)]
    with pytest.raises(ProblemsError) as caught:
        json_v2.read_reports(["none", "bad", "a.json"], tree)
    assert [(problem.code, problem.path, problem.message) for problem in caught.value.problems] == [
        ("DUV070", "none", "failed to open file 'none': No such file or directory (os error 2)"),
        ("DUV070", "bad", "failed to read report from 'bad': failed to parse JSON: Input data was truncated"),
    ]

"""The order of annotations, and so their ids."""

from __future__ import annotations

from msgspec.structs import replace

from duvet.model import Annotation, Kind, Level, Source
from duvet.sources.scan import order_annotations


def made(path: str = "a.rs", line: int = 1, start: int = 0, kind: Kind = Kind.CITATION) -> Annotation:
    return Annotation(path, line, kind, "a#1", "", source=Source(start, start + 3, start, start + 3))


def test_paths_sort_part_by_part() -> None:
    paths = ["/z.rs", "./z.rs", "../z.rs", "src/a/b.rs", "src/a-b.rs", "src/a.rs"]
    found = order_annotations({path: [made(path)] for path in reversed(paths)})
    assert [one.path for one in found] == paths


def test_annotations_of_a_file_sort_by_place_and_then_by_kind() -> None:
    wanted = [
        made(line=1, start=9),
        made(line=2, start=1, kind=Kind.IMPLICATION),
        made(line=2, start=2, kind=Kind.SPEC),
        made(line=2, start=2, kind=Kind.TEST),
        made(line=2, start=2, kind=Kind.CITATION),
        made(line=2, start=2, kind=Kind.EXCEPTION),
        made(line=2, start=2, kind=Kind.TODO),
        made(line=2, start=2, kind=Kind.IMPLICATION),
        made(line=10),
    ]
    assert order_annotations({"a.rs": wanted[::-1]}) == tuple(wanted)


def test_the_rest_decides_last() -> None:
    first = made()
    wanted = [
        first,
        replace(first, blob_link=""),
        replace(first, blob_link="a"),
        replace(first, tags=("t",)),
        replace(first, tracking_issue="t"),
        replace(first, feature="f"),
        replace(first, reason="r"),
        replace(first, level=Level.MUST),
    ]
    assert order_annotations({"a.rs": wanted[::-1]}) == tuple(wanted)


def test_equal_annotations_become_one() -> None:
    one, other = made(), replace(made(), blob_link="https://host")
    assert order_annotations({"a.rs": [other, one, made(), other]}) == (one, other)


def test_lines_that_rise_are_in_order() -> None:
    found = [made(line=1), made(line=3), made(line=8)]
    assert order_annotations({"b.rs": found, "a.rs": []}) == tuple(found)

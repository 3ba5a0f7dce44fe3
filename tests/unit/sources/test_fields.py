"""The fields of an annotation, and every way to get one wrong."""

from __future__ import annotations

import pytest

from duvet.model import Annotation, Format, Kind, Level, Note, Place, Problem
from duvet.sources.comments import SourceStyle, scan_comments

TYPES = '["spec", "test", "implementation", "exception", "todo", "implication"]'


def scanned(*fields: str) -> tuple[list[Annotation], list[Problem]]:
    return scan_comments("a.rs", "\n".join(f"  //= {field}" for field in fields), SourceStyle())


def one(*fields: str) -> Annotation:
    found, problems = scanned(*fields)
    assert problems == []
    return found[0]


def wrong(*fields: str) -> list[Problem]:
    found, problems = scanned(*fields)
    assert found == []
    return problems


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("SPEC", Kind.SPEC),
        ("spec", Kind.SPEC),
        ("TEST", Kind.TEST),
        ("test", Kind.TEST),
        ("IMPLEMENTATION", Kind.CITATION),
        ("implementation", Kind.CITATION),
        ("CITATION", Kind.CITATION),
        ("citation", Kind.CITATION),
        ("EXCEPTION", Kind.EXCEPTION),
        ("exception", Kind.EXCEPTION),
        ("TODO", Kind.TODO),
        ("todo", Kind.TODO),
        ("IMPLICATION", Kind.IMPLICATION),
        ("implication", Kind.IMPLICATION),
    ],
)
def test_types(word: str, kind: Kind) -> None:
    assert one("a#1", f"type={word}").kind is kind


@pytest.mark.parametrize("level", Level)
def test_levels(level: Level) -> None:
    assert one("a#1", f"level={level.name}").level is level


@pytest.mark.parametrize(
    ("word", "format"),
    [
        ("auto", Format.AUTO),
        ("AUTO", Format.AUTO),
        ("ietf", Format.IETF),
        ("IETF", Format.IETF),
        ("markdown", Format.MARKDOWN),
        ("MARKDOWN", Format.MARKDOWN),
        ("md", Format.MARKDOWN),
    ],
)
def test_formats(word: str, format: Format) -> None:
    assert one("a#1", f"format={word}").format is format


@pytest.mark.parametrize("kind", ["exception", "implication", "citation", "test"])
def test_reasons_are_joined(kind: str) -> None:
    assert one("a#1", f"type={kind}", "reason=one", "reason=", "reason = two").reason == "one  two"


def test_what_a_todo_may_say() -> None:
    found = one("a#1", "type=todo", "feature=pots", "tracking-issue=https://host/7")
    assert (found.feature, found.tracking_issue) == ("pots", "https://host/7")


def test_the_target_may_have_its_name() -> None:
    assert one("type=test", "source = a#1").target == "a#1"


def test_an_unknown_key() -> None:
    ##= man/spec/trace.md#annotations
    ##% duvet MUST report an annotation without a target, and a key that is unknown, repeated or not allowed for its
    ##% type, where it is written.
    hint = (
        "known are type, level, format, reason, feature, tracking-issue; "
        "a target with `=` in it can be written as source=TARGET"
    )
    assert wrong("a#1", "tags=x") == [
        Problem("DUV020", "invalid metadata field", "a.rs", Place(2, 7, 4), "defined here", hint)
    ]
    assert [(one.code, one.place) for one in wrong("https://host/?a=b#1")] == [
        ("DUV020", Place(1, 7, 15)),
        ("DUV025", Place(1, 23, 3)),
    ]
    assert wrong("a#1", "=x")[0].place == Place(2, 7, 1)
    assert wrong("a#1", "Type=test")[0].code == "DUV020"


@pytest.mark.parametrize("key", ["type", "level", "format", "feature", "tracking-issue"])
def test_a_repeated_key(key: str) -> None:
    ##= man/spec/trace.md#annotations
    ##% duvet MUST report an annotation without a target, and a key that is unknown, repeated or not allowed for its
    ##% type, where it is written.
    value = {"type": "todo", "level": "MUST", "format": "md"}.get(key, "abcd")
    fields = ["a#1", f"{key}={value}", f"{key} = {value}", *(["type=todo"] if key != "type" else [])]
    first, again = Place(2, 8 + len(key), len(value)), Place(3, 10 + len(key), len(value))
    notes = (Note(first, "already defined here"),)
    message = f'"{key}" already specified'
    assert wrong(*fields) == [Problem("DUV021", message, "a.rs", again, "redefined here", notes=notes)]


def test_a_repeated_target() -> None:
    notes = (Note(Place(1, 7, 3), "already defined here"),)
    message = '"source" already specified'
    assert wrong("a#1", "b#22") == [Problem("DUV021", message, "a.rs", Place(2, 7, 4), "redefined here", notes=notes)]
    assert wrong("a#1", "source=b#22")[0].place == Place(2, 14, 4)


@pytest.mark.parametrize(
    ("field", "code", "message"),
    [
        ("type=Test", "DUV022", f'Invalid annotation type "Test", expected one of {TYPES}'),
        (
            "level=must",
            "DUV023",
            'Invalid annotation level "must", expected one of ["AUTO", "MUST", "SHOULD", "MAY"]',
        ),
        ("format=html", "DUV024", 'Invalid spec type "html", expected one of ["auto", "ietf", "markdown"]'),
        ("type=", "DUV022", f'Invalid annotation type "", expected one of {TYPES}'),
    ],
)
def test_a_bad_value(field: str, code: str, message: str) -> None:
    key, _, value = field.partition("=")
    place = Place(2, 8 + len(key), max(1, len(value)))
    assert wrong("a#1", field) == [Problem(code, message, "a.rs", place, "error here")]


def test_no_target() -> None:
    ##= man/spec/trace.md#annotations
    ##% duvet MUST report an annotation without a target, and a key that is unknown, repeated or not allowed for its
    ##% type, where it is written.
    message, hint = "comment is missing source specification", "add a line with the target, such as `spec.md#section`"
    assert wrong("type=test", "level=MUST") == [
        Problem("DUV025", message, "a.rs", Place(1, 12, 4), "defined here", hint)
    ]


@pytest.mark.parametrize(
    ("kind", "key", "kinds"),
    [
        ("spec", "reason", "citation, exception, implication, test"),
        ("todo", "reason", "citation, exception, implication, test"),
        ("citation", "feature", "todo"),
        ("exception", "tracking-issue", "todo"),
    ],
)
def test_a_key_that_the_type_has_not(kind: str, key: str, kinds: str) -> None:
    message = f"invalid key for type {kind.upper()}"
    place = Place(3, 8 + len(key), 2)
    assert wrong("a#1", f"type={kind}", f"{key}=xy") == [
        Problem("DUV026", message, "a.rs", place, "defined here", f"`{key}` belongs to {kinds}")
    ]


def test_the_type_of_the_source_decides_too() -> None:
    ##= man/spec/trace.md#annotations
    ##% An annotation without a type MUST have the type of its source, or else be a citation.
    text = "//= a#1\n//= feature=x"
    assert scan_comments("a.rs", text, SourceStyle(kind=Kind.TODO))[1] == []
    assert [one.message for one in scan_comments("a.rs", text, SourceStyle(kind=Kind.SPEC))[1]] == [
        "invalid key for type SPEC"
    ]


def test_one_block_has_every_problem() -> None:
    problems = wrong("type=x", "level=x", "format=x", "key=x", "feature=x", "level=MAY")
    assert [(one.code, one.place.line) for one in problems] == [
        ("DUV020", 4),
        ("DUV021", 6),
        ("DUV022", 1),
        ("DUV023", 2),
        ("DUV024", 3),
        ("DUV025", 1),
    ]

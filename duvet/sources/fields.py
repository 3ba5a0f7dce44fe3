"""The fields of a comment annotation: which there are, what they may hold, and upstream's words when they don't."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

from duvet import rules
from duvet.model import Annotation, Format, Kind, Level, Note, Place, Problem, Source
from duvet.text import WHITESPACE, place_of, quoted

T = TypeVar("T")


class Choice(Struct, Generic[T], frozen=True):
    """A key whose value is one of a few words."""

    key: str
    noun: str
    known: dict[str, T]
    expected: str
    rule: rules.Rule


_KIND = Choice(
    "type",
    "annotation type",
    {
        "IMPLEMENTATION": Kind.CITATION,
        "implementation": Kind.CITATION,
        **{name: kind for kind in Kind for name in (kind.name, kind.name.lower())},
    },
    '["spec", "test", "implementation", "exception", "todo", "implication"]',
    rules.COMMENT_BAD_TYPE,
)
_LEVEL = Choice(
    "level",
    "annotation level",
    {level.name: level for level in Level},
    '["AUTO", "MUST", "SHOULD", "MAY"]',
    rules.COMMENT_BAD_LEVEL,
)
_FORMAT = Choice(
    "format",
    "spec type",
    {"md": Format.MARKDOWN, **{name: written for written in Format for name in (written.name, written.name.lower())}},
    '["auto", "ietf", "markdown"]',
    rules.COMMENT_BAD_FORMAT,
)
_REASONED = frozenset({Kind.EXCEPTION, Kind.IMPLICATION, Kind.CITATION, Kind.TEST})
_ONLY_FOR = {"reason": _REASONED, "feature": frozenset({Kind.TODO}), "tracking-issue": frozenset({Kind.TODO})}
_KEYS = ("source", "type", "level", "format", "reason", "feature", "tracking-issue")


class Field(Struct, frozen=True):
    """A line `key=value`, or a value alone, which is the target; where key and value begin."""

    key: str
    value: str
    start: int
    value_start: int
    named: bool = True


def field_of(text: str, start: int) -> Field:
    """The field that a line holds, from where it begins."""
    key, equals, value = text.partition("=")
    if not equals:
        return Field("source", text, start, start, named=False)
    trimmed = value.lstrip(WHITESPACE)
    return Field(key.rstrip(WHITESPACE), trimmed, start, start + len(text) - len(trimmed))


Given = dict[str, list[Field]]


class Fields(Struct):
    """What a block says of its annotation."""

    kind: Kind
    target: str = ""
    target_at: tuple[int, int] = (0, 0)
    level: Level = Level.AUTO
    format: Format = Format.AUTO
    reason: str = ""
    feature: str = ""
    tracking_issue: str = ""
    problems: tuple[Problem, ...] = ()

    def annotation(
        self, path: str, line: int, target: str, quote: str, blob_link: str | None, source: Source
    ) -> Annotation:
        """The annotation that they belong to."""
        return Annotation(
            path,
            line,
            self.kind,
            target,
            quote,
            self.level,
            self.format,
            self.reason,
            self.feature,
            self.tracking_issue,
            blob_link=blob_link,
            source=source,
        )


def read_fields(path: str, text: str, fields: list[Field], default: Kind) -> Fields:
    """The fields of one block with every problem that they have."""
    first = fields[0]
    if len(fields) == 1 and not first.named:
        ##= man/spec/trace.md#annotations
        ##% An annotation without a type MUST have the type that its source gives, and otherwise be a citation.
        return Fields(default, first.value, (first.start, first.start + len(first.value)))
    return _Reader(path, text).read(fields, default)


class _Reader:
    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.problems: list[Problem] = []

    def read(self, fields: list[Field], default: Kind) -> Fields:
        given = self._by_key(fields)
        kind = self._value(given, _KIND, default)
        level = self._value(given, _LEVEL, Level.AUTO)
        written = self._value(given, _FORMAT, Format.AUTO)
        if "type" not in given or given["type"][0].value in _KIND.known:
            self._check_allowed(given, kind)
        ##= man/spec/trace.md#annotations
        ##% An annotation without a target MUST be reported.
        if "source" not in given:
            self._no_target(fields[0])
        target = given.get("source", fields)[0]
        return Fields(
            kind,
            target.value,
            (target.value_start, target.value_start + len(target.value)),
            level,
            written,
            " ".join(field.value for field in given.get("reason", [])),
            _only(given, "feature"),
            _only(given, "tracking-issue"),
            tuple(self.problems),
        )

    def _by_key(self, fields: list[Field]) -> Given:
        ##= man/spec/trace.md#annotations
        ##% A key that is unknown, repeated, or not allowed for the type MUST be reported at its place.
        given: Given = {}
        for field in fields:
            if field.key not in _KEYS:
                self._unknown(field)
            elif field.key in given and field.key != "reason":
                self._repeated(field, given[field.key][0])
            else:
                given.setdefault(field.key, []).append(field)
        return given

    def _value(self, given: Given, choice: Choice[T], default: T) -> T:
        ##= man/spec/trace.md#annotations
        ##% An annotation without a type MUST have the type that its source gives, and otherwise be a citation.
        if choice.key not in given:
            return default
        field = given[choice.key][0]
        if field.value not in choice.known:
            message = f"Invalid {choice.noun} {quoted(field.value)}, expected one of {choice.expected}"
            self.problems.append(choice.rule.problem(message, self.path, self._value_place(field), label="error here"))
        return choice.known.get(field.value, default)

    def _check_allowed(self, given: Given, kind: Kind) -> None:
        ##= man/spec/trace.md#annotations
        ##% A key that is unknown, repeated, or not allowed for the type MUST be reported at its place.
        for key, kinds in _ONLY_FOR.items():
            if key in given and kind not in kinds:
                problem = rules.COMMENT_KEY_NOT_ALLOWED.problem(
                    f"invalid key for type {kind.name}",
                    self.path,
                    self._value_place(given[key][0]),
                    label="defined here",
                    hint=f"`{key}` belongs to {', '.join(sorted(kind.name.lower() for kind in kinds))}",
                )
                self.problems.append(problem)

    def _unknown(self, field: Field) -> None:
        place = place_of(self.text, field.start, field.start + len(field.key))
        hint = f"known are {', '.join(_KEYS[1:])}; a target with `=` in it can be written as source=TARGET"
        problem = rules.COMMENT_UNKNOWN_KEY.problem(
            "invalid metadata field", self.path, place, label="defined here", hint=hint
        )
        self.problems.append(problem)

    def _repeated(self, field: Field, first: Field) -> None:
        problem = rules.COMMENT_REPEATED_KEY.problem(
            f'"{field.key}" already specified',
            self.path,
            self._value_place(field),
            label="redefined here",
            notes=(Note(self._value_place(first), "already defined here"),),
        )
        self.problems.append(problem)

    def _no_target(self, first: Field) -> None:
        problem = rules.COMMENT_NO_TARGET.problem(
            "comment is missing source specification",
            self.path,
            self._value_place(first),
            label="defined here",
            hint="add a line with the target, such as `spec.md#section`",
        )
        self.problems.append(problem)

    def _value_place(self, field: Field) -> Place:
        return place_of(self.text, field.value_start, field.value_start + len(field.value))


def _only(given: Given, key: str) -> str:
    return given[key][0].value if key in given else ""

"""What may stand in a requirement file, for whoever reads it."""

from __future__ import annotations

from duvet.model import Format, Kind, Level
from duvet.text import WHITESPACE

##= man/spec/trace.md#requirement-files
##% The tables of a requirement file MUST be read under every name that awslabs duvet knows for them.
TABLES = {
    "spec": Kind.SPEC,
    "specs": Kind.SPEC,
    "exception": Kind.EXCEPTION,
    "exceptions": Kind.EXCEPTION,
    "TODO": Kind.TODO,
    "todo": Kind.TODO,
    "todos": Kind.TODO,
}
TOP = ("target", *TABLES)
FIELDS = {
    Kind.SPEC: ("target", "level", "format", "quote"),
    Kind.EXCEPTION: ("target", "quote", "reason"),
    Kind.TODO: ("target", "quote", "feature", "tracking-issue", "tracking_issue", "reason", "tags"),
}
REQUIRED = {Kind.SPEC: ("quote",), Kind.EXCEPTION: ("quote", "reason"), Kind.TODO: ("quote",)}
LEVELS = {level.name: level for level in Level}
FORMATS = {"md": Format.MARKDOWN, **{name: form for form in Format for name in (form.name, form.name.lower())}}


def quote_of(text: str) -> str:
    """The text on one line, as it is looked for in its section."""
    if "\n" not in text:
        return text.strip(WHITESPACE)
    return " ".join(filter(None, [line.strip(WHITESPACE) for line in text.split("\n")]))

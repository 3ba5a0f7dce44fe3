"""The page of the configuration, from schemas that are small enough to read."""

from __future__ import annotations

from typing import Any

from man.build import make_config_page


def schema(**source: Any) -> dict[str, Any]:
    """A file with a list of sources, and a report that is a table in a table."""
    report = {"enabled": {"type": "boolean", "default": True, "description": "Write it"}}
    return {
        "$ref": "#/$defs/File",
        "$defs": {
            "File": {
                "properties": {
                    "$schema": {"type": "string"},
                    "source": {"type": "array", "items": {"properties": source}},
                    "report": {"properties": {"html": {"$ref": "#/$defs/Report"}}},
                }
            },
            "Report": {"properties": report},
            "Type": {"enum": ["a", "b"], "description": "A letter"},
            "Style": {"properties": {"meta": {"type": "string", "description": "What begins it"}}},
        },
    }


PATTERN = {"type": "string", "description": "Which files"}
PATTERNS = {"anyOf": [{"type": "string"}, {"type": "array"}], "description": "Which files, one or more"}
TYPE = {"$ref": "#/$defs/Type", "default": "a", "description": "Which letter"}
STYLE = {"$ref": "#/$defs/Style"}

KEYS = r""".SH KEYS
.SS [[source]]
.TP
\fBpattern\fR = a string
Which files.
In the extended schema: Which files, one or more.
.TP
\fBtype\fR = a | b
Which letter. Default: \fBa\fR.
.TP
\fBstyle.meta\fR = a string
What begins it.
Only in the extended schema.
.SS [report.html]
.TP
\fBenabled\fR = true | false
Write it. Default: \fBtrue\fR.
.SH PATTERNS
"""


def test_keys_of_both_schemas() -> None:
    extended = schema(pattern=PATTERNS, type=TYPE, style=STYLE)
    page = make_config_page(schema(pattern=PATTERN, type=TYPE), extended, {("//=", "//#"): ["c", "go"]}, "1.2")
    assert KEYS in page
    assert "T{\nc, go\nT}\t//=\t//#\n" in page

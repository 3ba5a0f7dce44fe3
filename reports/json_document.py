"""JSON that people may look at on a terminal."""

from __future__ import annotations

import re
from typing import Any

from msgspec import json, to_builtins

# JSON lets them stand as they are; a terminal would obey some, and show text in another order for others.
_CONTROLS = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]")


def document(value: Any) -> bytes:
    """The value, indented; what could drive a terminal is escaped."""
    ##= man/spec/trace.md#diagnostics
    ##% Text from files MUST NOT drive the terminal.
    return _CONTROLS.sub(_escaped, json.format(_encoded(value), indent=2)) + b"\n"


def line(value: Any) -> bytes:
    """The value on one line; what could drive a terminal is escaped."""
    ##= man/spec/trace.md#diagnostics
    ##% Text from files MUST NOT drive the terminal.
    return _CONTROLS.sub(_escaped, _encoded(value)) + b"\n"


def _encoded(value: Any) -> bytes:
    try:
        return json.encode(value)
    except UnicodeEncodeError:
        return json.encode(_as_unicode(to_builtins(value)))


def _as_unicode(value: Any) -> Any:
    """The value with a mark for each byte of a file's name that is not UTF-8."""
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case dict():
            return {key: _as_unicode(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_as_unicode(inner) for inner in value]
        case _:
            return value


def _escaped(found: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(found[0].decode())

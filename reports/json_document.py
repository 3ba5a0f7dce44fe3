"""JSON that people may look at on a terminal."""

from __future__ import annotations

import re
from typing import Any

from msgspec import json

# JSON lets them stand as they are; a terminal would obey some.
_CONTROLS = re.compile(rb"\x7f|\xc2[\x80-\x9f]")


def document(value: Any) -> bytes:
    """The value, indented; what could drive a terminal is escaped."""
    ##= man/spec/trace.md#diagnostics
    ##% Text from files MUST NOT drive the terminal.
    return _CONTROLS.sub(_escaped, json.format(json.encode(value), indent=2)) + b"\n"


def _escaped(found: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(found[0].decode())

"""Where results go: a file, or standard output where the name is `-`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import BytesIO
from typing import BinaryIO

from duvet.outputs import store


def write_file(path: str, data: bytes) -> None:
    """Write a result, whole or not at all."""
    if path == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        store(path, data)


def rendered(render: Callable[[BinaryIO], None]) -> bytes:
    """What a reporter writes."""
    out = BytesIO()
    render(out)
    return out.getvalue()

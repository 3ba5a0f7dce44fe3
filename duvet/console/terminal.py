"""Detects a terminal, its width, and whether to use colours."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO

from duvet.console.command import current_settings, wants_colour
from duvet.reports.cells import TableLook

_WIDTH = 100  # The width of tables in a file or a pipe.
_MIN_WIDTH = 20


def is_on_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def detect_table_look(stream: TextIO | None = None) -> TableLook:
    settings, stream = current_settings(), stream or sys.stdout
    colour = stream is not None and wants_colour(settings.colours, settings.environ, stream)
    if stream is None or not stream.isatty():
        return TableLook(_WIDTH, colour)
    columns = settings.environ.get("COLUMNS", "")
    with suppress(OSError):
        width = int(columns) if columns.isdecimal() else os.get_terminal_size(stream.fileno()).columns
        # A terminal of unknown size has 0 columns.
        return TableLook(max(width or _WIDTH, _MIN_WIDTH), colour)
    return TableLook(_WIDTH, colour)

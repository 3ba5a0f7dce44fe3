"""Where results go: a file, or standard output where the name is `-`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

from duvet.outputs import Data, Write, leads_to_open_file, together
from duvet.terminal.streams import STANDARD_OUTPUT, pour

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def is_poured(path: str) -> bool:
    """Whether a result goes to someone who listens, and not into a file that is named so."""
    return path == STANDARD_OUTPUT or leads_to_open_file(path)


def write_file(path: str, data: bytes) -> None:
    """Write a result, whole or not at all."""
    with written_together() as write:
        write(path, data)


@contextmanager
def written_together() -> Iterator[Write]:
    """Write several results: all of them, or none."""
    poured: list[Data] = []
    with together() as write:
        ##= man/spec/trace.md#reports
        ##% `duvet report` MUST write nothing to standard output unless a report or a format of problems is sent there.
        yield lambda path, data: poured.append(data) if path == STANDARD_OUTPUT else write(path, data)
        for data in poured:
            pour(data)


def rendered(render: Callable[[BinaryIO], None]) -> bytes:
    """What a reporter writes."""
    out = _Parts()
    render(out)
    return b"".join(out.parts)


class _Parts(BytesIO):
    """Keeps what is written as it is: a report in one piece is not copied."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[bytes] = []

    def write(self, data: ReadableBuffer) -> int:
        self.parts.append(part := bytes(data))
        return len(part)

    def writelines(self, lines: Iterable[ReadableBuffer]) -> None:
        self.parts.extend(map(bytes, lines))

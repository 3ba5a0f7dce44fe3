import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.cli.command import environment
from tests.unit.specs.download_server import LONGEST
from tests.zygote import spawn

_CUT = re.compile(r"\x1b(?:\[[?0-9;]*)?\Z")
_SEQUENCE = re.compile(r"\x1b\[[?0-9;]*[A-Za-z]|\r|\n|[^\x1b\r\n]+")


class Terminal:
    """A command whose standard error is a terminal with this many columns."""

    def __init__(self, command: str, folder: Path, *args: str, columns: int = 80, term: str = "xterm") -> None:
        self.reader, writer = _open_terminal(columns)
        self.process = spawn(
            [command, "--color", "never", *args],
            cwd=folder,
            env=environment(TERM=term, NO_PROXY="127.0.0.1"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=writer,
        )
        os.close(writer)
        self.written = b""

    def until(self, line: str) -> None:
        while self.shown.drawn[-1:] != [line]:
            assert select.select([self.reader], [], [], LONGEST)[0] and self._read(), self.shown.drawn

    def code(self) -> int:
        while self._read():
            pass
        os.close(self.reader)
        return self.process.wait(LONGEST)

    @property
    def shown(self) -> "Screen":
        return Screen(self.written.decode(errors="ignore"))

    def _read(self) -> bool:
        try:
            data = os.read(self.reader, 1 << 16)
        except OSError:
            # The other end is closed.
            return False
        self.written += data
        return data != b""


class Screen:
    """Interprets what is written to a terminal, and fails for unknown escape sequences."""

    def __init__(self, written: str) -> None:
        self.lines = [""]
        self.drawn: list[str] = []
        """Each line that was drawn, without blanks at its end, as often as it was drawn anew."""
        self.has_cursor = True
        self._row = 0
        for sequence in _SEQUENCE.findall(_CUT.sub("", written)):
            self._draw(sequence)

    def _draw(self, sequence: str) -> None:
        if sequence == "\n":
            self._row += 1
            self.lines += [""] * (self._row + 1 - len(self.lines))
        elif sequence == "\x1b[1A":
            self._row -= 1
        elif sequence == "\x1b[2K":
            self.lines[self._row] = ""
        elif sequence in ("\x1b[?25l", "\x1b[?25h"):
            self.has_cursor = sequence.endswith("h")
        elif sequence != "\r":
            assert not sequence.startswith("\x1b"), sequence
            self.lines[self._row] += sequence
            self.drawn.append(self.lines[self._row].rstrip())


def show_on_terminal(
    command: str, folder: Path, *args: str, columns: int = 80, stream: str = "stdout", **environ: str
) -> str:
    """Return what the command writes to the standard streams that are a terminal with this many columns."""
    reader, writer = _open_terminal(columns)
    streams: dict[str, Any] = {**dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)}
    streams |= dict.fromkeys(stream.split(), writer)
    process = spawn([command, *args], cwd=folder, env=environment(**{"TERM": "xterm", **environ}), **streams)
    os.close(writer)
    return _read_to_the_end(process, reader)[1]


def answered(command: str, folder: Path, answers: str, *args: str) -> tuple[int, str]:
    """Run a command that asks on a terminal; return its exit code, and its output without the answers."""
    reader, writer = _open_terminal(200)
    modes = termios.tcgetattr(writer)
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(writer, termios.TCSANOW, modes)
    os.write(reader, answers.encode())
    streams: dict[str, Any] = {"stdin": writer, "stdout": subprocess.DEVNULL, "stderr": writer}
    process = spawn([command, "--color", "never", *args], cwd=folder, env=environment(TERM="xterm"), **streams)
    os.close(writer)
    return _read_to_the_end(process, reader)


def _read_to_the_end(process: subprocess.Popen[bytes], reader: int) -> tuple[int, str]:
    written = b""
    # The end is an error on some systems.
    with suppress(OSError):
        while piece := os.read(reader, 65536):
            written += piece
    code = process.wait(LONGEST)
    os.close(reader)
    return code, written.decode().replace("\r\n", "\n")


def _open_terminal(columns: int) -> tuple[int, int]:
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    return reader, writer

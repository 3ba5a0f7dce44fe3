"""The git of this machine, asked about a repository and never told to change it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from duvet.errors import DuvetError

if TYPE_CHECKING:
    from subprocess import Popen

_READ_ONLY = {
    # What is said in other languages can't be told apart, and nobody is there to answer a question.
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    # The second is for versions that don't know the first.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
}

_NO_PROGRAMS = (
    # Whoever has made a repository says in its configuration what else is to be run; these go before that.
    *("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "log.showSignature=false"),
    "--no-pager",
)


class Git:
    """Runs git in a folder."""

    def __init__(self, folder: str, environ: Mapping[str, str]) -> None:
        self.folder = folder
        kept = {name: value for name, value in environ.items() if not name.startswith("GIT_TRACE")}
        ##= man/spec/diff.md#reading
        ##% git MUST NOT be made to write anything, to fetch anything, or to ask anybody.
        self.environ = {**kept, **_READ_ONLY}

    def ask(self, *args: str) -> str | None:
        """What git answers, less the end of its last line; None where the answer is no."""
        out = self.content(*args)
        return None if out is None else os.fsdecode(out).removesuffix("\n")

    def content(self, *args: str) -> bytes | None:
        """The very bytes of an answer; None where the answer is no."""
        process = self._start(*args)
        out, _ = process.communicate()
        return out if process.returncode == 0 else None

    def require(self, *args: str) -> str:
        """What git answers; a DuvetError in its words where it can't."""
        process = self._start(*args, complaints=True)
        out, complaints = process.communicate()
        if process.returncode == 0:
            return os.fsdecode(out).removesuffix("\n")
        words = complaints.decode(errors="replace").strip().removeprefix("fatal: ")
        raise DuvetError(words or f"git {args[0]} failed", path=self.folder)

    def open(self, *args: str) -> Popen[bytes]:
        """A git that answers questions until its input is closed."""
        return self._start(*args, questions=True)

    def _start(self, *args: str, questions: bool = False, complaints: bool = False) -> Popen[bytes]:
        from subprocess import DEVNULL, PIPE, Popen

        streams: dict[str, Any] = {
            "stdin": PIPE if questions else DEVNULL,
            "stdout": PIPE,
            "stderr": PIPE if complaints else DEVNULL,
        }
        try:
            ##= man/spec/diff.md#reading
            ##% git MUST NOT be made to run a program that the configuration of a repository names.
            return Popen(["git", *_NO_PROGRAMS, *args], cwd=self.folder or None, env=self.environ, **streams)
        except (OSError, ValueError) as error:
            raise _not_started(error, self.folder) from error


def _not_started(error: OSError | ValueError, folder: str) -> DuvetError:
    if isinstance(error, ValueError):
        return DuvetError("the name of a revision can't hold a NUL")
    ##= man/spec/diff.md#faults
    ##% Where git is not installed, that MUST be said.
    if isinstance(error, FileNotFoundError) and os.path.isdir(folder or "."):
        return DuvetError("git was not found", hint="install git: earlier revisions are read with it")
    return DuvetError(f"can't run git: {error.strerror}", path=folder)

"""Runs the installed command in a clean environment, in a separate process (see `tests/zygote.py`)."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest

from duvet.version import VERSION
from tests import zygote
from tests.cli.sample_project import make
from tests.histories import ENVIRON, commit

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the words, rights and devices of Linux")

_DUVET = str(Path(sys.executable).with_name("duvet"))
Before = tuple[str, ...]
"""A command that runs another one."""

# Root may do everything, so it steps down.
NOBODY: Before = zygote.STEP_DOWN if sys.platform != "win32" and os.getuid() == 0 else ()


class Done(NamedTuple):
    code: int
    out: str
    err: str


def failed(message: str, place: str = "", hint: str = "", out: str = "") -> Done:
    code = "" if re.search(r" \[DUV\d+\]\Z", message) else " [DUV122]"
    lines = [f"error: {message}{code}", f" --> {place}" if place else "", f"  = help: {hint}" if hint else ""]
    return Done(1, out, "".join(f"{line}\n" for line in lines if line))


def failed_like_upstream(message: str, place: str = "", hint: str = "") -> Done:
    """Return the outcome of `duvet report` with one error under awslabs duvet's schema."""
    done = failed(message, place, hint)
    return done._replace(err=f"{done.err}\nencountered 1 errors\n")


class Run(Protocol):
    def __call__(self, *args: str, environ: Mapping[str, str] = ..., **more: Any) -> Done: ...


def environment(**more: str) -> dict[str, str]:
    """Return the variables that a process needs, with elapsed times disabled, because they differ."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "SYSTEMROOT")}
    return {**kept, "LANG": "C.UTF-8", "DUVET_INTERNAL_CI": "true", **more}


def run(command: str, folder: Path, *args: str, **more: Any) -> Done:
    """Run the command, and leave out the line on standard error that offers an explanation; see `run_whole`."""
    done = run_whole(command, folder, *args, **more)
    offered, codes = _OFFER.findall(done.err), _CODE.findall(done.err)
    assert set(offered) <= set(codes), done.err
    return done._replace(err=_OFFER.sub("", done.err))


_OFFER = re.compile(r'^run "duvet explain (DUV\d+)" for details\n', re.MULTILINE)
_CODE = re.compile(r"\[(DUV\d+)\]")


def run_whole(
    command: str, folder: Path, *args: str, environ: Mapping[str, str] | None = None, before: Before = (), **more: Any
) -> Done:
    """Run the command with these arguments and without a terminal; `before` is a command to start it with."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    given = {"cwd": folder, "env": environment(**(environ or {})), **streams, **more}
    done = zygote.run([command, *args], timeout=60, before=before, **given)
    out, err = ((stream or b"").decode(errors="replace") for stream in (done.stdout, done.stderr))
    return Done(done.returncode, out, err.replace(str(folder), "<project>"))


def start(command: str, folder: Path, *args: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return zygote.spawn(
        [command, *args], cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
    )


def interrupt(process: subprocess.Popen[str], *lines: str) -> Done:
    """Interrupt a process after it has written these lines to standard error, and return the outcome."""
    assert process.stderr is not None
    for wanted in lines:
        assert any(line == wanted for line in process.stderr)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return Done(process.returncode, out, err)


def runner(command: str, folder: Path) -> Run:
    return partial(run, command, folder)


def shell(command: str, folder: Path, script: str, **environ: str) -> Done:
    # A fork can't begin with closed streams.
    programs = Path(command).parent if "&-" in script else zygote.commands()
    path = f"{programs}{os.pathsep}{environ.get('PATH', os.environ['PATH'])}"
    return run("bash", folder, "-c", script, environ={**environ, "PATH": path})


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in _regular(folder)}


def times(folder: Path) -> dict[str, int]:
    return {path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in _regular(folder)}


def _regular(folder: Path) -> Iterator[Path]:
    """List regular files without the cache, which differs from run to run."""
    found = (path for path in sorted(folder.rglob("*")) if ".duvet/cache/" not in path.as_posix())
    return (path for path in found if path.is_file() and not path.is_symlink())


def play(run: Run, folder: Path, *steps: str | Mapping[str, str]) -> str:
    """Run command lines in turn, and return them with all their output; a mapping writes files in between.

    A line of standard error begins with `! `. Other lines are `git commit`, `cat FILE`, and `$ LINE` for the shell.
    """
    told, last = [], ""
    for step in steps:
        if not isinstance(step, str):
            make(folder, step)
        elif step == "git commit":
            commit(folder)
        elif step.startswith("cat "):
            told.append(f"$ {step}\n{(folder / step[4:]).read_bytes().decode()}")
        else:
            is_shell = step.startswith("$ ")
            done = shell(_DUVET, folder, step[2:], **ENVIRON) if is_shell else run(*shlex.split(step))
            shown = _show(done).replace(str(folder), "<project>")
            line = (step if is_shell else f"$ duvet {step}").replace("\x1b", "\\x1b")
            told.append(f"{line}\n" + ("as before\n" if shown == last and len(shown) > 100 else shown))
            last = shown
    return "\n".join(told).replace("\r", "\\r").replace(f"duvet {VERSION}", "duvet VERSION")


def _show(done: Done) -> str:
    lines = "".join(f"! {line}\n" if line else "!\n" for line in done.err.splitlines())
    return done.out + lines + (f"exit {done.code}\n" if done.code else "")

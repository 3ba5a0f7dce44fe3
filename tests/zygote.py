"""Runs commands as forks of a process that has imported all of duvet, which saves the time for imports.

A fork runs the same entry point as the installed script: exit code, output and signals are those of a real process.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, ClassVar, TypedDict

_SERVER = tuple(f"duvet.server.{name}" for name in ("http", "memory", "protocol", "stdio"))
ONLY_OF_SERVERS = (*_SERVER, "mcp", "pydantic", "starlette", "uvicorn")
"""Many megabytes, which make each fork slower; a zygote of its own imports them for servers."""
IMPORTED_BY_OTHERS = (  # Inside functions of their packages.
    *("anyio.to_thread", "anyio._backends._asyncio", "difflib", "encodings.idna", "mcp.server.lowlevel"),
)
_INSIDE = re.compile(r"^ +(?:from ([a-z]\w*(?:\.\w+)*) import|import ([a-z]\w*(?:\.\w+)*))", re.MULTILINE)
"""An import inside a function."""
STEP_DOWN = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
"""Put before a command, it runs as a user without rights. A zygote of its own forks those."""
_HEADER = struct.Struct("!I")
_NUMBER = struct.Struct("!i")


class Request(TypedDict):
    args: list[str]
    cwd: str
    environ: dict[str, str]
    umask: int


def spawn(
    args: Sequence[str], *, cwd: Path, env: Mapping[str, str], before: Sequence[str] = (), **more: Any
) -> subprocess.Popen[Any]:
    """Start a command, optionally after another one: as a fork if possible, otherwise as a real process."""
    if (
        tuple(before) in ((), STEP_DOWN)
        and more.keys() <= {"stdin", "stdout", "stderr", "text", "bufsize"}
        and _can_fork(args, cwd, env)
        and (zygote := Zygote.started(tuple(before), serves="mcp" in args or Path(args[0]).name != "duvet")).is_ready
    ):
        return _Forked(zygote, list(args), cwd=cwd, env=env, **more)
    if sys.platform != "win32":
        more.setdefault("preexec_fn", listen)
    return subprocess.Popen([*before, *args], cwd=cwd, env=env, **more)


def run(
    args: Sequence[str], *, timeout: float, input: bytes | None = None, **more: Any
) -> subprocess.CompletedProcess[Any]:
    if input is not None:
        more["stdin"] = subprocess.PIPE
    with spawn(args, **more) as process:
        try:
            out, err = process.communicate(input, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


_CLIENT = """\
#!{python} -IS
import _socket, posix, sys
args = [one.encode(errors="surrogateescape") for one in sys.argv]
environ = [name + b"=" + value for name, value in posix.environ.items()]
connection = _socket.socket(_socket.AF_UNIX)
connection.connect({path!r})
handles = b"".join(number.to_bytes(4, sys.byteorder) for number in range(3))
connection.sendmsg([b"."], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handles)])
connection.sendall(b"\\0".join([b"%d" % len(args), posix.getcwdb(), *args, *environ]))
connection.shutdown(_socket.SHUT_WR)
code = int(connection.recv(16))
posix._exit(code if code >= 0 else 128 - code)
"""


@cache
def commands() -> Path:
    """Return a folder for `PATH` with the installed commands, which scripts can then run as forks, too."""
    if sys.platform != "linux":
        return Path(sys.executable).parent
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path := str(folder / ".socket"))
    listening.listen()
    for name in installed():
        (folder / name).write_text(_CLIENT.format(python=sys.executable, path=path))
        (folder / name).chmod(0o755)
    threading.Thread(target=_accept, args=[listening], daemon=True).start()
    return folder


def _accept(listening: socket.socket) -> None:
    while True:
        threading.Thread(target=_answer, args=[listening.accept()[0]], daemon=True).start()


def _answer(connection: socket.socket) -> None:
    with connection:
        _, handles, *_ = socket.recv_fds(connection, 1, 3)
        count, cwd, *words = map(os.fsdecode, b"".join(iter(lambda: connection.recv(1 << 16), b"")).split(b"\0"))
        args, environ = words[: int(count)], dict(one.split("=", 1) for one in words[int(count) :])
        args[0] = str(Path(sys.executable).with_name(Path(args[0]).name))
        stdin, stdout, stderr = handles
        process = spawn(args, cwd=Path(cwd), env=environ, stdin=stdin, stdout=stdout, stderr=stderr)
        for handle in handles:
            os.close(handle)
        connection.sendall(b"%d" % process.wait())


def listen() -> None:
    """Restore the handler of SIGINT, which shells make background processes ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _can_fork(args: Sequence[str], cwd: Path, env: Mapping[str, str]) -> bool:
    return (
        sys.platform == "linux"
        and Path(args[0]).parent == Path(sys.executable).parent
        and Path(args[0]).name in installed()
        and os.access(cwd, os.X_OK)
        and _read_at_start(env) == _read_at_start(_environment())
    )


def _environment() -> dict[str, str]:
    given = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {**given, "LANG": "C.UTF-8"}


def _read_at_start(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that an interpreter and its libraries read only once, which a fork can't change."""
    return {name: value for name, value in env.items() if name.startswith(("LANG", "LC_", "LD_", "OPENBLAS", "PYTHON"))}


@cache
def installed() -> dict[str, EntryPoint]:
    scripts = entry_points(group="console_scripts")
    return {one.name: one for one in scripts if one.dist and one.dist.name == "duvet-cli"}


class _Forked(subprocess.Popen[Any]):
    """A process whose parent is the zygote, which reports how it ended."""

    def __init__(self, zygote: Zygote, args: list[str], **more: Any) -> None:
        self._zygote = zygote
        super().__init__(args, **more)

    # These three methods are the parts of Popen that start and await a process; the rest is built on them.
    def _execute_child(self, *given: Any, **_: Any) -> None:
        args, cwd, env, streams = given[0], given[5], given[6], given[10:16]
        handles = [
            handle if handle != -1 else usual
            for handle, usual in zip((streams[0], streams[3], streams[5]), (0, 1, 2), strict=True)
        ]
        self._status, theirs = socket.socketpair()
        os.umask(umask := os.umask(0))
        request = Request(args=args, cwd=str(cwd), environ=dict(env), umask=umask)
        with theirs:
            self._zygote.send(request, [*handles, theirs.fileno()])
        self.pid = _NUMBER.unpack(_exactly(self._status, _NUMBER.size))[0]
        self._child_created = True
        self._close_pipe_fds(*streams)  # type: ignore[attr-defined]

    def _internal_poll(self, _deadstate: int | None = None, *_: Any) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self._wait(None)
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self.returncode is None:
            self._status.settimeout(timeout)
            try:
                self.returncode = _NUMBER.unpack(_exactly(self._status, _NUMBER.size))[0]
            except TimeoutError:
                assert timeout is not None
                raise subprocess.TimeoutExpired(self.args, timeout) from None
            self._status.close()
        return self.returncode


class Zygote:
    _started: ClassVar[dict[tuple[tuple[str, ...], bool], Zygote]] = {}
    _starting = threading.Lock()

    def __init__(self, before: tuple[str, ...], serves: bool) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            # A session of its own: Ctrl-C is for the tests, which then close the connection.
            self._process = subprocess.Popen(
                [*before, sys.executable, __file__, str(theirs.fileno()), *["serves"] * serves],
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._control, self._lock = ours, threading.Lock()
        self.is_ready = ours.recv(1) != b""
        atexit.register(self._end)

    @classmethod
    def started(cls, before: tuple[str, ...], *, serves: bool) -> Zygote:
        """Return a zygote of this process, which runs after the command `before`."""
        with cls._starting:
            if (before, serves) not in cls._started:
                cls._started[before, serves] = cls(before, serves)
            return cls._started[before, serves]

    def send(self, request: Request, handles: list[int]) -> None:
        data = json.dumps(request).encode()
        with self._lock:
            socket.send_fds(self._control, [_HEADER.pack(len(data))], handles)
            self._control.sendall(data)

    def _end(self) -> None:
        self._control.close()
        self._process.wait()


def _exactly(connection: socket.socket, size: int) -> bytes:
    """Return exactly this many bytes; raise EOFError if the connection closes before."""
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise EOFError("the zygote has ended")
        data += piece
    return data


# What follows runs in the zygote.


def serve(control: socket.socket) -> Request | None:
    """Fork for each request; return the request in the fork, and None in the zygote when the connection ends."""
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    statuses: dict[int, socket.socket] = {}
    while True:
        ready = select.select([control.fileno(), woken], [], [])[0]
        if woken in ready:
            os.read(woken, 4096)
            _reap(statuses)
        if control.fileno() in ready:
            header, handles, *_ = socket.recv_fds(control, _HEADER.size, 4)
            if not header:
                return None
            request: Request = json.loads(_exactly(control, _HEADER.unpack(header)[0]))
            *streams, status = handles
            pid = os.fork()
            if pid == 0:
                for handle in (woken, waker):
                    os.close(handle)
                for one in (control, *statuses.values()):
                    one.close()
                _become(request, streams, status)
                return request
            for handle in streams:
                os.close(handle)
            statuses[pid] = socket.socket(fileno=status)


def _reap(statuses: dict[int, socket.socket]) -> None:
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            with statuses.pop(ended[0]) as status, suppress(OSError):
                status.sendall(_NUMBER.pack(os.waitstatus_to_exitcode(ended[1])))


def _become(request: Request, streams: list[int], status: int) -> None:
    """Make this fork look like a new interpreter with that command, and then report that it is ready."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request["environ"])
    time.tzset()
    tempfile.tempdir = None
    os.umask(request["umask"])
    os.chdir(request["cwd"])
    sys.argv = request["args"]
    sys.orig_argv = [sys.executable, *request["args"]]
    for number, handle in enumerate(streams):
        os.dup2(handle, number)
    for handle in streams:
        os.close(handle)
    _reopen_streams()
    gc.enable()
    with socket.socket(fileno=status) as told:
        told.sendall(_NUMBER.pack(os.getpid()))


def _reopen_streams() -> None:
    """Reopen the standard streams as an interpreter does at its start."""
    for number, (name, mode) in enumerate({"stdin": "r", "stdout": "w", "stderr": "w"}.items()):
        old = getattr(sys, name)
        line = number == 2 or os.isatty(number)
        stream = open(  # noqa: SIM115 - as long as the process
            number, mode, -1 if not line else 1, encoding=old.encoding, errors=old.errors, newline="\n", closefd=False
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def preload(serves: bool) -> None:
    import duvet

    def is_wanted(name: str) -> bool:
        return serves or not name.startswith(ONLY_OF_SERVERS)

    modules = [one.name for one in pkgutil.walk_packages(duvet.__path__, "duvet.")]
    later = set()
    for name in filter(is_wanted, modules):
        with suppress(ImportError):
            source = import_module(name).__file__
            later |= {one or other for one, other in _INSIDE.findall(Path(source).read_text())} if source else set()
    for name in filter(is_wanted, (*sorted(later), *IMPORTED_BY_OTHERS)):
        with suppress(ImportError):
            import_module(name)
    assert threading.active_count() == 1, "a module has started a thread, which a fork would lack"


def main() -> None:
    # The folder of the command is first for a command, not that of this file.
    sys.path[0] = str(Path(sys.executable).parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    preload(serves=len(sys.argv) > 2)
    control = socket.socket(fileno=int(sys.argv[1]))
    control.sendall(b".")
    commands = installed()
    gc.collect()
    gc.freeze()
    request = serve(control)
    if request is not None:
        sys.exit(commands[Path(request["args"][0]).name].load()())


if __name__ == "__main__":
    main()

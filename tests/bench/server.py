"""What an agent waits for: the start of the server, each of its tools, and how it bears many calls."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

from tests.bench.budgets import (
    ASKED,
    CALLED,
    CALLED_AT_WORST,
    CHANGED,
    CROWDED,
    CROWDED_RATE,
    ENDURED,
    FIRST_ANSWER,
    GREETED,
    GREETED_AFTER,
    WORST_CALL,
    Budget,
)
from tests.bench.calibration import Clock
from tests.bench.crowd import CLIENTS, load
from tests.bench.measure import FailedError, settle
from tests.bench.options import ROOT
from tests.bench.quoting import RIGHT, cases
from tests.bench.table import align
from tests.bench.talking import Server, talking
from tests.bench.talking_http import talking_http
from tests.bench.trees import Edit, forget
from tests.bench.workloads import make_tree

_RFC = "https://www.rfc-editor.org/rfc/rfc8446"
_REQUIREMENT, _SOURCE = "3488d56fdf77", "tls/s2n_server_hello.c"
_CITATION = f"//= {_RFC}#section-4.1.3"
ARGUMENTS: Mapping[str, Mapping[str, object]] = {
    "validate_citation": {"citation": _CITATION},
    "validate_citations": {"citations": [_CITATION] * 3},
    "search_requirements": {"query": "session ticket"},
    "get_requirement_status": {"req_identifier": _REQUIREMENT},
    "get_requirement": {"reference": _REQUIREMENT},
    "get_section": {"reference": f"{_RFC}#section-4.1.3"},
    "suggest_citation": {"requirement": _REQUIREMENT, "file": _SOURCE},
    "resolve_spec_id": {"url": _RFC},
}
"""What tools are asked that have to be told something; the citation is found out."""
_OVER_HTTP = ("--http", "0", "--rate", "0")
_IDLE = "tests.bench.idle"
CALLS = 300
"""Calls of each tool, each beside one that does nothing."""
EDITS = 20
LOADS = 3
"""Times that many clients come, of which the best counts."""
FEW, MANY = 1_000, 10_000
"""Calls after which the memory is looked at."""


class Figure(NamedTuple):
    """Something that was measured, what it is meant to be, and what it may be."""

    name: str
    value: float
    budget: Budget

    @property
    def verdict(self) -> str:
        """In one word."""
        if self.value <= self.budget.goal:
            return "good"
        return "passes" if self.passes else "TOO MUCH"

    @property
    def passes(self) -> bool:
        """Whether it stays below the gate."""
        return self.value <= self.budget.gate


def main(options: Namespace) -> int:
    """Measure, tell, and answer with whether every gate holds."""
    if options.shared is None or not fnmatch("server", options.only):
        return 0
    try:
        with tempfile.TemporaryDirectory(prefix="duvet-bench-") as scratch:
            folder = Path(scratch) / "project"
            make_tree(ASKED, options.shared, folder)
            command = [options.duvet, "mcp"]
            clock = Clock(options.runs, options.shared)
            figures = [
                *started(command, folder, options.runs, clock, options.duvet),
                *called(command, folder),
                *over_http([*command, *_OVER_HTTP], folder),
            ]
    except FailedError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(render(figures))
    return 0 if all(figure.passes for figure in figures) else 1


def started(command: Sequence[str], folder: Path, runs: int, clock: Clock, duvet: str) -> Iterator[Figure]:
    """The start, with nothing kept and with everything."""
    unit = clock.unit()
    cold = _least(command, folder, runs, lambda: forget(folder))
    settle([duvet, "report"], folder)
    kept = _least(command, folder, runs, lambda: None)
    yield Figure("start to `initialize`, cold, cu", cold.greeting / unit, GREETED)
    yield Figure("start to `initialize`, cu", kept.greeting / unit, GREETED)
    yield Figure("start to `initialize`, ms on the clock", kept.wall * 1000, GREETED_AFTER)
    yield Figure("start to the first tool, cold, cu", cold.answer / unit, FIRST_ANSWER)
    yield Figure("start to the first tool, nothing changed, cu", kept.answer / unit, FIRST_ANSWER)


class _Start(NamedTuple):
    """Seconds of a processor, and on the clock."""

    greeting: float
    wall: float
    answer: float


def _least(command: Sequence[str], folder: Path, runs: int, prepare: Callable[[], None]) -> _Start:
    found: list[_Start] = []
    for _ in range(runs):
        prepare()
        found.append(_start(command, folder))
    return _Start(*map(min, zip(*found, strict=True)))


def _start(command: Sequence[str], folder: Path) -> _Start:
    began = time.perf_counter()
    with talking(command, folder) as server:
        server.greet()
        greeting, wall = server.cpu, time.perf_counter() - began
        server.begin()
        _call(server, "coverage_summary", {})
        return _Start(greeting, wall, server.cpu)


def called(command: Sequence[str], folder: Path) -> Iterator[Figure]:
    """Each tool, and many calls of all of them."""
    with talking(command, folder) as server:
        server.greet()
        server.begin()
        yield from calls("stdio", server)
        yield edited(server, Edit(folder / _SOURCE))


def over_http(command: Sequence[str], folder: Path) -> Iterator[Figure]:
    """The same as over pipes, and then many clients, in turn with those of a server that does nothing."""
    with talking_http(command, folder) as server, talking_http([sys.executable, "-m", _IDLE], ROOT) as idle:
        yield from calls("http", server)
        tools = asked_of(server)
        loads = [(load(server, tools), load(idle, {"nothing": {}})) for _ in range(LOADS)]
        ratio = max(theirs.rate for _, theirs in loads) / max(ours.rate for ours, _ in loads)
        yield Figure(f"http: {CLIENTS} clients, p99 in ms", min(ours.worst for ours, _ in loads) * 1000, CROWDED)
        yield Figure(f"http: {CLIENTS} clients, answers of an idle server to one", ratio, CROWDED_RATE)


def calls(carrier: str, server: Server) -> Iterator[Figure]:
    """How each tool stands to a request that does nothing, and what remains of many calls."""
    tools = asked_of(server)
    for name, arguments in tools.items():
        yield from _called(f"{carrier}: {name}", _times(server, name, [arguments]), CALLED)
    for (name, what), several in cases(server).items():
        budget = CALLED if what == RIGHT else CALLED_AT_WORST
        yield from _called(f"{carrier}: {name}, {what}", _times(server, name, several), budget)
    few = _memory_after(server, tools, FEW)
    yield Figure(
        f"{carrier}: memory after {MANY:,} calls to {FEW:,}", _memory_after(server, tools, MANY - FEW) / few, ENDURED
    )


def _called(name: str, times: tuple[list[float], list[float]], budget: Budget) -> Iterator[Figure]:
    idle, busy = times
    yield Figure(f"{name}, p50 in pings", statistics.median(busy) / statistics.median(idle), budget)
    yield Figure(f"{name}, p99 in ms", sorted(busy)[-1 - CALLS // 100] * 1000, WORST_CALL)


def edited(server: Server, edit: Callable[[], None]) -> Figure:
    """How soon the answer is another one, once a source has been written."""
    waits = []
    before = _cited(server)
    for _ in range(EDITS):
        edit()
        waits.append(_seconds(lambda: _cited(server)))
        after = _cited(server)
        if after == before:
            raise FailedError("an edit has not changed the answer")
        before = after
    return Figure("stdio: edit on disk to changed answer, ms on the clock", statistics.median(waits) * 1000, CHANGED)


def _cited(server: Server) -> object:
    return server.ask("resources/read", {"uri": "duvet:///citations"})


def asked_of(server: Server) -> Mapping[str, Mapping[str, object]]:
    """The arguments of each tool that there is."""
    names = [tool["name"] for tool in server.ask("tools/list", {})["tools"]]
    (cited,) = server.ask("resources/read", {"uri": "duvet:///citations?limit=1"})["contents"]
    citation = {"citation_id": cited["text"].split('"id":"')[1].split('"')[0], "context_lines": 2}
    return {name: {"get_citation_context": citation, **ARGUMENTS}.get(name, {}) for name in names}


def _times(server: Server, name: str, arguments: Sequence[Mapping[str, object]]) -> tuple[list[float], list[float]]:
    """Seconds of requests that do nothing, and of calls between them, each with other arguments as far as they go."""
    idle: list[float] = []
    busy: list[float] = []
    for asked in islice(cycle(arguments), CALLS):
        idle.append(_seconds(lambda: server.ask("ping", {})))
        busy.append(_seconds(partial(_call, server, name, asked)))
    return idle, busy


def _seconds(do: Callable[[], object]) -> float:
    began = time.perf_counter()
    do()
    return time.perf_counter() - began


def _memory_after(server: Server, tools: Mapping[str, Mapping[str, object]], count: int) -> float:
    names = list(tools)
    for number in range(count):
        name = names[number % len(names)]
        _call(server, name, tools[name])
    return server.memory


def _call(server: Server, name: str, arguments: Mapping[str, object]) -> object:
    return server.ask("tools/call", {"name": name, "arguments": arguments})


def render(figures: Sequence[Figure]) -> str:
    """A table, one line for each figure."""
    rows = [
        (one.name, f"{one.value:.2f}", f"{one.budget.goal:.2f}", f"{one.budget.gate:.2f}", one.verdict)
        for one in figures
    ]
    return align([("the server", "measured", "goal", "gate", ""), *rows])

"""Measures what an agent waits for: the start of the server, each tool, and many calls."""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from tests.bench import budgets
from tests.bench.budgets import Budget
from tests.bench.calibration import Clock
from tests.bench.clients import CLIENTS, Server, call_tool, load, talking, talking_http
from tests.bench.figures import Figure, p99, seconds_of, show_figures
from tests.bench.measure import FailedError, settle
from tests.bench.options import ROOT
from tests.bench.workloads import Edit, forget, make_tree

COUNT = 300  # Quoted requirements, each only once, so that no answer is cached.
TOGETHER = 3  # citations in one call of the tool for many
RIGHT, WRONG, ELSEWHERE = "right quotes", "wrong quotes", "quotes that stand nowhere near"
_LONGEST = 400
_OTHER_WORDS = ("teapot", "kettle", "saucer", "sugar")


def citations(server: Server) -> Mapping[str, Sequence[str]]:
    urls = {f"/specifications/{one['id']}": one["url"] for one in _read(server, "duvet:///specifications")}
    known = [one for one in _read(server, "duvet:///requirements") if len(one["text"]) < _LONGEST]
    drawn = random.Random(1)
    shown, others = (drawn.choices(known, k=COUNT) for _ in range(2))
    targets = []
    for one in shown:
        specification, _, rest = one["full_path"].partition("/sections/")
        targets.append(f"{urls[specification]}#{rest.partition('/requirements/')[0]}")
    quotes: Mapping[str, Sequence[str]] = {
        RIGHT: [one["text"] for one in shown],
        WRONG: [_misquoted(one["text"], drawn) for one in shown],
        ELSEWHERE: [_misquoted(one["text"], drawn) for one in others],
    }
    return {
        name: [f"//= {target}\n//# {quote}" for target, quote in zip(targets, several, strict=True)]
        for name, several in quotes.items()
    }


def cases(server: Server) -> Mapping[tuple[str, str], Sequence[Mapping[str, object]]]:
    found: dict[tuple[str, str], Sequence[Mapping[str, object]]] = {}
    for name, several in citations(server).items():
        found["validate_citation", name] = [{"citation": one} for one in several]
        parts = (several[at : at + TOGETHER] for at in range(0, len(several), TOGETHER))
        found["validate_citations", name] = [{"citations": part} for part in parts]
    return found


def _read(server: Server, uri: str) -> list[dict[str, Any]]:
    (content,) = server.ask("resources/read", {"uri": uri})["contents"]
    return list(json.loads(content["text"]))


def _misquoted(text: str, drawn: random.Random) -> str:
    words = text.split()
    for _ in range(2):
        words[drawn.randrange(len(words))] = drawn.choice(_OTHER_WORDS)
    return " ".join(words)


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
}  # Arguments of tools that require some; the citation is added later.
CALLS = 300  # calls of each tool, each beside one that does nothing
EDITS = 20
LOADS = 3  # Repetitions with many clients, of which the best counts.
FEW, MANY = 1_000, 10_000  # Calls after which memory is measured.


def main(options: Namespace) -> int:
    if options.shared is None or not fnmatch("server", options.only):
        return 0

    def measure(scratch: Path) -> Iterator[Figure]:
        folder = scratch / "project"
        make_tree(budgets.ASKED, options.shared, folder)
        command = [options.duvet, "mcp"]
        clock = Clock(options.runs, options.shared)
        yield from started(command, folder, options.runs, clock, options.duvet)
        with talking(command, folder) as server:
            server.greet()
            server.begin()
            yield from calls("stdio", server)
            yield edited(server, Edit(folder / _SOURCE))
        yield from over_http([*command, "--http", "0", "--rate", "0"], folder)

    return show_figures(measure)


def started(command: Sequence[str], folder: Path, runs: int, clock: Clock, duvet: str) -> Iterator[Figure]:
    unit = clock.unit()
    cold_greeting, _, cold_answer = _least(command, folder, runs, lambda: forget(folder))
    settle([duvet, "report"], folder)
    greeting, wall, answer = _least(command, folder, runs, lambda: None)
    yield Figure("start to `initialize`, cold, cu", cold_greeting / unit, budgets.GREETED)
    yield Figure("start to `initialize`, cu", greeting / unit, budgets.GREETED)
    yield Figure("start to `initialize`, ms on the clock", wall * 1000, budgets.GREETED_AFTER)
    yield Figure("start to the first tool, cold, cu", cold_answer / unit, budgets.FIRST_ANSWER)
    yield Figure("start to the first tool, nothing changed, cu", answer / unit, budgets.FIRST_ANSWER)


def _least(command: Sequence[str], folder: Path, runs: int, prepare: Callable[[], None]) -> tuple[float, float, float]:
    """Return the least CPU and elapsed seconds to the greeting, and CPU seconds to the first answer."""
    found: list[tuple[float, float, float]] = []
    for _ in range(runs):
        prepare()
        began = time.perf_counter()
        with talking(command, folder) as server:
            server.greet()
            greeting, wall = server.cpu, time.perf_counter() - began
            server.begin()
            call_tool(server, "coverage_summary", {})
            found.append((greeting, wall, server.cpu))
    greetings, walls, answers = zip(*found, strict=True)
    return min(greetings), min(walls), min(answers)


def over_http(command: Sequence[str], folder: Path) -> Iterator[Figure]:
    with (
        talking_http(command, folder) as server,
        talking_http([sys.executable, "-m", "tests.bench.idle"], ROOT) as idle,
    ):
        yield from calls("http", server)
        tools = asked_of(server)
        loads = [(load(server, tools), load(idle, {"nothing": {}})) for _ in range(LOADS)]
        ratio = max(theirs.rate for _, theirs in loads) / max(ours.rate for ours, _ in loads)
        worst = min(ours.worst for ours, _ in loads) * 1000
        yield Figure(f"http: {CLIENTS} clients, p99 in ms", worst, budgets.CROWDED)
        yield Figure(f"http: {CLIENTS} clients, answers of an idle server to one", ratio, budgets.CROWDED_RATE)


def calls(carrier: str, server: Server) -> Iterator[Figure]:
    tools = asked_of(server)
    for name, arguments in tools.items():
        yield from _called(f"{carrier}: {name}", _times(server, name, [arguments]), budgets.CALLED)
    for (name, what), several in cases(server).items():
        budget = budgets.CALLED if what == RIGHT else budgets.CALLED_AT_WORST
        yield from _called(f"{carrier}: {name}, {what}", _times(server, name, several), budget)
    memory = []
    for count in (FEW, MANY - FEW):
        for name, arguments in islice(cycle(tools.items()), count):
            call_tool(server, name, arguments)
        memory.append(server.memory)
    yield Figure(f"{carrier}: memory after {MANY:,} calls to {FEW:,}", memory[1] / memory[0], budgets.ENDURED)


def _called(name: str, times: tuple[list[float], list[float]], budget: Budget) -> Iterator[Figure]:
    idle, busy = times
    yield Figure(f"{name}, p50 in pings", statistics.median(busy) / statistics.median(idle), budget)
    yield Figure(f"{name}, p99 in ms", p99(busy) * 1000, budgets.WORST_CALL)


def edited(server: Server, edit: Callable[[], None]) -> Figure:
    waits = []
    before = _cited(server)
    for _ in range(EDITS):
        edit()
        waits.append(seconds_of(lambda: _cited(server)))
        after = _cited(server)
        if after == before:
            raise FailedError("an edit has not changed the answer")
        before = after
    usual = statistics.median(waits) * 1000
    return Figure("stdio: edit on disk to changed answer, ms on the clock", usual, budgets.CHANGED)


def _cited(server: Server) -> object:
    return server.ask("resources/read", {"uri": "duvet:///citations"})


def asked_of(server: Server) -> Mapping[str, Mapping[str, object]]:
    names = [tool["name"] for tool in server.ask("tools/list", {})["tools"]]
    (cited,) = server.ask("resources/read", {"uri": "duvet:///citations?limit=1"})["contents"]
    citation = {"citation_id": cited["text"].split('"id":"')[1].split('"')[0], "context_lines": 2}
    return {name: {"get_citation_context": citation, **ARGUMENTS}.get(name, {}) for name in names}


def _times(server: Server, name: str, arguments: Sequence[Mapping[str, object]]) -> tuple[list[float], list[float]]:
    """Return the seconds of idle requests and of the calls between them, with varying arguments."""
    idle: list[float] = []
    busy: list[float] = []
    for asked in islice(cycle(arguments), CALLS):
        idle.append(seconds_of(lambda: server.ask("ping", {})))
        busy.append(seconds_of(partial(call_tool, server, name, asked)))
    return idle, busy

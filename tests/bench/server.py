"""Measures what an agent waits for: the start of the server, each tool, and many calls."""

import json
import random
import statistics
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle, islice
from math import inf
from pathlib import Path
from typing import Any

from tests.bench.clients import CLIENTS, Client, load, talking, talking_http
from tests.bench.measure import ROOT, Clock, FailedError, milliseconds_of, p99, settle
from tests.bench.rows import ASKED, Edit, forget, make_tree
from tests.bench.table import Figure

Arguments = Sequence[Mapping[str, object]]
COUNT = 300  # Quoted requirements, each only once, so that no answer is cached.
TOGETHER = 3  # citations in one call of the tool for many
RIGHT, WRONG, ELSEWHERE = "right quotes", "wrong quotes", "quotes that stand nowhere near"
_LONGEST = 400
_OTHER_WORDS = ("teapot", "kettle", "saucer", "sugar")
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


def measure(options: Namespace, scratch: Path) -> Iterator[Figure]:
    folder, command = scratch / "project", [options.duvet, "mcp"]
    make_tree(ASKED, options.shared, folder)
    unit = Clock(options.runs, options.shared).unit()
    cold_greeting, _, cold_answer = _start(command, folder, options.runs, lambda: forget(folder))
    settle([options.duvet, "report"], folder)
    greeting, wall, answer = _start(command, folder, options.runs, lambda: None)
    yield Figure("start to `initialize`, cold, cu", cold_greeting / unit, 0.20, 0.35)
    yield Figure("start to `initialize`, cu", greeting / unit, 0.20, 0.35)
    yield Figure("start to `initialize`, ms on the clock", wall * 1000, 150)
    yield Figure("start to the first tool, cold, cu", cold_answer / unit, 2.4, 3.0)
    yield Figure("start to the first tool, nothing changed, cu", answer / unit, 2.4, 3.0)
    with talking(command, folder) as client:
        client.greet()
        client.begin()
        yield from calls("stdio", client)
        yield edited(client, Edit(folder / _SOURCE))
    with (
        talking_http([*command, "--http", "0", "--rate", "0"], folder) as http,
        talking_http([sys.executable, "-m", "tests.bench.idle"], ROOT) as idle,
    ):
        yield from calls("http", http)
        loads = [(load(http.where, arguments_of(http)), load(idle.where, {"nothing": {}})) for _ in range(LOADS)]
    ratio = max(rate for _, (rate, _) in loads) / max(rate for (rate, _), _ in loads)
    yield Figure(f"http: {CLIENTS} clients, p99 in ms", min(worst for (_, worst), _ in loads) * 1000, 1000)
    yield Figure(f"http: {CLIENTS} clients, answers of an idle server to one", ratio, 1.5, 2.0)


def _start(command: Sequence[str], folder: Path, runs: int, prepare: Callable[[], None]) -> tuple[float, float, float]:
    """Return the least CPU and elapsed seconds to the greeting, and CPU seconds to the first answer."""
    found = []
    for _ in range(runs):
        prepare()
        began = time.perf_counter()
        with talking(command, folder) as client:
            client.greet()
            greeting, wall = client.cpu, time.perf_counter() - began
            client.begin()
            client.call("coverage_summary", {})
            found.append((greeting, wall, client.cpu))
    greetings, walls, answers = zip(*found, strict=True)
    return min(greetings), min(walls), min(answers)


def calls(carrier: str, client: Client) -> Iterator[Figure]:
    tools = arguments_of(client)
    # Where it has to be found out what was meant, only the milliseconds are gated.
    cases: list[tuple[str, str, Arguments, float]] = [(name, name, [given], 2.5) for name, given in tools.items()]
    cases += [
        (name, f"{name}, {what}", given, 2.5 if what == RIGHT else inf)
        for (name, what), given in citation_calls(client).items()
    ]
    for tool, name, several, gate in cases:
        idle, busy = [], []
        for given in islice(cycle(several), CALLS):
            idle.append(milliseconds_of(lambda: client.ask("ping", {})))
            busy.append(milliseconds_of(partial(client.call, tool, given)))
        ratio = statistics.median(busy) / statistics.median(idle)
        yield Figure(f"{carrier}: {name}, p50 in pings", ratio, 1.5 if gate < inf else 2.5, gate)
        yield Figure(f"{carrier}: {name}, p99 in ms", p99(busy), 30)
    memory = []
    for count in (FEW, MANY - FEW):
        for name, given in islice(cycle(tools.items()), count):
            client.call(name, given)
        memory.append(client.memory)
    yield Figure(f"{carrier}: memory after {MANY:,} calls to {FEW:,}", memory[1] / memory[0], 1.02)


def arguments_of(client: Client) -> Mapping[str, Mapping[str, object]]:
    """Return arguments for each tool of the server."""
    names = [tool["name"] for tool in client.ask("tools/list", {})["tools"]]
    citation = {"citation_id": _read(client, "duvet:///citations?limit=1")[0]["id"], "context_lines": 2}
    return {name: {"get_citation_context": citation, **ARGUMENTS}.get(name, {}) for name in names}


def citation_calls(client: Client) -> Mapping[tuple[str, str], Arguments]:
    """Return arguments of the tools that check citations, by the name of the tool and the kind of quotes."""
    urls = {f"/specifications/{one['id']}": one["url"] for one in _read(client, "duvet:///specifications")}
    known = [one for one in _read(client, "duvet:///requirements") if len(one["text"]) < _LONGEST]
    drawn = random.Random(1)
    shown, others = (drawn.choices(known, k=COUNT) for _ in range(2))
    quotes = {
        RIGHT: [one["text"] for one in shown],
        WRONG: [_misquote(one["text"], drawn) for one in shown],
        ELSEWHERE: [_misquote(one["text"], drawn) for one in others],
    }
    found: dict[tuple[str, str], Arguments] = {}
    for name, texts in quotes.items():
        citations = []
        for one, quote in zip(shown, texts, strict=True):
            specification, _, rest = one["full_path"].partition("/sections/")
            citations.append(f"//= {urls[specification]}#{rest.partition('/requirements/')[0]}\n//# {quote}")
        found["validate_citation", name] = [{"citation": one} for one in citations]
        found["validate_citations", name] = [
            {"citations": citations[at : at + TOGETHER]} for at in range(0, COUNT, TOGETHER)
        ]
    return found


def _read(client: Client, uri: str) -> list[dict[str, Any]]:
    (content,) = client.ask("resources/read", {"uri": uri})["contents"]
    return list(json.loads(content["text"]))


def _misquote(text: str, drawn: random.Random) -> str:
    words = text.split()
    for _ in range(2):
        words[drawn.randrange(len(words))] = drawn.choice(_OTHER_WORDS)
    return " ".join(words)


def edited(client: Client, edit: Callable[[], None]) -> Figure:
    answers, waits = [], []

    def read_citations() -> None:
        answers.append(client.ask("resources/read", {"uri": "duvet:///citations"}))

    read_citations()
    for _ in range(EDITS):
        edit()
        waits.append(milliseconds_of(read_citations))
        read_citations()
        if answers[-1] == answers[-3]:
            raise FailedError("an edit has not changed the answer")
    return Figure("stdio: edit on disk to changed answer, ms on the clock", statistics.median(waits), 300)

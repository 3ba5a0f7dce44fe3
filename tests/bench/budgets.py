"""The goal and the gate for the cost of each command."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from math import inf
from typing import NamedTuple


class Budget(NamedTuple):
    """The goal and the gate for the cost of a command, as multiples of the calibration."""

    goal: float
    gate: float
    memory: float = 0  # Maximum resident MB; 0 means no limit.


class State(StrEnum):
    """The state in which a report starts; `page` also writes the HTML report."""

    COLD = "cold"
    PAGE = "cold with HTML"
    SAME = "nothing changed"
    EDITED = "one source changed"


class Project(NamedTuple):
    """A project with its budgets; the name N x M stands for a generated one with N requirements and M sources."""

    name: str
    budgets: Mapping[State, Budget]
    source: str  # The file that changes in the state `EDITED`.
    huge: bool


def _project(
    name: str, memory: float, *spans: tuple[float, float], source: str = "src/package_000/file_00000.c"
) -> Project:
    budgets = {state: Budget(*span, memory) for state, span in zip(State, spans, strict=False)}
    return Project(name, budgets, source, huge=name.endswith("x 20000"))


PROJECTS = (
    _project("h3-704b37a", 60, (0.22, 0.30), (0.30, 0.45), (0.17, 0.22), (0.20, 0.30), source="h3/src/connection.rs"),
    _project(
        "s2n-tls-132053b", 70, (0.32, 0.42), (0.45, 0.65), (0.18, 0.24), (0.30, 0.42), source="tls/s2n_server_hello.c"
    ),
    _project("hickory-dns-half", 70, (0.35, 0.45), (0.50, 0.70), (0.18, 0.24)),
    _project("200 x 200", 60, (0.20, 0.28), (0.30, 0.45), (0.16, 0.22), (0.20, 0.30)),
    _project("2000 x 2000", 90, (0.70, 1.0), (1.1, 1.5), (0.22, 0.30), (0.40, 0.55)),
    _project("10000 x 2000", 160, (1.9, 2.6), (3.0, 4.0), (0.26, 0.36), (1.0, 1.4)),
    _project("10000 x 20000", 475, (4.5, 6.0), (7.0, 9.0), (0.60, 0.80), (1.6, 2.2)),
)
START = Budget(0.11, 0.14)
EXTRACT = Budget(0.20, 0.28)
ASKED = "s2n-tls-132053b"  # The project for queries.
_QUESTION = Budget(0.20, 0.28)
QUESTIONS: Mapping[tuple[str, ...], Budget] = {
    ("validate", "tls/s2n_server_hello.c"): _QUESTION,
    ("show", "3488d56fdf77"): _QUESTION,
    ("uncited",): _QUESTION,
    ("prioritize",): _QUESTION,
    ("search", "session", "ticket"): Budget(0.22, 0.30),
    ("search", "--semantic", "session", "ticket"): Budget(0.5, 0.7),
}
GREETED, GREETED_AFTER = Budget(0.20, 0.35), Budget(150, 150)
"""The server from its start to the answer to `initialize`, and the same in milliseconds on the clock."""
FIRST_ANSWER = Budget(2.4, 3.0)
CALLED, WORST_CALL = Budget(1.5, 2.5), Budget(30, 30)
"""Calls of tools: the usual one as a ratio to a request that does nothing, and all but a hundredth in milliseconds."""
CALLED_AT_WORST = Budget(2.5, inf)
"""The same where it has to be found out what was meant: it is told, and held to the milliseconds alone."""
CHANGED = Budget(300, 300)  # Milliseconds from an edit of a source to a changed answer.
ENDURED = Budget(1.02, 1.02)  # Memory after many calls, relative to that after few.
NOTES_FIRST, NOTES_LATER, NOTES_MEMORY = Budget(10, 10), Budget(5, 5), Budget(250, 250)
"""Five thousand pages: what comes first in cu, later answers in milliseconds, and memory in MB."""
NOTES_FIRST_ANSWER, NOTES_EDITED = Budget(1_000, 1_200), Budget(100, 120)
NOTES_GOT, NOTES_SEARCHED = Budget(1, 2), Budget(7, 10)
"""The same pages: milliseconds of the first answer, of a search after an edit, and of the usual `get_page` and search."""
FOUND_BY_WORDS, RANKED_BY_WORDS = 0.46, 0.47
FOUND_BY_BOTH, RANKED_BY_BOTH = 0.50, 0.52
"""The least recall among five results and mean reciprocal rank among ten of a search by words, and also by vectors."""
FOUND_PARAPHRASES, FOUND_DOCSTRINGS = 0.45, 0.58
"""How many of the questions without a common word, and of the docstrings, have their answer among the first five."""
CROWDED, CROWDED_RATE = Budget(1000, 1000), Budget(1.5, 2.0)
"""Many clients at once: milliseconds of all but a hundredth of the calls, and how many times as many answers a server of
the SDK gives that does nothing."""
TAKEN_IN, TAKEN_IN_MEANT = Budget(500, 500), Budget(667, 667)
"""Milliseconds for a thousand pieces: by their words alone, and by what they mean, too."""
TAKEN_IN_AGAIN = Budget(5_000, 5_000)  # Milliseconds for twenty thousand unchanged files.
ROOM = Budget(1.0, 1.0)  # Size of a store, relative to 300 bytes per chunk plus half the text.
FOUND, FOUND_AT_WORST = Budget(15, 15), Budget(60, 60)
FOUND_AMONG_MANY, FOUND_AMONG_MANY_AT_WORST = Budget(60, 60), Budget(250, 250)
"""Milliseconds of the usual search, and of all but a hundredth, in twenty and in two hundred thousand pieces."""
FOUND_AT_ONCE = Budget(1000 / 60, 1000 / 60)  # Milliseconds for each answer if several clients ask at the same time.
KNOWING = Budget(350, 350)  # MB of a server that searches 200,000 chunks.
FORWARDED = Budget(1.3, 2.0)  # A forwarded search, relative to a local one.
KEPT, KEPT_AT_WORST = Budget(10, 30), Budget(50, 150)
"""Milliseconds until what was handed in is on the disk, and its line of the account, too."""
BACKED_UP, RESTORED, STORED = Budget(1_500, 3_000), Budget(1_000, 2_000), Budget(0.7, 0.8)
"""Milliseconds for twenty thousand pieces, and the size of the archive as a ratio to that of the store."""
MEANT = Budget(0.7, 0.7)  # A search for requirements by meaning.

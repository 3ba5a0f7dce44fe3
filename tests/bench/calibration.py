"""Measures how fast this machine is: the CPU seconds for a fixed piece of work, the unit `cu` of all budgets.

It agrees with the shared calibration within 3 %, and like that one runs as a separate program.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import time
from pathlib import Path

TEXT = (
    "a peer MUST close every idle stream before it SHOULD NOT reuse a window when MAY timers fire "
    "//= spec.md#flow-control //# 7.2. return checksum(buffer); else { retry += 1 }"
)
KEYWORD = re.compile(rb"\b(MUST|SHOULD|MAY)( NOT)?\b")
MINUTE = 60.0
LINES = 325_000
DISTINCT = 997  # A prime, so that lines repeat in no pattern that suits a cache.


def unit(runs: int, shared: Path | None) -> float:
    script = shared / "tools" / "calib.py" if shared else None
    if script and script.is_file():
        command = [sys.executable, str(script), "--json", "--runs", str(runs)]
    else:
        command = [sys.executable, __file__, str(runs)]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return float(report["cpu_seconds"]["total"]["min"])


class Clock:
    """Returns the unit, and measures it again after a minute."""

    def __init__(self, runs: int, shared: Path | None) -> None:
        self._runs = runs
        self._shared = shared
        self._measured = float("-inf")
        self._units: list[float] = []

    def unit(self) -> float:
        if time.monotonic() - self._measured > MINUTE:
            self._units.append(unit(self._runs, self._shared))
            self._measured = time.monotonic()
        return self._units[-1]

    @property
    def milliseconds(self) -> int:
        return round(1000 * sorted(self._units)[len(self._units) // 2])


def make_text() -> bytes:
    words = TEXT.split()
    count = len(words)
    distinct = [
        " " * (number % 9) + " ".join(words[(number * 31 + step * (1 + number % 5)) % count] for step in range(length))
        for number in range(DISTINCT)
        for length in (4 + number % 12,)
    ]
    return "\n".join(distinct[number * 389 % DISTINCT] for number in range(LINES)).encode()


def walk_lines(text: bytes) -> int:
    marked: dict[str, list[int]] = {}
    indents: dict[str, int] = {}
    for number, line in enumerate(text.decode().split("\n")):
        bare = line.strip()
        if bare.startswith("//"):
            marked.setdefault(bare[:20], []).append(number)
        elif bare:
            first = bare.split(" ", 1)[0]
            indents[first] = indents.get(first, 0) + len(line) - len(bare)
    return len(marked) + sum(indents.values())


def once(text: bytes) -> float:
    start = time.process_time()
    sum(1 for _ in KEYWORD.finditer(text))
    walk_lines(text)
    hashlib.sha256(text).digest() + hashlib.blake2b(text).digest()
    return time.process_time() - start


if __name__ == "__main__":
    content = make_text()
    least = min(once(content) for _ in range(int(sys.argv[1])))
    json.dump({"cpu_seconds": {"total": {"min": least}}}, sys.stdout)

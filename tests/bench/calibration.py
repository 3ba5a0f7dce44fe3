"""Prints the CPU seconds for a fixed piece of work, as the shared calibration does; they agree within 3 %."""

import hashlib
import json
import re
import sys
import time

WORDS = [
    *("a", "peer", "MUST", "close", "every", "idle", "stream", "before", "it", "SHOULD", "NOT", "reuse", "a"),
    *("window", "when", "MAY", "timers", "fire", "//=", "spec.md#flow-control", "//#", "7.2.", "return"),
    *("checksum(buffer);", "else", "{", "retry", "+=", "1", "}"),
]
KEYWORD = re.compile(rb"\b(MUST|SHOULD|MAY)( NOT)?\b")
LINES = 325_000
DISTINCT = 997  # A prime, so that lines repeat in no pattern that suits a cache.


def make_text() -> bytes:
    distinct = [
        " " * (number % 9)
        + " ".join(WORDS[(number * 31 + step * (1 + number % 5)) % len(WORDS)] for step in range(4 + number % 12))
        for number in range(DISTINCT)
    ]
    return "\n".join(distinct[number * 389 % DISTINCT] for number in range(LINES)).encode()


def measure(text: bytes) -> float:
    start = time.process_time()
    sum(1 for _ in KEYWORD.finditer(text))
    marked: dict[str, list[int]] = {}
    indents: dict[str, int] = {}
    for number, line in enumerate(text.decode().split("\n")):
        bare = line.strip()
        if bare.startswith("//"):
            marked.setdefault(bare[:20], []).append(number)
        elif bare:
            first = bare.split(" ", 1)[0]
            indents[first] = indents.get(first, 0) + len(line) - len(bare)
    hashlib.sha256(text).digest() + hashlib.blake2b(text).digest()
    return time.process_time() - start


if __name__ == "__main__":
    content = make_text()
    least = min(measure(content) for _ in range(int(sys.argv[-1])))
    json.dump({"cpu_seconds": {"total": {"min": least}}}, sys.stdout)

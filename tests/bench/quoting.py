"""Citations that a server has not seen before: with right quotes, with wrong ones, and with those of other sections."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

from tests.bench.talking import Server

COUNT = 300
"""Requirements that are quoted, each of them once, so that no answer is known beforehand."""
TOGETHER = 3
"""Citations in one call of the tool for many."""
RIGHT, WRONG, ELSEWHERE = "right quotes", "wrong quotes", "quotes that stand nowhere near"
_LONGEST = 400
_OTHER_WORDS = ("teapot", "kettle", "saucer", "sugar")


def citations(server: Server) -> Mapping[str, Sequence[str]]:
    """Whole comments by what is wrong with them."""
    urls = {f"/specifications/{one['id']}": one["url"] for one in _read(server, "duvet:///specifications")}
    known = [one for one in _read(server, "duvet:///requirements") if len(one["text"]) < _LONGEST]
    drawn = random.Random(1)
    shown, others = (drawn.choices(known, k=COUNT) for _ in range(2))
    targets = [_target(one["full_path"], urls) for one in shown]
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
    """What the tools that validate are asked, by the tool and by what is wrong."""
    found: dict[tuple[str, str], Sequence[Mapping[str, object]]] = {}
    for name, several in citations(server).items():
        found["validate_citation", name] = [{"citation": one} for one in several]
        parts = (several[at : at + TOGETHER] for at in range(0, len(several), TOGETHER))
        found["validate_citations", name] = [{"citations": part} for part in parts]
    return found


def _read(server: Server, uri: str) -> list[dict[str, Any]]:
    (content,) = server.ask("resources/read", {"uri": uri})["contents"]
    return list(json.loads(content["text"]))


def _target(path: str, urls: Mapping[str, str]) -> str:
    specification, _, rest = path.partition("/sections/")
    return f"{urls[specification]}#{rest.partition('/requirements/')[0]}"


def _misquoted(text: str, drawn: random.Random) -> str:
    """The text with two other words in it."""
    words = text.split()
    for _ in range(2):
        words[drawn.randrange(len(words))] = drawn.choice(_OTHER_WORDS)
    return " ".join(words)

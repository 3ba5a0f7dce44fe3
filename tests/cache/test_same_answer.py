"""Whatever is done to a project, the answer is the same with the cache and without it."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from tests.cache.edits import EDITS
from tests.cache.house import OPTIONS, fill
from tests.cache.twins import SEEDS, Twins, tick

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, pipes and odd names")

STEPS = 40


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_edits(seed: int, tmp_path: Path) -> None:
    ##= man/spec/cache.md#freshness
    ##= type=test
    ##% An answer MUST be the same with the cache and without it.
    twins = Twins(tmp_path, fill)
    choice = random.Random(seed)
    usual = choice.sample(OPTIONS, 2)
    history: list[str] = []
    for _ in range(STEPS):
        for _ in range(choice.choice((0, 0, 1, 1, 2))):
            edit, number = choice.choice(EDITS), choice.randrange(1 << 30)
            twins.change(edit, number)
            history.append(f"{edit.__name__} {number}")
        environ = choice.choice(({}, {}, {}, {}, {"LINK": "https://link"}, {"CI": "true"}))
        options = choice.choice(usual)
        now = twins.time(choice)
        history.append(f"{options} {environ} {now}")
        kept, plain = twins.answers(*options, now=now, **environ)
        assert kept == plain, history
        assert twins.states()[0] == twins.states()[1], history
        if now is not None:
            tick(tmp_path)

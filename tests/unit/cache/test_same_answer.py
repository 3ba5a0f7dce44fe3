"""Whatever is done to a project, the answer is the same with the cache and without it."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from tests.cli.made import make
from tests.unit.cache.edits import EDITS
from tests.unit.cache.house import DAYS, HOUSE, NOT_OWED, OPTIONS, fill
from tests.unit.cache.twins import LATER, SEEDS, Twins, tick

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, pipes and odd names")

STEPS = 40


@pytest.mark.seeded
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_edits(seed: int, tmp_path: Path) -> None:
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
        now, day = twins.time(choice), choice.choice(DAYS)
        history.append(f"{options} {environ} {now} {day}")
        kept, plain = twins.answers(*options, now=now, day=day, **environ)
        assert kept == plain, history
        assert twins.states()[0] == twins.states()[1], history
        if now is not None:
            tick(tmp_path)


def test_days_pass(tmp_path: Path) -> None:
    twins = Twins(tmp_path, lambda folder: make(folder, {**HOUSE, ".duvet/config.toml": NOT_OWED}))
    expired = []
    for run, day in enumerate((None, *DAYS, *DAYS[::-1])):
        kept, plain = twins.answers(now=LATER + run, day=day)
        assert kept == plain, day
        assert twins.states()[0] == twins.states()[1], day
        expired.append(kept.err.count("DUV080"))
    assert expired == [0, 0, 0, 0, 1, 2, 2, 1, 0, 0, 0]

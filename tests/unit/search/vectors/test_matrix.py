"""What is nearest"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from struct import pack

import pytest

from duvet.queries.embeddings import PurePythonMatrix, VectorRows, make_vector_row
from duvet.queries.vectors import Matrix
from duvet.store.records import VectorSegment
from tests.unit.search.vectors.made import cosine

WIDTH = 8


def numbers(random: Random) -> list[int]:
    return [random.randint(-127, 127) for _ in range(WIDTH)]


def kept(vector: list[int]) -> bytes:
    return make_vector_row(bytes(number % 256 for number in vector))


def asked(vector: list[int]) -> bytes:
    return pack(f"<{WIDTH}f", *(number / cosine([*vector], [*vector]) ** 0.5 for number in vector))


Kind = Callable[[int, Iterable[VectorSegment]], VectorRows]


@pytest.fixture(params=[Matrix, PurePythonMatrix])
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each way to search rows."""
    found: Kind = request.param
    return found


@pytest.mark.parametrize("total", [0, 1, 50, 4096, 9000])
@pytest.mark.parametrize("every", [0, 1, 3])
def test_best(total: int, every: int, kind: Kind) -> None:
    ##= man/spec/knowledge.md#vectors
    ##= type=test
    ##% A search by vectors MUST find the nearest chunks of all, and nothing by or for a text without words.
    random = Random(total)
    # Some of them twice, so that there are equally near ones.
    vectors = [numbers(random) for _ in range((total + 1) // 2)] * 2
    names = [7 * at for at in range(total)]
    segments = [
        VectorSegment(tuple(names[at : at + 100]), b"".join(map(kept, vectors[at : min(at + 100, total)])))
        for at in range(0, total, 100)
    ]
    matrix = kind(WIDTH, segments)
    wanted = numbers(random)
    allowed = names[::every] if every else None
    near = {
        name: cosine([*wanted], [*vector]) / cosine([*vector], [*vector]) ** 0.5
        for name, vector in zip(names, vectors, strict=False)
    }
    known = [name for name in (names if allowed is None else allowed) if near[name] > 0]
    found = matrix.best(asked(wanted), 20, allowed)
    assert len(matrix) == total
    assert [name for name, _ in found] == sorted(known, key=lambda name: (-round(near[name], 3), name))[:20]
    assert [score for _, score in found] == pytest.approx(
        [near[name] / cosine([*wanted], [*wanted]) ** 0.5 for name, _ in found], abs=1e-5
    )


def test_rows_of_another_width_and_numbers_that_are_gone_are_left_out(kind: Kind) -> None:
    good, bad = VectorSegment((3,), kept([1] * WIDTH)), VectorSegment((4,), b"x" * 260)
    matrix = kind(WIDTH, [bad, good, bad])
    assert [name for name, _ in matrix.best(asked([1] * WIDTH), 5, [1, 3, 4, 99])] == [3]
    assert matrix.best(asked([1] * WIDTH), 5, []) == []


@pytest.mark.parametrize("scale", [float("nan"), float("inf"), -0.5, 1e30])
def test_a_row_that_was_overwritten_is_left_out(scale: float, kind: Kind) -> None:
    good = kept([5] * WIDTH)
    matrix = kind(WIDTH, [VectorSegment((1, 2), good[:WIDTH] + pack("<f", scale) + good)])
    assert len(matrix) == 1
    assert [name for name, _ in matrix.best(asked([1] * WIDTH), 5)] == [2]


def test_a_row_without_a_direction_is_never_near(kind: Kind) -> None:
    matrix = kind(WIDTH, [VectorSegment((1, 2), kept([0] * WIDTH) + kept([5] * WIDTH))])
    assert [name for name, _ in matrix.best(asked([1] * WIDTH), 5)] == [2]
    assert matrix.best(bytes(4 * WIDTH), 5) == []

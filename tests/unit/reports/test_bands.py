"""Which columns stand beside one another"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from duvet.reports.tables import COLUMN_GAP, ColumnBand, arrange_bands

BESIDE = {
    "nothing wraps": (([4, 6], [], 20), {0: 4, 1: 6}),
    "nothing wraps, and all is taken": (([4, 6], [], 12), {0: 4, 1: 6}),
    "there is room": (([4, 30], [1], 60), {0: 4, 1: 30}),
    "one takes what is left": (([4, 100], [1], 60), {0: 4, 1: 54}),
    "two share what is left": (([4, 100, 100], [1, 2], 100), {0: 4, 1: 46, 2: 46}),
    "one leaves the other more": (([4, 25, 100], [1, 2], 100), {0: 4, 1: 25, 2: 67}),
    "the order is kept": (([80, 4, 70], [0, 2], 104), {0: 48, 1: 4, 2: 48}),
    "narrow, but few lines": (([4, 80], [1], 26), {0: 4, 1: 20}),
}
BELOW = {
    "too narrow": (([4, 80], [1], 25), [(0, {0: 4}), (2, {1: 23})]),
    "narrow, and many lines": (([4, 200], [1], 45), [(0, {0: 4}), (2, {1: 43})]),
    "two long texts": (([4, 30, 50], [1, 2], 36), [(0, {0: 4}), (2, {1: 30}), (2, {2: 34})]),
    "one of two long texts is too long": (([4, 10, 200], [1, 2], 45), [(0, {0: 4}), (2, {1: 10}), (2, {2: 43})]),
    "what is below just fits": (([12, 12, 12], [], 28), [(0, {0: 12, 1: 12}), (2, {2: 12})]),
    "no room for the others": (([12, 12, 12], [], 30), [(0, {0: 12, 1: 12}), (2, {2: 12})]),
    "no room for one": (([40], [], 30), [(0, {0: 28})]),
}


def test_beside_one_another() -> None:
    found = {name: arrange_bands(*given) for name, (given, _) in BESIDE.items()}
    assert found == {name: [ColumnBand(0, widths)] for name, (_, widths) in BESIDE.items()}


def test_below_the_others() -> None:
    assert {name: arrange_bands(*given) for name, (given, _) in BELOW.items()} == {
        name: [ColumnBand(*band) for band in below] for name, (_, below) in BELOW.items()
    }


@given(st.lists(st.integers(0, 200), min_size=1, max_size=6), st.data(), st.integers(8, 200))
def test_each_column_stands_somewhere_and_fits(needs: list[int], data: st.DataObject, room: int) -> None:
    wrapping = [index for index in range(len(needs)) if data.draw(st.booleans())]
    found = arrange_bands(needs, wrapping, room)
    assert sorted(index for band in found for index in band.widths) == [*range(len(needs))]
    for band in found:
        assert band.indent + sum(band.widths.values()) + len(COLUMN_GAP) * (len(band.widths) - 1) <= room
        assert all(width <= needs[index] for index, width in band.widths.items())

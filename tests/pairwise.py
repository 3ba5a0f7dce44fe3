"""Tables of cases that contain every pair of values instead of every combination."""

from collections.abc import Collection
from itertools import combinations, product
from typing import Any


def pairwise(**dimensions: Collection[Any]) -> list[dict[str, Any]]:
    """Return rows in which every pair of values of two dimensions occurs, always the same rows.

    Each row has a value for every dimension. The next row is always the one that adds most pairs.
    """
    values = {name: list(given) for name, given in dimensions.items()}
    rows = {
        row: set(combinations(enumerate(row), min(2, len(row))))
        for row in product(*(range(len(given)) for given in values.values()))
    }
    missing = set().union(*rows.values())
    chosen = []
    while missing:
        best = max(rows, key=lambda row: len(rows[row] & missing))
        missing -= rows.pop(best)
        chosen.append({name: given[index] for (name, given), index in zip(values.items(), best, strict=True)})
    return chosen

"""Where a value stands on a panel whose two axes are logarithmic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

STEPS = (1, 2, 5)
"""The digits at which an axis has a mark."""


class Panel(NamedTuple):
    """A rectangle of the picture, and the values at its edges."""

    left: float
    top: float
    width: float
    height: float
    most: float
    """The factor at the right edge; the left one has 1."""
    low: float
    high: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.top + self.height

    def x(self, factor: float) -> float:
        """How far to the right a factor stands."""
        return round(self.left + self.width * math.log(factor) / math.log(self.most), 1)

    def y(self, value: float) -> float:
        """How far down a value stands."""
        return round(self.bottom - self.height * math.log(value / self.low) / math.log(self.high / self.low), 1)

    def proportional(self, value: float) -> list[tuple[float, float]]:
        """The ends of the line on which all grows with the factor and that reaches the value at the right edge."""
        lowest = max(value / self.most, self.low)
        return [(self.x(self.most * lowest / value), self.y(lowest)), (self.right, self.y(value))]


def marks(low: float, high: float) -> list[float]:
    """The round numbers from the one below the lowest value to the one above the highest."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    numbers = [float(f"{step}e{power}") for power in powers for step in STEPS]
    first = max(number for number in numbers if number <= low)
    last = min(number for number in numbers if number >= high)
    return [number for number in numbers if first <= number <= last]


def bounds(values: Sequence[float]) -> tuple[float, float]:
    """The lowest and the highest mark."""
    scale = marks(min(values), max(values))
    return scale[0], scale[-1]

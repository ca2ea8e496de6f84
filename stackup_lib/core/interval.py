"""A value with the range it may have: engines are exact, inputs are not."""

import math
from enum import StrEnum

from pydantic import model_validator

from stackup_lib.core.frozen import Frozen


class Standing(StrEnum):
    """Where a value stands against its limit: only the first is a pass, only the last a failure."""

    WITHIN = "within"
    UNSURE = "unsure"
    BEYOND = "beyond"


class Interval(Frozen):
    """A nominal value between the lowest and the highest that the inputs allow; one unit for all three."""

    low: float
    nominal: float
    high: float

    @model_validator(mode="after")
    def _in_order(self) -> "Interval":
        if not self.low <= self.nominal <= self.high:
            raise ValueError(f"interval {self.low:g}, {self.nominal:g}, {self.high:g} is not in order")
        return self

    @classmethod
    def exact(cls, value: float) -> "Interval":
        """Return a value that has no range."""
        return cls(low=value, nominal=value, high=value)

    @classmethod
    def geometric(cls, low: float, high: float) -> "Interval":
        """Return a range of positive values with its geometric mean as nominal."""
        return cls(low=low, nominal=math.sqrt(low * high), high=high)

    def times(self, factor: float) -> "Interval":
        """Return the interval in another unit, or for another length; the factor is positive."""
        return Interval(low=self.low * factor, nominal=self.nominal * factor, high=self.high * factor)

    def plus(self, other: "Interval") -> "Interval":
        """Return the sum of two values whose errors may all point one way."""
        return Interval(low=self.low + other.low, nominal=self.nominal + other.nominal, high=self.high + other.high)

    def against(self, *, minimum: float = -math.inf, maximum: float = math.inf) -> Standing:
        """Compare with limits in the interval's own unit.

        A nominal value inside the limits is within them, whatever the uncertainty. One outside is beyond them only
        where the whole interval is; a nominal value outside with an end inside is unsure, and no verdict rests on it.
        """
        if minimum <= self.nominal <= maximum:
            return Standing.WITHIN
        return Standing.BEYOND if self.low > maximum or self.high < minimum else Standing.UNSURE


ZERO = Interval.exact(0.0)

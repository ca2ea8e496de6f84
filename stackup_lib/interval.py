"""A value with the range it may have: engines are exact, inputs are not."""

from __future__ import annotations

from pydantic import model_validator

from stackup_lib.frozen import Frozen


class Interval(Frozen):
    """A nominal value between the lowest and the highest that the inputs allow; one unit for all three."""

    low: float
    nominal: float
    high: float

    @model_validator(mode="after")
    def _in_order(self) -> Interval:
        if not self.low <= self.nominal <= self.high:
            raise ValueError(f"interval {self.low:g}, {self.nominal:g}, {self.high:g} is not in order")
        return self

    def times(self, factor: float) -> Interval:
        """Return the interval in another unit, or for another length; the factor is positive."""
        return Interval(low=self.low * factor, nominal=self.nominal * factor, high=self.high * factor)

    def plus(self, other: Interval) -> Interval:
        """Return the sum of two values whose errors may all point one way."""
        return Interval(low=self.low + other.low, nominal=self.nominal + other.nominal, high=self.high + other.high)


ZERO = Interval(low=0.0, nominal=0.0, high=0.0)

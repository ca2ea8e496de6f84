"""The highest Df that a requirement or a goal allows."""

from stackup_lib.core.frozen import Frozen


class DfLimit(Frozen):
    """Highest Df of dielectrics that touch a high-speed layer, at one frequency; up to `allowance_pct` above is met."""

    max: float
    at_ghz: float = 10.0
    allowance_pct: float = 0.0

    def is_met_by(self, df: float) -> bool:
        """Compare without rounding."""
        return df <= self.max * (1 + self.allowance_pct / 100) + 1e-9

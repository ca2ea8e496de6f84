"""What the output of a kind of regulator usually is, from `regulators.toml`."""

from functools import cache
from pathlib import Path

import tomli

from stackup_lib.core.frozen import Frozen
from stackup_lib.core.interval import Interval


class RegulatorKind(Frozen):
    """A kind: title, range of output resistance in mOhm and of output inductance in nH, source of both."""

    title: str
    mohm: tuple[float, float]
    nh: tuple[float, float]
    source: str

    @property
    def resistance_ohm(self) -> Interval:
        """With the geometric mean as nominal."""
        return Interval.geometric(*self.mohm).times(1e-3)

    @property
    def inductance_h(self) -> Interval:
        """With the geometric mean as nominal."""
        return Interval.geometric(*self.nh).times(1e-9)


@cache
def regulator_kinds() -> dict[str, RegulatorKind]:
    """Return the kinds by their name in settings."""
    text = Path(__file__).with_name("regulators.toml").read_text(encoding="utf-8")
    return {name: RegulatorKind.model_validate(row) for name, row in tomli.loads(text).items()}


def any_regulator() -> RegulatorKind:
    """Return the range over all kinds, for a rail whose regulator is not known."""
    kinds = regulator_kinds().values()
    return RegulatorKind(
        title="regulator of unknown kind",
        mohm=(min(kind.mohm[0] for kind in kinds), max(kind.mohm[1] for kind in kinds)),
        nh=(min(kind.nh[0] for kind in kinds), max(kind.nh[1] for kind in kinds)),
        source="range over all kinds",
    )

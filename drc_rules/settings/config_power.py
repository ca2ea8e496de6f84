"""The `[[rail]]` tables of `stackwright.toml`: what a rail carries, from where to where, and what it may lose."""

from collections.abc import Mapping
from math import nan
from typing import Annotated

from pydantic import ConfigDict, Field, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from drc_rules.settings.config_pdn import PdnDeclaration
from drc_rules.settings.declaration import PLACEHOLDER, Declaration, is_open, without_open_entries
from stackup_lib.core.facts import MissingFact

MOST_A = 20_000
"""The largest current that may be stated, in amperes."""


class RailDeclaration(Declaration):
    """One power net and its worst continuous load.

    `from` and `to` name parts (`U7`: its pads on the net) or single pads (`U7.3`). `to` is a list, whose pads draw
    equal currents, or a table of amperes for each part or pad.

    Attributes:
        net: its whole name.
        voltage_v: its voltage; read as its size, a negative one sets `negative`. None where it is still open.
        negative: its voltage is below ground.
        current_a: all of its loads together; or `tdp_w`, then it is the power over the voltage; or the sum of `to`.
        duty_pct: share of `tdp_w` that lasts. Training always counts as 100 %.
        ground: net through which the current returns, where several grounds might be it.
        ground_from, ground_to: parts or pads where the return current leaves that net for the source, and where it
            enters it from the loads; without them the ground pads of the parts in `from` and `to`.
        core: it feeds the accelerator's core, of which documents state target impedance and copper weight.
        remote_sense: the regulator senses at the load, hence makes up for the copper's drop at DC.
        max_drop_mv, max_drop_pct: what copper may take on the way to any load and back through ground.
        max_rise_c: how much a track may warm.
        max_a_per_mm2, max_via_a: densest current in the copper, and largest in one barrel, there or back, where a limit
            is known.
        ripple_pct, step_a: allowed ripple and the largest step of current, which give the rail's target impedance.
        impedance_mohm: largest impedance at the load from DC to 100 MHz, as simulated or measured.
        copper_c: temperature of the copper.
        plating_um: thickness of the copper in holes.
        copper_um: finished thickness of the copper by layer, as the fab states it or as it was measured.
        pdn: regulator, capacitors, package and die, for the impedance over frequency.
    """

    model_config = ConfigDict(populate_by_name=True)

    net: str = Field(min_length=1)
    voltage_v: Annotated[float, Field(gt=0, le=2000)] | SkipJsonSchema[None]
    negative: bool = False
    current_a: float | None = Field(default=None, gt=0, le=MOST_A)
    tdp_w: float | None = Field(default=None, gt=0, le=20_000)
    duty_pct: float = Field(default=100.0, gt=0, le=100)
    core: bool = False
    remote_sense: bool = False
    from_: tuple[str, ...] = Field(default=(), alias="from")
    to: tuple[str, ...] | dict[str, float] = ()
    ground: str = ""
    ground_from: tuple[str, ...] = ()
    ground_to: tuple[str, ...] = ()
    max_drop_mv: float | None = Field(default=None, gt=0, le=2_000_000)
    max_drop_pct: float | None = Field(default=None, gt=0, le=100)
    max_rise_c: float | None = Field(default=None, gt=0, le=200)
    max_a_per_mm2: float | None = Field(default=None, gt=0, le=10_000)
    max_via_a: float | None = Field(default=None, gt=0, le=MOST_A)
    ripple_pct: float | None = Field(default=None, gt=0, le=100)
    step_a: float | None = Field(default=None, gt=0, le=MOST_A)
    impedance_mohm: float | None = Field(default=None, gt=0, le=1_000_000)
    copper_c: float | None = Field(default=None, ge=-55, le=200)
    plating_um: float | None = Field(default=None, gt=0, le=200)
    copper_um: dict[str, Annotated[float, Field(gt=0, le=1000)]] = Field(default_factory=dict)
    pdn: PdnDeclaration = Field(default_factory=PdnDeclaration)

    @model_validator(mode="before")
    @classmethod
    def _drop_placeholders(cls, data: object) -> object:
        """A key that is open is as good as absent, but for voltage and net: the rail is there, and has both."""
        if not isinstance(data, dict):
            return data
        given = {key: without_open_entries(value) if key == "copper_um" else value for key, value in data.items()}
        shares = given.get("to")
        if isinstance(shares, dict) and any(map(is_open, shares.values())):
            del given["to"]  # the loads share their currents: with one of them open none is known
        if is_open(given.get("voltage_v")):
            given["voltage_v"] = None
        return {key: value for key, value in given.items() if key == "net" or not is_open(value)}

    @classmethod
    def open_keys(cls, table: Mapping[str, object]) -> tuple[str, ...]:
        """Return `net` where it is open and nothing else is stated: else the rail is one that cannot be judged yet."""
        says_more = any(key not in ("net", "core") and not is_open(value) for key, value in table.items())
        return () if says_more else tuple(key for key in super().open_keys(table) if key != "voltage_v")

    @model_validator(mode="before")
    @classmethod
    def _below_ground(cls, given: object) -> object:
        """Read `voltage_v = -12` as 12 V below ground: drop, current and impedance have no sign."""
        volts = given.get("voltage_v") if isinstance(given, dict) else None
        if isinstance(given, dict) and isinstance(volts, int | float) and volts < 0:
            return {**given, "voltage_v": -volts, "negative": True}
        return given

    @model_validator(mode="before")
    @classmethod
    def _loads_draw_currents(cls, given: object) -> object:
        """Look at the amperes of each load before they are one of the two ways to write `to`: one clear complaint."""
        loads = given.get("to") if isinstance(given, dict) else None
        for load, amperes in loads.items() if isinstance(loads, dict) else ():
            if is_open(amperes):
                continue
            size = amperes if isinstance(amperes, int | float) and not isinstance(amperes, bool) else nan
            if size <= 0:
                raise ValueError(f"to: {load} draws no current, or a negative one")
            if not size <= MOST_A:
                shown = str(amperes).lower() if isinstance(amperes, bool) else repr(amperes)
                raise ValueError(f"to: {load} = {shown}; give its current in A, a number up to {MOST_A}")
        return given

    @field_validator("from_", "to", "ground_from", "ground_to")
    @classmethod
    def _each_once(cls, names: tuple[str, ...] | dict[str, float]) -> tuple[str, ...] | dict[str, float]:
        return names if isinstance(names, dict) else tuple(dict.fromkeys(names))

    @model_validator(mode="after")
    def _said_once(self) -> "RailDeclaration":
        amperes = self.to if isinstance(self.to, dict) else {}
        if sum((self.current_a is not None, self.tdp_w is not None, bool(amperes))) > 1:
            raise ValueError(f"{self.net}: state current_a, or tdp_w, or the amperes of each load in `to`, not several")
        if self.max_drop_mv is not None and self.max_drop_pct is not None:
            raise ValueError(f"{self.net}: state max_drop_mv or max_drop_pct, not both")
        return self

    @property
    def has_net(self) -> bool:
        """False where its net is still open."""
        return self.net != PLACEHOLDER

    @property
    def volts(self) -> float:
        """Its voltage; raises `MissingFact` where it is still open."""
        if self.voltage_v is None:
            raise MissingFact(f"the voltage of {self.net}", f'in the [[rail]] of {self.net}: voltage_v = "?"')
        return self.voltage_v

    @property
    def limits_drop(self) -> bool:
        """True where a limit of the drop is declared."""
        return self.max_drop_pct is not None or self.max_drop_mv is not None

    @property
    def states_target(self) -> bool:
        """True where ripple and step are declared, which give a target impedance."""
        return self.ripple_pct is not None and self.step_a is not None

    @property
    def max_drop_v(self) -> float | None:
        """The declared limit of the drop in volts, None where none is declared; raises as `volts` does."""
        if self.max_drop_pct is not None:
            return self.volts * self.max_drop_pct / 100
        return self.max_drop_mv / 1000 if self.max_drop_mv is not None else None

    @property
    def target_ohm(self) -> float | None:
        """V ripple / step, None where either is not declared: there a step just uses up the allowed ripple.

        Raises as `volts` does.

        L. D. Smith, R. E. Anderson, D. W. Forehand, T. J. Pelc, T. Roy, "Power distribution system design methodology
        and capacitor selection for modern CMOS technology", IEEE Trans. Adv. Packag. 22 (1999) 284-291.
        """
        if self.ripple_pct is None or self.step_a is None:
            return None
        return self.volts * self.ripple_pct / 100 / self.step_a

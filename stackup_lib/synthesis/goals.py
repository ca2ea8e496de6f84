"""What a stackup shall do, in plain numbers; nothing here knows a profile. Lengths in mm."""

import math
from typing import Literal

from pydantic import Field, model_validator

from stackup_lib.core.errors import ConfigError
from stackup_lib.core.frozen import Frozen
from stackup_lib.materials import FoilGrade, Tg, TgMethod
from stackup_lib.materials.df_limit import DfLimit
from stackup_lib.synthesis.build_rules import BuildRules
from stackup_lib.transmission_lines.finish import LineFinish
from stackup_lib.transmission_lines.width_request import Target

MOST_LAYERS = 32
"""KiCad takes no more copper layers."""


USUAL_GAP_PER_WIDTH = 1.5

LENGTHS = (
    "thickness_mm",
    "drill_mm",
    "max_aspect_ratio",
    "max_stub_mm",
    "microvia_drill_mm",
    "max_microvia_ratio",
    "least_width_mm",
    "least_gap_mm",
    "least_dielectric_mm",
    "least_outer_width_mm",
    "least_outer_gap_mm",
    "most_thickness_mm",
    "gap_per_width",
    "least_thickness_mm",
    "pair_pitch_mm",
    "power_gap_mm",
    "power_copper_oz",
    "ground_copper_oz",
)
"""What has to be positive, where it is given."""


def rounded_gap_per_width(width_mm: float, gap_mm: float) -> float:
    """Return gap over width so that equal sizes have equal ratios."""
    return round(gap_mm / width_mm, 3)


class LineGoal(Frozen):
    """One kind of line.

    Attributes:
        name: for messages, e.g. `PCIe Gen5 85 ohm`.
        nyquist_ghz: None for a line whose loss does not matter.
        longest_mm: its longest routed length, None when it is not known.
        loss_budget_db: what the board may take of it at Nyquist; None without a limit.
        where: on inner layers between two grounds, or on the outer layers.
    """

    name: str
    target: Target
    nyquist_ghz: float | None = None
    longest_mm: float | None = None
    loss_budget_db: float | None = None
    where: Literal["stripline", "outer"] = "stripline"

    @model_validator(mode="after")
    def _sane(self) -> "LineGoal":
        for what in ("nyquist_ghz", "longest_mm", "loss_budget_db"):
            _positive(f"line goal {self.name!r}", what, getattr(self, what))
        if self.loss_budget_db is not None and None in (self.nyquist_ghz, self.longest_mm):
            raise ConfigError(
                f"line goal {self.name!r}", "a loss budget without length or frequency", "give longest_mm, nyquist_ghz"
            )
        return self


DMA_MARGIN_C = 50.0
"""Tg by DMA reads 10 to 50 degrees above DSC."""


class TgLimit(Frozen):
    """Least Tg in degrees Celsius."""

    min_c: float
    method: TgMethod = TgMethod.DSC

    def is_met_by(self, known: tuple[Tg, ...]) -> bool | None:
        """Compare by the method; where DSC is required, TMA is used as it is, and DMA 50 degrees above.

        None where no value is known.
        """
        by = {tg.method: tg.value_c for tg in reversed(known)}
        found = by.get(self.method)
        if found is None and self.method is TgMethod.DSC:
            found = by.get(TgMethod.TMA)
            if found is None and by.get(TgMethod.DMA, 0.0) >= self.min_c + DMA_MARGIN_C:
                return True
        return None if found is None else found >= self.min_c


class RoutedSize(Frozen):
    """A width, and the gap of a pair, that lines of a board that is laid out have on one layer.

    Attributes:
        layer: index from the top.
        gap_mm: None for single lines.
        low_ohm, high_ohm: their impedance is to be between these, tolerance included; differential of a pair.
        goal: name of their line goal; "" where they have none.
    """

    layer: int
    width_mm: float
    gap_mm: float | None
    low_ohm: float
    high_ohm: float
    goal: str = ""

    @property
    def gap_per_width(self) -> float | None:
        """Of a pair, rounded; None of single lines."""
        return None if self.gap_mm is None else rounded_gap_per_width(self.width_mm, self.gap_mm)


class LaidOut(Frozen):
    """Layers of a board that is laid out: no search moves them.

    Attributes:
        layers: from top to bottom, as in `arrange`.
        copper_oz: weight of each as it stands; None where it is not known.
        least_power_oz: what power planes are required to have; 0 where their weight may stay.
        routed: sizes of lines with a target impedance; stackups that keep them come first.
        of_goals: the size with most length of each line goal and layer; lines keep it where it fits.
        given_up_gap_per_width: no dielectric is chosen for routed pairs of this gap over width.
    """

    layers: str
    copper_oz: tuple[float | None, ...]
    least_power_oz: float = 0.0
    routed: tuple[RoutedSize, ...] = ()
    of_goals: tuple[RoutedSize, ...] = ()
    given_up_gap_per_width: float | None = None

    @property
    def to_fit(self) -> tuple[RoutedSize, ...]:
        """Routed sizes that dielectrics are chosen for."""
        given_up = self.given_up_gap_per_width
        return tuple(one for one in self.routed if given_up is None or one.gap_per_width != given_up)


class Goals(Frozen):
    """What is required of a stackup.

    Attributes:
        laid_out: layers that stay where they are; the numbers of layers below are then not looked at.
        layer_count: None takes the smallest that holds the required layers.
        fast_layers: striplines between two grounds.
        other_signal_layers: the two outer ones are among them.
        power_planes: an odd number is rounded up: a stackup is symmetric; one faces the ground of four layers.
        power_above: of these four, the upper inner layer is the power plane.
        thickness_mm: finished, with solder mask; None takes what comes.
        thickness_tolerance: relative.
        least_thickness_mm: where no thickness is required, at least this: large boards sag.
        most_thickness_mm: no board is thicker, whatever is required; None without a limit.
        fast_outside: high-speed lines also run on the outer layers (fan-out, AC capacitors, card fingers).
        named_laminates: families that meet `df_limit` by name.
        foil: least grade on high-speed layers and on the planes that face them; None takes the plainest that will do
            where a loss budget decides, else nothing is said.
        hybrids: low loss only where a high-speed layer touches it is allowed.
        build: foil builds (prepreg under the outer foils), core builds, or either; with build-ups, of what is inside.
            A foil build gives way to a core build inside build-ups where a signal layer would be too heavy.
        build_ups: HDI layers on either side, each one lamination more (1 is 1-N-1).
        max_laminations: maximum lamination cycles.
        drill_mm: of the smallest through via.
        microvia_drill_mm: of the vias through a build-up; a fab's usual 0.1 to 0.15.
        max_microvia_ratio: depth over diameter of a microvia; fabs state 0.8, the best ones 1.
        max_stub_mm: longest via stub that is left; None where stubs do not matter.
        laminates: only these families; () for all.
        least_outer_width_mm, least_outer_gap_mm: on the outer layers; None as on the inner ones.
        gap_per_width: of pairs; one that is not the usual is a preference: see `with_usual_gap`.
        pair_pitch_mm: most that two traces of a pair lie apart, centre to centre; closer coupling keeps it.
        power_gap_mm: thinnest dielectric next to a power plane, for its voltage.
        build_rules: what fabs press.
        preferred_clauses: clauses of the caller that are wishes: an unmet one ranks behind and rules nothing out.
        rank_by: `cost`, or `loss` among stackups of one cost class.
        finish: etching, plating and solder mask of the fab.
    """

    laid_out: LaidOut | None = None
    layer_count: int | None = None
    fast_layers: int = Field(default=0)
    other_signal_layers: int = 2
    power_planes: int = 0
    power_above: bool = False
    power_copper_oz: float = 1.0
    ground_copper_oz: float = 0.5
    thickness_mm: float | None = None
    thickness_tolerance: float = 0.1
    least_thickness_mm: float | None = None
    most_thickness_mm: float | None = None
    lines: tuple[LineGoal, ...] = ()
    df_limit: DfLimit | None = None
    fast_outside: bool = False
    named_laminates: tuple[str, ...] = ()
    foil: FoilGrade | None = None
    tg_limit: TgLimit | None = None
    hybrids: bool = True
    build: Literal["foil", "core", "either"] = "foil"
    build_ups: int = 0
    microvia_drill_mm: float = 0.125
    max_microvia_ratio: float = 0.8
    max_laminations: int | None = None
    drill_mm: float = 0.25
    max_aspect_ratio: float = 12.0
    max_stub_mm: float | None = None
    laminates: tuple[str, ...] = ()
    excluded_laminates: tuple[str, ...] = ()
    least_width_mm: float = 0.075
    max_width_mm: float = 0.4
    least_gap_mm: float = 0.075
    least_outer_width_mm: float | None = None
    least_outer_gap_mm: float | None = None
    least_dielectric_mm: float = 0.05
    gap_per_width: float = USUAL_GAP_PER_WIDTH
    pair_pitch_mm: float | None = None
    power_gap_mm: float | None = None
    build_rules: BuildRules = BuildRules()
    preferred_clauses: tuple[str, ...] = ()
    rank_by: Literal["cost", "loss"] = "loss"
    finish: LineFinish = LineFinish()

    @model_validator(mode="after")
    def _sane(self) -> "Goals":
        for what in LENGTHS:
            _positive("goals", what, getattr(self, what))
        for what in ("fast_layers", "power_planes", "build_ups"):
            if not 0 <= getattr(self, what) <= MOST_LAYERS:
                raise ConfigError("goals", f"{what} of {getattr(self, what)}", f"give 0 to {MOST_LAYERS}")
        if not 2 <= self.other_signal_layers <= MOST_LAYERS:
            raise ConfigError("goals", f"{self.other_signal_layers} other signal layers", "count the two outer ones in")
        least = 2 if self.laid_out else 4
        if self.layer_count is not None and (self.layer_count % 2 or not least <= self.layer_count <= MOST_LAYERS):
            raise ConfigError("goals", f"{self.layer_count} layers", f"give an even number from 4 to {MOST_LAYERS}")
        if not 0 < self.thickness_tolerance < 0.5:
            raise ConfigError("goals", "tolerance out of range", "give 0 to 0.5")
        if not self.least_width_mm < self.max_width_mm < math.inf:
            raise ConfigError("goals", "width limits out of order", "give least_width_mm below greatest_width_mm")
        laminations = self.build_ups + (0 if self.layer_count == 2 * self.build_ups + 2 else 1)
        if self.max_laminations is not None and laminations > self.max_laminations:
            what = f"{self.build_ups} build-ups need {laminations} laminations, {self.max_laminations} allowed"
            raise ConfigError("goals", what, "allow more laminations or choose fewer build-ups")
        return self


def carries_fast_outside(goals: Goals) -> bool:
    """Tell whether an outer layer carries a line whose loss matters."""
    return goals.fast_outside or any(line.where == "outer" and line.nyquist_ghz is not None for line in goals.lines)


def with_usual_gap(goals: Goals) -> Goals | None:
    """Return the goals with pairs of the usual gap; None where theirs is the usual, or no pair is sought."""
    has_pairs = any(line.target.kind == "differential" for line in goals.lines)
    if goals.gap_per_width == USUAL_GAP_PER_WIDTH or not has_pairs:
        return None
    laid_out = goals.laid_out and goals.laid_out.model_copy(update={"given_up_gap_per_width": goals.gap_per_width})
    return goals.model_copy(update={"gap_per_width": USUAL_GAP_PER_WIDTH, "laid_out": laid_out})


def _positive(where: str, what: str, value: float | None) -> None:
    if value is not None and not (math.isfinite(value) and value > 0):
        raise ConfigError(where, f"{what} of {value:g}", "give a positive number")

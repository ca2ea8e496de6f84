"""What a capacitor is without its mounting: as declared, as a file has it, or as parts of its size are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from drc_rules.analysis.power.over_frequency.left_of_capacitance import bias_of, left_of
from drc_rules.facts.part_models import PartModels
from drc_rules.settings.config_parts import PartModelDeclaration
from drc_rules.settings.config_pdn import CapacitorDeclaration
from stackup_lib.core.interval import Interval
from stackup_lib.nets.capacitor_text import CapacitorText
from stackup_lib.power.over_frequency.capacitor_curve import CapacitorCurve
from stackup_lib.power.over_frequency.capacitors import ceramic_branch, typical_capacitor
from stackup_lib.power.over_frequency.circuit import GROUND, SeriesBranch

DECLARED = "declared"
SAME_BIAS = 0.05
"""A file holds at the rail's voltage where its own differs by no more than this share of it."""

LEAST_OF_NOMINAL, MOST_OF_NOMINAL = 0.3, 1.3
"""Share of the nominal capacitance that a part has: 0.49 to 0.91 of those measured; beyond, it is another part."""


LEAST_BIASED = 0.1
"""Share of the nominal capacitance that DC bias leaves at least."""


@dataclass(frozen=True)
class PartData:
    """What a capacitor is without its mounting.

    Attributes:
        capacitance_f: what is left of it at the rail's voltage.
        esr_ohm, esl_h, skin_ohm: of the part alone.
        source: of ESR and ESL.
        bias: how the capacitance was found.
        is_sure: capacitance, ESR and ESL are declared.
        table: the impedance that a file states, None for none; it takes the place of ESR and ESL.
        doubt: how the file contradicts the value of the part, "" where it does not.
        contradicts: how declared data, or the rail's voltage, contradict what the part states, "" where they do not.
    """

    capacitance_f: Interval
    esr_ohm: Interval
    esl_h: Interval
    skin_ohm: Interval
    source: str
    bias: str
    is_sure: bool
    table: CapacitorCurve | None = None
    doubt: str = ""
    contradicts: str = ""

    def branch(
        self,
        name: str,
        node: str,
        capacitance_f: float,
        of: tuple[float, float, float],
        *,
        mounting_h: float,
        count: int = 1,
    ) -> SeriesBranch:
        """Return the part with its mounting between a node and ground, at ends of its ranges.

        Args:
            name: of the branch.
            node: at which it is connected.
            capacitance_f: within `capacitance_f` of the part.
            of: ESR, ESL and skin part, as in `ceramic_branch`; a file has its own.
            mounting_h: of pads, copper and vias.
            count: equal parts in parallel.
        """
        if self.table is None:
            return ceramic_branch(name, node, capacitance_f, of, mounting_h=mounting_h, count=count)
        missing = 1 / capacitance_f - 1 / self.table.capacitance_f
        lost_f = 1 / missing if missing * self.table.capacitance_f > 1e-9 else None
        return SeriesBranch(
            name,
            node,
            GROUND,
            inductance_h=mounting_h,
            capacitance_f=lost_f,
            count=count,
            part_ohm=self.table.at,
        )


def typical_data(stated: CapacitorText, volts: float | None) -> PartData | None:
    """Return the data of parts of the size; None without value or size, or for a size without data."""
    nominal_f, size = stated.capacitance_f, stated.size
    typical = typical_capacitor(size, nominal_f) if size and nominal_f else None
    if typical is None or nominal_f is None:
        return None
    left, bias = left_of(stated, volts)
    return PartData(
        capacitance_f=left.times(nominal_f),
        esr_ohm=typical.esr_ohm,
        esl_h=typical.esl_h,
        skin_ohm=typical.skin_ohm,
        source="measured" if typical.source.grade == "measured" else "band",
        bias=bias,
        is_sure=False,
        contradicts=_above_rating(stated, volts),
    )


def declared_data(own: CapacitorDeclaration, stated: CapacitorText, volts: float | None = None) -> PartData:
    """Return what is declared; R and L change with frequency as those of ceramic parts of the size, if it is known."""
    slack = own.tolerance_pct / 100
    farad = own.uf * 1e-6
    typical = typical_capacitor(stated.size, farad) if stated.size else None
    return PartData(
        capacitance_f=Interval(low=farad * (1 - slack), nominal=farad, high=farad * (1 + slack)),
        esr_ohm=Interval.exact(own.esr_mohm * 1e-3),
        esl_h=Interval.exact(own.esl_ph * 1e-12),
        skin_ohm=Interval.exact(typical.skin_ohm.nominal if typical else 0.0),
        source=own.source or DECLARED,
        bias=DECLARED,
        is_sure=True,
        contradicts=_other_value(farad, stated.capacitance_f) or _above_rating(stated, volts),
    )


def _other_value(farad: float, stated_f: float | None) -> str:
    """Declared is what DC bias leaves, a tenth at least."""
    if stated_f is None or LEAST_BIASED <= farad / stated_f <= MOST_OF_NOMINAL:
        return ""
    return f"{farad * 1e6:.3g} uF is declared, the parts state {stated_f * 1e6:.3g} uF"


def _above_rating(stated: CapacitorText, volts: float | None) -> str:
    if volts is None or stated.rated_v is None or volts <= stated.rated_v:
        return ""
    return f"the rail has {volts:g} V, the parts state {stated.rated_v:g} V"


def file_data(models: PartModels, row: PartModelDeclaration, stated: CapacitorText, volts: float | None) -> PartData:
    """Return what a file says; where it holds at another voltage than the rail's, with what DC bias may leave.

    Raises:
        StackwrightError: the file cannot be used.
    """
    table = models.capacitor(row)
    farad = table.capacitance_f
    is_sure = volts is not None and row.bias_v >= volts * (1 - SAME_BIAS)
    if is_sure:
        left, bias = Interval.exact(1.0), f"at {row.bias_v:g} V, as in its file"
    else:
        left, bias = bias_of(replace(stated, capacitance_f=farad), volts)
    return PartData(
        capacitance_f=left.times(farad),
        esr_ohm=Interval.exact(table.esr_ohm),
        esl_h=Interval.exact(table.esl_h),
        skin_ohm=Interval.exact(0.0),
        source=row.file,
        bias=bias,
        is_sure=is_sure,
        table=table,
        doubt=_doubt(row.file, farad, stated.capacitance_f),
        contradicts=_above_rating(stated, volts),
    )


def _doubt(file: str, farad: float, stated_f: float | None) -> str:
    if stated_f is None or LEAST_OF_NOMINAL <= farad / stated_f <= MOST_OF_NOMINAL:
        return ""
    return f"{file} has {farad * 1e6:.2g} uF, the parts state {stated_f * 1e6:.3g} uF"

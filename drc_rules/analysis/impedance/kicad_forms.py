"""KiCad's impedances of a board's lines and the field solver's: tuning profiles, closed forms of its calculator.

Lengths are millimetres.
"""

from collections.abc import Iterable, Iterator

from drc_rules.analysis.impedance.impedance_table import ImpedanceRow, ImpedanceTable, LineTarget
from drc_rules.analysis.lines.solved_lines import Lines
from stackup_lib.board.board import TuningLayer, TuningProfile
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.frozen import Frozen
from stackup_lib.transmission_lines.closed_forms import (
    Planes,
    coupled_microstrip_ohm,
    coupled_stripline_ohm,
    microstrip_ohm,
    stripline_ohm,
)
from stackup_lib.transmission_lines.site import TraceEnvironment
from stackup_lib.transmission_lines.starting import height_and_dk
from stackup_lib.transmission_lines.width_request import Target

DIGITS = 4
"""Tenths of a micrometre: finer than any fab etches."""


class ProfileLine(Frozen):
    """One layer of a tuning profile.

    Attributes:
        width_mm, gap_mm: as the project has them; None where it has none.
        solved_ohm: what the field solver finds for them.
        off_pct: of `solved_ohm` from the target.
        right_width_mm, right_gap_mm: what meets the target; None where nothing does.
        problem: why a value is missing.
    """

    profile: str
    layer: str
    target: Target
    width_mm: float | None
    gap_mm: float | None
    solved_ohm: float | None = None
    off_pct: float | None = None
    right_width_mm: float | None = None
    right_gap_mm: float | None = None
    problem: str = ""


class ClosedFormLine(Frozen):
    """A geometry that meets a target, and what KiCad's calculator says of it.

    Attributes:
        form: the closed form.
        calculator_ohm: Z0, or Zdiff of a pair, by the closed form.
        off_pct: of `calculator_ohm` from `solved_ohm`.
    """

    title: str
    layer: str
    target: Target
    width_mm: float
    gap_mm: float | None
    form: str
    calculator_ohm: float
    solved_ohm: float
    off_pct: float


def profile_lines(lines: Lines, profiles: Iterable[TuningProfile]) -> Iterator[ProfileLine]:
    """Yield every layer of every tuning profile that names a target and a layer of the board."""
    for profile in profiles:
        for layer in profile.layers:
            if profile.target_ohm > 0 and layer.signal_layer in lines.ctx.board.layer_index:
                yield _profile_line(lines, profile, layer)


def _profile_line(lines: Lines, profile: TuningProfile, layer: TuningLayer) -> ProfileLine:
    index_of = lines.ctx.board.layer_index
    own = index_of[layer.signal_layer]
    named = (index_of.get(layer.top_reference or ""), index_of.get(layer.bottom_reference or ""))
    references = None if named == (None, None) else named
    kind = "differential" if profile.differential else "single"
    target = Target.model_validate({"ohm": profile.target_ohm, "kind": kind})
    gap = layer.gap_mm or None if profile.differential else None
    found = ProfileLine(
        profile=profile.name, layer=layer.signal_layer, target=target, width_mm=layer.width_mm or None, gap_mm=gap
    )
    right = next(ImpedanceTable(lines).rows((own,), (LineTarget(title="", target=target, gap_mm=gap),), references))
    found = found.model_copy(
        update={
            "right_width_mm": _rounded(right.width_mm),
            "right_gap_mm": _rounded(right.gap_mm),
            "problem": right.problem,
        }
    )
    if found.width_mm is None or (profile.differential and gap is None):
        return found.model_copy(update={"problem": right.problem or "the profile states no width or gap"})
    try:
        ohm = lines.solved(own, found.width_mm, gap, references).impedance_ohm
    except (MissingFact, StackwrightError) as error:
        return found.model_copy(update={"problem": error.what})
    return found.model_copy(update={"solved_ohm": ohm, "off_pct": 100 * (ohm / target.ohm - 1)})


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def closed_form_lines(lines: Lines, rows: Iterable[ImpedanceRow]) -> Iterator[ClosedFormLine]:
    """Yield for each solved row of an impedance table what the closed forms say; none where no form applies."""
    for row in rows:
        if row.width_mm is None or row.impedance_ohm is None:
            continue
        index = lines.ctx.board.layer_index[row.layer]
        site, copper_mm = lines.site(index).site, lines.ctx.copper_thickness_mm(index).value
        found = calculator_ohm(site, copper_mm, row.width_mm, row.gap_mm) if copper_mm else None
        if found is not None:
            form, ohm = found
            yield ClosedFormLine(
                title=row.target.title,
                layer=row.layer,
                target=row.target.target,
                width_mm=row.width_mm,
                gap_mm=row.gap_mm,
                form=form,
                calculator_ohm=ohm,
                solved_ohm=row.impedance_ohm,
                off_pct=100 * (ohm / row.impedance_ohm - 1),
            )


def calculator_ohm(
    site: TraceEnvironment, copper_mm: float, width_mm: float, gap_mm: float | None
) -> tuple[str, float] | None:
    """Return the closed form that a calculator has for a line, and its answer; None for an embedded microstrip.

    Args:
        site: of which heights and Dk are taken; mask and etch taper are left out, as the closed forms know neither.
        copper_mm: as the stackup states it.
        width_mm: of the trace.
        gap_mm: of a pair.
    """
    below_mm, dk = height_and_dk(site.below)
    if site.reference_above is None:
        if site.above:
            return None
        if gap_mm is None:
            return "microstrip (Hammerstad-Jensen)", microstrip_ohm(width_mm, below_mm, copper_mm, dk)
        ohm = coupled_microstrip_ohm(width_mm, gap_mm, below_mm, copper_mm, dk)
        return "coupled microstrip (Kirschning-Jansen)", ohm
    above_mm, _ = height_and_dk(site.above)
    _, dk = height_and_dk(site.sheets)
    planes = Planes(below_mm, above_mm, copper_mm)
    if gap_mm is None:
        return "stripline (Cohn)", stripline_ohm(width_mm, planes, dk)
    return "coupled stripline (Cohn)", coupled_stripline_ohm(width_mm, gap_mm, planes, dk)

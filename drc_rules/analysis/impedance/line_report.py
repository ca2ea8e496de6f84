"""All that is known of one line: a width, or a width and gap, on one layer of the board's stackup."""

from drc_rules.analysis.lines.solved_lines import Lines, LossAt, limit_of, production_process
from drc_rules.analysis.lines.uncertainty import Cause, Contribution, LineUncertainty
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.frozen import Frozen
from stackup_lib.field_solver.solver import TOLERANCE
from stackup_lib.transmission_lines.lossy import SolvedLine, solve_line
from stackup_lib.transmission_lines.materials.dielectric_models import DielectricDataError
from stackup_lib.transmission_lines.materials.laminate_models import DK_GHZ
from stackup_lib.transmission_lines.tolerance import ImpedanceSpread, spread_or_why

USUAL_GHZ = (1.0, 4.0, 8.0, 16.0, 26.56)
"""Where loss is reported when no frequency is given: a coupon's, and the Nyquist frequencies of PCIe Gen3 to Gen5 and
of 106 GBd PAM4."""


class Dielectric(Frozen):
    """A dielectric of the cross section, with where its Dk comes from."""

    name: str
    kind: str
    thickness_mm: float
    dk: float
    dk_source: str
    material: str


class Returns(Frozen):
    """Where the return current flows, in shares of the signal current of one trace."""

    plane: str
    share: float


class LossRow(Frozen):
    """Loss at one frequency, or why there is none."""

    frequency_ghz: float
    loss: LossAt | None = None
    problem: str = ""
    cure: str = ""


class ModelUncertainty(Frozen):
    """What is not known of a nominal impedance, in percent of it, the larger side of each cause; 0 where declared.

    Attributes:
        solver_pct: numerical error.
        mask_outline_pct: how the mask lies over the edge of the trace.
        dk_pct, taper_pct, outer_copper_pct, mask_thickness_pct, mask_dk_pct: by the facts that are not declared.
        low_pct, high_pct: the sums, down (0 or less) and up.
        causes: all of it in full, the largest first.
    """

    solver_pct: float
    mask_outline_pct: float
    dk_pct: float
    taper_pct: float
    outer_copper_pct: float
    mask_thickness_pct: float
    mask_dk_pct: float
    low_pct: float
    high_pct: float
    causes: tuple[Contribution, ...]


class LineReport(Frozen):
    """One line. Impedances in ohm, lengths in mm; widths and gaps at the base.

    Attributes:
        z_ohm: Z0 of a single line, Zdiff of a pair.
        solver_error_pct: the solver's own estimate.
        spread: what a typical production makes of it; None where its limits leave no line.
        spread_problem: why there is none.
        model: what is not known of the nominal impedance.
        process: name of the production's tolerances.
        losses: by frequency.
        limit_ghz: up to where a quasi-static answer holds.
    """

    layer: str
    width_mm: float
    gap_mm: float | None
    coplanar_gap_mm: float | None
    copper_mm: float
    taper_mm: float
    dielectrics: tuple[Dielectric, ...]
    z_ohm: float
    z_odd_ohm: float | None
    z_even_ohm: float | None
    z_common_ohm: float | None
    eps_eff: float
    delay_ps_per_mm: float
    solver_error_pct: float
    returns: tuple[Returns, ...]
    spread: ImpedanceSpread | None
    spread_problem: str = ""
    model: ModelUncertainty
    process: str
    losses: tuple[LossRow, ...]
    limit_ghz: float
    limit_reason: str
    assumptions: tuple[str, ...]


def line_report(
    lines: Lines,
    index: int,
    *,
    width_mm: float,
    gap_mm: float | None,
    coplanar_gap_mm: float | None = None,
    target_ohm: float | None = None,
    frequencies_ghz: tuple[float, ...] = (),
    references: tuple[int | None, int | None] | None = None,
) -> LineReport:
    """Solve one line of a board's stackup.

    Raises:
        MissingFact: a thickness, a Dk or the reference plane is not known.
        GeometryError: the line cannot exist.
    """
    where = lines.site(index, references)
    line = solve_line(where.site, width_mm, gap_mm, coplanar_gap_mm, tolerance=TOLERANCE)
    solution, limit = line.solution, limit_of(line)
    pair = solution.is_pair
    process = production_process()
    production, problem = spread_or_why(where.site, width_mm, gap_mm, process, coplanar_gap_mm, target_ohm=target_ohm)
    return LineReport(
        layer=where.site.layer,
        width_mm=width_mm,
        gap_mm=gap_mm,
        coplanar_gap_mm=coplanar_gap_mm,
        copper_mm=where.site.copper_mm,
        taper_mm=where.site.taper_mm,
        dielectrics=tuple(
            Dielectric(
                name=ply.label,
                kind=sheet.kind,
                thickness_mm=sheet.thickness_mm,
                dk=sheet.dk,
                dk_source=ply.dk.at(DK_GHZ).source,
                material=ply.stated,
            )
            for ply, sheet in zip(where.plies, where.site.sheets, strict=True)
        ),
        z_ohm=line.impedance_ohm,
        z_odd_ohm=solution.z_odd_ohm if pair else None,
        z_even_ohm=solution.z_even_ohm if pair else None,
        z_common_ohm=solution.z_common_ohm if pair else None,
        eps_eff=line.eps_eff,
        delay_ps_per_mm=line.delay_ps_per_mm,
        solver_error_pct=100 * solution.error_estimate,
        returns=tuple(_returns(line)),
        spread=production,
        spread_problem=problem,
        model=_model(lines.uncertainty(index, width_mm, gap_mm, references, coplanar_gap_mm), solution.error_estimate),
        process=process.name,
        losses=tuple(_loss(lines, index, line, f, references) for f in frequencies_ghz or USUAL_GHZ),
        limit_ghz=limit.frequency_ghz,
        limit_reason=limit.reason,
        assumptions=where.assumptions,
    )


def _model(found: LineUncertainty, solver_error: float) -> ModelUncertainty:
    return ModelUncertainty(
        solver_pct=100 * solver_error,
        mask_outline_pct=found.of(Cause.MASK_OUTLINE),
        dk_pct=found.of(Cause.DK),
        taper_pct=found.of(Cause.TAPER),
        outer_copper_pct=found.of(Cause.OUTER_COPPER),
        mask_thickness_pct=found.of(Cause.MASK),
        mask_dk_pct=found.of(Cause.MASK_DK),
        low_pct=found.low_pct,
        high_pct=found.high_pct,
        causes=found.contributions,
    )


def _returns(line: SolvedLine) -> list[Returns]:
    shares = line.solution.odd_shares if line.solution.is_pair else line.solution.shares
    if shares is None:
        return []
    site = line.site
    named = (
        (site.reference_below or "", shares.plane_below),
        (site.reference_above or "", shares.plane_above),
        (f"coplanar ground on {site.layer}", shares.coplanar),
        ("the other trace", shares.other_trace),
    )
    return [Returns(plane=name, share=share) for name, share in named if name and share > 5e-4]


def _loss(
    lines: Lines,
    index: int,
    line: SolvedLine,
    frequency_ghz: float,
    references: tuple[int | None, int | None] | None,
) -> LossRow:
    try:
        loss = lines.loss_of(line, lines.site(index, references), frequency_ghz)
    except MissingFact as missing:
        return LossRow(frequency_ghz=frequency_ghz, problem=missing.what, cure=missing.next_step)
    except DielectricDataError as error:
        return LossRow(frequency_ghz=frequency_ghz, problem=str(error))
    return LossRow(frequency_ghz=frequency_ghz, loss=loss)

"""The lines of a board, solved: impedance and loss of any width and gap on any layer, each computed once.

The field solver and the models of materials are imported when the first line is solved: few boards have one to solve.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

from drc_rules.analysis.lines.routed import NearFill, References
from drc_rules.analysis.lines.sites import BoardSite, board_site
from drc_rules.analysis.lines.uncertainty import LineUncertainty, Uncertainties
from drc_rules.facts.context import Context
from drc_rules.requirements.fabs import Tier
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.transmission_lines.materials.dielectric_models import DielectricSample
from stackup_lib.transmission_lines.materials.laminate_models import DK_GHZ, laminate_model, samples_of
from stackup_lib.transmission_lines.site import TraceEnvironment

if TYPE_CHECKING:
    from stackup_lib.field_solver.validity import ValidityLimit
    from stackup_lib.transmission_lines.lossy import LineMaterials, SolvedLine
    from stackup_lib.transmission_lines.material_range import Models
    from stackup_lib.transmission_lines.process import Process

LINE_TOLERANCE = 1e-3
"""Relative accuracy of the solver for tables and rules: a tenth of what the mask's outline alone is worth."""

WIDEST_MM = 20.0
"""No line of a signal is wider, nor farther from its complement; the field solver's work grows with the width."""

DRAW_IT = "give the track, its class or its rule a width and a gap of a line in KiCad"


@record
class LineKey:
    """A cross section of a board.

    Attributes:
        layer: copper layer.
        width_mm, gap_mm: of the trace, and of a pair between its traces.
        references: planes above and below; None for the nearest ones.
        near_fill: filled copper next to it on its own layer, outside of a pair; None without it.
    """

    layer: int
    width_mm: float
    gap_mm: float | None = None
    references: References | None = None
    near_fill: NearFill | None = None

    @property
    def grounds_mm(self) -> tuple[float | None, ...]:
        """Distances to ground on both sides between which the line is: one, or of uneven copper two; None without."""
        if self.near_fill is None:
            return (None,)
        return (self.near_fill.near_mm,) if self.near_fill.is_even else (self.near_fill.near_mm, self.near_fill.far_mm)


class LossAt(Frozen):
    """Loss per length of a line at one frequency, in dB/mm.

    Attributes:
        total_db_per_mm: with the range that Df and roughness leave.
        dielectric_db_per_mm, copper_db_per_mm, roughness_db_per_mm: nominal parts.
        df_rise_db_per_mm, foil_rise_db_per_mm: what the highest Df, and the roughest foil, add to nominal.
        limit_ghz: up to where a quasi-static answer holds.
        limit_reason: what ends it.
        assumptions: what is not declared, one phrase each.
    """

    frequency_ghz: float
    total_db_per_mm: Interval
    dielectric_db_per_mm: float
    copper_db_per_mm: float
    roughness_db_per_mm: float
    delay_ps_per_mm: float
    df_rise_db_per_mm: float
    foil_rise_db_per_mm: float
    limit_ghz: float
    limit_reason: str
    assumptions: tuple[str, ...] = ()

    @property
    def is_quasi_static(self) -> bool:
        """False beyond the frequency up to which the model holds."""
        return self.frequency_ghz <= self.limit_ghz


@record
class Lines:
    """Solved lines of one board; what is missing raises `MissingFact`, what cannot exist `GeometryError`."""

    ctx: Context

    def site(self, index: int, references: References | None = None) -> BoardSite:
        """Return the site of a copper layer, between its nearest planes or those that are named."""
        return self.ctx.get(board_site, index, references)

    def is_solved(self, key: LineKey) -> bool:
        """Tell whether a cross section has been solved already."""
        return all(
            self.ctx.knows(_solved, key.layer, key.width_mm, key.gap_mm, key.references)
            if ground_mm is None
            else self.ctx.knows(_coplanar, key.layer, (key.width_mm, key.gap_mm, ground_mm), key.references)
            for ground_mm in key.grounds_mm
        )

    def lines(self, key: LineKey) -> "tuple[SolvedLine, ...]":
        """Return a cross section solved; where copper next to it is uneven with the nearest and with the farthest.

        The line is in the middle of the two, as its impedance is in the check. Raises what `solved` raises.
        """
        return tuple(
            self.solved(key.layer, key.width_mm, key.gap_mm, key.references, coplanar_mm=ground_mm)
            for ground_mm in key.grounds_mm
        )

    def solved(
        self,
        index: int,
        width_mm: float,
        gap_mm: float | None = None,
        references: References | None = None,
        other_mm: float | None = None,
        *,
        coplanar_mm: float | None = None,
    ) -> "SolvedLine":
        """Return the solved trace, or pair with `gap_mm`, on a copper layer; sizes are taken to 0.1 um.

        `other_mm` is the width of the pair's second trace, where it has another one; `coplanar_mm` is the distance to
        ground on both sides on the line's own layer.
        """
        width, gap = round(width_mm, 4), None if gap_mm is None else round(gap_mm, 4)
        self.site(index, references)
        if max(width, gap or 0.0, other_mm or 0.0) > WIDEST_MM:
            size = f"{width_mm:g} mm" if gap_mm is None else f"{width_mm:g} mm with gaps of {gap_mm:g} mm"
            raise MissingFact(f"a plausible line: {size} wide on {self.ctx.board.copper_layers[index].name}", DRAW_IT)
        if other_mm is not None and gap is not None:  # smaller first: either trace has the same pair
            first, second = sorted((width, round(other_mm, 4)))
            return self.ctx.get(_unequal, index, (first, second, gap), references, coplanar_mm)
        if coplanar_mm is not None:
            return self.ctx.get(_coplanar, index, (width, gap, coplanar_mm), references)
        return self.ctx.get(_solved, index, width, gap, references)

    def uncertainty(
        self,
        index: int,
        width_mm: float,
        gap_mm: float | None = None,
        references: References | None = None,
        coplanar_gap_mm: float | None = None,
    ) -> LineUncertainty:
        """Return what is not known of the impedance of a line, cause by cause; raises what solving raises."""
        where = self.site(index, references)
        shape = (round(width_mm, 4), None if gap_mm is None else round(gap_mm, 4), coplanar_gap_mm)
        error = 0.0
        if coplanar_gap_mm is None:
            error = self.solved(index, width_mm, gap_mm, references).solution.error_estimate
        return self.ctx.get(_uncertainties).of_line(self.ctx.process, where, shape, 100 * error)

    def loss(self, key: LineKey, frequency_ghz: float, foil: str | None = None) -> LossAt:
        """Return the loss of a line at a frequency; raises `MissingFact` where a Df is not known there.

        `foil` takes the place of those that are declared.
        """
        where = self.site(key.layer, key.references)
        return _middle([self.loss_of(line, where, frequency_ghz, foil) for line in self.lines(key)])

    def loss_of(self, line: "SolvedLine", where: BoardSite, frequency_ghz: float, foil: str | None = None) -> LossAt:
        """Return the loss of a solved line of this board, by default with the foils that are declared.

        Raises:
            MissingFact: a Df is not known at the frequency.
        """
        from stackup_lib.transmission_lines.lossy import loss_of  # noqa: PLC0415 - see above

        low, nominal, high = (
            loss_of(line, materials, frequency_ghz) for materials in self._materials(where, frequency_ghz, foil)
        )
        limit = limit_of(line)
        # Between copper faces a micrometre apart, the roughness of all of them changes the impedance as well: then the
        # smoothest copper does not have the least loss.
        totals = [float(one.total_db_per_mm) for one in (low, nominal, high)]
        total = Interval(low=min(totals), nominal=totals[1], high=max(totals))
        return LossAt(
            frequency_ghz=frequency_ghz,
            total_db_per_mm=total,
            dielectric_db_per_mm=float(nominal.dielectric_db_per_mm),
            copper_db_per_mm=float(nominal.copper_db_per_mm),
            roughness_db_per_mm=float(nominal.roughness_db_per_mm),
            delay_ps_per_mm=float(nominal.delay_ps_per_mm),
            df_rise_db_per_mm=max(float(high.dielectric_db_per_mm - nominal.dielectric_db_per_mm), 0.0),
            foil_rise_db_per_mm=max(float(high.roughness_db_per_mm - nominal.roughness_db_per_mm), 0.0),
            limit_ghz=limit.frequency_ghz,
            limit_reason=limit.reason,
            assumptions=self._assumptions(where),
        )

    def nominal_materials(self, key: LineKey, frequency_ghz: float) -> "LineMaterials":
        """Return the nominal materials of a line: causal models over frequency, anchored at this one.

        Raises:
            MissingFact: a Dk or Df is not known there.
        """
        return self._materials(self.site(key.layer, key.references), frequency_ghz)[1]

    def changed_loss_db_per_mm(
        self, key: LineKey, frequency_ghz: float, *, foil: str | None = None, df_factor: float = 1.0
    ) -> float:
        """Return the nominal loss of a line whose copper had another foil, or whose laminates had another Df.

        Args:
            key: its cross section.
            frequency_ghz: of loss and Df.
            foil: of all copper; by default what is declared.
            df_factor: by which the Df of every laminate next to it is multiplied; the mask keeps its own.
        """
        from stackup_lib.transmission_lines.lossy import loss_of  # noqa: PLC0415

        where = self.site(key.layer, key.references)
        materials = self._materials(where, frequency_ghz, foil)[1]
        if df_factor != 1.0:
            dfs = (df_factor * self.ctx.need(ply.df.at(frequency_ghz)) for ply in where.plies)
            sheets = (
                laminate_model((), sheet.dk, DK_GHZ, df, frequency_ghz)
                for sheet, df in zip(where.site.sheets, dfs, strict=True)
            )
            materials = replace(materials, sheets=tuple(sheets))
        return fmean(float(loss_of(line, materials, frequency_ghz).total_db_per_mm) for line in self.lines(key))

    def _materials(
        self, where: BoardSite, frequency_ghz: float, foil: str | None = None
    ) -> "tuple[LineMaterials, LineMaterials, LineMaterials]":
        """Return the least lossy, the nominal and the lossiest materials that the facts allow.

        `foil` takes the place of what is declared.
        """
        from stackup_lib.transmission_lines.material_range import LineCopper, material_range  # noqa: PLC0415

        models = [
            self.ctx.get(_models, ply.label, sheet.dk, frequency_ghz)
            for ply, sheet in zip(where.plies, where.site.sheets, strict=True)
        ]
        first, last = (where.above, where.below) if where.site.is_turned else (where.below, where.above)
        copper = LineCopper(
            foil=foil or self._foil(where.index),
            plane_foils=(foil or self._foil(first), foil or self._foil(last)),
            plane_mm=(self._plane_mm(where, first), self._plane_mm(where, last)),
            is_enig=self._is_enig(),
        )
        return material_range(where.site, models, copper, self.ctx.process.mask_df().value, frequency_ghz)

    def _foil(self, index: int | None) -> str:
        stated = None if index is None else self.ctx.foil_name(index)
        return stated.value or "" if stated is not None and stated.known else ""

    def _plane_mm(self, where: BoardSite, plane: int | None) -> float:
        stated = None if plane is None else self.ctx.copper_thickness_mm(plane).value
        return stated or where.site.copper_mm

    def _is_enig(self) -> bool:
        finish = self.ctx.stackup().copper_finish or ""
        return any(word in finish.upper() for word in ("ENIG", "ENEPIG", "NICKEL"))

    def _assumptions(self, where: BoardSite) -> tuple[str, ...]:
        unknown_foil = not self.ctx.foil_name(where.index).known
        foil = ("foil not declared: from HVLP to standard",) if unknown_foil else ()
        df = self.ctx.process.mask_df()
        mask = (f"Df of solder mask {df.value:g}",) if where.site.mask and not df.is_stated else ()
        return (*where.assumptions, *foil, *mask)


def _middle(ends: Sequence[LossAt]) -> LossAt:
    """Return the middle of the losses of a line between whose ends it is, with the range of both."""
    if len(ends) == 1:
        return ends[0]
    limit = min(ends, key=lambda one: one.limit_ghz)
    totals = [one.total_db_per_mm for one in ends]
    return LossAt(
        frequency_ghz=limit.frequency_ghz,
        total_db_per_mm=Interval(
            low=min(one.low for one in totals),
            nominal=fmean(one.nominal for one in totals),
            high=max(one.high for one in totals),
        ),
        dielectric_db_per_mm=fmean(one.dielectric_db_per_mm for one in ends),
        copper_db_per_mm=fmean(one.copper_db_per_mm for one in ends),
        roughness_db_per_mm=fmean(one.roughness_db_per_mm for one in ends),
        delay_ps_per_mm=fmean(one.delay_ps_per_mm for one in ends),
        df_rise_db_per_mm=fmean(one.df_rise_db_per_mm for one in ends),
        foil_rise_db_per_mm=fmean(one.foil_rise_db_per_mm for one in ends),
        limit_ghz=limit.limit_ghz,
        limit_reason=limit.limit_reason,
        assumptions=limit.assumptions,
    )


def _solved(
    ctx: Context, index: int, width_mm: float, gap_mm: float | None, references: References | None
) -> "SolvedLine":
    site = Lines(ctx).site(index, references).site
    return ctx.get(_image, site.canonical(), width_mm, gap_mm).on(site, site.section(width_mm, gap_mm))


def _coplanar(
    ctx: Context,
    index: int,
    shape: tuple[float, float | None, float],
    references: References | None,
) -> "SolvedLine":
    """Solve a line with ground on both sides on its own layer: width, gap of a pair, distance to the ground."""
    site = Lines(ctx).site(index, references).site
    return ctx.get(_coplanar_image, site.canonical(), *shape).on(site, site.section(*shape))


def _unequal(
    ctx: Context,
    index: int,
    pair: tuple[float, float, float],
    references: References | None,
    coplanar_mm: float | None = None,
) -> "SolvedLine":
    """Solve a pair whose traces have two widths: these, then the gap."""
    width_mm, other_mm, gap_mm = pair
    return _solve(Lines(ctx).site(index, references).site, (width_mm, gap_mm, coplanar_mm), other_mm)


def _image(_ctx: Context, site: TraceEnvironment, width_mm: float, gap_mm: float | None) -> "SolvedLine":
    """Solve a line on a canonical site: layers that mirror one another share the solution."""
    return _solve(site, (width_mm, gap_mm, None))


def _coplanar_image(
    _ctx: Context, site: TraceEnvironment, width_mm: float, gap_mm: float | None, coplanar_mm: float
) -> "SolvedLine":
    return _solve(site, (width_mm, gap_mm, coplanar_mm))


def _solve(
    site: TraceEnvironment, shape: tuple[float, float | None, float | None], other_mm: float | None = None
) -> "SolvedLine":
    """Solve a line: width, gap of a pair, distance to ground on both sides; of a pair of two widths the other one."""
    from stackup_lib.transmission_lines.lossy import solve_line  # noqa: PLC0415

    return solve_line(site, *shape, tolerance=LINE_TOLERANCE, other_mm=other_mm)


def _uncertainties(_ctx: Context) -> Uncertainties:
    return Uncertainties()


def _models(ctx: Context, label: str, dk: float, frequency_ghz: float) -> "Models":
    """Return the least lossy, the nominal and the lossiest permittivity that a ply may have, by its label."""
    from stackup_lib.transmission_lines.material_range import permittivity_range  # noqa: PLC0415

    ply = next(one for one in ctx.plies if one.label == label)
    df = ctx.need(ply.df.at(frequency_ghz))
    return permittivity_range(ctx.get(_samples, label), dk, df, ply.df.spread_at(frequency_ghz), frequency_ghz)


def _samples(ctx: Context, label: str) -> tuple[DielectricSample, ...]:
    ply = next(one for one in ctx.plies if one.label == label)
    return samples_of(ply.match) if ply.match and ply.declaration.df is None else ()


def production_process() -> "Process":
    """Return the tolerances of a typical production, as long as those of the fab are not declared."""
    from drc_rules.requirements.fabs.process import typical_processes  # noqa: PLC0415

    return typical_processes()[Tier.STANDARD].process


def limit_of(line: "SolvedLine") -> "ValidityLimit":
    """Return up to which frequency the quasi-static answer of a line holds, and what ends it."""
    from stackup_lib.field_solver.validity import microstrip_limit, stripline_limit  # noqa: PLC0415

    site, section = line.site, line.section
    dk = max(sheet.dk for sheet in site.sheets)
    if section.plane_above:
        strips = section.strips
        span = max(s.centre_mm + s.base_width_mm / 2 for s in strips) - min(
            s.centre_mm - s.base_width_mm / 2 for s in strips
        )
        return stripline_limit(span, section.height_mm, dk)
    height = sum(sheet.thickness_mm for sheet in site.below)
    return microstrip_limit(section.strips[0].base_width_mm, height, dk, line.eps_eff)

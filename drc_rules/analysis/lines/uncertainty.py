"""What is not known of a line's nominal impedance, cause by cause, and what to declare so that it is known.

This is the only source: rules, tables and drawings take it from `LineUncertainty`. Each cause moves one
input of the field solver to the ends of its range on the line's own cross section. A cause that is declared drops out.
The errors are the same on every board of a lot and may all point one way: they are added. What production spreads
(width, thickness, lot of laminate) is no part of it: see `stackup_lib.transmission_lines.tolerance`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import field
from enum import StrEnum

from drc_rules.analysis.lines.sites import BoardSite
from drc_rules.facts.board_process import BoardProcess, MaskNumbers
from drc_rules.facts.dielectric.ply import DielectricPly
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record, workpiece
from stackup_lib.field_solver.sections import Mask
from stackup_lib.power.rail_drop.spread import OUTER_PLATING_UM
from stackup_lib.transmission_lines.finish import USUAL_MASK
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment

DK_KNOWN_TO = 0.02
"""How well a Dk without its frequency holds for an impedance: laminates lose 1 to 3 % of Dk from 1 to 10 GHz, and
methods of measurement differ by as much."""

TAPER_KNOWN_TO = 0.5
"""Share to which the assumed taper is known. Inside fabs and calculators state 10 to 15 um on 15 um of copper, outside
15 to 25 um on 35 to 41 um; the upper ends are common practice without a document."""

FINISHED_OUTER_MM = 0.0432
"""Most finished outer copper that fabs publish for 1 oz (OSH Park 43.2 um, JLCPCB's calculator 40.6, 18 um of foil with
20 to 25 um of plating 38 to 43). A stackup row below it may be foil without plating, or KiCad's default of 35 um."""

MASK_OVER_COPPER_MM = (0.0102, 0.0254)
"""Solder mask over copper, least and most: a template of Eurocircuits, and OSH Park's older page (AISLER 25 um)."""

MASK_OVER_LAMINATE_MM = 0.0305
"""Most solder mask over laminate: JLCPCB. The least is that over copper."""

MASK_DK = (3.3, 3.9)
"""Dk of solder mask: KiCad's default, and PSR-4000BN by OSH Park's drawing."""

MASK_OUTLINE_PCT = 0.3
"""What the outline of the mask over the edge of a trace is worth: it is published by no maker of calculators. The best
fits of two outlines to 27 reference cases differ by up to this."""

MATTERS_PCT = 0.15
"""What moves an impedance by less is not asked of the user."""


class Cause(StrEnum):
    """What is not known of a line; the value is what reports call it."""

    FILL = "copper next to the line"
    DK = "Dk"
    TAPER = "etch taper"
    OUTER_COPPER = "finished outer copper"
    MASK = "solder mask thickness"
    MASK_DK = "solder mask Dk"
    MASK_OUTLINE = "solder mask outline"
    SOLVER = "field solver"


@record
class Contribution:
    """What one cause may do to an impedance, in percent of it.

    Attributes:
        low_pct, high_pct: down (0 or less) and up (0 or more).
        lines: what declares it, a TOML table's head and its keys, table by table; () where nothing does.
    """

    cause: Cause
    low_pct: float
    high_pct: float
    lines: tuple[str, ...] = ()

    @property
    def pct(self) -> float:
        """The larger side."""
        return max(-self.low_pct, self.high_pct)

    def __str__(self) -> str:
        """Return cause and size as text."""
        if math.isclose(-self.low_pct, self.high_pct, abs_tol=0.05):
            return f"{self.cause.value} +-{self.pct:.1f} %"
        ends = [f"{end:+.1f}" for end in (self.low_pct, self.high_pct) if abs(end) >= 0.05]
        return f"{self.cause.value} {' to '.join(ends)} %"


@record
class LineUncertainty:
    """All that is not known of one nominal impedance; the largest cause first."""

    contributions: tuple[Contribution, ...] = ()

    @property
    def low_pct(self) -> float:
        """Return how far down the impedance may be, 0 or less."""
        return math.fsum(one.low_pct for one in self.contributions)

    @property
    def high_pct(self) -> float:
        """Return how far up."""
        return math.fsum(one.high_pct for one in self.contributions)

    @property
    def total_pct(self) -> float:
        """Return the larger side."""
        return max(-self.low_pct, self.high_pct)

    def of(self, cause: Cause) -> float:
        """Return what one cause is worth, the larger side; 0 where it is declared."""
        return next((one.pct for one in self.contributions if one.cause is cause), 0.0)

    def around(self, ohm: float) -> Interval:
        """Return the impedance with its range."""
        return Interval(low=ohm * (1 + self.low_pct / 100), nominal=ohm, high=ohm * (1 + self.high_pct / 100))

    @property
    def open_causes(self) -> tuple[Contribution, ...]:
        """Return what a declaration settles and that matters, the largest first."""
        return tuple(one for one in self.contributions if one.lines and one.pct >= MATTERS_PCT)

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the TOML lines that declare all of it, each table once, the largest cause first."""
        tables: dict[str, dict[str, None]] = {}
        for one in self.open_causes:
            head = ""
            for line in one.lines:
                if line.startswith("["):
                    head = line
                else:
                    tables.setdefault(head, {})[line] = None
        return tuple(line for head, rows in tables.items() for line in (head, *rows))


Shape = tuple[float, float | None, float | None]
"""Width, gap and gap to coplanar ground."""


@workpiece
class Uncertainties:
    """Works out uncertainties; equal cross sections, mirror images too, are solved once."""

    _logs: dict[tuple[TraceEnvironment, Shape], float] = field(default_factory=dict)

    def of_line(
        self, process: BoardProcess, where: BoardSite, shape: Shape, solver_pct: float = 0.0
    ) -> LineUncertainty:
        """Return what is not known of a line.

        Args:
            process: of the board.
            where: the line's surroundings.
            shape: its width and gaps.
            solver_pct: the solver's own error estimate.

        Raises:
            GeometryError: the line itself cannot exist.
        """
        site = where.site
        self._log(site, shape)
        found = [
            *_of_dk(where, self._change(site, shape)),
            *_of_taper(process, where, self._change(site, shape)),
            *_of_outer_copper(process, where, self._change(site, shape)),
            *_of_mask(process, where, self._change(site, shape)),
        ]
        if site.mask is not None:
            found.append(_both(Cause.MASK_OUTLINE, MASK_OUTLINE_PCT))
        if solver_pct:
            found.append(_both(Cause.SOLVER, solver_pct))
        return LineUncertainty(contributions=tuple(sorted(found, key=lambda one: -one.pct)))

    def _change(self, site: TraceEnvironment, shape: Shape) -> Callable[[dict[str, object]], float]:
        """Return a function from changed parts of the site to the change of the impedance in percent."""

        def change(update: dict[str, object]) -> float:
            try:
                moved = self._log(site.model_copy(update=update), shape)
            except StackwrightError:
                return 0.0  # an end of a range that this line cannot have
            return 100 * math.expm1(moved - self._log(site, shape))

        return change

    def _log(self, site: TraceEnvironment, shape: Shape) -> float:
        """Return ln Z on the solver's coarsest rung, whose error hardly moves over a few percent of geometry."""
        from stackup_lib.field_solver.solver import LADDER, impedance_once  # noqa: PLC0415 - few boards have such lines

        key = site.canonical(), shape
        if key not in self._logs:
            self._logs[key] = math.log(impedance_once(key[0].section(*shape), LADDER[0]))
        return self._logs[key]


Change = Callable[[dict[str, object]], float]


def _of_dk(where: BoardSite, change: Change) -> Iterator[Contribution]:
    """Permittivities stated without a frequency, all wrong the same way."""
    doubtful = {ply.label: ply for ply in where.plies if not _has_stated_dk(ply)}
    if not doubtful:
        return

    def raised(sheets: tuple[DielectricSheet, ...]) -> tuple[DielectricSheet, ...]:
        return tuple(
            s.model_copy(update={"dk": s.dk * (1 + DK_KNOWN_TO)}) if s.label in doubtful else s for s in sheets
        )

    site = where.site
    pct = change({"below": raised(site.below), "above": raised(site.above)})
    lines: list[str] = []
    for ply in {ply.row: ply for ply in doubtful.values()}.values():
        said = ply.declaration
        key = "at_ghz" if said.df is None or said.at_ghz is None else "dk_at_ghz"
        lines += [f'[declared.dielectric."{ply.row}"]', 'dk = "?"  # of this construction, by the fab', f'{key} = "?"']
    yield _both(Cause.DK, abs(pct), tuple(lines))


def _has_stated_dk(ply: DielectricPly) -> bool:
    return ply.declaration.dk is not None and ply.declaration.dk_ghz is not None


def _of_taper(process: BoardProcess, where: BoardSite, change: Change) -> Iterator[Contribution]:
    site, outer = where.site, is_outer(where)
    if process.taper_mm(site.copper_mm, outer=outer).is_stated or site.taper_mm == 0:
        return
    key = "outer_etch_taper_um" if outer else "inner_etch_taper_um"
    lines = ("[process]", f'{key} = "?"  # base less top width of a trace, both sides together')
    yield _both(Cause.TAPER, abs(change({"taper_mm": site.taper_mm * (1 - TAPER_KNOWN_TO)})), lines)


def _of_outer_copper(process: BoardProcess, where: BoardSite, change: Change) -> Iterator[Contribution]:
    site = where.site
    if not is_outer(where):
        return
    declared = process.outer_copper_mm(where.index)
    if declared is not None and declared.is_stated:
        return
    finished = FINISHED_OUTER_MM if declared is None else declared.value + OUTER_PLATING_UM / 1000
    if site.copper_mm < finished:
        lines = ("[process]", 'outer_copper_um = "?"  # finished: foil and plating')
        yield _ends(Cause.OUTER_COPPER, [change({"copper_mm": finished})], lines)


def _of_mask(process: BoardProcess, where: BoardSite, change: Change) -> Iterator[Contribution]:
    """Thickness and Dk of the solder mask, as far as they are not stated."""
    if not is_outer(where) or process.is_declared_bare:
        return
    known = process.mask(top=where.index == 0)
    lines = ["[process]"]
    if known is None or not known.over_copper_mm.is_stated:
        lines.append('mask_over_copper_um = "?"  # 0 for bare copper')
    if known is None or not known.over_laminate_mm.is_stated:
        lines.append('mask_over_laminate_um = "?"')
    if known is None:
        thick = Mask(er=USUAL_MASK.er, on_laminate_mm=MASK_OVER_LAMINATE_MM, on_trace_mm=MASK_OVER_COPPER_MM[1])
        yield _ends(Cause.MASK, [change({"mask": thick})], (*lines, 'mask_dk = "?"'))
        return
    if len(lines) > 1:
        yield _ends(Cause.MASK, [change({"mask": mask}) for mask in _mask_ends(known)], tuple(lines))
    if not known.dk.is_stated:
        lines = ["[process]", 'mask_dk = "?"']
        pct = change({"mask": known.mask.model_copy(update={"er": MASK_DK[1]})})
        up = math.log(MASK_DK[1] / known.dk.value)
        down = pct * math.log(min(MASK_DK[0] / known.dk.value, 1.0)) / up if up else 0.0
        yield _ends(Cause.MASK_DK, [pct, down], tuple(lines))


def _mask_ends(known: MaskNumbers) -> Iterator[Mask]:
    """Yield the thinnest and the thickest mask that what is stated leaves open."""
    copper, laminate = known.over_copper_mm, known.over_laminate_mm
    thin, thick = (copper.value,) * 2 if copper.is_stated else MASK_OVER_COPPER_MM
    for over, adjacent in ((thin, thin), (thick, max(laminate.value, MASK_OVER_LAMINATE_MM))):
        on_laminate = laminate.value if laminate.is_stated else adjacent
        yield Mask(er=known.dk.value, on_laminate_mm=on_laminate, on_trace_mm=over, between_mm=on_laminate)


def is_outer(where: BoardSite) -> bool:
    """Tell whether nothing but mask lies over the trace."""
    return where.site.is_outer


def _both(cause: Cause, pct: float, lines: tuple[str, ...] = ()) -> Contribution:
    return Contribution(cause=cause, low_pct=-pct, high_pct=pct, lines=lines)


def _ends(cause: Cause, changes: list[float], lines: tuple[str, ...]) -> Contribution:
    return Contribution(cause=cause, low_pct=min(0.0, *changes), high_pct=max(0.0, *changes), lines=lines)

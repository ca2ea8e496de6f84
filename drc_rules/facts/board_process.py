"""Etching, plating and solder mask of a board: what `[process]` declares, what the file states, what is assumed.

Everything that solves a line takes these numbers from here, and so does everything that says which were assumed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.facts.row_faults import is_plated, may_become
from drc_rules.settings import FILE_NAME
from drc_rules.settings.config import Config
from drc_rules.settings.config_process import ProcessDeclaration
from stackup_lib.board.board import Board, LayerKind, PadKind, Ply, StackupLayer
from stackup_lib.board.default_stackup import is_untouched_default
from stackup_lib.core.record import record
from stackup_lib.field_solver.sections import Mask
from stackup_lib.materials import copper_weights
from stackup_lib.power.rail_drop.spread import PLATING_UM as HOLE_PLATING_UM
from stackup_lib.transmission_lines.buildup import INNER_TAPER_PER_COPPER, OUTER_TAPER_PER_COPPER
from stackup_lib.transmission_lines.finish import MASK_DF, MASK_DK, MASK_MM, MASK_NEXT_TO_TRACE, LineFinish

HEAVIER_UM = 10.0
"""Copper that is stated so much thicker than a preset's finished copper is of another weight."""

HALF_OUNCE_UM = 17.0
"""Many stackups state outer layers as half an ounce of foil, 17 to 18 um; thinner foil is told."""

OUNCE_UM = 34.3
"""Thickness of copper of one ounce per square foot."""

PLATED_UM = 30.0
"""Copper that is stated so much thinner may still be the foil that the fab plates to a preset's finished copper."""

KICAD_MASK_MM = 0.01
"""What KiCad writes into every new stackup; it declares nothing. A real 10 um is declared in `[process]`."""

KICAD_MASK_DK = 3.3
"""Dk that KiCad gives to every solder mask."""


MASK_ROW = "the stackup's mask row"
ASSUMED_DK = "makers print 3.3 to 3.9"


@record
class Number:
    """A number of the process.

    Attributes:
        is_stated: False where it is assumed, or is KiCad's own default.
        source: where it stands, or what it is assumed from.
    """

    value: float
    is_stated: bool
    source: str


@record
class MaskNumbers:
    """Solder mask over an outer layer, in mm."""

    over_copper_mm: Number
    over_laminate_mm: Number
    dk: Number
    df: Number

    @property
    def mask(self) -> Mask:
        """The mask for a cross section."""
        laminate = self.over_laminate_mm.value
        return Mask(
            er=self.dk.value,
            on_laminate_mm=laminate,
            on_trace_mm=self.over_copper_mm.value,
            between_mm=laminate,
        )


@record
class BoardProcess:
    """The process of one board."""

    board: Board
    config: Config

    @property
    def declared(self) -> ProcessDeclaration:
        """The `[process]` table."""
        return self.config.process

    @property
    def is_declared_bare(self) -> bool:
        """True where the table says that there is no mask."""
        return self.declared.given("mask_over_copper_um") == 0

    def taper_mm(self, copper_mm: float, *, outer: bool) -> Number:
        """Return base less top width of a trace in copper of this thickness."""
        key = "outer_etch_taper_um" if outer else "inner_etch_taper_um"
        stated = self.declared.given(key)
        is_of_a_preset = getattr(self.declared, key) is None
        if stated is not None and not (is_of_a_preset and self._is_heavier(copper_mm * 1000)):
            return Number(stated / 1000, is_stated=True, source=self.declared.source(key))
        per_copper = OUTER_TAPER_PER_COPPER if outer else INNER_TAPER_PER_COPPER
        return Number(per_copper * copper_mm, is_stated=False, source=f"{per_copper:g} of the copper's thickness")

    def outer_copper_mm(self, index: int) -> Number | None:
        """Return the declared finished copper of an outer layer, None where only the stackup states it.

        The user's own keys go before a preset, and a preset counts only where the board's copper is of its weight. A
        foil that is declared without its plating counts where the stackup's row is of another weight; it is not sure.
        """
        said, key = self.declared, "outer_copper_um"
        if said.outer_copper_um is not None:
            can_be = not self.is_less_than_plating(said.outer_copper_um)
            return Number(said.outer_copper_um / 1000, is_stated=can_be, source=said.source(key))
        foil_um, plating = self._foil_um(index), said.given("plating_um")
        if foil_um is not None and plating is not None:
            where = f"{plating:g} um of plating ({said.source('plating_um')})"
            source = f"foil of {foil_um:g} um (copper_oz), {where}"
            return Number((foil_um + plating) / 1000, is_stated=True, source=source)
        preset = said.given(key)
        if preset is not None and self.preset_contradicted_by(index) is None:
            return Number(preset / 1000, is_stated=True, source=said.source(key))
        row_um = self._row_um(index)
        if foil_um is not None and row_um is not None and not _may_be_of(foil_um, row_um):
            source = (
                f"foil of {foil_um:g} um (copper_oz), in place of the stackup's {row_um:g} um; plating is not stated"
            )
            return Number(foil_um / 1000, is_stated=False, source=source)
        return None

    def is_less_than_plating(self, um: float) -> bool:
        """Tell whether outer copper is thinner than what the plating of the board's holes alone adds to it."""
        return um < HOLE_PLATING_UM.low and _has_plated_holes(self.board)

    def is_plated_foil(self, index: int) -> bool:
        """Tell whether an outer layer's foil and its plating are both declared."""
        return self._foil_um(index) is not None and self.declared.given("plating_um") is not None

    def preset_contradicted_by(self, index: int) -> str | None:
        """Return what the board says of an outer layer's copper that a preset's cannot be; None where they agree."""
        finished = self.declared.from_preset.value("outer_copper_um") if self.declared.from_preset else None
        if finished is None:
            return None
        for um, where in ((self._foil_um(index), "(copper_oz)"), (self._row_um(index), "in the stackup")):
            if um is not None and not finished - PLATED_UM <= um <= finished + HEAVIER_UM:
                return f"{um:g} um {where}"
        return None

    def _is_heavier(self, copper_um: float) -> bool:
        """Tell whether copper is heavier than that of which a preset's etch taper is."""
        finished = self.declared.from_preset.value("outer_copper_um") if self.declared.from_preset else None
        return finished is not None and copper_um > finished + HEAVIER_UM

    def _foil_um(self, index: int) -> float | None:
        own = self.config.declared.copper.get(self.board.copper_layers[index].name)
        if own is None or own.copper_oz is None:
            return None
        return next((row.nominal_um for row in copper_weights() if row.oz == own.copper_oz), OUNCE_UM * own.copper_oz)

    def _row_um(self, index: int) -> float | None:
        name = self.board.copper_layers[index].name
        rows = self.board.stackup.copper if self.board.stackup else ()
        return next((round(1000 * row.thickness_mm, 3) for row in rows if row.name == name and row.thickness_mm), None)

    def _may_be_plated(self, index: int) -> bool:
        """Tell whether a layer is plated, or will be: one of the build-ups of `[goals]` has its microvias later."""
        per_side = self.config.goals.build_ups or 0
        will_be = min(index, self.board.layer_count - 1 - index) < per_side
        return will_be or is_plated(self.board, index)

    def mask(self, *, top: bool) -> MaskNumbers | None:
        """Return the solder mask over an outer layer, None for bare copper."""
        said = self.declared
        over = said.given("mask_over_copper_um")
        row = self.mask_row(top=top)
        ply = row.plies[0] if row else None
        if over == 0 or (over is None and ply is None):
            return None
        if over is not None:
            copper = Number(over / 1000, is_stated=True, source=said.source("mask_over_copper_um"))
        elif ply is not None and ply.thickness_mm and ply.thickness_mm != KICAD_MASK_MM:
            copper = Number(ply.thickness_mm, is_stated=True, source=MASK_ROW)
        else:
            copper = Number(MASK_MM, is_stated=False, source="a fab's calculator")
        return MaskNumbers(copper, self._over_laminate(copper), self._mask_dk(ply), self.mask_df())

    def _over_laminate(self, copper: Number) -> Number:
        stated = self.declared.given("mask_over_laminate_um")
        if stated is not None:
            return Number(stated / 1000, is_stated=True, source=self.declared.source("mask_over_laminate_um"))
        return Number(MASK_NEXT_TO_TRACE * copper.value, is_stated=False, source="twice that over copper")

    def _mask_dk(self, ply: Ply | None) -> Number:
        stated = self.declared.given("mask_dk")
        if stated is not None:
            return Number(stated, is_stated=True, source=self.declared.source("mask_dk"))
        if ply is not None and ply.dk is not None:
            return Number(ply.dk, is_stated=ply.dk != KICAD_MASK_DK, source=MASK_ROW)
        return Number(MASK_DK, is_stated=False, source=ASSUMED_DK)

    def mask_df(self) -> Number:
        """Return the loss tangent of the solder mask."""
        stated = self.declared.given("mask_df")
        if stated is not None:
            return Number(stated, is_stated=True, source=self.declared.source("mask_df"))
        return Number(MASK_DF, is_stated=False, source="makers print 0.02 to 0.033")

    def mask_row(self, *, top: bool) -> StackupLayer | None:
        """Return the mask row that the stackup has on one side, None where it has none."""
        rows = self.board.stackup.layers if self.board.stackup else ()
        copper = [k for k, row in enumerate(rows) if row.kind is LayerKind.COPPER]
        masks = [k for k, row in enumerate(rows) if row.kind is LayerKind.MASK]
        wanted = [k for k in masks if copper and (k < copper[0] if top else k > copper[-1])]
        return rows[wanted[0]] if wanted else None


def _may_be_of(foil_um: float, row_um: float) -> bool:
    """Tell whether a row may state a foil of this weight, as bought, thinned by processing, or plated."""
    return 0.7 * foil_um <= row_um <= foil_um + PLATED_UM


def _has_plated_holes(board: Board) -> bool:
    """Tell whether a via or a plated pad opens on an outer layer."""
    last = board.layer_count - 1
    outer = (board.vias.start_layer == 0) | (board.vias.end_layer == last)
    return bool(np.any(outer) or np.any((board.pads.kind == PadKind.THROUGH) & (board.pads.layers != 0)))


def preset_notes(board: Board, config: Config) -> Iterator[str]:
    """Say where a preset's copper is left out because the board's own copper is of another weight."""
    process, said = BoardProcess(board, config), config.process
    preset = said.from_preset
    if preset is None or said.outer_copper_um is not None or not board.copper_layers:
        return
    outer = [k for k in dict.fromkeys((0, len(board.copper_layers) - 1)) if not process.is_plated_foil(k)]
    found = [(board.copper_layers[k].name, why) for k in outer if (why := process.preset_contradicted_by(k))]
    if found:
        own = ", ".join(f"{name} {why}" for name, why in found)
        yield (
            f'stackwright.toml, [process]: preset "{said.preset}" is for {preset.value("outer_copper_um"):g} um of '
            f"outer copper, the board has {own}: its copper and etch taper do not count there; give outer_copper_um"
        )


def copper_notes(board: Board, config: Config) -> Iterator[str]:
    """Say where copper is declared that the stackup's row cannot be: what rests on it and what does not disagree."""
    if is_untouched_default(board):
        return
    process, outer = BoardProcess(board, config), config.process.outer_copper_um
    for index, layer in enumerate(board.copper_layers):
        row_um, foil_um, plated = process._row_um(index), process._foil_um(index), process._may_be_plated(index)
        if row_um is None:
            continue
        states = f"the stackup states {row_um:g} um"
        if foil_um is not None and not may_become(foil_um, row_um, plated=plated):
            where = f'{FILE_NAME}, [declared.copper."{layer.name}"]: copper_oz'
            yield f"{where} is {foil_um:g} um, {states}: copper weight and rails follow copper_oz"
        if outer is not None and index in (0, board.layer_count - 1) and not may_become(row_um, outer, plated=True):
            where = f"{FILE_NAME}, [process]: outer_copper_um is {outer:g} um, {states} for {layer.name}"
            yield f"{where}: lines and rails follow outer_copper_um"
    yield from _unplated_notes(process)


def _unplated_notes(process: BoardProcess) -> Iterator[str]:
    """Say where outer copper is thinner than the plating of the holes alone."""
    board, said = process.board, process.declared.outer_copper_um
    less = f"less than the plating of the holes alone ({HOLE_PLATING_UM.low:g} um or more)"
    if said is not None and process.is_less_than_plating(said):
        cure = "give foil and plating together; lines are judged for plated copper as well, rails by the stackup's row"
        yield f"{FILE_NAME}, [process]: outer_copper_um is {said:g} um, {less}: {cure}"
    for index in dict.fromkeys((0, board.layer_count - 1)) if said is None else ():
        row_um, known = process._row_um(index), process.outer_copper_mm(index)
        if row_um is None or row_um >= HALF_OUNCE_UM or (known is not None and known.is_stated):
            continue
        if process.is_less_than_plating(row_um):
            cure = "lines are judged for plated copper as well; outer_copper_um in [process] states the finished one"
            yield f"{board.copper_layers[index].name}: the stackup states {row_um:g} um of copper, {less}: {cure}"


def declared_finish(declared: ProcessDeclaration) -> LineFinish:
    """Return what a stackup that is only planned is solved with: what is declared, else what is usual."""

    def mm(key: str) -> float | None:
        value = declared.given(key)
        return None if value is None else round(value / 1000, 6)

    over = mm("mask_over_copper_um")
    copper = MASK_MM if over is None else over
    laminate = mm("mask_over_laminate_um") or MASK_NEXT_TO_TRACE * copper
    mask = Mask(
        er=declared.given("mask_dk") or MASK_DK, on_laminate_mm=laminate, on_trace_mm=copper, between_mm=laminate
    )
    return LineFinish(
        inner_taper_mm=mm("inner_etch_taper_um"),
        outer_taper_mm=mm("outer_etch_taper_um"),
        outer_copper_mm=mm("outer_copper_um"),
        mask=mask if over != 0 else None,
        mask_df=declared.given("mask_df") or MASK_DF,
    )

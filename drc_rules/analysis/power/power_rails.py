"""The declared rails of a board, solved once each: what their copper drops, and what had to be assumed for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from drc_rules.analysis.fabrication.fab_holes import need_vias_of
from drc_rules.analysis.power.rail_copper import CopperLoss, Thickness, copper_as_declared, in_table, need_net
from drc_rules.analysis.power.rail_inputs import MOST_NAMED, current_of, loads_of, pads_of_all
from drc_rules.facts.context import Context
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.board.board import Board
from stackup_lib.board.layer_roles import is_ground
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.nets.power_nets import RAIL_FILL_MM2, fill_by_net_mm2, reads_as_supply
from stackup_lib.power.rail_drop.net_copper import RailNotJoinedError, RailNotSolvedError
from stackup_lib.power.rail_drop.rail_models import Load, Terminal
from stackup_lib.power.rail_drop.spread import COPPER_C, PLATING_UM, Ratio, drop_ratio

if TYPE_CHECKING:
    from drc_rules.analysis.power.rail_returns import RailReturn
    from stackup_lib.power.rail_drop.rail_models import BoardCopper, DensityPeak, RailDrop

STEP_MM, GAP, MOST_POINTS = 6.0, 0.15, 25_000
"""The middle is then within a few per cent; the thickness that a fab delivers is known far worse."""


@record
class SolvedRail:
    """A rail with its solution; drops are those of this net alone, its return current flows in another.

    Attributes:
        row: as declared.
        net: number of the net.
        current_a: all loads together.
        drop: with the copper as stated.
        ratio: what the copper that a fab delivers, and its temperature, may make of its loss.
        ratios: the same of the drop at each load: loads have ways of their own.
        copper: as it was solved.
        thickness_mm: thin, stated and thick, per copper layer.
        distance_mm: from the source's pads to the nearest pad of the farthest load.
        assumed: as text.
        confidence: lower where a current was shared out by us.
    """

    row: RailDeclaration
    net: int
    current_a: float
    drop: RailDrop
    ratio: Ratio
    ratios: tuple[Ratio, ...]
    copper: BoardCopper
    thickness_mm: dict[int, Thickness]
    layer_index: Mapping[str, int]
    distance_mm: float
    assumed: tuple[str, ...]
    confidence: Confidence

    @property
    def worst_v(self) -> Interval:
        """Drop at the load where it is largest."""
        return self.drop_of(self.drop.loads.index(self.drop.worst))

    def drop_of(self, load: int) -> Interval:
        """Return the drop at a load, by its number."""
        return self.ratios[load].of(self.drop.loads[load].drop_v)

    def loss_of(self, load: int) -> CopperLoss:
        """Return where the drop at a load arises, as volts."""
        found = self.drop.loads[load]
        return CopperLoss(found.layer_v, found.barrel_v, {name: self.range_of(name) for name in found.layer_v})

    def range_of(self, layer: str) -> Thickness:
        """Return what a layer's finished copper may be, in mm: thin, stated and thick."""
        return self.thickness_mm[self.layer_index[layer]]

    @property
    def peak(self) -> DensityPeak:
        """Where its current is densest, with the copper as stated; raises `MissingFact` where that cannot be solved."""
        try:
            return self.drop.peak
        except RailNotSolvedError as error:
            raise _unsound(self.row, error) from error

    @property
    def loss(self) -> CopperLoss:
        """Where the rail's power is lost."""
        ranges = {name: self.range_of(name) for name in self.drop.layer_power_w}
        return CopperLoss(self.drop.layer_power_w, self.drop.barrel_power_w, ranges)

    @property
    def resistance_ohm(self) -> Interval:
        """Loss over the square of the current: from the source to the loads as they share the current."""
        return self.ratio.of(self.drop.power_w).times(self.current_a**-2)


@record
class WholeDrop:
    """A rail with its return through ground.

    Attributes:
        back: None where it is not known or not joined.
        missing: what has to be known for it; None where it is known, or where no copper joins it.
    """

    there: SolvedRail
    back: RailReturn | None
    missing: MissingFact | None

    def of(self, load: int) -> Interval:
        """Return the drop at a load: of the supply path, and of the ground return where it is known."""
        there = self.there.drop_of(load)
        return there.plus(self.back.of(load)) if self.back else there

    @property
    def return_missing(self) -> MissingFact:
        """What has to be known, or drawn, before the return counts."""
        if self.missing:
            return self.missing
        net = self.there.row.net
        hint = "join the grounds by copper and fill the zones, or state ground_from and ground_to on one ground"
        return MissingFact("its return: no ground copper connects all loads to its source", in_table(net, hint))

    @property
    def worst(self) -> int:
        """Number of the load that loses most."""
        return max(range(len(self.there.drop.loads)), key=lambda load: self.of(load).nominal)

    @property
    def worst_v(self) -> Interval:
        """Drop at the load that loses most."""
        return self.of(self.worst)

    @property
    def resistance_ohm(self) -> Interval:
        """From the source to the loads as they share the current and, where it is known, back."""
        there = self.there.resistance_ohm
        return there.plus(self.back.resistance_ohm) if self.back else there


@record
class PowerRails:
    """The rails of `stackwright.toml`; nothing is solved before it is needed."""

    ctx: Context

    @property
    def declared(self) -> tuple[RailDeclaration, ...]:
        """As declared, in the order of the file."""
        return self.ctx.declarations.config.rail

    def ids_of(self, row: RailDeclaration) -> tuple[str, ...]:
        """Return what tells the findings of a table from those of others, its net last; several may be of one net."""
        alike = [other for other in self.declared if other.net == row.net]
        number = next((k for k, other in enumerate(alike) if other is row), 0)
        return (f"table {number + 1}", row.net) if number else (row.net,)

    def solved(self, row: RailDeclaration) -> SolvedRail:
        """Return the solution of a rail.

        Raises:
            MissingFact: something that is needed is not declared, or the file's copper cannot be trusted.
        """
        outcome = self._of(row)
        if isinstance(outcome, RailNotJoinedError):
            raise MissingFact(f"the whole copper of {row.net}: {outcome.what}", outcome.next_step)
        if isinstance(outcome, MissingFact):
            raise outcome
        self.ctx.rests_on(outcome.confidence)
        return outcome

    def broken(self, row: RailDeclaration) -> str:
        """Return what is not joined, "" for a rail that is whole; raises `MissingFact` like `solved`."""
        outcome = self._of(row)
        if isinstance(outcome, MissingFact):
            raise outcome
        return outcome.what if isinstance(outcome, RailNotJoinedError) else ""

    def returned(self, row: RailDeclaration) -> RailReturn:
        """Return the drop of a rail's ground return; all rails that share a return net are solved together, once.

        Raises:
            MissingFact: where its current enters or leaves ground is not known, or the ground's copper is not.
        """
        from drc_rules.analysis.power.rail_returns import all_returns  # noqa: PLC0415 - few boards declare rails

        found = self.ctx.get(all_returns)[self._number(row)]
        if isinstance(found, MissingFact):
            raise found
        if found.inferred:
            self.ctx.rests_on(Confidence.MEDIUM)
        return found

    def whole(self, row: RailDeclaration) -> WholeDrop:
        """Return the drop of a rail on the way to its loads and, where it is known, back.

        Raises:
            MissingFact: as `solved` does; an unknown way back raises nothing.
        """
        solved = self.solved(row)
        try:
            back = self.returned(row)
        except MissingFact as missing:
            return WholeDrop(solved, None, missing)
        return WholeDrop(solved, back if all(load.joined for load in back.loads) else None, None)

    def _number(self, row: RailDeclaration) -> int:
        return next(i for i, one in enumerate(self.declared) if one is row)

    def _of(self, row: RailDeclaration) -> SolvedRail | MissingFact | RailNotJoinedError:
        return self.ctx.get(_outcome, self._number(row))


def _outcome(ctx: Context, number: int) -> SolvedRail | MissingFact | RailNotJoinedError:
    """Solve a rail by its number in the settings file."""
    row = ctx.declarations.config.rail[number]
    try:
        return _solve(ctx, row)
    except (MissingFact, RailNotJoinedError) as reason:
        return reason
    except RailNotSolvedError as error:
        return _unsound(row, error)


def _unsound(row: RailDeclaration, error: RailNotSolvedError) -> MissingFact:
    return MissingFact(f"sound copper of {row.net}: {error.what}", error.next_step)


def largest_power_nets(board: Board) -> tuple[str, ...]:
    """Return the nets with most filled copper that are not ground by name, largest first.

    A fill of a few square millimetres is a signal's, unless its name is a supply's.
    """
    area = fill_by_net_mm2(board)
    filled = [(board.nets[net], area[net]) for net in np.argsort(-area, kind="stable").tolist() if area[net] > 0]
    named = [(name, mm2) for name, mm2 in filled if name and not is_ground(name)]
    return tuple([name for name, mm2 in named if mm2 >= RAIL_FILL_MM2 or reads_as_supply(name)][:MOST_NAMED])


def core_rail_lines(board: Board, *, on_module: bool = False) -> str:
    """Return the `[[rail]]` table that would declare the accelerator's core rail, or on its carrier what feeds it."""
    nets = ", ".join(largest_power_nets(board))
    load, fed, volts = ("the module", "the module", "12") if on_module else ("the accelerator", "the core", "0.75")
    return "\n".join(
        [
            "[[rail]]",
            f'net = "?"  # {f"largest: {nets}" if nets else f"the net that feeds {fed}"}',
            f'voltage_v = "?"  # e.g. {volts}',
            'tdp_w = "?"  # or current_a',
            *(() if on_module else ("core = true  # or, above all tables: core_on_module = true",)),
            'from = ["?"]  # inductors or output pads of the regulator',
            f'to = ["?"]  # {load}',
        ]
    )


def _solve(ctx: Context, row: RailDeclaration) -> SolvedRail:
    board = ctx.board
    net = need_net(board, row)
    current, worked_out = current_of(ctx, row)
    source = _source(board, row)
    loads, shared = loads_of(board, row, current)
    if set(source.pads) & {pad for load in loads for pad in load.pads}:
        raise MissingFact(f"source pads of {row.net}", in_table(row.net, "name no pad both in `from` and in `to`"))
    need_vias_of(board, net)
    copper, ranges = copper_as_declared(ctx, row)
    drop = _drop(board, row, copper, source, loads)
    ratio = _ratio(board, row, copper, ranges, (drop.layer_power_w, drop.barrel_power_w))
    ratios = tuple(_ratio(board, row, copper, ranges, (load.layer_v, load.barrel_v)) for load in drop.loads)
    worst = next(load for load in loads if load.name == drop.worst.name)
    assumed = tuple(one for one in (worked_out, shared, *_assumed(ctx, row, drop)) if one)
    return SolvedRail(
        row=row,
        net=net,
        current_a=current,
        drop=drop,
        ratio=ratio,
        ratios=ratios,
        copper=copper,
        thickness_mm=ranges,
        layer_index=board.layer_index,
        distance_mm=_distance_mm(board, source.pads, worst.pads),
        assumed=assumed,
        confidence=Confidence.MEDIUM if shared else Confidence.HIGH,
    )


def _source(board: Board, row: RailDeclaration) -> Terminal:
    return Terminal(name=", ".join(row.from_), pads=pads_of_all(board, row, row.from_, "from", "where it is fed"))


def _drop(board: Board, row: RailDeclaration, copper: BoardCopper, source: Terminal, loads: Sequence[Load]) -> RailDrop:
    from stackup_lib.power.rail_drop.rail import solve_rail  # noqa: PLC0415 - finite elements: only a rail needs them
    from stackup_lib.power.rail_drop.sheets import Precision  # noqa: PLC0415

    precision = Precision(step_mm=STEP_MM, gap=GAP, most_points=MOST_POINTS)
    return solve_rail(board, row.net, copper, source, loads, precision=precision)


def all_at_the_worst(ctx: Context, solved: SolvedRail) -> RailDrop:
    """Return the solution of a rail with all of its current at the load that drops most; the same for a single load.

    Raises:
        MissingFact: the copper cannot be solved so.
    """
    if len(solved.drop.loads) == 1:
        return solved.drop
    row, board = solved.row, ctx.board
    loads, _ = loads_of(board, row, solved.current_a)
    worst = next(load for load in loads if load.name == solved.drop.worst.name)
    try:
        return _drop(board, row, solved.copper, _source(board, row), [replace(worst, current_a=solved.current_a)])
    except RailNotSolvedError as error:
        raise _unsound(row, error) from error


def _ratio(
    board: Board,
    row: RailDeclaration,
    copper: BoardCopper,
    ranges: dict[int, Thickness],
    lost: tuple[Mapping[str, float], float],
) -> Ratio:
    """What the fab's copper and the temperature may make of a loss or drop; what is declared counts as sure.

    `lost` are its parts: by layer, and in the holes.
    """
    by_layer, in_holes = lost
    plating, warm = copper.plating_mm * 1000, copper.temperature_c
    return drop_ratio(
        {board.layer_index[name]: part for name, part in by_layer.items()},
        in_holes,
        ranges,
        (plating,) * 3 if row.plating_um is not None else (PLATING_UM.low, plating, PLATING_UM.high),
        (warm,) * 3 if row.copper_c is not None else (COPPER_C.low, warm, COPPER_C.high),
    )


def _assumed(ctx: Context, row: RailDeclaration, drop: RailDrop) -> Iterator[str]:
    last = ctx.board.layer_count - 1
    outer = {index for name in drop.layer_power_w if (index := ctx.board.layer_index[name]) in (0, last)}
    usual = (
        ctx.process.outer_copper_mm(k) for k in sorted(outer) if ctx.board.copper_layers[k].name not in row.copper_um
    )
    if ctx.process.declared.outer_copper_um is None:
        yield from dict.fromkeys(
            f"{1000 * one.value:g} um of outer copper ({one.source})" for one in usual if one and one.is_stated
        )
    if row.plating_um is None:
        yield f"{PLATING_UM.nominal:g} um of copper in holes"
    if row.copper_c is None:
        yield f"copper at {COPPER_C.nominal:g} degrees, {COPPER_C.high:g} in the worst case"


def _distance_mm(board: Board, source: Sequence[int], load: Sequence[int]) -> float:
    """From the nearest pad of a source to the nearest of a load, between their middles."""
    pads = board.pads
    x = pads.x_mm[list(source)][:, None] - pads.x_mm[list(load)][None, :]
    y = pads.y_mm[list(source)][:, None] - pads.y_mm[list(load)][None, :]
    return float(np.hypot(x, y).min())

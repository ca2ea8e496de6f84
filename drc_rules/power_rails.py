"""The declared rails of a board, solved once each: what their copper drops, and what had to be assumed for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from drc_rules.config_power import RailDeclaration
from drc_rules.context import Context
from drc_rules.net_choice import toml_value
from drc_rules.requirements import load_profile
from stackup_lib.board import Board
from stackup_lib.errors import did_you_mean
from stackup_lib.facts import Confidence, MissingFact
from stackup_lib.interval import Interval
from stackup_lib.materials import copper_weights
from stackup_lib.power.net_copper import RailNotJoinedError, RailNotSolvedError
from stackup_lib.power.rail import BoardCopper, Load, RailDrop, Terminal, copper_of, solve_rail
from stackup_lib.power.sheets import Precision
from stackup_lib.power.spread import COPPER_C, PLATING_UM, Ratio, drop_ratio, finished_range_mm
from stackup_lib.rails import fill_by_net_mm2
from stackup_lib.roles import is_ground

if TYPE_CHECKING:
    from drc_rules.rail_returns import RailReturn

PRECISION = Precision(step_mm=6.0, gap=0.15, most_points=25_000)
"""The middle is then within a few per cent; the thickness that a fab delivers is known far worse."""

MOST_NAMED = 6
"""Parts or nets that a hint offers."""

PASSIVE = ("C", "D", "TP", "H")
"""Parts that neither feed a rail nor draw a current worth declaring."""

CONTINUOUS = "training"
"""The workload whose power is taken as continuous, whatever duty is declared."""


@dataclass(frozen=True)
class SolvedRail:
    """A rail with its solution; drops are those of this net alone, its return current flows in another.

    Attributes:
        row: as declared.
        net: number of the net.
        current_a: all loads together.
        drop: with the copper as stated.
        ratio: what the copper that a fab delivers, and its temperature, may make of it.
        copper: as it was solved.
        thickness_mm: thin, stated and thick, per copper layer.
    distance_mm: from the source's pads to the nearest pad of the farthest load.
        assumed: in words.
        confidence: lower where a current was shared out by us.
    """

    row: RailDeclaration
    net: int
    current_a: float
    drop: RailDrop
    ratio: Ratio
    copper: BoardCopper
    thickness_mm: dict[int, tuple[float, float, float]]
    distance_mm: float
    assumed: tuple[str, ...]
    confidence: Confidence

    @property
    def worst_v(self) -> Interval:
        """Drop at the load where it is largest."""
        return self.ratio.of(self.drop.worst.drop_v)

    @property
    def resistance_ohm(self) -> Interval:
        """Loss over the square of the current: from the source to the loads as they share the current."""
        return self.ratio.of(self.drop.power_w).times(self.current_a**-2)


@dataclass(frozen=True)
class WholeDrop:
    """A rail with its way back.

    Attributes:
        back: None where it is not known or not joined.
        missing: for want of what it is not known.
    """

    there: SolvedRail
    back: RailReturn | None
    missing: MissingFact | None

    def of(self, load: int) -> Interval:
        """Return what is missing at a load: the drop on the way there, and that on the way back where it is known."""
        there = self.there.ratio.of(self.there.drop.loads[load].drop_v)
        return there.plus(self.back.of(load)) if self.back else there

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


@dataclass
class PowerRails:
    """The rails of `stackwright.toml`; nothing is solved before it is asked for."""

    ctx: Context
    _outcome: dict[int, SolvedRail | MissingFact | RailNotJoinedError] = field(default_factory=dict, repr=False)
    _returns: dict[int, RailReturn | MissingFact] = field(default_factory=dict, repr=False)

    @property
    def declared(self) -> tuple[RailDeclaration, ...]:
        """As declared, in the order of the file."""
        return self.ctx.declarations.config.rail

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
        """Return what the way back of a rail takes; all rails that share a return net are solved together, once.

        Raises:
            MissingFact: where its current enters or leaves ground is not known, or the ground's copper is not.
        """
        from drc_rules.rail_returns import all_returns  # noqa: PLC0415 - it knows this module

        if not self._returns:
            self._returns.update(all_returns(self.ctx))
        found = self._returns[self._number(row)]
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
        number = self._number(row)
        if number not in self._outcome:
            try:
                self._outcome[number] = _solve(self.ctx, row)
            except MissingFact as missing:
                self._outcome[number] = missing
            except RailNotJoinedError as apart:
                self._outcome[number] = apart
            except RailNotSolvedError as error:
                self._outcome[number] = MissingFact(f"sound copper of {row.net}: {error.what}", error.next_step)
        return self._outcome[number]


def current_of(ctx: Context, row: RailDeclaration) -> tuple[float, str]:
    """Return the current of all loads of a rail, and what it was worked out from, "" where it is declared.

    Raises:
        MissingFact: no current, power or load current is declared.
    """
    if isinstance(row.to, dict) and row.to:
        return sum(row.to.values()), ""
    if row.current_a is not None:
        return row.current_a, ""
    if row.tdp_w is None:
        raise MissingFact(
            f"the current of {row.net}", in_table(row.net, 'current_a = "?"  # or tdp_w, all loads together')
        )
    name = ctx.declarations.profile.value
    continuous = bool(name) and load_profile(name or "").workload == CONTINUOUS
    duty = 100.0 if continuous else row.duty_pct
    amperes = row.tdp_w * duty / 100 / row.voltage_v
    return amperes, f"{amperes:.4g} A is {row.tdp_w:g} W at {row.voltage_v:g} V and {duty:g} % duty"


def in_table(net: str, line: str) -> str:
    """Return a hint for a line of a `[[rail]]` that is already there."""
    return f"in the [[rail]] of {net}: {line}"


def largest_power_nets(board: Board) -> tuple[str, ...]:
    """Return the nets with most filled copper that are not ground by name, largest first."""
    area = fill_by_net_mm2(board)
    order = np.argsort(-area, kind="stable").tolist()
    names = [board.nets[net] for net in order if area[net] > 0 and board.nets[net] and not is_ground(board.nets[net])]
    return tuple(names[:MOST_NAMED])


def core_rail_lines(board: Board) -> str:
    """Return the `[[rail]]` table that would declare the accelerator's core rail."""
    nets = ", ".join(largest_power_nets(board))
    return "\n".join(
        [
            "[[rail]]",
            f'net = "?"  # {f"largest: {nets}" if nets else "the net that feeds the core"}',
            'voltage_v = "?"  # e.g. 0.75',
            'tdp_w = "?"  # or current_a',
            "core = true  # or, above all tables: core_on_module = true",
            'from = ["?"]  # inductors or output pads of the regulator',
            'to = ["?"]  # the accelerator',
        ]
    )


def _solve(ctx: Context, row: RailDeclaration) -> SolvedRail:
    board = ctx.board
    if row.net not in board.net_index:
        cure = did_you_mean(row.net, [name for name in board.nets if name])
        raise MissingFact(f"a net called {row.net}", in_table(row.net, f"name a net of the board; {cure}"))
    net = board.net_index[row.net]
    current, worked_out = current_of(ctx, row)
    source = Terminal(name=", ".join(row.from_), pads=_pads_of_all(board, row, row.from_, "from", "where it is fed"))
    loads, shared = loads_of(board, row, current)
    if set(source.pads) & {pad for load in loads for pad in load.pads}:
        raise MissingFact(
            f"which pads of {row.net} feed it", in_table(row.net, "name no pad both in `from` and in `to`")
        )
    copper, ranges = copper_as_declared(ctx, row)
    drop = solve_rail(board, row.net, copper, source, loads, precision=PRECISION)
    ratio = _ratio(board, row, copper, ranges, drop)
    worst = next(load for load in loads if load.name == drop.worst.name)
    assumed = tuple(one for one in (worked_out, shared, *_assumed(row)) if one)
    return SolvedRail(
        row=row,
        net=net,
        current_a=current,
        drop=drop,
        ratio=ratio,
        copper=copper,
        thickness_mm=ranges,
        distance_mm=_distance_mm(board, source.pads, worst.pads),
        assumed=assumed,
        confidence=Confidence.MEDIUM if shared else Confidence.HIGH,
    )


def _ratio(
    board: Board,
    row: RailDeclaration,
    copper: BoardCopper,
    ranges: dict[int, tuple[float, float, float]],
    drop: RailDrop,
) -> Ratio:
    """What the fab's copper and the temperature may make of the solved drop; what is declared counts as sure."""
    plating, warm = copper.plating_mm * 1000, copper.temperature_c
    return drop_ratio(
        {board.layer_index[name]: watt for name, watt in drop.layer_power_w.items()},
        drop.barrel_power_w,
        ranges,
        (plating,) * 3 if row.plating_um is not None else (PLATING_UM.low, plating, PLATING_UM.high),
        (warm,) * 3 if row.copper_c is not None else (COPPER_C.low, warm, COPPER_C.high),
    )


def _assumed(row: RailDeclaration) -> Iterator[str]:
    if row.plating_um is None:
        yield f"{PLATING_UM.nominal:g} um of copper in holes"
    if row.copper_c is None:
        yield f"copper at {COPPER_C.nominal:g} degrees, {COPPER_C.high:g} in the worst case"


def loads_of(board: Board, row: RailDeclaration, current_a: float) -> tuple[list[Load], str]:
    """The loads with their currents, and how the current was shared out, "" where each is declared."""
    if isinstance(row.to, dict) and row.to:
        named = list(row.to.items())
        return [
            Load(name=name, pads=_pads_of(board, row, name, "to"), current_a=amperes) for name, amperes in named
        ], ""
    names = tuple(row.to)
    _pads_of_all(board, row, names, "to", "what draws from it")
    pads = [_pads_of(board, row, name, "to") for name in names]
    count = sum(len(some) for some in pads)
    loads = [
        Load(name=name, pads=some, current_a=current_a * len(some) / count)
        for name, some in zip(names, pads, strict=True)
    ]
    return loads, "" if len(names) == 1 else "the current shared out by the pads of each load"


def _pads_of_all(board: Board, row: RailDeclaration, names: Sequence[str], key: str, what: str) -> tuple[int, ...]:
    if not names:
        hint = f'{key} = ["?"]  # parts or pads on it: {", ".join(_parts_on(board, row.net)) or "none"}'
        raise MissingFact(f"{row.net}: {what}", in_table(row.net, hint))
    return tuple(dict.fromkeys(pad for name in names for pad in _pads_of(board, row, name, key)))


def _pads_of(board: Board, row: RailDeclaration, name: str, key: str) -> tuple[int, ...]:
    """The pads of a part, or the one of `U7.3`, that are on the rail."""
    pads = board.pads
    reference = board.footprints.reference[np.maximum(pads.footprint, 0)]
    mine = (pads.net == board.net_index[row.net]) & (pads.footprint >= 0)
    chosen = mine & (reference == name)
    if not chosen.any() and "." in name:
        part, _, number = name.rpartition(".")
        chosen = mine & (reference == part) & (pads.number == number)
    if not chosen.any():
        offered = ", ".join(_parts_on(board, row.net)) or "none"
        raise MissingFact(
            f"pads of {name} on {row.net}", in_table(row.net, f"{key} = {toml_value(['?'])}  # parts on it: {offered}")
        )
    return tuple(np.flatnonzero(chosen).tolist())


def _parts_on(board: Board, net: str) -> list[str]:
    """Parts on a net that may feed it or draw from it, those with most pad area on it first."""
    pads = board.pads
    rows = np.flatnonzero((pads.net == board.net_index[net]) & (pads.footprint >= 0))
    names, group = np.unique(board.footprints.reference[pads.footprint[rows]], return_inverse=True)
    area = np.bincount(group, pads.size_x_mm[rows] * pads.size_y_mm[rows], len(names))
    order = sorted(zip(names.tolist(), area.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
    return [name for name, _ in order if name and not name.startswith(PASSIVE)][:MOST_NAMED]


def copper_as_declared(ctx: Context, row: RailDeclaration) -> tuple[BoardCopper, dict[int, tuple[float, float, float]]]:
    """The copper as stated, or as its declared weight says, and the thin, stated and thick of each layer."""
    ctx.stackup()
    plating = row.plating_um if row.plating_um is not None else PLATING_UM.nominal
    temperature = row.copper_c if row.copper_c is not None else COPPER_C.nominal
    copper = copper_of(ctx.board, plating / 1000, temperature)
    thickness = list(copper.thickness_mm)
    for name, declared in ctx.declarations.config.declared.copper.items():
        if declared.copper_oz and name in ctx.board.layer_index:
            index = ctx.board.layer_index[name]
            fact = ctx.declarations.of_stackup(f"copper weight of {name}", declared.copper_oz, f"copper.{name}")
            thickness[index] = _foil_mm(ctx.need(fact)) if fact else thickness[index]
    last = len(thickness) - 1
    ranges: dict[int, tuple[float, float, float]] = {}
    for index, stated in enumerate(thickness):
        thin, thick = finished_range_mm(stated, outer=index in (0, last))
        ranges[index] = thin, stated, thick
    return copper.model_copy(update={"thickness_mm": tuple(thickness)}), ranges


def _foil_mm(oz: float) -> float:
    """Nominal thickness of a foil."""
    known = next((w.nominal_um for w in copper_weights() if w.oz == oz), None)
    return (known if known is not None else oz * 34.3) / 1000


def _distance_mm(board: Board, source: Sequence[int], load: Sequence[int]) -> float:
    """From the nearest pad of a source to the nearest of a load, between their middles."""
    pads = board.pads
    x = pads.x_mm[list(source)][:, None] - pads.x_mm[list(load)][None, :]
    y = pads.y_mm[list(source)][:, None] - pads.y_mm[list(load)][None, :]
    return float(np.hypot(x, y).min())

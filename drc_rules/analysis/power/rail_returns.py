"""The ground return of declared rails, solved once for all that share a net: their currents add up in its copper."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from drc_rules.analysis.fabrication.fab_holes import need_vias_of
from drc_rules.analysis.power.rail_copper import CopperLoss, copper_as_declared, in_table, need_net
from drc_rules.analysis.power.rail_ends import ReturnEnds, return_ends
from drc_rules.analysis.power.rail_inputs import current_of, loads_of
from drc_rules.analysis.power.rail_modes import are_modes
from drc_rules.analysis.power.rail_series import SeriesChains
from drc_rules.facts.context import Context
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.board.board import Board
from stackup_lib.board.layer_roles import is_ground
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.power.ground_return.return_holes import ReturnTrack
from stackup_lib.power.rail_drop.net_copper import RailNotSolvedError, drawn_layers, refuse_stale
from stackup_lib.power.rail_drop.rail_models import HoleCurrent, Terminal
from stackup_lib.power.rail_drop.spread import COPPER_C, PLATING_UM, Ratio, drop_ratio

if TYPE_CHECKING:
    from stackup_lib.power.ground_return.ground_return import ReturnDrops
    from stackup_lib.power.rail_drop.rail_models import BoardCopper


@record
class ReturnRequest:
    """A rail whose way back is known: its number among the declared, its ends and the current of each load."""

    number: int
    row: RailDeclaration
    ends: ReturnEnds
    currents_a: tuple[float, ...]


@record
class LoadReturn:
    """What the return net takes between a load's ground pads and the source's.

    Attributes:
        own_v: by the rail's own current, with the copper as stated.
        others_v: by that of other rails, those that lift it; what lowers it is left out.
        error: of both, as a share, by the grid.
        joined: whether copper leads back at all.
        parts_v: what of both arises in each copper layer, and in all holes as the last.
        ratio: what the copper that a fab delivers, and its temperature, may make of it.
        loss: where it arises, as volts.
    """

    own_v: float
    others_v: float
    error: float
    joined: bool
    parts_v: tuple[float, ...] = ()
    ratio: Ratio = Ratio(low=1.0, high=1.0)
    loss: CopperLoss = field(default_factory=lambda: CopperLoss({}, 0.0, {}))


@record
class RailReturn:
    """The ground return of one rail.

    Attributes:
        net: name of the return net.
        loads: in the order of the declaration.
        ratio: what the copper that a fab delivers, and its temperature, may make of the loss of all that return by it.
        own_ohm: loss of the rail's own current over its square, with the copper as stated.
        counted: other rails that return by the same net, and were counted.
        left_out: others whose ground return or current is not known.
        inferred: how the source's ground pads were found, "" where they are its own.
        loss: where all that return by this net lose power in it.
        holes: current in vias and plated holes, largest first; that of other rails counts where it raises it.
        tracks: the same in tracks outside fills.
        drawn: layers with graphics of the net, which lower its resistance and are not solved.
        elsewhere: as of `ReturnEnds`.
    """

    net: str
    loads: tuple[LoadReturn, ...]
    ratio: Ratio
    own_ohm: float
    counted: tuple[str, ...]
    left_out: tuple[str, ...]
    inferred: str
    loss: CopperLoss = field(default_factory=lambda: CopperLoss({}, 0.0, {}))
    holes: tuple[HoleCurrent, ...] = ()
    tracks: tuple[ReturnTrack, ...] = ()
    drawn: tuple[str, ...] = ()
    elsewhere: str = ""

    def of(self, load: int) -> Interval:
        """Return the drop of the ground return at a load: rail's own and others' current together."""
        found = self.loads[load]
        return self._least(_widened(found.own_v + found.others_v, found.error, found.ratio))

    @property
    def resistance_ohm(self) -> Interval:
        """Of the rail's own current."""
        error = max((load.error for load in self.loads), default=0.0)
        return self._least(_widened(self.own_ohm, error, self.ratio))

    def _least(self, found: Interval) -> Interval:
        return Interval(low=0.0, nominal=found.nominal, high=found.high) if self.drawn else found


def _widened(value: float, error: float, ratio: Ratio) -> Interval:
    share = min(error, 1.0)
    return ratio.of(Interval(low=value * (1 - share), nominal=value, high=value * (1 + share)))


def solve_returns(
    board: Board, copper: BoardCopper, requests: Sequence[ReturnRequest]
) -> tuple[Mapping[int, RailReturn], ReturnDrops]:
    """Return what a net takes of the voltage of each of some rails that return by it, by the rails' numbers.

    The ratio is left at 1, and the rails left out at none: the caller knows of them.
    """
    from stackup_lib.power.ground_return.ground_return import solve_return  # noqa: PLC0415 - heavy
    from stackup_lib.power.ground_return.solved_return import ReturnFlow  # noqa: PLC0415

    terminals, of = _terminals(requests)
    flows, pairs, owner, names = [], [], [], []
    for request in requests:
        leave = of[request.ends.source]
        for name, pads, current in zip(request.row.to, request.ends.loads, request.currents_a, strict=True):
            entry = of[pads]
            names.append(name)
            flows.append(ReturnFlow(entry=entry, exit=leave, current_a=current, rail=request.number))
            pairs.append((entry, leave))
            owner.append(request.number)
    net = board.nets[requests[0].ends.net]
    chains = SeriesChains.of(
        board, {one.number: one.row for one in requests}, [flow.current_a for flow in flows], owner
    )
    again_of = {one.number: chains.counted_elsewhere(one.number, names) for one in requests}
    at_once = {one.number: _others_at_once(requests, one, owner, again_of[one.number]) for one in requests}
    drops = solve_return(board, net, copper, terminals, flows=flows, pairs=pairs, others=at_once)
    found: dict[int, RailReturn] = {}
    for request in requests:
        again = again_of[request.number]
        mine = [k for k, number in enumerate(owner) if number == request.number]
        once = [-1 if k in again else number for k, number in enumerate(owner)]
        others: dict[str, list[ReturnRequest]] = {}
        for one in requests:
            # the tables of its own net are judged by each current alone
            if one.row.net != request.row.net and one.number in once:
                others.setdefault(one.row.net, []).append(one)
        loads = tuple(_load(drops, k, once, tuple(others.values())) for k in mine)
        total = sum(request.currents_a)
        found[request.number] = RailReturn(
            net=net,
            loads=loads,
            ratio=Ratio(low=1.0, high=1.0),
            own_ohm=sum(one.own_v * a for one, a in zip(loads, request.currents_a, strict=True)) / total**2,
            counted=tuple(others),
            left_out=(),
            inferred=request.ends.inferred,
            holes=drops.holes.get(request.number, ()),
            tracks=drops.tracks.get(request.number, ()),
            elsewhere=request.ends.elsewhere,
        )
    return found, drops


def _load(drops: ReturnDrops, pair: int, owner: Sequence[int], others: Sequence[Sequence[ReturnRequest]]) -> LoadReturn:
    """What the currents between two terminals take; `others` are the tables of each other net, owner -1 is left out."""
    by_rail = dict.fromkeys((one.number for tables in others for one in tables), 0.0)
    for volts, number in zip(drops.drop_v[pair], owner, strict=True):
        by_rail[number] = by_rail.get(number, 0.0) + volts
    own = max(by_rail[owner[pair]], 0.0)
    raising = {one for tables in others for one in _at_once(tables, by_rail) if by_rail[one] > 0}
    counted = {*raising, *([owner[pair]] if own else [])}
    parts = [parts for parts, number in zip(drops.parts_v[pair], owner, strict=True) if number in counted]
    return LoadReturn(
        own,
        sum(by_rail[one] for one in raising),
        drops.error[pair],
        drops.joined[pair],
        tuple(map(sum, zip(*parts, strict=True))),
    )


def _at_once(tables: Sequence[ReturnRequest], by_rail: Mapping[int, float]) -> list[int]:
    """Numbers of the tables of a net whose currents count together: of modes of work that which raises a drop most."""
    numbers = [one.number for one in tables]
    return [max(numbers, key=lambda one: by_rail[one])] if are_modes([one.row for one in tables]) else numbers


def _others_at_once(
    requests: Sequence[ReturnRequest], rail: ReturnRequest, owner: Sequence[int], again: Collection[int]
) -> list[list[list[int]]]:
    """Return the flows of other nets that may be at once with a rail's: for each net those of its modes of work."""
    by_net: dict[str, list[ReturnRequest]] = {}
    for one in requests:
        if one.row.net != rail.row.net:
            by_net.setdefault(one.row.net, []).append(one)
    found: list[list[list[int]]] = []
    for tables in by_net.values():
        flows = [[k for k, of in enumerate(owner) if of == one.number and k not in again] for one in tables]
        found += [flows] if are_modes([one.row for one in tables]) else [[of] for of in flows]
    return found


def _terminals(requests: Sequence[ReturnRequest]) -> tuple[list[Terminal], dict[tuple[int, ...], int]]:
    """Each set of pads on one potential; sets that share a pad are one terminal."""
    sets = list(dict.fromkeys(pads for one in requests for pads in (one.ends.source, *one.ends.loads)))
    groups: list[set[int]] = []
    for pads in sets:
        touching = [group for group in groups if group & set(pads)]
        groups = [group for group in groups if not group & set(pads)]
        groups.append(set(pads).union(*touching))
    groups.sort(key=min)
    of = {pads: next(k for k, group in enumerate(groups) if pads[0] in group) for pads in sets}
    return [Terminal(name=str(k), pads=tuple(sorted(group))) for k, group in enumerate(groups)], of


def all_returns(ctx: Context) -> dict[int, RailReturn | MissingFact]:
    """Return the ground return of every declared rail, by its number, or what is missing for it."""
    found: dict[int, RailReturn | MissingFact] = {}
    by_net: dict[int, list[ReturnRequest]] = {}
    for number, row in enumerate(ctx.declarations.config.rail):
        try:
            request = _request(ctx, number, row)
        except MissingFact as lacking:
            found[number] = lacking
        else:
            by_net.setdefault(request.ends.net, []).append(request)
    left_out = tuple(ctx.declarations.config.rail[number].net for number in found)
    for requests in by_net.values():
        try:
            found.update(_returns(ctx, requests, left_out))
        except RailNotSolvedError as error:
            missing = MissingFact(
                f"sound copper of {ctx.board.nets[requests[0].ends.net]}: {error.what}", error.next_step
            )
            found.update({request.number: missing for request in requests})
        except MissingFact as missing:
            found.update({request.number: missing for request in requests})
    return found


def _request(ctx: Context, number: int, row: RailDeclaration) -> ReturnRequest:
    """Raises `MissingFact`."""
    need_net(ctx.board, row)
    if is_ground(row.net):
        raise MissingFact(
            f"return path of {row.net}", in_table(row.net, "declare supply rails; ground is their return")
        )
    current, _ = current_of(ctx, row)
    loads, _ = loads_of(ctx.board, row, current)
    ends = return_ends(ctx.board, row, [load.name for load in loads])
    need_vias_of(ctx.board, ends.net)
    return ReturnRequest(number, row, ends, tuple(load.current_a for load in loads))


def _returns(
    ctx: Context, requests: Sequence[ReturnRequest], left_out: tuple[str, ...]
) -> Mapping[int, RailReturn | MissingFact]:
    apart = _apart(ctx.board, requests)
    requests = [request for request in requests if request.number not in apart]
    left_out += tuple(ctx.declarations.config.rail[number].net for number in apart)
    found = {number: replace(one, left_out=left_out) for number, one in apart.items() if isinstance(one, RailReturn)}
    return {**apart, **found, **_together(ctx, requests, left_out)} if requests else {**apart, **found}


def _apart(board: Board, requests: Sequence[ReturnRequest]) -> dict[int, RailReturn | MissingFact]:
    """Return the rails whose way back is not whole by copper alone, each judged by itself.

    A part joins nothing: neither its own two pads, nor what another rail's connector has pads on.

    Raises:
        RailNotSolvedError: fills of the net are missing, or stale where they decide.
    """
    from stackup_lib.power.rail_drop.joined import (  # noqa: PLC0415
        BEFORE_JUMPER,
        JUMPERS,
        is_custom,
        joined_pads,
        lone_pads,
        pads_of_copper,
    )

    net = requests[0].ends.net
    ends = [(one, pads_of_copper(board, one.ends.source), _loads_of_copper(board, one)) for one in requests]
    pads_of_ends = list(dict.fromkeys(pad for _, source, loads in ends for pads in (source, *loads) for pad in pads))
    of = joined_pads(board, net, pads_of_ends)
    drawn_of: dict[int, int] = {}
    found: dict[int, RailReturn | MissingFact] = {}
    for one, source, loads in ends:
        left_at = {of[pad] for pad in source}
        joined = [bool(left_at & {of[pad] for pad in pads}) for pads in loads]
        open_pads = [pad for pads, is_joined in zip(loads, joined, strict=True) if not is_joined for pad in pads]
        lone = lone_pads(board, {pad: of[pad] for pads in (source, *loads) for pad in pads})
        name = board.nets[net]
        if open_pads and not drawn_of:
            drawn_of = joined_pads(board, net, pads_of_ends, net, 0)
        is_drawn = bool(open_pads) and {drawn_of[pad] for pad in open_pads} <= {drawn_of[pad] for pad in source}
        inside_of = joined_pads(board, net, pads_of_ends, inside_parts=True) if lone else of
        if lone and not lone_pads(board, {pad: inside_of[pad] for pads in (source, *loads) for pad in pads}):
            what = f"return path of {one.row.net} through {name}: no copper joins {lone} to the others but {JUMPERS}"
            found[one.number] = MissingFact(what, in_table(one.row.net, BEFORE_JUMPER))
        elif open_pads and not is_drawn and not is_custom(board, open_pads):
            found[one.number] = _open(one, name, joined)
        elif lone:
            found[one.number] = MissingFact(
                f"return path of {one.row.net} through {name}: no copper joins {lone} to the other ground pads of its "
                f"ends{' but graphics or custom pads, which are not solved' if is_drawn else ''}",
                in_table(one.row.net, "route it, or name in ground_from and ground_to the pads that carry its current"),
            )
    if any(isinstance(one, RailReturn) for one in found.values()):
        refuse_stale(board, net)
    return found


def _loads_of_copper(board: Board, request: ReturnRequest) -> list[tuple[int, ...]]:
    from stackup_lib.power.rail_drop.joined import pads_of_copper  # noqa: PLC0415

    return [pads_of_copper(board, pads) for pads in request.ends.loads]


def _open(request: ReturnRequest, net: str, joined: Sequence[bool]) -> RailReturn:
    """Return a way back of which nothing is known but which loads have one."""
    return RailReturn(
        net=net,
        loads=tuple(LoadReturn(0.0, 0.0, 0.0, is_joined) for is_joined in joined),
        ratio=Ratio(low=1.0, high=1.0),
        own_ohm=0.0,
        counted=(),
        left_out=(),
        inferred=request.ends.inferred,
    )


def _together(
    ctx: Context, requests: Sequence[ReturnRequest], left_out: tuple[str, ...]
) -> Mapping[int, RailReturn | MissingFact]:
    rows = [request.row for request in requests]
    copper, ranges = copper_as_declared(ctx, *rows)
    platings, warmth = {row.plating_um for row in rows}, {row.copper_c for row in rows}
    plating = platings.pop() if len(platings) == 1 else None
    warm = warmth.pop() if len(warmth) == 1 else None
    copper = replace(
        copper,
        plating_mm=(plating or PLATING_UM.nominal) / 1000,
        temperature_c=COPPER_C.nominal if warm is None else warm,
    )
    found, drops = solve_returns(ctx.board, copper, requests)

    def of(lost: Mapping[str, float], in_holes: float) -> tuple[Ratio, CopperLoss]:
        ratio = drop_ratio(
            {ctx.board.layer_index[name]: part for name, part in lost.items()},
            in_holes,
            ranges,
            (plating,) * 3 if plating else (PLATING_UM.low, PLATING_UM.nominal, PLATING_UM.high),
            (COPPER_C.low, COPPER_C.nominal, COPPER_C.high) if warm is None else (warm,) * 3,
        )
        return ratio, CopperLoss(lost, in_holes, {name: ranges[ctx.board.layer_index[name]] for name in lost})

    def with_range(load: LoadReturn) -> LoadReturn:
        names = [layer.name for layer in ctx.board.copper_layers]
        by_layer = {name: part for name, part in zip(names, load.parts_v, strict=False) if part}
        ratio, loss = of(by_layer, load.parts_v[-1] if load.parts_v else 0.0)
        return replace(load, ratio=ratio, loss=loss)

    ratio, loss = of(drops.layer_power_w, drops.barrel_power_w)
    drawn = tuple(ctx.board.copper_layers[layer].name for layer in drawn_layers(ctx.board, requests[0].ends.net))
    whole = {
        number: replace(
            one, loads=tuple(map(with_range, one.loads)), ratio=ratio, left_out=left_out, loss=loss, drawn=drawn
        )
        for number, one in found.items()
    }
    return {**whole, **_doubted(requests, whole)}


def _doubted(requests: Sequence[ReturnRequest], found: Mapping[int, RailReturn]) -> dict[int, MissingFact]:
    """Return what is missing where the grid finds no way back and the copper itself, looked at closely, has one."""
    return {
        one.number: MissingFact(
            f"return path of {one.row.net} through {found[one.number].net}: copper bridges too narrow to be "
            "resolved join it",
            in_table(one.row.net, "widen the narrow parts of the ground, or judge the return path yourself"),
        )
        for one in requests
        if not all(load.joined for load in found[one.number].loads)
    }

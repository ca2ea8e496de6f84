"""A rail's impedance over frequency: everything that is known of it, as a row for reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from drc_rules.analysis.power.over_frequency.decoupling import (
    MORE_PADS,
    NO_VIA,
    OFF_PLANES,
    OTHER_PIECE,
    Decoupling,
    RailCapacitor,
    decoupling_of,
)
from drc_rules.analysis.power.over_frequency.heights import LayerHeights, layer_heights
from drc_rules.analysis.power.over_frequency.joined_planes import joined_planes, need_whole
from drc_rules.analysis.power.over_frequency.load import load_of
from drc_rules.analysis.power.over_frequency.mounts import Mounts
from drc_rules.analysis.power.over_frequency.pdn_curve import LOWEST_HZ, Curve, curve_of, excesses, peaks_of
from drc_rules.analysis.power.over_frequency.pdn_network import RailNetwork
from drc_rules.analysis.power.over_frequency.plane_copper import plane_copper
from drc_rules.analysis.power.over_frequency.plane_floors import plane_floors
from drc_rules.analysis.power.over_frequency.rail_named import NamedRail, rail_named, target_of, up_to_hz
from drc_rules.analysis.power.over_frequency.supply import supply_of
from drc_rules.analysis.power.rail_inputs import parts_on
from drc_rules.facts.context import FILL_ZONES, Context
from drc_rules.facts.part_models import part_models
from drc_rules.report.pdn_rows import PdnCapacitor, PdnGroup, PdnMissing, PdnPair, PdnPoint, PdnRow, PdnTarget
from drc_rules.settings.config_pdn import PdnDeclaration
from drc_rules.settings.net_selection import toml_value
from stackup_lib.board.board import Board
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval
from stackup_lib.core.words import count, some
from stackup_lib.nets.two_pin_parts import NOT_FITTED, TwoTerminalParts, find_two_pads
from stackup_lib.power.over_frequency.fill_pieces import FillPieces
from stackup_lib.power.over_frequency.landings import Landings
from stackup_lib.power.over_frequency.plane_pair import EPSILON0_F_PER_M, PlanePair
from stackup_lib.power.over_frequency.rail_planes import LEAST_MM2, FacingLayers, RailPlanes, rail_planes

MOST_IN_LINE = 4
"""Parts that a line to declare names."""

SENSED_HZ = 100e3
"""Below, a regulator that senses at the load makes up for the copper; board capacitors work from here (AMD UG584)."""

LOOSE = MORE_PADS, NO_VIA, OFF_PLANES, OTHER_PIECE

MAIN_SHARE = 0.1
"""Of the largest overlap: smaller ones are pours."""


def pdn_of(ctx: Context, net: str, load: tuple[str, ...] = (), target_mohm: float | None = None) -> PdnRow:
    """Return the impedance of a rail at its load from 1 kHz to 1 GHz; get it by `Context.get`.

    Args:
        ctx: the board and its facts.
        net: whole name of the rail's net.
        load: parts in place of the declared ones.
        target_mohm: target in place of the declared one or the profile's.

    Raises:
        MissingFact: the net, its planes, the stackup or a load is not known, or fills are out of date.
    """
    parts = ctx.get(_parts)
    rail = rail_named(ctx, net, parts)
    heights = ctx.get(layer_heights)
    ctx.filled_uses()
    ctx.need_true_fills()
    need_whole(ctx, rail.row)
    fills = ctx.get(_fills)
    planes = rail_planes(fills, rail.net, rail.ground)
    if planes is None:
        ground = ctx.board.nets[rail.ground]
        what = f"planes of {net} (fills of it and of {ground} overlap by less than {LEAST_MM2:g} mm2)"
        raise MissingFact(what, f"draw a zone of {net} next to {ground}, then {FILL_ZONES}")
    mounts = Mounts(ctx.board, ctx.get(_landings), heights, _main(planes.facing), rail.net)
    stated = rail.row.pdn if rail.row else PdnDeclaration()
    decoupling = decoupling_of(
        parts, (rail.net, rail.ground), mounts, rail.volts, stated.capacitor, ctx.get(part_models)
    )
    supply = supply_of(ctx.board, parts, rail.row, rail.net)
    sources = rail.row.from_ if rail.row else ()
    declared = tuple(rail.row.to) if rail.row else ()
    at = load_of(mounts, (rail.net, rail.ground), load or declared, sources)
    pair, pairs = _plane_pair(ctx, planes, heights)
    floors = plane_floors(fills, (rail.net, rail.ground), planes, pair, heights, at)
    joined = joined_planes(net, floors, replace(mounts, facing=planes.facing), at, supply, decoupling)
    copper = plane_copper(ctx, rail.row, at.name, planes, heights)
    network = RailNetwork(pair, joined.floors, copper, joined.decoupling.capacitors, joined.supply, at, stated)
    return _row(ctx, rail, network, joined.decoupling, pairs, target_mohm)


def _parts(ctx: Context) -> TwoTerminalParts:
    return find_two_pads(ctx.board)


def _landings(ctx: Context) -> Landings:
    return Landings(ctx.copper)


def _fills(ctx: Context) -> FillPieces:
    return FillPieces(ctx.copper)


def _main(facing: Sequence[FacingLayers]) -> tuple[FacingLayers, ...]:
    """Return the pairs of layers that vias of capacitors have to reach; a pour next to a part is no plane."""
    return tuple(one for one in facing if one.area_mm2 >= MAIN_SHARE * facing[0].area_mm2)


def _plane_pair(ctx: Context, planes: RailPlanes, heights: LayerHeights) -> tuple[PlanePair, tuple[PdnPair, ...]]:
    """All pairs of layers in parallel, as the one pair that has their capacitance and inductance together."""
    names = [layer.name for layer in ctx.board.copper_layers]
    over_mm = capacitance = 0.0
    pairs, dfs = [], []
    for one in planes.facing:
        spacing = heights.between_mm(*one.layers)
        dk = heights.dk_between(*one.layers)
        farad = EPSILON0_F_PER_M * dk * one.area_mm2 / spacing * 1e-3
        over_mm += one.area_mm2 / spacing
        capacitance += farad
        dfs.append((one.area_mm2, max(heights.df[one.layers[0] : one.layers[1]])))
        pairs.append(
            PdnPair(
                rail_layer=names[one.rail_layer],
                ground_layer=names[one.ground_layer],
                area_mm2=one.area_mm2,
                spacing_mm=spacing,
                nf=farad * 1e9,
            )
        )
    spacing = planes.area_mm2 / over_mm
    pair = PlanePair(
        area_mm2=planes.area_mm2,
        spacing_mm=spacing,
        dk=capacitance * spacing / (EPSILON0_F_PER_M * planes.area_mm2 * 1e-3),
        df=max(dfs)[1],
    )
    return pair, tuple(pairs)


def _row(  # noqa: PLR0917 - the parts of a network, each once
    ctx: Context,
    rail: NamedRail,
    network: RailNetwork,
    decoupling: Decoupling,
    pairs: tuple[PdnPair, ...],
    target_mohm: float | None,
) -> PdnRow:
    curve = curve_of(network)
    spreading = network.spreading_h()
    target = _target(ctx, rail, network, target_mohm)
    low, high = curve.range_ohm()
    rows = zip(curve.hz.tolist(), low.tolist(), curve.ohm.tolist(), high.tolist(), strict=True)
    board = ctx.board
    return PdnRow(
        net=board.nets[rail.net],
        ground=board.nets[rail.ground],
        volts=rail.volts,
        load=network.load.name,
        at_die=network.package.package_ph is not None,
        regulator=network.supply.words,
        pairs=pairs,
        planes_nf=network.pair.capacitance_f * 1e9,
        spreading_ph=spreading * 1e12,
        target=target,
        points=tuple(PdnPoint(hz=float(f"{hz:.6g}"), mohm=_mohm(a, b, c)) for hz, a, b, c in rows),
        peaks=tuple(peaks_of(curve, target)),
        excess=tuple(excesses(curve, target)) if target else (),
        worst_mohm=_worst(curve, target),
        groups=_groups(network.capacitors),
        capacitors=tuple(_capacitor(one) for one in network.capacitors),
        left_out=_by_reason(decoupling.left_out),
        lacks_parts=any(reason != NOT_FITTED for reason in decoupling.left_out.values()),
        assumed=tuple(_assumed(rail, network)),
        missing=tuple(_missing(rail, board, network, decoupling)),
    )


def _mohm(low: float, nominal: float, high: float) -> Interval:
    ends = (min(low, nominal), nominal, max(high, nominal))
    return Interval(
        **{name: float(f"{1e3 * end:.6g}") for name, end in zip(("low", "nominal", "high"), ends, strict=True)}
    )


def _target(ctx: Context, rail: NamedRail, network: RailNetwork, stated_mohm: float | None) -> PdnTarget | None:
    found = (stated_mohm * 1e-3, "as given") if stated_mohm is not None else target_of(ctx, rail)
    if found is None:
        return None
    start = SENSED_HZ if rail.row is not None and rail.row.remote_sense else LOWEST_HZ
    end, why = up_to_hz(rail, found[0], network.spreading_h())
    return PdnTarget(
        mohm=found[0] * 1e3, source=found[1], from_hz=start, up_to_hz=max(end, 1.2 * start), up_to_source=why
    )


def _worst(curve: Curve, target: PdnTarget | None) -> Interval | None:
    return curve.worst_ohm(target.from_hz, target.up_to_hz).times(1e3) if target else None


def _groups(capacitors: tuple[RailCapacitor, ...]) -> tuple[PdnGroup, ...]:
    found = []
    for group in dict.fromkeys(one.group for one in capacitors):
        own = [one for one in capacitors if one.group == group]
        loop = float(np.median([one.mounting_h.nominal + one.data.esl_h.nominal for one in own]))
        farad = own[0].data.capacitance_f
        found.append(
            PdnGroup(
                group=group,
                count=len(own),
                uf=farad.times(1e6),
                mounting_nh=Interval(
                    low=min(one.mounting_h.nominal for one in own),
                    nominal=float(np.median([one.mounting_h.nominal for one in own])),
                    high=max(one.mounting_h.nominal for one in own),
                ).times(1e9),
                resonance_hz=1 / (2 * np.pi * float(np.sqrt(loop * farad.nominal))),
            )
        )
    return tuple(found)


def _capacitor(one: RailCapacitor) -> PdnCapacitor:
    return PdnCapacitor(
        reference=one.reference,
        group=one.group,
        value=one.value,
        size=one.size,
        uf=one.data.capacitance_f.times(1e6),
        esr_mohm=one.data.esr_ohm.times(1e3),
        esl_nh=one.data.esl_h.times(1e9),
        mounting_nh=one.mounting_h.times(1e9),
        source=one.data.source,
        bias=one.data.bias,
    )


def _by_reason(left_out: dict[str, str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for reference, reason in left_out.items():
        found.setdefault(reason, []).append(reference)
    return {reason: tuple(names) for reason, names in found.items()}


def _assumed(rail: NamedRail, network: RailNetwork) -> Iterator[str]:
    if rail.row is None and rail.volts is not None:
        yield f"{rail.volts:g} V {rail.volts_words}"
    if network.load.inferred:
        yield f"the load is {network.load.name}, with {network.load.inferred}"
    if network.supply.at_mm is None:
        yield "the regulator feeds the middle of the planes"
    yield from dict.fromkeys(one.data.doubt for one in network.capacitors if one.data.doubt)
    yield "ground on all layers that face the rail is one where vias join it"
    if network.copper.dc_ohm is None:
        yield "copper that does not face ground may carry all of the current at low frequencies: lowest without its R"


def _missing(rail: NamedRail, board: Board, network: RailNetwork, decoupling: Decoupling) -> Iterator[PdnMissing]:
    """Yield what a verdict needs and is not declared, with the lines of the rail's table that declare it."""
    load, net = network.load, board.nets[rail.net]
    if rail.row is None:
        volts = '"?"' if rail.volts is None else f"{rail.volts:g}"
        ripple = ('ripple_pct = "?"  # allowed ripple', 'step_a = "?"  # largest step of current')
        head = ("[[rail]]", f"net = {toml_value(net)}")
        yield PdnMissing(what="voltage, ripple and step", lines=(*head, f"voltage_v = {volts}", *ripple))
        offered = ", ".join(parts_on(board, net)) or "none"
        source = f'from = ["?"]  # where it is fed: parts or pads; parts on it: {offered}'
        yield PdnMissing(what="source and current", lines=(source, 'current_a = "?"  # or tdp_w, all loads together'))
    if not network.supply.is_declared:
        own = 'pdn.regulator_mohm = "?"  # output resistance or load line'
        yield PdnMissing(
            what="the output impedance of the regulator",
            lines=(own, 'pdn.regulator_khz = "?"  # bandwidth of its loop'),
        )
    if load.inferred:
        yield PdnMissing(what="the load", lines=(f"to = {toml_value([load.name])}",))
    reasons = decoupling.left_out
    loose = sorted(name for name, reason in reasons.items() if reason in LOOSE)
    if loose:
        yield PdnMissing(what=f"how {some(loose)} reach the planes", lines=())
    unknown = sorted(name for name, reason in reasons.items() if reason not in (*LOOSE, NOT_FITTED))
    if unknown:
        yield PdnMissing(what=f"capacitance, ESR and ESL of {some(unknown)}", lines=_capacitor_lines(unknown))
    for said in dict.fromkeys(one.data.contradicts for one in decoupling.capacitors if one.data.contradicts):
        names = [one.reference for one in decoupling.capacitors if one.data.contradicts == said]
        yield PdnMissing(what=f"which data hold for {some(names)}: {said}")
    by_file = [one.reference for one in decoupling.capacitors if not one.data.is_sure and one.data.table]
    if by_file:
        yield PdnMissing(what=f"files of {some(by_file)} at the voltage of the rail (bias_v)", narrows=True)
    unsure = [one.reference for one in decoupling.capacitors if not one.data.is_sure and not one.data.table]
    if unsure:
        what = f"the maker's data of {count(len(unsure), 'capacitor')}"
        yield PdnMissing(what=what, lines=_capacitor_lines(unsure), narrows=True)


def _capacitor_lines(names: Sequence[str]) -> tuple[str, ...]:
    parts = toml_value(list(names[:MOST_IN_LINE]))
    return (f'pdn.capacitor = [{{ parts = {parts}, uf = "?", esr_mohm = "?", esl_ph = "?" }}]',)

"""A high-speed stripline layer lacks a ground plane on one side.

What it checks
--------------
For every inner layer that carries a high-speed interface: over and under the tracks, along their length, the net of the
nearest filled copper above and below. Net names identify ground; a fill that no via, pad or track joins to its net,
where that or another ground has vias, is none. Rings around vias and lengths that do not matter at Nyquist are ignored,
and so is a tenth of the length routed on the layer. Openings of a hatched fill are neither ground nor none: where they
decide, a side is not verifiable.

Why it matters
--------------
The return current of a stripline flows in both planes, more in the nearer one. Where one of them is a supply rail, its
part reaches ground only through capacitors, and the noise of the rail is in the signal. Where one is missing, the layer
beyond couples in.

How to fix
----------
Give the layer a ground plane above and below, or move the high-speed nets to a layer that has them. A rail may share a
plane layer as long as ground is over and under the high-speed tracks.

What it cannot see
------------------
Ground is known by name (GND, VSS, EARTH, CHASSIS, 0V): RTN or COM counts as a rail. The centre line decides: planes
that end next to it are not seen. A tenth of a layer's length may lack ground.

Sources
-------
Each clause names its document. It requires ground; for a rail in its place this rule only warns.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.lines.hatched_planes import FILL_SOLID, hatched_above_mm, hatched_below_mm
from drc_rules.analysis.return_path.return_paths import PLACES_SHOWN, Referenced, ReturnPaths
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.layer_roles import is_ground
from stackup_lib.copper.copper_map import FLOATING, NO_COPPER
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record

ALLOWED_SHARE = 0.1
"""Antipads in breakouts and pin fields take up to this share of a layer's routed length."""


@record
class HighSpeedStripline:
    """The high-speed tracks of one inner layer."""

    layer: int
    parts: tuple[Referenced, ...]

    @property
    def inferred(self) -> bool:
        """True when none of the nets is declared."""
        return not any(part.group.declared for part in self.parts)


@record
class Side:
    """What the tracks have on one side: mm of each net, and without ground; the rails there, or that fills float."""

    word: str
    net_mm: dict[int, float]
    not_ground_mm: dict[int, float]
    rails: tuple[str, ...]
    floats: bool


def _striplines(ctx: Context, _clause: Clause) -> Iterator[HighSpeedStripline]:
    found: dict[int, list[Referenced]] = {}
    for part in ReturnPaths(ctx).referenced:
        is_inner = 0 < part.layer < ctx.board.layer_count - 1
        if is_inner and ReturnPaths(ctx).longest_of(part)[0] > part.group.lumped_mm[0]:
            found.setdefault(part.layer, []).append(part)
    for layer, parts in sorted(found.items()):
        yield HighSpeedStripline(layer, tuple(parts))


FORMULA = """
p ≤ p_max or L ≤ L_max

p: share of the tracks' length without ground on this side [%]
p_max: maximum share, for breakouts and pin fields [%]
L: longest such length of one net [mm]
L_max: maximum: a tenth of a wavelength at Nyquist [mm]
"""


@rule(
    "RET002",
    aliases=("one-sided-stripline",),
    kinds=("reference_planes",),
    over=_striplines,
    formula=FORMULA,
    reads_fills=True,
)
def stripline_without_ground_plane(ctx: Context, clause: Clause, line: HighSpeedStripline) -> Iterator[DraftFinding]:
    """Yield one finding for each side of the layer that is not ground along the tracks."""
    for net in sorted({net for part in line.parts for net in part.nets}):
        ctx.rests_on(ctx.assignment.confidence_of(net))
    unsure: list[MissingFact] = []
    for side in ("above", "below"):
        try:
            found = _side(ctx, line, side)
        except MissingFact as fact:  # the other side may fail all the same
            unsure.append(fact)
            continue
        total, bad = sum(found.net_mm.values()), sum(found.not_ground_mm.values())
        shortest = min(part.group.lumped_mm[0] for part in line.parts)
        _show(ctx, line, found, shortest)
        if bad > ALLOWED_SHARE * total and max(found.not_ground_mm.values()) > shortest:
            if mesh := _over_a_mesh(ctx, line, found, shortest):
                unsure.append(mesh)
                continue
            yield _draft(ctx, clause, line, found)
    if unsure:
        raise unsure[0]


def _over_a_mesh(ctx: Context, line: HighSpeedStripline, side: Side, shortest_mm: float) -> MissingFact | None:
    """Return that a side may have ground where a hatched fill is; None where it lacks ground without these, too."""
    if side.rails or side.floats:
        return None
    hatched = ctx.get(hatched_above_mm if side.word == "above" else hatched_below_mm)
    left = {net: mm - hatched.get((line.layer, net), 0.0) for net, mm in side.not_ground_mm.items()}
    total, bad = sum(side.net_mm.values()), sum(mm for mm in left.values() if mm > 0)
    if bad > ALLOWED_SHARE * total and max(left.values()) > shortest_mm:
        return None
    name = ctx.board.copper_layers[line.layer].name
    return MissingFact(f"ground {side.word} the tracks on {name}: the fill there is hatched", FILL_SOLID)


def _show(ctx: Context, line: HighSpeedStripline, found: Side, shortest_mm: float) -> None:
    total, bad = sum(found.net_mm.values()), sum(found.not_ground_mm.values())
    ctx.shows(
        f"{ctx.board.copper_layers[line.layer].name}, {found.word} the tracks",
        p=100 * bad / total if total else 0.0,
        p_max=100 * ALLOWED_SHARE,
        L=max(found.not_ground_mm.values(), default=0.0),
        L_max=shortest_mm,
    )


def _side(ctx: Context, line: HighSpeedStripline, word: str) -> Side:
    """Look along the tracks; raises `MissingFact` where the fills are not known."""
    total: dict[int, float] = {}
    bad: dict[int, float] = {}
    rails: dict[int, float] = {}
    for part in line.parts:
        ReturnPaths(ctx).need_fills(part)
        layers = range(part.layer - 1, -1, -1) if word == "above" else range(part.layer + 1, ctx.board.layer_count)
        filled = [k for k, layer in enumerate(layers) if ctx.copper.planes.is_filled(layer)]
        if not filled:
            lengths = {(net, NO_COPPER): mm for net, mm in ReturnPaths(ctx).lengths_of(part).items()}
        else:
            # what lies nearer than the usual plane, though under less than half of the way, counts where it is
            nearest, beyond = layers[filled[0]], layers[filled[0] + 1 :]
            lengths = ReturnPaths(ctx).paths.plane_nets_mm(part.rows, nearest, beyond)
        for (net, under), mm in lengths.items():
            total[net] = total.get(net, 0.0) + mm
            if under in {NO_COPPER, FLOATING} or not is_ground(ctx.board.nets[under]):
                bad[net] = bad.get(net, 0.0) + mm
                rails[under] = rails.get(under, 0.0) + mm
    names = sorted((-mm, ctx.board.nets[net]) for net, mm in rails.items() if net not in {NO_COPPER, FLOATING})
    void, floating = rails.get(NO_COPPER, 0.0), rails.get(FLOATING, 0.0)
    found = tuple(name for mm, name in names if -mm > max(void, floating))
    return Side(word, total, bad, found, floating > void and not found)


def _draft(ctx: Context, clause: Clause, line: HighSpeedStripline, side: Side) -> DraftFinding:
    board, layer = ctx.board, ctx.board.copper_layers[line.layer].name
    worst = max(side.not_ground_mm, key=lambda net: (side.not_ground_mm[net], -net))
    share = 100 * sum(side.not_ground_mm.values()) / sum(side.net_mm.values())
    titles = ", ".join(dict.fromkeys(part.group.title for part in line.parts))
    what = f"{', '.join(side.rails)} instead of ground" if side.rails else "no plane"
    if side.floats:
        what = "a floating fill instead of ground"
        why = "No via, pad or track joins that copper to the rest of a net, so no return current can leave it"
    elif side.rails:
        why = "The part of the return current in a rail reaches ground only through capacitors"
    else:
        why = "The next layer couples in, and the line's impedance depends on it"
    nets = sorted(side.not_ground_mm, key=lambda net: -side.not_ground_mm[net])
    return DraftFinding(
        title=(
            f"{what} {side.word} the tracks for {share:.0f} % of their length, maximum {100 * ALLOWED_SHARE:.0f} %: "
            f"{titles} on {layer}, {board.nets[worst]} for {side.not_ground_mm[worst]:.0f} mm"
        ),
        why=why,
        fix=(
            f"Join the fill {side.word} {layer} to ground by vias, and fill the zones"
            if side.floats
            else f"Add a ground plane {side.word} {layer}, or move the high-speed nets to a layer between two"
        ),
        ids=(layer, side.word),
        measured=Measured(value=round(share, 1), unit="%"),
        limit_value=100 * ALLOWED_SHARE,
        places=tuple(Location(layer=layer, net=board.nets[net]) for net in nets[:PLACES_SHOWN]),
        severity=min(Severity.WARNING, clause.severity, key=lambda s: s.rank) if side.rails else None,
        inferred=line.inferred,
    )

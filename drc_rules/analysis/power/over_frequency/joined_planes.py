"""What of a rail hangs together: the piece of the planes that its load is on, and who else is on it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from drc_rules.analysis.power.over_frequency.decoupling import OTHER_PIECE, Decoupling
from drc_rules.analysis.power.over_frequency.load import LoadPort
from drc_rules.analysis.power.over_frequency.mounts import Mounts, in_parallel, with_range
from drc_rules.analysis.power.over_frequency.plane_floors import PlaneFloors
from drc_rules.analysis.power.over_frequency.supply import Supply
from drc_rules.analysis.power.power_rails import PowerRails
from drc_rules.facts.context import Context
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.core.facts import MissingFact
from stackup_lib.power.over_frequency.landings import Landing
from stackup_lib.power.over_frequency.plane_cells import EMPTY

VIA_MM = 1.0
"""Side of the square in which the vias of a part meet the planes."""

JOIN = "join them by fills that face ground, or by vias between such fills"


@dataclass(frozen=True)
class JoinedPlanes:
    """The piece of the planes that the load is on, the regulator as it feeds that, and the capacitors on it."""

    floors: PlaneFloors
    supply: Supply
    decoupling: Decoupling


def need_whole(ctx: Context, row: RailDeclaration | None) -> None:
    """Raise `MissingFact` where copper joins a declared rail, or its ground return, nowhere."""
    if row is None or not row.from_ or not row.to:
        return
    rails, broken, back = PowerRails(ctx), "", None
    with suppress(MissingFact):
        broken = rails.broken(row)
    with suppress(MissingFact):
        back = rails.returned(row)
    if broken:
        raise MissingFact(f"the whole copper of {row.net}: {broken}", JOIN)
    apart = [name for name, load in zip(row.to, back.loads, strict=True) if not load.joined] if back else []
    if back and apart:
        what = f"the return of {row.net}: no {back.net} copper joins {', '.join(apart)} to its source"
        raise MissingFact(what, JOIN)


def joined_planes(  # noqa: PLR0917 - what is on planes
    net: str, floors: PlaneFloors, mounts: Mounts, load: LoadPort, supply: Supply, decoupling: Decoupling
) -> JoinedPlanes:
    """Return what is on the piece of the planes that the load is on.

    Raises:
        MissingFact: the load is on none, or the regulator on another one.
    """
    piece = floors.cells.piece_at(floors.port((load.x_mm, load.y_mm), load.size_mm, load.layer))
    if piece == EMPTY:
        what = f"how {load.name} reaches the planes of {net}: none of it over ground is within 3 mm of its vias"
        raise MissingFact(what, JOIN)
    capacitors, left_out = [], dict(decoupling.left_out)
    for one in decoupling.capacitors:
        if floors.cells.piece_at(floors.port((one.x_mm, one.y_mm), VIA_MM, one.layer)) == piece:
            capacitors.append(one)
        else:
            left_out[one.reference] = OTHER_PIECE
    fed = _fed(net, floors, mounts, load, supply, piece) if supply.pads else supply
    cells = floors.cells.only(piece)
    return JoinedPlanes(PlaneFloors(cells, floors.layers), fed, Decoupling(tuple(capacitors), left_out))


def _fed(  # noqa: PLR0917 - as `joined_planes`
    net: str, floors: PlaneFloors, mounts: Mounts, load: LoadPort, supply: Supply, piece: int
) -> Supply:
    """Return the regulator where its vias meet the piece, with the inductance of its way there.

    Raises:
        MissingFact: its pads reach no planes, or only other pieces.
    """
    ways: list[tuple[Landing, int, float]] = []
    is_landed = False
    for back in (False, True):
        own = [pad for pad in supply.pads if mounts.is_back(pad) == back]
        for landing in mounts.landings_of(own, back=back).values():
            pairs = [pair for pair in mounts.facing if pair.rail_layer in landing.layers]
            if not pairs:
                continue
            is_landed, layer = True, mounts.nearest(pairs, back=back).rail_layer
            port = floors.port((landing.x_mm, landing.y_mm), VIA_MM, layer)
            if floors.cells.piece_at(port) == piece:
                ways.append((landing, layer, mounts.way_h(landing, pairs, back=back)))
    if ways:
        landings, layers, inductances = zip(*ways, strict=True)
        at = float(np.mean([one.x_mm for one in landings])), float(np.mean([one.y_mm for one in landings]))
        inductance = supply.inductance_h.plus(with_range(in_parallel(inductances)))
        return replace(supply, at_mm=at, layer=_most(layers), inductance_h=inductance)
    if not is_landed:
        what = f"how the regulator reaches the planes of {net}: no copper joins its pads to vias on them within 30 mm"
        raise MissingFact(what, JOIN)
    what = f"what joins the planes of {net} at the regulator and at {load.name}: no fills or vias that face ground"
    raise MissingFact(what, JOIN)


def _most(layers: Sequence[int]) -> int:
    return max(sorted(set(layers)), key=layers.count)

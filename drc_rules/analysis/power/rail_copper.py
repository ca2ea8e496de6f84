"""The copper of declared rails: how thick it is, and what of that is not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from drc_rules.facts.context import Context
from drc_rules.facts.row_faults import is_plated, may_become
from drc_rules.settings.config_power import RailDeclaration
from drc_rules.settings.declaration import PLACEHOLDER
from stackup_lib.board.board import Board
from stackup_lib.core.errors import did_you_mean
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackup_lib.materials import copper_weights, inner_copper_mm
from stackup_lib.power.rail_drop.spread import COPPER_C, LOSS, OUTER_PLATING_UM, PLATING_UM, finished_range_mm

if TYPE_CHECKING:
    from stackup_lib.power.rail_drop.rail_models import BoardCopper

Thickness = tuple[float, float, float]
"""Of a copper layer in mm: the thinnest that may be delivered, as stated, and the thickest."""


@record
class CopperLoss:
    """Where power is lost, in watts, and what each layer's copper may be."""

    layer_power_w: Mapping[str, float]
    barrel_power_w: float
    ranges: Mapping[str, Thickness]

    @property
    def total_w(self) -> float:
        """In all layers and holes."""
        return sum(self.layer_power_w.values()) + self.barrel_power_w


def in_table(net: str, line: str) -> str:
    """Return a hint for a line of a `[[rail]]` that is already there."""
    return f"in the [[rail]] of {net}: {line}"


def net_is_open() -> MissingFact:
    """Return the fact that is missing where the net of a `[[rail]]` is not filled in."""
    return MissingFact("the net of a rail", f'in its [[rail]]: net = "{PLACEHOLDER}"')


def need_net(board: Board, row: RailDeclaration) -> int:
    """Return the net of a rail; raises `MissingFact` where it is open, or the board has none of that name."""
    if not row.has_net:
        raise net_is_open()
    if row.net not in board.net_index:
        cure = did_you_mean(row.net, filter(None, board.nets))
        raise MissingFact(f"a net called {row.net}", in_table(row.net, f"name a net of the board; {cure}"))
    return board.net_index[row.net]


def copper_as_declared(ctx: Context, *rows: RailDeclaration) -> tuple[BoardCopper, dict[int, Thickness]]:
    """The copper as stated or declared, and the thin, stated and thick of each layer.

    A finished thickness counts where all of the rails agree on it; it is sure. Where they state none, the outer layers
    are as thick as `[process]` declares. A declared weight is that of the foil, not of what is finished: it leaves the
    stackup's row as it is where the row may be what becomes of that foil; else what is usually made of the foil counts.
    What `[process]` plates onto the surface says nothing of the copper in holes, which is thinner.
    """
    from stackup_lib.power.rail_drop.rail import copper_of  # noqa: PLC0415 - finite elements: only a rail needs them

    ctx.stackup()
    row = rows[0]
    plating = row.plating_um if row.plating_um is not None else PLATING_UM.nominal
    temperature = row.copper_c if row.copper_c is not None else COPPER_C.nominal
    copper = copper_of(ctx.board, plating / 1000, temperature)
    thickness = list(copper.thickness_mm)
    foils = _foils_instead(ctx, thickness)
    finished = {_layer(ctx.board, row, name): um / 1000 for name, um in row.copper_um.items()}
    for index, mm in finished.items():
        stated_mm = _foil_mm(foils[index]) if index in foils else thickness[index]
        _need_agreement(ctx, row, index, 1000 * mm, 1000 * stated_mm)
    last = len(thickness) - 1
    ranges: dict[int, Thickness] = {}
    for index, stated in enumerate(thickness):
        sure = finished.get(index)
        if sure is not None and all(one.copper_um == row.copper_um for one in rows):
            thickness[index], ranges[index] = sure, (sure, sure, sure)
            continue
        plated = plated_range_mm(ctx, index) if index in (0, last) else None
        if plated is not None:
            thickness[index], ranges[index] = plated[1], plated
            continue
        if index in foils:
            ranges[index] = _made_of(foils[index], plated=is_plated(ctx.board, index))
            thickness[index] = ranges[index][1]
            continue
        thin, thick = finished_range_mm(stated, outer=index in (0, last))
        ranges[index] = thin, stated, thick
    return replace(copper, thickness_mm=tuple(thickness)), ranges


def plated_range_mm(ctx: Context, index: int) -> Thickness | None:
    """Return what `[process]` makes of an outer layer; None where it declares nothing of it.

    Its own key is what the fab states for this board, and sure. What a preset publishes, or what foil and plating add
    up to, is what is usual there: foils are delivered a tenth thinner or thicker.
    """
    found = ctx.process.outer_copper_mm(index)
    if found is None or not found.is_stated:
        return None
    slack = 0.0 if ctx.process.declared.outer_copper_um is not None else LOSS
    return found.value * (1 - slack), found.value, found.value * (1 + slack)


def _need_agreement(ctx: Context, row: RailDeclaration, index: int, finished_um: float, stated_um: float) -> None:
    """Raise `MissingFact` where the finished copper of a rail cannot be made of what is stated for the layer."""
    if not may_become(stated_um, finished_um, plated=is_plated(ctx.board, index)):
        name = ctx.board.copper_layers[index].name
        what = f"copper_um of {row.net} says {finished_um:g} um, the stackup {stated_um:.3g} um"
        hint = in_table(row.net, "correct copper_um, or the copper thickness in KiCad's Physical Stackup")
        raise MissingFact(f"finished copper of {name} ({what})", hint)


def _layer(board: Board, row: RailDeclaration, name: str) -> int:
    if name not in board.layer_index:
        cure = did_you_mean(name, board.layer_index)
        raise MissingFact(f"a copper layer called {name}", in_table(row.net, f"copper_um: name a layer; {cure}"))
    return board.layer_index[name]


def _foils_instead(ctx: Context, row_mm: Sequence[float]) -> dict[int, float]:
    """Return the declared weights, in oz, of the layers whose row in the stackup no such foil can become."""
    found: dict[int, float] = {}
    for name, declared in ctx.declarations.config.declared.copper.items():
        if not declared.copper_oz or name not in ctx.board.layer_index:
            continue
        index = ctx.board.layer_index[name]
        fact = ctx.declarations.of_stackup(f"copper weight of {name}", declared.copper_oz, f"copper.{name}")
        oz = ctx.need(fact) if fact else None
        plated = is_plated(ctx.board, index)
        if oz is not None and not may_become(1000 * _foil_mm(oz), 1000 * row_mm[index], plated=plated):
            found[index] = oz
    return found


def _made_of(oz: float, *, plated: bool) -> Thickness:
    """What becomes of a foil: thinner by cleaning, or plated by about as much as the holes are.

    Plated copper may be as thin as bare foil, where the plating is not stated.
    """
    foil_mm, cleaned_mm = _foil_mm(oz), inner_copper_mm(oz)
    if plated:
        return foil_mm * (1 - LOSS), foil_mm + PLATING_UM.nominal / 1000, foil_mm + OUTER_PLATING_UM / 1000
    thin, thick = finished_range_mm(cleaned_mm, outer=False)
    return thin, cleaned_mm, max(thick, foil_mm)


def _foil_mm(oz: float) -> float:
    """Nominal thickness of a foil."""
    known = next((w.nominal_um for w in copper_weights() if w.oz == oz), None)
    return (known if known is not None else oz * 34.3) / 1000

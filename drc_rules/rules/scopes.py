"""What rules are applied to: the objects of a clause, chosen once and shared by the rules."""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.nets.high_speed_layers import HighSpeedLayer, fast_layers_of_clause
from drc_rules.analysis.power.power_rails import PowerRails
from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.requirements.clauses import Clause
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.board.board import Board
from stackup_lib.core.record import record


def whole_board(ctx: Context, _clause: Clause) -> tuple[Board]:
    """The board itself, once."""
    return (ctx.board,)


def every_ply(ctx: Context, _clause: Clause) -> tuple[DielectricPly, ...]:
    """Every ply of core and prepreg; not verifiable when no material is stated at all."""
    return ctx.known_plies()


def declared_rails(ctx: Context, _clause: Clause) -> tuple[RailDeclaration, ...]:
    """The power rails of `[[rail]]`."""
    return PowerRails(ctx).declared


def fast_layers(ctx: Context, clause: Clause) -> tuple[HighSpeedLayer, ...]:
    """The copper layers that carry the clause's interface."""
    return fast_layers_of_clause(ctx, clause)


@record
class HighSpeedPly:
    """A dielectric ply and the high-speed layers that it touches."""

    ply: DielectricPly
    layers: tuple[HighSpeedLayer, ...]

    @property
    def inferred(self) -> bool:
        """True when none of the layers carries nets that were declared to be fast."""
        return all(layer.inferred for layer in self.layers)

    @property
    def touching(self) -> str:
        """The layers as text."""
        return ", ".join(layer.name for layer in self.layers)


def fast_plies(ctx: Context, clause: Clause) -> Iterator[HighSpeedPly]:
    """The dielectric plies that touch a layer with the clause's interface: a hybrid build is judged only there."""
    layers = fast_layers_of_clause(ctx, clause)
    if not layers:
        return
    for ply in ctx.known_plies():
        touched = tuple(layer for layer in layers if ply.touches(layer.index))
        if touched:
            yield HighSpeedPly(ply, touched)

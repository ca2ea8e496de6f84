"""The copper layers that carry high-speed interfaces, and what is too short to count as routed there."""

from __future__ import annotations

import numpy as np

from drc_rules.facts.context import Context
from drc_rules.facts.guesses import rest_on_assignment
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.interfaces import Interface, family, interface
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.core.record import record

LUMPED_SHARE = 0.1
"""A conductor shorter than this share of a wavelength is lumped: it does not count as routed on its layer."""
MM_GHZ_PER_WAVELENGTH = LIGHT_MM_GHZ / 2.0
"""Speed of light in mm GHz over sqrt(Dk) with Dk 4: wavelength in mm is this over the frequency in GHz."""


@record
class HighSpeedLayer:
    """A copper layer on which an interface is routed.

    Attributes:
        index: copper layer.
        interface: the interface that is routed there; the slowest of its family where the generation is not known.
        nets: its nets with a track on the layer that is longer than a lumped breakout.
        longest_mm: longest of them on this layer.
        inferred: True when none of them was declared to be that interface.
        fastest: of the family where the generation is not known, else None.
    """

    index: int
    name: str
    interface: Interface
    nets: tuple[int, ...]
    longest_mm: float
    inferred: bool
    fastest: Interface | None = None

    @property
    def lumped_mm(self) -> tuple[float, float]:
        """What is lumped at the Nyquist frequency of the slowest and of the fastest generation that it may be."""
        return _lumped_mm(self.interface), _lumped_mm(self.fastest or self.interface)


def fast_layers(ctx: Context, interface_id: str) -> tuple[HighSpeedLayer, ...]:
    """Return the layers on which an interface is routed beyond lumped breakouts, top to bottom."""
    return ctx.get(_fast_layers, interface_id)


def open_layers(ctx: Context, family_id: str) -> tuple[HighSpeedLayer, ...]:
    """Return the layers with nets of a family whose generation is not known, beyond breakouts of its fastest one."""
    every = family(family_id).by_rate
    roles = ((int(net), ctx.assignment.role_of(int(net))) for net in ctx.nets_of(family_id))
    nets = [net for net, role in roles if role is not None and role.interface is None]
    return _layers(ctx, nets, every[0], every[-1]) if every else ()


def routed_outside(ctx: Context, interface_id: str) -> bool:
    """Tell whether an interface has any track on an outer layer, lumped breakouts included."""
    routed, last = ctx.get(_routed_mm), ctx.board.layer_count - 1
    return any((net, layer) in routed for net in ctx.nets_of(interface_id).tolist() for layer in (0, last))


def _fast_layers(ctx: Context, interface_id: str) -> tuple[HighSpeedLayer, ...]:
    return _layers(ctx, ctx.nets_of(interface_id).tolist(), interface(interface_id))


def _lumped_mm(one: Interface) -> float:
    return LUMPED_SHARE * MM_GHZ_PER_WAVELENGTH / (one.nyquist_ghz or 1.0)


def _layers(
    ctx: Context, nets: list[int], found: Interface, fastest: Interface | None = None
) -> tuple[HighSpeedLayer, ...]:
    routed, shortest = ctx.get(_routed_mm), _lumped_mm(fastest or found)
    by_layer: dict[int, list[tuple[int, float]]] = {}
    for net in nets:
        for layer in range(ctx.board.layer_count):
            length = routed.get((net, layer), 0.0)
            if length > shortest:
                by_layer.setdefault(layer, []).append((net, length))
    return tuple(
        HighSpeedLayer(
            index=layer,
            name=ctx.board.copper_layers[layer].name,
            interface=found,
            nets=tuple(net for net, _ in rows),
            longest_mm=max(length for _, length in rows),
            inferred=not any(ctx.assignment.is_declared(net) for net, _ in rows),
            fastest=fastest,
        )
        for layer, rows in sorted(by_layer.items())
    )


def fast_layers_of_clause(ctx: Context, clause: Clause) -> tuple[HighSpeedLayer, ...]:
    """Return the layers that carry the clause's interface, or any fast one when it names none.

    Raises:
        MissingFact: no net is known to be of the interface, or none of its nets is routed yet.
    """
    if clause.interface:
        rest_on_assignment(ctx, ctx.nets_of_clause(clause))
        layers = fast_layers(ctx, clause.interface)
    else:
        layers = tuple(f for name in ctx.assignment.fast_interfaces() for f in fast_layers(ctx, name))
    if not layers and clause.interface:
        raise MissingFact(f"the layers that carry {clause.interface}", "route its nets, then check again")
    return layers


def _routed_mm(ctx: Context) -> dict[tuple[int, int], float]:
    """(net, layer) -> routed length in mm."""
    tracks, layers = ctx.board.tracks, max(ctx.board.layer_count, 1)
    unique, inverse = np.unique(tracks.net * layers + tracks.layer, return_inverse=True)
    sums = np.bincount(inverse, tracks.length_mm, len(unique))
    return {(int(k) // layers, int(k) % layers): float(v) for k, v in zip(unique, sums, strict=True)}

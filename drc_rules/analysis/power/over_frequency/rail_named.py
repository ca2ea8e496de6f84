"""Which rail is meant: its nets, its voltage, and its target impedance with the source."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from drc_rules.analysis.power.power_rails import largest_power_nets
from drc_rules.analysis.power.rail_copper import in_table, net_is_open
from drc_rules.analysis.power.rail_ends import return_ends
from drc_rules.facts.context import Context
from drc_rules.report.numbers import figure
from drc_rules.requirements.documents import documents
from drc_rules.requirements.profiles.profile import load_profile
from drc_rules.settings.config_power import RailDeclaration
from drc_rules.settings.declaration import PLACEHOLDER
from stackup_lib.board.board import Board
from stackup_lib.board.layer_roles import is_ground
from stackup_lib.core.errors import did_you_mean
from stackup_lib.core.facts import MissingFact
from stackup_lib.nets.net_voltages import volts_of_name
from stackup_lib.nets.power_nets import fill_by_net_mm2
from stackup_lib.nets.two_pin_parts import TwoTerminalParts

KIND = "pdn_target_impedance"

CORE_UP_TO_HZ, OTHER_UP_TO_HZ = 50e6, 80e6
PLANES_SHARE = 0.5
"""Of the target, what planes and vias may use up where it is judged: as much is left for capacitors. Judgement."""

UP_TO_SOURCE = "Altera UG-01036 v2.0, pages 1-6 and 1-7"
"""Where board capacitors stop to help a core rail and another rail, when the maker of the load states none."""


@dataclass(frozen=True)
class NamedRail:
    """A rail and its nets.

    Attributes:
        net, ground: indices into `Board.nets`.
        row: its declaration, None where it has none.
        volts: None where neither the declaration nor the name tells.
        volts_words: where the voltage comes from.
    """

    net: int
    ground: int
    row: RailDeclaration | None
    volts: float | None
    volts_words: str


def rail_named(ctx: Context, name: str, parts: TwoTerminalParts) -> NamedRail:
    """Return the rail of a name.

    Raises:
        MissingFact: the net is open, the board has no such net, or no ground is known.
    """
    if name == PLACEHOLDER:
        raise net_is_open()
    board = ctx.board
    net = board.net_named(name)
    if not net:
        offered = ", ".join(largest_power_nets(board))
        cure = did_you_mean(name, [net for net in board.nets if net])
        raise MissingFact(f"a net called {name}", f"{cure}; largest power nets: {offered}" if offered else cure)
    name = board.nets[net]
    row = next((one for one in ctx.declarations.config.rail if one.net == name), None)
    if row is None and is_ground(name):
        raise MissingFact(f"a rail: {name} is the return of others", "name a supply net")
    declared = row.voltage_v if row is not None else None
    stated = volts_of_name(name) if declared is None else declared
    volts = abs(stated) if stated else None
    words = "declared" if declared is not None else "from the name of the net" if volts is not None else ""
    return NamedRail(net, _ground(board, parts, net, row), row, volts, words)


def _ground(board: Board, parts: TwoTerminalParts, net: int, row: RailDeclaration | None) -> int:
    if row is not None and row.ground:
        if row.ground not in board.net_index:
            cure = did_you_mean(row.ground, [one for one in board.nets if one])
            raise MissingFact(f"a net called {row.ground}", in_table(row.net, f"name a net of the board; {cure}"))
        return board.net_index[row.ground]
    if row is not None:
        with suppress(MissingFact):  # its ends tell; capacitors may be between the rail and another ground
            return return_ends(board, row, tuple(row.to)).net
    grounds = [number for number, name in enumerate(board.nets) if name and number != net and is_ground(name)]
    if not grounds:
        raise MissingFact("a ground net: none has a name like GND", in_table(board.nets[net], 'ground = "?"'))
    ends = np.sort(np.column_stack([parts.first_net, parts.second_net])[parts.is_capacitor], axis=1)
    fills = fill_by_net_mm2(board)

    def weight(ground: int) -> tuple[int, float]:
        return int((ends == sorted((net, ground))).all(axis=1).sum()), float(fills[ground])

    return max(grounds, key=weight)


def target_of(ctx: Context, rail: NamedRail) -> tuple[float, str] | None:
    """Return the target in ohm and where it comes from; None where nothing states one.

    The declared ripple and step come first. The target of the profile is meant for the core of an accelerator.
    """
    row = rail.row
    if row is None:
        return None
    own = row.target_ohm if row.voltage_v is not None else None
    if own is not None:
        words = f"{row.ripple_pct:g} % of {row.voltage_v:g} V over a step of {row.step_a:g} A, as declared"
        return own, words
    if not row.core or ctx.profile is None:
        return None
    clause = next((one for one in load_profile(ctx.profile).clauses if one.kind == KIND), None)
    if clause is None or clause.limit.max is None:
        return None
    document = documents()[clause.source.document].title
    return clause.limit.max * 1e-3, f"{clause.id}: {document}, {clause.source.row}"


def up_to_hz(rail: NamedRail, target_ohm: float, spreading_h: float) -> tuple[float, str]:
    """Return up to where board parts can meet a target, and why.

    Real capacitors have no chance up to where planes and vias alone have the target impedance: mounting and ESL come on
    top. Above the frequency at which planes and vias use up `PLANES_SHARE` of it more of them help little.
    """
    row = rail.row
    if row is not None and row.pdn.up_to_mhz is not None:
        return row.pdn.up_to_mhz * 1e6, "as declared"
    most = CORE_UP_TO_HZ if row is not None and row.core else OTHER_UP_TO_HZ
    crossing = PLANES_SHARE * target_ohm / (2 * np.pi * spreading_h) if spreading_h > 0 else most
    if crossing < most:
        alone = f"above, planes and vias alone ({figure(spreading_h * 1e12)} pH) use up half of the target"
        return float(crossing), f"{alone} ({UP_TO_SOURCE})"
    return most, UP_TO_SOURCE

"""The eye that a link leaves of its symbols, without equalisers, packages, crosstalk, noise and jitter.

Both ends are matched, so what counts is the transmission between ports of the interface's impedance, of a pair the
differential one. Information: a receiver of 8 Gb/s and more equalises.
"""

from __future__ import annotations

from drc_rules.analysis.loss.link_loss import LinkLoss
from drc_rules.analysis.loss.sparameters.link_network import link_network
from drc_rules.facts.context import Context
from stackup_lib.channels.eye import Eye, worst_eye
from stackup_lib.channels.pulse import (
    MOST_EARLY,
    PulseResponse,
    edge_ui,
    pulse_response,
    smooth_edges,
    symbol_grid_ghz,
)
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.record import record

LEVELS = {"NRZ": 2, "PAM3": 3, "PAM4": 4}
REACH = 3.0
"""Times the symbol rate: edges of a third of a symbol."""

STEP_GHZ = 0.025
"""The response is seen for 40 ns or more."""


@record
class LinkEye:
    """The eye of one link.

    Attributes:
        symbol_gbd: symbols per nanosecond.
        levels: that a symbol has.
        edge_ui: of the symbols sent, from 10 to 90 %.
        pulse: what arrives of one symbol.
        eye: what the worst pattern leaves.
    """

    symbol_gbd: float
    levels: int
    edge_ui: float
    pulse: PulseResponse
    eye: Eye


def link_eye(ctx: Context, link: LinkLoss, max_ghz: float | None = None) -> LinkEye:
    """Return the eye of a link whose loss is known.

    Args:
        ctx: the board.
        link: the link.
        max_ghz: last frequency of its S-parameters; None for three times the symbol rate.

    Raises:
        MissingFact: a Dk, Df, drill or layer is not known.
        StackwrightError: the interface sends no symbols of levels, the frequencies end too low, the file of a part
            cannot be used, or the response does not settle.
    """
    one = link.interface
    levels = LEVELS.get(one.modulation)
    if levels is None or not one.nyquist_ghz:
        what = f"symbols of {one.title} are not of known levels and rate ({one.modulation})"
        raise StackwrightError(link.name, what, "use its S-parameters")
    symbol_gbd = 2 * one.nyquist_ghz
    last = max_ghz or REACH * symbol_gbd
    if last < symbol_gbd:
        what = f"its S-parameters end at {last:.4g} GHz, below its symbol rate of {symbol_gbd:.4g} GBd"
        raise StackwrightError(link.name, what, f"--max-ghz {symbol_gbd:.4g} or more")
    ghz = symbol_grid_ghz(symbol_gbd, min(last, REACH * symbol_gbd), STEP_GHZ)
    network = link_network(ctx, link, ghz)
    pulse = pulse_response(ghz, network.own_s[:, 1, 0] * smooth_edges(ghz), symbol_gbd)
    if pulse.early > MOST_EARLY:
        what = f"its pulse response has not settled to {MOST_EARLY:.0%} within {pulse.time_ps[-1] / 1000:.0f} ns"
        raise StackwrightError(link.name, what, "use its S-parameters")
    return LinkEye(
        symbol_gbd=symbol_gbd,
        levels=levels,
        edge_ui=edge_ui(ghz, symbol_gbd),
        pulse=pulse,
        eye=worst_eye(pulse, levels),
    )

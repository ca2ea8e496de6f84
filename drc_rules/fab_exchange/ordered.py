"""The stackup that `[order]` names, next to the board's: what a report shows of both."""

from drc_rules.fab_exchange.named_match import NamedMatch, nearest
from drc_rules.facts.context import Context
from drc_rules.requirements.fabs.stackups.load import find, named_stackups
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.frozen import Frozen


class OrderedStackup(Frozen):
    """The stackup that is ordered.

    Attributes:
        name: as the settings give it.
        match: its rows next to the board's, of the nearest where several have the name; None where they cannot be
            compared.
        problem: why they cannot; else empty.
    """

    name: str
    match: NamedMatch | None = None
    problem: str = ""


def ordered_stackup(ctx: Context) -> OrderedStackup | None:
    """Return the stackup that the settings say is ordered; None where they name none.

    Raises:
        ConfigError: no fab lists the name.
    """
    name = ctx.declarations.config.order.stackup
    if name is None:
        return None
    offered = find(name, named_stackups())
    try:
        found = nearest(ctx, offered)
    except MissingFact as missing:
        return OrderedStackup(name=name, problem=f"{missing.name} is not known")
    except ConfigError as error:
        return OrderedStackup(name=name, problem=error.what)
    if found:
        return OrderedStackup(name=name, match=found[0])
    mine, theirs = len(ctx.board.copper_layers), sorted({one.copper_layers for one in offered})
    if mine in theirs:
        return OrderedStackup(name=name, problem="the fab does not state all its thicknesses")
    layers = " or ".join(map(str, theirs))
    return OrderedStackup(name=name, problem=f"it has {layers} copper layers, the board {mine}")

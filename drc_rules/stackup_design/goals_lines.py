"""Line goals from interfaces: impedance, Nyquist frequency, longest length, and the board's share of the loss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from drc_rules.analysis.loss.link_holes import interface_holes
from drc_rules.analysis.loss.loss_shares import declarations_by_net, role_of_form, share_of
from drc_rules.analysis.loss.share_rows import assumed_allowances, unstated_parts
from drc_rules.analysis.nets.board_links import board_links
from drc_rules.analysis.targets.controlled import controlled_lines, nets_by_target
from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.documents import documents
from drc_rules.requirements.forms import Form
from drc_rules.requirements.interfaces import Interface, family, interface
from drc_rules.requirements.interfaces.model import ENGINEERING
from drc_rules.settings.goals_choices import GoalChoices
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.synthesis import LineGoal
from stackup_lib.synthesis.goals import rounded_gap_per_width
from stackup_lib.transmission_lines.width_request import Target

LEAST_SAID_DB = 0.005
"""What the vias lose is told from here on: less is nothing in two decimals."""

BOUND_DB = 999.0
"""More than this no via loses: a stub at its resonance, of unknown depth."""

LAYERS_EACH = 2
"""High-speed layers for a family of which no clause states a number."""


@record
class LineReason:
    """A goal of lines as text; `origin` is a value of `From`."""

    goal: str
    value: str
    origin: str
    source: str


@record
class GoalLines:
    """The line goals of all interfaces.

    Attributes:
        interfaces: interface id by name of a line goal.
    """

    goals: tuple[LineGoal, ...]
    interfaces: Mapping[str, str]
    reasons: tuple[LineReason, ...] = field(default=())

    @property
    def striplines(self) -> bool:
        """True where a line wants to lie between two grounds."""
        return bool(self.goals)

    @property
    def with_outer(self) -> tuple[LineGoal, ...]:
        """The goals, and each on the outer layers for its width alone: fan-outs are short, a board has its own."""
        plain = {"nyquist_ghz": None, "longest_mm": None, "loss_budget_db": None}
        outer = (g.model_copy(update={"name": outer_name(g.name), "where": "outer", **plain}) for g in self.goals)
        return (*self.goals, *outer)

    @property
    def on_outer(self) -> tuple[LineGoal, ...]:
        """The same goals for the outer layers, where no layer lies between two grounds."""
        return tuple(goal.model_copy(update={"where": "outer"}) for goal in self.goals)

    def fast_layers(self, clauses: Iterable[Clause]) -> int:
        """Return how many layers the interfaces want: links of accelerators as NVLink's clause, two for others."""
        nvlink = max((int(c.limit.min or 0) for c in clauses), default=0)
        by_family: dict[str, bool] = {}
        for one in map(interface, self.interfaces.values()):
            by_family[one.family] = by_family.get(one.family, False) or one.fabric
        return sum(max(nvlink, LAYERS_EACH) if fabric else LAYERS_EACH for fabric in by_family.values())


def outer_name(goal: str) -> str:
    """Return the name of a line goal on the outer layers."""
    return f"{goal}, outer layers"


def lines_for(
    interfaces: Iterable[str],
    form: Form | None,
    ctx: Context | None,
    choices: GoalChoices,
    max_stub_mm: float | None = None,
) -> GoalLines:
    """Return the line goals of the high-speed interfaces.

    Args:
        interfaces: their ids.
        form: form factor, where no board is given.
        ctx: the board, None for a new one.
        choices: what the user wants.
        max_stub_mm: longer stubs of vias are to be backdrilled; None where they may stay.

    Raises:
        ConfigError: a length is given for an interface that the board does not carry.
    """
    goals: list[LineGoal] = []
    ids: dict[str, str] = {}
    reasons: list[LineReason] = []
    present = tuple(interfaces)
    for name in choices.longest_mm:
        if name not in present:
            cure = f"name one of {', '.join(present)}" if present else "state the interface too"
            raise ConfigError(f'length of "{interface(name).id}"', "the board does not carry it", cure)
    for one in (interface(each) for each in present):
        target, said_by = _target(one, ctx)
        if target is None or not family(one.family).fast:
            if target is not None and ctx is None:
                reasons.append(_not_sought(one))
            continue
        goal = LineGoal(name=f"{one.title} {target.ohm:g} ohm", target=target, nyquist_ghz=one.nyquist_ghz)
        which = "impedance_diff_ohm" if target.kind == "differential" else "impedance_single_ohm"
        if said_by:
            reasons.append(LineReason(f"{one.title} impedance", str(target), "board", said_by))
        else:
            reasons.append(_reason(f"{one.title} impedance", str(target), one.document_of(which)))
        length, by = _longest(one, ctx, choices)
        if one.nyquist_ghz is not None:
            budget, words = _budget(one, form, ctx, max_stub_mm)
            if length is not None:
                reasons.append(LineReason(f"{one.title} length", f"{length:g} mm", by, _LENGTH[by]))
                goal = goal.model_copy(update={"longest_mm": length, "loss_budget_db": budget})
            elif budget is not None:
                how = f"--length {one.id}=MM holds it to the board's share of the loss"
                words = LineReason(f"{one.title} loss", "ranks only: no length is known", "assumption", how)
            reasons.append(words)
        goals.append(goal)
        ids[goal.name] = ids[outer_name(goal.name)] = one.id
    if not goals:
        what = "none: laminate, foil and impedance are free"
        how = "neither profile nor board names one: --interface pcie5 does"
        if any(reason.value.startswith(NOT_SOUGHT) for reason in reasons):
            how = "those that are named set none"
        reasons.append(LineReason("high-speed interfaces", what, "assumption", how))
    return GoalLines(tuple(goals), ids, tuple(reasons))


def _not_sought(one: Interface) -> LineReason:
    """Say of an interface whose lines a stackup is not sought for where its widths come from.

    An empty board has no planes yet: the command names the layer and the plane.
    """
    command = f"stackwright impedance --interface {one.id} --layer F.Cu --reference In1.Cu"
    value = f"{NOT_SOUGHT}: `{command}` finds them in the board's folder"
    return LineReason(f"{one.title} widths", value, "assumption", "it sets no laminate or foil")


NOT_SOUGHT = "not sought"
"""How the value of a reason begins that says so of an interface's widths."""

_LENGTH = {"user": "your choice", "board": "its longest link"}


def _target(one: Interface, ctx: Context | None) -> tuple[Target | None, str]:
    """Return the impedance, and its source where that is the board and not the interface."""
    usual = _usual_target(one)
    nets = set(ctx.nets_of(one.id).tolist()) if ctx else set()
    asked = {which: len(nets.intersection(of)) for which, of in ctx.get(nets_by_target).items()} if ctx and nets else {}
    most = max(asked, key=lambda which: (asked[which], -which.ohm), default=None)
    if most is None or not asked[most]:
        return usual, ""
    own = Target(ohm=most.ohm, kind=most.kind)
    return (usual, "") if own == usual else (own, most.source)


def _usual_target(one: Interface) -> Target | None:
    if one.impedance_diff_ohm is not None:
        return Target(ohm=one.impedance_diff_ohm, kind="differential")
    if one.impedance_single_ohm is not None:
        return Target(ohm=one.impedance_single_ohm, kind="single")
    return None


def _longest(one: Interface, ctx: Context | None, choices: GoalChoices) -> tuple[float | None, str]:
    if one.id in choices.longest_mm:
        return choices.longest_mm[one.id], "user"
    if ctx is None:
        return None, ""
    lengths = [link.length_mm for link in ctx.get(board_links).of_nets(ctx.nets_of(one.id).tolist())]
    if not any(lengths):
        return None, ""
    return round(max(lengths), 1), "board"


@record
class _Share:
    """A board's share of an interface's loss: dB, role, document, and what of it is not the board's, by name."""

    db: float
    role: str
    document: str | None
    allowances_db: Mapping[str, Interval]


def _budget(
    one: Interface, form: Form | None, ctx: Context | None, max_stub_mm: float | None
) -> tuple[float | None, LineReason]:
    """Return the board's share for its lines; None where no share is known, or where other parts take all of it.

    Allowances are taken off, and what the vias and pins of a board's worst link lose.
    """
    goal = f"{one.title} loss"
    try:
        share = _share(one, form, ctx)
    except MissingFact as fact:
        return None, LineReason(goal, "ranks only", "assumption", fact.what)
    if share is None:
        free = ctx is None and form is None and bool(one.board_loss_db)
        why = "--form NAME decides the board's share" if free else "no document states this board's share"
        return None, LineReason(goal, "ranks only", "assumption", why)
    parts = {part: each.nominal for part, each in share.allowances_db.items()}
    left = share.db - sum(parts.values())
    if left <= 0:
        return None, LineReason(goal, "ranks only", "assumption", "package and connector take the whole share")
    holes_db, unknown = _holes_db(one, ctx, left, max_stub_mm) if ctx else (0.0, "")
    total = f"{share.db:g} dB {'' if share.role == 'declared' else 'of '}{share.role.replace('_', ' ')}"
    less = "".join(f" less {db:g} dB {part}" for part, db in parts.items())
    if left - holes_db <= 0:
        much = f"{holes_db:.2f} dB" if holes_db < BOUND_DB else f"over {BOUND_DB:g} dB"
        why = f"the vias of its worst link alone lose {much}, of {total}{less}: backdrill them or shorten their stubs"
        return None, LineReason(goal, "ranks only", "assumption", why)
    less += f" less {holes_db:.2f} dB vias" if holes_db >= LEAST_SAID_DB else unknown
    left -= holes_db
    return round(left, 3), _reason(goal, f"{left:.2f} dB of lines ({total}{less})", share.document or ENGINEERING)


def _share(one: Interface, form: Form | None, ctx: Context | None) -> _Share | None:
    """Return a board's share, or that of the form factor; raises `MissingFact` where its role is not known."""
    if ctx is not None:
        rows = declarations_by_net(ctx)
        declared = next((rows[net] for net in ctx.nets_of(one.id).tolist() if net in rows), None)
        found = share_of(ctx, one, declared)
        return None if found is None else _Share(found.db, found.role, found.document, found.allowances_db)
    role = role_of_form(form, one)
    if role is None or role not in one.board_loss_db or unstated_parts(one.id, role):
        return None
    document = one.document_of(f"board_loss_db.{role}")
    return _Share(one.board_loss_db[role], role, document, assumed_allowances(one.id, role))


def _holes_db(one: Interface, ctx: Context, left_db: float, max_stub_mm: float | None) -> tuple[float, str]:
    """Return what the vias and pins lose on the link that has least left for a mm of its lines.

    Stubs that are to be backdrilled count as cut. Where no link's holes are known, words that say so.
    """
    found = interface_holes(ctx, one, max_stub_mm)
    routed = [link for link in found.known if link.length_mm > 0]
    if not routed:
        return 0.0, f", vias not counted: {found.missing[0].what}" if found.missing else ""
    worst = min(routed, key=lambda link: ((left_db - link.holes.total_db.nominal) / link.length_mm, link.name))
    return worst.holes.total_db.nominal, ""


def _reason(goal: str, value: str, document: str) -> LineReason:
    if document == ENGINEERING:
        return LineReason(goal, value, "assumption", "engineering knowledge; no document was found")
    known = documents().get(document)
    words = f"{known.publisher}: {known.title}" if known and known.publisher else document
    return LineReason(goal, value, "user" if document == "declared" else "clause", words)


def gap_per_width(ctx: Context | None) -> float | None:
    """Return gap over width as most pairs of a board are routed; None where none is."""
    lengths: dict[float, float] = {}
    for found in ctx.get(controlled_lines) if ctx else ():
        line = found.line
        if line.gap_mm and line.width_mm:
            ratio = rounded_gap_per_width(line.width_mm, line.gap_mm)
            lengths[ratio] = lengths.get(ratio, 0.0) + line.length_mm
    return max(lengths, key=lambda one: (lengths[one], -one), default=None)

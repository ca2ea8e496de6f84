"""Which links are judged by their loss, by which clause, and where the user has to state a share of the budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from drc_rules.analysis.loss.link_loss import LinkLoss, LinkLosses
from drc_rules.analysis.loss.loss_shares import declaration_lines, documented_share, form_of, share_of
from drc_rules.analysis.targets.configured_geometries import leading_somewhere
from drc_rules.facts.context import Context
from drc_rules.facts.declared_nets import without_nets
from drc_rules.facts.guesses import generation_of
from drc_rules.requirements.documents import document
from drc_rules.requirements.interfaces import Interface, family, interface, interface_ids
from drc_rules.requirements.profiles.profile import load_profile
from drc_rules.settings.config import InterfaceDeclaration
from drc_rules.settings.net_selection import chosen_nets
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record

SHARE, ASSUMED = "link_loss", "link_loss_assumed"

LOSSY_FROM_GHZ = 10.0
"""From this Nyquist frequency the requirement documents call for low-loss laminates: there a board's loss matters even
where no document says how much of it is the board's."""


@record
class JudgedLinks:
    """The links of an interface, declared or inferred; `row` is their declaration, None for inferred ones."""

    interface: Interface
    declared: bool
    row: InterfaceDeclaration | None
    nets: frozenset[int]


def judged_links(ctx: Context) -> Iterator[tuple[JudgedLinks, str]]:
    """Yield the links whose loss is checked, interface by interface, with the kind of clause that judges them."""
    for interface_id in ctx.assignment.fast_interfaces():
        one = interface(interface_id)
        for declared in (True, False):
            nets = LinkLosses(ctx).nets_of(interface_id, declared=declared)
            for row, chosen in _by_row(ctx, interface_id, nets, declared=declared):
                found = JudgedLinks(one, declared, row, chosen)
                kind = _clause_kind(ctx, found)
                if one.nyquist_ghz and kind is not None:
                    yield found, kind


def open_links(ctx: Context) -> Iterator[tuple[MissingFact, str]]:
    """Yield why the links of a declaration are not judged, with the kind of clause that would judge them.

    It matches no net of the board, or names a family without its generation.
    """
    rows = ctx.declarations.config.interface
    for row in (row for row in rows if row.is_ in interface_ids()):
        kind = _strictest(ctx, [row], [interface(row.is_)])
        if kind and not chosen_nets(ctx.board, row.net_classes, row.nets):
            yield without_nets(row), kind
    for family_id in ctx.assignment.families_without_generation():
        declared = [row for row in rows if row.is_ == family_id] if _is_declared(ctx, family_id) else []
        if kind := _strictest(ctx, declared, family(family_id).interfaces):
            yield generation_of(ctx, family_id), kind


def _strictest(ctx: Context, rows: Iterable[InterfaceDeclaration], choices: Iterable[Interface]) -> str | None:
    """Return the kind of clause that judges declared links which may be of any of the interfaces."""
    choices = [one for one in choices if one.nyquist_ghz]
    links = (JudgedLinks(one, declared=True, row=row, nets=frozenset()) for row in rows for one in choices)
    kinds = {_clause_kind(ctx, each) for each in links}
    return next((kind for kind in (SHARE, ASSUMED) if kind in kinds), None)


def _is_declared(ctx: Context, family_id: str) -> bool:
    """Tell whether nets that lead somewhere are declared as a family, their generation left open."""
    nets = (
        net
        for net, role in enumerate(ctx.assignment.roles)
        if role and (role.family, role.interface) == (family_id, None)
    )
    return any(ctx.assignment.is_declared(net) for net in leading_somewhere(ctx).intersection(nets))


def _by_row(
    ctx: Context, interface_id: str, nets: tuple[int, ...], *, declared: bool
) -> Iterator[tuple[InterfaceDeclaration | None, frozenset[int]]]:
    """Yield nets by the declaration that decides on them: each may state another role."""
    of = family(interface(interface_id).family)
    words = (interface_id, *([of.id] if of.only else []))
    rows = [row for row in ctx.declarations.config.interface if row.is_ in words] if declared else []
    groups: dict[int, set[int]] = {}
    for net in nets:
        row = LinkLosses(ctx).rows.get(net)
        groups.setdefault(rows.index(row) if row in rows else 0, set()).add(net)
    for index, chosen in sorted(groups.items()):
        yield (rows[index] if rows else None), frozenset(chosen)


def _clause_kind(ctx: Context, found: JudgedLinks) -> str | None:
    """Return the kind of clause that judges the links: an error needs declared nets and a share that a document states.

    None where no document states a share for this board and the loss is not checked either.
    """
    one = found.interface
    try:
        share = share_of(ctx, one, found.row)
    except MissingFact:
        form = form_of(ctx)
        documented = any(documented_share(one, role, form) for role in one.board_loss_db)
        return SHARE if found.declared and documented else ASSUMED
    if share is None:
        return ASSUMED if _share_is_asked(ctx, found) else None
    return SHARE if found.declared and share.surely_db is not None else ASSUMED


def _share_is_asked(ctx: Context, found: JudgedLinks) -> bool:
    """Tell whether links without a published share are checked at all.

    They are where the user or the workload says that they are of the interface, and where its loss is what limits it:
    a share is published for other boards of its family, or it is serial and so fast that laminates matter.
    """
    one = found.interface
    carried = ctx.profile
    expected = carried is not None and one.id in load_profile(carried).interfaces.values()
    of = family(one.family)
    serial = not of.single_ended and (one.nyquist_ghz or 0.0) >= LOSSY_FROM_GHZ
    return (found.declared or expected) and (serial or bool(one.board_loss_db))


def share_missing(ctx: Context, found: JudgedLinks, worst: LinkLoss | None) -> MissingFact:
    """Return the fact that only the user can give: what the board may lose where nothing is published.

    Args:
        ctx: the board and its facts.
        found: the links.
        worst: the one that loses most, None where no loss is known.
    """
    one = found.interface
    published = f"none is published{_for_role(found)}"
    if guides := "; ".join(_of_guides(one)) if found.row is None or found.row.role is None else "":
        published = f"none is published for such a board; {guides}"
    name = f"the board's share of the loss budget of {one.title} ({published})"
    if worst is not None:
        total = worst.total_db
        most = f"{total.high:.1f}" if total.high < 999 else "far more"
        name += f": {worst.name} loses {total.nominal:.1f} dB, {total.low:.1f} to {most}"
    asked = f'board_loss_db = "?"  # at {one.nyquist_ghz:g} GHz: from its specification or your channel simulation'
    return MissingFact(name, declaration_lines(ctx, one, found.row, asked))


def _of_guides(one: Interface) -> Iterator[str]:
    """Yield the shares that guides to boards for one module state."""
    for role, db in one.board_loss_db.items():
        stands_in = document(one.document_of(f"board_loss_db.{role}"))
        if stands_in is not None:
            yield f'role = "{role}" takes the {db:g} dB of {stands_in.title}'


def _for_role(found: JudgedLinks) -> str:
    return f" for role {found.row.role}" if found.row and found.row.role else ""

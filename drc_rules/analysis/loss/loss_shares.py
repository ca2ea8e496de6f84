"""A board's share of an interface's loss budget: which share holds for this board, and what it holds besides copper."""

from collections.abc import Iterator, Mapping

from pydantic import Field

from drc_rules.analysis.loss.share_rows import (
    assumed_allowances,
    holds_on,
    role_by_form,
    roles_to_choose,
    unstated_parts,
)
from drc_rules.facts.context import Context
from drc_rules.requirements.forms import Form, load_form
from drc_rules.requirements.interfaces import Interface, family, interface, interface_ids
from drc_rules.requirements.interfaces.model import ENGINEERING
from drc_rules.requirements.profiles.profile import load_profile
from drc_rules.settings import FILE_NAME
from drc_rules.settings.config import OF_A_LINK, InterfaceDeclaration
from drc_rules.settings.net_selection import chosen_nets, nets_line, toml_value
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.interval import ZERO, Interval
from stackup_lib.core.record import record

ADD_IN_CARD = "add_in_card"
DIRECT = "direct"
"""Role of a link between two parts of one board."""

CARD_EDGE = "x1 to x16 edge"
"""Connector of the form factors that are PCIe add-in cards."""

DECLARED_PARTS = ("package", "connector")
"""Parts of a share with a key of their own in `[[interface]]`: `package_loss_db`, `connector_loss_db`."""

MARGIN = "margin"
"""Part of a share that a document leaves for what a design meets besides: who knows better states `board_loss_db`."""


class Share(Frozen):
    """What a board may lose of an interface's budget.

    Attributes:
        role: which board of the channel it is, as in `Interface.board_loss_db`; "declared" where the user gives the dB.
        db: the share at the Nyquist frequency, allowances included.
        document: key of the document it stands in; "declared" for the user's own, None for engineering knowledge.
        surely_db: share that a document states for the role on such a board at this Nyquist frequency: its own, or of
            an engineering value that of a slower link, which a faster one does not exceed; None where there is none.
            Only what is beyond it can be an error.
        allowances_db: what of it belongs to package, connector, module or margin, by name.
        assumed: names of the allowances that are not declared.
        from_form: the role follows from the form factor, it is not declared for these nets.
    """

    role: str
    db: float
    document: str | None
    surely_db: float | None = None
    allowances_db: Mapping[str, Interval] = Field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    from_form: bool = False

    @property
    def allowance_db(self) -> Interval:
        """All allowances together."""
        total = ZERO
        for one in self.allowances_db.values():
            total = total.plus(one)
        return total

    @property
    def board_db(self) -> Interval:
        """What is left for the board's copper: least where the allowances are most."""
        parts = self.allowance_db
        return Interval(low=self.db - parts.high, nominal=self.db - parts.nominal, high=self.db - parts.low)

    @property
    def describe(self) -> str:
        """`9.5 dB of an add-in card`."""
        kind = "declared" if self.role == "declared" else f"for role {self.role}"
        return f"{self.db:g} dB {kind}"


def share_of(ctx: Context, one: Interface, row: InterfaceDeclaration | None) -> Share | None:
    """Return a board's share of an interface's budget; None where no document states one for its role.

    Args:
        ctx: the board and its facts.
        one: the interface.
        row: how its nets were declared, None where they were only inferred.

    Raises:
        MissingFact: which board of the channel this is, is not known, or what else the share holds; or more is declared
            than the channel has.
    """
    if row is not None and row.board_loss_db is not None:
        declared = _declared_allowances(row)
        db = row.board_loss_db
        _need_part_of_channel(one, db)
        return Share(role="declared", db=db, document="declared", surely_db=db, allowances_db=declared)
    if not one.board_loss_db:
        return None
    said = row.role if row else None
    form = form_of(ctx)
    followed = role_of_form(form, one)
    role = said or followed
    if role is None and not roles_to_choose([one], form):
        return None
    if role is None or role not in roles_of(one):
        raise MissingFact(f"role of this board in the {one.title} channel", _ask_role(ctx, one, row))
    if role not in one.board_loss_db:
        return None
    assumed = assumed_allowances(one.id, role)
    declared = _declared_allowances(row) if row else {}
    _need_parts(ctx, one, row, role)
    own = one.document_of(f"board_loss_db.{role}")
    documented = documented_share(one, role, form)
    return Share(
        role=role,
        db=one.board_loss_db[role],
        document=None if own == ENGINEERING else own,
        surely_db=documented.db if documented else None,
        allowances_db={**assumed, **declared},
        assumed=tuple(part for part in assumed if part not in declared),
        from_form=said is None and followed is not None,
    )


def role_notes(ctx: Context) -> Iterator[str]:
    """Yield a note for each `[[interface]]` whose role has more than the board that the form factor makes of it.

    Links between two parts of a card are no less on it, and not of another board. So do keys of a loss that is not
    judged at all, because the interface is slow.
    """
    form = form_of(ctx)
    for number, row in enumerate(ctx.declarations.config.interface, start=1):
        if row.is_ not in interface_ids():
            continue  # a family whose generation is open has no budget
        one = interface(row.is_)
        where = f"{FILE_NAME}, [[interface]] {number} ({row.is_}): "
        if idle := [key for key in OF_A_LINK if getattr(row, key) is not None and not family(one.family).fast]:
            yield f"{where}{', '.join(idle)} without effect: {one.title} is too slow for its loss to be judged"
            continue
        said, own, follows = row.role, one.board_loss_db.get(row.role or ""), role_of_form(form, one)
        share = one.board_loss_db.get(follows or "")
        if form is None or row.board_loss_db is not None or own is None or share is None or said in (DIRECT, follows):
            continue
        if own > share:
            yield (
                f'{where}role = "{said}" has {own:g} dB; the form factor is {form.title}, which has {share:g} dB '
                f"as {follows}"
            )


def _need_part_of_channel(one: Interface, db: float) -> None:
    """Raise `MissingFact` where a board's declared share is more than a document gives the whole channel."""
    whole = one.channel_loss_db
    if whole is not None and db > whole and one.document_of("channel_loss_db") != ENGINEERING:
        name = (
            f"the board's share of the loss budget of {one.title} ({db:g} dB declared, {whole:g} dB the whole channel)"
        )
        raise MissingFact(
            name, "correct board_loss_db in stackwright.toml: of this board alone, at the Nyquist frequency"
        )


def _need_parts(ctx: Context, one: Interface, row: InterfaceDeclaration | None, role: str) -> None:
    """Raise `MissingFact` where a share holds parts of which no text states the loss, and the user does not either."""
    declared = _declared_allowances(row) if row else {}
    missing = [part for part in unstated_parts(one.id, role) if part not in declared]
    if missing:
        name = f"loss of {' and '.join(missing)} in the {one.board_loss_db[role]:g} dB of {one.title} for role {role}"
        keys = "\n".join(f'{part}_loss_db = "?"  # of all together; no text states it' for part in missing)
        raise MissingFact(name, declaration_lines(ctx, one, row, keys))


@record
class DocumentedShare:
    """A share that a document states, and the interface of which it states it."""

    db: float
    document: str
    interface: Interface


def documented_share(one: Interface, role: str, form: Form | None) -> DocumentedShare | None:
    """Return what a document states of a role: for the interface, else for a slower one at the same Nyquist frequency.

    A guide to the boards of one module states nothing of a board of another form factor.
    That is an earlier generation, or the link whose electrical layer it has: PCIe Gen6 loses what Gen5 does and needs
    more signal. Of another family with another layer a document states nothing.
    """
    generations = family(one.family).interfaces
    earlier = generations[: [each.id for each in generations].index(one.id)]
    layer = interface(one.electrical_layer) if one.electrical_layer else None
    own_family = [each for each in generations if each.id in one.at_least_as]
    others = (*reversed(earlier), *([layer] if layer else []), *own_family)
    for each in (one, *(other for other in others if other.nyquist_ghz == one.nyquist_ghz)):
        document = each.document_of(f"board_loss_db.{role}")
        if role in each.board_loss_db and document != ENGINEERING and holds_on(document, form):
            return DocumentedShare(each.board_loss_db[role], document, each)
    return None


def roles_of(one: Interface) -> tuple[str, ...]:
    """Return the roles that boards have in channels of an interface's family, in the order of its generations."""
    return tuple(dict.fromkeys(role for each in family(one.family).interfaces for role in each.board_loss_db))


def role_of_form(form: Form | None, one: Interface) -> str | None:
    """Return what a board of a form factor is in an interface's channel; None where that is a question."""
    if form is None:
        return None
    if form.connector == CARD_EDGE and ADD_IN_CARD in roles_of(one):
        return ADD_IN_CARD
    role = role_by_form().get(form.name)
    return role if role in one.board_loss_db else None


def form_of(ctx: Context) -> Form | None:
    """Return the form factor that is declared or that the profile brings; None for none."""
    name = ctx.form
    if name is None and ctx.profile:
        name = load_profile(ctx.profile).form
    return load_form(name) if name else None


def declaration_lines(ctx: Context, one: Interface, row: InterfaceDeclaration | None, asked: str) -> str:
    """Return an `[[interface]]` table with what is stated now, for the same nets, and room for one more key."""
    if row is not None:
        chosen = {"net_classes": list(row.net_classes), "nets": list(row.nets)}
        said = row.model_dump(include=set(OF_A_LINK), exclude_none=True)
        kept = {key: said[key] for key in OF_A_LINK if key in said and not asked.startswith(f"{key} ")}
        lines = [f"{key} = {toml_value(value)}" for key, value in (chosen | kept).items() if value != []]
    else:
        nets = ctx.nets_of(one.id).tolist()
        lines = [nets_line(ctx.board, nets)] if nets else ['nets = ["?"]']
    named = f'is = "{one.id}"' if row is not None else f'is = "?"  # inferred: {one.id}'
    return "\n".join(["[[interface]]", named, *lines, asked])


def declarations_by_net(ctx: Context) -> Mapping[int, InterfaceDeclaration]:
    """Return the `[[interface]]` that decides on each net: the last one that chooses it."""
    board = ctx.board
    return {
        net: row for row in ctx.declarations.config.interface for net in chosen_nets(board, row.net_classes, row.nets)
    }


def _ask_role(ctx: Context, one: Interface, row: InterfaceDeclaration | None) -> str:
    further = [role for role in roles_of(one) if role not in one.board_loss_db]
    choices = roles_to_choose([one], form_of(ctx))
    unpublished = f"; no share is published for {', '.join(further)}" if further else ""
    return declaration_lines(ctx, one, row, f'role = "?"  # {choices}{unpublished}')


def _declared_allowances(row: InterfaceDeclaration) -> dict[str, Interval]:
    stated = {"package": row.package_loss_db, "connector": row.connector_loss_db}
    return {part: Interval.exact(db) for part, db in stated.items() if db is not None}

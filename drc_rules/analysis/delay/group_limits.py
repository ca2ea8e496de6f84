"""What limits the skew within a group of nets of a memory or a parallel link."""

from __future__ import annotations

from drc_rules.facts.context import Context
from drc_rules.facts.guesses import generation_of
from drc_rules.facts.net_interfaces import NetRole
from drc_rules.requirements.interfaces import family, interface
from drc_rules.settings.config import InterfaceDeclaration
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record


@record
class GroupLimit:
    """The largest difference in a group.

    Attributes:
        ps: it; 0 where none is known.
        document: key of what states it, "" where the user declares it.
        of: the generation that it is stated for, where none is for the nets' own; else "".
        open_for: what leaves open whether a group within it is good, where it is stated for another generation.
    """

    ps: float
    document: str = ""
    of: str = ""
    open_for: MissingFact | None = None


def byte_limit(row: InterfaceDeclaration | None, role: NetRole) -> GroupLimit:
    """Return the limit of data to their strobe: as declared, else the widest that a controller's guide allows.

    Of a generation without a guide it is the widest of its family, which proves nothing of a group within it.
    """
    if row is not None and row.group_skew_ps:
        return GroupLimit(row.group_skew_ps)
    found = _widest(role, "group_skew_ps")
    if role.interface and (found.of or not found.ps):
        title = interface(role.interface).title
        fact = MissingFact(
            f"by how much data of {title} may differ from their strobe: no guide here limits it",
            'in the [[interface]] of these nets: group_skew_ps = "?"  # from the guide of your controller',
        )
        return GroupLimit(found.ps, found.document, found.of, fact)
    return found


def pair_limit(role: NetRole) -> GroupLimit:
    """Return the limit between both traces of a strobe or clock: the widest of its generation, else of its family."""
    return _widest(role, "skew_ps")


def address_limit(ctx: Context, row: InterfaceDeclaration | None, role: NetRole) -> GroupLimit:
    """Return the limit of address and command to their clock: as declared, else the widest that a guide allows.

    Of an unknown generation that is the widest of the family, which proves nothing of a bus within it.
    """
    if row is not None and row.address_skew_ps:
        return GroupLimit(row.address_skew_ps)
    found = _widest(role, "address_skew_ps")
    if role.interface:
        return found
    of = max(family(role.family).interfaces, key=lambda one: one.address_skew_ps or 0.0).title
    return GroupLimit(found.ps, found.document, of, generation_of(ctx, role.family))


def _widest(role: NetRole, field: str) -> GroupLimit:
    own = (interface(role.interface),) if role.interface else family(role.family).interfaces
    for choices in (own, family(role.family).interfaces):
        found = [one for one in choices if getattr(one, field)]
        if found:
            widest = max(found, key=lambda one: float(getattr(one, field)))
            of = "" if choices is own else widest.title
            return GroupLimit(float(getattr(widest, field)), widest.document_of(field), of)
    return GroupLimit(0.0)

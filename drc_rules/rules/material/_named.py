"""Does a requirement name a laminate?"""

from __future__ import annotations

from drc_rules.clauses import Clause
from drc_rules.context import Context
from drc_rules.dielectrics import DielectricPly
from stackup_lib.materials import catalogue


def is_named(ctx: Context, ply: DielectricPly, clause: Clause) -> bool:
    """Return True when the clause's row names the ply's laminate; the answer rests on the ply's laminate fact."""
    if not clause.limit.named or not ply.laminate.known:
        return False
    families = {found.laminate.family for name in clause.limit.named if (found := catalogue().find(name)).laminate}
    return ctx.need(ply.laminate).family in families

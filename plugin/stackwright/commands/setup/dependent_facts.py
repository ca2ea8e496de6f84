"""Facts that matter once another is given: `init` lists both at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from drc_rules.analysis.loss.loss_shares import DECLARED_PARTS, form_of, role_of_form
from drc_rules.analysis.loss.share_rows import assumed_allowances, roles_to_choose, unstated_parts
from drc_rules.engine.missing_inputs import FOIL_OF_ALL, TG_OF_ALL
from drc_rules.facts.context import DECLARE_STACKUP, Context
from drc_rules.requirements.interfaces import Interface, family, interface
from drc_rules.settings.toml_blocks import blocks_of


def stackup_facts(context: Context, needed: Sequence[str]) -> tuple[str, ...]:
    """Return tables that ask what comes next: the foil of links with a loss budget, Tg of a stackup still to enter.

    Args:
        context: of the board under its workload.
        needed: lines that supply what is missing now.
    """
    declared = context.declarations.config.declared
    found = []
    if f"# {DECLARE_STACKUP}" in needed and declared.tg_c is None:
        found.append(TG_OF_ALL)
    if declared.foil is None and any(_with_budget(context, block) for block in blocks_of(needed)):
        found.append(FOIL_OF_ALL)
    return tuple(found)


def with_roles(context: Context, needed: Sequence[str]) -> tuple[str, ...]:
    """Return the needed lines; a table that needs a generation needs the role and the allowances as well."""
    return tuple(line for block in blocks_of(needed) for line in (*block, *_keys_of_a_link(context, block)))


def _keys_of_a_link(context: Context, block: Sequence[str]) -> Iterator[str]:
    budgets = _with_budget(context, block)
    present = {line.partition("=")[0].strip() for line in block}
    form = form_of(context)
    open_ones = [one for one in budgets if tuple(one.board_loss_db) != (role_of_form(form, one),)]
    roles = roles_to_choose(open_ones, form)
    if "role" not in present and roles:
        yield f'role = "?"  # {roles}: what this board is in the channel'
    for part in DECLARED_PARTS:
        charged = [r for one in budgets for r in one.board_loss_db if part in _parts(one, r)]
        if charged and f"{part}_loss_db" not in present:
            yield f'{part}_loss_db = "?"  # its share of the budget, of role {", ".join(dict.fromkeys(charged))}'


def _parts(one: Interface, role: str) -> tuple[str, ...]:
    return (*assumed_allowances(one.id, role), *unstated_parts(one.id, role))


def _with_budget(context: Context, block: Sequence[str]) -> Sequence[Interface]:
    """Return the interfaces that a table may turn out to be about, as far as they have a loss budget."""
    if not block or not block[0].startswith("[[interface]]"):
        return ()
    named = re.search(r'^is = (?:"\?"  # (?:guessed|inferred): (\S+)|"([^?"]+)")', "\n".join(block), re.MULTILINE)
    nets = "\n".join(line for line in block if line.startswith(("net_classes =", "nets =")))
    without = context.assignment.families_without_generation()
    if named:
        possible: Sequence[Interface] = (interface(named[1] or named[2]),)
    else:
        possible = next((family(one).interfaces for one in without if context.assignment_lines(one) == nets), ())
    return [one for one in possible if one.board_loss_db]

"""What a clause that is met on a guess needs before it is proven."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from drc_rules.facts.context import DECLARE_STACKUP, Context
from drc_rules.report.verdicts import Missing
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.interfaces import family, interface
from drc_rules.settings.net_selection import nets_line
from stackup_lib.board.board import Ints
from stackup_lib.core.facts import Confidence, MissingFact


def guesses(ctx: Context, clause: Clause, code: str, recorded: Iterable[MissingFact]) -> tuple[Missing, ...]:
    """Return what would make the answer to a clause sure, never nothing.

    Args:
        ctx: the board and all that is known of it.
        clause: it passed on facts of low confidence.
        code: of its rule.
        recorded: what the rule itself was unsure of.
    """
    found = list(recorded) or list(_general(ctx, clause))
    if not found:
        board = shlex.quote(ctx.board.path.as_posix()) if ctx.board.path else "BOARD"
        hint = f"stackwright explain {code} --board {board} lists them: declare those of low confidence"
        found = [MissingFact(f'surer data for "{clause.title}"', hint)]
    return tuple(Missing(fact=one.name, how_to_give=one.how_to_give) for one in found)


def _general(ctx: Context, clause: Clause) -> Iterable[MissingFact]:
    """What a board leaves to guess: the interface of its nets, or its stackup."""
    guessed = ctx.get(guessed_interfaces)
    if clause.interface in guessed:
        return [guessed[clause.interface]]
    if ctx.board.stackup is None or ctx.is_default_stackup:
        return [MissingFact("the stackup; the general board thickness is used instead", DECLARE_STACKUP)]
    if guessed and clause.interface is None:
        return guessed.values()
    inferred = ctx.get(inferred_interfaces)
    if clause.interface is not None:
        return [inferred[clause.interface]] if clause.interface in inferred else ()
    return [*inferred.values(), *open_generations(ctx)]


def rest_on_assignment(ctx: Context, nets: Ints) -> None:
    """Record that the answer is no surer than the net assignment."""
    guessed = ctx.get(guessed_interfaces)
    for net in nets.tolist():
        confidence, role = ctx.assignment.confidence_of(net), ctx.assignment.role_of(net)
        ctx.rests_on(confidence)
        if confidence is Confidence.LOW and role is not None and role.interface in guessed:
            ctx.doubt(guessed[role.interface])


def guessed_interfaces(ctx: Context) -> Mapping[str | None, MissingFact]:
    """Return what would make the interface of nets sure that were assigned to it with low confidence, by interface."""
    nets: dict[str, list[int]] = {}
    for net, role in enumerate(ctx.assignment.roles):
        if role and role.interface and role.confidence is Confidence.LOW and family(role.family).fast:
            nets.setdefault(role.interface, []).append(net)
    return {one: _guessed(ctx, one, of) for one, of in nets.items()}


def inferred_interfaces(ctx: Context) -> Mapping[str | None, MissingFact]:
    """Return what would declare the high-speed nets that are not declared, by interface: only then is an error sure."""
    nets: dict[str, list[int]] = {}
    for net, role in enumerate(ctx.assignment.roles):
        if role and role.interface and not ctx.assignment.is_declared(net) and family(role.family).fast:
            nets.setdefault(role.interface, []).append(net)
    return {one: _guessed(ctx, one, of, "inferred") for one, of in nets.items()}


def open_generations(ctx: Context) -> list[MissingFact]:
    """Return the missing generations of high-speed families and of memories."""
    of = ctx.assignment
    return [generation_of(ctx, one) for one in (*of.families_without_generation(), *of.memories_without_generation())]


def generation_of(ctx: Context, family_id: str) -> MissingFact:
    """Return the missing generation of a family's nets."""
    of = family(family_id)
    choices = ", ".join(one.id for one in of.interfaces)
    how = f'[[interface]]\nis = "?"  # {choices}\n{ctx.assignment_lines(family_id)}'
    return MissingFact(f"generation of {of.title}", how)


def _guessed(ctx: Context, interface_id: str, nets: list[int], how: str = "a guess") -> MissingFact:
    role = ctx.assignment.role_of(nets[0])
    why = f", because {role.why}" if role else ""
    count = f"{len(nets)} net" + ("" if len(nets) == 1 else "s")
    comment = f"{'guessed' if how == 'a guess' else how}: {interface_id}"
    lines = f'[[interface]]\nis = "?"  # {comment}\n{nets_line(ctx.board, nets)}'
    return MissingFact(f"interface of {count}: {interface(interface_id).title} is {how}{why}", lines)

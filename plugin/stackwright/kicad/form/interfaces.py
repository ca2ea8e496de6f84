"""Questions about nets: which generation they are, and which board of the channel this is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import tomli

from drc_rules.analysis.loss.loss_shares import roles_of
from drc_rules.analysis.targets.unknown_pairs import unknown_pairs
from drc_rules.facts.context import Context
from drc_rules.facts.guesses import generation_of, guessed_interfaces, inferred_interfaces
from drc_rules.requirements.interfaces import family, interface, interface_ids
from drc_rules.settings.config import InterfaceDeclaration
from stackup_lib.core.record import record
from stackwright.kicad.form import catalogue
from stackwright.kicad.form.model import FormChoice, FormField, FormQuestion
from stackwright.kicad.form.waits import Waiting, choosers_of
from stackwright.text.words import sentence


@record
class _Nets:
    """Nets whose interface is not declared.

    Attributes:
        title: what they are, in a few words.
        now: what they are assigned to at present.
        hint: how the interface is given, in TOML.
        ids: interfaces that they may be.
        is_open: nothing says which of them it is.
        is_one_family: they are generations of one standard.
    """

    title: str
    now: str
    hint: str
    ids: tuple[str, ...]
    is_open: bool = True
    is_one_family: bool = True


def interface_questions(context: Context, waiting: Waiting) -> Iterator[FormQuestion]:
    """Return questions for unknown generations, guesses and missing roles."""
    asked = set()
    for nets in _undeclared(context):
        chosen = _choosers(nets.hint)
        fact = f"interface {choosers_of(nets.hint.splitlines())}"
        if fact in asked or not (nets.is_open or waiting.clauses(fact, f"{fact} role")):
            continue
        asked.add(fact)
        generation = FormField(
            key="is", label="Interface", kind="interface", is_needed=True, choices=catalogue.generations(nets.ids)
        )
        roles = _roles(nets.ids) if nets.is_one_family else ()
        yield FormQuestion(
            id=fact,
            part="Interfaces",
            title=nets.title,
            fields=(generation, *([_role(roles)] if roles else [])),
            now=nets.now,
            decides=waiting.words(fact, f"{fact} role", otherwise="What is required of these nets depends on it."),
            clauses=waiting.clauses(fact, f"{fact} role"),
            array="interface",
            match=chosen,
        )
    for row in context.declarations.config.interface:
        if question := _role_of(row, waiting):
            yield question


def _undeclared(context: Context) -> Iterator[_Nets]:
    of_board = context.assignment
    for one in (*of_board.families_without_generation(), *of_board.memories_without_generation()):
        of = family(one)
        hint = generation_of(context, one).how_to_give
        now = "Neither class names nor net names tell the generation."
        yield _Nets(f"Generation of {of.title}", now, hint, tuple(each.id for each in of.interfaces))
    for known in (guessed_interfaces, inferred_interfaces):
        for name, missing in context.get(known).items():
            ids = tuple(each.id for each in family(interface(name or "").family).interfaces)
            title = f"Nets detected as {interface(name or '').title}"
            yield _Nets(title, f"{sentence(missing.name)}.", missing.how_to_give, ids, is_open=False)
    unknown = context.get(unknown_pairs).missing
    if unknown is not None:
        now = "No class name and no net name tells what they are."
        yield _Nets(sentence(unknown.fact), now, unknown.how_to_give, tuple(interface_ids()), is_one_family=False)


def _choosers(hint: str) -> dict[str, tuple[str, ...]]:
    """Return the keys that choose the nets, of the first table of a hint."""
    (row,) = tomli.loads(hint)["interface"]
    return {key: tuple(row[key]) for key in ("net_classes", "nets") if key in row}


def _roles(ids: Sequence[str]) -> tuple[str, ...]:
    """Return the roles that a board may have, where there is a choice."""
    found = list(dict.fromkeys(role for one in ids for role in roles_of(interface(one))))
    return tuple(found) if len(found) > 1 else ()


def _role(roles: Sequence[str]) -> FormField:
    choices = tuple(FormChoice(value=role, note=role.replace("_", " ")) for role in roles)
    return FormField(
        key="role", label="This board in the channel (for the loss budget)", kind="choice", choices=choices
    )


def _role_of(row: InterfaceDeclaration, waiting: Waiting) -> FormQuestion | None:
    """Return the question for the role of an interface that is declared without one."""
    match = {"net_classes": row.net_classes, "nets": row.nets}
    chosen = {key: value for key, value in match.items() if value}
    fact = next((f for f in waiting.by_fact if f.endswith(" role") and _is_about(f, chosen)), None)
    if row.role is not None or fact is None or row.is_ not in interface_ids():
        return None
    return FormQuestion(
        id=fact,
        part="Interfaces",
        title=f"Role of this board in {interface(row.is_).title}",
        fields=(_role(roles_of(interface(row.is_))),),
        now="The interface is declared, the role is not.",
        decides=waiting.words(fact),
        clauses=waiting.clauses(fact),
        array="interface",
        match=chosen,
    )


def _is_about(fact: str, chosen: dict[str, tuple[str, ...]]) -> bool:
    """Tell whether a fact is about the nets that a declaration chooses."""
    lines = fact.removeprefix("interface ").removesuffix(" role").split("; ")
    return {key: tuple(value) for key, value in tomli.loads("\n".join(lines)).items()} == chosen

"""What would prove what is not verifiable: the lines to paste into `stackwright.toml`."""

from __future__ import annotations

from collections.abc import Iterable

from drc_rules.context import Context
from drc_rules.engine import Outcome
from drc_rules.interfaces import family
from drc_rules.report import Verdict

MOST_ROWS = 3
"""A fact that is missing of more rows than these is asked for once, for all of them."""

GENERAL = (
    (
        "[declared.dielectric.",
        "tg_c",
        '[declared]\ntg_c = "?"  # by DSC: of every dielectric whose laminate states none',
    ),
    ("[declared.copper.", "foil", '[declared]\nfoil = "?"  # of every copper layer: STD, RTF, LP, VLP or HVLP'),
)


def proofs(context: Context, outcome: Outcome) -> tuple[str, ...]:
    """Return the lines that would prove what is not verifiable, error-tier clauses first, as TOML ready to paste.

    Actions that are no TOML (fill the zones, enter the stackup) come before, as comments.
    """
    declarations = context.declarations
    open_verdicts = [v for v in outcome.verdicts if v.has_rule and v.verdict is Verdict.NOT_VERIFIABLE]
    open_verdicts.sort(key=lambda v: -v.clause.severity.rank)
    hints = list(dict.fromkeys(m.how_to_give for v in open_verdicts for m in v.missing if m.how_to_give))
    if declarations.profile.value is None:
        hints.insert(0, declarations.profile.how_to_give)
        hints += [generation_lines(context, family) for family in context.assignment.families_without_generation()]
    return paste_lines(in_general(dict.fromkeys(hints)))


def in_general(hints: Iterable[str]) -> list[str]:
    """Offer one line for all rows where the same fact is missing of more than a few of them."""
    kept = list(hints)
    for start, key, line in GENERAL:
        rows = [h for h in kept if h.startswith(start) and h.partition("\n")[2].startswith(key)]
        if len(rows) > MOST_ROWS:
            at = kept.index(rows[0])
            kept = [*kept[:at], line, *(h for h in kept[at:] if h not in rows)]
    return kept


def generation_lines(context: Context, family_id: str) -> str:
    """Return the `[[interface]]` table that states the generation of a family's nets."""
    choices = ", ".join(one.id for one in family(family_id).interfaces)
    return f'[[interface]]\nis = "?"  # {choices}\n{context.assignment_lines(family_id)}'


def paste_lines(hints: Iterable[str]) -> tuple[str, ...]:
    """Merge hints into one TOML text: actions as comments, bare keys, then each table once."""
    actions: list[str] = []
    bare: list[str] = []
    tables: dict[str, list[str]] = {}
    repeated: list[str] = []
    for hint in hints:
        head, _, rest = hint.partition("\n")
        if head.startswith("[["):
            repeated += ["", head, *rest.splitlines()]
        elif head.startswith("["):
            rows = tables.setdefault(head, [])
            rows += [line for line in rest.splitlines() if line not in rows]
        elif "=" in head and head.split("=")[0].strip().isidentifier():
            bare.append(head)
        else:
            actions.append(f"# {head}")
    lines = [*actions, *bare]
    for head, rows in tables.items():
        lines += [head, *rows]
    return tuple(line for line in (*lines, *repeated) if line)

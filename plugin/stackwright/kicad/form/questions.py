"""The questions of a checked board: workload, facts of the stackup, interfaces, rails, high-power components."""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.engine.check import CheckUp
from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.requirements.profiles.profile import load_profile
from drc_rules.settings import FILE_NAME
from drc_rules.settings.config import Config, Declared
from stackup_lib.core.facts import Fact, Origin
from stackup_lib.core.record import record
from stackwright.kicad.form import catalogue
from stackwright.kicad.form.interfaces import interface_questions
from stackwright.kicad.form.limits import number
from stackwright.kicad.form.model import FormChoice, FormField, FormQuestion
from stackwright.kicad.form.power import hot_part_questions, rail_questions
from stackwright.kicad.form.waits import Waiting

MATERIAL = "declared.dielectric.{row}.material"


def questions_of(checked: CheckUp) -> tuple[FormQuestion, ...]:
    """Return what the form asks about a board: the facts that it lacks."""
    context, waiting = checked.context, Waiting.of(checked.report.verdicts)
    return (
        *_purpose(context),
        *_stackup(context, waiting),
        *interface_questions(context, waiting),
        *rail_questions(context, waiting),
        *hot_part_questions(context, waiting),
    )


def _purpose(context: Context) -> Iterator[FormQuestion]:
    """Return questions for what is not in the settings: a workload that was chosen in the page is filled in."""
    profile, form = context.purpose.profile, context.purpose.form
    if profile.origin in (Origin.UNKNOWN, Origin.COMMAND_LINE):
        now = _chosen(profile.value, context) if profile.value else f"Not stated in {FILE_NAME}."
        yield FormQuestion(
            id="profile",
            part="Purpose",
            title="Workload",
            fields=(
                FormField(
                    key="profile",
                    label="Workload",
                    kind="workload",
                    value=profile.value or "",
                    choices=catalogue.workloads(),
                ),
            ),
            now=now,
            decides="It decides which requirements apply to the board.",
            tables=((),),
        )
    known = load_profile(profile.value).form if profile.value else None
    if not form.known and known is None:
        yield FormQuestion(
            id="form",
            part="Purpose",
            title="Form factor",
            fields=(FormField(key="form", label="Form factor", kind="form factor", choices=catalogue.form_factors()),),
            now="Neither the settings nor the workload states it.",
            decides="It decides which outline and which thickness the board is held to.",
            tables=((),),
        )


def _chosen(workload: str, context: Context) -> str:
    stated = context.declarations.config.profile
    return f"{workload}, chosen here; {FILE_NAME} " + (f"says {stated}." if stated else "does not state it.")


@record
class _Simple:
    """A fact of the whole stackup."""

    fact: Fact[str] | Fact[float]
    title: str
    field: FormField


def _stackup(context: Context, waiting: Waiting) -> Iterator[FormQuestion]:
    declarations = context.declarations
    if declarations.stale:
        yield _same_stackup(declarations.config, declarations.digest)
        return
    foil = FormField(key="foil", label="Foil or grade", kind="foil", choices=catalogue.foil_names())
    tolerance = "Impedance tolerance, %"
    wanted = [
        _Simple(
            declarations.impedance_tolerance_pct,
            "Impedance tolerance ordered from the fab",
            number(Declared, "impedance_tolerance_pct", tolerance),
        ),
        _Simple(declarations.foil, "Copper foil of every layer", foil),
    ]
    if any(ply.stated and not ply.tg.known for ply in context.plies):
        wanted.append(_Simple(declarations.tg_c, "Tg of every dielectric", number(Declared, "tg_c", "Tg by DSC, C")))
    for one in wanted:
        fact = f"declared.{one.field.key}"
        if one.fact.known or (one.field.key == "foil" and _all_foils(context)):
            continue
        yield FormQuestion(
            id=fact,
            part="Stackup",
            title=one.title,
            fields=(one.field,),
            now=f"Not stated in {FILE_NAME}; KiCad has no field for it.",
            decides=waiting.words(fact),
            clauses=waiting.clauses(fact),
            is_idle=not waiting.clauses(fact),
            tables=(("declared",),),
            is_of_stackup=True,
        )
    yield from _laminates(context, waiting)


def _all_foils(context: Context) -> bool:
    return all(context.foil_name(index).known for index in range(context.board.layer_count))


def _same_stackup(config: Config, digest: str) -> FormQuestion:
    """Ask whether declared facts of another stackup hold for this one."""
    field = FormField(
        key="stackup_hash",
        label="Do they hold for the present stackup?",
        kind="choice",
        choices=(FormChoice(value=digest, note="yes, I have checked each of them"),),
    )
    return FormQuestion(
        id="declared.stackup_hash",
        part="Stackup",
        title="Facts declared for another stackup",
        fields=(field,),
        now=f"{FILE_NAME} states them for the stackup {config.declared.stackup_hash}; this board has {digest}.",
        decides="As long as this is open, all of them count as unknown.",
        tables=(("declared",),),
    )


def _laminates(context: Context, waiting: Waiting) -> Iterator[FormQuestion]:
    """Return questions for the laminate of the rows that lack one: once for all of them, then row by row."""
    rows: dict[str, DielectricPly] = {}
    if context.board.stackup is not None and not context.is_default_stackup:
        for ply in context.plies:
            if not ply.laminate.known or waiting.clauses(MATERIAL.format(row=ply.row)):
                rows.setdefault(ply.row, ply)
    lacking = [row for row, ply in rows.items() if not ply.laminate.known]
    if len(lacking) > 1:
        facts = [MATERIAL.format(row=row) for row in lacking]
        yield FormQuestion(
            id="laminate",
            part="Stackup",
            title=f"Laminate of {len(lacking)} dielectrics",
            fields=(_laminate(),),
            now=_stated([rows[row] for row in lacking]),
            decides=waiting.words(*facts),
            clauses=waiting.clauses(*facts),
            is_idle=not waiting.clauses(*facts),
            tables=tuple(("declared", "dielectric", row) for row in lacking),
            is_of_stackup=True,
        )
    for row, ply in rows.items():
        fact = MATERIAL.format(row=row)
        yield FormQuestion(
            id=fact,
            part="Stackup",
            title=f"Laminate of {row}",
            fields=(_laminate(),),
            now=_stated([ply]),
            decides=waiting.words(fact),
            clauses=waiting.clauses(fact),
            is_idle=not waiting.clauses(fact),
            is_covered=len(lacking) > 1 and row in lacking,
            tables=(("declared", "dielectric", row),),
            is_of_stackup=True,
        )


def _laminate() -> FormField:
    label = "Laminate, with glass style and resin content where known"
    return FormField(key="material", label=label, kind="laminate", choices=catalogue.laminates())


def _stated(plies: list[DielectricPly]) -> str:
    texts = list(dict.fromkeys(ply.stated for ply in plies if ply.stated))
    if not texts:
        return "The stackup in KiCad names no material."
    named = ", ".join(f'"{text}"' for text in texts)
    if all(ply.laminate.known for ply in plies):
        return f"The stackup in KiCad says {named}, without what these requirements need, such as the glass style."
    return f"The stackup in KiCad says {named}, which is no single laminate of the catalogue."

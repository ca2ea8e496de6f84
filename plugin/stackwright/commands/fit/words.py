"""How far a board is from a workload, in a few words: `layers 16 -> 24`, `Df 0.0039 -> 0.002 at 10 GHz`."""

from __future__ import annotations

from drc_rules.report.model import Headline
from drc_rules.requirements.clauses import Severity
from drc_rules.requirements.forms import load_form
from drc_rules.stackup_design.fitness import Fitness, FormOrigin, Shortfall
from stackwright.text.words import count, number, some

AS_A_STEP = {
    "layer_count": "layers",
    "tg": "Tg",
    "laminate_df": "Df",
    "laminate_class": "laminate",
    "foil": "foil",
    "power_copper_oz": "power copper",
    "impedance_tolerance": "impedance tolerance",
    "backdrill": "via stub",
    "via_stub": "via stub",
    "link_loss": "link loss",
    "microvia_stack": "microvia stack",
    "form_thickness": "thickness",
    "form_size": "size",
    "pdn_target_impedance": "PDN impedance",
}
"""Kinds of clauses of which what is found and what is required read as a step from one to the other."""

IN_WORDS = {
    "layer_count_above": "more layers than usual",
    "unexpected_interface": "unexpected interface",
    "stub_resonance": "stub resonance",
    "stub_resonance_worst": "stub resonance",
    "routed_impedance": "routed impedance",
    "interface_present": "interface missing",
    "interface_generation": "interface generation",
}

STEPS_SHOWN = 4
UNITS_LEFT_OUT = ("layers", "foil grade", "loss class")
"""Units that repeat what the label or the frequency says."""


def label(kind: str) -> str:
    """Return what a kind of clause is about."""
    return AS_A_STEP.get(kind) or IN_WORDS.get(kind) or kind.replace("_", " ")


def step(one: Shortfall) -> str:
    """Return what is missing as a step, where both ends are known; else what it is about."""
    name = label(one.kind)
    is_value = one.measured.value if one.measured else None
    asked = one.limit.value if one.limit else None
    if one.kind not in AS_A_STEP or is_value in (None, "") or asked in (None, ""):
        return name
    unit = one.limit.unit.partition(" (")[0] if one.limit else ""
    unit = "" if unit in UNITS_LEFT_OUT or unit.startswith(name) else unit
    at = f" at {one.at_ghz:g} GHz" if one.at_ghz else ""
    return f"{name} {_short(is_value)} -> {number(_short(asked), unit)}{at}"


def _short(value: float | str | None) -> str:
    return f"{value:.4g}" if isinstance(value, float) else f"{value}"


def steps(row: Fitness, severity: Severity = Severity.ERROR) -> list[str]:
    """Return the steps of a severity, each once."""
    return list(dict.fromkeys(step(one) for one in row.short if one.severity is severity))


def open_facts(row: Fitness) -> list[str]:
    """Return the facts that error-tier clauses wait for, what settles most first."""
    return [one.fact for one in row.open if one.errors]


def to_go(row: Fitness) -> str:
    """Return in one line what lies between a board and a workload, or what speaks against one that it is fit for."""
    if row.headline is Headline.NOT_FIT:
        return some(steps(row), STEPS_SHOWN)
    if row.headline is Headline.NOT_PROVEN:
        facts = [fact.partition(": ")[0] for fact in open_facts(row)]  # why each is missing stands below
        if facts:
            return f"not known: {some(facts, 2)}"
        # what has passed on a guess is not proven either, and no fact is missing; nor has a blank board any part
        return f"only guessed: {some(row.unproven, 2)}" if row.unproven else row.why
    advice = steps(row, Severity.WARNING)
    met = f"{count(row.passed, 'requirement')} met" + (
        f", {row.without_rule} have no rule yet" if row.without_rule else ""
    )
    return f"{met}; but {some(advice, STEPS_SHOWN)}" if advice else met


def form_words(row: Fitness) -> str:
    """Return the form factor a workload was judged in, and why in that one."""
    if row.form is None:
        return "in any form factor"
    why = {FormOrigin.DECLARED: "", FormOrigin.PROFILE: "", FormOrigin.SIZE: ", by its outline"}
    return f"as {load_form(row.form).title}{why.get(row.form_origin, '')}"

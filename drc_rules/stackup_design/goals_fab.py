"""Goals that your own fab sets: its limits in `[fab]` take the place of what fabs make in general."""

from __future__ import annotations

from drc_rules.requirements.fabs.holes import drilled_one_mm
from drc_rules.settings.config_fab import FabDeclaration
from drc_rules.stackup_design.goal_work import From, GoalWork
from stackup_lib.synthesis import Goals
from stackup_lib.synthesis.candidates import SIGNAL_OZ


def fab_source(fab: FabDeclaration) -> str:
    """Return where limits of your own fab are stated, with its name."""
    return f"{fab.name or 'your fab'}: [fab] of stackwright.toml"


def fab_goals(work: GoalWork) -> dict[str, float | None]:
    """Return the finest line and gap, the thinnest dielectric, the thickest board and the microvias of your fab."""
    fab = work.fab
    found: dict[str, float | None] = {
        "least_dielectric_mm": fab.dielectric_mm,
        "most_thickness_mm": fab.thickness_mm,
        "max_microvia_ratio": fab.microvia_aspect_ratio,
        "microvia_drill_mm": max(fab.microvia_mm or 0.0, Goals().microvia_drill_mm),
    }
    if fab.dielectric_mm is not None:
        work.say("thinnest dielectric", f"{fab.dielectric_mm:g} mm", From.USER, fab_source(fab))
    if fab.thickness_mm is not None:
        work.say("thickest board", f"{fab.thickness_mm:g} mm", From.USER, fab_source(fab))
    given = {name: value for name, value in found.items() if value is not None}
    return {**given, **_finest(work)}


def least_drill_mm(fab: FabDeclaration) -> float:
    """Return the drill of the smallest plated hole of a fab, wider than finished for the plating; 0 for none stated."""
    return drilled_one_mm(fab.hole_mm) if fab.hole_mm is not None else 0.0


def _finest(work: GoalWork) -> dict[str, float | None]:
    fab, usual = work.fab, Goals()
    inner = fab.track_of(SIGNAL_OZ), fab.space_of(SIGNAL_OZ)
    outer = fab.outer_track_mm, fab.outer_space_mm
    width, gap = inner[0] or usual.least_width_mm, inner[1] or usual.least_gap_mm
    finest = f"{width:g}/{gap:g} mm"
    if not any((*inner, *outer)):
        work.say("finest line and gap", finest, From.ASSUMPTION, "what the best fabs etch in 1/2 oz copper")
        return {}
    outer_width, outer_gap = outer[0] or usual.least_width_mm, outer[1] or usual.least_gap_mm
    words = f"{finest}, on outer layers {outer_width:g}/{outer_gap:g} mm"
    work.say("finest line and gap", words, From.USER, fab_source(fab))
    return {
        "least_width_mm": width,
        "least_gap_mm": gap,
        "least_outer_width_mm": outer_width,
        "least_outer_gap_mm": outer_gap,
    }

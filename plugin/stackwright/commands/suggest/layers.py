"""What becomes of the layers of a board: they stay as laid out, or some move, or there are others; and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drc_rules.stackup_design.kept_layers import layers_in_words
from stackup_lib.core.words import count, listed
from stackup_lib.synthesis import CandidateStackup, Evaluated
from stackup_lib.synthesis.low_impedance import low_impedance_layers
from stackwright.text.places import places

if TYPE_CHECKING:
    from stackwright.commands.suggest.model import Suggested

CARRIES = {"O": "signals", "S": "signals", "F": "high-speed signals", "G": "ground", "P": "power"}


def layer_words(result: Suggested) -> str:
    """Return one sentence on the layers of the new stackups; "" where nothing is laid out."""
    answers = result.answers
    if result.board is None or not answers.ranked:
        return ""
    if answers.keeps_layers:
        return f"new stackups keep the layers as they are laid out, {layers_in_words(_first(result).order.layers)}"
    laid_out = result.found.kept.laid_out if result.found.kept else None
    if laid_out is not None:
        moves = _moves(laid_out.layers, _first(result))
        return f"the layers do not stay as laid out, {layers_in_words(laid_out.layers)}: {answers.why_moved}; {moves}"
    reason = next(one for one in result.found.reasons if one.goal == "layers")
    return f"layers: {reason.value}: {reason.source}" if "not the board's" in reason.value else ""


def low_impedance_words(one: CandidateStackup, finest_mm: float) -> str:
    """Return one sentence on signal layers on which no 50 ohm track fits; "" where there is none."""
    found = low_impedance_layers(one, finest_mm)
    if not found:
        return ""
    ohms = sorted(found.values())
    reach = f"{ohms[0]:.0f}" if round(ohms[0]) == round(ohms[-1]) else f"{ohms[0]:.0f} to {ohms[-1]:.0f}"
    return f"no 50 ohm on {places(tuple(found))}: the finest track, {finest_mm:g} mm, has {reach} ohm"


def rerouted_words(one: Evaluated) -> str:
    """Return one sentence on routed sizes that leave their tolerance; "" where all stay."""
    if not one.rerouted:
        return ""
    leave = "leaves its" if one.rerouted == 1 else "leave their"
    return f"{count(one.rerouted, 'routed size')} {leave} tolerance: route anew."


def _first(result: Suggested) -> CandidateStackup:
    return result.answers.ranked[0].candidate


def _moves(was: str, new: CandidateStackup) -> str:
    """Return which layers carry something else in a new stackup."""
    if len(was) != len(new.copper):
        return f"{len(new.copper)} layers instead of {len(was)}"
    found: dict[str, list[str]] = {}
    for before, after, row in zip(was, new.order.layers, new.copper, strict=True):
        if CARRIES[before] != CARRIES[after]:
            found.setdefault(f"from {CARRIES[before]} to {CARRIES[after]}", []).append(row.name)
    return "; ".join(f"{listed(names)} {words}" for words, names in found.items()) or "no layer moves"

"""Questions about supply rails and high-power components."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from drc_rules.analysis.power.power_rails import largest_power_nets
from drc_rules.analysis.power.rail_inputs import parts_on
from drc_rules.analysis.thermal.hot_parts import candidates
from drc_rules.facts.context import Context
from drc_rules.settings.config_power import RailDeclaration
from drc_rules.settings.config_thermal import Cooling, HotPart, ViaFill
from stackup_lib.board.board import Board
from stackwright.kicad.form.limits import number
from stackwright.kicad.form.model import FormChoice, FormField, FormQuestion
from stackwright.kicad.form.waits import Waiting

NONE_HOT = "none"
"""What is typed where no part of the board is a high-power component."""


def rail_questions(context: Context, waiting: Waiting) -> Iterator[FormQuestion]:
    """Return questions for one more rail, and for what declared ones lack."""
    board, declared = context.board, context.declarations.config.rail
    nets = [net for net in largest_power_nets(board) if net not in {row.net for row in declared}]
    for row in declared:
        fields = [field for field in _of_a_rail(board, row.net) if waiting.clauses(f"rail {row.net}.{field.key}")]
        facts = [f"rail {row.net}.{field.key}" for field in fields]
        if fields:
            yield FormQuestion(
                id=f"rail {row.net}",
                part="Rails",
                title=f"Rail {row.net}",
                fields=tuple(fields),
                now="The rail is declared, without this."
                if row.voltage_v is None
                else f"The rail is declared with {row.voltage_v:g} V, without this.",
                decides=waiting.words(*facts),
                clauses=waiting.clauses(*facts),
                is_idle=not waiting.clauses(*facts),
                array="rail",
                match={"net": row.net},
            )
    if nets:
        yield FormQuestion(
            id="rail",
            part="Rails",
            title="One more supply rail" if declared else "Supply rail",
            fields=_new_rail(board, nets),
            now=f"{len(declared)} declared." if declared else "No rail is declared.",
            decides=waiting.words("rail"),
            clauses=waiting.clauses("rail"),
            is_idle=not waiting.clauses("rail"),
            array="rail",
        )


def _new_rail(board: Board, nets: list[str]) -> tuple[FormField, ...]:
    offered = tuple(FormChoice(value=net) for net in nets)
    by_net = {net: tuple(parts_on(board, net)) for net in nets}
    from_, to, current = (field.model_copy(update={"choices_by": by_net}) for field in _of_a_rail(board, ""))
    return (
        FormField(
            key="net", label="Net", kind="text", is_needed=True, choices=offered, known=tuple(filter(None, board.nets))
        ),
        number(RailDeclaration, "voltage_v", "Voltage, V", is_needed=True),
        current.model_copy(update={"choices_by": {}}),
        from_,
        to,
        FormField(key="core", label="Feeds the core of the accelerator", kind="flag", choices=_yes_no()),
    )


def _of_a_rail(board: Board, net: str) -> tuple[FormField, ...]:
    offered = tuple(FormChoice(value=one) for one in (parts_on(board, net) if net else ()))
    known = tuple(sorted({str(one) for one in board.footprints.reference if one}))
    return (
        FormField(key="from", label="Fed by (parts, with commas)", kind="names", choices=offered, known=known),
        FormField(key="to", label="Loads (parts, with commas)", kind="names", choices=offered, known=known),
        number(RailDeclaration, "current_a", "Current of all loads, A"),
    )


def hot_part_questions(context: Context, waiting: Waiting) -> Iterator[FormQuestion]:
    """Ask which parts give off much heat, and for what declared ones lack."""
    declared = [row for row in context.declarations.config.hot_part if not row.is_open]
    if not declared:
        yield FormQuestion(
            id="hot_part",
            part="High-power components",
            title="High-power components",
            fields=(_refs(context.board), *_cooling()[:2]),
            now="None is declared.",
            decides=waiting.words("hot_part"),
            clauses=waiting.clauses("hot_part"),
            is_idle=not waiting.clauses("hot_part"),
            array="hot_part",
        )
    for ref in [ref for row in declared for ref in row.refs]:
        fields = [field for field in _cooling() if waiting.clauses(f"hot_part {ref}.{field.key}")]
        facts = [f"hot_part {ref}.{field.key}" for field in fields]
        if fields:
            yield FormQuestion(
                id=f"hot_part {ref}",
                part="High-power components",
                title=f"Component {ref}",
                fields=tuple(fields),
                now="The component is declared without this.",
                decides=waiting.words(*facts),
                clauses=waiting.clauses(*facts),
                is_idle=not waiting.clauses(*facts),
                array="hot_part",
                match={"refs": ref},
            )


def _refs(board: Board) -> FormField:
    """The input for references; what is offered are the largest circuits, and that there are none."""
    offered = tuple(FormChoice(value=ref, note="largest land pattern") for ref in candidates(board))
    none = FormChoice(value=NONE_HOT, note="no part of the board")
    known = tuple(sorted({str(one) for one in board.footprints.reference if one}))
    label = f"References, with commas; or {NONE_HOT}"
    return FormField(key="refs", label=label, kind="names", is_needed=True, choices=(*offered, none), known=known)


def _cooling() -> tuple[FormField, ...]:
    return (
        number(HotPart, "power_w", "Power of one, W"),
        FormField(key="cooling", label="Cooling", kind="choice", choices=_words(get_args(Cooling))),
        number(HotPart, "board_w", "Heat through the board, W"),
        FormField(key="via_fill", label="Fill of the thermal vias", kind="choice", choices=_words(get_args(ViaFill))),
        FormField(key="via_capped", label="Thermal vias capped", kind="flag", choices=_yes_no()),
    )


def _words(values: tuple[str, ...]) -> tuple[FormChoice, ...]:
    return tuple(FormChoice(value=value) for value in values)


def _yes_no() -> tuple[FormChoice, ...]:
    return (FormChoice(value="true", note="yes"), FormChoice(value="false", note="no"))

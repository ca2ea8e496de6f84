"""The notes of a fab pack: what a fab usually asks, answered from board file and settings, or open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from drc_rules.analysis.fabrication import fab_size
from drc_rules.analysis.via import build_up
from drc_rules.analysis.via.drilled_holes import drilled_holes
from drc_rules.analysis.via.press_fit import press_fit_parts
from drc_rules.fab_exchange.pack.table import NOT_STATED, FabTable
from drc_rules.facts.context import Context
from drc_rules.requirements.profiles.profile import load_form, load_profile
from drc_rules.settings import FILE_NAME
from drc_rules.settings.declaration import PLACEHOLDER
from stackup_lib.board.board import LayerKind
from stackup_lib.board.stackup import Stackup
from stackup_lib.vias.build_ups import rows_under_microvias


class FabNote(NamedTuple):
    """One question of the fab.

    Attributes:
        answer: `NOT_STATED` where there is no answer.
        origin: the file that answers.
        to_add: table and line of `stackwright.toml` that would answer it; empty where the board file has to.
    """

    item: str
    answer: str
    origin: str
    to_add: tuple[str, str] = ("", "")


BOARD = "board file"
BEVELLED = "bevelled"
"""KiCad's word for an edge connector with a bevel."""
_ORDER = "[order]"
SUBSTITUTION = "substitution of laminates"


def notes_table(ctx: Context, substitution: str = "") -> FabTable:
    """Return the notes: what is required, and what is not stated.

    Args:
        ctx: the board.
        substitution: which laminate may stand in for which, where the order allows any.
    """
    rows = tuple(
        (note.item, substitution if substitution and note.item == SUBSTITUTION else note.answer, note.origin)
        for note in fab_notes(ctx)
    )
    return FabTable(name="notes", title="Notes", head=("item", "required", "stated in"), rows=rows)


def fab_notes(ctx: Context) -> tuple[FabNote, ...]:
    """Return all questions in the order of a fab drawing."""
    stackup = None if ctx.is_default_stackup else ctx.board.stackup
    path = ctx.declarations.config.path
    settings = path.name if path else FILE_NAME
    notes = (
        *_of_board(ctx, stackup),
        *_of_materials(ctx),
        *_of_impedance(ctx),
        *_of_holes(ctx),
        *_of_finish(ctx, stackup),
        *_of_delivery(ctx),
    )
    return tuple(note._replace(origin=settings) if note.origin == FILE_NAME else note for note in notes)


def _of_board(ctx: Context, stackup: Stackup | None) -> Iterator[FabNote]:
    order, thickness = ctx.declarations.config.order, stackup.thickness_mm if stackup else None
    yield _said("IPC-6012 class", order.ipc_class, "ipc_class", '"2"')
    yield _stated("board size", _size(ctx))
    yield _stated("copper layers", str(ctx.board.layer_count))
    yield _vias(ctx)
    yield _stated("finished thickness", None if thickness is None else f"{thickness:.3f} mm over solder mask")
    tolerance = order.thickness_tolerance_pct
    yield _said("thickness tolerance", tolerance and f"within {tolerance:g} %", "thickness_tolerance_pct", "10")
    bow = ctx.declarations.config.fab.bow_twist_pct
    yield _said("bow and twist", bow and f"at most {bow:g} %", "bow_twist_pct", "0.75", "[fab]")


def _size(ctx: Context) -> str | None:
    size = ctx.board.outline.size_mm
    return f"{fab_size.describe((min(size), max(size)))} (box around the outline)" if size and min(size) > 0 else None


def _vias(ctx: Context) -> FabNote:
    """Return HDI class, lamination cycles and stacked microvias; those declared where no via shows them yet."""
    declared = ctx.declarations.config.goals.build_ups
    if declared and not len(ctx.board.vias):
        words = f"no vias yet; {build_up.class_name(declared)} declared, at least {declared + 1} lamination cycles"
        return FabNote("vias", words, FILE_NAME)
    built = build_up.build_up(ctx.board).model_copy(update={"bgas": ()})
    return _stated("vias", build_up.describe(built, len(ctx.board.vias)))


def _of_materials(ctx: Context) -> Iterator[FabNote]:
    order = ctx.declarations.config.order
    families = laminate_rows(ctx)
    yield _stated("laminates", "; ".join(f"{name}: {in_ranges(rows)}" for name, rows in families.items()))
    every = NOT_STATED in families or not families
    ordered = {name: sheet for name, sheet in order.slash_sheets.items() if every or name in families}
    sheets = "; ".join(f"{name}: {sheet}" for name, sheet in ordered.items())
    yield _said("slash sheet", sheets or None, "slash_sheets", '{ "370HR" = "IPC-4101/126" }')
    others = order.substitutes
    allowed = None if others is None else ", ".join(others) or "none"
    yield _said(SUBSTITUTION, allowed, "substitutes", "[] for none")
    yield _said("Tg", "; ".join(_tgs(ctx)) or None, "tg_c", "170", "[declared]")
    foils = "; ".join(_foils(ctx))
    yield FabNote(
        "foil",
        foils,
        "" if foils == NOT_STATED else FILE_NAME,
        ("[declared]", f'foil = "{PLACEHOLDER}"  # e.g. "HVLP"'),
    )
    spread = ctx.declarations.config.fab.spread_glass
    yield _said("spread glass, or rotation on the panel", _yes(spread), "spread_glass", "true", "[fab]")


def _of_impedance(ctx: Context) -> Iterator[FabNote]:
    order, general = ctx.declarations.config.order, ctx.declarations.impedance_tolerance_pct
    tolerance = f"within {general.value:g} %" if general.known and general.value else None
    yield _said("impedance tolerance", tolerance, "impedance_tolerance_pct", "10", "[declared]")
    change = order.width_change_pct
    widths = None if change is None else f"up to +-{change:g} %" if change else "no"
    yield _said("fab may change widths of controlled lines", widths, "width_change_pct", "10")
    yield _said("fab may change dielectric heights", _yes(order.height_changes), "height_changes", "false")
    yield _said("impedance coupons with report", _yes(order.coupons), "coupons", "true")


def _of_holes(ctx: Context) -> Iterator[FabNote]:
    order = ctx.declarations.config.order
    plated, pressed = order.hole_tolerance_mm, order.press_fit_tolerance_mm
    yield _said("tolerance of plated holes", plated and f"within {plated:g} mm", "hole_tolerance_mm", "0.075")
    if pressed or ctx.get(press_fit_parts):
        said = pressed and f"within {pressed:g} mm"
        yield _said("tolerance of press-fit holes", said, "press_fit_tolerance_mm", "0.05")
    if order.copper_fill is not None or rows_under_microvias(ctx.board):
        yield _said("copper fill of vias under stacked microvias", _yes(order.copper_fill), "copper_fill", "true")
    depth = order.backdrill_tolerance_mm
    if depth or drilled_holes(ctx):
        yield _said("depth tolerance of backdrills", depth and f"within {depth:g} mm", "backdrill_tolerance_mm", "0.1")


def _of_finish(ctx: Context, stackup: Stackup | None) -> Iterator[FabNote]:
    order = ctx.declarations.config.order
    yield _stated("surface finish", stackup.copper_finish if stackup else None)
    none = None if _is_for_a_card_edge(ctx) else "no"
    yield _stated("edge connector", (stackup.edge_connector or none) if stackup else None)
    if (stackup and stackup.edge_connector) or order.contact_gold_um:
        gold = order.contact_gold_um and f"at least {order.contact_gold_um:g} um"
        yield _said("gold on edge contacts", gold, "contact_gold_um", "0.76")
    if (stackup and stackup.edge_connector == BEVELLED) or order.bevel_deg:
        yield _said("bevel of the edge", order.bevel_deg and f"{order.bevel_deg:g} degrees", "bevel_deg", "20")
    yield _stated("edge plating", ("yes" if stackup.edge_plating else "no") if stackup else None)
    for item, kind, said, key, example in (
        ("solder mask colour", LayerKind.MASK, order.mask_colour, "mask_colour", '"green"'),
        ("legend colour", LayerKind.SILK, order.legend_colour, "legend_colour", '"white"'),
    ):
        colours = {row.plies[0].color for row in stackup.layers if row.kind is kind} if stackup else set()
        drawn = ", ".join(sorted(colour for colour in colours if colour))
        yield _stated(item, drawn) if drawn and not said else _said(item, said, key, example)


def _is_for_a_card_edge(ctx: Context) -> bool:
    """Whether the form factor has contacts on its edge: a board that states no edge connector is then not answered."""
    name = ctx.form or (load_profile(ctx.profile).form if ctx.profile else None)
    return name is not None and load_form(name).has_card_edge


def _of_delivery(ctx: Context) -> Iterator[FabNote]:
    order = ctx.declarations.config.order
    yield _said("electrical test of every board", _yes(order.electrical_test), "electrical_test", "true")
    yield _said("UL mark", _yes(order.ul_mark), "ul_mark", "true")
    yield _said("date code", _yes(order.date_code), "date_code", "true")
    yield _said("panel", order.panel, "panel", '"single boards"')
    yield _said("panels with bad boards (x-outs)", _yes(order.x_outs), "x_outs", "false")
    for remark in order.remarks:
        yield FabNote("remark", remark, FILE_NAME)


def _stated(item: str, answer: str | None) -> FabNote:
    return FabNote(item, answer or NOT_STATED, BOARD if answer else "")


def _said(item: str, answer: str | float | None, key: str, example: str, table: str = _ORDER) -> FabNote:
    to_add = table, f'{key} = "{PLACEHOLDER}"  # e.g. {example}'
    return FabNote(item, str(answer) if answer else NOT_STATED, FILE_NAME if answer else "", to_add)


def _yes(said: bool | None) -> str | None:  # noqa: FBT001 - the value itself
    return None if said is None else "yes" if said else "no"


def laminate_rows(ctx: Context) -> dict[str, list[str]]:
    """Return the laminates in the order of the stackup, each with its rows; `NOT_STATED` where no row says."""
    rows: dict[str, list[str]] = {}
    for ply in ctx.plies if ctx.board.stackup and not ctx.is_default_stackup else ():
        laminate = ply.laminate.value
        glass_alone = ply.match is not None and ply.match.status == "style only"
        if not ply.stated or glass_alone or (ply.is_declared and ctx.declarations.stale):
            name = NOT_STATED
        else:
            name = laminate.family if laminate else ply.stated
        if ply.row not in rows.setdefault(name, []):
            rows[name].append(ply.row)
    return rows


def in_ranges(names: Sequence[str]) -> str:
    """Return numbered names in short: "dielectric 1-9, 19" for dielectric 1 to 9 and dielectric 19."""
    runs: list[tuple[str, int, int]] = []
    for name in names:
        found = re.fullmatch(r"(.*?)(\d+)", name)
        if not found:
            runs.append((name, -1, -1))
            continue
        word, number = found[1], int(found[2])
        if runs and runs[-1][0] == word and runs[-1][2] == number - 1:
            runs[-1] = (word, runs[-1][1], number)
        else:
            runs.append((word, number, number))
    parts, last = [], None
    for word, start, end in runs:
        numbers = "" if start < 0 else str(start) if start == end else f"{start}-{end}"
        parts.append(numbers if numbers and word == last else word + numbers)
        last = word
    return ", ".join(parts)


def _foils(ctx: Context) -> list[str]:
    rows: dict[str, list[str]] = {}
    for index, layer in enumerate(ctx.board.copper_layers):
        fact = ctx.foil_name(index)
        rows.setdefault(fact.value if fact.known and fact.value else NOT_STATED, []).append(layer.name)
    if len(rows) == 1:
        return [f"{name}, all layers" if name != NOT_STATED else name for name in rows]
    return [f"{name}: {', '.join(layers)}" for name, layers in rows.items()]


def _tgs(ctx: Context) -> list[str]:
    """Only declared ones: what a laminate has by its data sheet is not a requirement."""
    declared, stale = ctx.declarations.config.declared, ctx.declarations.stale
    if stale:
        return []
    rows = [f"{name}: {d.tg_c:g} C by {d.tg_method}" for name, d in declared.dielectric.items() if d.tg_c is not None]
    general = [] if declared.tg_c is None else [f"{declared.tg_c:g} C by {declared.tg_method}"]
    return [*general, *rows]

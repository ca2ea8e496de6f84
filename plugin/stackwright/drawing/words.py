"""What is said of a stackup row, the same words in the drawing and in every table."""

from __future__ import annotations

from collections.abc import Sequence

from drc_rules.report.stackup_rows import Carried, Figure, StackupRow, StackupView, Stated, ViaSpan
from stackup_lib.board.board import LayerKind
from stackup_lib.board.layer_roles import LayerRole
from stackup_lib.core.facts import Confidence, Origin
from stackwright.text.words import count, sentence

UNDECLARED = "not declared"


def thickness(row: StackupRow) -> str:
    """Return micrometres for thin sheets, as fabs write copper, else millimetres; copper with its ounce class."""
    if row.thickness_mm is None:
        return UNDECLARED
    return f"{row.thickness_mm * 1000:.4g} um" if row.is_copper else millimetres(row.thickness_mm)


def millimetres(thickness_mm: float) -> str:
    """Return the thickness of a dielectric to a micrometre, as fabs state it; what is thinner keeps its digits."""
    return f"{round(thickness_mm, 3) or thickness_mm:.4g} mm"


def copper_weight(row: StackupRow) -> str:
    """Return the ounce class of a copper row, marked where plating makes it uncertain; "" for one of no class."""
    if row.thickness_mm is None or row.copper_oz is None:
        return ""
    about = "about " if row.copper_oz.confidence is Confidence.LOW else ""
    return f"{about}{row.copper_oz.value:g} oz"


def material(row: StackupRow) -> str:
    """Return the material of a dielectric or a mask as stated."""
    return row.material or UNDECLARED


def role(row: StackupRow) -> str:
    """Return what a copper layer is for, with the net that fills most of it."""
    if row.role is None:
        return "role unknown"
    planes = row.role not in (LayerRole.SIGNAL, LayerRole.EMPTY)
    return f"{row.role.value} {row.main_net}".strip() if planes else row.role.value


def foil(row: StackupRow) -> str:
    """Return the declared foil grade."""
    return f"{row.foil.grade} foil" if row.foil else f"foil {UNDECLARED}"


def interface(one: Carried) -> str:
    """Return an interface by its title; a family of unknown generation says so."""
    return one.title if one.generation_known else f"{one.title}, version unknown"


def interfaces(row: StackupRow) -> str:
    """Return the interfaces that are routed on a layer."""
    return ", ".join(f"{interface(one)} ({count(one.nets, 'net')})" for one in row.carries)


def interfaces_in_short(row: StackupRow) -> str:
    """Return the interfaces without what stands in parentheses; a question mark for an unknown generation."""
    return ", ".join(one.title.partition(" (")[0] + ("" if one.generation_known else "?") for one in row.carries)


def df(row: StackupRow) -> str:
    """Return Df at 10 GHz, or that it is not known; a bare number of the file has no frequency."""
    if row.df_10ghz is not None:
        return f"{row.df_10ghz.value:.4f}"
    return f"{row.df_stated:g}, no frequency" if row.df_stated is not None else UNDECLARED


def figure_source(figure: Figure) -> str:
    """Return the source of a value, and how far it is to be trusted."""
    return f"{figure.source}; {figure.confidence.value} confidence"


def kind(row: StackupRow) -> str:
    """Return what the sheet is."""
    return "dielectric" if row.kind is LayerKind.OTHER else row.kind.value


def via_span(span: ViaSpan) -> str:
    """Return a span in one line: how many, what kind, from where to where, which hole, what is drilled away."""
    what = count(span.count, "microvia" if span.kind == "micro" else f"{span.kind} via")
    text = f"{what}, {span.top} to {span.bottom}, finished hole {hole_of(span)}"
    return text + "".join(f", {one}" for one in backdrills(span))


def hole_of(span: ViaSpan) -> str:
    """Return the range of the finished holes of a span."""
    least, most = span.drill_min_mm, span.drill_max_mm
    if least is None or most is None:
        return "not stated"
    return f"{least:g} to {most:g} mm" if most > least else f"{least:g} mm"


def backdrills(span: ViaSpan) -> Sequence[str]:
    """Return each backdrill as text."""
    return [
        f"backdrilled from {drill.start} through {drill.must_cut}"
        + (" (declared)" if drill.origin is Origin.DECLARED else "")
        for drill in span.backdrills
    ]


def remarks(view: StackupView) -> list[str]:
    """Return what a reader must know before trusting the drawing."""
    about = {
        Stated.FILE: [],
        Stated.DEFAULT: ["The stackup is KiCad's untouched default: thicknesses and materials are not declared."],
        Stated.NOWHERE: ["The board file holds no stackup: thicknesses and materials are not declared."],
    }[view.stated]
    return [*about, *(sentence(note) + "." for note in view.notes)]


def total(view: StackupView) -> str:
    """Return the board's thickness as text."""
    return "thickness not stated" if view.thickness_mm is None else f"{view.thickness_mm:.3f} mm thick"


def full_name(row: StackupRow) -> str:
    """Return KiCad's name of a row with the user's own behind it."""
    return row.name if row.user_name in (None, row.name) else f"{row.name} ({row.user_name})"


def file_row(row: StackupRow) -> str:
    """Return the name of the board file's row that a sheet belongs to: plies share one."""
    return row.name.partition(", ply ")[0]


def is_mask(row: StackupRow) -> bool:
    """Return True for solder mask, whose Df is not judged."""
    return row.kind is LayerKind.MASK

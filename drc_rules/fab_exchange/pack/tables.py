"""What the fab needs in writing of stackup and impedances, as tables; what is not stated says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from drc_rules.analysis.impedance.board_targets import ordered_targets
from drc_rules.analysis.impedance.impedance_table import LineTarget
from drc_rules.analysis.lines.routed import RoutedLine
from drc_rules.analysis.lines.routed_impedance import routed_impedance_ohm
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.stackup.stackup_of_board import stackup_view
from drc_rules.analysis.targets.controlled import controlled_lines, nets_by_target
from drc_rules.fab_exchange.pack.table import NOT_STATED, FabTable, figure
from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.facts.row_faults import is_plated
from drc_rules.report.stackup_rows import StackupView
from stackup_lib.board.board import LayerKind
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.materials import ounce_class


def stackup_table(ctx: Context) -> FabTable:
    """Return the stackup top to bottom, a line per sheet."""
    head = ("layer", "type", "thickness mm", "material", "Dk", "Dk at GHz", "Df", "Df at GHz", "copper oz", "foil")
    stackup = None if ctx.is_default_stackup else ctx.board.stackup
    remarks: tuple[str, ...] = ()
    if stackup is None:
        remarks = ("The board file states no stackup of its own: layer names and their order are all that is known.",)
        rows = [row for k, layer in enumerate(ctx.board.copper_layers) for row in _unstated(ctx, k, layer.name)]
        return FabTable(name="stackup", title="Stackup", head=head, rows=tuple(rows), remarks=remarks)
    plies = iter(zip(ctx.plies, _sheets_mm(ctx), strict=True))
    found: list[tuple[str, ...]] = []
    for row in stackup.layers:
        if row.kind is LayerKind.COPPER:
            found.append(_copper(ctx, row.name, row.thickness_mm))
        elif row.is_dielectric:
            found += [_dielectric(*next(plies)) for _ in row.plies]
        elif row.kind is LayerKind.MASK:
            ply = row.plies[0]
            cells = (figure(row.thickness_mm), ply.material or NOT_STATED, figure(ply.dk), "", figure(ply.df))
            found.append((row.name, "solder mask", *cells, "", "", ""))
    remarks = (
        "Thicknesses are as the board file states them, dielectrics to a micrometre; of prepregs they are pressed "
        "heights.",
        "Copper weights are those of the foil before plating. Where not declared, they follow from the stated "
        "thickness; on outer layers, and on inner ones where vias end, plating leaves them open.",
    )
    return FabTable(name="stackup", title="Stackup", head=head, rows=tuple(found), remarks=remarks)


def _unstated(ctx: Context, index: int, name: str) -> Iterator[tuple[str, ...]]:
    """A copper layer of a board without a stackup, after the dielectric above it."""
    if index:
        yield f"dielectric {index}", "core or prepreg", *[NOT_STATED] * 6, "", ""
    yield _copper(ctx, name, None)


def _copper(ctx: Context, name: str, thickness_mm: float | None) -> tuple[str, ...]:
    index = ctx.board.layer_index.get(name)
    foil = ctx.foil_name(index) if index is not None else None
    grade = foil.value if foil is not None and foil.known and foil.value else NOT_STATED
    return name, "copper", figure(thickness_mm), *[""] * 5, figure(_foil_oz(ctx, name, thickness_mm)), grade


def _foil_oz(ctx: Context, name: str, thickness_mm: float | None) -> float | None:
    """Return the weight of a layer's foil as declared, else by its thickness; None where plating leaves it open."""
    declared = ctx.declarations.config.declared.copper.get(name)
    if declared and declared.copper_oz is not None and not ctx.declarations.stale:
        return declared.copper_oz
    index = ctx.board.layer_index.get(name)
    plated = index is not None and is_plated(ctx.board, index)
    return ounce_class(thickness_mm, outer=False).value if thickness_mm and not plated else None


def drawn_stackup(ctx: Context) -> StackupView | None:
    """Return the stackup to draw, with thicknesses and copper weights as its table has them; None without one."""
    if ctx.is_default_stackup or ctx.board.stackup is None:
        return None
    view, sheets = stackup_view(ctx), _sheets_mm(ctx)
    rows = []
    for row in view.rows:
        changed: dict[str, object] = {}
        if row.kind in (LayerKind.CORE, LayerKind.PREPREG):
            changed = {"thickness_mm": next(sheets)}
        elif row.is_copper and _foil_oz(ctx, row.name, row.thickness_mm) is None:
            changed = {"copper_oz": None}
        rows.append(row.model_copy(update=changed))
    return view.model_copy(update={"rows": tuple(rows)})


def _sheets_mm(ctx: Context) -> Iterator[float | None]:
    """Yield the thickness of each sheet to a micrometre, so that those of a row still add up to the row's."""
    row, so_far_mm = "", 0.0
    for ply in ctx.plies:
        if ply.row != row:
            row, so_far_mm = ply.row, 0.0
        thickness_mm = ply.in_file.thickness_mm
        if thickness_mm is None:
            yield None
            continue
        end_mm = so_far_mm + thickness_mm
        yield round(round(end_mm, 3) - round(so_far_mm, 3), 3) or thickness_mm
        so_far_mm = end_mm


def _dielectric(ply: DielectricPly, thickness_mm: float | None) -> tuple[str, ...]:
    said, stale = ply.declaration, ply.declarations.stale
    dk = said.dk if said.dk is not None and not stale else ply.in_file.dk
    declares = said.df is not None and not stale
    df = said.df if declares else ply.in_file.df
    at = said.at_ghz if declares else None
    material = NOT_STATED if not ply.stated or (ply.is_declared and stale) else ply.stated
    of_dk = figure(ply.dk.stated_at_ghz) if dk is not None else ""
    of_df = figure(at) if df is not None else ""
    return (
        *(ply.label, ply.kind.value, figure(thickness_mm), material),
        *(figure(dk), of_dk, figure(df), of_df, "", ""),
    )


def impedance_table(ctx: Context) -> FabTable:
    """Return every controlled geometry of the board by target and layer, the longest first.

    Lines that are too short for a verdict are ordered, too.
    """
    head = (
        "layer",
        "for",
        "target ohm",
        "kind",
        "tolerance %",
        "width mm",
        "gap mm",
        "reference planes",
        "solved ohm",
        "off %",
        "length mm",
        "coupon",
    )
    lines, titles = Lines(ctx), _titles(ctx)
    rows = [row for target in ordered_targets(ctx) for row in _geometries(lines, target, titles)]
    rows = [(*row, _coupon(ctx, number)) for number, row in enumerate(rows, start=1)]
    remarks = (
        "Widths and gaps are as drawn, at the base of the trace; the solved impedance and how far it is off "
        "its target are Stackwright's.",
    )
    if not rows:
        has_target = bool(ctx.get(nets_by_target))
        words = "No net with a target impedance is routed as one" if has_target else "No net has a target impedance"
        remarks = (f"{words}.",)
    return FabTable(name="impedance", title="Impedances", head=head, rows=tuple(rows), remarks=remarks)


def _coupon(ctx: Context, number: int) -> str:
    """Return the coupon of a controlled geometry, where coupons are ordered."""
    ordered = ctx.declarations.config.order.coupons
    return NOT_STATED if ordered is None else f"C{number}" if ordered else "none"


def _titles(ctx: Context) -> dict[RoutedLine, list[str]]:
    """Return for whom each line is routed: equal targets are one, and only some of their nets are on a layer."""
    found: dict[RoutedLine, list[str]] = {}
    for one in ctx.get(controlled_lines):
        found.setdefault(one.line, []).append(one.target.title_on(one.line.layer))
    return found


def _geometries(
    lines: Lines, target: LineTarget, titles: Mapping[RoutedLine, Sequence[str]]
) -> Iterator[tuple[str, ...]]:
    groups: dict[tuple[int, float, float | None], list[RoutedLine]] = {}
    for line in target.routed:
        groups.setdefault((line.layer, line.width_mm, line.gap_mm), []).append(line)
    names = [layer.name for layer in lines.ctx.board.copper_layers]
    lengths = {key: sum(line.length_mm for line in group) for key, group in groups.items()}
    for key in sorted(groups, key=lambda k: (k[0], -lengths[k])):
        usual = max(groups[key], key=lambda line: line.length_mm)
        planes = [names[k] for k in usual.references if k is not None]
        solved, off = _solved(lines, usual, target.target.ohm)
        yield (
            names[key[0]],
            ", ".join(dict.fromkeys(title for line in groups[key] for title in titles.get(line, (target.title,)))),
            f"{target.target.ohm:g}",
            target.target.kind,
            tolerance_asked(lines.ctx, target),
            figure(key[1]),
            "" if target.target.kind == "single" else "single trace" if key[2] is None else figure(key[2]),
            ", ".join(planes) or "none found",
            solved,
            off,
            f"{lengths[key]:.1f}",
        )


def tolerance_asked(ctx: Context, target: LineTarget) -> str:
    """Return the declared tolerance of a target: its own, else the board's; nothing is assumed."""
    for one in ctx.declarations.config.impedance:
        if (one.ohm, one.kind) == (target.target.ohm, target.target.kind) and one.tolerance_pct is not None:
            return f"{one.tolerance_pct:g}"
    general = ctx.declarations.impedance_tolerance_pct
    return f"{general.value:g}" if general.known and general.value is not None else NOT_STATED


def _solved(lines: Lines, line: RoutedLine, target_ohm: float) -> tuple[str, str]:
    """Return the impedance of a line, and how far it is from its target."""
    try:
        ohm = routed_impedance_ohm(lines, line)
    except (MissingFact, StackwrightError) as error:
        return f"not solved: {error.what}", ""
    return f"{ohm:.1f}", f"{100 * (ohm / target_ohm - 1):+.1f}"

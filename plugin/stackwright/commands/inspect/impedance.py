"""`stackwright impedance`: the impedance of a width on a board's stackup, and the width that a target needs."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict
from rich.text import Text

from drc_rules.analysis.impedance.board_targets import every_target, target_from_words
from drc_rules.analysis.impedance.impedance_table import ImpedanceRow, ImpedanceTable, LineTarget
from drc_rules.analysis.impedance.line_report import LineReport, line_report
from drc_rules.analysis.impedance.process_view import view_of
from drc_rules.analysis.lines.sites import BoardSite, layer_of, named_references
from drc_rules.analysis.lines.solved_lines import WIDEST_MM, Lines
from drc_rules.analysis.lines.uncertainty import LineUncertainty
from drc_rules.analysis.targets.targets import USUAL_TOLERANCE_PCT
from drc_rules.facts.context import Context
from drc_rules.report.process_rows import ProcessView
from stackup_lib.board.layer_roles import LayerRole
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.interval import Interval
from stackup_lib.transmission_lines.tolerance import ImpedanceSpread
from stackwright.commands.apply.files import read_bytes
from stackwright.commands.inspect.impedance_text import AT_GHZ, FREQUENCY, next_command, one_line_of, without_loss
from stackwright.commands.request import JSON, BoardRequest, document_text
from stackwright.run.paths import find_board
from stackwright.run.watched import watched
from stackwright.text.page import Column, Page, styled, terminal_console

MM_PER_INCH = 25.4
CLEAN, FOUND = 0, 1


@dataclass(frozen=True)
class ImpedanceRequest(BoardRequest):
    """What the command line asks."""

    layer: str | None = None
    width_mm: float | None = None
    gap_mm: float | None = None
    coplanar_gap_mm: float | None = None
    target_diff_ohm: float | None = None
    target_se_ohm: float | None = None
    references: tuple[str, ...] = ()
    frequencies_ghz: tuple[float, ...] = ()
    interface: str | None = None


def show_impedance(typed: Path, request: ImpedanceRequest) -> int:
    """Print the impedance table of a board, or one line of it; exit code 1 when something requested has no answer.

    Raises:
        StackwrightError: the board cannot be read, an option makes no sense, or a line cannot exist.
    """
    board_path = find_board(typed)
    request.check_file(typed, board_path)
    sizes = {"--width": request.width_mm, "--gap": request.gap_mm, "--coplanar-gap": request.coplanar_gap_mm}
    for option, size_mm in sizes.items():
        if size_mm is not None and not 0 < size_mm <= WIDEST_MM:
            what = f"{size_mm:g} mm is no {option.lstrip('-').replace('-', ' ')} on a board"
            raise ConfigError(option, what, f"give millimetres up to {WIDEST_MM:g}, e.g. 0.15")
    context = request.context_of(board_path)
    lines = Lines(context)
    if request.width_mm is not None:
        report = _one_line(lines, request)
        process = _process_of_line(lines, request)
        text = (
            _json(board_path, process, line=report) if request.format == JSON else _line_page(report, process, request)
        )
        code = CLEAN
    else:
        with watched(board_path.name):
            rows = _table(lines, request)
            process = view_of(context, _solved_lines(lines, rows, request.references))
        if request.format == JSON:
            text = _json(board_path, process, rows=rows)
        else:
            text = _table_page(rows, process, board_path, request)
        code = CLEAN if rows and all(row.width_mm is not None for row in rows) else FOUND
    request.deliver(text, "impedances")
    return code


def _one_line(lines: Lines, request: ImpedanceRequest) -> LineReport:
    if request.layer is None:
        raise ConfigError("--width", "says nothing without a layer", "add --layer, e.g. --layer In2.Cu")
    index = layer_of(lines.ctx, request.layer)
    try:
        return line_report(
            lines,
            index,
            width_mm=request.width_mm or 0.0,
            gap_mm=request.gap_mm,
            coplanar_gap_mm=request.coplanar_gap_mm,
            target_ohm=request.target_se_ohm if request.gap_mm is None else request.target_diff_ohm,
            frequencies_ghz=request.frequencies_ghz,
            references=_references(lines.ctx, index, request),
        )
    except MissingFact as missing:
        raise ConfigError(request.layer, missing.what, missing.next_step) from None


def _references(ctx: Context, index: int, request: ImpedanceRequest) -> tuple[int | None, int | None] | None:
    return named_references(ctx, index, request.references) if request.references else None


def _process_of_line(lines: Lines, request: ImpedanceRequest) -> ProcessView | None:
    index = layer_of(lines.ctx, request.layer or "")
    planes = _references(lines.ctx, index, request)
    width, gap, ground = request.width_mm or 0.0, request.gap_mm, request.coplanar_gap_mm
    return view_of(lines.ctx, [(lines.site(index, planes), lines.uncertainty(index, width, gap, planes, ground))])


def _solved_lines(
    lines: Lines, rows: Sequence[ImpedanceRow], references: tuple[str, ...] = ()
) -> Iterator[tuple[BoardSite, LineUncertainty]]:
    """Yield where the solved rows run, with what is not known of them."""
    for row in rows:
        if row.width_mm is not None:
            index = layer_of(lines.ctx, row.layer)
            planes = named_references(lines.ctx, index, references) if references else None
            yield (
                lines.site(index, planes),
                lines.uncertainty(index, row.width_mm, row.gap_mm, planes, row.target.coplanar_mm),
            )


def _table(lines: Lines, request: ImpedanceRequest) -> tuple[ImpedanceRow, ...]:
    ctx = lines.ctx
    targets = target_from_words(
        target_diff_ohm=request.target_diff_ohm,
        target_se_ohm=request.target_se_ohm,
        gap_mm=request.gap_mm,
        coplanar_mm=request.coplanar_gap_mm,
        interface_id=request.interface,
        frequency_ghz=request.frequencies_ghz[0] if request.frequencies_ghz else None,
    ) or every_target(ctx)
    if not targets:
        declared = [one.is_ for one in ctx.declarations.config.interface]
        ways = f"--interface {declared[0]}, " if declared else ""
        more = "" if declared else ", or declare an [[interface]] in stackwright.toml"
        raise ConfigError(
            "impedance",
            "no net of this board has a target impedance",
            f"give {ways}--target-diff or --target-se{more}",
        )
    if request.layer is not None:
        index = layer_of(ctx, request.layer)
        return tuple(ImpedanceTable(lines).rows([index], targets, _references(ctx, index, request)))
    if request.references:
        raise ConfigError("--reference", "holds for one layer", "add --layer")
    return tuple(ImpedanceTable(lines).rows(signal_layers(ctx), targets))


def signal_layers(ctx: Context) -> tuple[int, ...]:
    """Return the layers that have tracks and are no plane; of an unrouted board, those without a plane."""
    planes = (LayerRole.GROUND, LayerRole.POWER)
    routed = tuple(k for k, use in enumerate(ctx.uses) if use.track_mm > 0 and use.role not in planes)
    return routed or tuple(k for k, use in enumerate(ctx.uses) if not use.is_plane)


class ImpedanceDocument(Frozen):
    """What `stackwright impedance --json` writes: the rows of a table, or one line."""

    model_config = ConfigDict(title="Stackwright impedance, version 1")

    format: Literal["stackwright-impedance"] = "stackwright-impedance"
    version: Literal[1] = 1
    board: dict[str, str]
    rows: tuple[ImpedanceRow, ...] | None = None
    line: LineReport | None = None
    process: ProcessView | None = None


def _json(
    board: Path,
    process: ProcessView | None,
    *,
    rows: tuple[ImpedanceRow, ...] | None = None,
    line: LineReport | None = None,
) -> str:
    digest = hashlib.sha256(read_bytes(board)).hexdigest()
    document = ImpedanceDocument(
        board={"path": board.as_posix(), "sha256": digest}, rows=rows, line=line, process=process
    )
    return document_text(document)


def _process(page: Page, process: ProcessView | None) -> None:
    if process is not None:
        page.heading("process", "etching, plating and solder mask that the impedances rest on")
        page.line(process.line, indent=2)


def _table_page(
    rows: Sequence[ImpedanceRow], process: ProcessView | None, board: Path, request: ImpedanceRequest
) -> str:
    page = Page()
    page.line(styled("Impedance", "bold"), f"  {board.name}: widths and gaps at the base of the trace, in mm")
    for target, of_target in groupby(rows, key=_group):
        _target_block(page, target, list(of_target))
    without_loss(page, rows)
    _process(page, process)
    assumed = dict.fromkeys(text for row in rows for text in row.assumptions)
    if assumed:
        page.heading("assumed", "because no file states it")
        for text in assumed:
            page.line(text, indent=2)
    page.gap()
    page.verbatim([f"next: {next_command(rows, board)}"], indent=0)
    return page.text(terminal_console() if request.output is None else None)


def _group(row: ImpedanceRow) -> LineTarget:
    return row.target.model_copy(update={"gap_mm": None})


def _target_block(page: Page, target: LineTarget, rows: Sequence[ImpedanceRow]) -> None:
    nyquist = f", Nyquist {target.nyquist_ghz:g} GHz" if target.nyquist_ghz else ""
    page.heading(f"{target.title}: {target.target}{nyquist}", target.source)
    solved = [row for row in rows if row.width_mm is not None]
    routed = any(row.routed for row in rows)
    header = ["layer", "planes", "width", "gap", "ohm", f"in +-{target.tolerance_pct:g} %", "dB/inch (range)"]
    columns = [Column(), Column(max_width=18), *[Column(right=True)] * 4, Column(wraps=True)]
    if routed:
        header, columns = [*header, "as routed"], [*columns, Column(wraps=True)]
    cells = [_cells(row, routed=routed) for row in solved]
    told = [k for k in range(len(header)) if any(str(row[k]) for row in cells)]
    if solved:
        rows_told = [[row[k] for k in told] for row in cells]
        page.rows([columns[k] for k in told], rows_told, head=[header[k] for k in told])
    if any(row.loss and not row.loss.is_quasi_static for row in solved):
        page.line("* beyond the range of a quasi-static answer", indent=2)
    problems: dict[str, list[str]] = {}
    for row in rows:
        if row.problem:
            problems.setdefault(f"{row.problem}; {one_line_of(row.cure)}", []).append(row.layer)
    for problem, layers in problems.items():
        page.line(styled(", ".join(layers), "yellow"), f": {problem}", indent=2)


def _cells(row: ImpedanceRow, *, routed: bool) -> tuple[str | Text, ...]:
    gap = f"{row.gap_mm:.3f}" if row.gap_mm is not None else ""
    loss = row.loss
    total = loss.total_db_per_mm.times(MM_PER_INCH) if loss else None
    beyond = "*" if loss and not loss.is_quasi_static else ""
    cells: tuple[str | Text, ...] = (
        row.layer,
        ", ".join(row.references),
        f"{row.width_mm:.3f}",
        gap,
        f"{row.impedance_ohm:.1f}",
        f"{row.yield_pct:.0f} %" if row.yield_pct is not None else "",
        f"{total.nominal:.2f}{beyond} ({_range(total)})" if total else "",
    )
    return (*cells, _routed_cell(row)) if routed else cells


def _routed_cell(row: ImpedanceRow) -> Text:
    if not row.routed:
        return styled("")
    most = row.routed[0]
    gap = f"/{most.gap_mm:g}" if most.gap_mm is not None else ""
    gap += f", {most.near_fill}" if most.near_fill is not None else ""
    if most.impedance_ohm is None:
        return styled(f"{most.width_mm:g}{gap}: {most.problem or 'no plane'}", "yellow")
    off = 100 * (most.impedance_ohm / row.target.target.ohm - 1)
    far = abs(off) > USUAL_TOLERANCE_PCT
    return styled(f"{most.width_mm:g}{gap}: {most.impedance_ohm:.1f} {round(off):+d} %", "yellow" if far else "")


def _range(total: Interval | None) -> str:
    return f"{total.low:.2f}-{total.high:.2f}" if total else ""


def _line_page(report: LineReport, process: ProcessView | None, request: ImpedanceRequest) -> str:
    page = Page()
    gap = "" if report.gap_mm is None else f" / {report.gap_mm:g}"
    kind = "trace" if report.gap_mm is None else "pair"
    adjacent = "" if report.coplanar_gap_mm is None else f", ground {report.coplanar_gap_mm:g} mm next to it"
    page.line(
        styled(report.layer, "bold"),
        f"  {kind} {report.width_mm:g}{gap} mm (base), copper {report.copper_mm:g} mm{adjacent}",
    )
    page.gap()
    page.rows([Column(min_width=12), Column(right=True), Column(wraps=True)], _figures(report))
    page.heading("stackup", "from the trace outward")
    page.rows([Column(), Column(), Column(right=True), Column(wraps=True)], _dielectrics(report))
    page.heading("loss", "dB/inch; low to high is what Df and foil leave open")
    _losses(page, report)
    if report.spread is not None:
        page.heading("production", f"{report.process} process; the fab's own figures are better")
        head = ("what varies", "nominal", "limit", "moves Z by")
        page.rows([Column(), *[Column(right=True)] * 3], _effects(report.spread), head=head)
    _process(page, process)
    if report.assumptions:
        page.heading("assumed", "because no file states it")
        for text in report.assumptions:
            page.line(text, indent=2)
    return page.text(terminal_console() if request.output is None else None)


def _figures(report: LineReport) -> list[tuple[str, str, str]]:
    name = "Z0" if report.gap_mm is None else "Zdiff"
    model, spread = report.model, report.spread
    low, high = (report.z_ohm * (1 + end / 100) for end in (model.low_pct, model.high_pct))
    causes = ", ".join(str(one) for one in model.causes if one.pct >= 0.05)
    rows = [
        (
            name,
            f"{report.z_ohm:.2f} ohm",
            f"{low:.1f} to {high:.1f} by what is not known: {causes or 'nothing'}; "
            f"solver {report.solver_error_pct:.3f} %",
        )
    ]
    if report.z_odd_ohm is not None and report.z_even_ohm is not None and report.z_common_ohm is not None:
        rows.append(
            (
                "odd, even",
                f"{report.z_odd_ohm:.2f} ohm",
                f"{report.z_even_ohm:.2f} even, {report.z_common_ohm:.2f} common",
            )
        )
    rows += _production(spread) if spread else [("in production", "not known", report.spread_problem)]
    rows.append(("eps_eff", f"{report.eps_eff:.3f}", f"{report.delay_ps_per_mm:.3f} ps/mm"))
    returns = ", ".join(f"{100 * r.share:.0f} % {r.plane}" for r in report.returns)
    rows.append(("returns in", "", returns))
    rows.append(("valid", "", f"to {report.limit_ghz:.0f} GHz: {report.limit_reason}"))
    return rows


def _production(spread: ImpedanceSpread) -> list[tuple[str, str, str]]:
    low, high = spread.interval_ohm.low, spread.interval_ohm.high
    inside = ", ".join(f"{100 * y.share:.0f} % in +-{y.within_pct:g} %" for y in spread.yields)
    return [
        ("in production", f"{low:.1f} to {high:.1f}", f"99.7 %; worst case +-{spread.linear_worst_case_pct:.0f} %"),
        ("yield", "", f"{inside} of {spread.target_ohm:.4g} ohm"),
    ]


def _dielectrics(report: LineReport) -> list[tuple[str, ...]]:
    return [
        (d.name, d.kind, f"{d.thickness_mm:g} mm", f"Dk {d.dk:g} ({d.dk_source}) {d.material}".rstrip())
        for d in report.dielectrics
    ]


def _losses(page: Page, report: LineReport) -> None:
    head = ("GHz", "total", "low to high", "dielectric", "copper", "roughness")
    rows: list[tuple[str, ...]] = []
    for row in report.losses:
        if row.loss is None:
            continue
        total = row.loss.total_db_per_mm.times(MM_PER_INCH)
        parts = (row.loss.dielectric_db_per_mm, row.loss.copper_db_per_mm, row.loss.roughness_db_per_mm)
        beyond = "" if row.loss.is_quasi_static else "*"
        rows.append(
            (
                f"{row.frequency_ghz:g}{beyond}",
                f"{total.nominal:.3f}",
                _range(total),
                *(f"{part * MM_PER_INCH:.3f}" for part in parts),
            )
        )
    page.rows([Column(right=True)] * 6, rows, head=head)
    if any(row.loss and not row.loss.is_quasi_static for row in report.losses):
        page.line("* beyond the range of a quasi-static answer", indent=2)
    problems: dict[tuple[str, str], list[str]] = {}
    for row in report.losses:
        if row.problem:
            cause = (FREQUENCY.sub("", row.problem), AT_GHZ.sub("...", row.cure))
            problems.setdefault(cause, []).append(f"{row.frequency_ghz:g}")
    for (problem, cure), frequencies in problems.items():
        page.line(f"none at {', '.join(frequencies)} GHz: {problem}", indent=2)
        page.verbatim((styled(text, "dim") for text in cure.split("\n")), indent=4)


def _effects(spread: ImpedanceSpread) -> list[tuple[str, ...]]:
    return [
        (effect.name, f"{effect.nominal:.4g}", f"+-{effect.limit_pct:.3g} %", f"{effect.at_limit_pct:.1f} %")
        for effect in sorted(spread.effects, key=lambda e: -e.at_limit_pct)
        if effect.at_limit_pct >= 0.1
    ]

"""`stackwright pdn`: the impedance of supply rails over frequency, with what makes each peak."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path

from drc_rules.analysis.power.over_frequency.pdn_of import pdn_of
from drc_rules.analysis.power.power_rails import largest_power_nets
from drc_rules.engine.check import prepare
from drc_rules.facts.context import Context
from drc_rules.report.pdn_rows import PdnRow
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.kicad import read_board
from stackwright.commands.apply.files import read_bytes
from stackwright.commands.inspect.pdn_page import Unsolved, pdn_page
from stackwright.commands.request import JSON, TEXT, BoardRequest
from stackwright.drawing.pdn_chart import no_chart, pdn_chart
from stackwright.drawing.tables import in_csv
from stackwright.run.paths import find_board
from stackwright.run.watched import watched
from stackwright.text.command_line import quoted
from stackwright.text.output import remark

FORMAT, VERSION = "stackwright-pdn", 1
CSV, SVG = "csv", "svg"
CSV_HEAD = ("rail", "Hz", "nominal mOhm", "lowest mOhm", "highest mOhm", "target mOhm")
DONE, OPEN = 0, 1


@dataclass(frozen=True, kw_only=True)
class PdnRequest(BoardRequest):
    """What the command line asks.

    Attributes:
        rails: nets; none for all declared rails.
        load: parts at which the impedance is seen; none for the declared ones.
        target_mohm: in place of the declared target.
        verbose: list every capacitor.
    """

    rails: tuple[str, ...] = ()
    load: tuple[str, ...] = ()
    target_mohm: float | None = None
    verbose: bool = False


def show_pdn(typed: Path, request: PdnRequest) -> int:
    """Print the impedance of rails; exit code 1 where one has none, or surely exceeds its target.

    Raises:
        StackwrightError: the board cannot be read, no rail is named, or the file cannot be written.
    """
    board_path = find_board(typed)
    request.check_file(typed, board_path)
    with watched(board_path.name):
        ctx, _, _ = prepare(read_board(board_path), request.config_of(board_path), request.overrides)
        rows, unsolved = _rows(ctx, board_path, request)
    if request.format == SVG and len(rows) + len(unsolved) > 1:
        raise StackwrightError(
            "--format svg", "draws one rail", f"name one: --rail {quoted((rows or unsolved)[0].net)}"
        )
    if request.format == JSON:
        text = _json(board_path, rows, unsolved)
    elif request.format == CSV:
        text = csv_text(rows)
    elif request.format == SVG:
        text = (pdn_chart(rows[0], "pdn", alone=True) if rows else no_chart(unsolved[0].net, unsolved[0].what)) + "\n"
    else:
        text = request.laid_out(pdn_page(board_path, rows, unsolved, verbose=request.verbose))
    for one in unsolved if request.format != TEXT else ():
        remark(f"{one.net}: no impedance, as this is not known: {one.what}; {one.cure}")
    request.deliver(text, "impedance of rails")
    return OPEN if unsolved or any(row.is_surely_above for row in rows) else DONE


def _rows(ctx: Context, board: Path, request: PdnRequest) -> tuple[list[PdnRow], list[Unsolved]]:
    names = request.rails or tuple(dict.fromkeys(row.net for row in ctx.declarations.config.rail))
    if not names:
        largest = largest_power_nets(ctx.board)
        cure = f"name one: --rail {quoted(largest[0])}" if largest else "declare one as [[rail]] in stackwright.toml"
        if len(largest) > 1:
            cure += f"; others with filled copper: {', '.join(largest[1:])}"
        raise StackwrightError(str(board), "has no declared rail, and none is named", cure)
    rows, unsolved = [], []
    for name in names:
        try:
            rows.append(ctx.get(pdn_of, name, request.load, request.target_mohm))
        except MissingFact as missing:
            unsolved.append(Unsolved(name, missing.name, missing.next_step))
    return rows, unsolved


def _json(board: Path, rows: list[PdnRow], unsolved: list[Unsolved]) -> str:
    sha256 = hashlib.sha256(read_bytes(board)).hexdigest()
    head: dict[str, object] = {"format": FORMAT, "version": VERSION}
    head |= {"board": {"path": board.as_posix(), "sha256": sha256}}
    head |= {"rails": [row.model_dump(mode="json") for row in rows]}
    head |= {"unsolved": [{"net": one.net, "missing": one.what, "next": one.cure} for one in unsolved]}
    return json.dumps(head, indent=2, ensure_ascii=True) + "\n"


def csv_text(rows: list[PdnRow]) -> str:
    """Return a line per rail and frequency; the target stands where it holds."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_HEAD)
    for row in rows:
        for point in row.points:
            holds = row.target is not None and row.target.from_hz <= point.hz <= row.target.up_to_hz
            limit = f"{row.target.mohm:.6g}" if holds and row.target else ""
            ends = (point.mohm.nominal, point.mohm.low, point.mohm.high)
            writer.writerow([in_csv(row.net), f"{point.hz:.6g}", *(f"{end:.6g}" for end in ends), limit])
    return out.getvalue()

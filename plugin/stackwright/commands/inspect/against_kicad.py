"""`stackwright impedance --against-kicad`: KiCad's tuning profiles and calculator next to the field solver."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict
from rich.text import Text

from drc_rules.analysis.impedance.board_targets import board_targets
from drc_rules.analysis.impedance.impedance_table import ImpedanceTable
from drc_rules.analysis.impedance.kicad_forms import ClosedFormLine, ProfileLine, closed_form_lines, profile_lines
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.report.numbers import size_text
from stackup_lib.board.planned import PlannedTuning
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.frozen import Frozen
from stackup_lib.kicad.write.file_edit import FileEdit, Written, apply_together, digest
from stackup_lib.kicad.write.tuning_writer import set_tuning
from stackwright.commands.apply.files import read_bytes, written_block
from stackwright.commands.inspect.impedance import signal_layers
from stackwright.commands.request import JSON, BoardRequest, document_text
from stackwright.run.paths import find_board
from stackwright.text.command_line import command_line
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import count

CLEAN, FOUND = 0, 1
FAR_PCT = 2.0
"""Closer than this to the field solver, KiCad's number is right: fabs hold 5 % at best."""


class AgainstKicadDocument(Frozen):
    """What `stackwright impedance --against-kicad --format json` writes; lengths in mm, all lines, also the right ones.

    Attributes:
        limit_pct: farther off than this, a line counts as off.
        profiles: the layers of the project's tuning profiles.
        calculator: what KiCad's closed forms say of the widths that meet the board's targets.
        written: True where the tuning profiles were changed.
    """

    model_config = ConfigDict(title="Stackwright against-kicad, version 1")

    format: Literal["stackwright-against-kicad"] = "stackwright-against-kicad"
    version: Literal[1] = 1
    board: dict[str, str]
    limit_pct: float
    profiles: tuple[ProfileLine, ...]
    calculator: tuple[ClosedFormLine, ...]
    written: bool


def compare_with_kicad(typed: Path, request: BoardRequest, *, write: bool) -> int:
    """Show where KiCad is off; with `write`, correct the tuning profiles. Exit code 1 where one is off.

    Raises:
        StackwrightError: the board cannot be read, nothing can be compared, or the project cannot be written.
    """
    board_path = find_board(typed)
    request.check_file(typed, board_path)
    context = request.context_of(board_path)
    lines = Lines(context)
    try:
        profiles = tuple(profile_lines(lines, context.board.project.tuning_profiles))
        rows = tuple(ImpedanceTable(lines).rows(signal_layers(context), board_targets(context)))
        calculator = tuple(closed_form_lines(lines, rows))
    except MissingFact as missing:
        raise ConfigError(str(board_path), missing.what, missing.next_step) from None
    if not profiles and not calculator:
        what = "has no tuning profile, and no line with a target that can be solved"
        raise ConfigError(str(board_path), what, f"see {command_line('impedance', str(typed))}")
    off = [one for one in profiles if _is_wrong(one)]
    written = _write(board_path, off) if write else ()
    if request.format == JSON:
        document = AgainstKicadDocument(
            board={"path": board_path.as_posix(), "sha256": hashlib.sha256(read_bytes(board_path)).hexdigest()},
            limit_pct=FAR_PCT,
            profiles=profiles,
            calculator=calculator,
            written=bool(written),
        )
        text = document_text(document)
    else:
        text = request.laid_out(_page(typed, profiles, calculator, written))
    request.deliver(text, "comparison")
    still_off = [one for one in off if not write or one.right_width_mm is None]
    return FOUND if still_off else CLEAN


def is_off(off_pct: float | None) -> bool:
    """Tell whether a difference counts."""
    return off_pct is not None and abs(off_pct) > FAR_PCT


def _is_wrong(one: ProfileLine) -> bool:
    """Tell whether a profile's size is off, or not stated where one is known."""
    return is_off(one.off_pct) or (one.solved_ohm is None and one.right_width_mm is not None)


def _write(board_path: Path, off: Sequence[ProfileLine]) -> tuple[Written, ...]:
    """Write the right sizes into the project, nothing else; the former content stays next to it."""
    path = board_path.with_suffix(".kicad_pro")
    rows = [
        PlannedTuning(profile=one.profile, layer=one.layer, width_mm=one.right_width_mm, gap_mm=one.right_gap_mm)
        for one in off
        if one.right_width_mm is not None
    ]
    if not rows:
        return ()
    old = read_bytes(path)
    new = set_tuning(old, rows, label=str(path))
    return apply_together([FileEdit(path, new, digest(old))]) if new != old else ()


def _page(
    typed: Path, profiles: Sequence[ProfileLine], calculator: Sequence[ClosedFormLine], written: Sequence[Written]
) -> Page:
    page, off = Page(), [one for one in profiles if _is_wrong(one)]
    page.line(styled(typed.name, "bold"), f"  KiCad's impedances against the field solver; off from {FAR_PCT:g} % on")
    page.heading("tuning profiles", _summary(len(off), len(profiles), "row"))
    if off:
        head = ("profile", "layer", "ohm", "KiCad's mm", "has", "", "right mm")
        page.rows([Column(max_width=24), *[Column()] * 6], [_profile(one) for one in off], head=head)
    for problem in dict.fromkeys(f"{one.profile} on {one.layer}: {one.problem}" for one in profiles if one.problem):
        page.line(styled(problem, "yellow"), indent=2)
    wrong = [one for one in calculator if is_off(one.off_pct)]
    page.heading("closed forms of KiCad's calculator", _summary(len(wrong), len(calculator), "line"))
    if wrong:
        names = ("layer", "mm", "solver", "form", "", "closed form")
        page.rows([*[Column()] * 5, Column(wraps=True)], [_formula(one) for one in wrong], head=names)
        page.line("as published; they know one Dk, no solder mask and no etching (KiCad issue 9077)", indent=2)
    page.gap()
    written_block(page, written)
    if not written and any(one.right_width_mm is not None for one in off):
        page.line("next:")
        page.verbatim([command_line("impedance", str(typed), "--against-kicad", "--write-profiles")])
    return page


def _summary(off: int, total: int, what: str) -> str:
    if not total:
        return "none to compare"
    return f"{off} of {count(total, what)} off" if off else f"{count(total, what)}, none off"


def _profile(one: ProfileLine) -> tuple[str | Text, ...]:
    has = "" if one.solved_ohm is None else f"{one.solved_ohm:.1f}"
    far = "" if one.off_pct is None else f"{one.off_pct:+.1f} %"
    is_now = _size(one.width_mm, one.gap_mm)
    right = _size(one.right_width_mm, one.right_gap_mm)
    return one.profile, one.layer, f"{one.target.ohm:g}", is_now, has, styled(far, "yellow"), right


def _formula(one: ClosedFormLine) -> tuple[str | Text, ...]:
    size = _size(one.width_mm, one.gap_mm)
    far = styled(f"{one.off_pct:+.1f} %", "yellow")
    return one.layer, size, f"{one.solved_ohm:.1f}", f"{one.calculator_ohm:.1f}", far, one.form


def _size(width_mm: float | None, gap_mm: float | None) -> str:
    return "none" if width_mm is None else size_text(width_mm, gap_mm)

"""All files of one delivery against one board."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drc_rules.facts.context import Context
from drc_rules.release.agreement import number_words, same_number
from drc_rules.release.board_side import BoardSide, OrderedLine, board_side
from drc_rules.release.drills import backdrill_findings, hole_findings, protection_findings
from drc_rules.release.layers import gerber_findings, job_findings, layer_findings, outline_findings
from drc_rules.release.model import ReleaseComparison, ReleaseFile, ReleaseFinding, ReleaseOutcome
from drc_rules.release.other_board import other_board_words
from drc_rules.release.stackup_rows import finish_findings, row_findings
from stackup_lib.fab_files.facts import FabFormat, SentFile, SentImpedance

NOT_STATED = ReleaseOutcome.NOT_STATED
_WHOLE = (FabFormat.IPC2581, FabFormat.ODB)
"""Formats that hold a whole board in one file."""


def compare_release(ctx: Context, files: Sequence[SentFile], others: tuple[str, ...] = ()) -> ReleaseComparison:
    """Return what differs between a board and the files that are sent, and what no file states."""
    side = board_side(ctx)
    findings = [
        *_gerbers(side, files),
        *(finding for file in files for finding in _file(side, file, files)),
        *_unmatched(side, files),
    ]
    listed = tuple(ReleaseFile(path=f.path, format=f.format.value, topics=_topics(side, f)) for f in files)
    other = other_board_words(side, files)
    return ReleaseComparison(files=listed, findings=tuple(findings), others=others, other_board=other)


def _gerbers(side: BoardSide, files: Sequence[SentFile]) -> Iterator[ReleaseFinding]:
    """Gerber and drill files are one board together."""
    gerbers = [file for file in files if file.format is FabFormat.GERBER]
    drills = [file for file in files if file.format is FabFormat.EXCELLON or (file in gerbers and file.holes)]
    if gerbers:
        yield from gerber_findings(side, gerbers)
    if protections := [file for file in gerbers if file.protections]:
        yield from protection_findings(side, protections)
    if drills:
        yield from hole_findings(side, drills)
        yield from backdrill_findings(side, drills)
    elif gerbers and side.holes:
        yield ReleaseFinding(
            outcome=ReleaseOutcome.DIFFERS,
            topic="drill files",
            what="all holes",
            place="Gerber files",
            board=f"{sum(sizes.total() for sizes in side.holes.values())} holes",
            sent="no drill file",
            consequence="nothing is drilled, or the job stops until it is sent",
            fix="kicad-cli pcb export drill --excellon-separate-th ...",
        )


def _file(side: BoardSide, file: SentFile, files: Sequence[SentFile]) -> Iterator[ReleaseFinding]:
    line = next((other.outline_line_mm for other in files if other.outline_line_mm is not None), None)
    yield from outline_findings(side, file, line)
    yield from row_findings(side, file)
    yield from finish_findings(side, file)
    if file.format is FabFormat.JOB:
        yield from job_findings(side, file, [other for other in files if other.format is FabFormat.GERBER])
    elif file.format in _WHOLE:
        yield from layer_findings(side, file)
        yield from hole_findings(side, [file])
        yield from backdrill_findings(side, [file])
        yield from protection_findings(side, [file])
        yield from _impedances(side, file)
    elif file.format is FabFormat.D356:
        yield from hole_findings(side, [file])


def _impedances(side: BoardSide, file: SentFile) -> Iterator[ReleaseFinding]:
    for sent in file.impedances if side.target_ohms else ():
        if not any(same_number(ohm, sent.ohm) for ohm in side.target_ohms):
            stated = ", ".join(side.targets)
            yield _of_line(side, "controlled impedance", sent, stated, f"{sent.ohm.value:g} ohm")
            continue
        lines = [line for line in side.lines if same_number(line.ohm, sent.ohm)]
        lines = [line for line in lines if line.layer in sent.layers] or lines
        differing = [tuple(_differing(side, line, sent)) for line in lines]
        for what, board, other in min(differing, key=len, default=()):
            yield _of_line(side, f"{what} of {sent.ohm.value:g} ohm", sent, board, other)


def _of_line(side: BoardSide, what: str, sent: SentImpedance, board: str, other: str) -> ReleaseFinding:
    return ReleaseFinding(
        outcome=ReleaseOutcome.DIFFERS,
        topic="impedance",
        what=what,
        place=sent.ohm.place,
        board=board,
        sent=other,
        consequence="the fab adjusts and tests the lines for another impedance",
        fix="stackwright release --fix writes the board's targets"
        if side.can_be_written
        else "send the tables of `stackwright fab-pack` in its place",
    )


def _differing(side: BoardSide, line: OrderedLine, sent: SentImpedance) -> Iterator[tuple[str, str, str]]:
    """Yield what a file states otherwise of a line: what, the board's, the file's."""
    numbers = (
        ("line width", " mm", line.width_mm, sent.width_mm),
        ("gap", " mm", line.gap_mm, sent.gap_mm),
        ("tolerance (plus)", " %", line.tolerance_pct, sent.plus_pct),
        ("tolerance (minus)", " %", line.tolerance_pct, sent.minus_pct),
    )
    for what, unit, own, number in numbers:
        if own is not None and number is not None and not same_number(own, number):
            yield what, number_words(own, unit), number_words(number.value, unit)
    if sent.planes and line.planes and sent.planes != line.planes:
        mine, theirs = (", ".join(side.name(k) for k in planes) for planes in (line.planes, sent.planes))
        yield "reference planes", mine, theirs


def _unmatched(side: BoardSide, files: Sequence[SentFile]) -> Iterator[ReleaseFinding]:
    """What the board states and no file does."""
    whole = any(file.format in _WHOLE for file in files)
    stackup = side.stackup
    if stackup is None:
        yield ReleaseFinding(
            outcome=ReleaseOutcome.NOT_COMPARED,
            topic="stackup",
            what="the board states none of its own",
            sent="KiCad's default rows" if any(file.has_stackup for file in files) else "",
            consequence="the fab laminates its own standard stackup, or what KiCad put in",
            fix="in KiCad, File > Board Setup > Physical Stackup: enter the fab's stackup",
        )
    if stackup and not any(file.has_stackup for file in files):
        yield _missing(
            "stackup",
            f"{len(side.sheets)} rows",
            "the fab laminates its own standard stackup: impedance and loss are the fab's choice",
            "send the .gbrjob file of KiCad's Gerber export, IPC-2581, or the tables of `stackwright fab-pack`",
        )
    if stackup and stackup.copper_finish and not any(file.finish for file in files):
        yield _missing(
            "finish",
            stackup.copper_finish,
            "the fab asks, or takes its standard finish",
            "send the .gbrjob file, or IPC-2581 revision C (`--version C`)",
        )
    if side.targets and not any(file.impedances for file in files):
        yield _missing(
            "impedance",
            ", ".join(side.targets),
            "the fab does not adjust line widths and tests no coupon",
            "KiCad exports none: use `stackwright release --fix`, or send the tables of `stackwright fab-pack`"
            if side.can_be_written
            else "KiCad exports none: send the tables of `stackwright fab-pack`",
        )
    if (side.filled or side.capped) and not whole and not any(file.protections for file in files):
        yield _missing(
            "via protection",
            f"{side.filled} filled and {side.capped} capped vias",
            "the fab leaves the vias open",
            "send IPC-2581 or ODB++, or the via files of kicad-cli pcb export drill --format gerber",
        )
    drills = [drill for file in files for drill in file.backdrills]
    if side.backdrills and drills and not any(drill.diameter_mm for drill in drills):
        yield _missing(
            "backdrill size",
            f"{sum(sizes.total() for sizes in side.backdrills.values())} backdrills",
            "the fab chooses the diameter",
            "send KiCad's backdrill files (Excellon) or ODB++, or use `stackwright release --fix`"
            if side.can_be_written
            else "send KiCad's backdrill files (Excellon) or ODB++",
        )
    is_told = any(f.size_mm or f.unread or f.format is FabFormat.GERBER for f in files)
    if side.board.outline.size_mm and not is_told:
        yield _missing("outline", "Edge.Cuts", "the fab cannot cut the board", "send the outline with the files")
    if not any(file.layers for file in files):
        yield _missing("layers", f"{len(side.names)} copper layers", "there is nothing to etch", "send Gerber files")


def _missing(topic: str, board: str, consequence: str, fix: str) -> ReleaseFinding:
    return ReleaseFinding(outcome=NOT_STATED, topic=topic, what="", board=board, consequence=consequence, fix=fix)


def _topics(side: BoardSide, file: SentFile) -> tuple[str, ...]:
    """Return what a file and the board both state."""
    plies = [sheet.ply for sheet in side.sheets]
    rows = file.rows if side.stackup else ()
    stated = {
        "layers": file.layers or file.layer_count,
        "thickness": [row for row in rows if row.thickness_mm],
        "material": any(row.material for row in rows) and any(ply.material for ply in plies),
        "Dk": any(row.dk for row in rows) and any(ply.dk for ply in plies),
        "Df": any(row.df for row in rows) and any(ply.df for ply in plies),
        "copper weight": [row for row in rows if row.copper_oz],
        "finish": side.stackup and side.stackup.copper_finish and file.finish,
        "drill": file.holes,
        "backdrill": file.backdrills,
        "outline": file.size_mm,
        "via protection": file.protections,
        "impedance": side.targets and file.impedances,
    }
    return tuple(topic for topic, values in stated.items() if values)


def grouped(findings: Sequence[ReleaseFinding]) -> Iterator[tuple[ReleaseFinding, ...]]:
    """Return findings of one kind together, in the order of the first of each."""
    groups: dict[tuple[str, ...], list[ReleaseFinding]] = {}
    for one in findings:
        groups.setdefault((one.outcome.value, one.topic, one.consequence, one.fix), []).append(one)
    yield from map(tuple, groups.values())

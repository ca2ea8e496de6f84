"""A planned stackup into the bytes of a `.kicad_pcb`.

Only the words that change are replaced: what stands elsewhere, and what is not understood inside a row that stays,
keeps its bytes. The board's thickness follows the sum of the rows when that sum changes, as in KiCad's Board Setup.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from stackup_lib.board.board import LayerKind, Stackup
from stackup_lib.board.planned import WRITTEN_KINDS, PlannedRow, PlannedStackup, planned_from
from stackup_lib.board.stackup import Ply
from stackup_lib.core.errors import NotWrittenError
from stackup_lib.kicad.read import header
from stackup_lib.kicad.read.reader import NEWEST_VERSION, OLDEST_WRITTEN_VERSION
from stackup_lib.kicad.syntax.scan import UnreadableError, scanned
from stackup_lib.kicad.syntax.source import BoardText
from stackup_lib.kicad.write.layer_table_writer import layer_table_edits
from stackup_lib.kicad.write.row_writer import Style, field_edits, new_row, row_edits
from stackup_lib.kicad.write.spans import Edit, EditSpan, apply_edits, length_text, number_text, quoted, spans

MOST_COPPER = 32
_ONE_LIST_A_LINE_SINCE = 20231014
_LONGEST_BLANK = 80
_BLANKS = re.compile(rb"[ \t\r\n]*\Z")
_OPTIONS = ("copper_finish", "dielectric_constraints", "edge_connector", "castellated_pads", "edge_plating")
_TECHNICAL = (
    (("F.SilkS", "Top Silk Screen"), ("F.Paste", "Top Solder Paste")),
    (("B.Paste", "Bottom Solder Paste"), ("B.SilkS", "Bottom Silk Screen")),
)


def replace_stackup(
    text: bytes,
    planned: PlannedStackup,
    *,
    label: str = "the board",
    change_layers: bool = False,
    reads_back: bool = True,
) -> bytes:
    """Return the board's bytes with the planned stackup.

    Args:
        text: the whole `.kicad_pcb`, of KiCad 6 to 10.
        planned: what shall stand in it; `planned_from(board.stackup)` gives back the same bytes.
        label: what errors call the board.
        change_layers: whether copper layers may be added to, or removed from, the board's layer table. That is refused
            all the same when anything is on an inner layer: it would then lie elsewhere in the stack.
        reads_back: whether what was written is read and compared with the plan, as it must be for a file.

    Raises:
        NotWrittenError: the file is of a version that is not known, the plan makes no stackup, or layers are in use.
        BoardFileError: the layer table or the stackup cannot be read.
    """
    source = _opened(text, label)
    copper, _ = header.copper_layers(source)
    stackup, _ = header.setup(source)
    table = tuple(layer.name for layer in copper)
    before = None if stackup is None else planned_from(stackup)
    _refuse_nonsense(planned, before, label)
    _refuse_missing_mask(source, planned, before)
    edits: list[Edit] = []
    if planned.copper_names != table and (before is None or planned.copper_names != before.copper_names):
        if not change_layers:
            what = f"the plan has {len(planned.copper_names)} copper layers, the board {len(table)}"
            raise NotWrittenError(label, what, "allow the layers to be changed, or plan for the board's layers")
        edits += layer_table_edits(source, planned)
    edits += _inserted(source, planned) if stackup is None else _changed(source, planned, stackup)
    edits += _thickness(source, planned, None if before is None else before.thickness_mm)
    written = apply_edits(text, [_around_comments(edit, text, source.data) for edit in edits])
    if edits and reads_back:
        _must_agree(written, planned, label)
    return written


def _opened(text: bytes, label: str) -> BoardText:
    try:
        data, blocks = scanned(text)
        source = BoardText(data, label, blocks)
    except UnreadableError:
        raise NotWrittenError(label, "is not a board that can be read", "give the .kicad_pcb of the board") from None
    if source.blocks.end is None or not len(source.items("version")):
        raise NotWrittenError(label, "is cut short or not a KiCad board", "restore a backup")
    stated = _top(source, "version").word(1)
    source.version = int(stated) if stated.isascii() and stated.isdecimal() and len(stated) < 10 else 0
    if source.version > NEWEST_VERSION:
        what = f"has file version {stated}, newer than KiCad 10 ({NEWEST_VERSION})"
        raise NotWrittenError(label, what, "update Stackwright, or save the board with KiCad 10")
    refuse_old_version(source.version, label)
    return source


def refuse_old_version(version: int, label: str) -> None:
    """Raise `NotWrittenError` where a board is of a file version before those that are written."""
    if version < OLDEST_WRITTEN_VERSION:
        what = f"has file version {version}, older than KiCad 6 ({OLDEST_WRITTEN_VERSION})"
        raise NotWrittenError(label, what, "open the board in KiCad and save it, then try again")


def _around_comments(edit: Edit, text: bytes, data: bytes) -> Edit:
    """What goes takes the blanks in front of it along, but no comment lines, which are blanks in `data`."""
    blanks = edit.end - edit.start - len(data[edit.start : edit.end].lstrip())
    comment = len(text[edit.start : edit.start + blanks].rstrip())
    return edit if edit.new or not comment else Edit(edit.start + comment, edit.end, "")


def _top(source: BoardText, name: str) -> EditSpan:
    """The first top-level list of this name, which is there."""
    row = int(source.items(name)[0])
    return spans(source.data, int(source.blocks.items.start[row]), int(source.blocks.items.end[row]))


def _refuse_nonsense(planned: PlannedStackup, before: PlannedStackup | None, label: str) -> None:
    """A plan that KiCad would not keep as it is; rows that stay as they are are not judged."""

    def refuse(what: str) -> NotWrittenError:
        return NotWrittenError(label, f"the plan is no stackup: {what}", "correct the plan")

    names = planned.copper_names
    old = {} if before is None else {row.name: row for row in before.rows}
    if before is None or names != before.copper_names:
        inner = tuple(f"In{i}.Cu" for i in range(1, len(names) - 1))
        if len(names) % 2 or not 2 <= len(names) <= MOST_COPPER:
            raise refuse(f"{len(names)} copper layers; KiCad takes an even number up to {MOST_COPPER}")
        if names != ("F.Cu", *inner, "B.Cu"):
            raise refuse(f"copper layers are named {', '.join(names)}")
    if before is None or [r.name for r in planned.rows] != [r.name for r in before.rows]:
        kinds = "".join(_LETTER[row.kind] for row in planned.rows)
        if not re.fullmatch("m?(cd)+cm?", kinds):
            raise refuse("between two copper layers stands one core or prepreg, a mask only outside")
    for row in planned.rows:
        if row == old.get(row.name):
            continue
        for ply in row.plies:
            if fault := _fault(row, ply):
                raise refuse(f"{row.name} {fault}")


def _refuse_missing_mask(source: BoardText, planned: PlannedStackup, before: PlannedStackup | None) -> None:
    """A mask row without its layer in the layer table: KiCad 10 makes a dielectric of it."""
    there = {row.word(1) for row in _top(source, "layers").lists()} | {
        row.name for row in (before.rows if before else ())
    }
    for row in planned.rows:
        if row.kind is LayerKind.MASK and row.name not in there:
            step = "enable it in KiCad's Board Setup, or plan without that mask"
            raise NotWrittenError(source.label, f"the board has no layer {row.name}", step)


_LETTER = {LayerKind.COPPER: "c", LayerKind.MASK: "m", LayerKind.CORE: "d", LayerKind.PREPREG: "d"}


def _fault(row: PlannedRow, ply: Ply) -> str:
    is_dielectric = row.kind in (LayerKind.CORE, LayerKind.PREPREG)
    if len(row.plies) > 1 and not is_dielectric:
        return "has several sheets"
    if ply.thickness_mm is None:
        return "has no thickness (KiCad would make one up)"
    if not 0 < ply.thickness_mm < 100:
        return f"has a thickness of {ply.thickness_mm} mm"
    if is_dielectric and not ply.material:
        return "names no material (KiCad would make it FR4)"
    if not ply.material and (ply.dk is not None or ply.df is not None):
        return "states Dk or Df without a material (KiCad would drop them)"
    if ply.dk is not None and not 1 < ply.dk < 1000:
        return f"has a Dk of {ply.dk}"
    if ply.df is not None and not 0 < ply.df < 1:
        return f"has a Df of {ply.df}"
    texts = (row.name, ply.material or "", ply.color or "")
    return "" if all(t.isprintable() for t in texts) else "has a name, material or colour that is not printable"


def _style(source: BoardText, block: EditSpan | None, rows: tuple[EditSpan, ...]) -> Style:
    """How rows are laid out: as those that stand there, else two levels inside the layer table's own."""
    if block is not None and rows:
        between = _blanks(source, block, rows[0])
        inner = next((_blanks(source, row, part) for row in rows for part in row.lists()), " ")
        unit = inner.removeprefix(between) if inner.startswith(between) and "\n" in between else "  "
        return Style(between, unit or "  ", expanded="\n" in inner)
    table = _top(source, "layers")
    blanks = _BLANKS.search(source.data, max(0, table.start - _LONGEST_BLANK), table.start)
    between = _last_line("" if blanks is None else blanks.group().decode())
    unit = between.lstrip("\r\n")
    if unit == between:
        return Style(" ", " ", expanded=False)
    return Style(between + unit * 2, unit, expanded=source.version >= _ONE_LIST_A_LINE_SINCE)


def _blanks(source: BoardText, parent: EditSpan, part: EditSpan) -> str:
    """What stands in front of a list; in front of a line of its own the line's break and indentation."""
    return _last_line(source.data[parent.end_before(part) : part.start].decode("utf-8", "replace"))


def _last_line(blanks: str) -> str:
    ahead, newline, indentation = blanks.rpartition("\n")
    return ("\r" if ahead.endswith("\r") else "") + newline + indentation


def _changed(source: BoardText, planned: PlannedStackup, stackup: Stackup) -> list[Edit]:
    block = _top(source, "setup").find("stackup")
    every = () if block is None else tuple(block.lists("layer"))
    if block is None or len(every) != len(stackup.layers):
        raise NotWrittenError(
            source.label, "its stackup is not laid out clearly", "open the board in KiCad and save it"
        )
    style = _style(source, block, every)
    old = [(span, row) for span, row in zip(every, stackup.layers, strict=True) if row.kind in WRITTEN_KINDS]
    edits: list[Edit] = []
    match = SequenceMatcher(None, [row.name for _, row in old], [row.name for row in planned.rows], autojunk=False)
    for what, i, i_end, j, j_end in match.get_opcodes():
        if what == "equal":
            for (span, row), new in zip(old[i:i_end], planned.rows[j:j_end], strict=True):
                edits += row_edits(span, row, new, style)
            continue
        at = old[i - 1][0].end if i else block.end_before(old[0][0]) if old else _after_top_rows(block)
        edits += [Edit(at, at, style.between + new_row(row, style)) for row in planned.rows[j:j_end]]
        edits += [Edit(block.end_before(span), span.end, "") for span, _ in old[i:i_end]]
    last = every[-1].end if every else block.parts[0].end
    return [*edits, *field_edits(block, _options(planned, stackup), _OPTIONS, last, style.between)]


def _after_top_rows(block: EditSpan) -> int:
    ends = [row.end for row in block.lists("layer") if row.word(1).startswith("F.")]
    return ends[-1] if ends else block.parts[0].end


def _options(planned: PlannedStackup, stackup: Stackup | None) -> dict[str, str | None]:
    """What each stated option shall be: its text, or None to take it away; options that stay are absent."""
    finish, constraints, edge, plating = (
        (None, None, "no", False)
        if stackup is None
        else (
            stackup.copper_finish or "None",
            stackup.impedance_controlled,
            stackup.edge_connector or "no",
            bool(stackup.edge_plating),
        )
    )
    wanted: dict[str, str | None] = {}
    if planned.copper_finish not in (None, finish):
        wanted["copper_finish"] = quoted(planned.copper_finish or "None")
    if planned.dielectric_constraints not in (None, constraints):
        wanted["dielectric_constraints"] = "yes" if planned.dielectric_constraints else "no"
    if planned.edge_connector not in (None, edge):
        wanted["edge_connector"] = None if planned.edge_connector == "no" else planned.edge_connector
    if planned.edge_plating not in (None, plating):
        wanted["edge_plating"] = "yes" if planned.edge_plating else None
    return wanted


def _inserted(source: BoardText, planned: PlannedStackup) -> list[Edit]:
    """A new block where KiCad writes it: first in the setup; the setup follows the layer table where there is none."""
    layers = _top(source, "layers")
    setup = _top(source, "setup") if len(source.items("setup")) else None
    style = _style(source, None, ())
    known = {row.word(1) for row in layers.lists()}
    top, bottom = (
        [style.row([f"layer {quoted(n)}", f"(type {quoted(t)})"]) for n, t in technical if n in known]
        for technical in _TECHNICAL
    )
    lines = [*top, *(new_row(row, style) for row in planned.rows), *bottom]
    defaults = planned.model_copy(
        update={
            "copper_finish": planned.copper_finish or "None",
            "dielectric_constraints": bool(planned.dielectric_constraints),
        }
    )
    wanted = _options(defaults, None)
    lines += [f"({name} {value})" for name in _OPTIONS if (value := wanted.get(name))]
    outer = style.outdented()
    block = "(stackup" + "".join(style.between + line for line in lines) + style.closing(outer) + ")"
    if setup is not None:
        at = setup.parts[0].end
        return [Edit(at, at, outer.between + block)]
    first = outer.outdented()
    return [Edit(layers.end, layers.end, f"{first.between}(setup{outer.between}{block}{style.closing(first)})")]


def _thickness(source: BoardText, planned: PlannedStackup, before_mm: float | None) -> list[Edit]:
    """The board's own thickness, where the sum of the rows changes."""
    total = planned.thickness_mm
    if total is None or not len(source.items("general")):
        return []
    if before_mm is not None and length_text(before_mm) == length_text(total):
        return []
    stated = _top(source, "general").find("thickness")
    if stated is None or len(stated.parts) < 2 or stated.word(1) == length_text(total):
        return []
    return [Edit(stated.parts[1].start, stated.parts[1].end, length_text(total))]


def _must_agree(written: bytes, planned: PlannedStackup, label: str) -> None:
    """Read back what was written: a plan that does not come back is a mistake of ours, and nothing is written."""
    stackup, _ = header.setup(_opened(written, label))
    found = [] if stackup is None else list(planned_from(stackup).rows)
    same = [_plain(row) for row in found] == [_plain(row) for row in planned.rows]
    if stackup is None or not same or _options(planned, stackup):
        step = "open the board in KiCad, save it and try again; if that does not help, report it with the board"
        raise NotWrittenError(label, "the written stackup would not read back as planned", step)


def _plain(row: PlannedRow) -> tuple[object, ...]:
    """What a row states, at the precision of the file."""
    plies = [
        (
            p.thickness_mm and length_text(p.thickness_mm),
            p.material or None,
            p.dk and number_text(p.dk),
            p.df and number_text(p.df),
        )
        for p in row.plies
    ]
    return row.name, row.kind, plies

"""Copper layers into, and out of, the `(layers ...)` table of a board on whose inner layers nothing lies."""

from __future__ import annotations

import re

from stackup_lib.board.board import LayerKind
from stackup_lib.board.planned import PlannedStackup
from stackup_lib.core.errors import NotWrittenError
from stackup_lib.kicad.syntax.source import BoardText
from stackup_lib.kicad.write.spans import Edit, EditSpan, spans

_INNER = re.compile(rb'(?<=[\s("])In[1-9]\d?\.Cu(?=[\s)"])')
_B_CU_SINCE_KICAD_9 = "2"


def layer_table_edits(source: BoardText, planned: PlannedStackup) -> list[Edit]:
    """Return the changes that give the layer table the planned copper layers.

    Inner layers are numbered from the top: with more or fewer of them, those that are there lie elsewhere in the stack,
    next to other planes.

    Raises:
        NotWrittenError: something is on an inner layer: a track, a zone, a pad, a text, or the end of a via.
    """
    items = source.blocks.items
    row = int(source.items("layers")[0])
    table = spans(source.data, int(items.start[row]), int(items.end[row]))
    _refuse_use(source, table)
    rows = {span.word(1): span for span in table.lists()}
    wanted = planned.copper_names
    if not {"F.Cu", "B.Cu"} <= rows.keys():
        raise NotWrittenError(source.label, "its layer table lacks F.Cu or B.Cu", "open the board in KiCad and save it")
    edits: list[Edit] = []
    for name, span in rows.items():
        if name.endswith(".Cu") and name not in wanted:
            edits.append(Edit(table.end_before(span), span.end, ""))
    first = rows[wanted[0]]
    between = source.data[table.end_before(first) : first.start].decode("utf-8", "replace")
    types = {row.name: row.layer_type for row in planned.rows if row.kind is LayerKind.COPPER}
    since_9 = rows[wanted[-1]].word(0) == _B_CU_SINCE_KICAD_9
    at = first.end
    for number, name in enumerate(wanted[:-1]):
        if name in rows:
            at = rows[name].end
            continue
        shown = 2 + 2 * number if since_9 else number
        edits.append(Edit(at, at, f'{between}({shown} "{name}" {types[name]})'))
    return edits


def _refuse_use(source: BoardText, table: EditSpan) -> None:
    """Any name of an inner layer outside the layer table and the stackup is a use of it."""
    blocks = source.blocks.children
    stackup = [(int(blocks.start[i]), int(blocks.end[i])) for i in source.children(source.items("setup"), "stackup")]
    skipped = [(table.start, table.end), *stackup]
    for found in _INNER.finditer(source.data):
        if not any(start <= found.start() < end for start, end in skipped):
            name = found.group().decode()
            where = f"{source.label}, line {source.line(found.start())}"
            what = f"{name} is in use: with other copper layers around it, what lies there would change its meaning"
            raise NotWrittenError(where, what, "change the layers in KiCad's Board Setup, where you see what moves")

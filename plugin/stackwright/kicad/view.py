"""What KiCad's editor shows: items selected and brought into view, and the layer that is drawn on top."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stackwright.kicad.errors import NM_PER_MM
from stackwright.kicad.open_board import OpenBoard

if TYPE_CHECKING:
    from kipy import KiCad
    from kipy.board import Board

BRING_INTO_VIEW, ZOOM_OUT = "common.Control.zoomFitSelection", "common.Control.zoomOutCenter"
"""Actions of the editor; such names are no stable interface, so that nothing depends on their success."""

LEAST_VIEW_MM = 10.0
"""A via that fills the window shows nobody where on the board it is."""

ZOOM_STEP = 1.3
"""Zooming out by one step shows at least this much more (KiCad's common_tools.cpp)."""


def select(kicad: KiCad, board: Board, uuids: Sequence[str], layer: str | None) -> int:
    """Select these items and nothing else, bring them into view, and return how many of them there are.

    At least `LEAST_VIEW_MM` of the board stay in view. Where a layer is named, it becomes the active one.

    Raises:
        kipy's errors.
    """
    from google.protobuf.empty_pb2 import Empty  # type: ignore[import-untyped]
    from kipy.proto.common.commands import editor_commands_pb2 as commands

    clear, add = commands.ClearSelection(), commands.AddToSelection()
    for request in (clear, add):
        request.header.document.CopyFrom(board.document)
    for uuid in uuids:
        add.items.add().value = uuid
    board.client.send(clear, Empty)
    if layer is not None:
        activate(board, layer)
    if not uuids:
        return 0
    found = len(board.client.send(add, commands.SelectionResponse).items)
    if found:
        kicad.run_action(BRING_INTO_VIEW)
        for _ in range(steps_out(_extent_mm(board, uuids))):
            kicad.run_action(ZOOM_OUT)
    return found


def active_layer(board: Board) -> str:
    """Return the layer that the editor draws on top, e.g. `In1.Cu`.

    Raises:
        kipy's errors.
    """
    from kipy.proto.board.board_types_pb2 import BoardLayer

    return str(BoardLayer.Name(board.get_active_layer())).removeprefix("BL_").replace("_", ".")


def activate(board: Board, layer: str) -> None:
    """Draw a layer on top; one that KiCad does not know changes nothing.

    Raises:
        kipy's errors.
    """
    from kipy.proto.board.board_types_pb2 import BoardLayer

    known = dict(BoardLayer.items())
    value = known.get("BL_" + layer.replace(".", "_"))
    if value is not None:
        board.set_active_layer(value)


def steps_out(extent_mm: float) -> int:
    """Return how often to zoom out from a view of so much, for `LEAST_VIEW_MM` to be in it."""
    if not 0 < extent_mm < LEAST_VIEW_MM:
        return 0
    return math.ceil(math.log(LEAST_VIEW_MM / extent_mm, ZOOM_STEP))


def _extent_mm(board: Board, uuids: Sequence[str]) -> float:
    """The longer side of the box around these items; those that have gone have none."""
    from kipy.proto.common.commands import editor_commands_pb2 as commands

    request = commands.GetBoundingBox(mode=commands.BBM_ITEM_ONLY)
    request.header.document.CopyFrom(board.document)
    for uuid in uuids:
        request.items.add().value = uuid
    boxes = board.client.send(request, commands.GetBoundingBoxResponse).boxes
    if not boxes:
        return 0.0
    wide = max(b.position.x_nm + b.size.x_nm for b in boxes) - min(b.position.x_nm for b in boxes)
    high = max(b.position.y_nm + b.size.y_nm for b in boxes) - min(b.position.y_nm for b in boxes)
    return float(max(wide, high)) / NM_PER_MM


class ActiveLayer:
    """Remembers the layer that the user had; one that the user chose meanwhile counts as theirs."""

    def __init__(self) -> None:
        self._users = ""
        self._ours = ""

    @property
    def is_ours(self) -> bool:
        """Whether the layer of a finding was made the active one."""
        return bool(self._ours)

    def select(self, live: OpenBoard, uuids: Sequence[str], layer: str | None) -> int:
        """Select items, with their layer on top; without one the user's comes back. Return how many there are.

        Raises:
            KicadError: KiCad is busy or silent.
        """
        now = live.active_layer()
        if now != self._ours:
            self._users = now
        wanted = layer or self._users
        found = live.select(uuids, wanted if wanted != now else None)
        self._ours = wanted if wanted != self._users else ""
        return found

    def give_back(self, live: OpenBoard) -> None:
        """Make the user's layer the active one again, unless they chose another; the selection stays.

        Raises:
            KicadError: KiCad is busy or silent.
        """
        if self._ours and live.active_layer() == self._ours:
            live.activate(self._users)
        self._ours = ""

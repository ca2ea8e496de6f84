"""What KiCad's editor shows: items selected and brought into view, and the layer that is drawn on top."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from stackwright.kicad.errors import NM_PER_MM
from stackwright.kicad.open_board import OpenBoard

if TYPE_CHECKING:
    from kipy import KiCad
    from kipy.board import Board

BRING_INTO_VIEW = "common.Control.zoomFitSelection"
"""An action of the editor; such names are no stable interface, so that nothing depends on its success."""

LEAST_VIEW_MM, WIDEST_VIEW_MM = 10.0, 60.0
"""Zoom between a via that fills the window and one too small to see."""

Point = tuple[float, float]


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
        _bring_into_view(kicad, board, uuids)
    return found


def _bring_into_view(kicad: KiCad, board: Board, uuids: Sequence[str]) -> None:
    """Fit the view to the selection; a small one takes its surroundings along, as KiCad has no other way to zoom."""
    from kipy.proto.common.commands import editor_commands_pb2 as commands

    around = frame(_box_mm(board, uuids), lambda: _places_mm(board))
    more, less = commands.AddToSelection(), commands.RemoveFromSelection()
    for request in (more, less):
        request.header.document.CopyFrom(board.document)
        for uuid in around:
            request.items.add().value = uuid
    if around:
        board.client.send(more, commands.SelectionResponse)
    kicad.run_action(BRING_INTO_VIEW)
    if around:
        board.client.send(less, commands.SelectionResponse)


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


def frame(box_mm: Sequence[Point], places_mm: Callable[[], Mapping[str, Point]]) -> list[str]:
    """Return the nearest items on two sides of a small box that make `LEAST_VIEW_MM` of the board visible.

    Args:
        box_mm: its corners, millimetres; empty where there is nothing.
        places_mm: called for the positions of what may be taken, by uuid; only where the box is small.
    """
    if not box_mm or max(high - low for low, high in zip(*box_mm, strict=True)) >= LEAST_VIEW_MM:
        return []
    middle_x, middle_y = (sum(pair) / 2 for pair in zip(*box_mm, strict=True))
    away = {uuid: (x - middle_x, y - middle_y) for uuid, (x, y) in places_mm().items()}
    distance = {uuid: max(abs(x), abs(y)) for uuid, (x, y) in away.items()}
    fitting = [uuid for uuid in away if LEAST_VIEW_MM / 2 <= distance[uuid] <= WIDEST_VIEW_MM / 2]
    first = min(fitting, key=distance.__getitem__, default=None)
    if first is None:
        return []
    x, y = away[first]
    opposite = [uuid for uuid in fitting if away[uuid][0] * x + away[uuid][1] * y < 0]
    return [first, *sorted(opposite, key=distance.__getitem__)[:1]]


def _box_mm(board: Board, uuids: Sequence[str]) -> list[Point]:
    """Two corners of the box around these items; nothing where all have gone."""
    from kipy.proto.common.commands import editor_commands_pb2 as commands

    request = commands.GetBoundingBox(mode=commands.BBM_ITEM_ONLY)
    request.header.document.CopyFrom(board.document)
    for uuid in uuids:
        request.items.add().value = uuid
    boxes = board.client.send(request, commands.GetBoundingBoxResponse).boxes
    corners = [(b.position.x_nm, b.position.y_nm) for b in boxes]
    corners += [(b.position.x_nm + b.size.x_nm, b.position.y_nm + b.size.y_nm) for b in boxes]
    if not corners:
        return []
    xs, ys = zip(*corners, strict=True)
    return [(min(xs) / NM_PER_MM, min(ys) / NM_PER_MM), (max(xs) / NM_PER_MM, max(ys) / NM_PER_MM)]


def _places_mm(board: Board) -> dict[str, Point]:
    """Where vias and pads are, by uuid."""
    vias = {via.id.value: via.position for via in board.get_vias()}
    places = vias | {pad.id.value: pad.position for pad in board.get_pads()}
    return {uuid: (place.x / NM_PER_MM, place.y / NM_PER_MM) for uuid, place in places.items()}


class ActiveLayer:
    """Remembers the layer that the user had; one that the user chose in the meantime counts as theirs."""

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

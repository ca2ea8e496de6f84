"""Findings drawn on a user layer of the board: a circle and the rule's code each, one step of undo for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stackwright.kicad.errors import NM_PER_MM, KicadError

if TYPE_CHECKING:
    from kipy.board import Board
    from kipy.board_types import BoardCircle, BoardText

RADIUS_MM = 1.0
TEXT_MM = 1.0
MESSAGE = "Stackwright: draw findings"
USER_LAYERS = (*(f"User.{number}" for number in range(45, 0, -1)), "Eco2.User", "Eco1.User", "Cmts.User", "Dwgs.User")
"""Layers for what is no copper; of these the first that the board has is rarely in use."""


def draw(board: Board, rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], str]:
    """Draw a circle and a code at each row's place; return the ids of what was drawn, and the layer's name.

    Raises:
        KicadError: the board has no user layer.
    """
    layer, name = _layer(board)
    items: list[BoardCircle | BoardText] = []
    for row in rows:
        x_mm, y_mm = row["at_mm"]
        items += [_circle(x_mm, y_mm, layer), _text(str(row["message"]).split()[0], x_mm, y_mm, layer)]
    commit = board.begin_commit()
    try:
        made: list[Any] = [*board.create_items(items)]
    except BaseException:
        board.drop_commit(commit)
        raise
    board.push_commit(commit, MESSAGE)
    return [item.id.value for item in made], name


def _layer(board: Board) -> tuple[Any, str]:
    from kipy.proto.board.board_types_pb2 import BoardLayer

    there = set(board.get_enabled_layers())
    known = dict(BoardLayer.items())
    for name in USER_LAYERS:
        layer = known.get(f"BL_{name.replace('.', '_')}")
        if layer in there:
            return layer, name
    raise KicadError("the board", "has no user layer to draw on", "enable User.9 in Board Setup > Board Editor Layers")


def _circle(x_mm: float, y_mm: float, layer: Any) -> BoardCircle:  # noqa: ANN401 - an enumeration of protobuf
    from kipy.board_types import BoardCircle
    from kipy.geometry import Vector2

    made = BoardCircle()
    made.layer = layer
    made.center = Vector2.from_xy(round(x_mm * NM_PER_MM), round(y_mm * NM_PER_MM))
    made.radius_point = Vector2.from_xy(round((x_mm + RADIUS_MM) * NM_PER_MM), round(y_mm * NM_PER_MM))
    made.attributes.stroke.width = round(0.15 * NM_PER_MM)
    return made


def _text(code: str, x_mm: float, y_mm: float, layer: Any) -> BoardText:  # noqa: ANN401 - an enumeration of protobuf
    from kipy.board_types import BoardText
    from kipy.geometry import Vector2
    from kipy.proto.common.types import HorizontalAlignment

    made = BoardText()
    made.attributes.horizontal_alignment = HorizontalAlignment.HA_LEFT
    made.layer = layer
    made.value = code
    made.position = Vector2.from_xy(round((x_mm + 1.5 * RADIUS_MM) * NM_PER_MM), round(y_mm * NM_PER_MM))
    made.attributes.size = Vector2.from_xy(round(TEXT_MM * NM_PER_MM), round(TEXT_MM * NM_PER_MM))
    return made

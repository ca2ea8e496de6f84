"""What KiCad's own `pcbnew` finds in a board, as JSON: run by a Python that has it, `pcbnew_facts.py OUT BOARD`.

Lengths are KiCad's nanometres, angles degrees; layers are canonical names. Nothing of ours is imported here.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pcbnew  # type: ignore[import-not-found]

Item = Any
"""`pcbnew` has no types."""

CHORD_NM = 1000
"""Distance of a chord from its arc in copper that is drawn."""


if not hasattr(pcbnew.SwigPyIterator, "next"):  # what SWIG writes calls the iterator of Python 2
    pcbnew.SwigPyIterator.next = pcbnew.SwigPyIterator.__next__

VIAS = {
    pcbnew.VIATYPE_THROUGH: "through",
    pcbnew.VIATYPE_BLIND: "blind",
    pcbnew.VIATYPE_BURIED: "buried",
    pcbnew.VIATYPE_MICROVIA: "micro",
}
PADS = {
    pcbnew.PAD_ATTRIB_SMD: "smd",
    pcbnew.PAD_ATTRIB_PTH: "through",
    pcbnew.PAD_ATTRIB_NPTH: "non_plated",
    pcbnew.PAD_ATTRIB_CONN: "connector",
}
SHAPES = {
    pcbnew.PAD_SHAPE_CIRCLE: "circle",
    pcbnew.PAD_SHAPE_RECTANGLE: "rect",
    pcbnew.PAD_SHAPE_OVAL: "oval",
    pcbnew.PAD_SHAPE_TRAPEZOID: "trapezoid",
    pcbnew.PAD_SHAPE_ROUNDRECT: "roundrect",
    pcbnew.PAD_SHAPE_CHAMFERED_RECT: "roundrect",  # the file says roundrect and names the corners
    pcbnew.PAD_SHAPE_CUSTOM: "custom",
}
MACHINED = {
    pcbnew.PAD_DRILL_POST_MACHINING_MODE_COUNTERBORE: "counterbore",
    pcbnew.PAD_DRILL_POST_MACHINING_MODE_COUNTERSINK: "countersink",
}


def uuid(item: Item) -> str:
    return str(item.m_Uuid.AsString())


def xy(point: Item) -> list[int]:
    return [point.x, point.y]


def machining(item: Item, board: Item) -> dict[str, Any]:
    """Backdrills and post-machining of a via or pad."""
    name = board.GetStandardLayerName
    found = {}
    for side in ("Top", "Bottom"):
        size = getattr(item, f"Get{side}BackdrillSize")()
        if size:
            found[f"{side.lower()}_backdrill"] = [size, name(getattr(item, f"Get{side}BackdrillLayer")())]
    for side in ("Front", "Back"):
        mode = MACHINED.get(getattr(item, f"Get{side}PostMachiningMode")())
        if mode:
            sizes = [getattr(item, f"Get{side}PostMachining{what}")() for what in ("Size", "Depth", "Angle")]
            found[f"{side.lower()}_post"] = [mode, *sizes]
    return found


def track(item: Item, board: Item) -> dict[str, Any]:
    arc = item.Type() == pcbnew.PCB_ARC_T
    return {
        "uuid": uuid(item),
        "start": xy(item.GetStart()),
        "mid": xy(item.GetMid()) if arc else None,
        "end": xy(item.GetEnd()),
        "width": item.GetWidth(),
        "length": item.GetLength(),
        "layer": board.GetStandardLayerName(item.GetLayer()),
        "net": item.GetNetname(),
    }


def via(item: Item, board: Item, copper: list[int]) -> dict[str, Any]:
    modes = [
        getattr(item, f"Get{side}{what}Mode")()
        for what in ("Tenting", "Covering", "Plugging")
        for side in ("Front", "Back")
    ]
    inside = [layer for layer in copper if item.IsOnLayer(layer)]
    return {
        "uuid": uuid(item),
        "at": xy(item.GetPosition()),
        "sizes": {board.GetStandardLayerName(layer): item.GetWidth(layer) for layer in inside},
        "drill": item.GetDrillValue(),
        "kind": VIAS[item.GetViaType()],
        "span": [board.GetStandardLayerName(item.TopLayer()), board.GetStandardLayerName(item.BottomLayer())],
        "net": item.GetNetname(),
        "remove_unused": item.GetRemoveUnconnected(),
        "keep_end": item.GetKeepStartEnd(),
        "protection": [*modes, item.GetCappingMode(), item.GetFillingMode()],
        "machining": machining(item, board),
    }


def pad(item: Item, board: Item, copper: list[int]) -> dict[str, Any]:
    layers = item.GetLayerSet()
    return {
        "uuid": uuid(item),
        "number": item.GetNumber(),
        "at": xy(item.GetPosition()),
        "rotation": item.GetOrientationDegrees(),
        "kind": PADS[item.GetAttribute()],
        "shape": SHAPES[item.GetShape(copper[0])],
        "size": xy(item.GetSize(copper[0])),
        "drill": xy(item.GetDrillSize()),
        "layers": [board.GetStandardLayerName(layer) for layer in copper if layers.Contains(layer)],
        "net": item.GetNetname(),
        "footprint": uuid(item.GetParentFootprint()),
        "machining": machining(item, board),
    }


def footprint(item: Item) -> dict[str, Any]:
    return {
        "uuid": uuid(item),
        "reference": item.GetReference(),
        "value": item.GetValue(),
        "library_id": item.GetFPIDAsString(),
        "at": xy(item.GetPosition()),
        "rotation": item.GetOrientationDegrees(),
        "back": item.IsFlipped(),
        "unfitted": item.IsDNP(),
    }


def zone(item: Item, board: Item, copper: list[int]) -> dict[str, Any]:
    layers = [layer for layer in copper if item.IsOnLayer(layer)]
    fills = {}
    for layer in layers:
        if item.HasFilledPolysForLayer(layer):
            polygons = item.GetFilledPolysList(layer)
            counts = polygons.OutlineCount(), polygons.TotalVertices()
            fills[board.GetStandardLayerName(layer)] = [*counts, polygons.Area()]
    outline = item.Outline()
    return {
        "uuid": uuid(item),
        "name": item.GetZoneName(),
        "net": item.GetNetname(),
        "layers": [board.GetStandardLayerName(layer) for layer in layers],
        "priority": item.GetAssignedPriority(),
        "rule_area": item.GetIsRuleArea(),
        "outline": _outline(outline.COutline(0)) if outline.OutlineCount() else None,
        "fills": fills,
    }


def _outline(chain: Item) -> list[float]:
    """Corners, arcs and area of a zone's outline; corners along an arc are KiCad's own choice."""
    return [chain.PointCount(), chain.ArcCount(), abs(chain.Area())]


def drawing(item: Item, board: Item) -> dict[str, Any]:
    """A graphic on copper: its net, and the area and the box of its copper."""
    copper = pcbnew.SHAPE_POLY_SET()
    item.TransformShapeToPolygon(copper, item.GetLayer(), 0, CHORD_NM, pcbnew.ERROR_INSIDE)
    copper.Simplify()
    box = copper.BBox()
    return {
        "uuid": uuid(item),
        "layer": board.GetStandardLayerName(item.GetLayer()),
        "net": item.GetNetname(),
        "area": copper.Area(),
        "box": [box.GetLeft(), box.GetTop(), box.GetRight(), box.GetBottom()],
    }


def net_class(net: Item) -> dict[str, Any]:
    """Names in order of precedence, and the sizes that hold."""
    found = net.GetNetClassSlow()
    sizes = {}
    for key, name in (
        ("clearance", "Clearance"),
        ("track_width", "TrackWidth"),
        ("via_diameter", "ViaDiameter"),
        ("via_drill", "ViaDrill"),
        ("diff_pair_width", "DiffPairWidth"),
        ("diff_pair_gap", "DiffPairGap"),
    ):
        sizes[key] = getattr(found, f"Get{name}")() if getattr(found, f"Has{name}")() else None
    return {"names": net.GetNetClassName(), "tuning_profile": found.GetTuningProfile(), **sizes}


def settings(board: Item) -> str:
    """The file of an empty board with this one's layers and settings: it holds the stackup as KiCad writes it back."""
    empty = pcbnew.BOARD()
    empty.SetEnabledLayers(board.GetEnabledLayers())
    empty.SetDesignSettings(board.GetDesignSettings())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.kicad_pcb"
        pcbnew.SaveBoard(str(path), empty, True)
        return path.read_text(encoding="utf-8")


def facts(path: str) -> dict[str, Any]:
    """Everything of one board."""
    board = pcbnew.LoadBoard(path)
    copper = list(board.GetEnabledLayers().CuStack())
    tracks = list(board.GetTracks())
    footprints = list(board.GetFootprints())
    edge = pcbnew.SHAPE_POLY_SET()
    closed = board.GetBoardPolygonOutlines(edge, False)
    box = edge.BBox()
    zones = [*board.Zones(), *(z for f in footprints for z in f.Zones())]
    drawn = [*board.GetDrawings(), *(item for f in footprints for item in f.GraphicalItems())]
    return {
        "kicad": pcbnew.GetBuildVersion(),
        "version": board.GetFileFormatVersionAtLoad(),
        "layers": [
            [board.GetStandardLayerName(k), board.GetLayerName(k), pcbnew.LAYER.ShowType(board.GetLayerType(k))]
            for k in copper
        ],
        "thickness": board.GetDesignSettings().GetBoardThickness(),
        "settings": settings(board),
        "has_stackup": board.GetDesignSettings().m_HasStackup,
        "edge": [box.GetWidth(), box.GetHeight()] if closed else None,
        "nets": {n.GetNetname(): net_class(n) for n in board.GetNetsByNetcode().values()},
        "tracks": [track(t, board) for t in tracks if t.Type() != pcbnew.PCB_VIA_T],
        "vias": [via(t, board, copper) for t in tracks if t.Type() == pcbnew.PCB_VIA_T],
        "pads": [pad(p, board, copper) for f in footprints for p in f.Pads()],
        "footprints": [footprint(f) for f in footprints],
        "zones": [zone(z, board, copper) for z in zones if any(z.IsOnLayer(k) for k in copper)],
        "drawings": [drawing(d, board) for d in drawn if d.Type() == pcbnew.PCB_SHAPE_T and d.GetLayer() in copper],
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(facts(sys.argv[2])), encoding="utf-8")

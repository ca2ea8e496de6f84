"""The frozen `Board`: stackup, layers, net classes; tracks, vias, pads, zones as NumPy columns.

Lengths are millimetres, angles degrees, in KiCad's axes (y points down). A layer column holds the index into
`Board.copper_layers`; a net column holds the index into `Board.nets`, where 0 is "no net" with the name "".
`offset` is the byte offset of the item in the file; `Board.line_of` turns it into a line number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import IntEnum
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.project import NetClass, Project, TuningLayer, TuningProfile
from stackup_lib.board.stackup import CopperLayer, LayerKind, Ply, Stackup, StackupLayer
from stackup_lib.core.arrays import distinct
from stackup_lib.core.files.line_numbers import LineNumbers
from stackup_lib.core.kicad_text import as_kicad_shows
from stackup_lib.core.record import entity, record

__all__ = [
    "NO_LAYER",
    "Board",
    "CopperLayer",
    "Drilling",
    "Flags",
    "Floats",
    "Footprints",
    "Ints",
    "LayerKind",
    "NetClass",
    "Outline",
    "PadKind",
    "Pads",
    "Ply",
    "Project",
    "Small",
    "Stackup",
    "StackupLayer",
    "Text",
    "Tracks",
    "TuningLayer",
    "TuningProfile",
    "ViaKind",
    "Vias",
    "Zones",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Small = NDArray[np.int16]
Flags = NDArray[np.int8]
Text = NDArray[np.str_]

NO_LAYER = -1
"""Stands in a layer column for "none"."""


class ViaKind(IntEnum):
    """KiCad's via types."""

    THROUGH = 0
    BLIND = 1
    BURIED = 2
    MICRO = 3


class PadKind(IntEnum):
    """KiCad's pad types."""

    SMD = 0
    THROUGH = 1
    NON_PLATED = 2
    CONNECTOR = 3


@entity
class Tracks:
    """Track segments and arcs, one row each; `mid_*` is NaN for a straight segment."""

    start_x_mm: Floats
    start_y_mm: Floats
    mid_x_mm: Floats
    mid_y_mm: Floats
    end_x_mm: Floats
    end_y_mm: Floats
    width_mm: Floats
    length_mm: Floats
    layer: Small
    net: Ints
    uuid: Text
    offset: Ints

    def __len__(self) -> int:
        return len(self.net)


@entity
class Drilling:
    """Secondary machining of plated holes, one row per hole; sizes are NaN and layers `NO_LAYER` where there is none.

    A backdrill starts at an outer layer and passes through every layer up to and including `*_must_cut`.
    Post-machining `*_post` is "", "counterbore" or "countersink".
    """

    backdrill_size_mm: Floats
    backdrill_start: Small
    backdrill_must_cut: Small
    tertiary_size_mm: Floats
    tertiary_start: Small
    tertiary_must_cut: Small
    front_post: Text
    front_post_size_mm: Floats
    front_post_depth_mm: Floats
    front_post_angle_deg: Floats
    back_post: Text
    back_post_size_mm: Floats
    back_post_depth_mm: Floats
    back_post_angle_deg: Floats


@entity
class Vias:
    """Vias, one row each; `start_layer` is nearer the top than `end_layer`.

    IPC-4761 columns hold 1 yes, 0 no, -1 not stated (the board's own setting holds).
    `pad_size_mm` has shape (vias, copper layers); NaN where the layer is outside the span, and where the via has pads
    at its ends alone. `fill_layers` is a bit mask of the layers on which a fill joins a via without unused pads: KiCad
    keeps its pad there.
    """

    x_mm: Floats
    y_mm: Floats
    size_mm: Floats
    drill_mm: Floats
    kind: Flags
    start_layer: Small
    end_layer: Small
    net: Ints
    pad_size_mm: Floats
    remove_unused: Flags
    keep_end: Flags
    fill_layers: NDArray[np.uint64]
    tented_front: Flags
    tented_back: Flags
    covered_front: Flags
    covered_back: Flags
    plugged_front: Flags
    plugged_back: Flags
    capped: Flags
    filled: Flags
    drilling: Drilling
    uuid: Text
    offset: Ints

    def __len__(self) -> int:
        return len(self.net)


@entity
class Footprints:
    """Footprints, one row each; `back` is 1 when it sits on B.Cu, `unfitted` 1 when marked "do not populate"."""

    reference: Text
    value: Text
    library_id: Text
    x_mm: Floats
    y_mm: Floats
    rotation_deg: Floats
    back: Flags
    unfitted: Flags
    uuid: Text
    offset: Ints

    def __len__(self) -> int:
        return len(self.x_mm)


@entity
class Pads:
    """Pads at their board position, one row each.

    `function` is the name of the symbol's pin, "" where the file has none.
    `layers` is a bit mask over `Board.copper_layers`; `drill_*` is NaN where there is no hole; `rotation_deg` is the
    absolute rotation on the board; `footprint` is an index into `Board.footprints`. `shift_*` is where the copper's
    middle lies from the pad's position, before rotation; `corner_mm` the radius of its corners, NaN where size and
    corners do not tell the shape (custom, trapezoid, chamfered, another one on other layers). `has_stack` is 1 where
    KiCad 9 or later gives the pad a shape of its own on some layers. `tie` numbers the net-tie groups of the board:
    pads with the same number may join their nets, -1 is none. So does `jumper` the groups of pads that KiCad 10 holds
    joined inside their part. `die_length_mm` and `die_delay_ps` are KiCad's pad-to-die length and delay inside the
    package, 0 where none is stated. `fill_layers` is that of `Vias`.
    """

    number: Text
    function: Text
    x_mm: Floats
    y_mm: Floats
    rotation_deg: Floats
    kind: Flags
    shape: Text
    size_x_mm: Floats
    size_y_mm: Floats
    drill_x_mm: Floats
    drill_y_mm: Floats
    layers: NDArray[np.uint64]
    net: Ints
    footprint: Ints
    drilling: Drilling
    shift_x_mm: Floats
    shift_y_mm: Floats
    corner_mm: Floats
    has_stack: Flags
    remove_unused: Flags
    keep_end: Flags
    fill_layers: NDArray[np.uint64]
    tie: Ints
    jumper: Ints
    die_length_mm: Floats
    die_delay_ps: Floats
    uuid: Text
    offset: Ints

    def __len__(self) -> int:
        return len(self.net)


@entity
class Zones:
    """Zones and rule areas, one row each, and their stored fills.

    Fill polygon k covers `fill_x_mm[fill_start[k]:fill_start[k + 1]]` (same for y), is on `fill_layer[k]` and belongs
    to zone `fill_zone[k]`. Holes are joined to the outline by slits, as KiCad writes them. The outline of zone z is
    `outline_x_mm[outline_start[z]:outline_start[z + 1]]` (first polygon only). `forbids_fill` is of rule areas without
    holes that keep fills out, `is_hatched` of zones that are filled with a mesh.
    """

    name: Text
    net: Ints
    layers: NDArray[np.uint64]
    priority: Ints
    is_rule_area: Flags
    forbids_fill: Flags
    is_filled: Flags
    is_hatched: Flags
    outline_start: Ints
    outline_x_mm: Floats
    outline_y_mm: Floats
    fill_zone: Ints
    fill_layer: Small
    fill_start: Ints
    fill_x_mm: Floats
    fill_y_mm: Floats
    uuid: Text
    offset: Ints

    def __len__(self) -> int:
        return len(self.net)


@entity
class Outline:
    """Graphics on Edge.Cuts as polylines (arcs and circles in chords); polyline k is `x_mm[start[k]:start[k + 1]]`.

    `footprint` is the row of the footprint that draws it, -1 for none.
    """

    start: Ints
    x_mm: Floats
    y_mm: Floats
    footprint: Ints

    def of(self, footprint: int) -> Outline:
        """Return the polylines that one footprint draws."""
        chosen = self.footprint == footprint
        length = np.diff(self.start)
        points = np.repeat(chosen, length)
        start = np.concatenate([[0], np.cumsum(length[chosen])]).astype(np.int64)
        return Outline(start, self.x_mm[points], self.y_mm[points], self.footprint[chosen])

    @property
    def size_mm(self) -> tuple[float, float] | None:
        """Width and height of the bounding box; None when there is no outline."""
        if not len(self.x_mm):
            return None
        return float(np.ptp(self.x_mm)), float(np.ptp(self.y_mm))


@entity
class Drawings:
    """Shapes with copper that are no track or via: graphics, and pads of which size and corners do not tell the shape.

    Of a custom pad that is the same on all layers they are what it has besides a round anchor.
    Shape k is the polyline `x_mm[start[k]:start[k + 1]]`, arcs and circles in chords, drawn with a pen of `width_mm`;
    of an area, `is_filled`, it is the edge. `layers` is a bit mask. `footprint` and `pad` say what it belongs to, -1
    for nothing; the net of a pad's shapes is the pad's, that of other shapes in footprints 0.
    """

    layers: NDArray[np.uint64]
    net: Ints
    footprint: Ints
    pad: Ints
    width_mm: Floats
    is_filled: Flags
    start: Ints
    x_mm: Floats
    y_mm: Floats
    uuid: Text
    offset: Ints

    def __len__(self) -> int:
        return len(self.net)


@entity
class MaskOpening:
    """What is drawn in the solder mask of an outer layer, or a track that is left without: a polyline with a pen.

    Attributes:
        layer: the outer copper layer under it.
        x_mm, y_mm: of an area, `is_filled`, the edge.
    """

    layer: int
    x_mm: Floats
    y_mm: Floats
    width_mm: float
    is_filled: bool


@entity
class CopperTexts:
    """Text and dimensions on copper layers: no outlines, which are KiCad's, but what they lie within.

    Attributes:
        layers: bit mask.
        x_mm, y_mm: where it is anchored.
        corner_x_mm, corner_y_mm: of a rectangle around it, shape (texts, 4); it is no smaller than the text.
        words: what it says, as written.
        offset: in the file.
    """

    layers: NDArray[np.uint64]
    x_mm: Floats
    y_mm: Floats
    corner_x_mm: Floats
    corner_y_mm: Floats
    words: Text
    offset: Ints

    def __len__(self) -> int:
        return len(self.offset)


@record
class Board:
    """One board as its files state it.

    Attributes:
        thickness_mm: `(general (thickness ...))`, None when absent.
        stackup: None when the file has no `(stackup ...)` block.
        ipc4761: the board's own defaults for via protection, e.g. `{"tenting_front": True}`; unstated keys absent.
        mask_openings: graphics and fills of the board in its solder mask, and tracks without it; nothing of footprints.
        unknown_tokens: `"parent/token"` -> how often it was met and skipped.
        warnings: what was odd but readable, one line each.
        lines: turns a byte offset in the file into a line.
    """

    path: Path | None
    format_version: int
    generator: str
    thickness_mm: float | None
    copper_layers: tuple[CopperLayer, ...]
    stackup: Stackup | None
    nets: tuple[str, ...]
    tracks: Tracks
    vias: Vias
    footprints: Footprints
    pads: Pads
    zones: Zones
    outline: Outline
    drawings: Drawings
    texts: CopperTexts
    project: Project
    ipc4761: Mapping[str, bool] = field(default_factory=dict)
    mask_openings: tuple[MaskOpening, ...] = field(default=(), compare=False)
    unknown_tokens: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    lines: LineNumbers = field(default_factory=LineNumbers, repr=False, compare=False)

    @property
    def layer_count(self) -> int:
        """Number of copper layers in the layer table."""
        return len(self.copper_layers)

    @property
    def is_blank(self) -> bool:
        """True while nothing is placed or routed: no footprint, and no copper that joins anything."""
        return not (len(self.footprints) or self.has_joining_copper)

    @property
    def is_unrouted(self) -> bool:
        """True while two pads of a net wait to be joined, and no copper joins anything."""
        if self.has_joining_copper:
            return False
        nets = self.pads.net[self.pads.net > 0]
        return len(np.unique(nets)) < len(nets)

    @cached_property
    def routed_nets(self) -> tuple[int, int]:
        """Nets that join pads of several parts: how many have copper beyond these pads, and how many there are.

        A zone counts before it is filled.
        """
        zones = self.zones
        copper = np.zeros(len(self.nets), dtype=np.bool_)
        drawn = zones.net[zones.is_rule_area == 0]
        for nets in (self.tracks.net, self.vias.net, drawn, self.drawings.net[self.drawings.pad < 0]):
            copper[nets] = True
        parts = len(self.footprints) + 1
        nets = distinct(self.pads.net * parts + self.pads.footprint + 1) // parts  # once for each part
        joined = np.bincount(nets[nets > 0], minlength=len(self.nets)) > 1
        return int(np.count_nonzero(joined & copper)), int(np.count_nonzero(joined))

    @property
    def has_joining_copper(self) -> bool:
        """True with a track, a via, a stored fill or drawn copper; what a pad is drawn with joins nothing."""
        return bool(len(self.tracks) or len(self.vias) or len(self.zones.fill_zone) or np.any(self.drawings.pad < 0))

    @cached_property
    def layer_index(self) -> Mapping[str, int]:
        """Canonical copper layer name -> index, top to bottom."""
        return {layer.name: i for i, layer in enumerate(self.copper_layers)}

    @cached_property
    def net_index(self) -> Mapping[str, int]:
        """Net name -> index."""
        return {name: i for i, name in enumerate(self.nets)}

    def net_named(self, name: str) -> int | None:
        """Return the net of a name as the file spells it or as KiCad shows it; None for none, or for several."""
        if name in self.net_index:
            return self.net_index[name]
        found = [i for i, net in enumerate(self.nets) if as_kicad_shows(net) == name]
        return found[0] if len(found) == 1 else None

    def line_of(self, offset: int) -> int:
        """Return the 1-based line of a byte offset in the board file."""
        return self.lines.of(offset)

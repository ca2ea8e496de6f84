"""A Python that has KiCad's own `pcbnew`, and what it finds in a board."""

from __future__ import annotations

import functools
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict, cast

SCRIPT = Path(__file__).parents[2] / "kicad" / "pcbnew_facts.py"
SHOWN_AFTER_S = 600

Point = tuple[int, int]
Machining = dict[str, tuple[object, ...]]


class TrackFacts(TypedDict):
    """A segment, or an arc with its middle."""

    uuid: str
    start: Point
    mid: Point | None
    end: Point
    width: int
    length: float
    layer: str
    net: str


class ViaFacts(TypedDict):
    """A via; `sizes` by layer, `protection` in KiCad's numbers."""

    uuid: str
    at: Point
    sizes: dict[str, int]
    drill: int
    kind: str
    span: tuple[str, str]
    net: str
    remove_unused: bool
    keep_end: bool
    protection: tuple[int, ...]
    machining: Machining


class PadFacts(TypedDict):
    """A pad on the board; `footprint` is its owner's uuid."""

    uuid: str
    number: str
    at: Point
    rotation: float
    kind: str
    shape: str
    size: Point
    drill: Point
    layers: list[str]
    net: str
    footprint: str
    machining: Machining


class FootprintFacts(TypedDict):
    """A footprint."""

    uuid: str
    reference: str
    value: str
    library_id: str
    at: Point
    rotation: float
    back: bool
    unfitted: bool


class ZoneFacts(TypedDict):
    """A zone: corners, arcs and area of its outline; polygons, corners and area of its fill, by layer."""

    uuid: str
    name: str
    net: str
    layers: list[str]
    priority: int
    rule_area: bool
    outline: tuple[int, int, float] | None
    fills: dict[str, tuple[int, int, float]]


class DrawingFacts(TypedDict):
    """A graphic on copper: net, area and box (left, top, right, bottom) of its copper."""

    uuid: str
    layer: str
    net: str
    area: float
    box: tuple[int, int, int, int]


class NetFacts(TypedDict):
    """A net's classes, joined by commas in order of precedence, and the sizes that hold."""

    names: str
    tuning_profile: str
    clearance: int | None
    track_width: int | None
    via_diameter: int | None
    via_drill: int | None
    diff_pair_width: int | None
    diff_pair_gap: int | None


class Facts(TypedDict):
    """What `pcbnew_facts.py` writes of one board: nanometres, square nanometres, degrees."""

    kicad: str
    version: int
    layers: list[tuple[str, str, str]]
    thickness: int
    settings: str
    has_stackup: bool
    edge: Point | None
    nets: dict[str, NetFacts]
    tracks: list[TrackFacts]
    vias: list[ViaFacts]
    pads: list[PadFacts]
    footprints: list[FootprintFacts]
    zones: list[ZoneFacts]
    drawings: list[DrawingFacts]


@functools.cache
def kicad_python() -> tuple[str, ...] | None:
    """Return the command of a Python that has KiCad's `pcbnew`, None when there is none.

    STACKWRIGHT_KICAD_PYTHON names it; else it is sought among the usual ones, and in a KiCad unpacked below /opt.
    """
    stated = os.environ.get("STACKWRIGHT_KICAD_PYTHON")
    commands = [shlex.split(stated)] if stated else [["python3"], ["/usr/bin/python3"], *_unpacked()]
    return next((tuple(c) for c in commands if shutil.which(c[0]) and _has_pcbnew(c)), None)


def _unpacked() -> list[list[str]]:
    roots = [p.parents[4] for p in Path("/opt").glob("*/usr/lib/python3/dist-packages/pcbnew.py")]
    enter = shutil.which("chroot")
    if enter is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return []
    clean = ["/usr/bin/env", "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"]
    return [[enter, str(root), *clean, "/usr/bin/python3"] for root in roots]


def _has_pcbnew(command: Sequence[str]) -> bool:
    try:
        run = subprocess.run([*command, "-c", "import pcbnew"], capture_output=True, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.returncode == 0


def kicads_facts(board: Path) -> Facts:
    """Return what `pcbnew` finds in a board; the files next to it are KiCad's to change, so give it a copy."""
    command = kicad_python()
    assert command is not None
    folder = board.parent / "kicad"
    folder.mkdir()
    script, out = folder / SCRIPT.name, folder / "facts.json"
    shutil.copyfile(SCRIPT, script)  # the Python may live in another root, which sees the test's folder only
    environment = {**os.environ, "HOME": str(folder)}
    run = [*command, str(script), str(out), str(board)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=SHOWN_AFTER_S, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return cast(Facts, json.loads(out.read_text(encoding="utf-8")))

"""The stackup as a board file states it: rows, plies, copper layers."""

import hashlib
import json
from collections.abc import Iterable
from enum import StrEnum

from stackup_lib.core.frozen import Frozen


class LayerKind(StrEnum):
    """What a row of the stackup is."""

    COPPER = "copper"
    CORE = "core"
    PREPREG = "prepreg"
    MASK = "mask"
    PASTE = "paste"
    SILK = "silk"
    OTHER = "other"


class Ply(Frozen):
    """One sheet of a stackup row; a dielectric may have several (KiCad's sublayers).

    Attributes:
        thickness_mm: as written, None when the file gives none.
        thickness_locked: KiCad's lock on the thickness; None in a plan that leaves it as it is, like `color`.
        material: KiCad's free text, None when absent or empty.
        dk: relative permittivity as written, None when absent or 0 or 1 ("not set"); KiCad states no frequency.
        df: loss tangent as written, None when absent or 0 (KiCad writes 0 for "not set"); no frequency either.
        color: KiCad's colour name or `#RRGGBBAA`.
    """

    thickness_mm: float | None = None
    thickness_locked: bool | None = None
    material: str | None = None
    dk: float | None = None
    df: float | None = None
    color: str | None = None


def total_mm(plies: Iterable[Ply]) -> float | None:
    """Return the thickness of some plies together, None when any of them states none."""
    parts = [ply.thickness_mm for ply in plies]
    return None if any(part is None for part in parts) else sum(part for part in parts if part is not None)


class StackupLayer(Frozen):
    """One row of the board's stackup, top to bottom; `plies` is never empty."""

    name: str
    kind: LayerKind
    type_text: str
    plies: tuple[Ply, ...]
    offset: int = 0

    @property
    def thickness_mm(self) -> float | None:
        """Sum over the plies, None when any of them states none."""
        return total_mm(self.plies)

    @property
    def is_dielectric(self) -> bool:
        """True for core and prepreg."""
        return self.kind in (LayerKind.CORE, LayerKind.PREPREG)

    @property
    def has_unlike_plies(self) -> bool:
        """True where the plies differ, as a bare core and the prepreg that bonds it do."""
        return len({(ply.thickness_mm, ply.material, ply.dk) for ply in self.plies}) > 1

    @property
    def ply_names(self) -> tuple[str, ...]:
        """What the plies are called: the row's name, of several with their number."""
        numbers = range(1, len(self.plies) + 1)
        return (self.name,) if len(self.plies) == 1 else tuple(f"{self.name}, ply {number}" for number in numbers)


class Stackup(Frozen):
    """The `(stackup ...)` block of a board, top to bottom.

    Attributes:
        copper_finish: e.g. `ENIG`; None when absent or "None".
        impedance_controlled: KiCad's `dielectric_constraints` flag; None when the token is absent.
        edge_connector: `yes`, `bevelled`, or None.
        edge_plating: None when the token is absent.
    """

    layers: tuple[StackupLayer, ...]
    copper_finish: str | None = None
    impedance_controlled: bool | None = None
    edge_connector: str | None = None
    edge_plating: bool | None = None
    offset: int = 0

    @property
    def copper(self) -> tuple[StackupLayer, ...]:
        """Copper rows, top to bottom."""
        return tuple(layer for layer in self.layers if layer.kind is LayerKind.COPPER)

    @property
    def dielectrics(self) -> tuple[StackupLayer, ...]:
        """Core and prepreg rows, top to bottom."""
        return tuple(layer for layer in self.layers if layer.is_dielectric)

    @property
    def thickness_mm(self) -> float | None:
        """Sum of copper, dielectric and solder mask, as KiCad shows it; None when a needed thickness is not stated."""
        total = 0.0
        for layer in self.layers:
            if layer.kind in (LayerKind.SILK, LayerKind.PASTE, LayerKind.OTHER):
                continue
            if layer.thickness_mm is None:
                if layer.kind is LayerKind.MASK:
                    continue
                return None
            total += layer.thickness_mm
        return total

    @property
    def digest(self) -> str:
        """Short hash of what the stackup states; facts declared for a stackup carry it, colours do not change it."""
        rows = [
            (row.name, row.kind.value, [(p.thickness_mm, p.material, p.dk, p.df) for p in row.plies])
            for row in self.layers
        ]
        return hashlib.sha256(json.dumps(rows, ensure_ascii=True).encode()).hexdigest()[:12]


class CopperLayer(Frozen):
    """One copper layer of the `(layers ...)` table, top to bottom.

    Attributes:
        name: canonical name such as `In1.Cu`.
        user_name: the user's own name, None when there is none.
        kicad_type: `signal`, `power`, `mixed` or `jumper`; not to be trusted for the layer's role.
    """

    name: str
    user_name: str | None = None
    kicad_type: str = "signal"

    @property
    def names(self) -> tuple[str, ...]:
        """Both names, or the one there is: KiCad's rules may use either."""
        return tuple(dict.fromkeys(name for name in (self.name, self.user_name) if name))

"""Places of an order: the dielectrics that take one product, what they need, and the copper around them.

Places are: under the outer layers, in build-ups, next to high-speed layers, and the rest, which closes the sum. All
gaps of a place take one choice, so a stackup is symmetric in material as in thickness. Lengths in mm.
"""

from functools import lru_cache
from typing import Literal, NamedTuple

from stackup_lib.board.stackup import LayerKind
from stackup_lib.materials.pressing import FacingCopper
from stackup_lib.synthesis.arrange import Order
from stackup_lib.synthesis.build_rules import GapNeeds
from stackup_lib.synthesis.candidates import SIGNAL_OZ, USES, CandidateRow, facing_copper
from stackup_lib.synthesis.goals import Goals, carries_fast_outside
from stackup_lib.synthesis.layer_copper import bare_mm, gap_needs, layer_mm, layer_oz, row_oz

Kind = Literal["core", "prepreg"]
Faces = tuple[tuple[float, float], ...]


class FillPosition(NamedTuple):
    """Gaps that take one product: by name, with the copper around each gap and what all of them need."""

    name: str
    kind: Kind
    faces: tuple[tuple[int, Faces], ...]
    needs: GapNeeds

    @property
    def is_fast(self) -> bool:
        """True next to layers whose loss matters."""
        return self.name.startswith("fast")


class OrderToFill(NamedTuple):
    """An order with its copper: what any laminates fill in the same way.

    Attributes:
        places: by name; the dielectrics of each are one product.
        place_of: name of the place of each gap.
        bare_mm: copper and solder mask.
        copper: its rows, without names and foils.
    """

    places: tuple[FillPosition, ...]
    place_of: tuple[str, ...]
    bare_mm: float
    copper: tuple[CandidateRow, ...]


def is_fast_gap(order: Order, gap: int, goals: Goals) -> bool:
    """Tell whether a dielectric touches a layer whose loss matters."""
    is_outer = gap in (0, len(order.gaps) - 1)
    return order.is_fast_gap(gap) or (is_outer and carries_fast_outside(goals))


def has_rest(order: Order, goals: Goals) -> bool:
    """Tell whether some dielectrics touch high-speed layers and others do not: what a hybrid needs."""
    fast = [is_fast_gap(order, gap, goals) for gap in range(len(order.gaps))]
    return any(fast) and not all(fast)


def place_name(order: Order, gap: int, goals: Goals) -> str:
    """Return the name of a dielectric's place."""
    kind = "core" if order.gaps[gap] == "c" else "prepreg"
    fast = is_fast_gap(order, gap, goals)
    if order.is_build_up(gap):
        return "fast build-up" if fast else "build-up"
    if len(order.gaps) == 1:
        return "fast middle core" if fast else "middle core"
    if gap in (0, len(order.gaps) - 1):
        return "fast outer" if fast else "outer"
    heavy = max(layer_oz(order, k, goals) for k in (gap, gap + 1)) > SIGNAL_OZ
    return f"{'fast' if fast else 'middle'} {kind}{' at heavy copper' if heavy else ''}"


@lru_cache(maxsize=64)
def to_fill(order: Order, goals: Goals) -> OrderToFill:
    """Return what every laminate pair fills in an order."""
    count = len(order.layers)
    copper_mm = tuple(layer_mm(order, k, goals) for k in range(count))
    place_of = tuple(place_name(order, gap, goals) for gap in range(len(order.gaps)))
    places = []
    for name in sorted(set(place_of)):
        gaps = [gap for gap, place in enumerate(place_of) if place == name]
        needs = GapNeeds()
        for gap in gaps:
            needs = needs.and_those(gap_needs(order, gap, goals))
        kind: Kind = "core" if order.gaps[gaps[0]] == "c" else "prepreg"
        faces = tuple((gap, _plain(facing_copper(order, gap, copper_mm))) for gap in gaps)
        places.append(FillPosition(name, kind, faces, needs))
    copper = tuple(
        CandidateRow(
            kind=LayerKind.COPPER,
            use=USES[kind],
            thickness_mm=copper_mm[index],
            copper_oz=row_oz(order, index, goals),
        )
        for index, kind in enumerate(order.layers)
    )
    return OrderToFill(tuple(places), place_of, bare_mm(order, goals), copper)


def _plain(faces: tuple[FacingCopper, ...]) -> Faces:
    return tuple((f.thickness_mm or 0.0, f.coverage or 0.0) for f in faces)

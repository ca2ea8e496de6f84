"""Orders of layers: symmetric, every high-speed stripline between two grounds, no two signal layers side by side.

A half is read from the surface to the middle and mirrored; the one exception are four layers with ground and power in
the middle. `O` outer, `G` ground, `F` fast, `S` other signal, `P`
power. Orders follow the usual patterns: ground under the outer layers, then cells of signal and ground, power in the
middle or next to the outer ground. A power plane between two others has no ground next to it, whose capacitance and
return path it needs (Design007, April 2021, p. 37): such orders are given only where the layers hold no other.
"""

from math import ceil

from stackup_lib.core.errors import ConfigError
from stackup_lib.core.frozen import Frozen
from stackup_lib.synthesis.goals import MOST_LAYERS, Goals

GROUND_AGAINST_POWER = ("OGPO", "OPGO")
"""The usual four layers: ground and power face each other across the core. By whether power is the upper one."""

AS_LAID_OUT = "as laid out"

MORE_LAYERS = 2
"""Where the number is free, the smallest and the next even one are tried."""


class Order(Frozen):
    """Layers from top to bottom and dielectrics between them (`c` core, `p` prepreg).

    A foil build has prepreg under its outer foils, a core build has cores there.
    """

    layers: str
    gaps: str
    pattern: str
    build_ups: int = 0

    @property
    def has_one_core(self) -> bool:
        """True where build-ups stand on one core."""
        return self.build_ups > 0 and self.build_ups == len(self.layers) // 2 - 1

    @property
    def laminations(self) -> int:
        """Lamination cycles: that of the cores, and one per build-up; one core alone needs none."""
        return self.build_ups + (len(self.gaps) > 2 * self.build_ups + 1)

    def opposite_face(self, index: int) -> int | None:
        """Return the layer on the other side of a layer's core; None for a foil."""
        if index < len(self.gaps) and self.gaps[index] == "c":
            return index + 1
        return index - 1 if index and self.gaps[index - 1] == "c" else None

    def is_plated_inside(self, index: int) -> bool:
        """Tell whether an inner layer is an outer one of an earlier lamination, plated with the microvias in it."""
        return 0 < min(index, len(self.layers) - 1 - index) < self.build_ups

    def is_build_up(self, gap: int) -> bool:
        """Tell whether microvias are drilled through a dielectric."""
        return gap < self.build_ups or gap >= len(self.gaps) - self.build_ups

    def is_fast_gap(self, gap: int) -> bool:
        """Tell whether a dielectric or its mirror touches a high-speed layer: both are of one laminate."""
        mirror = len(self.gaps) - 1 - gap
        return "F" in self.layers[gap : gap + 2] + self.layers[mirror : mirror + 2]


def least_layers(goals: Goals) -> int:
    """Return the minimum number of layers that holds what is required."""
    if has_power_against_ground(goals):
        return 4
    fast, slow, power = _halves(goals)
    shared = min(slow, 1) if power else 0
    return max(4, 2 * (2 + 2 * fast + 2 * slow - shared + power))


def has_power_against_ground(goals: Goals) -> bool:
    """Tell whether four layers hold all: the usual board with ground and one power plane on either side of its core."""
    return goals.power_planes == 1 and not goals.fast_layers and goals.other_signal_layers == 2


def orders(goals: Goals) -> tuple[Order, ...]:
    """Return the orders for the goals.

    Raises:
        ConfigError: the required layers do not fit the number of layers.
    """
    if goals.laid_out is not None:
        layers = goals.laid_out.layers
        gaps = _gaps(len(layers), goals)
        return tuple(Order(layers=layers, gaps=g, pattern=AS_LAID_OUT, build_ups=goals.build_ups) for g in gaps)
    least, wanted = least_layers(goals), goals.layer_count
    if least > (wanted or MOST_LAYERS):
        what = (
            f"{goals.fast_layers} high-speed layers between grounds, {goals.other_signal_layers} other signal layers "
            f"and {goals.power_planes} power planes need {least} layers, not {wanted or MOST_LAYERS}"
        )
        raise ConfigError("goals", what, f"allow {least} layers" if least <= MOST_LAYERS else "choose fewer layers")
    counts = [wanted] if wanted else [n for n in (least, least + MORE_LAYERS) if n <= MOST_LAYERS]
    found: list[Order] = []
    for count in counts:
        if count // 2 - goals.build_ups < 1:
            raise ConfigError(
                "goals", f"{goals.build_ups} build-ups on {count} layers", "choose fewer build-ups or more layers"
            )
        if count == 4 and has_power_against_ground(goals):
            layers = GROUND_AGAINST_POWER[goals.power_above]
            found += [
                Order(layers=layers, gaps=gaps, pattern="ground against power", build_ups=goals.build_ups)
                for gaps in _gaps(count, goals)
            ]
        patterns: dict[str, str] = {}
        for pattern, half in _half_orders(goals, count // 2):
            if is_sound(half + half[::-1]):
                patterns.setdefault(half + half[::-1], pattern)
        fewest = min(map(enclosed_power, patterns), default=0)
        found += [
            Order(layers=layers, gaps=gaps, pattern=pattern, build_ups=goals.build_ups)
            for layers, pattern in patterns.items()
            if enclosed_power(layers) == fewest
            for gaps in _gaps(count, goals)
        ]
    return tuple(found)


def is_sound(layers: str) -> bool:
    """Tell whether every high-speed layer lies between grounds, and no signal layer next to another."""
    if layers in GROUND_AGAINST_POWER:
        return True
    for k, kind in enumerate(layers):
        adjacent = [layers[j] for j in (k - 1, k + 1) if 0 <= j < len(layers)]
        if kind == "F" and adjacent != ["G", "G"]:
            return False
        if kind in "OS" and not set(adjacent) <= {"G", "P"}:
            return False
        if kind == "O" and adjacent != ["G"]:
            return False
    return layers == layers[::-1]


def enclosed_power(layers: str) -> int:
    """Return how many power planes lie between two others, without a ground next to them."""
    return sum(layers[k - 1 : k + 2] == "PPP" for k in range(1, len(layers) - 1))


def power_without_ground(layers: str) -> int:
    """Return how many power planes have no ground next to them: between two others, or another and a signal layer."""
    return sum(kind == "P" and "G" not in layers[k - 1 : k + 2] for k, kind in enumerate(layers))


def _halves(goals: Goals) -> tuple[int, int, int]:
    return ceil(goals.fast_layers / 2), ceil((goals.other_signal_layers - 2) / 2), ceil(goals.power_planes / 2)


def _half_orders(goals: Goals, size: int) -> list[tuple[str, str]]:
    fast, slow, power = _halves(goals)
    spare = size - (2 + 2 * fast + 2 * slow + power)
    cells = "FG" * fast, "SG" * slow
    found: list[tuple[str, str]] = []
    if spare >= 0:
        middle = _middle(power, spare, last=1)
        found.append(("power in the middle, high-speed layers outside", "OG" + cells[0] + cells[1] + middle))
        found.append(("power in the middle, high-speed layers inside", "OG" + cells[1] + cells[0] + middle))
        if power and spare >= 1:
            found.append(
                ("power next to the outer ground", "OG" + _middle(power, spare - 1, last=2) + "G" + cells[0] + cells[1])
            )
    elif spare == -1 and slow and power:
        found.append(("an inner signal layer against power", "OG" + cells[0] + cells[1][:-1] + "P" * power))
    return found


def _middle(power: int, ground: int, *, last: int) -> str:
    """Power planes, after a ground, with the grounds that are left between them: as many as can be meet ground.

    Between grounds two do, and `last` behind the last ground: one that meets its own mirror image.
    """
    if ground >= power:
        return "PG" * power + "G" * (ground - power)
    groups = [1] * ground + [power - ground]
    for k in range(ground):
        if groups[-1] > last:
            groups[k], groups[-1] = 2, groups[-1] - 1
    return "G".join("P" * group for group in groups)


def _gaps(count: int, goals: Goals) -> list[str]:
    """Return the dielectrics of a foil build, a core build or both; build-ups are foil on prepreg around either."""
    around = "p" * goals.build_ups
    inner = count - 2 * goals.build_ups - 1
    if inner == 1:
        return [f"{around}c{around}"]
    foil = around + ("pc" * inner)[:inner] + around
    core = around + ("cp" * inner)[:inner] + around
    return {"foil": [foil], "core": [core], "either": [foil, core]}[goals.build]

"""Orders of layers against every order that there is: none smaller would do, and what is asked for is in them."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest

from stackup_lib.core.errors import ConfigError
from stackup_lib.synthesis import Goals
from stackup_lib.synthesis.arrange import Order, is_sound, least_layers, orders
from tests.support.each import each

MOST_HALF = 6
GRID = [
    Goals(fast_layers=fast, other_signal_layers=other, power_planes=power)
    for fast, other, power in product((0, 1, 2, 3, 4), (2, 3, 4, 6), (0, 2, 3, 4))
]


def is_good(layers: str) -> bool:
    """Fast between grounds, ground under the outer layers, no signal next to signal, and ground at every signal."""
    for k, kind in enumerate(layers):
        around = [layers[j] for j in (k - 1, k + 1) if 0 <= j < len(layers)]
        if kind == "F" and around != ["G", "G"]:
            return False
        if kind in "OS" and ("G" not in around or not set(around) <= {"G", "P"}):
            return False
        if kind == "O" and around != ["G"]:
            return False
    return True


@cache
def every_order() -> tuple[str, ...]:
    """All symmetric ones of up to twelve layers, the smallest first."""
    halves = ("O" + "".join(inner) for size in range(2, MOST_HALF + 1) for inner in product("GFSP", repeat=size - 1))
    return tuple(half + half[::-1] for half in halves if is_good(half + half[::-1]))


@each(goals=GRID)
def test_no_smaller_order_holds_what_is_asked_for(goals: Goals) -> None:
    """Brute force up to twelve layers; with one layer pair less than the least nothing is found, and that is said."""
    smallest = next(
        (
            len(one)
            for one in every_order()
            if one.count("F") >= goals.fast_layers
            and one.count("S") + 2 >= goals.other_signal_layers
            and one.count("P") >= goals.power_planes
        ),
        2 * MOST_HALF + 2,
    )
    least = least_layers(goals)
    assert min(least, 2 * MOST_HALF + 2) == smallest
    for count in (least, least + 2, least + 6):
        found = orders(goals.model_copy(update={"layer_count": count}))
        assert found
        assert len({order.layers for order in found}) == len(found)
        for order in found:
            assert len(order.layers) == count
            assert is_good(order.layers)
            assert is_sound(order.layers)
            assert order.layers.count("F") >= goals.fast_layers
            assert order.layers.count("S") + 2 >= goals.other_signal_layers
            assert order.layers.count("P") >= goals.power_planes
    if least > 4:
        with pytest.raises(ConfigError, match=f"need {least} layers, not {least - 2}"):
            orders(goals.model_copy(update={"layer_count": least - 2}))


@pytest.mark.parametrize(
    ("layers", "sound"),
    [
        ("OGPO", True),
        ("OPGO", True),
        ("OGGO", True),
        ("OPPO", False),
        ("OGFFGO", False),
        ("OGSSGO", False),
        ("OGFGGSGO", False),
        ("OGFPPFGO", False),
        ("OSGGSO", False),
    ],
)
def test_what_is_sound(layers: str, sound: bool) -> None:
    """Symmetric but for the usual four; ground outside; grounds around fast layers; no signal next to signal."""
    assert is_sound(layers) is sound


def test_where_the_number_is_free_the_least_and_the_next_are_tried() -> None:
    """And a core build has a core at either side."""
    goals = Goals(fast_layers=2, build="either")
    found = orders(goals)
    assert {len(order.layers) for order in found} == {8, 10}
    assert {order.gaps for order in found} == {"pcpcpcp", "cpcpcpc", "pcpcpcpcp", "cpcpcpcpc"}


@pytest.mark.parametrize(
    ("gaps", "build_ups", "presses", "faces", "plated"),
    [
        ("c", 0, 0, [1, 0], []),
        ("pcp", 0, 1, [None, 2, 1, None], []),
        ("cpc", 0, 1, [1, 0, 3, 2], []),
        ("ppcpp", 2, 2, [None, None, 3, 2, None, None], [1, 4]),
        ("pppcpcppp", 2, 3, [None, None, None, 4, 3, 6, 5, None, None, None], [1, 8]),
    ],
)
def test_presses_faces_of_cores_and_plated_layers(
    *, gaps: str, build_ups: int, presses: int, faces: list[int | None], plated: list[int]
) -> None:
    """By hand: one press for what is not one core, one for each build-up; a build-up's inner layers are plated."""
    order = Order(layers="O" + "G" * (len(gaps) - 1) + "O", gaps=gaps, pattern="", build_ups=build_ups)
    assert order.laminations == presses
    assert order.has_one_core == (build_ups > 0 and gaps.count("c") == 1)
    assert [order.opposite_face(k) for k in range(len(order.layers))] == faces
    assert [k for k in range(len(order.layers)) if order.is_plated_inside(k)] == plated
    drilled = [k for k in range(len(gaps)) if order.is_build_up(k)]
    assert drilled == [*range(build_ups), *range(len(gaps) - build_ups, len(gaps))]

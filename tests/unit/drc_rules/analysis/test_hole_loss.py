"""What holes cost a link: barrels and stubs by hand, pins as well as vias, and only what is on the way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from numpy.typing import NDArray

from drc_rules.analysis.loss.hole_loss import added_db, barrel_loss_db, mean_db
from drc_rules.analysis.loss.link_loss import LinkLoss, LinkLosses
from drc_rules.analysis.via.high_speed_vias import grouped_stubs
from drc_rules.analysis.via.stub_nulls import resonance_values
from drc_rules.analysis.via.via_bodies import mean_df, via_of
from drc_rules.facts.context import Context
from stackup_lib.core.interval import Interval
from stackup_lib.transmission_lines.two_port import Complex, in_a_row, s_of_chain, shunt_chain
from stackup_lib.transmission_lines.via_chain import LaminateLoss, open_end_chain, passage_chain
from stackup_lib.vias.stub_resonance import loaded_dk, via_ohm
from tests.support.mini import mini_context
from tests.support.stackups import FOUR_LAYERS

Real = NDArray[np.float64]
CONFIG = '[declared]\nfoil = "VLP"\n[[interface]]\nis = "pcie5"\nnets = ["/PCIE_*"]\n'
NET = "/PCIE_TX0_P"
LAYERS = ("F.Cu", *(f"In{k}.Cu" for k in range(1, 9)), "B.Cu")


def track(layer: str, start_mm: float, end_mm: float) -> dict[str, object]:
    return {"net": NET, "layer": layer, "width_mm": 0.2, "path_mm": [[start_mm, 10], [end_mm, 10]]}


def end(
    name: str, x_mm: float, side: str = "front", pad: Mapping[str, object] = MappingProxyType({})
) -> dict[str, object]:
    pads = [{"number": "1", "net": NET, "size_mm": [0.2, 0.2], **pad}]
    return {"reference": name, "at_mm": [x_mm, 10], "side": side, "pads": pads}


def context(folder: Path, **keys: object) -> Context:
    """A board of 1.5 mm of Megtron 6 with ground inside."""
    board = {"size_mm": (130, 40), "planes": {"In1.Cu": "GND", "In2.Cu": "GND"}, "stackup": FOUR_LAYERS, **keys}
    return mini_context(folder, board, CONFIG)


def ten_layers(folder: Path, leaves: str) -> Context:
    """1.7 mm with four planes: a link over a via from the front to the back, or over two to an inner layer and back."""
    kinds = ('prepreg 0.15 "R-5670(N)"', 'core 0.15 "R-5775(N)"')
    rows = [f"{name} 0.035\n{kinds[k % 2]} dk=3.4" for k, name in enumerate(LAYERS[:-1])]
    up_again = [] if leaves == "B.Cu" else [80]
    return context(
        folder,
        stackup="\n".join([*rows, "B.Cu 0.035"]),
        planes=dict.fromkeys(("In1.Cu", "In3.Cu", "In6.Cu", "In8.Cu"), "GND"),
        tracks=[
            track("F.Cu", 5, 50),
            track(leaves, 50, 80 if up_again else 105),
            *(track("F.Cu", x, 105) for x in up_again),
        ],
        vias=[{"net": NET, "at_mm": [x, 10]} for x in (50, *up_again)],
        parts=[end("U1", 5), end("J1", 105, "front" if up_again else "back")],
    )


def only(ctx: Context) -> LinkLoss:
    losses = LinkLosses(ctx).of("pcie5", declared=True)
    assert losses.missing == ()
    (link,) = losses.known
    return link


def test_a_barrel_that_ends_far_from_the_only_plane_is_a_line_of_another_impedance(tmp_path: Path) -> None:
    """From outer face to outer face it is 1.5 mm; half of PCIe's 85 ohm on either side, and no stub."""
    ctx = context(
        tmp_path,
        planes={"In1.Cu": "GND"},
        tracks=[track("F.Cu", 5, 50), track("B.Cu", 50, 105)],
        vias=[{"net": NET, "at_mm": [50, 10]}],
        parts=[end("U1", 5), end("J1", 105, "back")],
    )
    link = only(ctx)
    (group,) = ctx.get(grouped_stubs)
    dielectric_mm = [0.1, 1.2, 0.1]
    of_board = sum(p.dk.at(16).need() * mm for p, mm in zip(ctx.plies, dielectric_mm, strict=True)) / sum(dielectric_mm)
    dk = Interval(low=of_board, nominal=of_board, high=of_board)
    length_mm = 0.035 + 0.1 + 0.015 + 1.2 + 0.015 + 0.1 + 0.035

    loaded = loaded_dk(group.shape, dk, length_mm).nominal
    expected = barrel_loss_db(16.0, length_mm, loaded, 42.5, via_ohm(group.shape, of_board, length_mm).nominal)

    assert link.hole_count == 1
    assert link.holes_db.nominal == pytest.approx(expected, rel=1e-4)
    assert link.holes_db.low == 0.0


@pytest.mark.parametrize(("leaves", "stub"), [("B.Cu", ()), ("In2.Cu", (2, 9)), ("In7.Cu", (7, 9))])
def test_barrel_and_stub_reflect_together(tmp_path: Path, leaves: str, stub: tuple[int, ...]) -> None:
    """S21 of the chains that are held against a 3-D field solver, between lines of half of 85 ohm."""
    ctx = ten_layers(tmp_path, leaves)
    ghz, nyquist = np.array([4.0]), 4.0
    link = LinkLosses(ctx).at(only(ctx), nyquist)
    (via,) = {via_of(ctx, one, 16.0) for one in ctx.get(grouped_stubs)}
    assert via is not None
    laminate, last = LaminateLoss(mean_df(ctx, 16.0), 16.0), LAYERS.index(leaves)
    barrel = passage_chain(ghz, via, (0, last), laminate, 42.5)
    chains = [barrel, open_end_chain(ghz, via, (stub[0], stub[1]), laminate)] if stub else [barrel]

    def loss_db(parts: list[Complex]) -> float:
        return float(-20 * np.log10(abs(s_of_chain(in_a_row(parts, 1), 42.5)[0, 1, 0])))

    assert link.hole_count == (2 if stub else 1)
    assert link.holes_db.nominal == pytest.approx(link.hole_count * loss_db(chains))
    assert link.holes.rid_db.nominal == pytest.approx(link.hole_count * loss_db([barrel]))
    assert link.holes_db.low < link.holes_db.nominal < link.holes_db.high
    assert (link.holes_db == link.holes.rid_db) is not bool(stub)


def swept_db(*shunt_s: float) -> tuple[list[float], Real]:
    """Loss of each of some shunt capacitances, and of all in a row for any lengths of the lines between them."""
    turns = np.linspace(0, 2 * np.pi, 361)
    angle = np.array(list(product(turns[:-1], repeat=len(shunt_s) - 1)))
    chain = alone = shunt_chain(np.full(len(angle), 1j * shunt_s[0]))
    of = [alone]
    for k, susceptance in enumerate(shunt_s[1:]):
        cosine, sine = np.cos(angle[:, k]), np.sin(angle[:, k])
        line = np.moveaxis(np.array([[cosine, 42.5j * sine], [1j / 42.5 * sine, cosine]]), -1, 0)
        of.append(shunt_chain(np.full(len(angle), 1j * susceptance)))
        chain = chain @ line @ of[-1]

    def loss_db(one: Complex) -> Real:
        return np.asarray(-20 * np.log10(np.abs(s_of_chain(one, 42.5)[:, 1, 0])))

    return [float(loss_db(one)[0]) for one in of], loss_db(chain)


def test_the_minimum_of_two_reflecting_parts_is_that_at_the_best_distance() -> None:
    """Shunt capacitances on a line without loss, its lengths swept: the least loss of the chain; of two the mean."""
    of, both_db = swept_db(0.015, 0.009)

    found = added_db([Interval.exact(one) for one in of])

    assert found.low == pytest.approx(both_db.min(), abs=1e-3)
    assert found.nominal == found.high == pytest.approx(both_db.mean(), abs=1e-3)
    assert mean_db([found, found]) == found
    of, all_db = swept_db(0.03, 0.009, 0.006)
    three = added_db([Interval.exact(one) for one in of])
    assert 0 < three.low == pytest.approx(all_db.min(), abs=1e-3)


def test_two_alike_on_one_trace_of_a_pair_may_cancel_whole_and_the_other_trace_does_not_count() -> None:
    """At the best distance two equal parts let all pass, and so the mean of both traces does."""
    of, both_db = swept_db(0.015, 0.015)
    one = Interval.exact(of[0])
    assert both_db.min() < 1e-4

    found = mean_db([added_db([one, one]), added_db([])])

    assert found.low == pytest.approx(0.0, abs=1e-9)
    assert found.nominal == pytest.approx(both_db.mean() / 2, abs=1e-3)
    a_trace_each = mean_db([added_db([one]), added_db([one])])
    assert a_trace_each.low == pytest.approx(of[0])  # nothing on its own trace cancels it


def test_what_may_be_as_large_as_another_part_may_cancel_it() -> None:
    """Ranges count: 1 dB is left of 2 dB only where the other part cannot be as large."""
    sure, unsure = Interval.exact(2.0), Interval(low=0.1, nominal=0.5, high=math.inf)

    assert added_db([sure, unsure]).low == 0
    assert added_db([sure, Interval.exact(0.5)]).low > 0.5
    assert added_db([unsure]) == unsure


def test_at_the_resonance_of_its_stub_a_hole_loses_what_is_not_known(tmp_path: Path) -> None:
    """1.2 mm of stub below In2 resonate near 20 GHz: nominal and maximum have no end beyond, the minimum does."""
    ctx = ten_layers(tmp_path, "In2.Cu")
    (group,) = ctx.get(grouped_stubs)
    resonance = resonance_values(ctx, group).resonance_ghz

    past = LinkLosses(ctx).at(only(ctx), resonance.nominal).holes_db
    near = LinkLosses(ctx).at(only(ctx), 1.01 * resonance.low).holes_db

    assert (past.nominal, past.high) == (math.inf, math.inf)
    assert past.low == 0  # two stubs may cancel
    assert near.nominal < near.high == math.inf


def test_two_blind_vias_are_two_barrels_of_their_own_lengths(tmp_path: Path) -> None:
    """In by a microvia to the middle of In1 at 0.1425 mm, out from there to the far face at 1.5 mm: 1.3575 mm."""
    ctx = context(
        tmp_path,
        planes={"In2.Cu": "GND"},
        tracks=[track("F.Cu", 5, 50), track("In1.Cu", 50, 70), track("B.Cu", 70, 105)],
        vias=[
            {"net": NET, "at_mm": [50, 10], "kind": "micro", "span": ["F.Cu", "In1.Cu"]},
            {"net": NET, "at_mm": [70, 10], "kind": "blind", "span": ["In1.Cu", "B.Cu"]},
        ],
        parts=[end("U1", 5), end("J1", 105, "back")],
    )
    link, shape = only(ctx), ctx.get(grouped_stubs)[0].shape

    def barrel_db(length_mm: float) -> float:
        loaded = loaded_dk(shape, Interval(low=3.4, nominal=3.4, high=3.4), length_mm).nominal
        return barrel_loss_db(16.0, length_mm, loaded, 42.5, via_ohm(shape, 3.4, length_mm).nominal)

    assert link.hole_count == 2
    assert link.holes_db.nominal == pytest.approx(barrel_db(0.1425) + barrel_db(1.3575), rel=1e-4)


def test_pins_in_plated_holes_count_and_pads_on_the_surface_do_not(tmp_path: Path) -> None:
    """A track on the front between two pins: two holes with stubs of the whole board; between two pads none."""
    pin = {"kind": "through", "size_mm": [0.7, 0.7], "drill_mm": 0.4}
    tracks = [track("F.Cu", 5, 105)]
    pins, pads = (
        only(context(tmp_path / name, tracks=tracks, parts=[end("J1", 5, pad=pad), end("J2", 105, pad=pad)]))
        for name, pad in (("pins", pin), ("pads", {}))
    )

    assert (pins.hole_count, pads.hole_count) == (2, 0)
    assert pads.holes_db.high == 0.0
    assert pins.holes_db.nominal > 0.0


def test_a_via_beside_the_way_costs_nothing(tmp_path: Path) -> None:
    """A branch to a test point over a via of its own is not between driver and connector."""
    keys = {"parts": [end("U1", 5), end("J1", 105)], "tracks": [track("F.Cu", 5, 105)]}
    branch = {"net": NET, "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[50, 10], [50, 10.4]]}
    plain = only(context(tmp_path / "a", **keys))
    adjacent = only(
        context(
            tmp_path / "b",
            **{**keys, "tracks": [track("F.Cu", 5, 105), branch], "vias": [{"net": NET, "at_mm": [50, 10.4]}]},
        )
    )

    assert (plain.hole_count, adjacent.hole_count) == (0, 0)
    assert adjacent.total_db.nominal == pytest.approx(plain.total_db.nominal)

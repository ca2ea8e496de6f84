"""The way of the heat through the board: which holes lead it, to which layer, from either side."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.analysis.thermal.hot_parts import HotPartOnBoard, hot_parts
from drc_rules.facts.context import Context
from drc_rules.rules.thermal._heat_spread import least_k_per_w
from drc_rules.rules.thermal._thermal_path import HeatPath, connected_layers, heat_path
from stackup_lib.core.facts import MissingFact
from tests.support.mini import mini_context

STACKUP = """
F.Cu 0.035
prepreg 0.2 "370HR 2116"
In1.Cu 0.030
core 1.0 "370HR"
In2.Cu 0.030
prepreg 0.2 "370HR 2116"
B.Cu 0.035
"""
HOT = '[[hot_part]]\nrefs = ["U1"]\npower_w = 4\n'
PINS = [{"number": str(k), "net": f"/N{k}", "at_mm": [-2.5, k - 2], "size_mm": [0.7, 0.25]} for k in range(1, 5)]
PAD = {"number": "5", "net": "GND", "at_mm": [0, 0], "size_mm": [3.4, 3.4]}


def vias(count: int = 9, **changes: object) -> dict[str, object]:
    """Vias of 0.3 mm from the pad's upper left on, in rows of three."""
    grid = [3, count // 3] if count >= 3 else [count, 1]
    usual = {"net": "GND", "at_mm": [18.9, 13.9], "drill_mm": 0.3, "size_mm": 0.5, "grid": grid, "pitch_mm": 1.1}
    return {**usual, **changes}


def context(folder: Path, *, side: str = "front", config: str = HOT, **changes: object) -> Context:
    """A part with a thermal pad of 3.4 mm on a board that is the same from both sides but for its planes."""
    board = {
        "size_mm": [40, 30],
        "stackup": STACKUP,
        "planes": {"In1.Cu": "GND", "B.Cu": "GND"},
        "parts": [{"reference": "U1", "at_mm": [20, 15], "side": side, "pads": [*PINS, PAD]}],
        "vias": [vias()],
        **changes,
    }
    return mini_context(folder, board, config)


def only(ctx: Context) -> HotPartOnBoard:
    (part,) = hot_parts(ctx)
    return part


def path_of(ctx: Context) -> HeatPath | None:
    return heat_path(ctx, only(ctx))


def test_a_part_on_the_back_leads_its_heat_to_the_front_as_its_mirror_image_does(tmp_path: Path) -> None:
    """The board turned over: In2 is the nearest plane, F.Cu the sink, and the resistances are the same."""
    front = path_of(context(tmp_path / "a"))
    back = path_of(context(tmp_path / "b", side="back", planes={"In2.Cu": "GND", "F.Cu": "GND"}))

    assert front is not None
    assert back is not None
    assert (front.sink_name, front.plane_name, front.holes) == ("B.Cu", "In1.Cu", 9)
    assert (back.sink_name, back.plane_name, back.holes) == ("F.Cu", "In2.Cu", 9)
    assert back.k_per_w.nominal == pytest.approx(front.k_per_w.nominal)
    assert back.least_k_per_w == pytest.approx(front.least_k_per_w)


def test_a_declared_sink_shortens_the_way_and_one_that_is_not_there_is_asked_for(tmp_path: Path) -> None:
    """To In1 it is 0.2325 mm from middle to middle, to B.Cu 1.53 mm; what spreads in the pad stays."""
    to_back = path_of(context(tmp_path / "a"))
    to_plane = path_of(context(tmp_path / "b", config=f'{HOT}sink = "In1.Cu"\n'))

    assert to_back is not None
    assert to_plane is not None
    assert (to_plane.sink_name, to_plane.plane_name, to_plane.to_plane_k_per_w) == ("In1.Cu", "", None)
    assert to_plane.k_per_w.nominal < to_back.k_per_w.nominal / 3
    assert to_plane.least_k_per_w == to_plane.k_per_w.low
    with pytest.raises(MissingFact, match=r"the layer In9\.Cu"):
        path_of(context(tmp_path / "c", config=f'{HOT}sink = "In9.Cu"\n'))


def test_only_holes_that_reach_the_sink_lead_to_it(tmp_path: Path) -> None:
    """Blind vias to In1 end there; six through vias next to three blind ones are six."""
    blind: dict[str, object] = {"kind": "blind", "span": ["F.Cu", "In1.Cu"]}
    shallow = [{**vias(), **blind}]
    mixed = path_of(context(tmp_path / "m", vias=[vias(6), {**vias(3, at_mm=[18.9, 16.1]), **blind}]))

    assert path_of(context(tmp_path / "a", vias=shallow)) is None
    to_plane = path_of(context(tmp_path / "b", vias=shallow, config=f'{HOT}sink = "In1.Cu"\n'))
    assert to_plane is not None
    assert to_plane.holes == 9
    assert mixed is not None
    assert mixed.holes == 6


def test_every_thermal_pad_leads_beside_the_others(tmp_path: Path) -> None:
    """Two pads with three vias each: half of what one pad with its three would be."""
    pads = [{**PAD, "size_mm": [3.4, 1.2], "number": str(n), "at_mm": [0, y]} for n, y in ((5, -1.1), (6, 1.1))]
    parts = [{"reference": "U1", "at_mm": [20, 15], "pads": [*PINS, *pads]}]
    upper, lower = vias(3), vias(3, at_mm=[18.9, 16.1])
    one, both = (path_of(context(tmp_path / str(len(v)), parts=parts, vias=v)) for v in ([upper], [upper, lower]))

    assert one is not None
    assert both is not None
    assert (one.holes, both.holes) == (3, 6)
    assert both.k_per_w.nominal == pytest.approx(one.k_per_w.nominal / 2)


def test_a_fill_of_copper_leads_best_then_any_fill_then_none(tmp_path: Path) -> None:
    """Declared copper, then a filled via of the file, then an open one, whether declared or of the file."""
    declared = [path_of(context(tmp_path / fill, config=f'{HOT}via_fill = "{fill}"\n')) for fill in ("copper", "none")]
    of_file = [path_of(context(tmp_path / str(filled), vias=[vias(filled=filled)])) for filled in (True, False)]
    copper, none, filled, plain = (path.k_per_w if path else None for path in (*declared, *of_file))

    assert copper is not None
    assert none is not None
    assert filled is not None
    assert plain is not None
    assert copper.nominal < filled.nominal < none.nominal
    assert plain == none


def test_a_filled_microvia_may_be_plated_shut(tmp_path: Path) -> None:
    """To In1 under the part, at its best copper all through: a drilled hole of the same size holds resin at most."""
    sink = f'{HOT}sink = "In1.Cu"\n'
    span = ["F.Cu", "In1.Cu"]
    laser, drilled = (
        path_of(context(tmp_path / kind, config=sink, vias=[{**vias(filled=True), "kind": kind, "span": span}]))
        for kind in ("micro", "blind")
    )

    assert laser is not None
    assert drilled is not None
    assert laser.k_per_w.low < drilled.k_per_w.low / 2
    assert laser.k_per_w.high == pytest.approx(drilled.k_per_w.high, rel=0.01)


@pytest.mark.parametrize(("side", "sink"), [("front", "B.Cu"), ("back", "F.Cu")])
def test_the_sink_itself_is_no_plane_on_the_way(tmp_path: Path, side: str, sink: str) -> None:
    """With copper on the far side alone, nothing spreads the heat before it."""
    found = path_of(context(tmp_path, side=side, planes={sink: "GND"}))

    assert found is not None
    assert (found.sink_name, found.plane_name, found.to_plane_k_per_w) == (sink, "", None)


def test_copper_beside_the_holes_spreads_heat_only_within_reach_and_on_their_net(tmp_path: Path) -> None:
    """Ground within a relief of a hole counts; 3 mm away, or of another net, it does not."""
    near = {"net": "GND", "layer": "In1.Cu", "rect_mm": [19.5, 10, 30, 20]}
    far = {"net": "GND", "layer": "In1.Cu", "rect_mm": [25, 10, 35, 20]}
    other = {"net": "+3V3", "layer": "In2.Cu", "rect_mm": [10, 10, 30, 20], "clearance_mm": 0.2}
    touched = [
        connected_layers(ctx := context(tmp_path / name, planes={}, zones=zones), only(ctx))
        for name, zones in (("near", [near, other]), ("far", [far, other]))
    ]

    assert touched == [(1,), ()]


def drilled(start: str, must_cut: str) -> list[dict[str, object]]:
    """The nine vias, drilled out from one side up to a layer."""
    return [vias(backdrill={"size_mm": 0.5, "from": start, "must_cut": must_cut})]


def test_a_backdrill_takes_away_what_the_barrel_reaches(tmp_path: Path) -> None:
    """From the far side up to In2 the barrels still reach In1; from the part's own side they are off the pad."""
    far, near = drilled("B.Cu", "In2.Cu"), drilled("F.Cu", "In1.Cu")
    sink = f'{HOT}sink = "In1.Cu"\n'
    to_plane = path_of(context(tmp_path / "a", vias=far, config=sink))
    whole = path_of(context(tmp_path / "b", config=sink))

    assert to_plane == whole
    assert path_of(context(tmp_path / "c", vias=far)) is None
    assert path_of(context(tmp_path / "d", vias=near)) is None
    back = context(tmp_path / "e", side="back", planes={"F.Cu": "GND"}, vias=drilled("F.Cu", "In2.Cu"))
    assert path_of(back) is None
    within = [vias(backdrill={"size_mm": 0.3, "from": "B.Cu", "must_cut": "In2.Cu"})]
    assert path_of(context(tmp_path / "f", vias=within)) == path_of(context(tmp_path / "g"))


def test_an_inner_sink_counts_the_vias_that_join_copper_there(tmp_path: Path) -> None:
    """In2 of +12V is none for ground; a ground zone under six of nine vias counts these six."""
    sink = f'{HOT}sink = "In2.Cu"\n'
    zone = {"net": "GND", "layer": "In2.Cu", "rect_mm": [10, 10, 20.1, 20]}
    six = path_of(context(tmp_path / "a", planes={}, zones=[zone], config=sink))

    assert path_of(context(tmp_path / "b", planes={"In2.Cu": "+12V"}, config=sink)) is None
    assert six is not None
    assert six.holes == 6


def test_the_bound_adds_what_copper_around_can_conduct_at_most(tmp_path: Path) -> None:
    """Without a pour it is the array's own; with one, less, and not below the pad on one temperature with all of it."""
    around = vias(18, at_mm=[17.6, 17.5], grid=[9, 2], pitch_mm=0.6)
    one = vias(1, at_mm=[20, 15])
    alone = context(tmp_path / "a", planes={"B.Cu": "GND"}, vias=[one])
    poured = context(tmp_path / "b", planes={"F.Cu": "GND", "B.Cu": "GND"}, vias=[one, around])
    bounds = []
    for ctx in (alone, poured):
        path = path_of(ctx)
        assert path is not None
        bounds.append((least_k_per_w(ctx, only(ctx), path), path.least_k_per_w))
    (bare, own), (spread, same) = bounds
    laminate = 0.7 * 40 * 30 / 1530

    assert bare == pytest.approx(own)
    assert own == pytest.approx(same)
    assert 1 / (19 / own + laminate) < spread < own / 4


def test_a_pad_without_a_net_counts_where_no_other_is_a_thermal_pad(tmp_path: Path) -> None:
    """Alone it is the thermal pad; next to one of ground it holds the part."""
    bare = {"number": "6", "at_mm": [0, 4.5], "size_mm": [3, 3]}
    found = []
    for pads in ([*PINS, bare], [*PINS, PAD, bare]):
        parts = [{"reference": "U1", "at_mm": [20, 15], "pads": pads}]
        found.append([pad.number for pad in only(context(tmp_path / str(len(pads)), parts=parts)).pads])

    assert found == [["6"], ["5"]]

"""Declared rails and their return path: which pads are its ends, whose current counts, and what is reported of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from drc_rules.analysis.power.power_rails import PowerRails
from drc_rules.analysis.power.rail_ends import ReturnEnds, return_ends
from drc_rules.analysis.power.rail_inputs import parts_on
from drc_rules.analysis.power.rail_returns import LoadReturn, ReturnRequest, _terminals
from drc_rules.analysis.power.rail_table import rail_rows
from drc_rules.facts.context import Context
from stackup_lib.board.board import Board
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.kicad import read_board
from stackup_lib.power.copper import sheet_resistance_ohm
from stackup_lib.power.ground_return.ground_return import ReturnDrops, solve_return
from stackup_lib.power.rail_drop.spread import PLATING_UM
from tests.support.mini import mini_context, mini_file

OUTER_OHM = sheet_resistance_ohm(0.035)


def part(reference: str, x: float, nets: list[str], y: float = 15.0) -> dict[str, object]:
    """Surface pads of 2 x 4 mm, one over the other, 5 mm apart."""
    pads = [
        {"number": f"{k + 1}", "net": net, "at_mm": [0, 5 * k], "size_mm": [2, 4], "shape": "rect"}
        for k, net in enumerate(nets)
    ]
    return {"reference": reference, "at_mm": [x, y], "pads": pads}


def context_of(folder: Path, config: str, *parts: Mapping[str, object], **keys: object) -> Context:
    """+5V as a bar 4 mm high at y = 15, GND as one at y = 20, both from x = 5 to 65; J1 at 10 and U1 at 50 on both."""
    mini = {
        "size_mm": [70, 40],
        "stackup": 'F.Cu 0.035\ncore 1.5 "370HR"\nB.Cu 0.035',
        "zones": [
            {"net": "+5V", "layer": "F.Cu", "rect_mm": [5, 13, 65, 17]},
            {"net": "GND", "layer": "F.Cu", "rect_mm": [5, 18, 65, 22]},
        ],
        "parts": [part("J1", 10, ["+5V", "GND"]), part("U1", 50, ["+5V", "GND"]), *parts],
        "config": config,
        **keys,
    }
    return mini_context(folder, mini, config)


def rail(lines: str, net: str = "+5V", volts: float = 5.0) -> str:
    return f'[[rail]]\nnet = "{net}"\nvoltage_v = {volts}\n{lines}\n'


def test_both_ways_of_a_rail_add_up(tmp_path: Path) -> None:
    """38 mm of 4 mm out and back: 9.5 squares each, at 2 A; the table tells both."""
    context = context_of(tmp_path, rail('current_a = 2\nfrom = ["J1"]\nto = ["U1"]'))
    (row,) = rail_rows(context)
    one_way = 2 * 9.5 * OUTER_OHM * 1000

    assert row.there_mv is not None
    assert row.back_mv is not None
    assert row.drop_mv is not None
    assert row.there_mv.nominal == pytest.approx(one_way, rel=0.01)
    assert row.back_mv.nominal == pytest.approx(one_way, rel=0.01)
    assert row.drop_mv.nominal == pytest.approx(row.there_mv.nominal + row.back_mv.nominal)
    assert row.resistance_mohm is not None
    assert row.resistance_mohm.nominal == pytest.approx(row.drop_mv.nominal / 2)
    assert (row.ground, row.not_counted) == ("GND", "")


@pytest.mark.parametrize("source", ["", "from = []", 'from = ["?"]'])
def test_a_rail_without_a_source_has_no_known_return(tmp_path: Path, source: str) -> None:
    """Nobody said where the current leaves ground; with `ground_from` it is known."""
    lines = f'current_a = 1\nto = ["U1"]\n{source}'
    open_, told = (
        context_of(tmp_path / name, rail(lines + more))
        for name, more in (("open", ""), ("told", '\nground_from = ["J1"]'))
    )

    with pytest.raises(MissingFact, match="where it is fed"):
        PowerRails(open_).returned(PowerRails(open_).declared[0])
    assert PowerRails(told).returned(PowerRails(told).declared[0]).net == "GND"


def test_an_unknown_ground_return_is_reported_and_does_not_count_as_zero(tmp_path: Path) -> None:
    """U2 has no ground pad: the drop is that of the supply path, and the table says what is missing."""
    context = context_of(
        tmp_path, rail('current_a = 2\nfrom = ["J1"]\nto = ["U2"]'), part("U2", 30, ["+5V", "OUT", "EN"], y=15)
    )
    (row,) = rail_rows(context)

    assert row.back_mv is None
    assert row.ground == ""
    assert row.not_counted == "return path: where the return current of +5V enters ground: U2 has no ground pad"
    with pytest.raises(MissingFact, match="U2 has no ground pad") as missing:
        PowerRails(context).returned(PowerRails(context).declared[0])
    assert 'ground_to = ["?"]' in missing.value.how_to_give


def test_the_worst_load_is_that_of_both_ways_together(tmp_path: Path) -> None:
    """U2 is nearer on the rail, and its ground pad farther from the source: by both ways it loses more than U1."""
    far = {
        "reference": "U2",
        "at_mm": [46, 15],
        "pads": [
            {"number": "1", "net": "+5V", "size_mm": [2, 4], "shape": "rect"},
            {"number": "2", "net": "GND", "at_mm": [18, 5], "size_mm": [2, 4], "shape": "rect"},
        ],
    }
    context = context_of(tmp_path, rail('from = ["J1"]\nto = { U1 = 1, U2 = 1 }'), far)
    whole = PowerRails(context).whole(PowerRails(context).declared[0])

    assert whole.there.drop.worst.name == "U1"
    assert whole.there.drop.loads[whole.worst].name == "U2"


@pytest.mark.parametrize(
    ("left_out", "says"),
    [
        ("R1", "where +5V is fed: R1 is not fitted (DNP)"),
        ("L1", "where the return current of +5V leaves ground: R1 has no ground pad"),
        ("Q1", "where the return current of +5V leaves ground: R1 has no ground pad"),
        ("U1", "what draws from +5V: U1 is not fitted (DNP)"),
    ],
)
def test_no_return_is_inferred_through_parts_that_are_not_fitted(tmp_path: Path, left_out: str, says: str) -> None:
    """The source, the inductor behind it, what drives that, and the load."""
    own = [part("J1", 10, ["+5V", "GND"]), part("U1", 50, ["+5V", "GND"])]
    parts = [one | {"unfitted": one["reference"] == left_out} for one in (*own, *driven_by_shunt())]
    context = context_of(tmp_path, rail('current_a = 1\nfrom = ["R1"]\nto = ["U1"]'), parts=parts)
    with pytest.raises(MissingFact, match=re.escape(says)):
        PowerRails(context).returned(PowerRails(context).declared[0])


def test_parts_that_are_not_fitted_are_not_offered_as_ends(tmp_path: Path) -> None:
    """What the hints and the form offer: neither by the attribute nor by the value."""
    others = [part("U2", 30, ["+5V", "GND"]) | {"unfitted": True}, part("U3", 40, ["+5V"]) | {"value": "TPS1 DNP"}]
    assert parts_on(context_of(tmp_path, "", *others).board, "+5V") == ["J1", "U1"]


def test_a_part_outside_of_the_bill_of_materials_alone_is_fitted(tmp_path: Path) -> None:
    path = mini_file(tmp_path, {"copper_layers": 2, "parts": [part("J1", 10, ["+5V"])]})
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("(attr smd)", "(attr smd exclude_from_pos_files exclude_from_bom)"), encoding="utf-8")
    assert "exclude_from_bom" in path.read_text(encoding="utf-8")
    assert parts_on(read_board(path), "+5V") == ["J1"]


def driven_by_shunt() -> tuple[dict[str, Any], ...]:
    """R1 on +5V, L1 behind it, and Q1 that drives L1."""
    shunt: dict[str, object] = {
        "reference": "R1",
        "at_mm": [8, 15],
        "pads": [
            {"number": "1", "net": "+5V", "size_mm": [1, 2]},
            {"number": "2", "net": "LOUT", "at_mm": [0, -8], "size_mm": [1, 2]},
        ],
    }
    inductor: dict[str, object] = {
        "reference": "L1",
        "at_mm": [14, 5],
        "pads": [
            {"number": "1", "net": "LOUT", "size_mm": [1, 2]},
            {"number": "2", "net": "SW", "at_mm": [4, 0], "size_mm": [1, 2]},
        ],
    }
    return shunt, inductor, part("Q1", 22, ["SW", "GATE", "VIN", "GND"], y=5)


def test_a_shunt_and_an_inductor_lead_to_what_drives_them(tmp_path: Path) -> None:
    """R1 and L1 in series; Q1 drives L1: its ground pads are the end of the ground return, which is inferred."""
    context = context_of(tmp_path, rail('current_a = 1\nfrom = ["R1"]\nto = ["U1"]'), *driven_by_shunt())
    row = PowerRails(context).declared[0]
    with context.recording() as used:
        found = PowerRails(context).returned(row)

    assert found.inferred == "the return taken to Q1, on the other side of R1"
    assert found.of(0).nominal == pytest.approx(26 / 4 * OUTER_OHM, rel=0.02)
    assert used.confidence is Confidence.MEDIUM


def with_more_pads(one: dict[str, Any], *more: Mapping[str, object]) -> dict[str, Any]:
    """A part with small pads besides its two."""
    small = [{"number": f"{k + 3}", "size_mm": [0.5, 0.5], **pad} for k, pad in enumerate(more)]
    return one | {"pads": [*one["pads"], *small]}


def test_pads_for_sensing_and_for_hold_leave_a_part_in_series(tmp_path: Path) -> None:
    """A shunt of four pads on two nets and an inductor with two pads on none lead on like those of two pads."""
    shunt, inductor, driver = driven_by_shunt()
    sensing = {"net": "+5V", "at_mm": [0.25, 0]}, {"net": "LOUT", "at_mm": [0.25, -8]}
    held = {"at_mm": [2, 1.5]}, {"at_mm": [2, -1.5]}
    parts = with_more_pads(shunt, *sensing), with_more_pads(inductor, *held), driver
    context = context_of(tmp_path, rail('current_a = 1\nfrom = ["R1"]\nto = ["U1"]'), *parts)
    found = PowerRails(context).returned(PowerRails(context).declared[0])
    assert found.inferred == "the return taken to Q1, on the other side of R1"


def test_a_part_on_three_nets_leads_nowhere(tmp_path: Path) -> None:
    """The third net of an inductor with a tap may be fed as well."""
    shunt, inductor, driver = driven_by_shunt()
    parts = shunt, with_more_pads(inductor, {"net": "TAP", "at_mm": [2, 1.5]}), driver
    context = context_of(tmp_path, rail('current_a = 1\nfrom = ["R1"]\nto = ["U1"]'), *parts)
    with pytest.raises(MissingFact, match="R1 has no ground pad"):
        PowerRails(context).returned(PowerRails(context).declared[0])


TWO = rail('current_a = 1\nfrom = ["J1"]\nto = ["U1"]') + rail('current_a = 3\nfrom = ["U1"]\nto = ["J1"]', "+3V3", 3.3)


def second() -> dict[str, object]:
    """A bar of +3V3 at y = 5 between J1 and U1."""
    zone = {"net": "+3V3", "layer": "F.Cu", "rect_mm": [5, 3, 65, 7]}
    both = [
        {"net": "+5V", "layer": "F.Cu", "rect_mm": [5, 13, 65, 17]},
        {"net": "GND", "layer": "F.Cu", "rect_mm": [5, 18, 65, 22]},
    ]
    parts = [part("J1", 10, ["+3V3", "AUX", "+5V", "GND"], y=5), part("U1", 50, ["+3V3", "AUX", "+5V", "GND"], y=5)]
    return {"zones": [*both, zone], "parts": parts}


def test_a_current_that_relieves_the_return_path_is_not_counted(tmp_path: Path) -> None:
    """3 A of +3V3 return from J1 to U1, against the 1 A of +5V: each rail is judged by its own current alone."""
    context = context_of(tmp_path, TWO, **second())
    own, other = (PowerRails(context).returned(row) for row in PowerRails(context).declared)

    assert own.counted == ("+3V3",)
    assert (own.loads[0].others_v, other.loads[0].others_v) == (0.0, 0.0)
    assert other.of(0).nominal == pytest.approx(3 * own.of(0).nominal, rel=1e-6)
    for found in (own, other):
        assert sum(found.loads[0].parts_v) == pytest.approx(found.loads[0].own_v)


def test_currents_of_one_way_share_the_copper(tmp_path: Path) -> None:
    """Both from J1 to U1: each takes the 4 A of both back; without the second rail's current it is left out by name."""
    config = TWO.replace('from = ["U1"]\nto = ["J1"]', 'from = ["J1"]\nto = ["U1"]')
    shared = context_of(tmp_path / "a", config, **second())
    alone = context_of(tmp_path / "b", config.replace("current_a = 3\n", ""), **second())
    both, single = (PowerRails(ctx).returned(PowerRails(ctx).declared[0]) for ctx in (shared, alone))

    assert both.of(0).nominal == pytest.approx(4 * single.of(0).nominal, rel=1e-6)
    assert (both.left_out, single.left_out) == ((), ("+3V3",))
    assert rail_rows(alone)[0].not_counted == "what +3V3 may send through GND"


CORE, PREPREG = 'core 0.5 "370HR"', 'prepreg 0.2 "370HR"'
FOUR_LAYERS = f"F.Cu 0.035\n{CORE}\nIn1.Cu 0.035\n{PREPREG}\nIn2.Cu 0.035\n{CORE}\nB.Cu 0.035"


def through(reference: str, x: float, nets: list[str], y: float = 30.0) -> dict[str, object]:
    """Plated pads, one over the other, 5 mm apart."""
    pads = [
        {"number": f"{k + 1}", "net": net, "at_mm": [0, 5 * k], "size_mm": [2, 2], "kind": "through", "drill_mm": 1.0}
        for k, net in enumerate(nets)
    ]
    return {"reference": reference, "at_mm": [x, y], "pads": pads}


def test_the_range_of_a_return_path_is_that_of_its_own_copper(tmp_path: Path) -> None:
    """One rail returns on F.Cu, which may be plated to 65 um, one with most of the power on In1.Cu, 35 um at most."""
    config = rail('current_a = 1\ncopper_c = 20\nfrom = ["J1"]\nto = ["U1"]')
    config += rail('current_a = 10\ncopper_c = 20\nfrom = ["J2"]\nto = ["U2"]', "+3V3", 3.3)
    context = context_of(
        tmp_path,
        config,
        through("J2", 10, ["+3V3", "GND"]),
        through("U2", 50, ["+3V3", "GND"]),
        size_mm=[70, 50],
        stackup=FOUR_LAYERS,
        zones=[
            {"net": "+5V", "layer": "F.Cu", "rect_mm": [5, 13, 65, 17]},
            {"net": "GND", "layer": "F.Cu", "rect_mm": [5, 18, 65, 22]},
            {"net": "+3V3", "layer": "In1.Cu", "rect_mm": [5, 28, 65, 32]},
            {"net": "GND", "layer": "In1.Cu", "rect_mm": [5, 33, 65, 37]},
        ],
    )
    outer, inner = (PowerRails(context).returned(row).loads[0] for row in PowerRails(context).declared)

    assert outer.ratio.low == pytest.approx(0.035 / 0.065, rel=1e-6)
    assert outer.ratio.high == pytest.approx(1 / 0.9, rel=1e-6)
    assert inner.ratio.low == pytest.approx(1.0, rel=1e-6)
    assert inner.ratio.high == pytest.approx(0.035 / 0.0249, rel=1e-6)
    assert sum(outer.parts_v) == pytest.approx(outer.own_v)


@pytest.mark.parametrize("lines", ["copper_c = 60", "plating_um = 30\ncopper_c = 60"])
def test_declared_temperature_holds_for_the_return_path_as_well(lines: str, tmp_path: Path) -> None:
    """At 60 degrees copper has 15.7 % more resistance, and heat no longer widens the range."""
    text = rail('current_a = 1\nfrom = ["J1"]\nto = ["U1"]\n')
    cold, warm = (
        PowerRails(context).returned(PowerRails(context).declared[0])
        for context in (context_of(tmp_path / "a", text), context_of(tmp_path / "b", text + lines))
    )

    assert warm.of(0).nominal / cold.of(0).nominal == pytest.approx(1 + 40 * 0.00393, rel=1e-4)
    assert warm.of(0).high < cold.of(0).high


def ground_on_two_layers() -> dict[str, object]:
    """Ground that leads from J1 down to the second layer and up again to U1, through one via each."""
    zones = [("F.Cu", 5, 25), ("In1.Cu", 20, 50), ("F.Cu", 45, 65)]
    return {
        "stackup": FOUR_LAYERS,
        "zones": [
            {"net": "+5V", "layer": "F.Cu", "rect_mm": [5, 13, 65, 17]},
            *({"net": "GND", "layer": layer, "rect_mm": [x0, 18, x1, 22]} for layer, x0, x1 in zones),
        ],
        "vias": [{"net": "GND", "at_mm": [x, 20], "drill_mm": 0.2} for x in (22, 48)],
    }


def return_at(folder: Path, *plating_um: float | None) -> LoadReturn:
    """Return the return path of the first of some rails from J1 to U1 that state their plating, or none."""
    config = ""
    for k, plating in enumerate(plating_um):
        stated = "" if plating is None else f"plating_um = {plating:g}\n"
        config += rail(f'current_a = 1\ncopper_c = 20\n{stated}from = ["J1"]\nto = ["U1"]', ("+5V", "+3V3")[k])
    both = [part(name, x, ["+5V", "GND"]) for name, x in (("J1", 10), ("U1", 50))]
    if len(plating_um) > 1:
        pad = {"number": "3", "net": "+3V3", "at_mm": [0, -8], "size_mm": [2, 4], "shape": "rect"}
        both = [one | {"pads": [*one["pads"], pad]} for one in both]  # type: ignore[misc]
    context = context_of(folder, config, **{**ground_on_two_layers(), "parts": both})
    return PowerRails(context).returned(PowerRails(context).declared[0]).loads[0]


def test_declared_plating_holds_for_the_return_path_as_well(tmp_path: Path) -> None:
    """Twice the plating halves what holes take, and plating that is stated no longer widens the range."""
    unstated = return_at(tmp_path / "a", None)
    thin, thick = return_at(tmp_path / "b", 20), return_at(tmp_path / "c", 40)
    same = return_at(tmp_path / "d", PLATING_UM.nominal)

    assert thin.parts_v[-1] > 0.2 * thin.own_v
    assert thin.parts_v[-1] / thick.parts_v[-1] == pytest.approx(2, rel=0.1)
    assert same.own_v == pytest.approx(unstated.own_v)
    assert unstated.ratio.low < same.ratio.low < 1 < same.ratio.high < unstated.ratio.high


def test_the_return_path_of_rails_that_state_two_platings_has_that_of_none(tmp_path: Path) -> None:
    """Holes of ground have one; which is not known."""
    unstated = return_at(tmp_path / "a", None, None)
    one, other = return_at(tmp_path / "b", 40, 40), return_at(tmp_path / "c", 20, 40)

    assert other.ratio == unstated.ratio
    assert other.own_v == unstated.own_v
    assert one.own_v < 0.95 * unstated.own_v


def test_declared_ends_of_the_return_path_take_the_place_of_those_of_the_parts(tmp_path: Path) -> None:
    """The current enters ground at U2, half as far from J1 as U1, and leaves it at J1 or at U3."""
    others = (part("U2", 30, ["AUX", "GND"]), part("U3", 20, ["AUX", "GND"]))

    def ohm_of(name: str, ends: str) -> float:
        lines = f'current_a = 1\nfrom = ["J1"]\nto = ["U1"]\n{ends}'
        context = context_of(tmp_path / name, rail(lines), *others)
        return PowerRails(context).returned(PowerRails(context).declared[0]).of(0).nominal

    assert ohm_of("a", "") == pytest.approx(38 / 4 * OUTER_OHM, rel=0.02)
    assert ohm_of("b", 'ground_to = ["U2"]') == pytest.approx(18 / 4 * OUTER_OHM, rel=0.03)
    assert ohm_of("c", 'ground_to = ["U2"]\nground_from = ["U3"]') == pytest.approx(8 / 4 * OUTER_OHM, rel=0.05)
    assert ohm_of("d", 'ground_to = ["U1", "U2"]') == pytest.approx(ohm_of("b", 'ground_to = ["U2"]'), rel=0.01)


def test_a_pad_that_is_named_as_an_end_has_the_ground_of_its_part(tmp_path: Path) -> None:
    """`U1.1` is on the rail; the return path is that of U1."""
    named, whole = (
        PowerRails(context).returned(PowerRails(context).declared[0])
        for context in (
            context_of(tmp_path / "a", rail('current_a = 1\nfrom = ["J1.1"]\nto = ["U1.1"]')),
            context_of(tmp_path / "b", rail('current_a = 1\nfrom = ["J1"]\nto = ["U1"]')),
        )
    )
    assert named.of(0) == whole.of(0)


@pytest.mark.parametrize(("ground", "cure"), [("GDN", 'did you mean "GND"?'), ("+5V", "name a net of the board")])
def test_a_ground_that_is_none_is_reported(ground: str, cure: str, tmp_path: Path) -> None:
    """A net that the board does not have, and the rail itself."""
    text = rail(f'current_a = 1\nfrom = ["J1"]\nto = ["U1"]\nground = "{ground}"')
    context = context_of(tmp_path, text)
    with pytest.raises(MissingFact, match=re.escape(f"a net called {ground}")) as missing:
        PowerRails(context).returned(PowerRails(context).declared[0])
    assert cure in missing.value.how_to_give


def test_a_rail_on_ground_has_no_return_path(tmp_path: Path) -> None:
    context = context_of(tmp_path, rail('current_a = 1\nfrom = ["J1"]\nto = ["U1"]', "GND"))
    with pytest.raises(MissingFact, match="return path of GND"):
        PowerRails(context).returned(PowerRails(context).declared[0])


def test_ends_that_share_a_pad_are_one(tmp_path: Path) -> None:
    """Two rails leave ground at pads 1, and 1 and 2; a third at 2 and 3: all of them are on one potential."""
    context = context_of(tmp_path, rail("current_a = 1"))
    (row,) = PowerRails(context).declared

    def request(source: tuple[int, ...], *loads: tuple[int, ...]) -> ReturnRequest:
        return ReturnRequest(0, row, ReturnEnds(1, source, loads, ""), (1.0,) * len(loads))

    requests = [request((1,), (5,)), request((2, 3), (7,), (6,)), request((1, 2), (5, 8))]
    terminals, of = _terminals(requests)
    assert [terminal.pads for terminal in terminals] == [(1, 2, 3), (5, 8), (6,), (7,)]
    assert {pads: terminals[k].pads for pads, k in of.items()} == {
        (1,): (1, 2, 3), (2, 3): (1, 2, 3), (1, 2): (1, 2, 3), (5,): (5, 8), (5, 8): (5, 8), (6,): (6,), (7,): (7,),
    }  # fmt: skip


@pytest.mark.parametrize(("neck_mm", "says"), [(0.004, "copper bridges too narrow"), (None, "")])
def test_a_return_path_too_narrow_to_be_resolved_is_no_open_one(
    neck_mm: float | None, says: str, tmp_path: Path
) -> None:
    """Ground in two parts, joined by a bridge of 4 um, or by nothing: only the second is open for sure."""
    halves = [{"net": "GND", "layer": "F.Cu", "rect_mm": [x0, 18, x1, 22]} for x0, x1 in ((5, 30), (31, 65))]
    if neck_mm:
        halves.append({"net": "GND", "layer": "F.Cu", "rect_mm": [29, 20, 32, 20 + neck_mm]})
    zones = [{"net": "+5V", "layer": "F.Cu", "rect_mm": [5, 13, 65, 17]}, *halves]
    context = context_of(tmp_path, rail('current_a = 1\nfrom = ["J1"]\nto = ["U1"]'), zones=zones)
    row = PowerRails(context).declared[0]
    if says:
        with pytest.raises(MissingFact, match=says):
            PowerRails(context).returned(row)
    else:
        assert not PowerRails(context).returned(row).loads[0].joined


def test_the_ground_is_solved_once_for_all_rails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rails, rules and table: one solution."""
    calls: list[str] = []

    def counted(board: Board, net: str, *rest: object, **more: object) -> ReturnDrops:
        calls.append(net)
        return solve_return(board, net, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("stackup_lib.power.ground_return.ground_return.solve_return", counted)
    context = context_of(tmp_path, TWO, **second())
    rail_rows(context)
    rail_rows(context)

    assert calls == ["GND"]


def test_a_capacitor_is_no_end_of_the_return_path(tmp_path: Path) -> None:
    text = rail('current_a = 1\nfrom = ["J1"]\nto = ["U1"]\nground_from = ["C1"]')
    context = context_of(tmp_path, text, part("C1", 40, ["+5V", "GND"]))
    with pytest.raises(MissingFact, match="C1 is a capacitor") as missing:
        PowerRails(context).returned(PowerRails(context).declared[0])
    assert missing.value.how_to_give.endswith("parts with most ground pads: J1")


@pytest.mark.parametrize(
    ("lines", "says"),
    [('from = ["C1"]\nto = ["U1"]', "fed: C1"), ('from = ["J1"]\nto = ["C1.1"]', "draws from .*: C1.1")],
)
def test_a_capacitor_neither_feeds_a_rail_nor_draws_from_it(tmp_path: Path, lines: str, says: str) -> None:
    """It stands nearer to the load than the regulator; a connector CN1 may be either."""
    context = context_of(tmp_path, rail(f"current_a = 1\n{lines}"), part("C1", 40, ["+5V", "GND"]))
    with pytest.raises(MissingFact, match=f"{says} is a capacitor") as missing:
        PowerRails(context).whole(PowerRails(context).declared[0])
    assert missing.value.how_to_give.endswith("parts on it: J1, U1")

    named = rail(f"current_a = 1\n{lines}".replace("C1", "CN1"))
    context = context_of(tmp_path / "connector", named, part("CN1", 40, ["+5V", "GND"]))
    assert PowerRails(context).whole(PowerRails(context).declared[0]).back is not None


def test_ground_tracks_carry_what_all_rails_send_through_them(tmp_path: Path) -> None:
    """Two rails of 1 A each from U1 back to J1 by one track of 0.3 mm, which then carries 2 A."""
    zones = [
        {"net": "+5V", "layer": "F.Cu", "rect_mm": [5, 13, 65, 17]},
        {"net": "+3V3", "layer": "F.Cu", "rect_mm": [5, 25, 65, 29]},
    ]
    parts = [part(name, x, ["+5V", "GND"]) for name, x in (("J1", 10), ("U1", 50))]
    for one in parts:
        one["pads"] = [*one["pads"], {"number": "3", "net": "+3V3", "at_mm": [0, 12], "size_mm": [2, 2]}]  # type: ignore[misc]
    tracks = [{"net": "GND", "layer": "F.Cu", "path_mm": [[10, 20], [50, 20]], "width_mm": 0.3}]
    ends = 'current_a = 1\nfrom = ["J1"]\nto = ["U1"]\nmax_rise_c = 20'
    alone, both = rail(ends), rail(ends) + rail(ends, "+3V3", 3.3)
    carried = []
    for name, text in (("alone", alone), ("both", both)):
        context = context_of(tmp_path / name, text, zones=zones, parts=parts, tracks=tracks)
        (track,) = PowerRails(context).returned(PowerRails(context).declared[0]).tracks
        carried.append((track.current_a, track.run_v))
    assert carried[0][0] == pytest.approx(1.0)
    assert carried[1] == pytest.approx([2 * one for one in carried[0]])


def test_parts_are_told_by_all_letters_of_their_reference(tmp_path: Path) -> None:
    """CPU1, HBM1 and DIMM0 begin as capacitors, holes and diodes do, and draw current all the same."""
    others = [part(name, 20 + 5 * k, ["+5V"]) for k, name in enumerate(("CPU1", "HBM1", "DIMM0", "C1", "TP3", "H2"))]
    context = context_of(tmp_path, rail("current_a = 1"), *others)

    assert {*parts_on(context.board, "+5V")} == {"CPU1", "HBM1", "DIMM0", "J1", "U1"}


def test_an_led_is_no_inductor_on_the_way_to_the_driver(tmp_path: Path) -> None:
    """R1 feeds the rail; behind it a LED leads to Q1, which does not drive the rail; an inductor would."""
    for name, is_known in (("LED1", False), ("L2", True)):
        parts = (part("R1", 10, ["+5V", "MID"], 25), part(name, 20, ["MID", "SW"], 25))
        driver = part("Q1", 30, ["SW", "GND", "VIN"], 25)
        context = context_of(tmp_path / name, rail('current_a = 1\nfrom = ["R1"]\nto = ["U1"]'), *parts, driver)
        try:
            return_ends(context.board, PowerRails(context).declared[0], ["U1"])
        except MissingFact as fact:
            assert not is_known
            assert "R1 has no ground pad" in fact.name
        else:
            assert is_known


def test_a_rail_that_is_declared_twice_is_judged_by_each_current_alone(tmp_path: Path) -> None:
    text = rail('current_a = 2\nfrom = ["J1"]\nto = ["U1"]')
    once, twice = context_of(tmp_path / "once", text), context_of(tmp_path / "twice", text + text)

    alone = PowerRails(once).returned(PowerRails(once).declared[0])
    for row in PowerRails(twice).declared:
        back = PowerRails(twice).returned(row)
        assert back.of(0).nominal == pytest.approx(alone.of(0).nominal)
        assert back.counted == ()

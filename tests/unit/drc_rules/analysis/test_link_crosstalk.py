"""Neighbours of a link: where they run, at which end they send, how they couple."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drc_rules.analysis.channels.link_com import LinkMargin, link_margin, reference_channel
from drc_rules.analysis.channels.link_crosstalk import couplings, neighbour_crosstalk
from drc_rules.analysis.channels.neighbours import neighbours_of
from drc_rules.analysis.channels.senders import ends_that_send, way_of_name
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.loss.link_loss import LinkLoss, LinkLosses
from drc_rules.analysis.loss.sparameters.link_network import link_network, link_way
from drc_rules.facts.context import Context
from fixtures.miniboard import MiniBoard, write
from stackup_lib.channels.ways import FAR, NEAR
from stackup_lib.transmission_lines.four_port import mixed_modes
from stackup_lib.transmission_lines.pair_crosstalk import pair_coupling
from stackwright.commands.request import BoardRequest
from tests.support.small_boards.crowded import crowded
from tests.support.small_boards.paired import paired

GHZ = np.linspace(0.0, 25.0, 126)


def links_of(folder: Path, drawn: dict[str, Any]) -> tuple[Context, dict[str, LinkLoss]]:
    """Context and links by name, without the trace's letter."""
    ctx = BoardRequest().context_of(write(MiniBoard.model_validate(drawn), folder, "card"))
    return ctx, {link.name[:-2]: link for link in LinkLosses(ctx).of("eth25g", declared=True).known}


def margin_of(folder: Path, drawn: dict[str, Any], name: str) -> LinkMargin:
    ctx, links = links_of(folder, drawn)
    reference = reference_channel(ctx, links[name])
    assert reference is not None
    found = link_margin(ctx, links[name], reference)
    assert found is not None
    return found


def test_neighbours_are_where_they_are_drawn(tmp_path: Path) -> None:
    """TX0 lies between both others; its N faces P of TX1, its P faces N of RX0. RX0 and TX1 are out of reach."""
    ctx, links = links_of(tmp_path, crowded())
    found = {other.name: places for other, places in neighbours_of(ctx, links["/SFP_TX0"])}
    assert sorted(found) == ["/SFP_RX0_P", "/SFP_TX1_P"]
    for name, leg, gap in (("/SFP_RX0_P", 0, 0.55), ("/SFP_TX1_P", 1, 0.30)):
        places = found[name]
        assert places.mm.sum() == pytest.approx(60.0)
        assert places.gap_mm == pytest.approx(gap)
        assert set(places.leg.tolist()) == {leg}
        assert set(places.other_leg.tolist()) == {1 - leg}
        assert not places.is_opposite.any()
        assert places.at_mm == pytest.approx(places.other_at_mm)
    assert [other.name for other, _ in neighbours_of(ctx, links["/SFP_TX1"])] == ["/SFP_TX0_P"]


def test_a_part_of_the_way_counts_at_its_place(tmp_path: Path) -> None:
    """TX1 comes near for 20 of 60 mm, walked towards U1: opposite to TX0, 20 mm from its beginning on."""
    drawn = crowded({"/SFP_TX0": 10.0, "/SFP_TX1": 20.0})
    for track in drawn["tracks"]:
        if "TX1" in track["net"]:
            y = track["path_mm"][0][1]
            near = y - 20.0 + 10.75
            track["path_mm"] = [[5, y], [25, near], [45, near], [65, y]]
    ctx, links = links_of(tmp_path, drawn)
    ((_, places),) = neighbours_of(ctx, links["/SFP_TX0"])
    assert places.mm.sum() == pytest.approx(20.0, abs=1.0)
    assert places.at_mm.min() == pytest.approx(20.5, abs=0.6)
    before = float(np.hypot(20, 9.25))
    assert places.other_at_mm - before == pytest.approx(places.at_mm - 20, abs=0.2)


def test_the_way_of_a_link_is_its_differential_mode(tmp_path: Path) -> None:
    """Through capacitors: between differential ports as `link_network` has it.

    With N 0.6 mm longer, 4 ps, up to what goes over to the common mode and comes back: 2 % to 12.5 GHz.
    """
    here = GHZ <= 12.5
    for longer, close in ((0.0, 1e-9), (0.6, 0.02)):
        drawn = paired(longer_n_mm=longer)
        drawn["config"] = drawn["config"].replace('"pcie4"', '"eth25g"')
        ctx = BoardRequest().context_of(write(MiniBoard.model_validate(drawn), tmp_path, "card"))
        (link,) = LinkLosses(ctx).of("eth25g", declared=True).known
        seen = mixed_modes(link_network(ctx, link, GHZ).s)[:, :2, :2]
        assert np.abs(link_way(ctx, link, GHZ).way.s - seen)[here].max() < close


def test_a_straight_run_has_the_crosstalk_of_its_coupling(tmp_path: Path) -> None:
    """60 mm next to each other between nearly matched ends: the textbook's far end of the solver's coupling."""
    ctx, links = links_of(tmp_path, crowded())
    found = {one.link.name: one for one in neighbour_crosstalk(ctx, links["/SFP_TX0"], GHZ)}["/SFP_TX1_P"]
    key = links["/SFP_TX0"].sections[0].key
    coupling = pair_coupling(Lines(ctx).site(key.layer, key.references).site, 0.15, (0.15, 0.15), 0.30)
    at = int(np.argmin(np.abs(GHZ - 5.0)))
    lost = np.abs(found.own_s[at, 1, 0])
    assert np.abs(found.s[at, FAR, NEAR]) == pytest.approx(coupling.far_end(60.0, 5.0) * lost, rel=0.05)
    assert np.abs(found.s[1:, NEAR, NEAR]).max() == pytest.approx(coupling.near_end(60.0, 5.0), rel=0.1)
    assert found.same_way
    assert (found.mm, found.gap_mm) == pytest.approx((60.0, 0.3))


def test_couplings_between_solved_gaps_are_those_of_the_solver(tmp_path: Path) -> None:
    ctx, links = links_of(tmp_path, crowded())
    key = links["/SFP_TX0"].sections[0].key
    inductive, capacitive = couplings(ctx, key, key, np.array([0.14, 0.3]))
    for k, gap in enumerate((0.14, 0.3)):
        solved = pair_coupling(Lines(ctx).site(key.layer, key.references).site, 0.15, (0.15, 0.15), gap)
        assert inductive[k] == pytest.approx(solved.inductive, rel=0.01)
        assert capacitive[k] == pytest.approx(solved.capacitive, rel=0.03)


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("/SFP_TX0_P", "T"),
        ("/SFP_RXN1", "R"),
        ("PETp3", "T"),
        ("/x/PER0_N", "R"),
        ("/RXD", None),
        ("/TX_RX0_P", None),
        ("/CLK_P", None),
        ("/TRACE0_P", None),
    ],
)
def test_names_say_a_direction_or_none(name: str, way: str | None) -> None:
    assert way_of_name(name) == way


def test_neighbours_send_where_names_and_parts_say(tmp_path: Path) -> None:
    """Both from U1: TX next to TX sends at the other end than the one that receives, RX at the same."""
    ctx, links = links_of(tmp_path, crowded())
    for receives in (NEAR, FAR):
        assert ends_that_send(ctx, links["/SFP_TX0"], links["/SFP_TX1"], receives) == (1 - receives,)
        assert ends_that_send(ctx, links["/SFP_TX0"], links["/SFP_RX0"], receives) == (receives,)
    unnamed = crowded({"/SFP_A": 10.0, "/SFP_B": 10.75})
    ctx, links = links_of(tmp_path, unnamed)
    assert ends_that_send(ctx, links["/SFP_A"], links["/SFP_B"], FAR) == (NEAR, FAR)


def test_neighbours_take_of_the_margin_what_they_are_near(tmp_path: Path) -> None:
    """In a microstrip a sender next to a sender costs more than a receiver; farther away both cost less."""
    close = margin_of(tmp_path, crowded(), "/SFP_TX0")
    assert close.crowded is not None
    assert close.crowded.com_db < close.margin.com_db - 1
    taken = dict(zip([one.crosstalk.link.name for one in close.neighbours], close.crowded.taken_db, strict=True))
    assert taken["/SFP_TX1_P"] > 10 * taken["/SFP_RX0_P"] > 0
    assert [one.aggressor.is_near for one in close.neighbours] == [True, False]
    assert all(one.is_known for one in close.neighbours)
    wide = margin_of(tmp_path, crowded({"/SFP_TX0": 10.0, "/SFP_TX1": 11.0}), "/SFP_TX0")
    assert wide.crowded is not None
    assert wide.margin.com_db - wide.crowded.com_db < (close.margin.com_db - close.crowded.com_db) / 2


def test_pairs_alone_have_no_neighbours(tmp_path: Path) -> None:
    """A pair far away, and one of another interface."""
    far = crowded({"/SFP_TX0": 10.0, "/SFP_TX1": 12.0})
    other = crowded({"/SFP_TX0": 10.0, "/PCIE_TX1": 10.75})
    other["config"] += '[[interface]]\nis = "pcie4"\nnets = ["/PCIE_*"]\n'
    for drawn in (far, other):
        found = margin_of(tmp_path, drawn, "/SFP_TX0")
        assert found.crowded is None
        assert found.neighbours == ()


def test_links_that_cross_or_leave_their_traces_have_no_places(tmp_path: Path) -> None:
    """A pair at right angles over the same layer does not run next to it."""
    drawn = crowded({"/SFP_TX0": 10.0, "/SFP_TX1": 10.75})
    drawn["tracks"] = [track for track in drawn["tracks"] if "TX1" not in track["net"]]
    for part, y in ((drawn["parts"][0], 12.0), (drawn["parts"][1], 30.0)):
        for pad in part["pads"]:
            if "TX1" in pad["net"]:
                x = 30.0 if pad["net"].endswith("P") else 30.3
                pad["at_mm"] = [x - part["at_mm"][0], y]
    for net, x in (("/SFP_TX1_P", 30.0), ("/SFP_TX1_N", 30.3)):
        drawn["tracks"].append({"net": net, "layer": "F.Cu", "width_mm": 0.15, "path_mm": [[x, 12.0], [x, 30.0]]})
    ctx, links = links_of(tmp_path, drawn)
    assert len(links) == 2
    assert list(neighbours_of(ctx, links["/SFP_TX0"])) == []

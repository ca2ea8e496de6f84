"""What a link would need to close, held against its own loss with the need put in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.loss.link_loss import LinkLoss, LinkLosses
from drc_rules.analysis.loss.loss_needs import (
    df_needed,
    exact_df_needed,
    longest_by_layer,
    physics_except_df,
    roughest_foil,
)
from drc_rules.facts.context import Context
from stackup_lib.materials import FoilGrade
from tests.support.small_boards.lossy_link import context, only_link

NET = "/PCIE_TX0_P"
GHZ = 16.0


def through_a_via(folder: Path, form: str | None = "pcie-card") -> Context:
    """60 mm on the top, a through via, 40 mm on the bottom: its loss is that of both lines and of the hole."""
    tracks = [
        {"net": NET, "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[5, 10], [65, 10]]},
        {"net": NET, "layer": "B.Cu", "width_mm": 0.2, "path_mm": [[65, 10], [105, 10]]},
    ]
    pads = [{"number": "1", "net": NET, "size_mm": [0.2, 0.2]}]
    parts = [
        {"reference": "U1", "at_mm": [5, 10], "pads": pads},
        {"reference": "J1", "at_mm": [105, 10], "side": "back", "pads": pads},
    ]
    vias = [{"net": NET, "at_mm": [65, 10]}]
    return context(folder, form=form, tracks=tracks, parts=parts, vias=vias)


def loss_db(ctx: Context, link: LinkLoss, *, foil: str | None = None, df_factor: float = 1.0) -> float:
    """Lines and holes with another foil or Df."""
    lines = [
        s.length_mm * Lines(ctx).changed_loss_db_per_mm(s.key, GHZ, foil=foil, df_factor=df_factor)
        for s in link.sections
    ]
    return sum(lines) + link.holes_db.nominal


def most_db(ctx: Context, link: LinkLoss, foil: str) -> float:
    """Lines with the highest Df and the roughest foil of a grade, and holes."""
    lines, total = Lines(ctx), link.holes_db.nominal
    for s in link.sections:
        loss = lines.loss(s.key, GHZ, foil)
        total += s.length_mm * (loss.total_db_per_mm.nominal + loss.df_rise_db_per_mm + loss.foil_rise_db_per_mm)
    return total


@pytest.mark.parametrize("share", [0.8, 1.0, 1.2])
def test_with_the_df_that_is_needed_a_link_uses_its_budget_up(share: float, tmp_path: Path) -> None:
    """Put back into the whole model: lines and hole lose the budget, to a thousandth of a decibel."""
    ctx = through_a_via(tmp_path)
    link = only_link(ctx)
    now = LinkLosses(ctx).adjacent_df(link, GHZ)
    assert now is not None and link.holes_db.nominal > 0.01
    budget = share * link.total_db.nominal

    needed = exact_df_needed(ctx, link, budget, now)

    assert needed is not None
    assert loss_db(ctx, link, df_factor=needed / now) == pytest.approx(budget, abs=1e-3)
    assert (needed > 1.001 * now, needed < 0.999 * now) == (share > 1, share < 1)
    by_proportion = df_needed(link, budget, now)
    assert by_proportion is not None and needed == pytest.approx(by_proportion, rel=0.15)


def test_a_good_laminate_next_to_a_lossy_one_gets_an_answer_by_proportion(tmp_path: Path) -> None:
    """What the good one may lose still has a number where the lossy one would lose more than any dielectric can."""
    ctx = through_a_via(tmp_path)
    link = only_link(ctx)
    now = LinkLosses(ctx).adjacent_df(link, GHZ)
    assert now is not None
    good, budget = now / 100, link.total_db.nominal + 100 * link.dielectric_db
    assert 100 * now > 0.2  # of Dk 3.5: the permittivity at high frequency would be below 1

    needed = exact_df_needed(ctx, link, budget, good)

    assert needed == df_needed(link, budget, good) == pytest.approx(101 * good)


def test_no_df_closes_a_link_whose_copper_and_holes_alone_lose_the_budget(tmp_path: Path) -> None:
    """All but the dielectric's part is fixed; nor does a Df help where the dielectric loses nothing."""
    link = only_link(through_a_via(tmp_path))
    fixed = link.total_db.nominal - link.dielectric_db

    assert df_needed(link, fixed, 0.004) is None
    assert df_needed(link, fixed - 0.1, 0.004) is None
    assert df_needed(link, fixed + link.dielectric_db / 2, 0.004) == pytest.approx(0.002)
    assert df_needed(replace(link, sections=()), 6.5, 0.004) is None


def test_the_roughest_foil_that_closes_is_found_at_the_edge_of_each_grade(tmp_path: Path) -> None:
    """A budget of exactly the highest loss with a grade takes that grade; a hair less the next smoother one.

    No Df is declared at 16 GHz, so its range counts as well as the grade's.
    """
    ctx = through_a_via(tmp_path)
    link = only_link(ctx)
    grades = [FoilGrade.STD, FoilGrade.RTF, FoilGrade.LP, FoilGrade.VLP, FoilGrade.HVLP]
    losses = [most_db(ctx, link, grade.value) for grade in grades]
    assert losses[0] > loss_db(ctx, link, foil="STD") + 1.0
    assert losses == sorted(losses, reverse=True)

    for rough, smooth, budget in zip(grades, grades[1:], losses, strict=False):
        assert roughest_foil(ctx, link, budget + 1e-9) is rough
        assert roughest_foil(ctx, link, budget - 1e-6) in (smooth, *grades[grades.index(smooth) :])
    assert roughest_foil(ctx, link, losses[-1] - 1e-6) is None


def test_a_link_may_be_as_long_on_each_layer_as_its_line_there_allows(tmp_path: Path) -> None:
    """Budget less the hole's loss, over the loss of the line on that layer; nothing where the hole takes it all."""
    ctx = through_a_via(tmp_path)
    link = only_link(ctx)
    per_mm = {s.key.layer: s.loss.total_db_per_mm.nominal for s in link.sections}

    found = longest_by_layer(link, 6.5)

    assert set(found) == {0, 3}
    for layer, length in found.items():
        assert length * per_mm[layer] + link.holes_db.nominal == pytest.approx(6.5)
    assert set(longest_by_layer(link, link.holes_db.nominal / 2).values()) == {0.0}


def test_beside_a_df_stands_what_the_worst_link_needs_by_its_loss(tmp_path: Path) -> None:
    """A card's 6.5 dB: Df at the frequency of the requirement, with what it is now.

    Nothing is said without a share, of another interface, or of a dielectric next to other layers.
    """
    (tmp_path / "open").mkdir()
    ctx = through_a_via(tmp_path)
    link = only_link(ctx)
    now = LinkLosses(ctx).adjacent_df(link, 10.0)
    assert now is not None
    needed = exact_df_needed(ctx, link, 6.5, now)

    layer = link.sections[0].key.layer

    said = physics_except_df(ctx, "pcie5", 10.0, {layer})

    name, at_10ghz = ctx.board.copper_layers[layer].name, f"Df up to {needed:.4f} at 10 GHz ({now:.4f} now)"
    assert said == f". The worst link on {name} ({NET}, 100 mm) meets its budget with {at_10ghz}"
    assert physics_except_df(ctx, "pcie5", 10.0, set(range(4)) - {layer}) == ""
    assert physics_except_df(through_a_via(tmp_path / "open", form=None), "pcie5", 10.0, {layer}) == ""
    assert physics_except_df(ctx, "pcie4", 10.0, {layer}) == ""

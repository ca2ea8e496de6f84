"""Cross sections of a board: which planes, which plies, where the copper lies, what is assumed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from drc_rules.analysis.lines.sites import board_site, layer_of, named_references
from drc_rules.engine.check import prepare
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import parse_config
from stackup_lib.board.board import Board
from stackup_lib.copper.copper_map import NO_COPPER, CopperMap
from stackup_lib.copper.coupling import pieces_of
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import MissingFact
from stackup_lib.field_solver.sections import GeometryError
from stackup_lib.field_solver.solver import solve
from stackup_lib.transmission_lines.buildup import BuildupRow, site_of
from stackup_lib.transmission_lines.finish import MASK_DK
from tests.support.mini import mini_board
from tests.support.small_boards.six_layers import GROUNDS, SIX, mini


def test_copper_sinks_into_the_sheet_that_it_touches(tmp_path: Path) -> None:
    """In3 is on a core, under two sheets of prepreg: the lower, of 0.12 mm, takes its 0.015 mm."""
    site = board_site(mini(tmp_path, 'planes = { "In2.Cu" = "GND", "In4.Cu" = "GND" }\n'), 3).site

    assert [round(layer.thickness_mm, 6) for layer in site.section(0.1).layers] == [0.3, 0.135, 0.08]


def test_a_stripline_takes_its_planes_by_copper_and_its_plies_in_order(tmp_path: Path) -> None:
    """In2 runs between In1 and In3: two prepreg plies below it, the core above, its copper sunk into the prepreg."""
    found = board_site(mini(tmp_path), 2)

    site = found.site
    assert (site.reference_above, site.reference_below) == ("In1.Cu", "In3.Cu")
    assert [(s.kind, s.thickness_mm, s.dk) for s in site.below] == [("prepreg", 0.12, 4.0), ("prepreg", 0.08, 3.8)]
    assert [(s.kind, s.thickness_mm, s.dk) for s in site.above] == [("core", 0.20, 4.4)]
    assert site.base == "upper"
    assert site.copper_mm == 0.015
    assert [ply.label for ply in found.plies] == ["dielectric 3, ply 2", "dielectric 3, ply 1", "dielectric 2"]


def test_the_planes_stand_as_far_apart_as_the_stackup_says(tmp_path: Path) -> None:
    """Dielectrics and the trace's own copper add up: 0.12 + 0.08 + 0.015 + 0.20."""
    section = board_site(mini(tmp_path), 2).site.section(0.1, 0.12)

    assert section.height_mm == pytest.approx(0.415)
    assert section.plane_above and section.plane_below
    assert [layer.thickness_mm for layer in section.layers] == pytest.approx([0.12, 0.095, 0.20])
    assert section.strips[0].bottom_mm == pytest.approx(0.20)


def test_top_and_bottom_of_a_mirrored_build_have_the_same_impedance(tmp_path: Path) -> None:
    """The bottom layer is turned over; only the mask's Dk differs (3.5 assumed above, 3.3 stated below)."""
    ctx = mini(tmp_path)
    top, bottom = board_site(ctx, 0), board_site(ctx, 5)

    assert (top.site.is_turned, bottom.site.is_turned) == (False, True)
    assert top.site.mask is not None and bottom.site.mask is not None
    assert (top.site.mask.er, bottom.site.mask.er) == (MASK_DK, 3.3)
    assert top.assumptions == ("Dk of solder mask 3.5",)
    assert (top.site.mask.on_trace_mm, top.site.mask.on_laminate_mm) == (0.015, 0.03)
    assert bottom.assumptions == ()
    same = bottom.site.model_copy(update={"mask": top.site.mask})
    assert solve(same.section(0.18)).z0_ohm == pytest.approx(solve(top.site.section(0.18)).z0_ohm, rel=1e-9)


def test_the_mask_that_kicad_writes_into_every_stackup_declares_nothing(tmp_path: Path) -> None:
    """0.01 mm is KiCad's default: a typical mask stands in and is said to be assumed."""
    text = SIX.replace("mask 0.015\nF.Cu", "mask 0.01\nF.Cu")
    board = mini_board(tmp_path, tomllib.loads(text + GROUNDS))

    found = board_site(prepare(board, parse_config(""), Overrides())[0], 0)

    assert found.site.mask is not None
    assert (found.site.mask.on_trace_mm, found.site.mask.on_laminate_mm) == (0.0152, 0.0304)
    assert found.assumptions == ("solder mask 15 um on copper, 30 um next to it", "Dk of solder mask 3.5")


def test_a_signal_layer_between_trace_and_plane_counts_as_prepreg(tmp_path: Path) -> None:
    """With only In4 filled, F.Cu sees it through In1, In2 and In3, whose copper thickness adds to the distance."""
    site = board_site(mini(tmp_path, 'planes = { "In4.Cu" = "GND" }\n'), 0).site

    assert site.reference_below == "In4.Cu"
    assert sum(sheet.thickness_mm for sheet in site.below) == pytest.approx(0.10 + 0.20 + 0.20 + 0.30 + 3 * 0.015)


def test_named_reference_layers_win_over_filled_copper(tmp_path: Path) -> None:
    """Two names give both sides, KiCad's or the user's; a trace's own layer is refused."""
    ctx = mini(tmp_path, "")

    assert named_references(ctx, 2, ("In1.Cu", "In4.Cu")) == (1, 4)
    assert board_site(ctx, 2, (1, 4)).site.reference_below == "In4.Cu"
    with pytest.raises(ConfigError, match="own layer"):
        named_references(ctx, 2, ("In2.Cu",))
    with pytest.raises(ConfigError, match=r"In1\.Cu"):
        layer_of(ctx, "In1Cu")


def test_without_any_plane_the_reference_is_the_missing_fact(tmp_path: Path) -> None:
    """Nothing is guessed: it requires `--reference`."""
    with pytest.raises(MissingFact, match=r"reference plane of F\.Cu"):
        board_site(mini(tmp_path, ""), 0)


def test_a_declared_dk_wins_over_the_files_and_the_files_over_the_catalogue(tmp_path: Path) -> None:
    """4.4 stands in the file, 4.25 in the settings."""
    config = '[declared.dielectric."dielectric 2"]\ndk = 4.25\n'

    assert board_site(mini(tmp_path, config=config), 2).site.above[0].dk == 4.25


def test_a_missing_dk_and_laminate_are_asked_for(tmp_path: Path) -> None:
    """No Dk in the file and an unknown material: not verifiable, with the lines to write."""
    text = SIX.replace('core 0.20 "370HR" dk=4.4', 'core 0.20 "Unobtainium"')
    board = mini_board(tmp_path, tomllib.loads(text + GROUNDS))
    ctx = prepare(board, parse_config(""), Overrides())[0]

    with pytest.raises(MissingFact, match="Dk of dielectric 2"):
        board_site(ctx, 2)


def test_a_foil_between_two_prepregs_is_bonded_to_the_one_nearer_the_middle() -> None:
    """In the upper half it sinks into the prepreg above it, in the lower half into the one below."""
    one, two = (BuildupRow(name=n, kind="prepreg", thickness_mm=h, dk=4.0) for n, h in (("a", 0.1), ("b", 0.2)))

    def built(*, upper: bool) -> list[float]:
        site = site_of(
            "L", copper_mm=0.02, above=[one], below=[two], reference_above="A", reference_below="B", in_upper_half=upper
        )
        return [layer.thickness_mm for layer in site.section(0.1).layers]

    assert built(upper=True) == pytest.approx([0.2, 0.12])
    assert built(upper=False) == pytest.approx([0.22, 0.1])


def test_a_dielectric_without_dk_is_refused_and_copper_needs_none() -> None:
    """Left out, it would bring the plane nearer."""
    ply, core = (BuildupRow(name=n, kind="core", thickness_mm=0.1, dk=dk) for n, dk in (("ply", 4.0), ("core", None)))
    copper = BuildupRow(name="In2.Cu", kind="copper", thickness_mm=0.03)

    def built(above: list[BuildupRow]) -> None:
        site_of(
            "L", copper_mm=0.02, above=above, below=[], reference_above="A", reference_below=None, in_upper_half=True
        )

    with pytest.raises(GeometryError, match="core has no Dk; give dk of every core and prepreg"):
        built([ply, core])
    built([ply, copper, ply])


def test_copper_between_trace_and_plane_is_marked_as_such() -> None:
    """The resin in its gaps is of the prepreg next to it, even under a core, and keeps the copper's thickness."""
    core = BuildupRow(name="core", kind="core", thickness_mm=0.1, dk=4.0)
    ply = BuildupRow(name="prepreg", kind="prepreg", thickness_mm=0.2, dk=4.0)
    copper = BuildupRow(name="In2.Cu", kind="copper", thickness_mm=0.03)
    site = site_of(
        "In1.Cu",
        copper_mm=0.02,
        above=[ply],
        below=[core, copper, ply],
        reference_above="A",
        reference_below="B",
        in_upper_half=True,
    )
    below = [(one.name, one.kind, one.thickness_mm, one.gap_layer) for one in site.below]
    assert below == [("prepreg", "prepreg", 0.2, ""), ("prepreg", "prepreg", 0.03, "In2.Cu"), ("core", "core", 0.1, "")]


def test_no_plane_on_either_side_is_an_error_with_a_fix() -> None:
    """A line without a return path has no impedance."""
    with pytest.raises(GeometryError, match="no reference plane"):
        site_of("L", copper_mm=0.02, above=[], below=[], reference_above=None, reference_below=None, in_upper_half=True)


def with_tracks(folder: Path) -> Board:
    extra = """
zones = [
  { net = "GND", layer = "In1.Cu", rect_mm = [5, 5, 30, 35] },
  { net = "+3V3", layer = "In2.Cu", rect_mm = [30.7, 5, 55, 35] },
]
tracks = [{ net = "/A", layer = "F.Cu", path_mm = [[10, 20], [20, 20], [44, 20], [54, 20], [60, 20]] }]
"""
    return mini_board(folder, tomllib.loads(SIX + extra))


def test_the_copper_map_tells_the_net_of_the_fill_at_any_point(tmp_path: Path) -> None:
    """Inside the zone its net, outside and on empty layers none."""
    board = with_tracks(tmp_path)
    x, y = np.array([115.0, 140.0]), np.array([70.0, 70.0])
    origin = (board.outline.x_mm.min(), board.outline.y_mm.min())
    copper = CopperMap(board)

    at = copper.net_at(1, origin[0] + x - 100, origin[1] + y - 50)

    assert [board.nets[n] if n != NO_COPPER else None for n in at.tolist()] == ["GND", None]
    assert copper.net_at(4, origin[0] + x, origin[1] + y).tolist() == [NO_COPPER, NO_COPPER]
    assert copper.is_filled(1) and not copper.is_filled(4)


def test_a_route_is_split_by_the_copper_that_is_really_under_it(tmp_path: Path) -> None:
    """Judged by the middles of its millimetres: 20 mm over In1, 24 mm over In2, 1 mm between them and 5 mm beyond."""
    board = with_tracks(tmp_path)

    rows = np.flatnonzero(board.tracks.layer == 0)
    copper = CopperMap(board)
    lengths: dict[tuple[int, int], float] = {}
    for some in (rows[:1], rows):  # in any order, and again
        lengths.clear()
        pieces = pieces_of(board, some)
        above, below = copper.adjacent_planes(pieces)
        for planes, length in zip(
            zip(above.tolist(), below.tolist(), strict=True), pieces.length_mm.tolist(), strict=True
        ):
            lengths[planes] = lengths.get(planes, 0.0) + length

    assert lengths == pytest.approx({(-1, 1): 20.0, (-1, 2): 24.0, (-1, -1): 6.0}, abs=1e-6)

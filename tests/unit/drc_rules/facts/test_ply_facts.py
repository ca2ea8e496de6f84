"""What is known of a ply, and from whom; and the lines that choose nets of unknown generation."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import pytest

from drc_rules.analysis.stackup.facts_of_board import board_facts
from drc_rules.engine.check import check_board, prepare
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.settings.config import parse_config
from drc_rules.stackup_design.stackup_candidate import candidate_of
from fixtures.miniboard import MiniBoard, write
from stackup_lib.core.facts import Confidence, MissingFact, Origin
from stackup_lib.kicad import read_board
from stackup_lib.materials import LossClass, catalogue
from tests.support.mini import mini_board, mini_context, mini_file
from tests.support.small_boards.six_layers import GROUNDS, SIX, mini
from tests.support.stackups import UNLIKE_PLIES

CORE = '[declared.dielectric."dielectric 2"]\n'


def core(folder: Path, declared: str = "", *, material: str = "370HR") -> DielectricPly:
    """The ply of dielectric 2, with these lines for it."""
    text = SIX.replace('core 0.20 "370HR" dk=4.4', f'core 0.20 "{material}"') + GROUNDS
    board = mini_board(folder, tomllib.loads(text))
    return prepare(board, parse_config(CORE + declared if declared else ""), Overrides())[0].plies[1]


def test_the_class_of_a_ply_is_its_laminates(tmp_path: Path) -> None:
    """370HR as the catalogue has it; of an unknown one there is none, with the line to write."""
    (tmp_path / "unknown").mkdir()
    laminate = catalogue().get("370HR")

    known = core(tmp_path).loss_class
    unknown = core(tmp_path / "unknown", material="Unobtainium").loss_class

    assert laminate is not None and known.value is laminate.loss_class is not None
    assert known.name == "loss class of dielectric 2"
    assert unknown.value is None and 'material = "?"' in unknown.how_to_give


@pytest.mark.parametrize("at_ghz,ghz,counts", [(8, 8, True), (8, 10, True), (8, 10.1, False), (8, 6.4, True)])
def test_a_declared_df_counts_up_to_four_fifths_of_either_frequency(
    at_ghz: float, ghz: float, counts: bool, tmp_path: Path
) -> None:
    """0.016 at 8 GHz is less than 370HR typically has: taken up to 10 GHz, above that the data sheet's."""
    ply = core(tmp_path, f"df = 0.016\nat_ghz = {at_ghz}\n")
    assert ply.match is not None
    sheet = ply.match.df_at(ghz).value

    found = ply.df.at(ghz)

    assert sheet is not None and sheet != 0.016
    assert found.value == (0.016 if counts else sheet)
    assert found.origin is (Origin.DECLARED if counts else ply.match.df_at(ghz).origin)


def test_a_df_declared_at_a_lower_frequency_is_the_least_it_can_be(tmp_path: Path) -> None:
    """0.15 at 1 GHz is worse than any sheet at 10 GHz and stands there, unsure; without a frequency it is nothing."""
    (tmp_path / "bare").mkdir()
    (tmp_path / "plain").mkdir()
    worse = core(tmp_path, "df = 0.15\nat_ghz = 1\n").df.at(10)
    bare = core(tmp_path / "bare", "df = 0.15\n").df.at(10)
    plain = core(tmp_path / "plain").df.at(10)

    assert (worse.value, worse.confidence) == (0.15, Confidence.LOW)
    assert plain.value is not None and plain.value < 0.05
    assert (bare.value, bare.origin) == (plain.value, plain.origin)


def test_a_df_declared_at_a_higher_frequency_is_the_most_it_can_be(tmp_path: Path) -> None:
    """370HR has 0.0220 at 2 GHz: 0.024 at 10 leaves that, 0.019 counts itself. Of an unknown one the least is open."""
    for name in ("worse", "better", "unknown"):
        (tmp_path / name).mkdir()
    plain = core(tmp_path).df.at(2)
    worse = core(tmp_path / "worse", "df = 0.024\nat_ghz = 10\n")
    better = core(tmp_path / "better", "df = 0.019\nat_ghz = 10\n")
    unknown = core(tmp_path / "unknown", "df = 0.01\nat_ghz = 10\n", material="Unobtainium")

    assert (worse.df.at(2).value, worse.df.bound_at(2)) == (plain.value, "")
    assert (better.df.at(2).value, better.df.bound_at(2), better.df.at_most(2).value) == (0.019, "most", 0.019)
    assert better.df.bound_at(10) == ""
    assert unknown.df.spread_at(2) == (0.0002, 0.01)
    assert (unknown.df.at(20).known, unknown.df.at_least(20).value, unknown.df.bound_at(20)) == (False, 0.01, "least")


def test_above_the_last_frequency_of_its_sheet_a_df_is_a_range(tmp_path: Path) -> None:
    """370HR 1080: 0.026 at 2 GHz and 0.030 at 10. A declared Df is itself, and at 10 GHz the rows are all there is."""
    for name in ("style", "declared"):
        (tmp_path / name).mkdir()
    plain, style = core(tmp_path, material="Megtron 4"), core(tmp_path / "style", material="370HR 1080 RC67%")
    declared = core(tmp_path / "declared", "df = 0.008\nat_ghz = 16\n", material="Megtron 4")
    rise = 0.002 * math.log10(1.6)

    assert plain.df.spread_at(16) == pytest.approx((0.007, 0.007 + 2 * rise))
    assert plain.df.spread_at(10) == (0.007, 0.007)
    assert declared.df.spread_at(16) == (0.008, 0.008)
    low, high = style.df.spread_at(16)
    assert style.df.spread_at(10) == pytest.approx((low, low))
    assert low < style.df.at(16).need() < high


def test_a_declared_dk_is_carried_from_its_frequency(tmp_path: Path) -> None:
    """4.14 at 10 GHz with a Df of 0.021 is 4.27 at 1 GHz: by 2/pi Df per e-fold, 3.1 %; without a frequency 4.14."""
    for name in ("bare", "dk only", "impossible", "own"):
        (tmp_path / name).mkdir()
    dated = core(tmp_path, "dk = 4.14\ndf = 0.021\nat_ghz = 10\n", material="FR4").dk.at(1)
    there = core(tmp_path / "bare", "dk = 4.14\ndf = 0.021\n", material="FR4").dk.at(1)
    alone = core(tmp_path / "dk only", "dk = 4.14\nat_ghz = 10\n", material="FR4").dk.at(1)
    odd = core(tmp_path / "impossible", "dk = 1.9\ndf = 0.19\nat_ghz = 10\n", material="Unobtainium").dk.at(1)

    own = core(tmp_path / "own", "dk = 4.14\ndf = 0.021\nat_ghz = 10\ndk_at_ghz = 1\n", material="FR4")

    assert (own.dk.at(1).value, own.df.at(10).value) == (4.14, 0.021)
    assert dated.value == pytest.approx(4.14 * (1 + 2 / math.pi * 0.021 * math.log(10)), abs=0.005)
    assert there.value == alone.value == 4.14
    assert odd.value is None


def test_a_df_at_another_frequency_leaves_the_dk_at_its_own(tmp_path: Path) -> None:
    """One `at_ghz` holds for both until the Df is to be declared elsewhere."""
    for name in ("df", "apart"):
        (tmp_path / name).mkdir()
    both = core(tmp_path, "dk = 4.14\ndf = 0.021\nat_ghz = 10\n")
    only_df = core(tmp_path / "df", "df = 0.021\nat_ghz = 10\n")
    apart = core(tmp_path / "apart", "dk = 4.14\ndf = 0.021\nat_ghz = 10\ndk_at_ghz = 1\n")

    assert both.df.how_to_declare(16).endswith('df = "?"\nat_ghz = 16\ndk_at_ghz = 10')
    assert only_df.df.how_to_declare(16).endswith('df = "?"\nat_ghz = 16')
    assert apart.df.how_to_declare(16).endswith('df = "?"\nat_ghz = 16')


def test_a_ply_of_an_unknown_laminate_has_no_df_until_one_is_declared_at_its_frequency(tmp_path: Path) -> None:
    """Neither from the file's text nor from a number without a frequency."""
    for name in ("none", "bare"):
        (tmp_path / name).mkdir()
    stated = core(tmp_path, "df = 0.008\nat_ghz = 10\n", material="Unobtainium")

    assert stated.df.at(10).value == 0.008
    assert not core(tmp_path / "none", material="Unobtainium").df.at(10).known
    assert not core(tmp_path / "bare", "df = 0.008\n", material="Unobtainium").df.at(10).known


def test_a_declared_df_near_ten_gigahertz_gives_its_class(tmp_path: Path) -> None:
    """0.0145 at 10 GHz is mid loss, 0.018 is standard: the number decides, not the laminate's name."""
    found = []
    for number, df in enumerate((0.0145, 0.018)):
        (tmp_path / f"{number}").mkdir()
        found.append(core(tmp_path / f"{number}", f"df = {df}\nat_ghz = 10\n").loss_class.value)

    assert found == [LossClass.MID, LossClass.STANDARD]


# --- nets ---


def with_nets(folder: Path, classes: list[dict[str, object]]) -> Context:
    names = ("/PCIE_TX0_P", "/PCIE_TX0_N", "/PCIE_TX1_P", "/PCIE_TX1_N", "/LED")
    tracks = [
        {"net": net, "layer": "F.Cu", "path_mm": [[5, 5 + 2 * k], [50, 5 + 2 * k]]} for k, net in enumerate(names)
    ]
    board = MiniBoard.model_validate(
        {"size_mm": (60, 40), "copper_layers": 4, "tracks": tracks, "net_classes": classes}
    )
    return prepare(read_board(write(board, folder, "board")), parse_config(""), Overrides())[0]


def test_nets_of_an_unsaid_generation_are_chosen_by_their_class_and_others_by_name(tmp_path: Path) -> None:
    """TX0 is in a class that is named after PCIe, TX1 in none: one line each, and no net in both."""
    classes: list[dict[str, object]] = [{"name": "PCIE", "nets": ["/PCIE_TX0_P", "/PCIE_TX0_N"]}]

    lines = with_nets(tmp_path, classes).assignment_lines("pcie")

    assert lines == 'net_classes = ["PCIE"]\nnets = ["/PCIE_TX1_*"]'


def test_a_class_that_holds_other_nets_too_chooses_nothing(tmp_path: Path) -> None:
    """`net_classes = ["PCIE"]` would make a PCIe net of the LED and of the supply; a reset is left out anyway."""
    lanes = ["/PCIE_TX0_P", "/PCIE_TX0_N", "/PCIE_TX1_P", "/PCIE_TX1_N"]
    (tmp_path / "mixed").mkdir()
    (tmp_path / "pure").mkdir()
    mixed = with_nets(tmp_path / "mixed", [{"name": "PCIE", "nets": [*lanes, "/LED"]}])
    pure = with_nets(tmp_path / "pure", [{"name": "PCIE", "nets": [*lanes, "/PCIE_PERST"]}])

    assert mixed.assignment_lines("pcie") == 'nets = ["/PCIE_TX*"]'
    assert mixed.choosing_line("net class PCIE", "pcie", mixed.nets_of("pcie").tolist()) == 'nets = ["/PCIE_TX*"]'
    assert pure.assignment_lines("pcie") == 'net_classes = ["PCIE"]'
    assert pure.choosing_line("net class PCIE", "pcie", pure.nets_of("pcie").tolist()) == 'net_classes = ["PCIE"]'


def test_without_a_class_only_names_choose_and_of_other_families_nothing_does(tmp_path: Path) -> None:
    """All four nets begin alike and no other does."""
    ctx = with_nets(tmp_path, [])

    assert ctx.assignment_lines("pcie") == 'nets = ["/PCIE_TX*"]'
    assert ctx.assignment_lines("usb3") == ""


def test_plies_of_a_row_are_numbered_only_where_there_are_several(tmp_path: Path) -> None:
    """Five rows of dielectric with six plies, and the copper above and below each."""
    plies = mini(tmp_path).plies

    assert [ply.label for ply in plies] == [
        "dielectric 1",
        "dielectric 2",
        "dielectric 3, ply 1",
        "dielectric 3, ply 2",
        "dielectric 4",
        "dielectric 5",
    ]
    assert [(ply.above, ply.below) for ply in plies] == [(0, 1), (1, 2), (2, 3), (2, 3), (3, 4), (4, 5)]
    assert [plies[2].touches(k) for k in range(5)] == [False, False, True, True, False]


PLY = '[declared.dielectric."dielectric 1, ply {}"]\n'


def test_each_of_unlike_plies_can_be_declared(tmp_path: Path) -> None:
    """What its own table leaves open is that of the row; the other ply keeps the file's."""
    settings = '[declared.dielectric."dielectric 1"]\nat_ghz = 10\n' + PLY.format(2) + "df = 0.022\nat_ghz = 5\n"
    one, other, core_ply, _ = mini_context(tmp_path, tomllib.loads(UNLIKE_PLIES), settings).plies

    assert [ply.label for ply in (one, other)] == ["dielectric 1, ply 1", "dielectric 1, ply 2"]
    assert (one.declaration.df, one.declaration.at_ghz) == (None, 10)
    assert (other.declaration.df, other.declaration.at_ghz) == (0.022, 5)
    assert other.df.at(5).value == 0.022
    assert [ply.stated for ply in (one, other)] == ["370HR 1080 RC65%", "370HR 2116 RC54%"]
    assert core_ply.declaration.at_ghz is None


@pytest.mark.parametrize(
    ("table", "is_known"), [(PLY.format(1), True), (PLY.format(2), True), (PLY.format(3), False)], ids="123"
)
def test_a_table_of_a_ply_that_is_none_is_told(table: str, is_known: bool, tmp_path: Path) -> None:
    board = mini_file(tmp_path, tomllib.loads(UNLIKE_PLIES))
    notes = check_board(board, config=parse_config(table + "tg_c = 180\n")).notes
    assert any("the stackup has no such row" in note for note in notes) != is_known


def test_a_lone_ply_has_no_number(tmp_path: Path) -> None:
    board = mini_file(tmp_path, tomllib.loads(UNLIKE_PLIES))
    lone = parse_config('[declared.dielectric."dielectric 3, ply 1"]\ntg_c = 180\n')
    assert any("the stackup has no such row" in note for note in check_board(board, config=lone).notes)


PLANES = 'planes = { "In1.Cu" = "GND", "In2.Cu" = "GND" }\n'


def test_a_sheet_without_material_and_dk_asks_for_them_in_lines_that_can_be_pasted(tmp_path: Path) -> None:
    """The words "or:" stood above tables that were sorted away from it; and the sheets were said to "state FR4,"."""
    named = UNLIKE_PLIES.replace('0.08 "370HR 1080 RC65%"', '0.08 "FR4"')
    text = named.replace(' "370HR 2116 RC54%" dk=4.1 df=0.021', "", 1)
    ctx = mini_context(tmp_path, tomllib.loads(text + PLANES))

    asked = ctx.plies[1].dk.at(1.0)
    with pytest.raises(MissingFact) as missing:
        candidate_of(ctx)

    assert asked.value is None and list(tomllib.loads(asked.how_to_give)) == ["declared"]
    assert "Epsilon R of dielectric 1" in asked.how_to_give
    assert missing.value.how_to_give == "its sheets state FR4 and none"
    assert board_facts(ctx, "").stackup.endswith(" (2 dielectrics), no material")

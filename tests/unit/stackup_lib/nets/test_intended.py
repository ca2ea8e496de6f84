"""What KiCad intends for a net on a layer: rule before tuning profile before net class, and what declares nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stackup_lib.board.board import Board
from stackup_lib.kicad import read_board
from stackup_lib.kicad.design_rules.rules_file import parse_design_rules
from stackup_lib.nets.design_widths import ConfiguredGeometry, configured_geometry
from tests.support.mini import mini_file

PROFILE = {
    "profile_name": "Z85",
    "type": 1,
    "target_impedance": 85.0,
    "layer_entries": [
        {
            "signal_layer": "In2.Cu",
            "top_reference_layer": "In1.Cu",
            "bottom_reference_layer": "UNDEFINED",
            "width": 139000,
            "diff_pair_gap": 150000,
        }
    ],
}


def board(folder: Path, **of_class: float) -> Board:
    """Four layers; the net /A is in the class FAST, which has the tuning profile Z85 for In2.Cu."""
    track = {"net": "/A", "layer": "F.Cu", "path_mm": [[5, 10], [40, 10]]}
    fast = {"name": "FAST", "nets": ["/A"], "tuning_profile": "Z85", **of_class}
    mini = {"copper_layers": 4, "tracks": [track], "net_classes": [fast]}
    path = mini_file(folder, mini, "b")
    project = path.with_suffix(".kicad_pro")
    data = json.loads(project.read_text(encoding="utf-8"))
    data["tuning_profiles"] = {"tuning_profiles_impedance_geometric": [PROFILE]}
    project.write_text(json.dumps(data), encoding="utf-8")
    return read_board(path)


def of_layers(found: tuple[ConfiguredGeometry, ...]) -> dict[str, tuple[float | None, float | None, str]]:
    return {row.layer: (row.width_mm, row.gap_mm, row.source) for row in found}


def test_a_tuning_profile_wins_over_the_class_on_its_own_layer(tmp_path: Path) -> None:
    """It names its planes too; on other layers the class holds."""
    found = configured_geometry(
        board(tmp_path, diff_pair_width_mm=0.11, diff_pair_gap_mm=0.13), "/A", None, in_pair=True
    )

    assert of_layers(found)["In2.Cu"] == (0.139, 0.15, "tuning profile Z85")
    assert of_layers(found)["F.Cu"] == (0.11, 0.13, "net class FAST")
    assert {row.layer: row.references for row in found}["In2.Cu"] == ("In1.Cu", None)


def test_a_rule_wins_over_the_tuning_profile(tmp_path: Path) -> None:
    """Width by the rule, gap still by the profile; both are named."""
    rules = parse_design_rules("(version 1)\n(rule r (constraint track_width (opt 0.2mm)))", tmp_path / "b.kicad_dru")

    found = of_layers(configured_geometry(board(tmp_path), "/A", rules, in_pair=True))

    assert found["In2.Cu"] == (0.2, 0.15, "b.kicad_dru:2 and tuning profile Z85")


def test_what_kicad_writes_into_a_new_class_is_not_meant(tmp_path: Path) -> None:
    """0.2/0.25 mm is KiCad's; one of the two edited, and both are the owner's."""
    untouched = configured_geometry(
        board(tmp_path / "a", diff_pair_width_mm=0.2, diff_pair_gap_mm=0.25), "/A", None, in_pair=True
    )
    edited = configured_geometry(
        board(tmp_path / "b", diff_pair_width_mm=0.11, diff_pair_gap_mm=0.25), "/A", None, in_pair=True
    )

    def meant(rows: tuple[ConfiguredGeometry, ...]) -> list[bool]:
        return [bool(said and said.is_meant) for said in (rows[0].width, rows[0].gap)]

    assert meant(untouched) == [False, False]
    assert meant(edited) == [True, True]


def test_bounds_that_a_value_keeps_leave_it_and_others_make_it_doubtful(tmp_path: Path) -> None:
    """A minimum of 0.1 mm says nothing of 0.11; one of 0.2 mm bars it and prefers nothing."""
    of = board(tmp_path, diff_pair_width_mm=0.11, diff_pair_gap_mm=0.13)
    rule = "(version 1)\n(rule r (constraint track_width (min {}mm)))"

    kept = configured_geometry(of, "/A", parse_design_rules(rule.format(0.1)), in_pair=True)[0]
    barred = configured_geometry(of, "/A", parse_design_rules(rule.format(0.2)), in_pair=True)[0]

    assert (kept.width_mm, kept.doubts) == (0.11, ())
    assert barred.doubts == ("design rules:2",)


@pytest.mark.parametrize(
    ("rule", "width_mm"),
    [
        ('(layer "SIG 2")', 0.25),
        ('(layer "SIG*")', 0.25),
        ("(condition \"A.Layer == 'SIG 2'\")", 0.25),
        ("(condition \"A.Layer == 'In2.Cu'\")", 0.25),
        ("(condition \"A.Layer == 'in2.cu'\")", 0.15),  # KiCad 10.0.6 minds upper and lower case here
        ('(layer "SIG 3")', 0.15),
    ],
)
def test_a_rule_may_call_a_layer_by_the_users_name(tmp_path: Path, rule: str, width_mm: float) -> None:
    """KiCad takes both names of In2.Cu, with wildcards; other layers keep the width of their class."""
    path = mini_file(
        tmp_path,
        {
            "copper_layers": 4,
            "net_classes": [{"name": "FAST", "nets": ["/A"], "track_width_mm": 0.15}],
            "tracks": [{"net": "/A", "layer": "F.Cu", "path_mm": [[5, 10], [40, 10]]}],
        },
        "b",
    )
    text = path.read_text(encoding="utf-8")
    assert '"In2.Cu" signal' in text
    path.write_text(text.replace('"In2.Cu" signal', '"In2.Cu" signal "SIG 2"'), encoding="utf-8")
    rules = parse_design_rules(f"(version 1)\n(rule r {rule} (constraint track_width (opt 0.25mm)))", path)

    found = {row.layer: row.width_mm for row in configured_geometry(read_board(path), "/A", rules, in_pair=False)}

    assert found == {"F.Cu": 0.15, "In1.Cu": 0.15, "In2.Cu": width_mm, "B.Cu": 0.15}

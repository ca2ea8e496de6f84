"""The reader of `.kicad_pro`: net classes as KiCad resolves them, older files, clear errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stackup_lib.board.board import NetClass, Project
from stackup_lib.core.errors import BoardFileError
from stackup_lib.kicad import read_board, read_project
from stackup_lib.kicad.design_rules.joined_classes import joined_classes
from tests.support.hang import no_hang
from tests.support.kicad.kicad_boards import board_text
from tests.support.kicad.kicad_patterns import AS_KICAD

DEFAULT = {"name": "Default", "priority": 2147483647, "track_width": 0.25, "via_diameter": 0.8, "clearance": 0.2}


def _project(tmp_path: Path, settings: object, nets: list[str], **other: object) -> Project:
    path = tmp_path / "board.kicad_pro"
    path.write_text(json.dumps({"meta": {"version": 3}, "net_settings": settings, **other}), encoding="utf-8")
    return read_project(path, nets)


def _with_patterns(tmp_path: Path, patterns: list[str], nets: list[str]) -> Project:
    """One class per pattern, named like it, priorities in order."""
    classes = [DEFAULT, *({"name": p, "priority": i} for i, p in enumerate(patterns))]
    settings = {"classes": classes, "netclass_patterns": [{"netclass": p, "pattern": p} for p in patterns]}
    return _project(tmp_path, settings, nets)


@pytest.mark.parametrize("case", AS_KICAD)
def test_patterns_match_as_in_kicad(tmp_path: Path, case: str) -> None:
    """A pattern is tried as a wildcard and as a regular expression on the whole name, buses taken apart before."""
    patterns, expected = AS_KICAD[case]
    project = _with_patterns(tmp_path, patterns, list(expected))
    assert {net: int(net in project.net_classes_of) for net in expected} == expected


def test_all_classes_combine_by_priority(tmp_path: Path) -> None:
    """Patterns and assignments add up; the smaller number goes first, then the name; each field has its own first."""
    classes = [
        {"name": "B", "priority": 5, "track_width": 0.3, "diff_pair_gap": 0.11},
        {"name": "A", "priority": 5, "via_drill": 0.15},
        DEFAULT,
        {"name": "first", "priority": 0, "track_width": 0.1, "tuning_profile": "DP90"},
    ]
    settings = {
        "classes": classes,
        "netclass_patterns": [{"netclass": "first", "pattern": "X*"}, {"netclass": "nobody", "pattern": "*"}],
        "netclass_assignments": {"X1": ["B", "A", "Nope"], "X2": "B", "gone": ["A"], "Y": None},
    }
    project = _project(tmp_path, settings, ["", "X1", "X2", "X3", "Y"])
    assert dict(project.net_classes_of) == {"X1": ("first", "A", "B"), "X2": ("first", "B"), "X3": ("first",)}
    found = project.effective("X1")
    assert (found.track_width_mm, found.via_drill_mm, found.diff_pair_gap_mm) == (0.1, 0.15, 0.11)
    assert (found.via_diameter_mm, found.tuning_profile) == (0.8, "DP90")
    assert project.effective("Y").track_width_mm == 0.25
    assert project.assignments["X2"] == ("B",)
    assert dict(project.undefined_classes_of) == {
        "X1": ("Nope", "nobody"),
        "X2": ("nobody",),
        "X3": ("nobody",),
        "Y": ("nobody",),
    }
    assert joined_classes(project, "Y") == ("nobody", "Default")


def test_a_net_that_nothing_names_takes_the_class_its_members_share(tmp_path: Path) -> None:
    """KiCad takes such a net apart as a bus; members of different classes give it none."""
    project = _with_patterns(tmp_path, ["slash", "/D0"], ["N{slash}1", "/D[0..1]", "{slash x}"])
    assert dict(project.net_classes_of) == {"N{slash}1": ("slash",)}


def test_older_projects(tmp_path: Path) -> None:
    """Before KiCad 9 classes have no priority and go by their order; KiCad 6 lists the nets in the class."""
    classes = [
        {"name": "Default", "track_width": 0.25},
        {"name": "late", "track_width": 0.3, "nets": ["/A"]},
        {"name": "later", "track_width": 0.4, "nets": ["/A", "/B"]},
    ]
    project = _project(
        tmp_path, {"classes": classes, "netclass_patterns": [], "netclass_assignments": None}, ["/A", "/B"]
    )
    assert project.net_classes_of == {"/A": ("late", "later"), "/B": ("later",)}
    assert project.effective("/A").track_width_mm == 0.3
    assert project.effective("x").track_width_mm == 0.25


def test_tuning_profiles_and_text_variables(tmp_path: Path) -> None:
    """A tuning profile states its target and, in nanometres, the width and gap of each layer."""
    entry: dict[str, object] = {"signal_layer": "F.Cu", "top_reference_layer": "UNDEFINED"}
    entry |= {"bottom_reference_layer": "In1.Cu", "width": 150000, "diff_pair_gap": 200000, "delay": 5900000}
    row = {"profile_name": "DP90", "type": 1, "target_impedance": 90.0, "layer_entries": [entry]}
    profiles = {"meta": {"version": 0}, "tuning_profiles_impedance_geometric": [row]}
    project = _project(tmp_path, {}, [], tuning_profiles=profiles, text_variables={"STACKWRIGHT_PROFILE": "edge"})
    assert project.text_variables == {"STACKWRIGHT_PROFILE": "edge"}
    (profile,) = project.tuning_profiles
    assert (profile.name, profile.differential, profile.target_ohm) == ("DP90", True, 90.0)
    (layer,) = profile.layers
    assert (layer.signal_layer, layer.top_reference, layer.bottom_reference) == ("F.Cu", None, "In1.Cu")
    assert (layer.width_mm, layer.gap_mm) == pytest.approx((0.15, 0.2))


def test_no_project_is_the_default_class_only(tmp_path: Path) -> None:
    """A board without a `.kicad_pro` is read; its project has no path and only Default."""
    board = tmp_path / "board.kicad_pcb"
    board.write_text(board_text())
    project = read_board(board).project
    assert project.path is None
    assert project.classes == {"Default": NetClass(name="Default", priority=2147483647)}
    assert project.effective("GND").track_width_mm is None


def test_the_project_is_beside_the_board_or_where_one_says(tmp_path: Path) -> None:
    """The file with the board's stem is taken; one that is named explicitly wins, and must exist."""
    board = tmp_path / "board.kicad_pcb"
    board.write_text(board_text())
    for name in ("board", "other"):
        (tmp_path / f"{name}.kicad_pro").write_text(json.dumps({"text_variables": {"NAME": name}}))
    assert read_board(board).project.text_variables == {"NAME": "board"}
    assert read_board(board, project=tmp_path / "other.kicad_pro").project.text_variables == {"NAME": "other"}
    with pytest.raises(BoardFileError, match=r"none\.kicad_pro"):
        read_board(board, project=tmp_path / "none.kicad_pro")


@pytest.mark.parametrize(("drill", "drill_mm"), [("(drill 0)", 0.35), ("", 0.35), ("(drill 0.2)", 0.2)])
@pytest.mark.parametrize("word", ["", "locked"])
def test_a_via_without_a_drill_has_that_of_its_class(word: str, drill: str, drill_mm: float, tmp_path: Path) -> None:
    """As in KiCad 10, which takes a drill of 0 for none stated; a word more is read by the general parser."""
    board = tmp_path / "board.kicad_pcb"
    item = f'(via {word} (at 5 5) (size 0.6) {drill} (layers "F.Cu" "B.Cu") (net 1) (uuid "v1"))'
    board.write_text(board_text(items=item))
    settings = {"net_settings": {"classes": [{"name": "Default", "via_drill": 0.35}]}}
    (tmp_path / "board.kicad_pro").write_text(json.dumps(settings))
    assert read_board(board).vias.drill_mm.tolist() == [drill_mm]


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "((a*)*)*b", "*a*a*a*a*a*a*a*a*a*a*a*b", r"(a*)\1b"])
def test_patterns_that_never_end_are_not_tried(tmp_path: Path, pattern: str) -> None:
    """A regular expression that could run for ever is left to the wildcard, with a remark, and costs no time."""
    board = tmp_path / "board.kicad_pcb"
    board.write_text(board_text(nets=f'(net 1 "{"a" * 60}") (net 3 "x")'))
    rows = [{"netclass": "C", "pattern": pattern}]
    settings = {"classes": [{"name": "C", "priority": 0}], "netclass_patterns": rows}
    (tmp_path / "board.kicad_pro").write_text(json.dumps({"net_settings": settings}))
    with no_hang():
        found = read_board(board)
    assert found.project.net_classes_of == {}
    assert any(pattern in w for w in found.warnings)


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ('{\n"a": 1,\n}', ", line 3", "is not valid JSON"),
        ("", ", line 1", "is not valid JSON"),
        ("[1]", "", "no JSON object"),
        ("[" * 100_000, "", "not a JSON that can be read"),
        ('{"net_settings": 3}', "", "net_settings is not an object"),
        ('{"net_settings": {"classes": [3]}}', "", "net_settings.classes is not a list of objects"),
        ('{"net_settings": {"classes": [{}]}}', "", "a class without a name"),
        ('{"net_settings": {"classes": [{"name": "A", "clearance": "x"}]}}', "", "clearance is not a number"),
        ('{"net_settings": {"classes": [{"name": "A", "priority": NaN}]}}', "", "priority is not a number"),
        ('{"net_settings": {"netclass_patterns": [{"pattern": 3}]}}', "", "pattern is not a text"),
        ('{"net_settings": {"netclass_assignments": {"N": [1]}}}', "", "netclass_assignments.N is not a list of names"),
        ('{"text_variables": {"A": {}}}', "", "text_variables.A is not a text"),
    ],
)
def test_a_project_that_cannot_be_read_is_one_clear_line(tmp_path: Path, text: str, where: str, what: str) -> None:
    """Invalid JSON names its line, a wrong type its key."""
    path = tmp_path / "board.kicad_pro"
    path.write_text(text)
    (tmp_path / "board.kicad_pcb").write_text(board_text())
    with pytest.raises(BoardFileError) as caught:
        read_board(tmp_path / "board.kicad_pcb")
    assert caught.value.where == f"{path}{where}"
    assert what in caught.value.what
    assert "\n" not in str(caught.value)


def test_a_project_that_is_no_text(tmp_path: Path) -> None:
    """Bytes that are no UTF-8, and a folder in the project's place, are errors of their own."""
    path = tmp_path / "board.kicad_pro"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BoardFileError, match="not UTF-8"):
        read_project(path, [])
    with pytest.raises(BoardFileError, match="cannot be read"):
        read_project(tmp_path, [])


def test_many_buses_and_nets_take_little_time(tmp_path: Path) -> None:
    """A hundred bus patterns of 64 members each against five thousand nets: members are looked up, not searched."""
    nets = [f"/B{i}/D{k}" for i in range(80) for k in range(64)]
    with no_hang():
        project = _with_patterns(tmp_path, [f"/B{i}/D[0..63]" for i in range(100)], nets)
    assert project.net_classes_of["/B7/D63"] == ("/B7/D[0..63]",)
    assert len(project.net_classes_of) == len(nets)

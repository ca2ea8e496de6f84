"""Sizes into KiCad's tuning profiles: those, and no other byte."""

from __future__ import annotations

import json

import pytest

from stackup_lib.board.planned import PlannedTuning
from stackup_lib.core.errors import NotWrittenError
from stackup_lib.kicad.write.tuning_writer import set_tuning


def _project() -> bytes:
    entry = {
        "signal_layer": "F.Cu",
        "top_reference_layer": "UNDEFINED",
        "width": 200000,
        "diff_pair_gap": 150000,
        "delay": 7,
    }
    other = {**entry, "signal_layer": "B.Cu"}
    profile = {"profile_name": "USB90", "type": 1, "target_impedance": 90.0, "layer_entries": [entry, other]}
    tuning = {"meta": {"version": 0}, "tuning_profiles_impedance_geometric": [profile], "unknown": {"a": [1, 2]}}
    return json.dumps({"board": {}, "tuning_profiles": tuning}, indent=2).encode()


def test_only_the_named_sizes_change() -> None:
    """Width and gap in nanometres; every other line stays as it was."""
    old = _project()
    new = set_tuning(old, [PlannedTuning(profile="USB90", layer="F.Cu", width_mm=0.1759, gap_mm=0.15)])
    assert [(a, b) for a, b in zip(old.splitlines(), new.splitlines(), strict=True) if a != b] == [
        (b'            "width": 200000,', b'            "width": 175900,')
    ]


def test_the_same_sizes_change_nothing() -> None:
    """Not even how the file is laid out."""
    old = _project()
    assert set_tuning(old, [PlannedTuning(profile="USB90", layer="B.Cu", width_mm=0.2, gap_mm=0.15)]) == old
    assert set_tuning(old, []) == old


@pytest.mark.parametrize(("profile", "layer"), [("USB85", "F.Cu"), ("USB90", "In1.Cu")])
def test_a_profile_or_layer_that_is_not_there_is_refused(profile: str, layer: str) -> None:
    """Nothing is added: a profile is the user's."""
    with pytest.raises(NotWrittenError, match=f'"{profile}" with a row of {layer}'):
        set_tuning(_project(), [PlannedTuning(profile=profile, layer=layer, width_mm=0.2)])

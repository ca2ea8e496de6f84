"""Nets that run like a pair without names or pins that tell one."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.analysis.nets.coupled_nets import coupled_nets
from tests.support.mini import mini_context

Runs = dict[str, tuple[float, float]]
"""Net -> its y in mm, and its length."""

ALONE: Runs = {"/KILO": (10.0, 30.0), "/LIMA": (10.4, 30.0)}


def found(folder: Path, runs: Runs) -> list[tuple[str, str, float]]:
    """Nets between U1 and J1 that run straight, 0.2 mm wide, so that 0.4 mm apart are a gap of one width."""
    parts = [
        {
            "reference": reference,
            "at_mm": (0, 0),
            "pads": [
                {"number": str(k), "net": net, "at_mm": (5.0 + share * mm, y), "size_mm": (0.2, 0.2)}
                for k, (net, (y, mm)) in enumerate(runs.items(), start=1)
            ],
        }
        for reference, share in (("U1", 0), ("J1", 1))
    ]
    tracks = [
        {"net": net, "layer": "F.Cu", "width_mm": 0.2, "path_mm": ((5, y), (5 + mm, y))}
        for net, (y, mm) in runs.items()
    ]
    context = mini_context(folder, {"size_mm": (60, 40), "parts": parts, "tracks": tracks})
    nets = context.board.nets
    return [(nets[one.first], nets[one.second], one.length_mm) for one in context.get(coupled_nets)]


def test_two_nets_side_by_side_run_like_a_pair(tmp_path: Path) -> None:
    ((first, second, length_mm),) = found(tmp_path, ALONE)
    assert {first, second} == set(ALONE)
    assert length_mm == pytest.approx(30.0)


def test_names_that_kicad_made_tell_no_bus(tmp_path: Path) -> None:
    """As between two headers: `Net-(J1-Pad1)` and `Net-(J1-Pad3)`."""
    made: Runs = {"Net-(J1-Pad1)": (10.0, 30.0), "Net-(J1-Pad3)": (10.4, 30.0)}
    assert len(found(tmp_path, made)) == 1


@pytest.mark.parametrize(
    "runs",
    [
        {"/KILO": (10.0, 30.0), "/LIMA": (11.0, 30.0)},
        {"/KILO": (10.0, 30.0), "/LIMA": (10.4, 20.0)},
        {"/KILO": (10.0, 8.0), "/LIMA": (10.4, 8.0)},
        {"/D6": (10.0, 30.0), "/D7": (10.4, 30.0)},
        {"/KILO": (10.0, 30.0), "/LIMA": (10.4, 30.0), "/MIKE": (10.8, 30.0)},
        {"/SCL": (10.0, 30.0), "/SDA": (10.4, 30.0)},
        {"/USB_D+": (10.0, 30.0), "/USB_D-": (10.4, 30.0)},
    ],
    ids=["far apart", "unequal", "short", "a bus by name", "a bus by its tracks", "a slow bus", "a pair by name"],
)
def test_what_else_runs_side_by_side_is_no_pair(tmp_path: Path, runs: Runs) -> None:
    assert found(tmp_path, runs) == []

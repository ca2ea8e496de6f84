"""The manifest names each board once, by what git and a hash can verify."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.corpus.add import copper_layers
from tests.corpus.manifest import read_manifest


def test_every_board_is_named_once_and_can_be_verified() -> None:
    entries = read_manifest()
    assert entries == sorted(entries)
    assert len({entry.name for entry in entries}) == len({entry.sha256 for entry in entries}) == len(entries) > 300
    wrong = [
        entry.name
        for entry in entries
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", entry.repository)
        or not re.fullmatch(r"[0-9a-f]{40}", entry.commit)
        or not re.fullmatch(r"[0-9a-f]{64}", entry.sha256)
        or not re.fullmatch(r"([0-9a-f]{64})?", entry.project_sha256)
        or not entry.path.endswith(".kicad_pcb")
        or not entry.licence
        or entry.layers < 1
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("layers", "copper"),
    [
        ('(0 "F.Cu" signal) (1 "In1.Cu" power "GND") (31 "B.Cu" mixed) (44 "Edge.Cuts" user) (50 "User.1" signal)', 3),
        ('(0 "F.Cu" signal) (4 "In1.Cu" jumper) (2 "B.Cu" power) (25 "Edge.Cuts" user) (39 "User.1" signal)', 3),
        ("(15 F.Cu signal) (2 Inner2.Cu power) (1 Inner1.Cu power) (0 B.Cu signal) (28 Edge.Cuts user)", 4),
        ('(0 "F.Cu" signal) (50 "User.1" signal)', 1),
    ],
    ids=["up to KiCad 8", "since KiCad 9", "KiCad 3", "one layer"],
)
def test_a_user_layer_of_type_signal_is_no_copper(layers: str, copper: int) -> None:
    assert copper_layers(f"(kicad_pcb (layers {layers}))") == copper


def test_the_corpus_is_as_demanding_as_it_says() -> None:
    """Six or more layers or a controlled impedance: what the page about public boards counts."""
    entries = read_manifest()
    told = (Path(__file__).parents[2] / "plugin/docs/pages/texts/guide/public_boards.md").read_text(encoding="utf-8")
    demanding = sum(entry.layers >= 6 or entry.impedance for entry in entries)
    repositories = len({entry.repository for entry in entries})
    assert f"{len(entries)} boards of {repositories} repositories, KiCad 3 to 10, {demanding} of them" in told
    assert all(entry.layers == 1 or entry.layers % 2 == 0 for entry in entries)

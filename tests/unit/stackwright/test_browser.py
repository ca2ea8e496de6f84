"""What the page in the browser runs, without a browser."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from stackwright.browser.dropped import check_dropped
from stackwright.browser.short_indices import as_indices, bincount, repeat
from tests.support.in_process import run_here

BOARD = Path(__file__).resolve().parents[3] / "fixtures" / "boards" / "inference_pcie_gen5_fit"


def test_long_indices_count_and_repeat_as_numpys_own() -> None:
    """Whole numbers of 64 bits, none at all, and weights."""
    where = np.array([3, 0, 3, 1], dtype=np.int64)
    weights = np.array([0.5, 1.0, 0.25, 2.0])

    assert bincount(where, weights, 6).tolist() == np.bincount(where, weights, 6).tolist()
    assert bincount([], minlength=2).tolist() == [0, 0]
    assert repeat(np.arange(4), where).tolist() == np.repeat(np.arange(4), where).tolist()
    assert repeat(weights, 2).tolist() == np.repeat(weights, 2).tolist()


def test_an_index_is_whole() -> None:
    """As in NumPy."""
    with pytest.raises(TypeError):
        as_indices([0.5])


def test_an_index_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would else be taken for another one."""
    monkeypatch.setattr(np, "intp", np.int32)

    with pytest.raises(OverflowError):
        as_indices([2**31])
    assert as_indices([2**31 - 1]).dtype == np.int32


def test_dropped_files_are_checked_as_by_the_command_line(tmp_path: Path) -> None:
    """Board, project and settings in one folder; the steps are told."""
    folder = tmp_path / "dropped"
    shutil.copytree(BOARD, folder)
    told: list[str] = []

    made = check_dropped(str(folder), "", told.append)

    ours = run_here("check", str(folder / f"{BOARD.name}.kicad_pcb"), "--json").out
    assert json.loads(made["json"]) == json.loads(ours)
    assert "<!DOCTYPE html>" in made["page"]
    assert made["name"] == BOARD.name
    assert any(step.startswith("checking ") for step in told)


def test_a_workload_may_be_chosen(tmp_path: Path) -> None:
    """In place of what the settings say."""
    shutil.copy(BOARD / f"{BOARD.name}.kicad_pcb", tmp_path)

    made = check_dropped(str(tmp_path), "edge", lambda step: None)

    assert json.loads(made["json"])["reports"][0]["provenance"]["profile"] == "edge"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "no .kicad_pcb among the files"),
        ({"a.kicad_pcb": "(kicad_pcb)", "b.kicad_pcb": "(kicad_pcb)"}, "2 boards"),
        ({"a.kicad_pcb": "not a board"}, "a.kicad_pcb"),
        ({"a.kicad_pcb": "(kicad_pcb", "stackwright.toml": "["}, "stackwright.toml"),
    ],
)
def test_bad_files_give_one_line(tmp_path: Path, files: dict[str, str], said: str) -> None:
    """What is wrong, and no report."""
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    made = check_dropped(str(tmp_path), "", lambda step: None)

    assert set(made) == {"error"}
    assert said in made["error"]
    assert "\n" not in made["error"]

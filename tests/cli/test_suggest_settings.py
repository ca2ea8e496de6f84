"""`stackwright suggest --config` without a board: workload, goals and the fab's process of a settings file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stackup_lib.core.errors import StackwrightError
from stackwright.cli.app import run

pytestmark = pytest.mark.slow

EDGE = 'profile = "edge"\n'
FAB = '[process]\npreset = "jlcpcb"\n'
GOALS = "[goals]\nlayers = 6\n"
ANSWER = ("suggest", "--limit", "1", "--interface", "pcie3", "--format", "json")


def answer_of(folder: Path, settings: str, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    """The first answer."""
    file = folder / "fab.toml"
    file.write_text(settings, encoding="utf-8")
    assert run([*ANSWER, "--config", str(file), *words]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)["answers"][0]
    return found


def outer_row(answer: dict[str, object]) -> tuple[object, object]:
    """Thickness and foil of the top layer."""
    rows = answer["rows"]
    assert isinstance(rows, list)
    top = next(row for row in rows if row["name"] == "F.Cu")
    return top["thickness_mm"], top["copper_oz"]


def test_workload_goals_and_process_are_those_of_the_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """JLCPCB's outer copper is 40.6 um; without a preset it is 35 um."""
    found = answer_of(tmp_path, EDGE + GOALS + FAB, capsys)
    assert found["layers"] == 6
    assert outer_row(found) == (0.0406, 0.5)
    assert outer_row(answer_of(tmp_path, EDGE + GOALS, capsys)) == (0.035, 0.5)


def test_the_command_line_goes_before_the_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer_of(tmp_path, 'profile = "training"\n' + GOALS, capsys, "--profile", "edge", "--layers", "4")
    assert found["layers"] == 4


def test_heavy_outer_copper_is_of_a_heavier_foil(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Half an ounce plated is no 70 um; a gap of 0.1 mm in 1 oz of foil is a question to the fab."""
    settings = EDGE + GOALS + "[process]\nouter_copper_um = 70\n"
    assert outer_row(answer_of(tmp_path, settings, capsys)) == (0.07, 1.0)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (None, "cannot be read"),
        ("profil = 1\n", "did you mean"),
        (EDGE + "[process]\nouter_copper_um = 9\n", "plating of holes alone adds 18 um"),
    ],
    ids=["no such file", "a misspelt key", "less than the plating"],
)
def test_settings_that_cannot_be_used_are_refused(settings: str | None, said: str, tmp_path: Path) -> None:
    """Without a board the file was not read at all, and anything in it was accepted."""
    file = tmp_path / "fab.toml"
    if settings is not None:
        file.write_text(settings, encoding="utf-8")
    with pytest.raises(StackwrightError, match=said):
        run([*ANSWER, "--profile", "edge", "--config", str(file)])

"""From a fresh board to a decision: check, answer what `init` asks, check again.

What is left after that is only what the first run already said is to be done in KiCad.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Headline, Report
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.clauses import Severity
from tests.support.boards import BOARDS
from tests.support.in_process import run_here as run

ANSWERS = {
    "tg_c": "170",
    "foil": '"VLP"',
    "material": '"IT-180A"',
    "impedance_tolerance_pct": "10",
    "package_loss_db": "1",
    "connector_loss_db": "0.5",
}
"""What an engineer looks up; anything else is answered with what the comment offers first."""

pytestmark = pytest.mark.slow


def answered(settings: str) -> str:
    """Return settings with their open values filled in: known ones, else the first choice of the comment."""
    lines = []
    for line in settings.splitlines():
        found = re.match(r'(\w+) = "\?"  # (?:(?:inferred|guessed): |e\.g\. )?([\w.-]+)', line)
        if found is None:
            lines.append(line)
        elif found[1] in ANSWERS:
            lines.append(f"{found[1]} = {ANSWERS[found[1]]}")
        elif found[1] in ("is", "role"):
            lines.append(f'{found[1]} = "{found[2]}"')
        elif found[1] == "ohm":
            lines.append(f"ohm = {found[2]}")
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def walked(source: Path, profile: str, folder: Path) -> tuple[Report, str]:
    """Return the report of the last check, and what `init` printed and asked."""
    for file in source.iterdir():
        if file.suffix in (".kicad_pcb", ".kicad_pro", ".kicad_dru"):
            shutil.copy(file, folder)
    board = next(folder.glob("*.kicad_pcb"))
    fresh = check_board(board, overrides=Overrides(profile=profile))
    assert fresh.headline is Headline.NOT_PROVEN
    ran = run("init", board, "--profile", profile)
    assert (ran.code, ran.err) == (0, "")
    settings = folder / "stackwright.toml"
    settings.write_text(answered(settings.read_text()))
    return check_board(board), ran.out


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        ("inference_pcie_gen5_caps_no_backdrill", "inference-pcie"),
        ("inference_pcie_gen5_caps_no_backdrill", "edge"),
        ("training_b200_no_backdrill", "training-b200"),
    ],
)
def test_a_fixture_board_is_decided(name: str, profile: str, tmp_path: Path) -> None:
    report, _ = walked(BOARDS / name, profile, tmp_path)

    assert report.headline in (Headline.FIT, Headline.NOT_FIT), report.headline_why


@pytest.mark.demo
def test_the_compute_module_carrier_is_decided(demo_boards: Path, tmp_path: Path) -> None:
    report, _ = walked(demo_boards / "cm5_minima", "edge", tmp_path)

    assert report.headline in (Headline.FIT, Headline.NOT_FIT), report.headline_why


@pytest.mark.demo
def test_where_only_kicad_can_tell_the_first_run_says_all_of_it(demo_boards: Path, tmp_path: Path) -> None:
    """An untouched stackup and old zone fills: nothing else is left of the mandatory requirements."""
    report, printed = walked(demo_boards / "openair-max", "edge", tmp_path)

    left = {
        one.how_to_give
        for v in report.verdicts
        if v.clause.severity is Severity.ERROR and (v.verdict is Verdict.NOT_VERIFIABLE or v.guesses)
        for one in (*v.missing, *v.guesses)
    }
    assert report.headline is Headline.NOT_PROVEN
    assert len(left) == 2
    assert all(how.startswith("in KiCad, ") and how in printed for how in left)

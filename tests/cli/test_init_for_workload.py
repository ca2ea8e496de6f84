"""`init --profile`: one file with lines for all that a workload needs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.facts.declared import Overrides
from drc_rules.report.verdicts import Verdict
from drc_rules.settings.config import load_config, parse_config
from stackwright.commands.setup import settings_file
from stackwright.commands.setup.init import init_board
from stackwright.reporters.next_step import next_step
from tests.support.boards import BOARDS
from tests.support.in_process import run_here as run
from tests.support.mini import mini_context, mini_file
from tests.support.stackups import FOUR_LAYERS

FIT = "inference_pcie_gen5_fit"


def pairs_of(*names: str) -> list[dict[str, object]]:
    """Pairs of nets across the board, one below the other."""
    return [
        {
            "nets": [f"{name}_P", f"{name}_N"],
            "layer": "F.Cu",
            "path_mm": [[5, y], [50, y]],
            "width_mm": 0.12,
            "gap_mm": 0.15,
        }
        for name, y in zip(names, (10, 20), strict=True)
    ]


NAMED = {
    "size_mm": [60, 40],
    "net_classes": [{"name": "100Ohm_HDMI", "patterns": ["/HDMI_*"]}],
    "pairs": pairs_of("/USB_D", "/HDMI_TX0"),
}


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A fit board without its settings."""
    shutil.copytree(BOARDS / FIT, tmp_path / FIT)
    (tmp_path / FIT / "stackwright.toml").unlink()
    return tmp_path / FIT / f"{FIT}.kicad_pcb"


@pytest.mark.slow
def test_one_file_asks_for_all_that_is_missing_and_filled_in_it_decides_them(board: Path) -> None:
    target = board.with_name("stackwright.toml")

    ran = run("init", board, "--profile", "inference-pcie")

    asked = target.read_text()
    assert (ran.code, ran.err) == (0, "")
    *_, to_fill, following = ran.out.splitlines()
    assert to_fill == f"fill in {settings_file.open_values(asked)} values marked ?, then check the board again"
    assert following == f"next: stackwright check {board}"
    open_before = undecided(board)
    mandatory = asked.partition("[[rail]]")[0]
    target.write_text(mandatory.replace('foil = "?"', 'foil = "VLP"').replace('_pct = "?"', "_pct = 5"))
    decided = open_before - undecided(board)
    assert any("foil" in one for one in decided)
    assert any("tolerance" in one for one in decided)


def undecided(board: Path) -> set[str]:
    """Return the requirements that are not verifiable."""
    return {v.clause.id for v in check_board(board).verdicts if v.verdict is Verdict.NOT_VERIFIABLE}


@pytest.mark.slow
def test_a_second_time_adds_nothing_and_writes_nothing(board: Path) -> None:
    run("init", board, "--profile", "inference-pcie")
    before = sorted((path.name, path.read_bytes()) for path in board.parent.iterdir())

    ran = run("init", board, "--profile", "inference-pcie")

    assert ran.code == 0
    assert "has all that is needed already" in ran.out
    assert sorted((path.name, path.read_bytes()) for path in board.parent.iterdir()) == before


@pytest.mark.slow
def test_settings_that_are_there_stay_and_the_rest_is_added(board: Path) -> None:
    target = board.with_name("stackwright.toml")
    mine = '# my notes\nprofile = "?"\n[declared]\nfoil = "VLP"  # by the fab, 3 May\n'
    target.write_text(mine)

    ran = run("init", board, "--profile", "inference-pcie")

    text = target.read_text()
    assert ran.code == 0
    assert '# my notes\n[declared]\nfoil = "VLP"  # by the fab, 3 May\n' in text
    config = load_config(target)
    assert (config.profile, config.declared.foil) == ("inference-pcie", "VLP")
    assert "\n# Needed for inference-pcie:\n" in text
    assert any(path.read_text() == mine for path in board.parent.glob("*-bak"))


@pytest.mark.slow
def test_another_workload_is_refused_in_one_line(board: Path) -> None:
    board.with_name("stackwright.toml").write_text('profile = "edge"\n')

    ran = run("init", board, "--profile", "inference-pcie")

    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert 'is for "edge", not for "inference-pcie"' in ran.err
    assert board.with_name("stackwright.toml").read_text() == 'profile = "edge"\n'


def test_a_form_factor_is_written_without_a_workload_too(board: Path) -> None:
    """It was left out without a word, and so was a mistake in it."""
    target = board.with_name("stackwright.toml")
    ran = run("init", board, "--form", "pcie-crad")
    assert (ran.code, target.exists()) == (2, False)
    assert 'did you mean "pcie-card"' in ran.err
    assert run("init", board, "--form", "pcie-card").code == 0
    assert load_config(target).form == "pcie-card"


def test_nets_are_named_in_plain_english(tmp_path: Path) -> None:
    """By one of them, or by their net class."""
    text = settings_file.compose(mini_context(tmp_path, NAMED), settings_file.InitAnswers())

    heads = [line.partition(":")[0] for line in text.splitlines() if re.match("# .*net", line) and "read as" in line]
    assert heads == ["# 2 nets of net class 100Ohm_HDMI", "# 2 nets such as /USB_D_N"]


def test_nets_that_a_table_asks_about_are_not_offered_a_second_time(tmp_path: Path) -> None:
    """One table for the PCIe pair, to be filled in; the USB pair, of which nothing is asked, stays a suggestion."""
    pairs = pairs_of("/PCIE_TX0", "/USB_D")
    planes = {"In1.Cu": "GND", "In2.Cu": "GND"}
    path = mini_file(tmp_path, {**NAMED, "net_classes": [], "pairs": pairs, "stackup": FOUR_LAYERS, "planes": planes})

    assert run("init", path, "--profile", "inference-pcie").code == 0
    text = path.with_name("stackwright.toml").read_text()
    assert '[[interface]]\nis = "?"  # guessed: pcie5\nnets = ["/PCIE_TX0_*"]' in text
    assert '# nets = ["/PCIE_TX0_*"]' not in text
    assert '# nets = ["/USB_D_*"]' in text


def test_a_table_that_waits_for_its_nets_gets_no_second_one(tmp_path: Path) -> None:
    """As `new` writes it: no net has the class yet. Without the table one is to be filled in."""
    path = mini_file(tmp_path, {**NAMED, "net_classes": [{"name": "PCIE"}], "pairs": [], "stackup": FOUR_LAYERS})
    target, mine = path.with_name("stackwright.toml"), '[[interface]]\nis = "pcie5"\nnet_classes = ["PCIE"]\n'
    target.write_text(mine)

    assert run("init", path, "--profile", "inference-pcie").code == 0
    assert target.read_text().count("\n[[interface]]\n") == 1
    assert "# in KiCad, assign nets to the net class, or correct the [[interface]]\n" in target.read_text()
    target.write_text("")
    assert run("init", path, "--profile", "inference-pcie").code == 0
    assert '[[interface]]\nis = "pcie5"\nnet_classes = ["?"]' in target.read_text()


def test_lines_that_are_there_are_not_asked_for_again() -> None:
    needed = ('foil = "?"', "# in KiCad: fill the zones", "[[rail]]", 'net = "?"')
    settings = 'profile = "edge"\n\n[[rail]]\nnet = "?"\n'

    added = settings_file.add_to(settings, "edge", ("# in KiCad: fill the zones", "[[rail]]", 'net = "?"'))

    assert added == settings + "\n# Needed for edge:\n# in KiCad: fill the zones\n"
    assert settings_file.add_to(added, "edge", needed[1:]) == added
    assert parse_config(added).profile == "edge"


def test_what_is_missing_goes_into_the_table_that_is_there() -> None:
    """Of the same nets, and of the stackup; TOML opens no table twice."""
    settings = 'profile = "edge"\n\n[declared]\ntg_c = 170\n\n[[interface]]\nis = "pcie3"\nnets = ["/TX*"]\n'
    needed = (
        "# add to [declared] in stackwright.toml:",
        '# foil = "?"  # STD',
        "[[interface]]",
        'is = "pcie3"',
        'nets = ["/TX*"]',
        'role = "?"  # slot',
    )

    added = settings_file.add_to(settings, "edge", needed)

    rows = 'tg_c = 170\nfoil = "?"  # STD\n\n[[interface]]\nis = "pcie3"\nnets = ["/TX*"]\nrole = "?"  # slot\n'
    assert added == f'profile = "edge"\n\n[declared]\n{rows}'
    assert settings_file.add_to(added, "edge", needed) == added


def test_an_open_role_leaves_the_interface_declared() -> None:
    one, *others = parse_config('[[interface]]\nis = "pcie3"\nnets = ["/TX*"]\nrole = "?"\n').interface
    assert (one.is_, one.role, others) == ("pcie3", None, [])
    assert parse_config('[[interface]]\nis = "?"\nnets = ["/TX*"]\nrole = "slot"\n').interface == ()


@pytest.mark.parametrize(
    ("text", "values"),
    [('a = "?"\nb = ["?"]\n', 2), ('# a = "?"\n', 0), ('a = 1  # "?"\n', 0), ('  net = "?" # x\n', 1)],
)
def test_values_to_fill_in_are_counted(text: str, values: int) -> None:
    assert settings_file.open_values(text) == values


def test_where_the_settings_are_for_another_workload_init_is_not_the_next_step(tmp_path: Path) -> None:
    """It would refuse: the lines are to be entered by hand. For the settings' own workload, or none, it adds them."""
    name = "inference_pcie_gen5_fit"
    shutil.copytree(BOARDS / name, tmp_path / name)
    card = tmp_path / name / f"{name}.kicad_pcb"

    def next_line(settings: str) -> str:
        card.with_name("stackwright.toml").write_text(settings, encoding="utf-8")
        return next_step(check_board(card, overrides=Overrides(profile="inference-sxm-oam")))

    settings = card.with_name("stackwright.toml").read_text(encoding="utf-8")
    assert 'profile = "inference-pcie"' in settings
    assert next_line(settings).startswith("fill in by hand what -v lists: ")
    assert "is for inference-pcie" in next_line(settings)
    own = settings.replace('profile = "inference-pcie"', 'profile = "inference-sxm-oam"')
    assert next_line(own).startswith("stackwright init ")
    assert next_line(settings.replace('profile = "inference-pcie"', "")).startswith("stackwright init ")


def test_init_keeps_the_line_ends_of_windows(tmp_path: Path) -> None:
    """Lines that are added end as those that are there."""
    name = "inference_pcie_gen5_fit"
    shutil.copytree(BOARDS / name, tmp_path / name)
    card = tmp_path / name / f"{name}.kicad_pcb"
    target = card.with_name("stackwright.toml")
    target.write_bytes(b'# ours\r\nform = "pcie-card"\r\n')
    plain = b'# ours\nform = "pcie-card"\n'

    assert init_board(card, ask=False, force=False, profile="inference-pcie") == 0
    windows = target.read_bytes()
    target.write_bytes(plain)
    assert init_board(card, ask=False, force=False, profile="inference-pcie") == 0

    assert b"profile" in windows
    assert windows.count(b"\r\n") == windows.count(b"\n") > 2
    assert windows.replace(b"\r\n", b"\n") == target.read_bytes()

"""Over-design: what a board needs at least, and the silence where that is not known."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board, prepare
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Report
from drc_rules.rules.over_design._loss_margin import KEPT, class_for, demands, df_that_would_do, rooms, with_foil_db
from drc_rules.settings.config import parse_config
from stackup_lib.kicad import read_board
from stackup_lib.materials import FoilGrade, LossClass
from stackup_lib.materials.cost import class_factor, foil_share
from tests.support.mini import mini_board, mini_file
from tests.support.rule_cases import all_cases
from tests.support.seeded import Case

CASES = Path(__file__).parents[2] / "fixtures" / "rules" / "over_design" / "over_specified_laminate.toml"


def context(folder: Path, *, case: int = 0, profile: str | None = "inference", config: str | None = None) -> Context:
    """One of the rule's cases, by default 40 mm of PCIe Gen5 on an ultra-low-loss laminate."""
    data = tomllib.loads(CASES.read_text(encoding="utf-8"))["case"][case]["board"]
    board = mini_board(folder, data)
    return prepare(board, parse_config(config or data["config"]), Overrides(profile=profile))[0]


@pytest.mark.parametrize(
    ("df", "expected"),
    [
        (0.03, LossClass.STANDARD),
        (0.02, LossClass.MID),
        (0.0075, LossClass.LOW),
        (0.0062, LossClass.VERY_LOW),
        (0.0030, LossClass.ULTRA_LOW),
        (0.0001, LossClass.SUPER_ULTRA_LOW),
    ],
)
def test_a_class_would_do_only_where_all_its_laminates_would(df: float, expected: LossClass) -> None:
    """A Df of 0.0062 lies within low loss: some of that class would not do."""
    assert class_for(df) is expected


def test_what_is_left_counts_the_most_loss_and_keeps_a_tenth(tmp_path: Path) -> None:
    """The system board's 16 dB less a tenth, less the most that the 40 mm may lose."""
    (room,) = rooms(context(tmp_path)) or ()

    assert room.board_db == pytest.approx((1 - KEPT) * 16)
    assert room.left_db == pytest.approx(14.4 - room.link.total_db.high)


def test_the_df_that_would_do_uses_up_what_is_left(tmp_path: Path) -> None:
    """Dielectric loss goes with Df: the rise that the new Df brings is what was left."""
    ctx = context(tmp_path)
    (room,) = rooms(ctx) or ()
    found = df_that_would_do(ctx, room)
    assert found is not None
    df, now = found

    assert room.link.dielectric_db * (df / now - 1) == pytest.approx(room.left_db)


def test_a_rougher_foil_is_taken_for_worse_than_nominal(tmp_path: Path) -> None:
    """At the high end it costs half as much again; the foil that is there costs nothing more."""
    ctx = context(tmp_path)
    (room,) = rooms(ctx) or ()
    now, rough = with_foil_db(ctx, room.link, FoilGrade.HVLP), with_foil_db(ctx, room.link, FoilGrade.STD)

    assert now.nominal == pytest.approx(room.link.total_db.nominal)
    assert rough.nominal > now.nominal
    assert rough.high - room.link.total_db.high == pytest.approx(1.5 * (rough.nominal - now.nominal))


def test_without_a_workload_or_a_generation_nothing_is_demanded(tmp_path: Path) -> None:
    """What is not stated may need all of it."""
    vague = '[[interface]]\nis = "?"\nnets = ["/PCIE_*"]\n'

    assert demands(context(tmp_path / "a", profile=None)) is None
    assert demands(context(tmp_path / "b", config=vague)) is None
    assert demands(context(tmp_path / "c")) is not None


def test_links_past_their_share_leave_no_room(tmp_path: Path) -> None:
    """900 mm of PCIe Gen5 fail, whatever the laminate."""
    assert rooms(context(tmp_path, case=4)) is None


def test_better_materials_cost_more() -> None:
    """Else cheaper would be no advice."""
    factors = [class_factor(c) for c in sorted(LossClass, key=lambda c: c.rank)]

    assert factors == sorted(set(factors))
    assert (
        foil_share(FoilGrade.STD) < foil_share(FoilGrade.RTF) < foil_share(FoilGrade.VLP) < foil_share(FoilGrade.HVLP)
    )


def ultra_low(text: str) -> str:
    """Give the plies next to the high-speed layers a better laminate, and the package less of the share."""
    rows = (f'[declared.dielectric."dielectric {row}"]\nmaterial = "R-5785(N)"\n' for row in (1, 2, 3, 13, 14, 15))
    return text.replace("package_loss_db = 2", "package_loss_db = 1") + "".join(rows)


DEARER: dict[str, tuple[Callable[[str], str], dict[str, str]]] = {
    "ultra-low-loss laminate beside the fast layers": (
        ultra_low,  # what the package leaves free would be enough for a rougher foil as well
        {"board.over.laminate": "failed", "board.over.foil": "failed"},
    ),
    "HVLP foil": (lambda text: text.replace('"VLP"', '"HVLP"'), {"board.over.foil": "failed"}),
    "the workload is no longer stated": (
        lambda text: text.replace('profile = "inference-pcie"', ""),
        dict.fromkeys(("board.over.laminate", "board.over.foil", "board.over.layers"), "not applicable"),
    ),
    "the foil is no longer declared": (
        lambda text: text.replace('foil = "VLP"', ""),
        dict.fromkeys(("board.over.laminate", "board.over.foil"), "not applicable"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DEARER)
def test_what_is_made_dearer_in_a_fit_board_is_told(name: str) -> None:
    """The PCIe card is no more expensive than it needs to be; one fact at a time is changed in its settings."""
    folder = Path(__file__).parents[2] / "fixtures" / "boards" / "inference_pcie_gen5_fit"
    board = read_board(folder / "inference_pcie_gen5_fit.kicad_pcb")
    text = (folder / "stackwright.toml").read_text(encoding="utf-8")
    text = text.replace("package_loss_db = 3", "package_loss_db = 2")  # of 3 the vias leave less than a tenth
    change, turns = DEARER[name]

    before, after = (
        {v.clause.id: v.verdict.value for v in Case(board, config).verdicts() if v.code.startswith("OVR")}
        for config in (text, change(text))
    )

    assert before.pop("board.over.copper") == after.pop("board.over.copper") == "not applicable"  # 1 oz is not heavy
    assert set(before.values()) == {"passed"}
    assert {clause: verdict for clause, verdict in after.items() if verdict != before[clause]} == turns


@pytest.mark.slow
def test_lighter_copper_that_is_advised_keeps_every_rail_within_its_limits(tmp_path: Path) -> None:
    """What OVR004 says of a rail, done: the drop out and back then surely passes, and is no more than was reported."""
    told = 0
    for loaded in all_cases():
        if loaded.defect != "heavy_copper" or not loaded.case.finds:
            continue
        board = dict(loaded.board)
        report = check(board, loaded.case.profile, tmp_path / f"{loaded.number}")
        (finding,) = [one for one in report.findings if one.code == "OVR004"]
        lighter = {1.0: "0.035", 2.0: "0.070", 3.0: "0.105"}[float(str(finding.limit.value if finding.limit else 0))]
        rows = str(board["stackup"]).splitlines()
        layers = [place.layer for place in finding.places]
        board["stackup"] = "\n".join(
            f"{r.split()[0]} {lighter}" if r.split()[:1] and r.split()[0] in layers else r for r in rows
        )

        after = check(board, loaded.case.profile, tmp_path / f"{loaded.number} lighter")

        verdicts = {v.clause.id: v.verdict.value for v in after.verdicts}
        assert verdicts["board.pdn.ir_drop"] == "passed", loaded.case.why
        assert verdicts["board.pdn.density"] in ("passed", "not applicable"), loaded.case.why
        used = max(row.drop_mv.high / row.limit_mv for row in after.rails if row.drop_mv and row.limit_mv)
        assert used <= float(finding.title.split("at most ")[1].split(" %")[0]) / 100 + 0.006, loaded.case.why
        told += 1
    assert told >= 8


def check(board: dict[str, object], profile: str | None, folder: Path) -> Report:
    """Check a mini-board."""
    folder.mkdir()
    path = mini_file(folder, board)
    return check_board(path, overrides=Overrides(profile=profile))

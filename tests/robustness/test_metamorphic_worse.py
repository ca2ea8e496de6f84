"""A worse material, drill or current never takes a finding away, and a better one never adds one; over-design apart."""

from __future__ import annotations

import functools
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from drc_rules.engine.check import check_board
from drc_rules.facts.declared import Overrides
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.fabs import Tier
from fixtures.miniboard import MiniBoard, write
from stackup_lib.board.stackup import LayerKind
from stackup_lib.copper import coupling
from stackup_lib.kicad import read_board
from tests.support.judgement import Judgement, judge
from tests.support.mini import mini_board
from tests.support.remembered import equal_sections_solved_once
from tests.support.robustness.metamorphic import Variant
from tests.support.seeded import Case

ROOT = Path(__file__).parents[2] / "fixtures" / "boards"
THERMAL = ROOT.parent / "rules" / "thermal" / "sparse_thermal_vias.toml"
FAST = "dielectric 2"

Failing = frozenset[tuple[str, tuple[str, ...]]]
"""Clause of every finding with what it is about, and every failed clause.

Not by key: a hole that misses a stricter tier of fabs as well is one finding of that tier, with another key.
"""


@functools.cache
def board_of(name: str) -> Case:
    config = (ROOT / name / "stackwright.toml").read_text(encoding="utf-8")
    return Case(read_board(ROOT / name / f"{name}.kicad_pcb"), config)


def card() -> Case:
    return board_of("inference_pcie_gen5_caps_fit")


def failing(case: Case, families: tuple[str, ...], *, by_all_rules: bool) -> Failing:
    """Return what fails, or is remarked, in these families of rules; the other rules run on request."""
    outcome = case.judged() if by_all_rules else case.judged(families)
    verdicts = {v.clause.id: v for v in outcome.verdicts if v.has_rule and v.code.startswith(families)}
    found: set[tuple[str, tuple[str, ...]]] = {
        (clause, ("failed",)) for clause, v in verdicts.items() if v.verdict is Verdict.FAILED
    }
    for finding in outcome.findings:
        about = tuple(sorted(set(finding.objects) - set(Tier)))
        found.update((clause, about) for clause in (finding.clause, *finding.also) if clause in verdicts)
    return frozenset(found)


def with_dissipation(df: float) -> Case:
    baseboard = board_of("training_b200_fit")
    return replace(baseboard, config=f'{baseboard.config}\n[declared.dielectric."{FAST}"]\ndf = {df}\nat_ghz = 10\n')


def with_tg(celsius: float) -> Case:
    return replace(card(), config=f'{card().config}\n[declared.dielectric."{FAST}"]\ntg_c = {celsius}\n')


def with_foil(grade: str) -> Case:
    return card().declared('foil = "VLP"', f'foil = "{grade}"')


def with_tolerance(percent: float) -> Case:
    return card().declared("impedance_tolerance_pct = 5", f"impedance_tolerance_pct = {percent}")


def with_current(amperes: float) -> Case:
    return card().declared("current_a = 6.25", f"current_a = {amperes}")


def with_power_copper(thickness_mm: float) -> Case:
    case = card()
    assert case.board.stackup is not None
    inner = [row.name for row in case.board.stackup.layers if row.kind is LayerKind.COPPER][1:-1]
    return functools.reduce(lambda c, row: c.with_ply(row, thickness_mm=thickness_mm), inner, case)


def with_core(thickness_mm: float) -> Case:
    return card().with_ply("dielectric 8", thickness_mm=thickness_mm)


@functools.cache
def with_thermal_vias(on_a_side: int) -> Case:
    """A part of 4 W on a square pad of 3.4 mm, with a number of vias on each side of it.

    One via alone is above the limit even to the nearest plane, which is what a failure rests on.
    """
    base = tomllib.loads(THERMAL.read_text(encoding="utf-8"))["base"]["qfn"]
    vias = {"net": "GND", "at_mm": [18.6, 13.6], "drill_mm": 0.25, "size_mm": 0.45, "pitch_mm": 0.55}
    board = base | {"vias": [vias | {"grid": [on_a_side, on_a_side]}] if on_a_side else []}
    config = str(base["config"]).replace("power_w = 4", "power_w = 4\nmax_k_per_w = 8")
    folder = Path(tempfile.mkdtemp())  # its project is read again by rules
    return Case(mini_board(folder, board), config)


def with_backdrills(kept: int) -> Case:
    case = card()
    drilled = np.flatnonzero(~np.isnan(case.board.vias.drilling.backdrill_size_mm))
    gone = case.board.vias.uuid[drilled[kept:]].tolist()
    return case.backdrilled(gone, size_mm=np.nan, start="", must_cut="") if gone else case


LADDERS: dict[str, tuple[tuple[str, ...], Callable[..., Case], tuple[object, ...]]] = {
    "a lossier dielectric": (("MAT", "LOS"), with_dissipation, (0.001, 0.002, 0.004, 0.008, 0.02, 0.04)),
    "a lower glass transition": (("MAT",), with_tg, (200, 180, 170, 150, 130)),
    "a rougher foil": (("FOI", "LOS"), with_foil, ("HVLP2", "HVLP", "VLP", "RTF", "STD")),
    "a wider tolerance of the fab": (("IMP001",), with_tolerance, (5, 8, 10, 15, 20)),
    "more current": (("PDN",), with_current, (3, 6.25, 12, 25, 50, 100)),
    "thinner copper inside": (("PDN", "CUP001"), with_power_copper, (0.07, 0.03, 0.0152, 0.008)),
    "a thicker board": (("VIA003", "VIA004", "FAB005"), with_core, (0.1, 0.6, 1.5, 3.0, 6.0)),
    "fewer backdrills": (("VIA001", "VIA002", "VIA003"), with_backdrills, (99, 12, 4, 0)),
}


def steps(ladder: str) -> Iterator[Failing]:
    """What fails at each step; the worst one sees all rules, so that none breaks on it or takes a finding away."""
    families, make, values = LADDERS[ladder]
    for value in values:
        yield failing(make(value), families, by_all_rules=value == values[-1])


@pytest.fixture(autouse=True)
def _remembered() -> Iterator[None]:
    with equal_sections_solved_once():
        yield


@pytest.mark.parametrize("ladder", LADDERS)
def test_what_fails_keeps_failing_as_it_gets_worse(ladder: str) -> None:
    """Step by step, finding by finding; the worst step fails more than the best, so that the ladder tests something."""
    found = list(steps(ladder))

    for better, worse in pairwise(found):
        assert better <= worse, sorted(better - worse)
    assert found[0] < found[-1]


GENERIC = ("FR4", "FR4 TG150", "FR4 high Tg", "PTFE", "SuperLam 9")


SIX_ROWS = """
F.Cu 0.035
prepreg 0.1 "{material}" dk={dk}
In1.Cu 0.0175
core 1.0 "{material}" dk={dk}
In2.Cu 0.0175
prepreg 0.1 "370HR" dk=3.9
B.Cu 0.035
"""


@functools.cache
def dk_judged(material: str, dk: float) -> tuple[Verdict, frozenset[str]]:
    """Verdict and keys of MAT005 on two rows of a material, next to one that is right."""
    board = MiniBoard.model_validate({"stackup": SIX_ROWS.format(material=material, dk=dk)})
    path = write(board, Path(tempfile.mkdtemp()), "board")
    report = check_board(path, overrides=Overrides(select=("MAT005",)))
    (verdict,) = [v.verdict for v in report.verdicts if v.clause.kind == "dk_plausible"]
    return verdict, frozenset(f.key for f in report.findings)


@pytest.mark.parametrize("dk", [2.2, 3.0, 4.5, 5.5, 9.0])
@pytest.mark.parametrize("product", ["FR408HR", "370HR", "R-5775(N)"])
def test_a_name_without_a_product_never_takes_a_dk_finding_away(product: str, dk: float) -> None:
    """What no FR4 can have stays a finding; what a bare name may have is not verifiable, and never passes."""
    _, before = dk_judged(product, dk)

    for generic in GENERIC:
        verdict, after = dk_judged(generic, dk)
        if generic.startswith("FR4") and not 3.8 <= dk <= 4.8:
            assert verdict is Verdict.FAILED
            assert before <= after
            assert len(after) == 2
        else:
            assert verdict is Verdict.NOT_VERIFIABLE


def test_two_wrong_dk_of_a_product_are_two_of_fr4() -> None:
    """Two rows of FR408HR with the Dk of PTFE: under the name FR4 both findings stay."""
    named, generic = dk_judged("FR408HR", 2.2), dk_judged("FR4", 2.2)

    assert len(named[1]) == 2
    assert named == generic


def test_a_hot_part_with_fewer_vias_fails_no_less() -> None:
    """From six to one on each side of its pad: what has failed stays failed, and both clauses fail in the end."""
    verdicts = [{v.clause.id: v.verdict for v in with_thermal_vias(n).verdicts()} for n in (6, 5, 4, 3, 2, 1)]
    clauses = ("board.thermal.vias", "board.thermal.resistance")
    failed = [{clause for clause in clauses if found[clause] is Verdict.FAILED} for found in verdicts]

    assert failed[0] == set()
    assert all(better <= worse for better, worse in pairwise(failed))
    assert failed[-1] == set(clauses)


def test_a_df_declared_at_a_lower_frequency_counts_where_it_is_worse_than_the_data_sheets() -> None:
    """Df rises with frequency: 0.04 at 1 GHz is no better at 16 GHz, whatever the name of the laminate promises."""
    better, worse = (
        judge(Variant(card().board), f'{card().config}\n[declared.dielectric."{FAST}"]\ndf = {df}\nat_ghz = 1\n')
        for df in (0.0001, 0.04)
    )

    assert max(dielectric_db(worse)) > 1.5 * max(dielectric_db(better))


def dielectric_db(judged: Judgement) -> list[float]:
    return [float(dict(leaves)["dielectric_db"]) for kind, leaves in judged.records if kind == "loss"]


def test_shorter_pieces_of_tracks_close_in_on_the_same_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of the piece, and a quarter of that: routed lengths beyond the pads settle, verdicts stay."""
    found = []
    for piece_mm in (1.0, 0.25, 0.0625):
        monkeypatch.setattr(coupling, "PIECE_MM", piece_mm)
        found.append(judge(Variant(card().board), card().config))

    lengths = [lengths_of(judged) for judged in found]
    coarse, fine = (np.abs(one - lengths[2]).max() for one in lengths[:2])
    assert fine <= 0.25
    assert coarse <= 1.0
    assert found[0].verdicts == found[1].verdicts == found[2].verdicts


def lengths_of(judged: Judgement) -> np.ndarray:
    rows = [dict(leaves) for kind, leaves in judged.records if kind == "impedance"]
    return np.array([row["length_mm"] for row in sorted(rows, key=lambda row: str(row["name"]))], dtype=float)

"""`[process]`: what it takes, what it refuses, and where reports say what was assumed in its place."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path

import jsonschema
import pytest

from drc_rules.analysis.lines.sites import board_site
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.engine.check import check_board, find_config, prepare
from drc_rules.facts.board_process import BoardProcess, declared_finish
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.facts.row_faults import mask_is_possible
from drc_rules.requirements.fabs.presets import presets
from drc_rules.settings.config import Config, parse_config
from drc_rules.settings.config_process import ProcessDeclaration, thickest_mask_um
from drc_rules.stackup_design.stackup_candidate import candidate_of
from stackup_lib.board.board import LayerKind
from stackup_lib.core.errors import ConfigError
from stackup_lib.kicad import read_board
from stackup_lib.materials.sources import Grade
from stackup_lib.synthesis import Goals, LineGoal, suggest
from stackup_lib.synthesis.candidates import to_planned
from stackup_lib.transmission_lines.inverse import solve_width
from stackup_lib.transmission_lines.width_request import Target, WidthLimits
from stackwright.commands.setup.settings_file import InitAnswers, compose
from tests.support.boards import BOARDS
from tests.support.in_process import run_here as run
from tests.support.mini import mini_file

ROOT = Path(__file__).parents[4]
EDGE = BOARDS / "edge_jetson_carrier_fit"
KEYS = set(ProcessDeclaration.model_fields) - {"preset"}

WIDTHS = WidthLimits(min_width_mm=0.05, max_width_mm=0.5)

STACKUP = """mask 0.01
F.Cu 0.035
prepreg 0.1 "370HR 2116" dk=4.0
In1.Cu 0.015
core 0.5 "370HR" dk=4.0
B.Cu 0.035
mask 0.01
"""


def context_of(config: str, folder: Path, stackup: str = STACKUP) -> Context:
    """A board of three layers over ground on In1."""
    board = {"size_mm": [60, 40], "stackup": stackup, "planes": {"In1.Cu": "GND"}, "config": config}
    path = mini_file(folder, board)
    return prepare(read_board(path), find_config(path, None), Overrides())[0]


# --- what the table takes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("etch_taper = 12", 'unknown key "process.etch_taper"; did you mean'),
        ("mask_over_cooper_um = 12", 'did you mean "mask_over_copper_um"?'),
        ('preset = "jlc"', 'no preset "jlc"; did you mean "jlcpcb"?'),
        ("mask_over_copper_um = 0.4", "0.4 um is no mask; give 1 or more, or 0 for bare copper"),
        ("mask_over_copper_um = 60.5", "60.5 um of solder mask cannot be right, maximum 60 um"),
        ("mask_over_copper_um = 90", "90 um of solder mask cannot be right, maximum 60 um"),
        ("mask_dk = 12", '"process.mask_dk"'),
        ("outer_copper_um = 0.035", "cannot be 0.035; give at least 5"),
        ("inner_etch_taper_um = 0.0152", "0.0152 um is no etch taper; give micrometres, or 0 for straight sides"),
        ("inner_etch_taper_um = -1", "give at least 0"),
    ],
)
def test_a_mistake_is_one_line_with_the_key_and_the_fix(text: str, message: str) -> None:
    """Unknown keys, unknown presets, lengths in mm."""
    with pytest.raises(ConfigError) as caught:
        parse_config(f"[process]\n{text}\n")

    assert message in str(caught.value)


def test_mask_has_one_limit_in_the_settings_and_in_the_stackup() -> None:
    """What STK014 reports of a row cannot be declared, and what it takes can."""
    most_um = thickest_mask_um()

    assert most_um == 60 and parse_config(f"[process]\nmask_over_copper_um = {most_um}\n").process.mask_over_copper_um
    assert mask_is_possible(most_um / 1000) and not mask_is_possible(most_um / 1000 + 0.0005)


def test_a_placeholder_declares_nothing() -> None:
    """The lines that a report offers to paste are valid as they are."""
    pasted = "\n".join(f'{key} = "?"' for key in ("preset", *sorted(KEYS)))

    assert parse_config(f"[process]\n{pasted}\n").process == ProcessDeclaration()


def test_the_mask_that_kicad_writes_can_be_declared(tmp_path: Path) -> None:
    """0.01 mm in the file is KiCad's default; 10 um in `[process]` are 10 um."""
    assumed, declared = (context_of(text, tmp_path / name) for name, text in (("a", ""), ("b", TEN_UM)))

    mask = board_site(assumed, 0).site.mask
    assert mask is not None and mask.on_trace_mm == 0.0152
    mask = board_site(declared, 0).site.mask
    assert mask is not None
    assert (mask.on_trace_mm, mask.on_laminate_mm, mask.er) == pytest.approx((0.010, 0.018, 3.7))
    assert board_site(declared, 0).assumptions == ()


TEN_UM = "[process]\nmask_over_copper_um = 10\nmask_over_laminate_um = 18\nmask_dk = 3.7\n"


def test_plating_on_a_declared_foil_is_finished_copper(tmp_path: Path) -> None:
    """Half an ounce is 17.1 um; 25 um of plating make 42; without the foil's weight a note says what is missing."""
    with_foil = '[process]\nplating_um = 25\n[declared.copper."F.Cu"]\ncopper_oz = 0.5\n'
    ctx, alone = context_of(with_foil, tmp_path / "a"), context_of("[process]\nplating_um = 25\n", tmp_path / "b")

    assert board_site(ctx, 0).site.copper_mm == pytest.approx(0.042, abs=5e-4)
    assert board_site(alone, 0).site.copper_mm == 0.035
    assert not ctx.declarations.notes
    assert "plating_um says nothing without the weight of the foil" in alone.declarations.notes[0]


def test_the_taper_that_is_declared_is_that_of_the_section(tmp_path: Path) -> None:
    """Outside 17.8 um in place of half the copper's thickness; the other side likewise."""
    config = "[process]\nouter_etch_taper_um = 17.8\ninner_etch_taper_um = 12.7\n"

    assert board_site(context_of("", tmp_path / "a"), 0).site.taper_mm == pytest.approx(0.0175)
    assert board_site(context_of(config, tmp_path / "b"), 0).site.taper_mm == pytest.approx(0.0178)


# --- presets


def test_every_number_of_a_preset_has_a_source() -> None:
    """Keys are those of the table, numbers are within its ranges, and no number is anybody's guess."""
    assert {"jlcpcb", "oshpark", "aisler", "eurocircuits"} <= set(presets())
    for name, preset in presets().items():
        assert preset.values and set(preset.values) <= KEYS, name
        ProcessDeclaration.model_validate(preset.values)
        for key in preset.values:
            source = preset.sources[key]
            assert preset.fab.split()[0] in source.text and re.search(r"20\d\d|overview", source.text), (name, key)
            assert source.grade is not Grade.ENGINEERING


def test_a_key_of_ones_own_wins_over_the_preset(tmp_path: Path) -> None:
    """JLCPCB's numbers, but for the mask's Dk; each says where it comes from."""
    ctx = context_of('[process]\npreset = "jlcpcb"\nmask_dk = 3.4\n', tmp_path)
    mask = ctx.process.mask(top=True)

    assert mask is not None
    assert (mask.over_copper_mm.value, mask.over_laminate_mm.value, mask.dk.value) == (0.0152, 0.0305, 3.4)
    assert "JLCPCB, impedance page" in mask.over_copper_mm.source
    assert mask.dk.source == "stackwright.toml, process.mask_dk"
    copper = ctx.process.outer_copper_mm(0)
    assert copper is not None and copper.value == pytest.approx(0.0406)


HEAVY = STACKUP.replace("Cu 0.035", "Cu 0.070")
TWO_OUNCES = '[declared.copper."F.Cu"]\ncopper_oz = 2\n'
JLC = '[process]\npreset = "jlcpcb"\n'


def of_preset(ctx: Context) -> list[str]:
    """What is noted of the preset; that copper_oz contradicts a row is noted as well."""
    return [note for note in ctx.declarations.notes if "preset" in note]


@pytest.mark.parametrize(
    ("stackup", "config", "own"),
    [
        (HEAVY, JLC, "F.Cu 70 um in the stackup, B.Cu 70 um in the stackup"),
        (STACKUP, JLC + TWO_OUNCES, "F.Cu 68.6 um (copper_oz)"),
        (HEAVY, JLC + TWO_OUNCES, "F.Cu 68.6 um (copper_oz), B.Cu 70 um in the stackup"),
    ],
    ids=["row", "declared weight", "both"],
)
def test_a_preset_counts_for_copper_of_its_weight_only(stackup: str, config: str, own: str, tmp_path: Path) -> None:
    """Its copper and its etch taper are left out where the board says otherwise, and a note tells so."""
    ctx, bare = context_of(config, tmp_path / "a", stackup), context_of(TWO_OUNCES, tmp_path / "b", stackup)

    site = board_site(ctx, 0).site
    assert site.copper_mm == pytest.approx(0.0686 if stackup is STACKUP else 0.070)
    assert site.taper_mm == pytest.approx(site.copper_mm / 2)
    assert not ctx.process.taper_mm(site.copper_mm, outer=True).is_stated
    assert (ctx.process.outer_copper_mm(0), board_site(bare, 0).site.copper_mm) == (
        bare.process.outer_copper_mm(0),
        site.copper_mm,
    )
    assert ctx.process.mask(top=True) != bare.process.mask(top=True)
    (note,) = of_preset(ctx)
    assert not of_preset(bare)
    assert f"is for 40.6 um of outer copper, the board has {own}: its copper" in note


def test_what_a_preset_leaves_out_counts_as_not_known(tmp_path: Path) -> None:
    """No impedance of 2 oz copper is as sure as one of the copper that the fab's numbers are of."""
    wide = {
        name: Lines(context_of(config, tmp_path / name, HEAVY)).uncertainty(0, 0.15, 0.15).total_pct
        for name, config in (("none", ""), ("preset", JLC), ("own", JLC + "outer_copper_um = 41\n"))
    }

    assert wide["own"] < wide["preset"] - 2 < wide["none"]


@pytest.mark.parametrize(
    ("config", "copper_um"),
    [
        (JLC + "outer_copper_um = 90\n", 90),
        (JLC + "outer_copper_um = 90\nplating_um = 25\n" + TWO_OUNCES, 90),
        (JLC + "plating_um = 25\n" + TWO_OUNCES, 93.6),
        (JLC + 'plating_um = 20\n[declared.copper."F.Cu"]\ncopper_oz = 1\n', 54.3),
        (JLC + '[declared.copper."F.Cu"]\ncopper_oz = 1\n', 40.6),
        (JLC + '[declared.copper."F.Cu"]\ncopper_oz = 0.5\n', 40.6),
    ],
)
def test_copper_that_the_user_declares_wins_over_the_preset(config: str, copper_um: float, tmp_path: Path) -> None:
    """`outer_copper_um` first, then plating on a foil, then the preset for a foil that it may be of."""
    ctx = context_of(config, tmp_path)

    copper = ctx.process.outer_copper_mm(0)
    assert copper is not None and copper.is_stated and 1000 * copper.value == pytest.approx(copper_um)
    assert not of_preset(ctx)
    assert ctx.process.taper_mm(copper.value, outer=True).is_stated == (copper_um == 40.6)


@pytest.mark.parametrize("um", [12, 17.5, 18, 35, 43, 50])
def test_a_row_that_states_the_foil_or_the_finished_copper_takes_the_preset(um: float, tmp_path: Path) -> None:
    """18 um of foil are plated to what the preset says; 35 um is also KiCad's default."""
    ctx = context_of(JLC, tmp_path, STACKUP.replace("Cu 0.035", f"Cu {um / 1000}"))

    assert board_site(ctx, 0).site.copper_mm == pytest.approx(0.0406)
    assert not ctx.declarations.notes


def test_a_suggestion_for_a_board_of_heavy_copper_leaves_the_preset_out_too(tmp_path: Path) -> None:
    """The board's own stackup among the candidates is solved as a check solves it."""
    heavy, usual = (
        candidate_of(context_of(JLC, tmp_path / name, stackup)).finish
        for name, stackup in (("a", HEAVY), ("b", STACKUP))
    )

    assert (heavy.outer_copper_mm, heavy.outer_taper_mm) == (None, None)
    assert (usual.outer_copper_mm, usual.outer_taper_mm) == pytest.approx((0.0406, 0.0178))


# --- what reports say


def board_with(folder: Path, settings: str) -> Path:
    shutil.copytree(EDGE, folder / "board")
    toml = folder / "board" / "stackwright.toml"
    toml.write_text(toml.read_text(encoding="utf-8") + settings, encoding="utf-8")
    return folder / "board" / f"{EDGE.name}.kicad_pcb"


@pytest.mark.slow
def test_a_report_says_which_process_it_assumed_and_what_that_leaves_open(tmp_path: Path) -> None:
    """One line, and the same in numbers; with all of it declared less is left, and nothing has a star."""
    assumed = check_board(EDGE / f"{EDGE.name}.kicad_pcb")
    full = '\n[process]\npreset = "jlcpcb"\n'
    declared = check_board(board_with(tmp_path, full))

    assert assumed.process is not None and declared.process is not None
    line = assumed.process.line
    assert line == (
        "outer etch taper 17.5* um, copper 35* um, mask 20/40* um Dk 3.5*: "
        f"+-{assumed.process.outer_pct:.1f} % of an outer impedance; * assumed, [process] declares it"
    )
    assert f"process: {line}" in assumed.board.lines
    assert assumed.process.outer_pct is not None and assumed.process.outer_total_pct is not None
    assert 3 < assumed.process.outer_pct < assumed.process.outer_total_pct < 9
    assert declared.process.outer_pct == pytest.approx(0.3)
    assert declared.process.preset == "JLCPCB"
    assert declared.process.line == (
        "JLCPCB, outer etch taper 17.8 um, copper 40.6 um, mask 15.2/30.5 um Dk 3.8: +-0.3 % of an outer impedance"
    )


def test_a_board_without_controlled_lines_is_told_no_process(tmp_path: Path) -> None:
    """Nothing of its report rests on one."""
    path = mini_file(tmp_path, {"size_mm": [60, 40], "stackup": STACKUP})
    report = check_board(path)

    assert report.process is None
    assert not any(line.startswith("process") for line in report.board.lines)


@pytest.mark.slow
def test_text_json_and_impedance_say_it_too() -> None:
    """The line of the text, the object of JSON by its schema, and the heading of the impedance table."""
    text = " ".join(run("check", EDGE, "-v").out.split())
    assert "process outer etch taper 17.5* um, copper 35* um, mask 20/40* um Dk 3.5*" in text

    data = json.loads(run("check", EDGE, "--format", "json").out)
    jsonschema.validate(data, json.loads((ROOT / "fixtures/schemas/report-v1.json").read_text(encoding="utf-8")))
    names = [one["name"] for one in data["reports"][0]["process"]["numbers"]]
    assert names == [
        "outer etch taper",
        "outer copper",
        "mask over copper",
        "mask over laminate",
        "mask Dk",
        "mask Df",
    ]

    table = run("impedance", EDGE, "--layer", "F.Cu", "--target-diff", "90", "--gap", "0.15").out
    assert "process  etching, plating and solder mask that the impedances rest on" in table
    assert "outer etch taper 17.5* um" in table


@pytest.mark.slow
def test_the_range_of_one_line_holds_mask_and_finished_copper() -> None:
    """The causes are named with their size, and the range is their sum."""
    out = " ".join(run("impedance", EDGE, "--layer", "F.Cu", "--width", "0.16", "--gap", "0.15").out.split())

    assert "by what is not known: " in out
    for cause in ("solder mask thickness", "finished outer copper", "etch taper", "solder mask Dk", "Dk +-"):
        assert cause in out


def test_init_offers_the_table() -> None:
    """As comments; with the marks taken off it is valid."""
    context, _, _ = prepare(read_board(EDGE / f"{EDGE.name}.kicad_pcb"), Config(), Overrides())
    text = compose(context, InitAnswers())
    lines = text[text.index("# [process]") :].split("\n\n")[0].splitlines()

    settings = parse_config("\n".join(line.removeprefix("# ") for line in lines))
    assert settings.process.inner_etch_taper_um == 13
    assert settings.process.preset is None
    assert all(name in text for name in presets())


# --- stackups that are only planned


def test_a_suggestion_is_solved_with_the_declared_process() -> None:
    """Thicker mask and copper, and upright walls, lower an impedance: 50 ohm takes a narrower trace."""
    lines = (
        LineGoal(name="outer", target=Target(ohm=50), where="outer"),
        LineGoal(name="inner", target=Target(ohm=50)),
    )
    usual = Goals(layer_count=8, fast_layers=1, thickness_mm=1.6, laminates=("370HR",), lines=lines)
    declared = ProcessDeclaration(
        inner_etch_taper_um=5, outer_copper_um=43, mask_over_copper_um=25, mask_over_laminate_um=50, mask_dk=3.9
    )
    finish = declared_finish(declared)
    plain, best = (suggest(g).ranked[0] for g in (usual, usual.model_copy(update={"finish": finish})))

    for name, layer in (
        ("outer", 0),
        ("inner", next(k for k, row in enumerate(plain.candidate.copper) if row.use == "fast")),
    ):
        width = {line.goal: line.width_mm for line in plain.lines}[name]
        site = plain.candidate.model_copy(update={"finish": finish}).site(layer)
        assert solve_width(site, Target(ohm=50), limits=WIDTHS, tolerance=1e-3).width_mm < width - 0.001, name
    outer = next(line.width_mm for line in best.lines if line.goal == "outer")
    site = best.candidate.site(0)
    assert outer == pytest.approx(solve_width(site, Target(ohm=50), limits=WIDTHS, tolerance=1e-3).width_mm, rel=5e-3)
    assert (site.copper_mm, site.mask) == (0.043, finish.mask)


def test_the_rows_of_a_suggestion_hold_the_declared_outer_copper() -> None:
    """What its lines were solved with, what the board then states, and what the thickness counts are one number."""
    usual = Goals(layer_count=8, fast_layers=1, thickness_mm=1.6, laminates=("370HR",))
    preset = declared_finish(ProcessDeclaration(preset="oshpark"))
    found = [suggest(g).ranked[0].candidate for g in (usual, usual.model_copy(update={"finish": preset}))]

    for candidate, thickness in zip(found, (0.035, 0.0432), strict=True):
        rows = to_planned(candidate).rows
        copper = [row.plies[0].thickness_mm for row in rows if row.kind is LayerKind.COPPER]
        assert (copper[0], copper[-1]) == (thickness, thickness)
        assert max(one or 0 for one in copper[1:-1]) < 0.035
        assert sum(ply.thickness_mm or 0 for row in rows for ply in row.plies) == pytest.approx(1.6, abs=0.08)


def test_the_candidate_of_a_board_has_the_sections_of_its_check(tmp_path: Path) -> None:
    """Taper, copper and mask of every outer line are those that a check of the board solves."""
    context, _, _ = prepare(
        read_board(board_with(tmp_path, '\n[process]\npreset = "jlcpcb"\n')),
        find_config(tmp_path / "board" / f"{EDGE.name}.kicad_pcb", None),
        Overrides(),
    )
    candidate = candidate_of(context)
    for index in (0, context.board.layer_count - 1):
        planned, checked = candidate.site(index), Lines(context).site(index).site
        assert planned.mask == checked.mask
        assert (planned.taper_mm, planned.copper_mm) == (checked.taper_mm, checked.copper_mm)
        assert math.isclose(planned.copper_mm, 0.0406)
    assert isinstance(context.process, BoardProcess)

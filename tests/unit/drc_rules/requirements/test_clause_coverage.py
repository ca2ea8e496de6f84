"""Every clause that a rule decides fails on a board that breaks it and passes on one that meets it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from drc_rules.engine.check import check_up, find_config
from drc_rules.engine.one_clause import Outcome
from drc_rules.engine.shared_results import Cases
from drc_rules.facts.declared import Overrides, gather, purpose_of
from drc_rules.facts.declared_nets import with_rails_of
from drc_rules.report.model import Report
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.interfaces import families
from drc_rules.requirements.profiles.profile import Form, assemble, forms, load_form, load_profile, profile_names
from drc_rules.rules.rule import all_rules
from drc_rules.settings.config import Config
from stackup_lib.board.board import Board
from stackup_lib.kicad import read_board
from tests.support.mini import mini_file
from tests.support.rule_cases import all_cases

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("sections_solved_once")]

ONLY_ASK = {"interface_generation", "interface_present"}
"""Kinds that never fail: they are not verifiable until the fact is given."""

KINDS = {kind for rule in all_rules() for kind in rule.kinds} - ONLY_ASK


def fast_interfaces() -> list[str]:
    """Interfaces of which a profile asks something that a rule decides."""
    return [one.id for family in families() if family.fast for one in family.interfaces if one.nyquist_ghz]


def stackup(layers: int, material: str, copper_mm: float, total_mm: float, *, skewed: bool = False) -> str:
    """A regular stackup of one material that adds up to a thickness; `skewed` makes the second layer heavier."""
    gap = (total_mm - layers * copper_mm) / (layers - 1)
    rows = []
    for i in range(layers):
        name = "F.Cu" if i == 0 else "B.Cu" if i == layers - 1 else f"In{i}.Cu"
        heavier = 2.0 if skewed and i == 1 else 1.0
        rows.append(f"{name} {copper_mm * heavier:.4f}")
        if i < layers - 1:
            rows.append(f'{"core" if i % 2 else "prepreg"} {gap:.4f} "{material}"')
    return "\n".join(rows)


def declarations(interfaces: list[str], **declared: object) -> str:
    lines = ["[declared]", *(f"{key} = {value!r}" for key, value in declared.items())]
    for one in interfaces:
        lines += ["[[interface]]", f'is = "{one}"', f'nets = ["/{one}_*"]']
    return "\n".join(lines)


def links(interfaces: list[str], *, backdrilled: bool) -> dict[str, list[dict[str, object]]]:
    """For each interface a track on F.Cu, a via, and a track on In2 (between planes on In1 and In3)."""
    tracks: list[dict[str, object]] = []
    vias: list[dict[str, object]] = []
    for row, one in enumerate(interfaces):
        net, y = f"/{one}_TX0_P", 3 + row * 1.5
        tracks.append({"net": net, "layer": "F.Cu", "path_mm": [[2, y], [22, y]], "width_mm": 0.3})
        tracks.append({"net": net, "layer": "In2.Cu", "path_mm": [[22, y], [60, y]], "width_mm": 0.3})
        drill = {"size_mm": 0.5, "from": "B.Cu", "must_cut": "In3.Cu"}
        vias.append({"net": net, "at_mm": [22, y], **({"backdrill": drill} if backdrilled else {})})
    return {"tracks": tracks, "vias": vias}


def good(layers: int, total_mm: float, interfaces: list[str], copper_mm: float) -> dict[str, object]:
    """A board of Megtron 7 with HVLP foil, heavy mirrored planes, backdrills, and a tight tolerance."""
    planes = {"In1.Cu": "GND", "In3.Cu": "+12V"}
    if layers > 4:
        planes |= {f"In{layers - 2}.Cu": "GND", f"In{layers - 4}.Cu": "+12V"}
    return {
        "size_mm": (70, 80),
        "stackup": stackup(layers, "R-5785(N)", copper_mm, total_mm),
        "planes": planes,
        "config": declarations(interfaces, impedance_tolerance_pct=5, foil="HVLP"),
        **links(interfaces, backdrilled=True),
    }


def bad(layers: int, total_mm: float, interfaces: list[str]) -> dict[str, object]:
    """A board of lossy low-Tg FR4 with standard foil, thin skewed copper, no backdrills, and a loose tolerance."""
    dielectrics = "\n".join(
        f'[declared.dielectric."dielectric {i}"]\nmaterial = "S1141"\ntg_c = 120' for i in range(1, layers)
    )
    copper = '[declared.copper."In3.Cu"]\ncopper_oz = 0.5\n'
    declared = declarations([], impedance_tolerance_pct=15, foil="STD")
    tables = declarations(interfaces).removeprefix("[declared]")
    return {
        "size_mm": (70, 80),
        "stackup": stackup(layers, "S1141", 0.0175, total_mm, skewed=True).replace('"S1141"', '"S1141" dk=9.9'),
        "thickness_mm": total_mm + 1.0,
        "planes": {"In1.Cu": "GND", "In3.Cu": "+12V"},
        "config": "\n".join([declared, dielectrics, copper, tables]),
        "without_project": True,
        **links(interfaces, backdrilled=False),
    }


def built_up(*, is_any_layer: bool) -> dict[str, object]:
    """A BGA of 0.5 mm pitch: over 2-N-2 staggered microvias, or next to a stack through all layers; drilled vias."""
    names = ["F.Cu", *(f"In{i}.Cu" for i in range(1, 7)), "B.Cu"]
    spans = range(7) if is_any_layer else (0, 1, 5, 6)
    vias: list[dict[str, object]] = [
        {
            "net": "GND",
            "at_mm": [40, 40] if is_any_layer else [21 + 0.5 * k, 21],
            "kind": "micro",
            "drill_mm": 0.08 if is_any_layer else 0.15,
            "size_mm": 0.3,
            "span": [names[k], names[k + 1]],
        }
        for k in spans
    ]
    drill = {"size_mm": 0.8 if is_any_layer else 0.5, "from": "B.Cu", "must_cut": "F.Cu" if is_any_layer else "In4.Cu"}
    vias.append({"net": "/A", "at_mm": [50, 10], "backdrill": drill})
    vias.append({"net": "/B", "at_mm": [50.5 if is_any_layer else 52, 10]})
    balls = [
        {
            "number": f"{i}",
            "net": f"/N{i}",
            "at_mm": [i % 6 * 0.5, i // 6 * 0.5],
            "size_mm": [0.3, 0.3],
            "shape": "circle",
        }
        for i in range(36)
    ]
    return {
        "size_mm": (70, 80),
        "stackup": stackup(8, "R-5785(N)", 0.018, 1.57),
        "vias": vias,
        "tracks": [{"net": "/A", "layer": "F.Cu", "path_mm": [[40, 10], [50, 10]]}],
        "parts": [{"reference": "U1", "at_mm": [20, 20], "pads": balls}],
    }


def boards() -> Iterator[dict[str, object]]:
    """Boards that together meet and break every clause that has a rule."""
    every = fast_interfaces()
    total = 3.0
    yield good(34, total, every, 0.061)
    yield good(16, total, every, 0.030)
    yield good(8, total, every, 0.030)
    yield bad(6, total + 1.0, every)
    yield bad(44, 6.0, ["nvlink5"])
    yield built_up(is_any_layer=True)
    yield built_up(is_any_layer=False)
    heavy = good(8, total, [], 0.030)
    yield {**heavy, "config": '[declared.copper."In3.Cu"]\ncopper_oz = 5'}
    yield {"layers": ["F.Cu", "In1.Cu", "B.Cu"], "copper_layers": 3}
    yield {"stackup": "default", "copper_layers": 4}
    mini = stackup(6, "SuperLam 9", 0.070, 1.5).replace("In4.Cu", "In9.Cu")
    fine = [{"net": "/X", "layer": "In2.Cu", "path_mm": [[5, 5], [20, 5]], "width_mm": 0.05}]
    both = [
        {"net": "/pcie5_A", "layer": "In2.Cu", "path_mm": [[5, 9], [60, 9]], "width_mm": 0.3},
        {"net": "/Y", "layer": "In3.Cu", "path_mm": [[5, 9], [60, 9]], "width_mm": 0.3},
    ]
    six = ["F.Cu", "In1.Cu", "In2.Cu", "In3.Cu", "In4.Cu", "B.Cu"]
    yield {"stackup": mini, "layers": six, "tracks": fine + both, "config": declarations(["pcie5"])}
    yield {"stackup": stackup(6, "370HR", 0.070, 1.5).replace("0.0700", "-", 1).replace("-", ""), "thickness_mm": 1.5}


@pytest.fixture(scope="module")
def read_once(tmp_path_factory: pytest.TempPathFactory) -> list[Cases]:
    """The boards, each read once for all profiles; what no profile changes is then decided once."""
    folder = tmp_path_factory.mktemp("boards")
    paths = [mini_file(folder / str(number), board) for number, board in enumerate(boards())]
    return [cases_of(read_board(path), find_config(path)) for path in paths]


def cases_of(board: Board, config: Config) -> Cases:
    options = Overrides()
    config = with_rails_of(board, config)
    return Cases(board, config, gather(board, config, options), purpose_of(board, config, options))


def decided(cases: Cases, name: str) -> Outcome:
    """Decide a profile's clauses on a board as `fit` does; test_fit_command.py holds that against a check."""
    profile = load_profile(name)
    case = cases.of(profile, None)
    form = load_form(profile.form) if profile.form else None
    open_families = case.context.assignment.families_without_generation()
    return case.outcome(assemble(profile, form, case.interfaces, open_families).clauses)


def verdicts(read_once: list[Cases], profile: str) -> dict[str, set[Verdict]]:
    """Every verdict that each clause got over all boards."""
    found: dict[str, set[Verdict]] = {}
    for cases in read_once:
        outcome = decided(cases, profile)
        assert outcome.crashes == []
        for verdict in outcome.verdicts:
            if verdict.clause.kind in KINDS:
                found.setdefault(verdict.clause.id, set()).add(verdict.verdict)
    for case in all_cases():  # the rules' own cases, which are run elsewhere, state verdicts of clauses too
        for clause, word in case.case.verdicts.items():
            if clause in found:
                found[clause].add(Verdict(word))
    return found


def nominal_mm(form: Form) -> float | None:
    return form.thickness_mm or (sum(form.thickness_range_mm) / 2 if form.thickness_range_mm else None)


def checked(folder: Path, board: dict[str, object], profile: str, form: str | None) -> Report:
    path = mini_file(folder, board)
    report = check_up(path, overrides=Overrides(profile=profile, form=form), tables=False).report
    assert report.crashes == ()
    return report


@pytest.mark.parametrize("profile", profile_names())
def test_every_clause_of_a_profile_can_fail_and_can_pass(profile: str, read_once: list[Cases]) -> None:
    """A clause that never fails checks nothing; one that never passes is a false alarm."""
    found = verdicts(read_once, profile)

    never_fails = sorted(clause for clause, seen in found.items() if Verdict.FAILED not in seen)
    never_passes = sorted(clause for clause, seen in found.items() if Verdict.PASSED not in seen)
    # "no backdrill is needed" requires nothing: it is never applicable.
    assert [c for c in never_fails if found[c] != {Verdict.NOT_APPLICABLE}] == []
    assert [c for c in never_passes if found[c] != {Verdict.NOT_APPLICABLE}] == []
    assert {c.id for c in load_profile(profile).clauses if c.kind in KINDS} <= set(found)


def requires_thickness(form: Form) -> bool:
    return any(clause.kind == "form_thickness" for clause in form.clauses())


@pytest.mark.parametrize("form", sorted(name for name, form in forms().items() if requires_thickness(form)))
def test_the_thickness_of_a_form_can_fail_and_can_pass(form: str, tmp_path: Path) -> None:
    """Nominal passes where the form requires a thickness; one more millimetre fails."""
    nominal = nominal_mm(forms()[form]) or 0.0
    seen: dict[str, list[Verdict]] = {}
    for total in (nominal, nominal + 1.0):
        board: dict[str, object] = {"stackup": stackup(4, "370HR", 0.030, total)}
        for verdict in checked(tmp_path / str(total), board, "inference", form).verdicts:
            if verdict.clause.kind == "form_thickness":
                seen.setdefault(verdict.clause.id, []).append(verdict.verdict)

    assert list(seen.values()) == [[Verdict.PASSED, Verdict.FAILED]] * len(seen) != [], seen

"""What a profile of one's own may state: only what a rule reads, in the unit in which it reads it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from drc_rules.requirements.clauses import Limit
from drc_rules.requirements.forms import forms
from drc_rules.requirements.interfaces import families
from drc_rules.requirements.profiles.assembly import kinds_of_interfaces, shipped_limits
from drc_rules.requirements.profiles.own_profile import notes_on, refuse_other_choices
from drc_rules.requirements.profiles.profile import BOARD, load_profile, profile_names
from drc_rules.rules.rule import all_rules
from stackup_lib.core.errors import ConfigError

HEAD = 'title = "Mine"\nworkload = "inference"\nextends = ["board"]\n'
SOURCE = 'source = { document = "Acme standard 12", row = "3" }\n'
LAYERS = "layer_count", '{ min = 4, unit = "layers" }'


def clause(kind: str, limit: str, more: str = "", name: str = "m.x") -> str:
    """A clause of the user's own, of the severity error, of PCIe Gen5 where its kind is of one interface."""
    more = more or ('interface = "pcie5"\n' if kind in kinds_of_interfaces() else "")
    words = f'id = "{name}"\nkind = "{kind}"\ntitle = "mine"\nseverity = "error"\n'
    return f"[[clause]]\n{words}limit = {limit}\n{SOURCE}{more}"


def profile_file(folder: Path, text: str) -> str:
    """Write it as a file; return its path."""
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def written(limit: Limit) -> str:
    """A limit as TOML."""
    given = limit.model_dump(exclude_defaults=True)
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in given.items()) + " }"


def test_every_limit_that_is_shipped_can_be_stated(tmp_path: Path) -> None:
    """All kinds, all ways to limit them; as many kinds as the shipped profiles, interfaces and form factors have."""
    rows = [(kind, written(limit)) for kind, limits in shipped_limits().items() for limit in limits]
    text = HEAD + "".join(clause(*row, name=f"m.{k}") for k, row in enumerate(dict.fromkeys(rows)))
    kinds = {one.kind for one in load_profile(profile_file(tmp_path, text)).clauses if one.id.startswith("m.")}

    named = [load_profile(name) for name in (BOARD, *profile_names())]
    expected = {one.kind for profile in named for one in (*profile.clauses, *profile.per_interface)}
    expected |= {row.kind for family in families() for one in family.interfaces for row in one.clause}
    stubs = (one.stub_clause(BOARD) for family in families() for one in family.interfaces)
    expected |= {stub.kind for stub in stubs if stub is not None}
    expected |= {one.kind for form in forms().values() for one in form.clauses()}
    assert kinds == expected


@pytest.mark.parametrize(
    ("kind", "limit", "message"),
    [
        ("layer_count", '{ max = 4, unit = "layers" }', r"limit of a \"layer_count\" cannot be .*write .*min ="),
        ("layer_count", "{}", r"cannot be \{\}; write it like limit = \{ min ="),
        ("layer_count", '{ min = 4, max = 20, unit = "layers" }', "cannot be { min = 4, max = 20"),
        ("layer_count", '{ min = 4, unit = "mm" }', r'unit .* cannot be "mm"; write unit = "layers"'),
        ("layer_count", "{ min = 4 }", 'the unit is missing; write unit = "layers"'),
        ("layer_count", '{ min = nan, unit = "layers" }', "min = nan limits nothing"),
        ("layer_count", '{ min = inf, unit = "layers" }', "min = inf limits nothing"),
        ("layer_count", '{ min = 4, at_least = "best", unit = "layers" }', "cannot be { min = 4, at_least"),
        ("tg", '{ max = 100, unit = "C" }', 'write it like limit = { min = .*, unit = "C" }'),
        ("tg", '{ min = 300, unit = "F" }', 'write unit = "C"'),
        ("board_size", '{ max = 400, unit = "mil" }', 'write unit = "mm"'),
        ("board_size", '{ min = 500, max = 100, unit = "mm" }', "min = 500 is above max = 100"),
        ("board_size", "{}", "cannot be {}"),
        ("form_thickness", '{ max = 62, unit = "mil" }', "write it like limit = { min = .*, max = .*"),
        ("power_copper_oz", '{ min = 0.02, unit = "mm" }', 'write unit = "oz"'),
        ("unexpected_interface", "{}", "write it like limit = { choices ="),
        ("hole_diameter", '{ at_least = "besst", unit = "fab tier" }', r'did you mean "best"\?'),
        ("no_shorts", "{ max = 1 }", "leave limit out"),
        ("link_loss", '{ max = 1, unit = "dB" }', "leave limit out"),
        ("backdrill", "{ required = true }", "write it like limit = { max = .*required = true"),
        ("laminate_df", "{ max = 0.002, at_ghz = 0 }", "at_ghz cannot be 0"),
        ("laminate_df", "{ max = 0.002, at_ghz = 10, decimals = 4 }", 'has no "decimals"'),
    ],
)
def test_a_limit_that_the_rule_would_not_read_is_refused(tmp_path: Path, kind: str, limit: str, message: str) -> None:
    """16 layers met `max = 4`, and a board of 168 mm met 400 mil: the key and the unit were not looked at."""
    with pytest.raises(ConfigError, match=rf"mine\.toml: m\.x: .*{message}") as error:
        load_profile(profile_file(tmp_path, HEAD + clause(kind, limit)))
    assert "\n" not in str(error.value)


def test_a_number_that_is_none_is_refused(tmp_path: Path) -> None:
    """Pydantic reads true as 1."""
    for written, message in (("true", '.min": true is no number; write the'), ('"8"', "write min = 8")):
        text = HEAD + clause("layer_count", f'{{ min = {written}, unit = "layers" }}')
        with pytest.raises(ConfigError, match=re.escape(message)):
            load_profile(profile_file(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (clause(*LAYERS) + clause("layer_count", '{ min = 40, unit = "layers" }'), "two clauses have this id"),
        ('drop = ["m.x"]\n' + clause(*LAYERS), "stated here, and dropped as well"),
        (
            'drop = ["board.copper.no_shorst"]\n',
            r'no clause is called "board.copper.no_shorst"; did you mean "board.copper.no_shorts"\?',
        ),
        ('drop = ["nope.clause"]\n', 'no clause is called "nope.clause"'),
        ('form = "pcie-crd"\n', r'form factor "pcie-crd": is not known; did you mean "pcie-card"\?'),
        ('design_for = ["pcie55"]\n', 'interface "pcie55": is not known'),
        (clause(*LAYERS, 'interface = "pcie55"\n'), 'interface "pcie55" is not known'),
        (clause(*LAYERS, 'interface = "pcie"\n'), "it is one of pcie1, pcie2"),
        (
            clause("tg", '{ min = 150, unit = "C" }').replace('"tg"', '"backdrill"'),
            "one interface, and none is given; add inter",
        ),
        (clause("foil", '{ at_least = "LP" }', "above_ghz = nan\n"), "above_ghz cannot be nan"),
        (clause("foil", '{ at_least = "LP" }', 'above_ghz = 5\ncovered_by = ["foill"]\n'), r'did you mean "foil"\?'),
    ],
)
def test_what_would_never_count_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """Of two clauses of one id the first vanished; an unknown interface or id to drop was silence."""
    with pytest.raises(ConfigError, match=message) as error:
        load_profile(profile_file(tmp_path, HEAD + text))
    assert error.value.where.startswith(str(tmp_path))


@pytest.mark.parametrize(
    "dropped",
    [
        "board.copper.no_shorts",
        "inference.backdrill.pcie5",
        "inference.laminate.usb4gen4",
        "inference.generation.pcie",
        "form.size.m2-2280",
    ],
)
def test_any_clause_that_might_apply_can_be_dropped(tmp_path: Path, dropped: str) -> None:
    """Of the base, of an interface, made for an interface, of an unknown generation, of a form factor."""
    text = f'title = "Mine"\nextends = ["inference"]\ndrop = ["{dropped}"]\n'
    assert dropped in load_profile(profile_file(tmp_path, text)).dropped


def test_choices_are_words_that_the_rule_knows(tmp_path: Path) -> None:
    """All shipped ones are, and 1-N-1 and `heatsink`, which no shipped clause names; `nope` was a crash of VIA009."""
    words = {kind: rule.choices() for rule in all_rules() if rule.choices for kind in rule.kinds}
    for kind, limits in shipped_limits().items():
        assert {word for limit in limits for word in limit.choices} <= set(words.get(kind, ()))

    good = clause("hdi_class", '{ choices = ["1-N-1"] }') + clause(
        "cooling", '{ choices = ["heatsink"], min = 50, unit = "W" }', name="m.y"
    )
    refuse_other_choices(load_profile(profile_file(tmp_path, HEAD + good)), words)
    for kind, wrong, near in (("hdi_class", "2-n-2", "2-N-2"), ("unexpected_interface", "pciee", "pcie")):
        profile = load_profile(profile_file(tmp_path, HEAD + clause(kind, f'{{ choices = ["{wrong}"] }}')))
        with pytest.raises(ConfigError, match=f'm.x: "{wrong}" is no choice; did you mean "{near}"'):
            refuse_other_choices(profile, words)


def test_a_profile_that_does_not_rest_on_board_says_what_is_not_checked(tmp_path: Path) -> None:
    """One note with the number of requirements; none where it rests on `board`, or on what rests on it."""
    every = len(load_profile(BOARD).clauses)
    (note,) = notes_on(load_profile(profile_file(tmp_path, 'title = "Mine"\n')))
    assert f'mine.toml does not rest on "board": {every} requirements' in note
    for base in ("board", "inference"):
        assert not list(notes_on(load_profile(profile_file(tmp_path, f'title = "Mine"\nextends = ["{base}"]\n'))))

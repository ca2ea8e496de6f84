"""The JSON schema of `stackwright.toml`: what the program reads passes it, what the program refuses does not."""

from __future__ import annotations

import functools
import json
import re
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import jsonschema
import pytest

from drc_rules.requirements.value_kinds import ALONE
from drc_rules.settings.config import parse_config
from stackup_lib.core.errors import ConfigError
from stackwright.cli.app import run
from stackwright.commands.setup.settings_schema import settings_schema

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "plugin" / "docs" / "pages" / "texts").rglob("*.md"))]


@functools.cache
def validator() -> jsonschema.Draft202012Validator:
    schema = settings_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def examples() -> Iterator[tuple[str, str]]:
    """Settings of our own boards, and those that the pages show; a block of another file is marked with its name."""
    for path in sorted((ROOT / "fixtures").rglob("stackwright.toml")):
        yield path.parent.name, path.read_text(encoding="utf-8")
    for page in PAGES:
        blocks = re.findall(
            r"(?:<!-- file: (\S+) -->\n)?```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL
        )
        settings = (block for file, block in blocks if not file or file.startswith("stackwright.toml"))
        yield from ((f"{page.stem} {n}", block) for n, block in enumerate(settings))


def problems(text: str) -> list[str]:
    data = json.loads(json.dumps(tomllib.loads(text), default=date.isoformat))
    return [f"{error.json_path}: {error.message}" for error in validator().iter_errors(data)]


@pytest.mark.slow
def test_every_key_of_the_examples_passes() -> None:
    """An editor underlines nothing that the program reads."""
    texts = dict(examples())
    assert len(texts) > 25
    assert {name: found for name, text in texts.items() if (found := problems(text))} == {}


@pytest.mark.parametrize("key", ["tg_c", "foil", "impedance_tolerance_pct"])
def test_what_is_left_to_fill_in_passes(key: str) -> None:
    """`init` writes "?" where a value is missing, which counts as absent; any other word is refused."""
    assert problems(f'[declared]\n{key} = "?"') == []
    assert (
        problems(
            '[[rail]]\nnet = "VDD"\nvoltage_v = "?"\nfrom = ["?"]\nto = ["?"]\n[[interface]]\nis = "pcie5"\nrole = "?"'
        )
        == []
    )
    assert problems('[declared]\ntg_c = "high"') != []


@pytest.mark.parametrize(
    "text",
    [
        'profil = "edge"',
        "[declared]\ntg_c = 1000",
        '[[interface]]\nnets = ["x"]',
        '[check]\nfail_on = "eror"',
        '[[suppress]]\ncode = "VIA001"\nreason = "r"\nowner = "o"\nobject = 3',
        "[[fab]]\nspread_glass = true",
    ],
)
def test_what_the_program_refuses_is_underlined(text: str) -> None:
    """Unknown keys, values out of range, what is missing."""
    assert problems(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[declared]\ntg_c = "180"', '"declared.tg_c" is a number, without quotes; write tg_c = 180'),
        (
            '[declared.dielectric.x]\ndk = "3.4"',
            '"declared.dielectric.x.dk" is a number, without quotes; write dk = 3.4',
        ),
        ('[goals]\nlayers = "8"', '"goals.layers" is a number, without quotes; write layers = 8'),
        (
            '[[hot_part]]\nrefs = ["U1"]\npower_w = "4.5"',
            '"hot_part.1.power_w" is a number, without quotes; write power_w = 4.5',
        ),
        ('core_on_module = "false"', '"core_on_module" is true or false, without quotes; write core_on_module = false'),
        ("[order]\ncoupons = 1", '"order.coupons" is true or false, without quotes; write coupons = true'),
        (
            "[check]\nmin_coverage_pct = true",
            f'"check.min_coverage_pct": true is no number; {ALONE}',
        ),
        (
            "[fab]\nhole_mm = true",
            '"fab.hole_mm": true is no number; ' + ALONE,
        ),
        (
            '[[rail]]\nnet = "A"\nvoltage_v = false',
            '"rail.1.voltage_v": false is no number; ' + ALONE,
        ),
        (
            '[[rail]]\nnet = "A"\nvoltage_v = 1\n[rail.copper_um]\n"F.Cu" = "35"',
            '"rail.1.copper_um.F.Cu" is a number, without quotes; write "F.Cu" = 35',
        ),
        ('[[rail]]\nnet = "A"\nvoltage_v = 1\nto = "U1"', '"rail.1.to" is a list; write to = ["U1"]'),
    ],
)
def test_a_number_or_a_switch_in_quotes_is_refused_as_by_the_schema(text: str, said: str) -> None:
    """One line says what, where, and what to write."""
    assert problems(text)
    with pytest.raises(ConfigError) as caught:
        parse_config(text)
    assert str(caught.value) == f"stackwright.toml: {said}"


@pytest.mark.parametrize(
    "text",
    [
        "[declared]\ntg_c = 180",
        '[declared]\ntg_c = "?"',
        "[goals]\nlayers = 8.0",
        '[goals]\nhdi = false\n[declared]\nfoil = "12"',
        '[[rail]]\nnet = "5"\nvoltage_v = "?"\ncore = "?"\nto = { U1 = 2 }',
        '[[interface]]\nis = "pcie5"\nnets = ["?", "1"]',
        '[[suppress]]\ncode = "VIA001"\nreason = "r"\nowner = "o"\nobject = "3"\nexpires = "2030-01-01"',
    ],
)
def test_what_the_schema_passes_is_read(text: str) -> None:
    """Whole numbers, the placeholder, and texts that look like numbers where a text belongs."""
    assert problems(text) == []
    parse_config(text)


def test_the_command_writes_the_schema_with_the_meaning_of_keys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Editors show it."""
    assert run(["schema", "--output", str(tmp_path / "s.json")]) == 0
    assert capsys.readouterr().out.endswith("s.json\n")
    schema = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert schema == settings_schema()
    assert schema["properties"]["form"]["description"] == "form factor, where it is not the profile's."


def test_the_texts_are_for_those_who_write_settings() -> None:
    """An editor shows them next to the keys: no word of how the program is made."""
    text = json.dumps(settings_schema())
    assert "Vias on these nets are backdrilled" in text
    assert not re.search("Pydantic|Immutable|validator|annotations", text)

"""`stackwright.toml`: what it declares, and one clear line for what it gets wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel

from drc_rules.facts.declared import Overrides, gather, purpose_of
from drc_rules.requirements.data_files import model_in, parse_model
from drc_rules.settings.config import Config, load_config, parse_config
from drc_rules.settings.key_synonyms import key_synonyms
from drc_rules.settings.net_selection import chosen_nets
from stackup_lib.board.board import Board
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import MissingFact, Origin
from stackup_lib.core.frozen import Frozen
from tests.support.mini import mini_board

STACKUP = """
F.Cu 0.035
core 1.5 "370HR" dk=4.0
B.Cu 0.035
"""


class Versioned(Frozen):
    """A file whose version is a number."""

    version: Literal[1]


def board(folder: Path, **keys: object) -> Board:
    return mini_board(folder, {"stackup": STACKUP, **keys})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('profil = "edge"', 'unknown key "profil"; did you mean "profile"'),
        ("[declared]\nimpedance_tolerence_pct = 5", 'did you mean "impedance_tolerance_pct"'),
        ('[declared.copper."In1.Cu"]\nfoyl = "HVLP"', 'did you mean "foil"'),
        ('[declared.dielectric."dielectric 1"]\nmaterail = "x"', 'did you mean "material"'),
        ('[[interface]]\nis = "pcie5"\nnetclasses = ["x"]', 'did you mean "net_classes"'),
        ('[[interface]]\nnets = ["x"]', '"interface.1.is" is missing'),
        ('[[interface]]\nname = "pcie5"\nnets = ["x"]', 'unknown key "interface.1.name"; did you mean "is"?'),
        ('[[interface]]\nis = "pcie5"\nclass = "x"', 'did you mean "net_classes"?'),
        ('[[interface]]\nis = "pcie5"\nnet = "x"', 'did you mean "nets"?'),
        ('[[interface]]\nis = "pcie5"\nnets = "/A*"', '"interface.1.nets" is a list; write nets = ["/A*"]'),
        ("[fab]\nboard_mm = 500", '"fab.board_mm" is a list of 2 values; write board_mm = [500, ...]'),
        ("[fab]\nboard_mm = [500]", '"fab.board_mm" is a list of 2 values; write board_mm = [..., ...]'),
        ("[fab]\nboard_mm = [500, 400, 3]", '"fab.board_mm" is a list of 2 values; write board_mm = [..., ...]'),
        ('[interface]\nis = "pcie5"', '"interface" is a list of tables; write [[interface]] in place of [interface]'),
        ('[[interfaces]]\nis = "pcie5"', 'unknown key "interfaces"; did you mean "interface"?'),
        ('[[impedance]]\nz0 = 85\nkind = "differential"', 'unknown key "impedance.1.z0"; did you mean "ohm"?'),
        ('[[impedance]]\nohm = 85\nkind = "diff"', '"impedance.1.kind" cannot be "diff"; did you mean "differential"?'),
        ('[[backdrill]]\nfrom = "B.Cu"\nmustcut = "F.Cu"', 'did you mean "must_cut"?'),
        ('[[backdrill]]\nfrom = "B.Cu"\nmust_cut = "F.Cu"\ndiameter = 0.5', 'did you mean "size_mm"?'),
        ('[[rail]]\nname = "VCC"\nvoltage_v = 1', 'did you mean "net"?'),
        ('[[rail]]\nnet = "VCC"\nvoltage = 1', 'did you mean "voltage_v"?'),
        ('[[hot_part]]\nref = "U1"', 'did you mean "refs"?'),
        ('[[suppress]]\nrule = "IMP002"', 'did you mean "code"?'),
        ('[check]\nfail-on = "error"', 'did you mean "fail_on"?'),
        ('[check]\nfail_on = "eror"', '"check.fail_on" cannot be "eror"; did you mean "error"?'),
        ("[goals]\nlayer = 8", 'did you mean "layers"?'),
        ("[declared]\nimpedance_tolerance_pct = -5", "cannot be -5; give at least 1"),
        ("[declared]\nimpedance_tolerance_pct = 0.05", "cannot be 0.05; give at least 1"),
        ("[fab]\nhole_mm = 200", '"fab.hole_mm" cannot be 200; give at most 2'),
        (
            '[process]\nouter_copper_um = "43um"',
            '"process.outer_copper_um": "43um" is no number; write the number alone',
        ),
        ('[[rail]]\nnet = "VCC"\nvoltage_v = "5V"', '"rail.1.voltage_v": "5V" is no number'),
        ("[goals]\nlayers = 4.5", '"goals.layers": 4.5 is no whole number'),
        ('[order]\ncoupons = "maybe"', '"order.coupons": "maybe" is neither true nor false'),
        ("profile = 3", '"profile": 3 is no text; put it in quotes'),
        ('profile = ["edge"]', '"profile": a list is no text; write one text, in quotes'),
        ("[[profile]]\nx = 1", '"profile": a list is no text; write one text, in quotes'),
        ("profile = 1979-05-27", '"profile": 1979-05-27 is no text; put it in quotes'),
        ("suppress = [1]", '"suppress" is a list of tables; begin each with [[suppress]] and write its keys below'),
        ('interface = "x"', '"interface" is a list of tables; begin each with [[interface]] and write its keys below'),
        ('[declared.copper.F.Cu]\nfoil = "HVLP"', 'put the name of the layer in quotes: [declared.copper."F.Cu"]'),
        ("[declared]\ntg_c = 150,5  # by DSC", "write 150.5, with a decimal point"),
        ("[goals]\nlayers = 4, 6", "; correct that line"),
        ("x = [1,2\ny = 3", "; correct that line"),
        ("[check]\nfail_on = 'sometimes'", "check.fail_on"),
        ("fab = 3", '"fab" is a table; begin it with [fab] and write its keys below'),
        ("[fab]\ntrack_mm = 0.12", '"fab.track_mm" is a table; write track_mm = { "..." = 0.12 }'),
        ("profile = \n", "is not valid TOML"),
        ("= 3", "is not valid TOML"),
    ],
)
def test_a_mistake_is_one_line_with_the_key_and_the_fix(text: str, message: str) -> None:
    """What, where, and what to do next."""
    with pytest.raises(ConfigError) as caught:
        parse_config(text, where="stackwright.toml")

    assert str(caught.value).startswith("stackwright.toml: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    """Missing, or not text."""
    binary = tmp_path / "stackwright.toml"
    binary.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_config(binary)


def test_a_wrong_number_names_the_one_that_is_known() -> None:
    """As the version of a plan or a baseline."""
    with pytest.raises(ConfigError, match=r'"version" cannot be 7; known: 1$'):
        parse_model("version = 7", Versioned, "plan.toml")


def test_placeholders_declare_nothing() -> None:
    """The lines that the report offers can be pasted at once and filled in later."""
    config = parse_config('profile = "?"\n[declared]\nfoil = "?"\ntg_c = "?"\n[declared.copper."In1.Cu"]\nfoil = "?"')

    assert config.profile is None
    assert config.declared.foil is None
    assert config.declared.tg_c is None
    assert config.declared.copper["In1.Cu"].foil is None


@pytest.mark.parametrize("row", ['is = "?"\nnets = ["/A*"]', 'is = "pcie5"\nnet_classes = ["?"]'])
def test_an_interface_that_is_not_filled_in_declares_nothing(row: str) -> None:
    """Neither without its generation nor without its nets."""
    assert parse_config(f"[[interface]]\n{row}").interface == ()


@pytest.mark.parametrize(
    ("table", "keys"),
    [
        ('[[interface]]\nis = "?"\nnets = ["/A*"]', 'is = "?"'),
        ('[[interface]]\nis = "pcie5"\nnet_classes = ["?"]', 'net_classes = "?"'),
        ('[[impedance]]\nohm = "?"\nkind = "?"\nnets = ["/A*"]', 'ohm = "?", kind = "?"'),
        ('[[impedance]]\nohm = 85\nkind = "single"\nnets = "?"', 'nets = "?"'),
        ('[[backdrill]]\nfrom = "?"\nmust_cut = "In1.Cu"\nnets = ["/A*"]', 'from = "?"'),
        ('[[backdrill]]\nfrom = "F.Cu"\nmust_cut = "?"\nnets = ["/A*"]', 'must_cut = "?"'),
        ('[[rail]]\nnet = "?"\nvoltage_v = "?"', 'net = "?"'),
        ('[[part_model]]\nfile = "?"\nparts = ["C1"]', 'file = "?"'),
        ('[[part_model]]\nfile = "c.s2p"\nparts = ["?"]\nvalues = ["1u"]', 'parts = "?"'),
    ],
)
def test_a_table_that_cannot_do_without_an_open_key_is_not_counted_and_says_so(table: str, keys: str) -> None:
    """With the table's number in the file; copies of the settings keep the note."""
    config = parse_config(table)
    name = table.partition("]]")[0].strip("[")

    assert getattr(config, name) == ()
    assert config.not_counted == (f"[[{name}]] 1 is not counted: {keys}",)
    assert config.model_copy(update={"profile": "edge"}).not_counted == config.not_counted


def test_an_open_key_that_a_table_can_do_without_drops_itself_alone() -> None:
    """The table still counts: what it states is judged, what is open is not known."""
    config = parse_config(
        '[[interface]]\nis = "pcie5"\nnet_classes = ["A", "?"]\nnets = "?"\nrole = "?"\n'
        '[[impedance]]\nohm = 100\nkind = "differential"\nnets = ["/A*"]\ntolerance_pct = "?"\n'
        '[[backdrill]]\nfrom = "F.Cu"\nmust_cut = "In1.Cu"\nnets = ["/A*"]\nsize_mm = "?"\n'
        '[[part_model]]\nfile = "c.s2p"\nparts = ["C1"]\nsubcircuit = "?"\n'
        '[[rail]]\nnet = "+12V"\nvoltage_v = "?"\ncurrent_a = "?"\nfrom = ["J1", "?"]\nto = { U1 = 1, U2 = "?" }\n'
        'copper_um = { "F.Cu" = 35, "B.Cu" = "?" }\n'
        'pdn = { regulator_mohm = "?", regulator_khz = 50, package_ph = "?", die_nf = 3, up_to_mhz = 20 }\n'
    )
    rail = config.rail[0]

    assert (config.interface[0].net_classes, config.interface[0].nets) == (("A",), ())
    assert (config.impedance[0].ohm, config.impedance[0].tolerance_pct) == (100, None)
    assert (config.backdrill[0].must_cut, config.backdrill[0].size_mm) == ("In1.Cu", None)
    assert config.part_model[0].subcircuit == ""
    assert (rail.voltage_v, rail.current_a, rail.from_, rail.to) == (None, None, (), ())
    assert rail.copper_um == {"F.Cu": 35}
    assert (rail.pdn.regulator_khz, rail.pdn.die_nf, rail.pdn.up_to_mhz) == (None, None, 20)
    assert config.not_counted == ()
    with pytest.raises(MissingFact, match=r"the voltage of \+12V"):
        _ = rail.volts


def test_a_rail_that_states_no_voltage_at_all_is_a_mistake() -> None:
    with pytest.raises(ConfigError, match='voltage_v" is missing'):
        parse_config('[[rail]]\nnet = "+12V"')


def test_command_line_wins_over_toml_and_toml_over_text_variables(tmp_path: Path) -> None:
    """The order of the design; each fact knows who said it."""
    subject = board(tmp_path, text_variables={"STACKWRIGHT_PROFILE": "training", "STACKWRIGHT_FORM": "oam"})
    config = parse_config('profile = "inference"')

    all_three = purpose_of(subject, config, Overrides(profile="edge"))
    two = purpose_of(subject, config, Overrides())
    one = purpose_of(subject, parse_config(""), Overrides())

    assert (all_three.profile.value, all_three.profile.origin) == ("edge", Origin.COMMAND_LINE)
    assert (two.profile.value, two.profile.origin) == ("inference", Origin.DECLARED)
    assert (one.profile.value, one.profile.origin) == ("training", Origin.TEXT_VARIABLE)
    assert two.form.value == "oam"


def test_a_text_variable_that_should_be_a_number_says_so(tmp_path: Path) -> None:
    """One line, not a traceback."""
    subject = board(tmp_path, text_variables={"STACKWRIGHT_IMPEDANCE_TOLERANCE_PCT": "five"})

    with pytest.raises(ConfigError, match='"five": a number from 1 to 50 is needed'):
        gather(subject, parse_config(""), Overrides())


def test_declarations_of_another_stackup_are_stale(tmp_path: Path) -> None:
    """The hash of the present stackup keeps them; any other makes them unknown."""
    subject = board(tmp_path)
    assert subject.stackup is not None
    text = '[declared]\nimpedance_tolerance_pct = 5\nstackup_hash = "{}"'

    fresh = gather(subject, parse_config(text.format(subject.stackup.digest)), Overrides())
    stale = gather(subject, parse_config(text.format("0123456789ab")), Overrides())

    assert fresh.impedance_tolerance_pct.known
    assert not stale.impedance_tolerance_pct.known
    assert "stackup_hash" in stale.impedance_tolerance_pct.how_to_give


def test_the_hash_follows_what_the_stackup_states_and_nothing_else(tmp_path: Path) -> None:
    """Another height or material is another stackup; routing is not."""
    same = board(tmp_path / "a"), board(tmp_path / "b", tracks=[{"layer": "F.Cu", "path_mm": [[1, 1], [9, 9]]}])
    other = board(tmp_path / "c", stackup=STACKUP.replace("370HR", "FR4"))

    digests = [b.stackup.digest if b.stackup else "" for b in (*same, other)]

    assert digests[0] == digests[1] != digests[2]


def test_nets_are_chosen_by_class_or_wildcard_and_brackets_stand_for_themselves(tmp_path: Path) -> None:
    """`*` and `?` only; a net class counts by its name."""
    names = ["/PCIE_TX0+", "/PCIE_TX[1]", "/USB_D+", "GND"]
    subject = board(
        tmp_path,
        tracks=[{"net": n, "layer": "F.Cu", "path_mm": [[1, i + 1], [9, i + 1]]} for i, n in enumerate(names)],
        net_classes=[{"name": "USB", "nets": ["/USB_D+"]}],
    )

    def chosen(classes: list[str], patterns: list[str]) -> set[str]:
        return {subject.nets[i] for i in chosen_nets(subject, classes, patterns)}

    assert chosen([], ["/PCIE_*"]) == {"/PCIE_TX0+", "/PCIE_TX[1]"}
    assert chosen([], ["/PCIE_TX[1]"]) == {"/PCIE_TX[1]"}
    assert chosen(["USB"], []) == {"/USB_D+"}
    assert chosen(["NONE"], ["/pcie_*"]) == set()


def test_a_declared_backdrill_names_layers_of_the_board_where_it_has_nets(tmp_path: Path) -> None:
    """A misspelt layer is one line with the nearest one; a table that concerns no net of the board is left alone."""
    subject = board(tmp_path, tracks=[{"net": "/A", "layer": "F.Cu", "path_mm": [[1, 1], [9, 1]]}])
    table = '[[backdrill]]\nnets = ["{}"]\nfrom = "B.Cu"\nmust_cut = "{}"'

    with pytest.raises(ConfigError, match=r'the board has no layer "FCu"; did you mean "F\.Cu"'):
        gather(subject, parse_config(table.format("/A", "FCu")), Overrides())
    assert gather(subject, parse_config(table.format("/Z", "FCu")), Overrides()).backdrills == ()
    assert len(gather(subject, parse_config(table.format("/A", "F.Cu")), Overrides()).backdrills) == 1


@pytest.mark.parametrize("written", ["nan", "-5", "0.05", "5 %"])
def test_text_variables_hold_to_the_ranges_of_the_settings(written: str, tmp_path: Path) -> None:
    """Not a number is within every limit: a tolerance of it had passed."""
    subject = board(tmp_path, text_variables={"STACKWRIGHT_IMPEDANCE_TOLERANCE_PCT": written})

    with pytest.raises(ConfigError, match="a number from 1 to 50 is needed"):
        gather(subject, parse_config(""), Overrides())


def test_an_unknown_foil_is_reported(tmp_path: Path) -> None:
    """It declares nothing, and the user who wrote it would be asked again without a word."""
    text = '[declared]\nfoil = "HVLP9"\n[declared.copper."F.Cu"]\nfoil = "smooth"\n'
    text += '[declared.copper."B.Cu"]\nfoil = "HVLP2"\n'

    notes = gather(board(tmp_path), parse_config(text), Overrides()).notes

    assert [note.partition(";")[0] for note in notes] == [
        'stackwright.toml, [declared]: no foil "HVLP9" is known',
        'stackwright.toml, [declared.copper."F.Cu"]: no foil "smooth" is known',
    ]


def test_tables_for_layers_that_the_board_does_not_have_are_told(tmp_path: Path) -> None:
    """They declare nothing there; one file may serve several boards, so that it is no error."""
    subject = board(tmp_path)
    rows = [row.name for row in subject.stackup.layers if row.is_dielectric] if subject.stackup else []
    text = (
        '[declared.copper.F_Cu]\nfoil = "RTF"\n[declared.copper."B.Cu"]\nfoil = "RTF"\n'
        f'[declared.dielectric."dielektric 1"]\ndk = 4\n[declared.dielectric."{rows[0]}"]\ndk = 4\n'
    )

    notes = gather(subject, parse_config(text), Overrides()).notes

    assert len(notes) == 2
    assert notes[0].endswith('[declared.copper."F_Cu"]: the board has no such copper layer; did you mean "F.Cu"?')
    assert '[declared.dielectric."dielektric 1"]: the stackup has no such row; did you mean "' in notes[1]


def test_every_key_that_people_call_otherwise_is_one() -> None:
    """A key that was renamed would be offered for ever."""

    def keys_in(model: type[BaseModel]) -> set[str]:
        inner = [found for field in model.model_fields.values() if (found := model_in(field.annotation))]
        names = {field.alias or name for name, field in model.model_fields.items()}
        return names.union(*map(keys_in, inner))

    meant = {key for keys in key_synonyms().values() for key in keys}
    assert meant
    assert meant <= keys_in(Config)
    assert all(word == word.lower() for word in key_synonyms())

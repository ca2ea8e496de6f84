"""The form of missing facts: what it asks of a board, what an answer has to be, and what is written."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import cast

import pytest

from drc_rules.engine.check import check_up
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import parse_config
from fixtures.miniboard import build
from stackup_lib.core.errors import ConfigError, StackwrightError
from stackwright.kicad.form.answers import read_answers
from stackwright.kicad.form.checked import form_of, try_settings
from stackwright.kicad.form.draft import FormDraft
from stackwright.kicad.form.model import Answers, FormQuestion
from stackwright.kicad.form.settings_text import with_answers
from stackwright.kicad.form.verdict import FormVerdict, effect
from stackwright.kicad.form.waits import facts_of
from tests.support.cli.form_board import BOARD
from tests.support.in_process import run_here

PCIE = 'interface net_classes = ["85Ohm-diff_PCIE"]'
ROW_2 = "declared.dielectric.dielectric 2.material"

ANSWERS: dict[str, dict[str, str]] = {
    "profile": {"profile": "inference"},
    "form": {"form": "pcie-card"},
    "declared.impedance_tolerance_pct": {"impedance_tolerance_pct": "8 %"},
    "declared.foil": {"foil": "VLP"},
    "declared.tg_c": {"tg_c": "180"},
    "laminate": {"material": "370HR"},
    PCIE: {"is": "pcie5", "role": "add_in_card"},
    "rail": {"net": "+12V", "voltage_v": "12", "current_a": "2,5", "to": "U1", "core": "false"},
    "hot_part": {"refs": "U1", "power_w": "15", "cooling": "air"},
}
"""An answer to each question of the board without settings."""


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small board with made-up laminates and no settings."""
    return build(tomllib.loads(BOARD), tmp_path_factory.mktemp("form"), "small")


@pytest.fixture(scope="module")
def asked(board: Path) -> dict[str, FormQuestion]:
    """What the form asks about it."""
    return questions(board)


def questions(board: Path, settings: str = "", profile: str | None = None) -> dict[str, FormQuestion]:
    """Return the questions of a board by their ids."""
    checked = check_up(board, config=parse_config(settings), overrides=Overrides(profile=profile))
    told = form_of(checked)["questions"]
    assert isinstance(told, list)
    return {one.id: one for one in map(FormQuestion.model_validate, told)}


def written(asked: dict[str, FormQuestion], answers: Answers, text: str = "", digest: str = "") -> str:
    """Return settings with answers, none of which is wrong."""
    values, errors = read_answers(asked, answers)
    assert errors == {}
    return with_answers(text, asked, values, board="small.kicad_pcb", digest=digest)


def test_a_board_is_asked_for_each_fact_that_it_lacks(asked: dict[str, FormQuestion]) -> None:
    """Once for all rows, and row by row."""
    rows = {f"declared.dielectric.dielectric {row}.material" for row in (1, 2, 3)}
    assert set(asked) == {*ANSWERS, *rows}
    assert '"house prepreg", "house core"' in asked["laminate"].now


def test_a_row_that_the_answer_for_all_leaves_open_stands_beside_it(board: Path) -> None:
    """Two rows lack a laminate; the third has one, without what a workload needs: it is asked for on its own."""
    settings = '[declared.dielectric."dielectric 2"]\nmaterial = "370HR"\n'
    found = questions(board, settings, "training")

    rows = {ident: one.is_covered for ident, one in found.items() if ident.startswith("declared.dielectric.")}
    assert found["laminate"].title == "Laminate of 2 dielectrics"
    assert [ident for ident, covered in rows.items() if covered] == [
        "declared.dielectric.dielectric 1.material",
        "declared.dielectric.dielectric 3.material",
    ]
    assert not rows.get(ROW_2, False)


@pytest.mark.parametrize("ident", ANSWERS)
def test_a_fact_that_is_there_is_not_asked_again(board: Path, asked: dict[str, FormQuestion], ident: str) -> None:
    """Each answer, written, takes its question away; a rail leaves none of that net."""
    text = written(asked, {ident: ANSWERS[ident]})

    later = questions(board, text)

    assert ident not in later
    if ident == "laminate":
        assert not [one for one in later if one.startswith("declared.dielectric.")]


def test_a_row_of_its_own_wins_over_the_answer_for_all(asked: dict[str, FormQuestion]) -> None:
    text = written(asked, {ROW_2: {"material": "Megtron 6"}, "laminate": {"material": "370HR"}})

    rows = parse_config(text).declared.dielectric
    assert {name: row.material for name, row in rows.items()} == {
        "dielectric 1": "370HR",
        "dielectric 2": "Megtron 6",
        "dielectric 3": "370HR",
    }


def test_all_answers_together_are_what_the_settings_say(board: Path, asked: dict[str, FormQuestion]) -> None:
    digest = str(form_of(check_up(board))["digest"])
    config = parse_config(written(asked, ANSWERS, digest=digest))

    assert (config.profile, config.form) == ("inference", "pcie-card")
    assert (config.declared.impedance_tolerance_pct, config.declared.foil) == (8, "VLP")
    assert (config.declared.tg_c, config.declared.stackup_hash) == (180, digest)
    (interface,), (rail,), (part,) = config.interface, config.rail, config.hot_part
    assert (interface.is_, interface.role, interface.net_classes) == ("pcie5", "add_in_card", ("85Ohm-diff_PCIE",))
    assert (rail.net, rail.voltage_v, rail.current_a, rail.to, rail.core) == ("+12V", 12, 2.5, ("U1",), False)
    assert (part.refs, part.power_w, part.cooling) == (("U1",), 15, "air")


def test_what_a_question_decides_is_what_waits_for_it(board: Path) -> None:
    """Under a workload, the clauses by name; the laminate takes them away."""
    asked = questions(board, 'profile = "inference"\n')
    question = asked["laminate"]
    assert len(question.clauses) > 0
    assert question.decides.startswith(f"{len(question.clauses)} requirement")

    live = board.read_bytes()
    now = FormVerdict.model_validate(try_settings(board, live, 'profile = "inference"\n', None)["verdict"])
    text = written(asked, {"laminate": {"material": "370HR"}}, 'profile = "inference"\n')
    then = FormVerdict.model_validate(try_settings(board, live, text, None)["verdict"])
    assert set(question.clauses) <= set(now.open)
    assert not set(question.clauses) & set(then.open)
    many, rest = len(set(now.open) - set(then.open)), len(then.open)
    words = f"{many} requirements become verifiable. {rest} requirements stay not verifiable."
    assert effect(now, then)["changes"] == words.replace("1 requirements become", "1 requirement becomes")


def test_facts_of_another_stackup_are_asked_about_as_a_whole(board: Path) -> None:
    settings = '[declared]\nstackup_hash = "0123456789ab"\nfoil = "VLP"\n'
    asked = questions(board, settings)
    question = asked["declared.stackup_hash"]
    (choice,) = question.fields[0].choices

    text = written(asked, {question.id: {"stackup_hash": choice.value}}, settings)

    assert "declared.foil" not in asked
    assert text == settings.replace("0123456789ab", choice.value)
    assert "declared.stackup_hash" not in questions(board, text)


@pytest.mark.parametrize(
    ("ident", "key", "typed", "said"),
    [
        ("declared.impedance_tolerance_pct", "impedance_tolerance_pct", "8 % of what", 'the rest, "% of what", is not'),
        (
            "declared.impedance_tolerance_pct",
            "impedance_tolerance_pct",
            "ten",
            '"ten" is no number; type a number from',
        ),
        (
            "declared.impedance_tolerance_pct",
            "impedance_tolerance_pct",
            "60",
            "60 % is out of range; type a number from 1",
        ),
        ("declared.tg_c", "tg_c", "50", "50 C is out of range; type a number above 50 and up to 500"),
        (
            "laminate",
            "material",
            "Megtrom 6",
            '"Megtrom 6" is no laminate of the catalogue; nearest: Megtron M, Megtron 6',
        ),
        ("declared.foil", "foil", "HVLPP", '"HVLPP" is no known foil; did you mean "HVLP"?'),
        ("profile", "profile", "infrence", 'did you mean "inference"?'),
        ("form", "form", "pcie-crad", 'did you mean "pcie-card"?'),
        (PCIE, "is", "pcie55", 'did you mean "pcie5"?'),
        ("hot_part", "refs", "U11", '"U11" is not on this board; nearest: U1.'),
    ],
)
def test_a_wrong_answer_says_what_would_be_right(
    asked: dict[str, FormQuestion], ident: str, key: str, typed: str, said: str
) -> None:
    values, errors = read_answers(asked, {ident: {key: typed}})

    assert values == {}
    assert said in errors[ident][key]


def test_a_table_needs_what_it_is_about(asked: dict[str, FormQuestion]) -> None:
    values, errors = read_answers(asked, {"rail": {"net": "+12V"}, "hot_part": {"refs": "none"}})

    assert errors == {"rail": {"voltage_v": "Needed with the rest of this answer."}}
    assert values == {"hot_part": {"refs": []}}


MINE = """\
# my notes
profile = "?"  # to be chosen
[declared]
foil = "?"  # ask the fab
# by the data sheet

# the rails
[[rail]]
net = "?"  # largest: +12V
voltage_v = "?"

# mine
[house]
rule = 1
"""


def test_comments_order_and_unknown_keys_stay(asked: dict[str, FormQuestion]) -> None:
    """A placeholder is filled in where it stands; new keys follow the last one, new tables come last."""
    chosen = {name: ANSWERS[name] for name in ("profile", "declared.foil", "declared.tg_c", "laminate", PCIE)}
    rail = {"rail": {"net": "+12V", "voltage_v": "12"}}

    text = written(asked, {**chosen, **rail}, MINE)

    former, later = MINE.splitlines(), text.splitlines()
    comments = [line.partition("#")[2] for line in former if "#" in line]
    assert [line.partition("#")[2] for line in later if "#" in line] == comments
    assert 'profile = "inference"  # to be chosen\n[declared]\nfoil = "VLP"  # ask the fab\ntg_c = 180\n' in text
    assert '# the rails\n[[rail]]\nnet = "+12V"  # largest: +12V\nvoltage_v = 12\n\n# mine\n[house]\nrule = 1\n' in text
    assert text.endswith('[[interface]]\nis = "pcie5"\nnet_classes = ["85Ohm-diff_PCIE"]\nrole = "add_in_card"\n')
    assert tomllib.loads(text)["declared"]["dielectric"]["dielectric 3"] == {"material": "370HR"}


@pytest.mark.parametrize(
    ("text", "later"),
    [
        ("# head\n\n# hot\n[[hot_part]]\n", '# head\nprofile = "edge"\n\n# hot\n[[hot_part]]\n'),
        ("# hot\n[[hot_part]]\n", 'profile = "edge"\n\n# hot\n[[hot_part]]\n'),
    ],
)
def test_a_key_above_all_tables_leaves_their_comments_with_them(
    asked: dict[str, FormQuestion], text: str, later: str
) -> None:
    assert written(asked, {"profile": {"profile": "edge"}}, text) == later


def test_the_same_answers_twice_change_nothing(asked: dict[str, FormQuestion]) -> None:
    """What is found is filled in again; only a rail is one more each time."""
    answers = {ident: answer for ident, answer in ANSWERS.items() if ident not in ("rail", "hot_part")}
    once = written(asked, answers, MINE)

    assert written(asked, answers, once) == once


@pytest.mark.parametrize("settings", ["declared = 3\n", "[declared\n", "interface = 1\n", "declared = { tg_c = 1 }\n"])
def test_settings_that_cannot_take_an_answer_are_refused_in_one_line(
    asked: dict[str, FormQuestion], settings: str
) -> None:
    with pytest.raises(ConfigError, match="cannot take the answers"):
        written(asked, {"laminate": {"material": "370HR"}, PCIE: {"is": "pcie5"}}, settings)


@pytest.mark.parametrize(
    ("hint", "facts"),
    [
        ('profile = "?"  # or --profile', {"profile"}),
        ('[declared.copper."In1.Cu"]\nfoil = "?"  # STD', {"declared.foil"}),
        ('[[interface]]\nis = "?"  # pcie4\nnets = ["/A*"]', {'interface nets = ["/A*"]'}),
        ('[[interface]]\nis = "pcie5"\nnets = ["/A*"]\nrole = "?"', {'interface nets = ["/A*"] role'}),
        ('in the [[rail]] of +12V: current_a = "?"  # or tdp_w', {"rail +12V.current_a"}),
        ('power_w = "?"  # TDP\n# under the [[hot_part]] of U1', {"hot_part U1.power_w"}),
        ("in KiCad, press B to fill all zones and save the board", set()),
    ],
)
def test_a_hint_names_its_facts(hint: str, facts: set[str]) -> None:
    assert set(facts_of(hint)) == facts


def test_the_form_takes_the_place_of_other_options(board: Path) -> None:
    ran = run_here("init", board, "--serve", "--force", cwd=board.parent)

    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "error: --serve: and --force exclude each other; leave one of them out: the form asks\n"


@pytest.fixture
def draft(board: Path, tmp_path: Path) -> FormDraft:
    """The form of a board in a folder of its own."""
    copy = tmp_path / board.name
    copy.write_bytes(board.read_bytes())
    made = FormDraft(copy)
    made.checked(form_of(check_up(copy)))
    return made


def test_a_page_that_is_reloaded_gets_what_was_typed(draft: FormDraft) -> None:
    """Until it is written or taken back: with what is wrong with it, and whether it changes the settings."""
    answers = {"declared.foil": {"foil": "VLP"}, "laminate": {"material": "no such"}}
    assert (draft.show()["answers"], draft.show()["changed"]) == ({}, False)
    draft.answer({"answers": answers})
    shown = draft.show()
    assert (shown["answers"], shown["changed"]) == (answers, True)
    assert list(cast("dict[str, object]", shown["errors"])) == ["laminate"]

    draft.diff()
    draft.write()
    assert [draft.show()[key] for key in ("answers", "errors", "changed", "is_tried")] == [{}, {}, False, False]


def test_answers_that_are_taken_back_have_no_verdict(draft: FormDraft) -> None:
    draft.answer({"answers": {"declared.foil": {"foil": "VLP"}}})
    draft.tried(form_of(check_up(draft.target.with_name("small.kicad_pcb"))))
    assert draft.show()["is_tried"] is True

    draft.answer({"answers": {}})

    assert draft.show()["is_tried"] is False


def test_only_what_was_shown_is_written(draft: FormDraft) -> None:
    """The diff comes first, another answer needs another one, and a file that has changed since is left alone."""
    answers = {"answers": {"declared.foil": {"foil": "VLP"}, "laminate": {"material": "no such"}}}
    assert list(draft.answer(answers)) == ["laminate"]
    assert not draft.target.exists()
    with pytest.raises(StackwrightError, match="the answers have changed"):
        draft.write()

    assert '+foil = "VLP"' in str(draft.diff()["diff"])
    draft.target.write_text("# another program\n")
    with pytest.raises(StackwrightError, match="another program"):
        draft.write()
    assert draft.target.read_text() == "# another program\n"

    draft.answer(answers)
    draft.diff()
    assert draft.write().startswith(f"Wrote {draft.target}; the former content is in ")
    assert draft.target.read_text().startswith('# another program\n\n[declared]\nstackup_hash = "')

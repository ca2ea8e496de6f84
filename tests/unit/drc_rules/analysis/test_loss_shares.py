"""A board's share of a loss budget, what the user has to state where none is published, and the facts behind a loss."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.analysis.loss.link_loss import LinkLosses
from drc_rules.analysis.loss.loss_shares import declaration_lines, declarations_by_net, form_of, role_notes, share_of
from drc_rules.requirements.forms import load_form
from drc_rules.requirements.interfaces import interface
from drc_rules.settings.config import parse_config
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import Confidence, MissingFact
from tests.support.small_boards.lossy_link import PCIE5, STACKUP, VLP, context, only_link, pad

# --- the share ---


@pytest.mark.parametrize(
    ("keys", "form", "notes"),
    [
        (
            'role = "system"',
            "pcie-card",
            [
                'stackwright.toml, [[interface]] 1 (pcie5): role = "system" has 16 dB; the form factor is '
                "{title}, which has 9.5 dB as add_in_card"
            ],
        ),
        ('role = "add_in_card"', "pcie-card", []),
        ('role = "system"', None, []),
        ('role = "system"', "hgx", []),
        ('role = "system"\nboard_loss_db = 9', "pcie-card", []),
        ("", "pcie-card", []),
    ],
    ids=["a host's on a card", "the card's", "no form", "no card", "the user's own dB", "none"],
)
def test_a_role_of_another_board_than_the_form_factor_is_told(
    keys: str, form: str | None, notes: list[str], tmp_path: Path
) -> None:
    ctx = context(tmp_path, f"{PCIE5}{keys}\n", form=form)
    title = load_form(form).title if form else ""

    assert list(role_notes(ctx)) == [note.format(title=title) for note in notes]


def test_keys_of_a_loss_that_is_not_judged_are_told(tmp_path: Path) -> None:
    """USB 2.0 at 240 MHz: no share is looked at, and a role that no interface has is refused."""
    declared = '[[interface]]\nis = "usb2"\nnets = ["/PCIE_*"]\n'
    keyed = context(tmp_path / "keyed", f'{declared}role = "host"\nboard_loss_db = 2\n')
    plain = context(tmp_path / "plain", declared)

    assert list(role_notes(keyed)) == [
        "stackwright.toml, [[interface]] 1 (usb2): role, board_loss_db without effect: USB 2.0 high speed is too slow "
        "for its loss to be judged"
    ]
    assert list(role_notes(plain)) == []
    with pytest.raises(ConfigError):
        parse_config(f'{declared}role = "carrier"\n')


def test_a_role_that_is_declared_does_not_come_from_the_form(tmp_path: Path) -> None:
    """An add-in card by declaration on an add-in card, and one that only its form makes one."""
    ctx = context(tmp_path, form="pcie-card")
    row = parse_config(f'{PCIE5}role = "add_in_card"').interface[0]

    said, followed = share_of(ctx, interface("pcie5"), row), share_of(ctx, interface("pcie5"), None)

    assert said is not None
    assert (said.role, said.from_form) == ("add_in_card", False)
    assert followed is not None
    assert followed.from_form


@pytest.mark.parametrize(
    ("which", "role", "form", "surely_db"),
    [
        ("eth56g", None, "oam", 8),
        ("eth56g", "per_end", None, None),
        ("eth56g", "per_end", "ubb", None),
        ("eth56g", "direct", None, 30),
        ("xgmi4", None, "oam", None),
        ("pcie3", "slot", None, None),
        ("pcie3", "slot", "jetson-carrier", None),
        ("pcie3", "slot", "jetson-orin-nx-carrier", 7.6),
        ("pcie3", "system", None, 13),
        ("pcie4", "system", "jetson-carrier", 14),
        ("usb3.2gen1", "type_c", "pcie-card", None),
        ("usb3.2gen2", "board_and_connector", "jetson-orin-nx-carrier", 4.5),
        ("usb3.2gen2", "host", None, 8.5),
        ("usb3.2gen1", "device", None, 8.5),
        ("dp-hbr3", None, "jetson-orin-nx-carrier", 5.5),
        ("dp-hbr3", "board", "jetson-carrier", None),
    ],
)
def test_a_guide_to_the_boards_of_one_module_is_a_limit_of_these_alone(
    which: str, role: str | None, form: str | None, surely_db: float | None, tmp_path: Path
) -> None:
    """NVIDIA's guide (DG-10931) is of Orin NX and Orin Nano, OCP's of OAM; other documents are of any board."""
    keys = f'role = "{role}"' if role else ""
    row = parse_config(f'[[interface]]\nis = "{which}"\nnets = ["/X*"]\n{keys}').interface[0]

    share = share_of(context(tmp_path, form=form), interface(which), row)

    assert share is not None
    assert share.surely_db == surely_db


@pytest.mark.parametrize(
    ("which", "role", "parts"),
    [
        ("pcie3", "direct", {"package"}),
        ("pcie4", "direct", {"package"}),
        ("pcie4", "slot", set()),
        ("pcie4", "system", set()),
        ("dp-hbr2", "board", {"connector"}),
        ("dp-hbr3", "board", {"connector"}),
        ("usb3.2gen1", "host", {"package", "connector"}),
        ("usb3.2gen2", "device", {"package", "connector"}),
        ("eth56g", "direct", set()),
        ("xgmi4", "direct", {"package"}),
    ],
)
def test_a_share_leaves_out_what_it_holds_besides_the_board(
    which: str, role: str, parts: set[str], tmp_path: Path
) -> None:
    """By hand: Samtec's board, card, CPU package and connector of Gen4 are 14 + 8 + 5 + 0.5 of 28 dB."""
    row = parse_config(f'[[interface]]\nis = "{which}"\nnets = ["/X*"]\nrole = "{role}"').interface[0]

    share = share_of(context(tmp_path), interface(which), row)

    assert share is not None
    assert set(share.allowances_db) == set(share.assumed) == parts


def test_a_part_of_which_no_text_states_the_loss_is_asked_for(tmp_path: Path) -> None:
    """13 dB bump to bump less 5 for both packages are 8 dB for the board."""
    ctx, asked = context(tmp_path), f'{VLP}[[interface]]\nis = "eth112g"\nnets = ["/X*"]\nrole = "extra_short"\n'
    plain, given = (parse_config(f"{asked}{keys}").interface[0] for keys in ("", "package_loss_db = 5"))

    with pytest.raises(MissingFact) as fact:
        share_of(ctx, interface("eth112g"), plain)
    share = share_of(ctx, interface("eth112g"), given)

    assert 'package_loss_db = "?"' in fact.value.how_to_give
    assert share is not None
    assert (share.board_db.low, share.board_db.high, share.assumed) == (8, 8, ())


def test_what_is_left_for_the_copper_is_the_share_less_what_else_is_in_it(tmp_path: Path) -> None:
    """16 dB declared, a package of 3 and a connector of 1.5 dB: 11.5 dB."""
    keys = "board_loss_db = 16\npackage_loss_db = 3\nconnector_loss_db = 1.5\n"
    share = share_of(context(tmp_path), interface("pcie5"), parse_config(f"{PCIE5}{keys}").interface[0])

    assert share is not None
    assert (share.board_db.low, share.board_db.nominal, share.board_db.high) == (11.5, 11.5, 11.5)
    assert (share.document, share.assumed) == ("declared", ())


def test_what_is_assumed_of_a_share_leaves_an_interval_for_the_copper(tmp_path: Path) -> None:
    """The least is left where the package takes most: the ends are the other way round."""
    share = share_of(context(tmp_path, form="pcie-card"), interface("pcie5"), None)

    assert share is not None
    package = share.allowances_db["package"]
    assert package.low < package.nominal < package.high
    assert share.board_db.low == 9.5 - package.high
    assert share.board_db.nominal == 9.5 - package.nominal
    assert share.board_db.high == 9.5


def test_a_role_without_a_published_share_is_none_and_a_role_of_another_family_is_asked_again(tmp_path: Path) -> None:
    """It is not published what a system board of Gen6 may lose; a "host" is a board of USB4, not of PCIe."""
    ctx = context(tmp_path)
    system, host = (parse_config(f'{PCIE5}role = "{role}"').interface[0] for role in ("system", "host"))

    assert share_of(ctx, interface("pcie6"), system) is None
    assert share_of(ctx, interface("nvlink5"), None) is None
    with pytest.raises(MissingFact) as asked:
        share_of(ctx, interface("pcie6"), host)
    assert "no share is published for slot, direct, system" in asked.value.how_to_give


def test_the_form_is_the_declared_one_else_the_workloads(tmp_path: Path) -> None:
    """`--form` wins; a workload for OAM modules brings theirs; without either there is none."""
    assert form_of(context(tmp_path / "a")) is None
    own = [
        form_of(context(tmp_path / f"b{n}", form=form, profile="inference-pcie"))
        for n, form in enumerate(("oam", None))
    ]

    assert [form.name if form else None for form in own] == ["oam", "pcie-card"]


# --- what the user has to state ---


def test_a_proposed_table_keeps_what_was_said_and_asks_for_one_more(tmp_path: Path) -> None:
    """The role and the package stay; the key that is required is not said twice; inferred nets are named."""
    ctx = context(tmp_path)
    row = parse_config(f'{PCIE5}role = "system"\npackage_loss_db = 2.5\n').interface[0]
    asked = 'role = "?"  # add_in_card, system'

    assert declaration_lines(ctx, interface("pcie5"), row, 'board_loss_db = "?"').splitlines() == [
        "[[interface]]",
        'is = "pcie5"',
        'nets = ["/PCIE_*"]',
        'role = "system"',
        "package_loss_db = 2.5",
        'board_loss_db = "?"',
    ]
    assert declaration_lines(ctx, interface("pcie5"), row, asked).splitlines()[3:] == ["package_loss_db = 2.5", asked]
    assert declaration_lines(ctx, interface("pcie5"), None, asked).splitlines()[2] == 'nets = ["/PCIE_TX0_P"]'
    assert declaration_lines(ctx, interface("nvlink5"), None, asked).splitlines()[2] == 'nets = ["?"]'


def test_of_two_tables_the_last_one_decides_on_a_net(tmp_path: Path) -> None:
    """As everywhere in the settings; each may name another role."""
    config = f'{PCIE5}role = "system"\n[[interface]]\nis = "pcie5"\nnets = ["/PCIE_TX0_P"]\nrole = "add_in_card"\n'
    ctx = context(tmp_path, config)

    rows = {ctx.board.nets[net]: row.role for net, row in declarations_by_net(ctx).items()}

    assert rows == {"/PCIE_TX0_P": "add_in_card"}


# --- what a loss rests on ---


def test_the_highest_df_beside_a_line_is_told_and_none_where_one_is_not_known(tmp_path: Path) -> None:
    """A stripline on In1 between 370HR above (0.026 at 16 GHz) and Megtron 6 below (some 0.004)."""
    tracks = [{"net": "/PCIE_TX0_P", "layer": "In1.Cu", "width_mm": 0.2, "path_mm": [[5, 10], [105, 10]]}]
    planes = {"F.Cu": "GND", "In2.Cu": "GND"}
    pads = [
        {**pad(x, name), "pads": [{"number": "1", "net": "/PCIE_TX0_P", "kind": "through", "size_mm": [0.6, 0.6]}]}
        for x, name in ((5, "U1"), (105, "J1"))
    ]
    mixed = STACKUP.format(mm=0.2).replace("R-5670(N) 1078", "370HR 2116", 1)
    ctx, unknown = (
        context(tmp_path / name, tracks=tracks, planes=planes, parts=pads, stackup=stackup)
        for name, stackup in (("mixed", mixed), ("open", mixed.replace("R-5775(N)", "Unobtainium")))
    )
    link = only_link(ctx)
    fr4, megtron = ctx.plies[0].df.at(16).need(), ctx.plies[1].df.at(16).need()
    assert fr4 > 2 * megtron
    assert LinkLosses(ctx).adjacent_df(link, 16) == fr4
    assert LinkLosses(unknown).adjacent_df(link, 16) is None


def test_beyond_the_frequency_up_to_which_a_line_is_computed_nothing_is_sure(tmp_path: Path) -> None:
    """At 28 GHz a microstrip 0.8 mm over its plane has long been dispersive; one of 0.1 mm is not yet."""
    config = PCIE5.replace("pcie5", "eth112g")
    prepreg, core = '"R-5670(N) 1078" dk=3.4', '"R-5775(N)" dk=3.4'
    cores_outside = STACKUP.format(mm=0.8).replace(f"prepreg 0.8 {prepreg}", f"core 0.8 {core}")
    cores_outside = cores_outside.replace(f"core 1.2 {core}", f"prepreg 0.2 {prepreg}")
    thick = {"stackup": cores_outside.replace(f"prepreg 0.1 {prepreg}", f"core 0.8 {core}")}
    sure, doubtful = (context(tmp_path / name, config, **keys) for name, keys in (("a", {}), ("b", thick)))
    confidence = {
        name: LinkLosses(ctx).of("eth112g", declared=True).confidence
        for name, ctx in (("sure", sure), ("doubtful", doubtful))
    }

    assert all(s.loss.is_quasi_static for s in only_link(sure, "eth112g").sections)
    assert not any(s.loss.is_quasi_static for s in only_link(doubtful, "eth112g").sections)
    assert confidence["doubtful"] is Confidence.LOW
    assert confidence["sure"] is not Confidence.LOW
    assert any("more is lost than is computed" in note for note in only_link(doubtful, "eth112g").notes)


def test_a_piece_of_another_width_inside_a_pad_is_counted_as_the_line_behind_it(tmp_path: Path) -> None:
    """0.05 mm of a narrow track from the pad's middle: the link is that much longer, in the same geometry."""
    tracks = [
        {"net": "/PCIE_TX0_P", "layer": "F.Cu", "width_mm": 0.1, "path_mm": [[4.95, 10], [5, 10]]},
        {"net": "/PCIE_TX0_P", "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[5, 10], [105, 10]]},
    ]
    link = only_link(context(tmp_path, tracks=tracks, parts=[pad(4.95, "U1"), pad(105, "J1")]))

    assert link.length_mm == pytest.approx(100.05)
    assert {s.key.width_mm for s in link.sections} == {0.2}


@pytest.mark.parametrize(
    ("which", "form", "choices"),
    [
        ("usb3.2gen2", None, "host, device; by NVIDIA's guide to other boards: board_and_connector"),
        ("usb3.2gen2", "jetson-orin-nx-carrier", "board_and_connector, host, device"),
        ("eth56g", "ubb", "direct; by Open Compute Project's guide to other boards: per_end"),
    ],
)
def test_a_role_is_asked_with_what_holds_for_such_a_board(
    which: str, form: str | None, choices: str, tmp_path: Path
) -> None:
    """From a USB hub to a module no port is reached, so that the carrier's form does not answer it either."""
    with pytest.raises(MissingFact) as asked:
        share_of(context(tmp_path, form=form), interface(which), None)

    assert f'role = "?"  # {choices}; no share' in asked.value.how_to_give


def test_where_only_a_guide_to_other_boards_has_a_share_no_role_is_asked(tmp_path: Path) -> None:
    """DisplayPort, of which only the carriers of one module have one."""
    ctx = context(tmp_path)

    assert share_of(ctx, interface("dp-hbr2"), None) is None

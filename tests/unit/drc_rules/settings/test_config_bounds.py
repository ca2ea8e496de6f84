"""Where the ranges of `stackwright.toml` end, and what follows from what is declared."""

from __future__ import annotations

import math

import pytest

from drc_rules.settings.config import parse_config
from drc_rules.settings.config_fab import FabDeclaration
from drc_rules.settings.goals_choices import GoalChoices
from stackup_lib.core.errors import ConfigError

RAIL = '[[rail]]\nnet = "VCC"\n'
HOT = '[[hot_part]]\nrefs = ["U1"]\n'
RAIL_5V = f"{RAIL}voltage_v = 5\n"
OHM = '[[impedance]]\nnets = ["/A"]\nkind = "single"\n'

OPEN, CLOSED = False, True  # a range without or with its lower end


@pytest.mark.parametrize(
    "table,key,least,is_least_allowed,most",
    [
        (RAIL_5V, "current_a", 0.0, OPEN, 20_000.0),
        (RAIL_5V, "tdp_w", 0.0, OPEN, 20_000.0),
        (RAIL_5V, "duty_pct", 0.0, OPEN, 100.0),
        (RAIL_5V, "max_drop_mv", 0.0, OPEN, 2_000_000.0),
        (RAIL_5V, "max_drop_pct", 0.0, OPEN, 100.0),
        (RAIL_5V, "max_rise_c", 0.0, OPEN, 200.0),
        (RAIL_5V, "max_a_per_mm2", 0.0, OPEN, 10_000.0),
        (RAIL_5V, "max_via_a", 0.0, OPEN, 20_000.0),
        (RAIL_5V, "ripple_pct", 0.0, OPEN, 100.0),
        (RAIL_5V, "step_a", 0.0, OPEN, 20_000.0),
        (RAIL_5V, "impedance_mohm", 0.0, OPEN, 1_000_000.0),
        (RAIL_5V, "copper_c", -55.0, CLOSED, 200.0),
        (RAIL_5V, "plating_um", 0.0, OPEN, 200.0),
        (HOT, "power_w", 0.0, OPEN, 20_000.0),
        (HOT, "board_w", 0.0, OPEN, 20_000.0),
        (HOT, "plating_um", 0.0, OPEN, 200.0),
        (HOT, "max_k_per_w", 0.0, OPEN, 10_000.0),
        (HOT, "junction_max_c", 0.0, OPEN, 300.0),
        (HOT, "theta_jc_k_per_w", 0.0, CLOSED, 10_000.0),
        (HOT, "path_k_per_w", 0.0, OPEN, 10_000.0),
        (HOT, "sink_c", -60.0, OPEN, 200.0),
        (OHM, "ohm", 10.0, CLOSED, 200.0),
        (f"{OHM}ohm = 50\n", "tolerance_pct", 1.0, CLOSED, 50.0),
        ("[fab]\n", "hole_mm", 0.0, OPEN, 2.0),
        ("[fab]\n", "ring_mm", 0.0, CLOSED, 2.0),
        ("[fab]\n", "outer_track_mm", 0.0, OPEN, 2.0),
        ("[fab]\n", "outer_space_mm", 0.0, OPEN, 0.5),
        ("[fab]\n", "thickness_mm", 0.0, OPEN, 30.0),
        ("[fab]\n", "aspect_ratio", 0.0, OPEN, 60.0),
        ("[fab]\n", "hole_to_copper_mm", 0.0, OPEN, 0.25),
        ("[fab]\n", "edge_to_copper_mm", 0.0, OPEN, 2.0),
        ("[fab]\n", "bow_twist_pct", 0.05, CLOSED, 5.0),
        ("[process]\n", "outer_copper_um", 5.0, CLOSED, 500.0),
        ("[process]\n", "plating_um", 0.0, OPEN, 200.0),
        ("[process]\n", "mask_over_laminate_um", 1.0, CLOSED, 200.0),
        ("[process]\n", "mask_dk", 2.0, CLOSED, 6.0),
    ],
)
def test_a_number_is_taken_up_to_the_ends_of_its_range(
    table: str, key: str, least: float, is_least_allowed: bool, most: float
) -> None:
    """The ends and what is just inside are taken; what is just outside, `inf` and `nan` are refused by name."""
    step = 1e-3
    taken = [least + step] + ([least] if is_least_allowed else []) + [most]
    refused = [least - step] + ([] if is_least_allowed else [least]) + [most + step, math.inf, math.nan]

    for value in taken:
        parse_config(f"{table}{key} = {value!r}\n")
    for value in refused:
        with pytest.raises(ConfigError, match=key):
            parse_config(f"{table}{key} = {value!r}\n")


@pytest.mark.parametrize("key", ["inner_etch_taper_um", "outer_etch_taper_um"])
def test_an_etch_taper_is_none_or_one_that_can_be_measured(key: str) -> None:
    """0.0152 is 15.2 um in millimetres: it took the taper, and its uncertainty, out of every impedance."""
    for value in (0, 0.1, 200):
        parse_config(f"[process]\n{key} = {value}\n")
    for value in (-0.001, 0.0152, 0.0999, 200.001):
        with pytest.raises(ConfigError, match=key):
            parse_config(f"[process]\n{key} = {value}\n")


@pytest.mark.parametrize("sign", [1, -1])
def test_a_rail_may_be_below_ground(sign: int) -> None:
    """Size and sign of the voltage are kept apart: what copper takes has no sign."""
    for size in (0.001, 12, 2000.0):
        (rail,) = parse_config(f"{RAIL}voltage_v = {sign * size!r}\nmax_drop_pct = 1\n").rail
        assert (rail.voltage_v, rail.negative) == (size, sign < 0)
        assert rail.max_drop_v == pytest.approx(size / 100)
    for size in (0, 2000.001):
        with pytest.raises(ConfigError, match="voltage_v"):
            parse_config(f"{RAIL}voltage_v = {sign * size!r}\n")


def test_a_load_that_draws_nothing_is_refused_and_the_least_current_is_not() -> None:
    """Amperes of each load: 0 is as wrong as -1."""
    for amperes in ("0", "-1", "0.0"):
        with pytest.raises(ConfigError, match="draws no current"):
            parse_config(f"{RAIL_5V}to = {{ U1 = 1, U2 = {amperes} }}\n")
    (rail,) = parse_config(f"{RAIL_5V}to = {{ U1 = 0.001 }}\n").rail
    assert rail.to == {"U1": 0.001}


@pytest.mark.parametrize("amperes", ["inf", "nan", "20000.1", '"5 A"', "true"])
def test_a_load_that_is_no_current_is_refused_by_its_name(amperes: str) -> None:
    """`inf` and `nan` came out as internal errors of five rules; the largest current and an open one are taken."""
    with pytest.raises(ConfigError, match=r"to: U2 = .*give its current in A"):
        parse_config(f"{RAIL_5V}to = {{ U1 = 1, U2 = {amperes} }}\n")
    (rail,) = parse_config(f"{RAIL_5V}to = {{ U1 = 1, U2 = 20_000 }}\n").rail
    assert rail.to == {"U1": 1, "U2": 20_000}
    (rail,) = parse_config(f'{RAIL_5V}to = {{ U1 = 1, U2 = "?" }}\n').rail
    assert rail.to == ()


@pytest.mark.parametrize("sides", ["[0, 0]", "[-5, 100]", "[500, -1]", "[nan, 100]", "[inf, inf]", "[100, 5000.1]"])
def test_the_largest_board_of_a_fab_has_two_sides(sides: str) -> None:
    """0 divided by zero, -5 and nan failed every board, inf passed every board."""
    with pytest.raises(ConfigError, match="board_mm"):
        parse_config(f"[fab]\nboard_mm = {sides}\n")
    assert parse_config("[fab]\nboard_mm = [500, 0.1]\n").fab.board_mm == (500, 0.1)
    assert parse_config("[fab]\nboard_mm = [5000, 5000]\n").fab.board_mm == (5000, 5000)


@pytest.mark.parametrize(
    "lines", ["current_a = 1\ntdp_w = 5", "current_a = 1\nto = { U1 = 1 }", "tdp_w = 5\nto = { U1 = 1 }"]
)
def test_a_current_is_stated_in_one_way(lines: str) -> None:
    """Any two of current, power and amperes of each load are refused; each alone is taken."""
    with pytest.raises(ConfigError, match="not several"):
        parse_config(f"{RAIL_5V}{lines}\n")
    for line in lines.split("\n"):
        parse_config(f"{RAIL_5V}{line}\n")


@pytest.mark.parametrize("line", ["ripple_pct = 2", "step_a = 4", ""])
def test_a_target_impedance_takes_ripple_and_step(line: str) -> None:
    """2 % of 5 V at 4 A are 25 milliohm; one of the two alone gives none."""
    (half,) = parse_config(f"{RAIL_5V}{line}\n").rail
    (whole,) = parse_config(f"{RAIL_5V}ripple_pct = 2\nstep_a = 4\n").rail

    assert half.target_ohm is None
    assert whole.target_ohm == pytest.approx(0.025)
    assert half.max_drop_v is None


def test_a_part_may_give_all_its_heat_to_the_board_and_no_more() -> None:
    """board_w up to power_w; the sink below the junction, not as hot as it."""
    (part,) = parse_config(f"{HOT}power_w = 4\nboard_w = 4\n").hot_part
    assert part.through_board_w == 4
    with pytest.raises(ConfigError, match="board_w"):
        parse_config(f"{HOT}power_w = 4\nboard_w = 4.01\n")

    parse_config(f"{HOT}junction_max_c = 90\nsink_c = 89.9\n")
    parse_config(f"{HOT}junction_max_c = 90\n")
    with pytest.raises(ConfigError, match="hotter"):
        parse_config(f"{HOT}junction_max_c = 90\nsink_c = 90\n")


@pytest.mark.parametrize("cooling", ["cold plate", "immersion", "heatsink"])
def test_heat_that_was_said_to_go_through_the_board_does(cooling: str) -> None:
    """A cooled lid leaves nothing known but what is said."""
    text = f'{HOT}power_w = 9\ncooling = "{cooling}"\n'
    (lid,), (both,) = parse_config(text).hot_part, parse_config(f"{text}board_w = 2\n").hot_part

    assert both.through_board_w == 2
    assert not both.cools_off_the_top
    assert lid.cools_off_the_top and lid.through_board_w is None


def test_a_fabs_inner_widths_and_spaces_are_by_copper_weight() -> None:
    """Half an ounce and "0.50" are one weight; a weight that is not listed has none."""
    fab = FabDeclaration(track_mm={"0.50": 0.09, "1": 0.12}, space_mm={"0.5": 0.1, "2": 0.2})

    assert [fab.track_of(oz) for oz in (0.5, 1.0, 2.0)] == [0.09, 0.12, None]
    assert [fab.space_of(oz) for oz in (0.5, 1.0, 2.0)] == [0.1, None, 0.2]


@pytest.mark.parametrize(
    "line",
    [
        'track_mm = { "0" = 0.1 }',
        'track_mm = { "-1" = 0.1 }',
        'track_mm = { "thick" = 0.1 }',
        'track_mm = { "inf" = 0.1 }',
        'track_mm = { "nan" = 0.1 }',
        'track_mm = { "1" = 0 }',
        'track_mm = { "1" = 2.001 }',
        'space_mm = { "1" = 0 }',
        'space_mm = { "1" = 0.501 }',
    ],
)
def test_a_weight_is_a_number_of_ounces_and_a_width_one_of_millimetres(line: str) -> None:
    """Tracks up to 2 mm, spaces up to 0.5 mm: what is beyond was meant otherwise."""
    with pytest.raises(ConfigError, match=r"write copper weights in oz|give millimetres, more than 0 and at most"):
        parse_config(f"[fab]\n{line}\n")
    parse_config('[fab]\ntrack_mm = { "1" = 2 }\nspace_mm = { "1" = 0.5 }\n')


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            '[fab]\nspace_mm = { "0.5" = 100 }',
            'space_mm has "0.5" = 100; give millimetres, more than 0 and at most 0.5',
        ),
        ("[fab]\nbow_twist_pct = 0.0075", "give at least 0.05"),
        ("[order]\nthickness_tolerance_pct = 0.1", "give at least 1"),
        ('[[hot_part]]\nrefs = ["U1"]\npower_w = 9\ncooling = "water"', "known: air, board, cold plate, heatsink, imm"),
        ('[[hot_part]]\nrefs = ["U1"]\npower_w = 9\ncooling = "heat sink"', 'did you mean "heatsink"'),
    ],
)
def test_another_unit_or_word_is_refused_with_what_to_write(line: str, says: str) -> None:
    """Micrometres for millimetres, a fraction for percent, and a word that is like none of the few."""
    with pytest.raises(ConfigError) as refused:
        parse_config(f"{line}\n")
    assert says in str(refused.value)


def test_percent_as_they_are_ordered_are_taken() -> None:
    parse_config("[fab]\nbow_twist_pct = 0.5\n[order]\nthickness_tolerance_pct = 5\n")


@pytest.mark.parametrize("length", [0.0, -1.0, 10_000.0])
def test_a_length_is_between_nothing_and_ten_metres(length: float) -> None:
    """Lengths of `[goals]` in mm; ends are refused, 0.1 mm and 9999 mm are taken."""
    with pytest.raises(ValueError, match="give a length in mm"):
        GoalChoices(longest_mm={"pcie5": length})
    assert GoalChoices(longest_mm={"pcie5": 0.1, "pcie4": 9999.0}).longest_mm["pcie4"] == 9999.0


def test_a_stackup_has_an_even_number_of_layers() -> None:
    """Seven are refused, eight and none stated are taken."""
    with pytest.raises(ValueError, match="even number of layers"):
        GoalChoices(layers=7)
    assert (GoalChoices(layers=8).layers, GoalChoices().layers) == (8, None)


def test_choices_win_over_others_only_where_they_say_something() -> None:
    """Layers from the one, the drill from the other; a False that was said counts as said."""
    own, other = GoalChoices(layers=8, hdi=False), GoalChoices(layers=12, drill_mm=0.3, hybrids=False)

    assert own.over(other) == GoalChoices(layers=8, hdi=False, drill_mm=0.3, hybrids=False)

"""Distances as findings print them."""

import pytest

from drc_rules.report.numbers import clearance_text, distance_text, rounded_mm, told_apart


@pytest.mark.parametrize(
    ("distance_mm", "text"),
    [
        (0.125, "0.125 mm"),
        (0.0005001, "0.001 mm"),
        (0.0004999, "less than 0.001 mm"),
        (0.00002, "less than 0.001 mm"),
        (0.000001, "less than 0.001 mm"),
        (4e-17, "0.000 mm"),
        (0.0, "0.000 mm"),
    ],
)
def test_a_distance_is_zero_only_where_it_is(distance_mm: float, text: str) -> None:
    assert distance_text(distance_mm) == text


@pytest.mark.parametrize(
    ("gap_mm", "text"),
    [
        (0.125, "clearance 0.125 mm"),
        (0.000001, "clearance less than 0.001 mm"),
        (4e-17, "copper touches"),
        (0.0, "copper touches"),
        (-0.0004, "copper touches"),
    ],
)
def test_copper_that_touches_has_no_clearance(gap_mm: float, text: str) -> None:
    assert clearance_text(gap_mm) == text


def test_a_measured_distance_keeps_a_tenth_of_a_micrometre_or_else_a_nanometre() -> None:
    assert [rounded_mm(x) for x in (0.12346, 0.00002, -0.00002, 4e-17)] == [0.1235, 0.00002, -0.00002, 0.0]


@pytest.mark.parametrize(
    ("value", "limit", "decimals", "text"),
    [
        (1.3612, 0.25, 2, "1.36"),
        (0.2522, 0.25, 2, "0.252"),
        (0.25004, 0.25, 2, "0.25004"),
        (0.25, 0.25, 2, "0.25"),
        (2.97, 3, 1, "2.97"),
        (2.4, 3, 1, "2.4"),
    ],
)
def test_a_value_that_misses_its_limit_does_not_read_like_it(
    value: float, limit: float, decimals: int, text: str
) -> None:
    assert told_apart(value, limit, decimals) == text

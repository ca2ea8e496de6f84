"""Whose limit holds: a tier's, or that of the fab that the settings describe."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.analysis.fabrication.fab_limits import OWN, Bar, bar, bar_of, is_replaced
from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Basis, Clause, Limit, Severity, Source
from drc_rules.requirements.fabs import Tier
from drc_rules.requirements.fabs.limits import limit_of
from tests.support.mini import mini_context


def clause(tier: str | None) -> Clause:
    return Clause(
        id="t.ring",
        kind="ring",
        title="rings",
        severity=Severity.WARNING,
        basis=Basis.FAB,
        limit=Limit(at_least=tier),
        source=Source(document="engineering", row="test"),
    )


def context(folder: Path, config: str = "") -> Context:
    return mini_context(folder, {"copper_layers": 2}, config)


@pytest.mark.parametrize("tier", [None, "best", "advanced", "standard"])
def test_a_tiers_clause_has_its_tiers_number_until_ones_own_fab_states_one(tmp_path: Path, tier: str | None) -> None:
    """A clause without a tier means the best; with a number of one's own none of the tiers' clauses applies."""
    ctx, of = context(tmp_path), clause(tier)
    expected = Tier(tier or "best")

    found = bar(ctx, of, "ring_mm", None)

    assert found is not None
    assert (found.value, found.who, found.tier) == (limit_of("ring_mm", expected), f"{expected} fabs", expected)
    stricter = {Tier.STANDARD: Tier.ADVANCED, Tier.ADVANCED: Tier.BEST}.get(expected)
    assert (found.stricter.tier if found.stricter else None) is stricter
    assert not is_replaced(of, None)
    assert bar(ctx, of, "ring_mm", 0.2) is None
    assert is_replaced(of, 0.2)


def test_ones_own_clause_applies_only_with_a_number_of_ones_own(tmp_path: Path) -> None:
    """It is called by its name, or yours where it has none."""
    named = context(tmp_path / "a", '[fab]\nname = "Ours"\nring_mm = 0.1\n')
    of = clause(OWN)

    assert bar(named, of, "ring_mm", 0.1) == bar_of(named, of, 0.1) == Bar(0.1, "Ours")
    assert bar(context(tmp_path / "b"), of, "ring_mm", 0.1) == Bar(0.1, "your fab")
    assert bar(named, of, "ring_mm", None) is None
    assert bar_of(named, clause("best"), 0.1) is None
    assert not is_replaced(of, 0.1)
    assert is_replaced(of, None)


def test_a_tier_that_states_nothing_asks_nothing(tmp_path: Path) -> None:
    """No document gives the thinnest dielectric of the best fabs; the advanced ones' is known."""
    ctx = context(tmp_path)

    assert bar(ctx, clause("best"), "dielectric_mm", None) is None
    assert bar(ctx, clause("advanced"), "dielectric_mm", None) is not None

"""Labels of public boards are whole, and every wildcard names an interface family."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from drc_rules.requirements.interfaces import families
from tests.corpus.nets import HALVES, entry_of, read_labels


def test_labels_name_boards_that_can_be_verified_and_families_that_are_there() -> None:
    known = {family.id for family in families()}
    wrong = [
        row["repository"]
        for row in read_labels()
        if row["half"] not in HALVES
        or not re.fullmatch(r"[0-9a-f]{40}", row["commit"])
        or not re.fullmatch(r"[0-9a-f]{64}", row["sha256"])
        or not row["evidence"]
        or not row.get("nets", {}).keys() <= known
    ]
    assert wrong == []


def test_no_board_and_no_author_of_the_blind_half_is_in_the_other() -> None:
    halves = {
        half: {entry_of(row).repository.split("/")[0] for row in read_labels() if row["half"] == half}
        for half in HALVES
    }

    for blind in ("blind", "blind-2"):
        others = set().union(*(halves[half] for half in HALVES if half != blind))
        assert len(halves[blind]) == sum(row["half"] == blind for row in read_labels()) > 8
        assert not halves[blind] & others


def test_wildcards_stay_within_the_families_that_were_labelled() -> None:
    wrong = [row["repository"] for row in read_labels() if not row.get("nets", {}).keys() <= set(_labelled(row))]
    assert wrong == []


def _labelled(row: Mapping[str, Any]) -> Iterable[str]:
    labelled: Iterable[str] = row.get("families", [family.id for family in families()])
    return labelled

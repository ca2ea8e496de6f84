"""Rows of a type that is neither core nor prepreg are named, not counted as missing."""

from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from tests.support.mini import mini_file
from tests.support.stackups import FOUR_LAYERS


@pytest.mark.parametrize(("kind", "finds"), [("prepreg", []), ("bondply", ['of type "bondply", neither core nor'])])
def test_a_row_of_unknown_type_is_named(tmp_path: Path, kind: str, finds: list[str]) -> None:
    """KiCad 10 loads and keeps such a type; the first dielectric of four layers is meant."""
    path = mini_file(tmp_path, {"stackup": FOUR_LAYERS}, "b")
    text = path.read_text(encoding="utf-8")
    assert '(type "prepreg")' in text
    path.write_text(text.replace('(type "prepreg")', f'(type "{kind}")', 1), encoding="utf-8")

    found = [one.title for one in check_board(path).findings if one.code == "STK003"]

    assert len(found) == len(finds)
    assert all(words in title for words, title in zip(finds, found, strict=True))
    assert not any("no dielectric" in title for title in found)

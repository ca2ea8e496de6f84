"""How a seed is made and counted, on a board of our own; the public boards themselves need the network."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from drc_rules.settings.config import parse_config
from stackup_lib.kicad import read_board
from tests.corpus import recall
from tests.corpus.nets import entry_of
from tests.corpus.seeds.ground import Ground, Kind


@pytest.fixture(scope="module")
def ground(demo_boards: Path) -> tuple[Ground, Path]:
    board = demo_boards / "cm5_minima" / "CM5_MINIMA_3.kicad_pcb"
    row = {"repository": "kicad/demos", "path": board.name, "commit": "", "sha256": ""}
    generation = tomllib.loads(recall.BOARDS.read_text(encoding="utf-8"))["generation"]
    return recall.ground_of(entry_of(row), board, generation)[0], board


def kind_of(name: str) -> Kind:
    return next(kind for kind in recall.KINDS if kind.name == name)


@pytest.mark.demo
def test_a_seed_changes_one_thing_and_is_caught_where_it_is(ground: tuple[Ground, Path], tmp_path: Path) -> None:
    made, board = ground
    kind = kind_of("annular ring of 0.02 mm")
    seed = next(iter(kind.make(made)))
    path = recall.written(made, seed, board, tmp_path)
    before, after = read_board(board).vias, read_board(path).vias
    assert [k for k in range(len(before)) if before.size_mm[k] != after.size_mm[k]] == [
        k for k in range(len(before)) if before.uuid[k] in seed.names
    ]
    config = parse_config("")
    row = recall.judged(made, kind, seed, recall.said_of(path, config, kind), "yes")
    assert (row.outcome, row.off_mm) == (recall.NEW, "0.00")


@pytest.mark.demo
def test_a_finding_elsewhere_does_not_count(ground: tuple[Ground, Path], tmp_path: Path) -> None:
    made, board = ground
    kind = kind_of("annular ring of 0.02 mm")
    seed = next(iter(kind.make(made)))
    said = recall.said_of(recall.written(made, seed, board, tmp_path), parse_config(""), kind)
    assert seed.at is not None
    elsewhere = seed.model_copy(update={"at": (seed.at[0] + 9, seed.at[1]), "names": frozenset({"another object"})})
    assert recall.judged(made, kind, elsewhere, said, "yes").outcome == recall.MISSED


@pytest.mark.demo
def test_the_lot_is_the_same_in_every_run(ground: tuple[Ground, Path]) -> None:
    made, _ = ground
    for kind in recall.KINDS:
        one, other = (next(iter(kind.make(made)), None) for _ in range(2))
        assert one == other, kind.name


def test_the_table_counts_only_new_findings_as_caught() -> None:
    rows = [
        recall.Row("b", "k", "FAB002", outcome, "", "", "yes", "2026-01-01")
        for outcome in (recall.NEW, recall.JOINED, recall.MISSED, recall.UNDECIDED)
    ]
    assert recall.table(rows)[-1] == "| all |  | 4 | 1 | 1 | 1 | 25.0 (4.6 to 69.9) |"


def test_the_boards_are_of_one_author_each_and_the_rows_of_these_boards() -> None:
    entries = [entry_of(row) for row in tomllib.loads(recall.BOARDS.read_text(encoding="utf-8"))["board"]]
    authors = Counter(entry.repository.split("/")[0] for entry in entries)
    assert max(authors.values()) == 1
    assert all(
        re.fullmatch(r"[0-9a-f]{40}", one.commit) and re.fullmatch(r"[0-9a-f]{64}", one.sha256) for one in entries
    )
    assert {row.board for row in recall.read_rows()} <= {entry.name for entry in entries}


def test_at_least_200_seeds_of_30_kinds_on_20_boards_were_measured_and_kicad_opened_each() -> None:
    rows = recall.read_rows()
    seeds = [row for row in rows if row.rule]
    assert len(seeds) >= 200
    assert len({row.kind for row in seeds}) >= 30
    assert len({row.board for row in seeds}) >= 20
    assert {row.opens for row in rows} == {"yes"}


def test_every_miss_is_explained_and_no_explanation_is_left_over() -> None:
    rows = [row for row in recall.read_rows() if row.outcome == recall.MISSED]
    told = tomllib.loads(recall.BOARDS.read_text(encoding="utf-8"))["miss"]
    assert [row for row in rows if not recall.why_missed(row)] == []
    assert {(one["board"], one["rule"]) for one in told} == {(row.board, row.rule) for row in rows}

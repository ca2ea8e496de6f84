"""The title block of a board file, as KiCad writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackup_lib.kicad.read.title_block import TitleBlock, read_title_block, title_block

BLOCK = b"""(kicad_pcb
\t(paper "A4")
\t(title_block
\t\t(title "Carrier (dual \\"A\\")")
\t\t(date "2031-05-01")
\t\t(rev "1.1.0")
\t\t(company "Example Ltd")
\t\t(comment 1 "a (b")
\t)
\t(layers))"""


def test_every_field_is_read_with_its_quotes_and_parentheses() -> None:
    assert title_block(BLOCK) == TitleBlock(
        title='Carrier (dual "A")', date="2031-05-01", rev="1.1.0", company="Example Ltd"
    )


@pytest.mark.parametrize(
    "text", [b"", b"(kicad_pcb (layers))", b'(kicad_pcb (title_block (title "cut off', b"\xff(title_block"]
)
def test_none_is_empty(text: bytes) -> None:
    assert title_block(text) == TitleBlock()


def test_a_file_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert read_title_block(tmp_path / "gone.kicad_pcb") == TitleBlock()

"""Lines of byte offsets, against counting every line feed."""

from __future__ import annotations

import pytest

from stackup_lib.core.files.line_numbers import LineNumbers

TEXTS = [b"", b"a", b"\n", b"a\nb\r\nc", b"\n" * 70_000, b"x" * 65_535 + b"\n" + b"y" * 65_536]


@pytest.mark.parametrize("text", TEXTS)
def test_every_offset_has_the_line_that_counting_gives(text: bytes) -> None:
    """Also at the borders of blocks, at the end of the text and past it."""
    lines = LineNumbers(text)
    borders = {at + step for at in (0, 1 << 16, 1 << 17, len(text)) for step in (-2, -1, 0, 1, 2)}
    for offset in sorted(borders | set(range(0, len(text), 997))):
        if offset >= 0:
            assert lines.of(offset) == text[:offset].count(b"\n") + 1


def test_an_offset_before_the_text_is_on_its_first_line() -> None:
    """What has no place gets no line below 1."""
    assert LineNumbers(b"\n\n").of(-5) == 1

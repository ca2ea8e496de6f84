"""From a byte offset in a text to its line; line feeds of a large file are counted by blocks, not kept one by one."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 16


class LineNumbers:
    """The lines of a text, which it keeps; nothing is counted before the first question.

    Args:
        text: UTF-8 or anything else in which a line feed is one byte.
    """

    def __init__(self, text: bytes = b"") -> None:
        self._text = text

    @property
    def text(self) -> bytes:
        """The text, for what is read only when needed."""
        return self._text

    def of(self, offset: int) -> int:
        """Return the 1-based line of a byte offset: one more than the line feeds before it."""
        block = max(0, min(offset, len(self._text))) // _BLOCK
        return int(self._before[block]) + self._text.count(b"\n", block * _BLOCK, max(0, offset)) + 1

    @cached_property
    def _before(self) -> NDArray[np.int64]:
        """Line feeds before each block."""
        is_feed = np.frombuffer(self._text, dtype=np.uint8)
        starts = range(0, len(is_feed), _BLOCK)
        counts = [int(np.count_nonzero(is_feed[start : start + _BLOCK] == ord("\n"))) for start in starts]
        return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])

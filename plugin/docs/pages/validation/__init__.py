"""What the physics and the rules were held against: reference values, public boards, and what was missed."""

from __future__ import annotations

from collections.abc import Iterator

from docs.pages.markdown import Page
from docs.pages.validation import physics, public_boards


def pages() -> Iterator[Page]:
    """The pages on physics, then those on public boards."""
    yield from physics.pages()
    yield from public_boards.pages()

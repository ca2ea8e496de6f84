"""Ctrl-C that is still heeded where a library has turned it into an error of its own.

pydantic does, while it builds a model: what is raised then is a `SchemaError` that names `KeyboardInterrupt`.
"""

from __future__ import annotations

import signal
from types import FrameType


class _Interrupts:
    seen = False


def watch_interrupts() -> None:
    """Remember that Ctrl-C was pressed, from now on; a process that ignores it goes on ignoring it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _remember)


def raise_if_interrupted() -> None:
    """To be called where any error is caught.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed, so the error is no defect.
    """
    if _Interrupts.seen:
        raise KeyboardInterrupt


def _remember(number: int, frame: FrameType | None) -> None:
    _Interrupts.seen = True
    signal.default_int_handler(number, frame)

"""A check that is watched: where its time goes, and a progress line on a terminal when it takes long."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, TypeVar

from drc_rules.rules.rule import all_rules
from stackup_lib.core.stopwatch import Stopwatch, measuring
from stackwright.run.processes import is_one_of_several

if TYPE_CHECKING:
    from rich.status import Status

Item = TypeVar("Item")
SHOWN_AFTER_S = 2.0
"""What takes longer says on the terminal what it is at."""


class ProgressLine:
    """A line that appears on the error stream after `SHOWN_AFTER_S` and names the step of work that runs.

    `begin` is the timer's; `end` takes the line away.
    """

    def __init__(self, title: str) -> None:
        self.title, self.doing = title, ""
        self.status: Status | None = None
        self.timer = Timer(SHOWN_AFTER_S, self.begin)
        self.timer.daemon = True

    def begin(self) -> None:
        """Show the line."""
        from rich.console import Console

        status = Console(stderr=True, highlight=False, markup=False).status(self.text())
        status.start()
        self.status = status

    def tell(self, name: str) -> None:
        """Say what runs now: a rule by its name."""
        self.doing = step_words(name)
        if self.status is not None:
            self.status.update(self.text())

    def say(self, title: str) -> None:
        """Say something else from now on."""
        self.title = title
        if self.status is not None:
            self.status.update(self.text())

    def text(self) -> str:
        """The line."""
        return f"{self.title}: {self.doing}" if self.doing else self.title

    def end(self) -> None:
        """Take the line away, and never show it later."""
        self.timer.cancel()
        if self.timer.is_alive():
            self.timer.join()
        if self.status is not None:
            self.status.stop()


def step_words(name: str) -> str:
    """Say what is done in a step of a check: `checking copper near edge` of a rule's code."""
    rule = next((one for one in all_rules() if one.code == name), None)
    return f"checking {rule.name.replace('-', ' ')}" if rule else name


@contextmanager
def watched(title: str) -> Iterator[Stopwatch]:
    """Measure the block; on a terminal, and only there, say on the error stream what takes more than two seconds.

    One of several processes says nothing: they would write over each other.
    """
    if not sys.stderr.isatty() or is_one_of_several():
        with measuring(Stopwatch()) as watch:
            yield watch
        return
    progress = ProgressLine(title)
    progress.timer.start()
    try:
        with measuring(Stopwatch(tell=progress.tell)) as watch:
            yield watch
    finally:
        progress.end()


def counted(items: Iterable[Item], total: int, what: str = "boards checked") -> Iterator[Item]:
    """Yield what has been done; on a terminal, say on the error stream how much of it, after two seconds.

    Args:
        items: boards checked, one after the other.
        total: how many there will be.
        what: they are, and what is done with them.
    """
    if not sys.stderr.isatty():
        yield from items
        return
    progress = ProgressLine(f"0 of {total} {what}")
    progress.timer.start()
    try:
        for number, item in enumerate(items, start=1):
            yield item
            progress.say(f"{number} of {total} {what}")
    finally:
        progress.end()


def shares_of(watch: Stopwatch) -> dict[str, float]:
    """Return seconds by name, the longest first: reading, materials, links, solving, each rule's own, and the rest."""
    return dict(sorted(watch.seconds.items(), key=lambda row: (-row[1], row[0])))


def timing_lines(seconds: Mapping[str, float], background_s: float = 0.0, failures: Iterable[str] = ()) -> str:
    """Return the shares as lines for a person, ending with a line break.

    Args:
        seconds: by name.
        background_s: seconds of these that another process worked.
        failures: why work in the background failed, so that it was done twice.
    """
    total = sum(seconds.values())
    title = f"timing: {total:.3f} s" + (
        f" of work, {background_s:.3f} s of it in a second process" if background_s else ""
    )
    rows = [f"  {name:<10} {value:8.3f} s {100 * value / total:5.1f} %" for name, value in seconds.items() if total]
    failed = [f"  background work failed and was done again: {why}" for why in failures]
    return "\n".join([title, *rows, *failed, ""])

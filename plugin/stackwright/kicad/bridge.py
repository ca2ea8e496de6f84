"""One question at a time to KiCad, each with an end: whatever KiCad does, the page gets an answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from stackup_lib.core.errors import StackwrightError
from stackwright.kicad.errors import ENDED, TRY_AGAIN, KicadEndedError, KicadError, NeverSavedError
from stackwright.kicad.live import AGAIN

T = TypeVar("T")
QUEUE_S = 5.0
"""How long a question waits for the one before it."""

QUICK_S = 15.0
"""How long KiCad may take for a selection: without a graphics card it draws a large board for some seconds."""

GRACE_S = 2.0
LOOK_EVERY_S = 0.5


class Reached(Protocol):
    """A board that questions are put to; it knows where it is saved."""

    path: Path

    def hang_up(self) -> None:
        """End the question that is on its way."""


B = TypeVar("B", bound=Reached)


class Bridge(Generic[B]):
    """Asks about one board; refuses when another one is open.

    Attributes:
        has_ended: the KiCad of this session has ended; that stays so, even where another one has its address by now.
    """

    def __init__(self, connect: Callable[[float], B], path: Path) -> None:
        self._connect = connect
        self._path = path
        self.has_ended = False
        self._turn = threading.Lock()

    def ask(self, question: Callable[[B], T], timeout_s: float = QUICK_S) -> T:
        """Put a question to the board within a time.

        Raises:
            KicadError: KiCad is busy, silent or gone, or shows another board.
        """
        if not self._turn.acquire(timeout=QUEUE_S):
            raise KicadError("KiCad", "is still busy with the last request", f"wait until it is idle, then {TRY_AGAIN}")
        boards: list[B] = []
        answers: list[T] = []
        errors: list[BaseException] = []

        def put() -> None:
            try:
                board = self._connect(timeout_s)
                boards.append(board)
                if self.has_ended:
                    raise KicadEndedError(*ENDED)
                self._refuse_other(board.path)
                answers.append(question(board))
            except BaseException as error:
                errors.append(error)
            finally:
                self._turn.release()

        asker = threading.Thread(target=put, daemon=True)
        asker.start()
        self._wait(asker, boards, timeout_s + GRACE_S)
        if errors:
            self.has_ended = self.has_ended or isinstance(errors[0], KicadEndedError)
            raise self._for_the_page(errors[0])
        if not answers and self.has_ended:
            raise KicadEndedError(*ENDED)
        if not answers:
            what = f"did not answer within {timeout_s:g} s"
            raise KicadError("KiCad", what, f"wait until it is idle and close open windows, then {TRY_AGAIN}")
        return answers[0]

    def _wait(self, asker: threading.Thread, boards: list[B], seconds: float) -> None:
        """Return when a question is answered, or some time is over; one to a KiCad that ends is broken off."""
        end = time.monotonic() + seconds
        is_broken_off = False
        while asker.is_alive() and time.monotonic() < end:
            asker.join(LOOK_EVERY_S)
            if self.has_ended and not boards:
                return
            if self.has_ended and not is_broken_off:
                boards[0].hang_up()
                is_broken_off = True

    @property
    def is_free(self) -> bool:
        """True when no question waits for its answer."""
        return not self._turn.locked()

    def _refuse_other(self, path: Path) -> None:
        if path != self._path:
            raise self._another(path.name)

    def _another(self, name: str) -> KicadError:
        step = f"open {self._path.name} there, or press the button for the board that is open"
        return KicadError("KiCad", f"shows another board now ({name})", step)

    def _for_the_page(self, error: BaseException) -> BaseException:
        """The page has buttons of its own, and a board that had a file when it came."""
        if isinstance(error, NeverSavedError):
            return self._another("a new one without a file")
        if isinstance(error, StackwrightError) and AGAIN in error.next_step:
            return KicadError(error.where, error.what, error.next_step.replace(AGAIN, TRY_AGAIN))
        return error

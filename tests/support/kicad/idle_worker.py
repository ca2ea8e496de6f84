"""Stands for the worker behind KiCad's page, in a check that takes for ever."""

from __future__ import annotations

import time
from collections.abc import Mapping

from stackwright.kicad import worker


def _idle(job: Mapping[str, str]) -> dict[str, object]:
    worker._say("doing", "waiting" if job else "nothing")
    time.sleep(900)
    return {}


if __name__ == "__main__":
    worker._check = _idle
    worker.main()

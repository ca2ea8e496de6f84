"""How long the search takes. Run: `python tests/bench/bench_synthesis.py`."""

from __future__ import annotations

import sys
import time

from stackup_lib.materials import FoilGrade, catalogue
from stackup_lib.synthesis import DfLimit, Goals, LineGoal, suggest
from stackup_lib.transmission_lines.width_request import Target

LINES = (
    LineGoal(name="pair", target=Target(ohm=85, kind="differential"), nyquist_ghz=16),
    LineGoal(name="single", target=Target(ohm=50), where="outer"),
)


def goals_of(layers: int, fast: int, power: int, thickness_mm: float) -> Goals:
    """Return training-like goals."""
    return Goals(
        layer_count=layers,
        fast_layers=fast,
        other_signal_layers=4,
        power_planes=power,
        thickness_mm=thickness_mm,
        drill_mm=0.3,
        foil=FoilGrade.HVLP,
        df_limit=DfLimit(max=0.005),
        lines=LINES,
    )


def main() -> None:
    """Print seconds of processor time per search."""
    catalogue()
    for layers, fast, power, thickness_mm in ((16, 4, 2, 1.57), (28, 6, 6, 3.2), (32, 8, 6, 3.2)):
        begin = time.process_time()
        found = suggest(goals_of(layers, fast, power, thickness_mm))
        seconds = time.process_time() - begin
        sys.stdout.write(f"{layers} layers: {len(found.ranked)} answers, {len(found.lost)} lost, {seconds:.2f} s\n")


if __name__ == "__main__":
    main()

"""What fabs make, in tiers, and the tolerances of their processes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import get_args

import drc_rules.requirements.fabs
from docs.pages.forms import document_link
from docs.pages.markdown import Page, code, page, prose, table, title
from drc_rules.requirements.fabs import Tier, track_space_source, track_spaces
from drc_rules.requirements.fabs.holes import HoleKind, backdrill_clearance_mm, max_aspect_ratio
from drc_rules.requirements.fabs.presets import presets
from drc_rules.requirements.fabs.process import typical_processes

FOLDER = Path(drc_rules.requirements.fabs.__file__).parent
COMMENTED = re.compile(r"((?:^# .*\n)+)\[(\w+)\]", re.MULTILINE)
TIERS = tuple(Tier)


def pages() -> Iterator[Page]:
    """One page with all tables."""
    header = ("", *(tier.value for tier in TIERS))
    ratios = [(k, *(f"{max_aspect_ratio(k, tier):g}" for tier in TIERS)) for k in get_args(HoleKind)]
    clearance = ("backdrill to copper, mm", *(f"{backdrill_clearance_mm(tier):g}" for tier in TIERS))
    tracks = [(f"{row.copper_oz:g}", *(f"{row.least_mm(tier):g}" for tier in TIERS)) for row in track_spaces()]
    yield page(
        "fabs/index",
        title("Fabs"),
        "What fabs make, in three tiers: past the best is an error, past advanced a warning, past standard "
        "information. What your own fab states takes the place of the tiers: see `[fab]` under "
        "[settings](/settings/index.md).",
        title("Limits", 2),
        table(("limit", *header[1:], "from"), _limits()),
        title("Aspect ratios", 2),
        prose(_head_comment(FOLDER / "holes.toml")),
        table(("hole, depth over diameter", *header[1:]), [*ratios, clearance]),
        title("Inner tracks and spaces, mm", 2),
        f"Source: {document_link(track_space_source())}.",
        table(("copper, oz", *header[1:]), tracks),
        title("Tolerances of processes", 2),
        prose(_head_comment(FOLDER / "process.toml")),
        *_processes(),
        title("Presets of a process", 2),
        prose(_head_comment(FOLDER / "presets.toml")),
        *_presets(),
    )


def _limits() -> Iterator[tuple[str, ...]]:
    text = (FOLDER / "limits.toml").read_text(encoding="utf-8")
    said = {found[2]: _joined(found[1]) for found in COMMENTED.finditer(text)}
    for name, tiers in tomllib.loads(text).items():
        yield code(name), *(_shown(tiers.get(tier.value)) for tier in TIERS), prose(said.get(name, ""))


def _processes() -> Iterator[str]:
    for tier, typical in typical_processes().items():
        yield title(tier.value.capitalize(), 3)
        rows = []
        for name, source in typical.sources.items():
            tolerance = typical.process.model_dump()[name]
            rows.append((code(name), prose(_tolerance(tolerance)), prose(source.text)))
        yield table(("of", "±", "from"), rows)


def _presets() -> Iterator[str]:
    for name, preset in presets().items():
        yield title(preset.fab, 3)
        taken = f'preset = "{name}"'
        yield f"{code(taken)} under `[process]`."
        rows = [(code(key), f"{value:g}", prose(preset.sources[key].text)) for key, value in preset.values.items()]
        yield table(("key", "value", "from"), rows)


def _tolerance(found: Mapping[str, float | None]) -> str:
    """Half the width of a tolerance: a share, a length, or the larger of both."""
    share, length = found.get("relative") or 0.0, found.get("absolute_mm") or 0.0
    words = [f"{share * 100:g} %"] * (share > 0) + [f"{length:g} mm"] * (length > 0)
    return ", or ".join(words) + (", whichever is more" if len(words) > 1 else "")


def _shown(value: object) -> str:
    if isinstance(value, list):
        return " x ".join(_shown(part) for part in value)
    return "" if value is None else f"{value:g}" if isinstance(value, int | float) else str(value)


def _head_comment(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    end = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    return _joined("\n".join(lines[:end]))


def _joined(comment: str) -> str:
    return " ".join(line.lstrip("# ") for line in comment.splitlines())

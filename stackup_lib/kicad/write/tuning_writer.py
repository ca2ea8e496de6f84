"""Widths and gaps of KiCad 10's tuning profiles into the bytes of a `.kicad_pro`; every other byte of it stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stackup_lib.board.planned import PlannedTuning
from stackup_lib.kicad.write.json_spans import JsonDocument

PROFILES = ("tuning_profiles", "tuning_profiles_impedance_geometric")
LAYERS = "layer_entries"
NM_PER_MM = 1_000_000


def set_tuning(text: bytes, rows: Iterable[PlannedTuning], *, label: str = "the project") -> bytes:
    """Return a project's bytes with these sizes in its tuning profiles.

    Raises:
        NotWrittenError: the project is no JSON of the expected shape, or has no such profile or layer.
    """
    document = JsonDocument.of(text, label)
    changed = False
    for row in rows:
        places = list(_entries(document, row))
        if not places:
            raise document.error(f'has no tuning profile "{row.profile}" with a row of {row.layer}')
        sizes = {"width": row.width_mm} | ({} if row.gap_mm is None else {"diff_pair_gap": row.gap_mm})
        for path in places:
            for key, size_mm in sizes.items():
                size_nm = round(size_mm * NM_PER_MM)
                if document.value((*path, key)) != size_nm:
                    document, changed = document.with_member(path, key, size_nm), True
    return document.encoded() if changed else text


def _entries(document: JsonDocument, row: PlannedTuning) -> Iterator[tuple[str | int, ...]]:
    """Yield the places of a profile's rows of a layer."""
    profiles = document.value(PROFILES)
    for at, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        if not isinstance(profile, dict) or profile.get("profile_name") != row.profile:
            continue
        entries = profile.get(LAYERS)
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict) and entry.get("signal_layer") == row.layer:
                yield (*PROFILES, at, LAYERS, number)

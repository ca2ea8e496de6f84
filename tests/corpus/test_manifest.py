"""The manifest names each board once, by what git and a hash can verify."""

from __future__ import annotations

import re

from tests.corpus.manifest import read_manifest


def test_every_board_is_named_once_and_can_be_verified() -> None:
    entries = read_manifest()
    assert entries == sorted(entries)
    assert len({entry.name for entry in entries}) == len({entry.sha256 for entry in entries}) == len(entries) > 300
    wrong = [
        entry.name
        for entry in entries
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", entry.repository)
        or not re.fullmatch(r"[0-9a-f]{40}", entry.commit)
        or not re.fullmatch(r"[0-9a-f]{64}", entry.sha256)
        or not re.fullmatch(r"([0-9a-f]{64})?", entry.project_sha256)
        or not entry.path.endswith(".kicad_pcb")
        or not entry.licence
        or entry.layers < 1
    ]
    assert wrong == []

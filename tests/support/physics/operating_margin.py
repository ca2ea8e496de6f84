"""Operating margins of channels as a reference works them out, and ours."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from drc_rules.analysis.channels.link_com import REACH, link_margin, reference_channel
from drc_rules.analysis.lines import solved_lines
from drc_rules.analysis.loss.link_loss import LinkLosses
from drc_rules.analysis.loss.sparameters.link_network import REFERENCE_OHM, link_network
from drc_rules.analysis.via import high_speed_vias
from drc_rules.facts.context import Context
from drc_rules.requirements.interfaces import interface
from fixtures.miniboard import MiniBoard, write
from stackup_lib.channels.com import Margin, margin
from stackup_lib.channels.crosstalk import Aggressor
from stackup_lib.channels.pulse import symbol_grid_ghz
from stackup_lib.channels.reference import ReferenceChannel
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.materials import Match
from stackup_lib.transmission_lines import pair_crosstalk
from stackup_lib.transmission_lines.four_port import mixed_modes
from stackup_lib.transmission_lines.materials.dielectric_models import DielectricSample
from stackup_lib.transmission_lines.materials.laminate_models import samples_of
from stackup_lib.transmission_lines.pair_crosstalk import PairCoupling
from stackup_lib.transmission_lines.two_port import barrel_chain, in_a_row, open_stub_chain, s_of_chain
from stackup_lib.vias.plated_holes import PlatedHole
from stackwright.commands.request import BoardRequest
from tests.support.once_per_run import once_per_run
from tests.support.physics.coupled_ways import aggressor_of, way_of
from tests.support.small_boards.crowded import crowded

FIXTURES = Path(__file__).parents[3] / "fixtures"
FILE: dict[str, Any] = tomllib.loads(
    (FIXTURES / "reference" / "operating_margin_cases.toml").read_text(encoding="utf-8")
)
KINDS = {"line": barrel_chain, "stub": open_stub_chain}


@record
class Compared:
    """One margin: theirs in dB with the setting that it has chosen and its figure of merit, and ours."""

    name: str
    package_mm: float
    their_db: float
    their_merit_db: float
    their_setting: tuple[float, float, float]
    ours: Margin

    @property
    def setting(self) -> tuple[float, float, float]:
        """Gain of the CTLE, taps before and behind the cursor."""
        return self.ours.gain_db, self.ours.pre, self.ours.post


def _reference() -> ReferenceChannel:
    found = interface("eth25g").reference_channel
    assert found is not None
    return found


def _compared(
    case: dict[str, Any], ghz: np.ndarray, channel: np.ndarray, aggressors: Sequence[Aggressor] = ()
) -> list[Compared]:
    return [
        Compared(
            name=case["id"],
            package_mm=theirs["package_mm"],
            their_db=theirs["com_db"],
            their_merit_db=theirs["merit_db"],
            their_setting=(theirs["gain_db"], theirs["pre"], theirs["post"]),
            ours=margin(ghz, channel, _reference(), theirs["package_mm"], REFERENCE_OHM, aggressors),
        )
        for theirs in case["theirs"]
    ]


@once_per_run
def channels() -> tuple[Compared, ...]:
    """Channels of lines and stubs."""
    reference = _reference()
    ghz = symbol_grid_ghz(reference.symbol_gbd, REACH * reference.symbol_gbd, reference.step_ghz)
    found = []
    for case in FILE["channel"]:
        parts = (KINDS[p["kind"]](ghz, p["mm"], p["ohm"], p["dk"], p["df"]) for p in case["parts"])
        found += _compared(case, ghz, s_of_chain(in_a_row(parts, len(ghz)), REFERENCE_OHM))
    return tuple(found)


def _opening_given(ctx: Context, hole: PlatedHole, _read_mm: object) -> Interval:
    """Return the opening of planes in the files that the other program was given: 0.2 mm or more around the pad."""
    return Interval.exact(hole.pad_mm + 2 * max(ctx.board.project.clearance_mm(ctx.board.nets[hole.net]) or 0.0, 0.2))


def _points_given(match: Match) -> tuple[DielectricSample, ...]:
    """Return the printed points alone: in the files that the other program was given, Df stayed above the last one."""
    return tuple(sample for sample in samples_of(match) if sample.printed)


@patch.object(solved_lines, "samples_of", _points_given)
@patch.object(high_speed_vias, "opening_mm", _opening_given)
def link_margins(folder: Path) -> list[Compared]:
    """Routes of our own boards, declared as the interface; `folder` takes their settings."""
    reference = _reference()
    ghz = symbol_grid_ghz(reference.symbol_gbd, REACH * reference.symbol_gbd, reference.step_ghz)
    found = []
    for case in FILE["link"]:
        board = FIXTURES / "boards" / case["board"]
        settings = (board / "stackwright.toml").read_text(encoding="utf-8")
        settings = re.sub(r'is = "(pcie\d|nvlink5)"', 'is = "eth25g"', settings)
        settings = re.sub(r"(?m)^(board|package)_loss_db = .*$", 'role = "medium"', settings)
        config = folder / f"{case['board']}.toml"
        config.write_text(settings, encoding="utf-8")
        ctx = BoardRequest(config=config).context_of(board / f"{case['board']}.kicad_pcb")
        links = LinkLosses(ctx).of("eth25g", declared=True).known
        (link,) = (one for one in links if case["net"] in one.name)
        assert reference_channel(ctx, link) == reference
        found += _compared(case, ghz, mixed_modes(link_network(ctx, link, ghz).s)[:, :2, :2])
    return found


@once_per_run
def disturbed_channels() -> tuple[Compared, ...]:
    """Channels with aggressors next to them."""
    reference = _reference()
    ghz = symbol_grid_ghz(reference.symbol_gbd, REACH * reference.symbol_gbd, reference.step_ghz)
    found = []
    for case in FILE["crosstalk"]:
        way = way_of(case["parts"], ghz)
        found += _compared(case, ghz, way.s, [aggressor_of(way, row) for row in case["aggressors"]])
    return tuple(found)


def _given(_site: object, _width_mm: float, _gaps_mm: object, between_mm: float) -> PairCoupling:
    """Return the coupling that the other program was given."""
    (row,) = (row for row in FILE["coupling"] if row["between_mm"] == pytest.approx(between_mm))
    return PairCoupling(row["inductive"], row["capacitive"], row["delay_ps_per_mm"])


@patch.object(solved_lines, "samples_of", _points_given)
@patch.object(pair_crosstalk, "pair_coupling", _given)
def disturbed_links(folder: Path) -> list[Compared]:
    """Links with neighbours, coupled as in the files that the other program was given; `folder` takes their board."""
    reference = _reference()
    ghz = symbol_grid_ghz(reference.symbol_gbd, REACH * reference.symbol_gbd, reference.step_ghz)
    ctx = BoardRequest().context_of(write(MiniBoard.model_validate(crowded()), folder, "crowded"))
    links = {link.name: link for link in LinkLosses(ctx).of("eth25g", declared=True).known}
    found = []
    for case in FILE["crowd"]:
        link = links[case["net"]]
        margins = link_margin(ctx, link, reference)
        assert margins is not None
        channel = mixed_modes(link_network(ctx, link, ghz).s)[:, :2, :2]
        found += _compared(case, ghz, channel, [one.aggressor for one in margins.neighbours])
    return found

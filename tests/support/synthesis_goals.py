"""Goals of an edge board, a card and a baseboard, and of a training board, for the search for stackups."""

from __future__ import annotations

from stackup_lib.board.board import LayerKind
from stackup_lib.materials import FoilGrade
from stackup_lib.synthesis import CandidateRow, CandidateStackup, DfLimit, Goals, LineGoal
from stackup_lib.synthesis.arrange import Order
from stackup_lib.synthesis.candidates import USES
from stackup_lib.transmission_lines.width_request import Target

DIFF_85 = Target(ohm=85, kind="differential")
EDGE = Goals(
    layer_count=8,
    fast_layers=2,
    other_signal_layers=2,
    thickness_mm=1.6,
    laminates=("370HR", "S1000-2M"),
    lines=(LineGoal(name="PCIe Gen3", target=DIFF_85, nyquist_ghz=4, longest_mm=100, loss_budget_db=6),),
)
CARD = Goals(
    layer_count=16,
    fast_layers=4,
    other_signal_layers=4,
    power_planes=2,
    thickness_mm=1.57,
    foil=FoilGrade.HVLP,
    df_limit=DfLimit(max=0.004),
    laminates=("Megtron 6", "Megtron 7(N)", "I-Tera MT40", "370HR"),
    lines=(
        LineGoal(name="PCIe Gen5", target=DIFF_85, nyquist_ghz=16, longest_mm=150, loss_budget_db=9),
        LineGoal(name="50 ohm", target=Target(ohm=50), where="outer"),
    ),
)
BASEBOARD = Goals(
    layer_count=28,
    fast_layers=6,
    other_signal_layers=4,
    power_planes=6,
    power_copper_oz=2,
    thickness_mm=3.2,
    drill_mm=0.3,
    foil=FoilGrade.HVLP,
    df_limit=DfLimit(max=0.002),
    laminates=("Megtron 7(N)", "Megtron 8(N)"),
    max_stub_mm=0.3,
    lines=(LineGoal(name="NVLink", target=DIFF_85, nyquist_ghz=25),),
)
ALL = {"edge": EDGE, "card": CARD, "baseboard": BASEBOARD}
PAIR = LineGoal(name="pair", target=DIFF_85, nyquist_ghz=16)
TRAINING = Goals(
    layer_count=20,
    fast_layers=4,
    other_signal_layers=4,
    power_planes=4,
    power_copper_oz=2,
    thickness_mm=2.6,
    drill_mm=0.25,
    foil=FoilGrade.HVLP,
    df_limit=DfLimit(max=0.004),
    max_stub_mm=0.25,
    lines=(PAIR,),
)


def candidate(layers: str) -> CandidateStackup:
    """A stackup of these layers (O outer, G ground, F fast, S signal, P power), cores and prepregs in turn."""
    rows = []
    for k, letter in enumerate(layers):
        name = "F.Cu" if k == 0 else "B.Cu" if k == len(layers) - 1 else f"In{k}.Cu"
        rows.append(CandidateRow(kind=LayerKind.COPPER, name=name, use=USES[letter], thickness_mm=0.035))
        kind = LayerKind.PREPREG if k % 2 == 0 else LayerKind.CORE
        rows.append(CandidateRow(kind=kind, name=f"dielectric {k + 1}", thickness_mm=0.1, construction="370HR", dk=4.0))
    gaps = "".join("pc"[k % 2] for k in range(len(layers) - 1))
    return CandidateStackup(rows=tuple(rows[:-1]), order=Order(layers=layers, gaps=gaps, pattern="test"))

"""From goals to ranked stackups that can be built of what laminate makers sell."""

from stackup_lib.materials.df_limit import DfLimit
from stackup_lib.synthesis.best_first import Relaxation
from stackup_lib.synthesis.candidates import CandidateRow, CandidateStackup, to_planned
from stackup_lib.synthesis.change import Change, LeastChange, least_change
from stackup_lib.synthesis.cost import Cost
from stackup_lib.synthesis.evaluate import Evaluated, Judge, LineResult
from stackup_lib.synthesis.goals import Goals, LaidOut, LineGoal, RoutedSize, TgLimit
from stackup_lib.synthesis.rejected import RejectedGroup
from stackup_lib.synthesis.search import Answers, suggest

__all__ = [
    "Answers",
    "CandidateRow",
    "CandidateStackup",
    "Change",
    "Cost",
    "DfLimit",
    "Evaluated",
    "Goals",
    "Judge",
    "LaidOut",
    "LeastChange",
    "LineGoal",
    "LineResult",
    "RejectedGroup",
    "Relaxation",
    "RoutedSize",
    "TgLimit",
    "least_change",
    "suggest",
    "to_planned",
]

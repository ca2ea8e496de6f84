"""A small board of six layers on the plies of one laminate, with a choice of planes."""

from __future__ import annotations

import tomllib
from pathlib import Path

from drc_rules.engine.check import prepare
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import parse_config
from tests.support.mini import mini_board

SIX = '''
size_mm = [60, 40]
stackup = """
mask 0.015
F.Cu 0.035
prepreg 0.10 "370HR 2116" dk=4.1
In1.Cu 0.015
core 0.20 "370HR" dk=4.4
In2.Cu 0.015
prepreg 0.08 "370HR 1080" dk=3.8
prepreg+ 0.12 "370HR 2116" dk=4.0
In3.Cu 0.015
core 0.30 "370HR" dk=4.5
In4.Cu 0.015
prepreg 0.10 "370HR 2116" dk=4.1
B.Cu 0.035
mask 0.015 dk=3.3
"""
'''
GROUNDS = 'planes = { "In1.Cu" = "GND", "In3.Cu" = "+3V3", "In4.Cu" = "GND" }\n'


def mini(folder: Path, extra: str = GROUNDS, *, config: str = "") -> Context:
    board = mini_board(folder, tomllib.loads(SIX + extra))
    return prepare(board, parse_config(config), Overrides())[0]

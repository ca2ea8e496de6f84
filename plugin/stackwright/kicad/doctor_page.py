"""`stackwright kicad doctor`: why there is no button in KiCad, and what to do."""

from __future__ import annotations

from stackwright.kicad.doctor import BAD, MIND, OK, diagnose
from stackwright.text.output import show
from stackwright.text.page import Page, styled, terminal_console

MARKS = {OK: ("ok", "green"), BAD: ("FAULT", "bold red"), MIND: ("hint", "dim")}

HEALTHY = "nothing is wrong: the button is at the right end of the toolbar; if it is not, start KiCad again"


def examine() -> int:
    """Show what was looked at, each fault with its fix; 1 where there is a fault, 0 where there is none."""
    answers = diagnose()
    page = Page()
    page.line(styled("Stackwright's button in KiCad", "bold"))
    page.gap()
    bad = any(one.state == BAD for one in answers)
    for one in answers:
        if one.state == MIND and not bad:
            continue
        word, style = MARKS[one.state]
        page.line(styled(f"{word}  ", style), one.what)
        if one.cure:
            page.line(one.cure, indent=7)
    page.gap()
    page.line("fix the first fault first" if bad else HEALTHY)
    show(page.text(terminal_console()))
    return 1 if bad else 0

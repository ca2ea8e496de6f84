"""Findings that a baseline accepts, one that is no more, and a text that would do harm."""

from __future__ import annotations

from drc_rules.report.known_findings import Accepted, StaleSuppression
from tests.support.reports.made_reports import finding

HOSTILE = "<script>alert(1)</script> \"q\" 's' [x](http://example.org)\n{0} | `c` \u202egnp @all \\"
ACCEPTED = Accepted(finding=finding("/S"), by="suppression", reason=f"lab {HOSTILE}", owner="rk")
STALE = StaleSuppression(entry="STK001, object *", problem="matches nothing", reason="old", owner="rk", line=7)

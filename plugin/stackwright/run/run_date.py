"""When a report was made, for the formats that insist on saying so."""

from __future__ import annotations

import os
from datetime import UTC, datetime


def run_date() -> datetime:
    """Return the time of this run to the second, in UTC; `SOURCE_DATE_EPOCH` (seconds since 1970) stands in for it."""
    stated = os.environ.get("SOURCE_DATE_EPOCH", "")
    if stated.isdecimal() and len(stated) <= 11:
        return datetime.fromtimestamp(int(stated), UTC)
    return datetime.now(UTC).replace(microsecond=0)

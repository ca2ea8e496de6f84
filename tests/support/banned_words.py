"""Words that messages and documents do not use, and the terms to use instead."""

from __future__ import annotations

import re
from collections.abc import Mapping

BANNED: Mapping[str, str] = {
    r"mend(s|ed|ing)?": "fix, correct",
    r"cures?": "fix, remedy",
    r"nobody|somebody|whoever": "not specified, the user",
    r"greatest": "maximum",
    r"(?<!prepreg )plies": "dielectric layers; prepreg plies",
    r"presses": "lamination cycles",
    r"the way (back|there)|there and back": "return path, supply path",
    r"is the (least|most)|at the (least|most)": "minimum, maximum",
    r"for (want|lack) of": "missing",
    r"eats": "degrades, consumes",
    r"(these )?fights?": "conflict",
    r"taken (for|as)": "assigned to, counts as",
    r"closes( as well,)? with": "meets its budget with",
    r"asked for|asks? for (?!the fab)": "required, target",
    r"broke": "internal error",
    r"fast (nets?|layers?|links?|tracks?|pairs?|interfaces?)": "high-speed",
    r"dear(er)?": "over-specified, more expensive",
    r"unflat": "bow and twist",
    r"lies (on|in|beside)": "is on, is in",
    r"stretch(es)? of": "section, length",
    r"beside": "adjacent to, next to",
    r"forgiven": "ignored, allowed",
    r"hot parts?": "high-power component",
    r"partners?": "complement",
    r"in so many words|at the very least": "minimum",
}
"""Whole words that are not the field's, in small or large letters, and what to say instead."""
WORDS = re.compile("|".join(rf"\b(?:{banned})\b" for banned in BANNED), re.IGNORECASE)

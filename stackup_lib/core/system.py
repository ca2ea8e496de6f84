"""What this system cannot do."""

from __future__ import annotations

import sys

IN_BROWSER = sys.platform == "emscripten"
"""Python in a page of a browser: it has no threads, no other processes and no pipes, and an index has 32 bits."""

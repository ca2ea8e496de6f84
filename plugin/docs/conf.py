"""Sphinx settings. `python -m sphinx -n -W --keep-going plugin/docs build/docs` writes all pages and builds them.

Only `index.md` is written by hand here. The other pages are written next to it from docstrings, data, help texts
and the project's own Markdown, and git leaves them out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

PLUGIN = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(PLUGIN), str(PLUGIN.parent)]

from stackwright import __version__  # noqa: E402 - found only by the path above
from stackwright.run.limits import SINGLE_THREAD  # noqa: E402

for name in SINGLE_THREAD:
    os.environ.setdefault(name, "1")

from docs.pages import write_pages  # noqa: E402 - after the number of threads is set

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Stackwright"
version = release = __version__
language = "en"
extensions = ["myst_parser"]
exclude_patterns = ["pages", "_static", "**/__pycache__"]
smartquotes = False  # options are written with two hyphens, names in straight quotes
myst_heading_anchors = 3
suppress_warnings: list[str] = []
nitpicky = True

html_theme = "furo"
html_title = f"Stackwright {__version__}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_extra_path = ["../../fixtures/schemas", "../../fixtures/pictures", "../../action.yml", "../ci/gitlab-ci.yml"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_domain_indices = False
html_use_index = False
highlight_language = "text"


def _adjust(_app: Sphinx, _page: str, _template: str, context: dict[str, object], _doctree: object) -> None:
    """Let the tree at the side hold the branch of its own page only, and keyboards reach what is there.

    The whole tree would be most of every page. Captions are headings without a level, and code that is wider than its
    place cannot be scrolled without a pointer.
    """
    whole, body = context.get("toctree"), context.get("body")
    if callable(whole):
        of_page: Callable[..., str] = whole
        context["toctree"] = lambda **options: of_page(**{**options, "collapse": True}).replace(
            'role="heading"', 'role="heading" aria-level="2"'
        )
    if isinstance(body, str):
        context["body"] = body.replace("<pre>", '<pre tabindex="0">')


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for them."""
    app.connect("builder-inited", lambda sphinx: write_pages(Path(sphinx.srcdir)))
    app.connect("html-page-context", _adjust, priority=400)  # before the theme reads the tree
    return {"parallel_read_safe": True, "parallel_write_safe": True}

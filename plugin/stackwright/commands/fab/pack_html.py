"""A fab pack as one HTML file that prints."""

from __future__ import annotations

from markupsafe import Markup

from drc_rules.fab_exchange.pack.fab_pack import FabPack
from drc_rules.fab_exchange.pack.table import NOT_STATED
from stackwright.drawing.svg import svg
from stackwright.reporters.pages import environment


def html_of(pack: FabPack) -> str:
    """Return the page; equal packs give equal bytes."""
    drawing = Markup(svg(pack.view, title=pack.name, losses=False)) if pack.view else None  # noqa: S704 - svg() escapes
    page = environment(not_stated=NOT_STATED).get_template("fab_pack.html")
    return page.render(pack=pack, drawing=drawing, title=f"{pack.name}: fabrication data")

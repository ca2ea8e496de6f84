"""`[order]` of `stackwright.toml`: what the order to the fab says and a board file cannot hold."""

import re
from typing import Literal

from pydantic import Field, field_validator

from drc_rules.settings.declaration import PLACEHOLDER, Declaration
from stackup_lib.core.errors import ConfigError


class OrderDeclaration(Declaration):
    """Answers to a fab's questions; what is None is open.

    Attributes:
        stackup: the fab's name of the stackup that is ordered, as `stackwright fabs` lists it; reports show its rows
            next to the board's.
        ipc_class: acceptance class of IPC-6012.
        thickness_tolerance_pct: of the finished board, plus and minus.
        slash_sheets: laminate -> the sheet of IPC-4101 or IPC-4103 that it is ordered by.
        substitutes: laminates that the fab may use instead; an empty list allows none.
        width_change_pct: by how much the fab may change widths of controlled lines, plus and minus; 0 is not at all.
        height_changes: True where the fab may change dielectric heights to meet impedances.
        coupons: True where impedance coupons and their report are ordered.
        hole_tolerance_mm: of plated holes, plus and minus.
        press_fit_tolerance_mm: of press-fit holes, plus and minus.
        backdrill_tolerance_mm: of the depth of backdrills, plus and minus.
        copper_fill: True where vias under stacked microvias are filled with copper.
        contact_gold_um: thickness of the gold on edge contacts, at least.
        bevel_deg: angle of a bevelled edge to the board's face.
        mask_colour, legend_colour: of solder mask and legend.
        electrical_test: True where every board is tested for opens and shorts.
        ul_mark: True where the fab's UL mark is printed.
        date_code: True where the fab's date code is printed.
        panel: how the boards are delivered: "single boards", "2 x 3 with V-score".
        x_outs: True where panels with boards marked as bad are taken.
        remarks: notes as text.
    """

    stackup: str | None = None
    ipc_class: Literal["1", "2", "3", "3/A"] | None = None
    thickness_tolerance_pct: float | None = Field(default=None, ge=1, le=25)  # less is a fraction: 0.1
    slash_sheets: dict[str, str] = Field(default_factory=dict)
    substitutes: tuple[str, ...] | None = None
    width_change_pct: float | None = Field(default=None, ge=0, le=30)
    height_changes: bool | None = None
    coupons: bool | None = None
    hole_tolerance_mm: float | None = Field(default=None, gt=0, le=0.5)
    press_fit_tolerance_mm: float | None = Field(default=None, gt=0, le=0.5)
    backdrill_tolerance_mm: float | None = Field(default=None, gt=0, le=0.5)
    copper_fill: bool | None = None
    contact_gold_um: float | None = Field(default=None, gt=0, le=5)  # more is a thickness in microinches
    bevel_deg: float | None = Field(default=None, ge=5, le=85)
    mask_colour: str | None = None
    legend_colour: str | None = None
    electrical_test: bool | None = None
    ul_mark: bool | None = None
    date_code: bool | None = None
    panel: str | None = None
    x_outs: bool | None = None
    remarks: tuple[str, ...] = ()

    @field_validator("slash_sheets", mode="before")
    @classmethod
    def _drop_open_sheets(cls, table: object) -> object:
        return {k: v for k, v in table.items() if v != PLACEHOLDER} if isinstance(table, dict) else table

    @field_validator("slash_sheets")
    @classmethod
    def _are_sheets(cls, table: dict[str, str]) -> dict[str, str]:
        """Refuse what has no number of a sheet: it goes to the fab as it stands."""
        for laminate, sheet in table.items():
            if not re.search(r"/\s?\d{1,3}\b", sheet):
                raise ValueError(f'"{sheet}" of {laminate} is no slash sheet, such as "IPC-4101/126"')
        return table

    @field_validator("stackup")
    @classmethod
    def _is_offered(cls, name: str | None) -> str | None:
        """Refuse a name that no fab lists; the lists are read only where there is a name."""
        if name is None or name == PLACEHOLDER:
            return None
        from drc_rules.requirements.fabs.stackups.load import find, named_stackups  # noqa: PLC0415 - rarely needed

        try:
            find(name, named_stackups())
        except ConfigError as error:
            raise ValueError(f'no fab lists "{name}"; {error.next_step}') from None
        return name

"""The `[[hot_part]]` tables of `stackwright.toml`: which parts are hot, and how their heat is led away."""

from typing import Literal

from pydantic import Field, model_validator

from drc_rules.settings.declaration import PLACEHOLDER, Declaration

Cooling = Literal["cold plate", "immersion", "heatsink", "air", "board"]
ViaFill = Literal["none", "resin", "conductive epoxy", "copper"]

OFF_THE_TOP = ("cold plate", "immersion", "heatsink")
"""Coolings that take the heat off the part's lid, not through the board."""


class HotPart(Declaration):
    """Parts of one kind that give off much heat.

    Attributes:
        refs: their references; an empty list says that no part of the board is hot.
        power_w: the most that one of them gives off for long (TDP).
        board_w: what of it leaves through the board; by default all, unless `cooling` takes it off the lid.
        pads: numbers of the thermal pads, where they are not those much larger than the others.
        sink: copper layer that the heat is led to, by default the far side.
        cooling: how the heat is taken away in the end.
        via_fill, via_capped: what the fab notes say of the vias in the thermal pads; KiCad 10 can store it in the via.
        plating_um: wall of those vias; by default what IPC-6012 asks of the class under `[order]`, else of class 2.
        coin: a copper coin lies under the part.
        max_k_per_w: largest thermal resistance from pad to `sink`.
        junction_max_c, theta_jc_k_per_w, sink_c: hottest junction, resistance from junction to pad, temperature of
            the sink: together with the power they give such a limit as well.
        path_k_per_w: that resistance as simulated or measured; it takes the place of what would be computed.
    """

    refs: tuple[str, ...]
    power_w: float | None = Field(default=None, gt=0, le=20_000)
    board_w: float | None = Field(default=None, gt=0, le=20_000)
    pads: tuple[str, ...] = ()
    sink: str | None = None
    cooling: Cooling | None = None
    via_fill: ViaFill | None = None
    via_capped: bool | None = None
    plating_um: float | None = Field(default=None, gt=0, le=200)
    coin: bool | None = None
    max_k_per_w: float | None = Field(default=None, gt=0, le=10_000)
    junction_max_c: float | None = Field(default=None, gt=0, le=300)
    theta_jc_k_per_w: float | None = Field(default=None, ge=0, le=10_000)
    sink_c: float | None = Field(default=None, gt=-60, le=200)
    path_k_per_w: float | None = Field(default=None, gt=0, le=10_000)

    @model_validator(mode="before")
    @classmethod
    def _drop_placeholders(cls, data: object) -> object:
        """A key that still holds the placeholder is as good as absent; `refs` then names the part "?"."""
        if not isinstance(data, dict):
            return data
        given = {k: v for k, v in data.items() if v not in (PLACEHOLDER, [PLACEHOLDER])}
        return {"refs": [PLACEHOLDER], **given} if "refs" in data else given

    @model_validator(mode="after")
    def _makes_sense(self) -> "HotPart":
        if self.power_w is not None and self.board_w is not None and self.board_w > self.power_w:
            raise ValueError("more heat leaves through the board (board_w) than the part gives off (power_w)")
        if self.max_k_per_w is not None and self.junction_max_c is not None:
            raise ValueError("state max_k_per_w, or junction_max_c with theta_jc_k_per_w and sink_c, not both")
        if None not in (self.junction_max_c, self.sink_c) and (self.sink_c or 0) >= (self.junction_max_c or 0):
            raise ValueError("the sink is hotter (sink_c) than the junction may be (junction_max_c)")
        return self

    @property
    def is_open(self) -> bool:
        """True where the placeholder still stands for the references: then it declares nothing."""
        return PLACEHOLDER in self.refs

    @property
    def through_board_w(self) -> float | None:
        """What leaves through the board, None where not stated."""
        return self.board_w if self.board_w is not None else None if self.cooling in OFF_THE_TOP else self.power_w

    @property
    def cools_off_the_top(self) -> bool:
        """True where the lid is cooled and nothing was said of heat through the board."""
        return self.cooling in OFF_THE_TOP and self.board_w is None

"""What fabs press: copper against core thickness, plies by copper weight, glass. Plain numbers; a caller gives them."""

from stackup_lib.core.frozen import Frozen


class WeightRule(Frozen):
    """What a copper weight asks of the dielectrics that it faces, in effect up to the next heavier row.

    Attributes:
        oz: copper weight.
        core_mm: thinnest core that carries it.
        plies_one: fewest prepreg plies where one side of an inner gap has this weight.
        plies_both: fewest where both sides have it.
        plies_outer: fewest between an outer foil and an inner layer of this weight.
        gap_mm: thinnest dielectric between two layers of this weight.
    """

    oz: float
    core_mm: float
    plies_one: int
    plies_both: int
    plies_outer: int
    gap_mm: float = 0.0


class GapNeeds(Frozen):
    """What a dielectric must have between the copper on either side."""

    core_mm: float = 0.0
    plies: int = 1
    gap_mm: float = 0.0
    resin_pct: float = 0.0

    def and_those(self, other: "GapNeeds") -> "GapNeeds":
        """Return what meets both."""
        return GapNeeds(
            core_mm=max(self.core_mm, other.core_mm),
            plies=max(self.plies, other.plies),
            gap_mm=max(self.gap_mm, other.gap_mm),
            resin_pct=max(self.resin_pct, other.resin_pct),
        )


class BuildRules(Frozen):
    """What a stackup must keep so that a fab can press it; without rows nothing is required.

    Attributes:
        weights: by copper weight, lightest first.
        most_plies: in one dielectric.
        equal_cladding: both sides of a core have one copper weight.
        least_glass_ratio: pressed thickness over the cloth of all plies, at least.
        heavy_oz: from this weight, one ply of a style in `not_single` does not fill the copper.
        heavy_resin_pct: least resin content of prepreg next to copper of `heavy_oz` and more.
        usual_core_mm, usual_pressed_mm: thinner cores and prepregs a fab builds, but asks about.
        usual_plies: more in one dielectric a fab presses, but asks about; 0 where it never asks.
        source: where the values are.
    """

    weights: tuple[WeightRule, ...] = ()
    most_plies: int = 2
    equal_cladding: bool = False
    least_glass_ratio: float = 0.0
    heavy_oz: float = 2.0
    heavy_resin_pct: float = 0.0
    not_single: tuple[str, ...] = ()
    usual_core_mm: float = 0.0
    usual_pressed_mm: float = 0.0
    usual_plies: int = 0
    source: str = ""

    def needs(self, upper_oz: float, lower_oz: float, *, outer: bool) -> GapNeeds:
        """Return what the dielectric between two copper weights must have; `outer` where one is an outer foil."""
        heavy, light = self._row(max(upper_oz, lower_oz)), self._row(min(upper_oz, lower_oz))
        if heavy is None:
            return GapNeeds()
        same = light is not None and light.oz == heavy.oz
        plies = heavy.plies_outer if outer else heavy.plies_both if same else heavy.plies_one
        return GapNeeds(
            core_mm=heavy.core_mm,
            plies=plies,
            gap_mm=heavy.gap_mm if same else 0.0,
            resin_pct=self.heavy_resin_pct if heavy.oz >= self.heavy_oz else 0.0,
        )

    def _row(self, oz: float) -> WeightRule | None:
        return next((row for row in reversed(self.weights) if row.oz <= oz + 1e-9), None)

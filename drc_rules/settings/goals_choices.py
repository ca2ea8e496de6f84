"""What the user wants of a suggested stackup, before profile and board are read: options and `[goals]`."""

from pydantic import Field, field_validator

from stackup_lib.core.errors import ConfigError, did_you_mean
from stackup_lib.core.frozen import Frozen
from stackup_lib.materials import catalogue


class GoalChoices(Frozen):
    """The user's own goals; what is None or empty is left to profile, form and board. Lengths in mm.

    Attributes:
        layers: two only of a board that has two; they stay.
        interfaces: ids such as `pcie5`; each takes the place of the profile's of its family.
        longest_mm: longest routed length by interface id; with it, loss is held against the board's share.
        laminates: only these families of the catalogue.
        fast_layers: layers between two grounds that carry the high-speed interfaces.
        fast_outside: whether high-speed links also run on the outer layers; None as the board routes them, on a new one
            yes.
        drill_mm: of the smallest through via.
        hdi: False excludes build-ups, with a text that a fab reads; build-ups are requested with `build_ups`.
    """

    layers: int | None = Field(default=None, ge=2, le=32)
    thickness_mm: float | None = Field(default=None, gt=0.1, lt=20)
    laminates: tuple[str, ...] = ()
    excluded_laminates: tuple[str, ...] = ()
    interfaces: tuple[str, ...] = ()
    longest_mm: dict[str, float] = Field(default_factory=dict)
    fast_layers: int | None = Field(default=None, ge=0, le=40)
    fast_outside: bool | None = None
    power_planes: int | None = Field(default=None, ge=0, le=40)
    power_copper_oz: float | None = Field(default=None, gt=0, le=20)
    drill_mm: float | None = Field(default=None, gt=0.05, le=2)
    build_ups: int | None = Field(default=None, ge=0, le=10)
    hdi: bool = True
    hybrids: bool = True

    @field_validator("longest_mm")
    @classmethod
    def _lengths(cls, lengths: dict[str, float]) -> dict[str, float]:
        for name, length in lengths.items():
            if not 0 < length < 10_000:
                raise ValueError(f"{name} is {length:g} mm long; give a length in mm")
        return lengths

    @field_validator("layers")
    @classmethod
    def _even(cls, layers: int | None) -> int | None:
        if layers is not None and layers % 2:
            raise ValueError("an even number of layers is needed: a stackup is symmetric")
        return layers

    def over(self, other: "GoalChoices") -> "GoalChoices":
        """Return these choices, and where they say nothing the other's."""
        return other.model_copy(update={name: getattr(self, name) for name in self.model_fields_set})


def laminate_family(name: str) -> str:
    """Return the catalogue's family for a laminate as people write it.

    Raises:
        ConfigError: the catalogue knows none of that name, or several; says which are meant.
    """
    match = catalogue().find(name)
    found, where = match.laminate, f'laminate "{name}"'
    if match.status == "ambiguous":
        raise ConfigError(where, "may mean several", f"name one: {', '.join(match.alternatives)}")
    if found is not None and found.generic:
        raise ConfigError(
            where, "is a kind of laminate, not a product", "name a product, or none: any that suits is taken"
        )
    if found is None:
        known = [one.family for one in catalogue().laminates if not one.generic]
        raise ConfigError(where, "names no laminate that can be ordered", did_you_mean(name, known))
    return found.family

"""Loss classes of laminates, by Df near 10 GHz."""

from stackup_lib.materials.sources import Ranked


class LossClass(Ranked):
    """Our loss classes, by Df near 10 GHz; makers do not agree on the labels.

    standard > 0.015 >= mid > 0.0075 >= low > 0.0050 >= very-low > 0.0030 >= ultra-low > 0.0015 >= super-ultra-low.
    """

    STANDARD = "standard"
    MID = "mid"
    LOW = "low"
    VERY_LOW = "very-low"
    ULTRA_LOW = "ultra-low"
    SUPER_ULTRA_LOW = "super-ultra-low"


CLASS_BORDER = {
    LossClass.MID: 0.015,
    LossClass.LOW: 0.0075,
    LossClass.VERY_LOW: 0.0050,
    LossClass.ULTRA_LOW: 0.0030,
    LossClass.SUPER_ULTRA_LOW: 0.0015,
}
"""Maximum Df near 10 GHz of each class; standard loss has none."""


def loss_class_from_df(df: float) -> LossClass:
    """Return the loss class of a Df measured near 10 GHz (8 to 14 GHz)."""
    return list(LossClass)[sum(round(df, 4) <= border for border in CLASS_BORDER.values())]

"""The range that a number of `stackwright.toml` may have, read from its model."""

from __future__ import annotations

from pydantic import BaseModel

from stackwright.kicad.form.model import FormField


def number(model: type[BaseModel], key: str, label: str, *, is_needed: bool = False) -> FormField:
    """Return the input of a number, with the range that the settings accept."""
    found: dict[str, float] = {}
    for limit in model.model_fields[key].metadata:
        found |= {name: float(getattr(limit, name)) for name in ("gt", "ge", "lt", "le") if hasattr(limit, name)}
    return FormField(
        key=key,
        label=label,
        kind="number",
        is_needed=is_needed,
        low=found.get("gt", found.get("ge")),
        high=found.get("lt", found.get("le")),
        is_open_low="gt" in found,
    )

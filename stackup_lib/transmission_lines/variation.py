"""A line whose dimensions and permittivities are off by shares of themselves: what fabrication does to it, as sections.

`process` says what moves together. Copper of another layer that stands between trace and plane keeps its thickness; the
resin in its gaps has the Dk of its row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from stackup_lib.core.record import record
from stackup_lib.field_solver.sections import Mask, Section
from stackup_lib.transmission_lines.process import LengthTolerance, Process, Tolerance
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment


@record
class Variable:
    """One independent variable of a process, on one line.

    Attributes:
        name: `width`, `taper`, `copper`, `thickness <row>`, `dk <row>`, `mask thickness`, `mask dk`.
        nominal: in mm, or without unit; 1 for the mask's thicknesses.
        sigma: standard deviation, as a share of the nominal value.
        sigmas: standard deviations that the process's limit is.
    """

    name: str
    nominal: float
    sigma: float
    sigmas: float


@record
class VariedLine:
    """A line on a site, and the process that makes it; lengths in mm."""

    site: TraceEnvironment
    width_mm: float
    gap_mm: float | None
    coplanar_gap_mm: float | None
    process: Process

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables of this line, in a fixed order; those that the process does not move have sigma 0."""
        p, site = self.process, self.site
        found = [self._length("width", self.width_mm, p.width)]
        if site.copper_mm > 0:
            found += [_ratio("copper", site.copper_mm, p.copper)]
            found += [_ratio("taper", site.taper_mm, p.taper)] if site.taper_mm > 0 else []
        rows = _rows(site)
        for name, plies in ((name, _plies(sheets)) for name, sheets in rows.items()):
            if not plies:
                continue
            thickness, tolerance = sum(s.thickness_mm for s in plies), self._of_kind(plies[0])
            sigma = sum(tolerance.sigma_mm(s.thickness_mm) for s in plies) / thickness
            found.append(Variable(f"thickness {name}", thickness, sigma, tolerance.sigmas))
        for name, sheets in rows.items():
            found.append(_ratio(f"dk {name}", sheets[0].dk, p.core_dk if sheets[0].kind == "core" else p.prepreg_dk))
        if site.mask is not None:
            found += [_ratio("mask thickness", 1.0, p.mask_thickness), _ratio("mask dk", site.mask.er, p.mask_dk)]
        return tuple(found)

    def with_every_interface(self) -> VariedLine:
        """Return the line with the Dk of its rows apart in the ninth digit.

        Rows of the same Dk have no interface between them until one is off; the solver's error jumps there. With this
        all sections of the line have the same interfaces, and differences between them are smooth.
        """
        apart = {name: 1 + k * 1e-9 for k, name in enumerate(_rows(self.site))}

        def stepped(sheets: tuple[DielectricSheet, ...]) -> tuple[DielectricSheet, ...]:
            return tuple(s.model_copy(update={"dk": s.dk * apart[s.name]}) for s in sheets)

        site = self.site.model_copy(update={"below": stepped(self.site.below), "above": stepped(self.site.above)})
        return replace(self, site=site)

    def shares(self, sigmas: Sequence[float]) -> dict[str, float]:
        """Return by which share each variable that the process moves is off, given in standard deviations."""
        moved = [v for v in self.variables if v.sigma > 0]
        return {v.name: u * v.sigma for v, u in zip(moved, sigmas, strict=True) if u}

    def section(self, shares: Mapping[str, float]) -> Section:
        """Return the cross section with variables off by these shares of their nominal values.

        Raises:
            GeometryError: it cannot exist.
        """
        site, p = self.site, self.process
        wider = self.width_mm * shares.get("width", 0.0)
        thicker = 1 + shares.get("copper", 0.0)
        taper = site.taper_mm * (1 + shares.get("taper", 0.0)) * (thicker if p.taper_follows_copper else 1.0)
        rows = _rows(site)
        varied = site.model_copy(
            update={
                "below": tuple(self._sheet(s, rows[s.name], shares) for s in site.below),
                "above": tuple(self._sheet(s, rows[s.name], shares) for s in site.above),
                "copper_mm": site.copper_mm * thicker,
                "taper_mm": max(taper, 0.0),
                "mask": _mask(site.mask, shares),
            }
        )
        gap = None if self.gap_mm is None else self.gap_mm - wider
        toward_ground = wider if p.etches_coplanar_ground else wider / 2
        coplanar = None if self.coplanar_gap_mm is None else self.coplanar_gap_mm - toward_ground
        return varied.section(self.width_mm + wider, gap, coplanar)

    def _sheet(
        self, sheet: DielectricSheet, row: Sequence[DielectricSheet], shares: Mapping[str, float]
    ) -> DielectricSheet:
        """Return a sheet with its part of what its row is off by."""
        share = shares.get(f"thickness {sheet.name}", 0.0)
        dk = sheet.dk * (1 + shares.get(f"dk {sheet.name}", 0.0))
        thickness = sheet.thickness_mm
        if share and not sheet.gap_layer:
            tolerance, plies = self._of_kind(sheet), _plies(row)
            parts = [tolerance.limit_mm(s.thickness_mm) for s in plies]
            total = sum(s.thickness_mm for s in plies)
            part = tolerance.limit_mm(thickness) / sum(parts) if sum(parts) else thickness / total
            thickness += share * total * part
            if sheet.kind == "prepreg" and thickness > 0:
                dk *= (thickness / sheet.thickness_mm) ** self.process.prepreg_dk_per_thickness
        return sheet.model_copy(update={"thickness_mm": thickness, "dk": dk})

    def _of_kind(self, sheet: DielectricSheet) -> LengthTolerance:
        return self.process.core_thickness if sheet.kind == "core" else self.process.prepreg_thickness

    @staticmethod
    def _length(name: str, nominal: float, tolerance: LengthTolerance) -> Variable:
        sigma = tolerance.sigma_mm(nominal) / nominal if nominal > 0 else 0.0  # an impossible line is refused later
        return Variable(name, nominal, sigma, tolerance.sigmas)


def _ratio(name: str, nominal: float, tolerance: Tolerance) -> Variable:
    return Variable(name, nominal, tolerance.sigma, tolerance.sigmas)


def _rows(site: TraceEnvironment) -> dict[str, list[DielectricSheet]]:
    """Return the sheets of each stackup row, from y = 0 up."""
    rows: dict[str, list[DielectricSheet]] = {}
    for sheet in site.sheets:
        rows.setdefault(sheet.name, []).append(sheet)
    return rows


def _plies(row: Sequence[DielectricSheet]) -> list[DielectricSheet]:
    """Return the sheets of a row that are plies of it, and not the gaps of copper that it fills."""
    return [sheet for sheet in row if not sheet.gap_layer]


def _mask(mask: Mask | None, shares: Mapping[str, float]) -> Mask | None:
    if mask is None:
        return None
    factor = 1 + shares.get("mask thickness", 0.0)
    thicknesses = ("on_laminate_mm", "on_trace_mm", "between_mm", "side_mm")
    scaled = {name: factor * value for name in thicknesses if (value := getattr(mask, name)) is not None}
    return mask.model_copy(update={**scaled, "er": mask.er * (1 + shares.get("mask dk", 0.0))})

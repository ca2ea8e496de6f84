"""Boards as KiCad 4 and 5 wrote them: two blanks of indent, words without quotes, everything in one file."""

from __future__ import annotations

from dataclasses import dataclass, field

NETS = ("", "GND", "+3V3", "/PCIE_TX0_P", "/PCIE_TX0_N", '"Net-(C1-Pad1)"', "/~RESET~", '"/A B"')
"""Net names by number, as they stand in the file: with quotes only where a name needs them."""

LAYERS = ("F.Cu signal", "In1.Cu power", "In2.Cu power", "B.Cu signal")
OTHERS = (
    (32, "B.Adhes"),
    (33, "F.Adhes"),
    (34, "B.Paste"),
    (35, "F.Paste"),
    (36, "B.SilkS"),
    (37, "F.SilkS"),
    (38, "B.Mask"),
    (39, "F.Mask"),
    (40, "Dwgs.User"),
    (44, "Edge.Cuts"),
    (48, "B.Fab hide"),
)


@dataclass(frozen=True)
class Kicad5:
    """A board of KiCad 5, or of 4 with another version and host; every part may be replaced.

    Attributes:
        layers: names and types of the copper layers, top to bottom.
        items: modules, graphics, segments, vias and zones.
    """

    version: str = "20171130"
    host: str = 'pcbnew "(5.1.12-1-10_14)"'
    thickness_mm: float = 1.2
    layers: tuple[str, ...] = LAYERS
    nets: tuple[str, ...] = NETS
    net_classes: str = ""
    items: tuple[str, ...] = field(default=())

    def text(self) -> str:
        """Return the file."""
        numbers = [*range(len(self.layers) - 1), 31]
        rows = [f"    ({n} {words})" for n, words in zip(numbers, self.layers, strict=True)]
        rows += [f"    ({n} {name.replace(' ', ' user ') if ' ' in name else name + ' user'})" for n, name in OTHERS]
        nets = [f"  (net {n} {name or chr(34) * 2})" for n, name in enumerate(self.nets)]
        body = "\n".join(part.strip("\n") for part in self.items)
        return f"""(kicad_pcb (version {self.version}) (host {self.host})

  (general
    (thickness {self.thickness_mm:g})
    (drawings 5)
    (tracks 6)
    (zones 0)
    (modules 3)
    (nets {len(self.nets)})
  )

  (page A4)
  (title_block
    (title "A board of KiCad 5 (made by a test)")
    (rev 1)
  )
  (layers
{chr(10).join(rows)}
  )

  (setup
    (last_trace_width 0.25)
    (user_trace_width 0.3)
    (trace_clearance 0.2)
    (zone_clearance 0.508)
    (zone_45_only no)
    (trace_min 0.1)
    (via_size 0.8)
    (via_drill 0.4)
    (via_min_size 0.2)
    (via_min_drill 0.1)
    (user_via 0.6 0.3)
    (uvia_size 0.3)
    (uvia_drill 0.1)
    (uvias_allowed yes)
    (blind_buried_vias_allowed yes)
    (uvia_min_size 0.2)
    (uvia_min_drill 0.1)
    (edge_width 0.05)
    (segment_width 0.2)
    (pcb_text_width 0.3)
    (pcb_text_size 1.5 1.5)
    (mod_edge_width 0.12)
    (mod_text_size 1 1)
    (mod_text_width 0.15)
    (pad_size 1.524 1.524)
    (pad_drill 0.762)
    (pad_to_mask_clearance 0.051)
    (solder_mask_min_width 0.25)
    (aux_axis_origin 0 0)
    (visible_elements FFFFFF7F)
    (pcbplotparams
      (layerselection 0x010fc_ffffffff)
      (usegerberextensions false)
      (outputdirectory ""))
  )

{chr(10).join(nets)}

{self.net_classes.strip(chr(10))}

{body}
)
"""


NET_CLASSES = """
  (net_class Default "This is the default net class."
    (clearance 0.2)
    (trace_width 0.25)
    (via_dia 0.8)
    (via_drill 0.4)
    (uvia_dia 0.3)
    (uvia_drill 0.1)
    (add_net +3V3)
    (add_net "/A B")
    (add_net /~RESET~)
    (add_net GND)
    (add_net "Net-(C1-Pad1)")
  )

  (net_class 85R "85 ohm pairs"
    (clearance 0.15)
    (trace_width 0.12)
    (via_dia 0.5)
    (via_drill 0.25)
    (uvia_dia 0.3)
    (uvia_drill 0.12)
    (diff_pair_width 0.12)
    (diff_pair_gap 0.16)
    (add_net /PCIE_TX0_N)
    (add_net /PCIE_TX0_P)
  )
"""

MODULES = """
  (module Resistor_SMD:R_0402_1005Metric (layer F.Cu) (tedit 5B301BBD) (tstamp 5E0A1B2C)
    (at 110 60 90)
    (descr "Resistor SMD 0402 (1005 Metric), square (rectangular) end terminal")
    (tags resistor)
    (path /5DF00001)
    (attr smd)
    (fp_text reference R1 (at 0 -1.17 90) (layer F.SilkS)
      (effects (font (size 1 1) (thickness 0.15)))
    )
    (fp_text value 10k (at 0 1.17 90) (layer F.Fab)
      (effects (font (size 1 1) (thickness 0.15)))
    )
    (fp_line (start -0.5 0.25) (end -0.5 -0.25) (layer F.Fab) (width 0.1))
    (pad 1 smd roundrect (at -0.485 0 90) (size 0.59 0.64) (layers F.Cu F.Paste F.Mask) (roundrect_rratio 0.25)
      (net 2 +3V3))
    (pad 2 smd roundrect (at 0.485 0 90) (size 0.59 0.64) (layers F.Cu F.Paste F.Mask) (roundrect_rratio 0.25)
      (net 6 /~RESET~))
    (model ${KISYS3DMOD}/Resistor_SMD.3dshapes/R_0402_1005Metric.wrl
      (at (xyz 0 0 0))
      (scale (xyz 1 1 1))
      (rotate (xyz 0 0 0))
    )
  )

  (module Connector:Two_Pins (layer F.Cu) (tedit 5A000000) (tstamp 5E0A1B30)
    (at 120 73)
    (fp_text reference J1 (at 0 -2.5) (layer F.SilkS)
      (effects (font (size 1 1) (thickness 0.15)))
    )
    (fp_text value "two pins" (at 0 2.5) (layer F.Fab) hide
      (effects (font (size 1 1) (thickness 0.15)))
    )
    (pad 1 thru_hole rect (at 0 0) (size 1.7 1.7) (drill 1) (layers *.Cu *.Mask)
      (net 1 GND))
    (pad 2 thru_hole oval (at 2.54 0 45) (size 1.7 2.4) (drill oval 0.9 1.6) (layers *.Cu *.Mask)
      (net 7 "/A B"))
    (pad "" np_thru_hole circle (at 5.5 0) (size 3.2 3.2) (drill 3.2) (layers *.Cu *.Mask))
  )

  (module Odd:Custom (layer B.Cu) (tedit 5A000001) (tstamp 5E0A1B40)
    (at 130 60 180)
    (fp_text reference U1 (at 0 2 180) (layer B.SilkS)
      (effects (font (size 1 1) (thickness 0.15)) (justify mirror))
    )
    (fp_text value Odd (at 0 -2 180) (layer B.Fab)
      (effects (font (size 1 1) (thickness 0.15)) (justify mirror))
    )
    (pad 1 smd custom (at 1 0.5 180) (size 0.5 0.5) (layers B.Cu B.Paste B.Mask)
      (net 5 "Net-(C1-Pad1)") (zone_connect 2)
      (options (clearance outline) (anchor circle))
      (primitives
        (gr_poly (pts
           (xy 0 0) (xy 1 0) (xy 1 1) (xy 0 1)) (width 0.1))
        (gr_circle (center 0 0) (end 0.4 0) (width 0.1))
      ))
    (pad A2 smd trapezoid (at -1 0.5 180) (size 1 0.6) (rect_delta 0.2 0) (layers B.Cu B.Mask)
      (net 3 /PCIE_TX0_P))
  )
"""

OUTLINE = """
  (gr_arc (start 102 52) (end 102 50) (angle -90) (layer Edge.Cuts) (width 0.05) (tstamp 5E0B0001))
  (gr_line (start 100 90) (end 100 52) (layer Edge.Cuts) (width 0.05) (tstamp 5E0B0002))
  (gr_line (start 150 90) (end 100 90) (layer Edge.Cuts) (width 0.05))
  (gr_arc (start 148 52) (end 150 52) (angle -90) (layer Edge.Cuts) (width 0.05))
  (gr_line (start 150 52) (end 150 90) (layer Edge.Cuts) (width 0.05))
  (gr_line (start 102 50) (end 148 50) (layer Edge.Cuts) (width 0.05))
  (gr_circle (center 145 85) (end 146.5 85) (layer Edge.Cuts) (width 0.05))
  (gr_text "not copper (or is it?)" (at 120 55) (layer F.SilkS)
    (effects (font (size 1.5 1.5) (thickness 0.3)))
  )
  (dimension 50 (width 0.15) (layer Dwgs.User)
    (gr_text "50.0 mm" (at 125 95) (layer Dwgs.User)
      (effects (font (size 1 1) (thickness 0.15)))
    )
    (feature1 (pts (xy 150 90) (xy 150 94)))
    (feature2 (pts (xy 100 90) (xy 100 94)))
    (crossbar (pts (xy 100 93) (xy 150 93)))
    (arrow1a (pts (xy 150 93) (xy 149 93.5)))
    (arrow1b (pts (xy 150 93) (xy 149 92.5)))
    (arrow2a (pts (xy 100 93) (xy 101 93.5)))
    (arrow2b (pts (xy 100 93) (xy 101 92.5)))
  )
  (target plus (at 105 85) (size 5) (width 0.05) (layer Edge.Cuts))
"""

TRACKS = """
  (segment (start 110 60) (end 113 64) (width 0.25) (layer F.Cu) (net 2))
  (segment (start 113 64) (end 118 64) (width 0.25) (layer F.Cu) (net 2) (tstamp 5E0C0001) (status 400000))
  (segment (start 105 70) (end 125 70) (width 0.12) (layer F.Cu) (net 3) (tstamp 5E0C0002))
  (segment (start 105 70.28) (end 124 70.28) (width 0.12) (layer F.Cu) (net 4))
  (segment (start 125 70) (end 140 70) (width 0.12) (layer B.Cu) (net 3))
  (via (at 118 64) (size 0.8) (drill 0.4) (layers F.Cu B.Cu) (net 2))
  (via (at 125 70) (size 0.5) (layers F.Cu B.Cu) (net 3))
  (via (at 105 80) (size 0.8) (layers F.Cu B.Cu) (net 1) (tstamp 5E0D0001) (status 30))
  (via blind (at 106 80) (size 0.6) (drill 0.3) (layers F.Cu In2.Cu) (net 1))
  (via blind (at 107 80) (size 0.6) (drill 0.3) (layers In1.Cu In2.Cu) (net 1))
  (via micro (at 108 80) (size 0.3) (drill 0.1) (layers F.Cu In1.Cu) (net 1))
  (via micro (at 109 71) (size 0.3) (layers F.Cu In1.Cu) (net 4))
"""

ZONES = """
  (zone (net 1) (net_name GND) (layer In1.Cu) (tstamp 5E0E0001) (hatch edge 0.508)
    (connect_pads (clearance 0.508))
    (min_thickness 0.254)
    (fill yes (arc_segments 32) (thermal_gap 0.508) (thermal_bridge_width 0.508))
    (polygon
      (pts
        (xy 100 50) (xy 150 50) (xy 150 90) (xy 100 90)
      )
    )
    (filled_polygon
      (pts
        (xy 101 51) (xy 149 51) (xy 149 62) (xy 101 62) (xy 101 55)
        (xy 110 55) (xy 110 60) (xy 115 60) (xy 115 55) (xy 110 55) (xy 101 55)
      )
    )
    (filled_polygon
      (pts
        (xy 101 79) (xy 149 79) (xy 149 89) (xy 101 89)
      )
    )
  )
  (zone (net 2) (net_name +3V3) (layer In2.Cu) (tstamp 0) (hatch edge 0.508)
    (priority 3)
    (connect_pads thru_hole_only (clearance 0.3))
    (min_thickness 0.2)
    (fill (arc_segments 16) (thermal_gap 0.508) (thermal_bridge_width 0.508))
    (polygon
      (pts
        (xy 100 50) (xy 120 50) (xy 120 90) (xy 100 90)
      )
    )
  )
  (zone (net 0) (net_name "") (layers F.Cu B.Cu) (tstamp 0) (hatch edge 0.508)
    (connect_pads (clearance 0.508))
    (min_thickness 0.254)
    (keepout (tracks not_allowed) (vias allowed) (copperpour not_allowed))
    (fill (arc_segments 32) (thermal_gap 0.508) (thermal_bridge_width 0.508))
    (polygon
      (pts
        (xy 140 80) (xy 148 80) (xy 148 88) (xy 140 88)
      )
    )
  )
"""


def whole_board() -> Kicad5:
    """Everything that KiCad 5 knows and that we read, in one board of four layers."""
    return Kicad5(net_classes=NET_CLASSES, items=(MODULES, OUTLINE, TRACKS, ZONES))

"""Net class patterns and the nets that KiCad takes them to mean."""

from __future__ import annotations

AS_KICAD: dict[str, tuple[list[str], dict[str, int]]] = {
    "a wildcard": (["*USB*"], {"USB": 1, "USBB": 1, "XUSB": 1, "US": 0}),
    "a question mark is one character": (["zz?"], {"zz1": 1, "zz12": 0, "yz1": 0}),
    "a regular expression": (["V.N"], {"VIN": 1, "V.N": 1, "VIIN": 0}),
    "a plus is a repeat and itself": (["/q+"], {"/q": 1, "/qq": 1, "/q+": 1}),
    "brackets of a regular expression": (["U(1)"], {"U1": 1, "U(1)": 1}),
    "a choice is anchored at one end each": (["a|b"], {"ab": 1, "ax": 1, "b": 1, "bb": 0, "xb": 0}),
    "anchors may be given": (["^a|b$"], {"ab": 1, "ax": 1, "b": 1, "xb": 0}),
    "case matters": (["lower", "DUP1"], {"lower": 1, "LOWER": 0, "dup1": 0}),
    "unless the pattern says otherwise": ([r"(?i)usb\d"], {"usb1": 1, "USB2": 1}),
    "a class by name": (["/[[:digit:]]"], {"/7": 1, "/a": 0}),
    "the whole name": (["\\w\\d"], {"a1": 1, "A7": 1, "/7": 0, "A10": 0}),
    "what is no regular expression is a wildcard": (["zz[", "("], {"zz[": 1, "(": 1, "zz": 0}),
    "a bus stands for its members": (["/D[0..2]"], {"/D0": 1, "/D1": 1, "/D2": 1, "/D.": 0, "/D3": 0}),
    "also with a wildcard in it": (["*[0..1]"], {"/D0": 1, "/D1": 1, "/D2": 0, "/CLK1": 1}),
    "and a pair's suffix": (["/T[1..2]P"], {"/T1P": 1, "/T2P": 1, "/T1N": 0}),
    "but no other suffix": (["/D[2..0]_P"], {"/D0_P": 1, "/D2_P": 1, "/D1_P": 0}),
    "a group stands for its members": (["G{A B}"], {"A": 1, "B": 1, "GA": 0, "G.A": 0}),
    "formatting braces make no group": (["V_{C}.*", "/~{RST}"], {"V_{C}.A": 1, "/~{RST}": 1, "/~{CS}1": 0}),
    "an escaped slash makes one": (["N{slash}1"], {"N{slash}1": 1, "/a{slash}b": 1, "N.slash": 0, "Nxx1": 0}),
}
"""Patterns, and which nets they take (1) or leave (0); `tests/kicad` asks a real KiCad for every pair of them."""

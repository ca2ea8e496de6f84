"""The voltage that a net's name tells."""

from __future__ import annotations

from stackup_lib.nets.net_voltages import volts_of_name
from tests.support.each import each

TOLD = {
    "+48V": 48.0,
    "/Power/P54V0": 54.0,
    "VIN_48V": 48.0,
    "-48V": -48.0,
    "+3V3": 3.3,
    "+48VIN": 48.0,
    "1.8V": 1.8,
    "NEG_12V": -12.0,
    "VNEG_12V": -12.0,
    "12V_NEG": -12.0,
    "VEE_-12V": -12.0,
    "48V_P": 48.0,
    "VCC-3V3": 3.3,
    "+3V3_DAC": 3.3,
    "48V_MAIN": 48.0,
    "48V_ACT": 48.0,
    "48VDC": 48.0,
    "-48VDC": -48.0,
    "12V_DC": 12.0,
    "48VIN": 48.0,
    "5VSB": 5.0,
    "54V": 54.0,
    "0V85": 0.85,
    "0V8_CORE": 0.8,
    "P0V85": 0.85,
    "VDD_0P85": 0.85,
    "VDD0V9": 0.9,
    "VCC1V8": 1.8,
    "VCC5V": 5.0,
    "P3P3V": 3.3,
    "1P8V_AUX": 1.8,
    "V1P8": 1.8,
    "0V": 0.0,
    "0V_ISO": 0.0,
    "0V0": 0.0,
    "GND": 0.0,
    "48V_RTN": 0.0,
    "/PSU/GNDA": 0.0,
}
UNTOLD = [
    "VCC",
    "48V_EN",
    "48V_TO_12V",
    "PG_48V_OK",
    "Net-(J1-48V)",
    "unconnected-(BUS1--12V-Pad7)",
    "/A48",
    "V48",
    "N12V",
    "12V48V",
    "48V_N",
    "48VDC_N",
    "VDC_48",
    "VDC1",
    "24VAC",
    "VCC12",
    "TX1P2",
    "V1P8_EN",
    "48V-",
    "V-48V",
    "AC_24V",
    "VIN_24VAC",
    "",
]


@each(name=list(TOLD))
def test_a_supply_names_its_voltage(name: str) -> None:
    """Sign, decimals behind the V or a point, the last part of a path; grounds and returns are 0 V."""
    assert volts_of_name(name) == TOLD[name]


@each(name=UNTOLD)
def test_other_names_tell_none(name: str) -> None:
    """Signals, names of two voltages, and names that KiCad made up."""
    assert volts_of_name(name) is None

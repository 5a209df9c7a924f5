"""Units of measurement as papers write them, with their value in the base unit of their kind."""

import re
from decimal import Decimal

PERCENT = "percent"

_UNITS_BY_WORTH: dict[str, dict[str, str]] = {
    "mass": {
        "1e-12": "pg",
        "1e-9": "ng, nanograms",
        "1e-6": "µg, ug, mcg, microgram, micrograms",
        "1e-3": "mg, milligram, milligrams",
        "1": "gram, grams",
        "28.349523125": "oz, ounce, ounces",
        "1e3": "kg, kilogram, kilograms",
    },
    "length": {
        "1e-9": "nm, nanometres, nanometers",
        "1e-6": "µm, um, micrometres, micrometers",
        "1e-3": "mm, millimetres, millimeters",
        "1e-2": "cm, centimetres, centimeters",
        "1": "metre, metres, meter, meters",
        "1e3": "km, kilometres, kilometers",
    },
    "volume": {
        "1e-6": "µl, ul, microlitres, microliters",
        "1e-3": "ml, millilitres, milliliters",
        "1e-1": "dl",
        "1": "litre, litres, liter, liters",
    },
    "time": {
        "1e-9": "ns",
        "1e-6": "µs",
        "1e-3": "ms, msec, milliseconds",
        "1": "sec, secs, second, seconds",
        "60": "min, mins, minute, minutes",
        "3600": "hr, hrs, hour, hours",
        "86400": "day, days",
        "604800": "week, weeks",
    },
    "months": {"1": "month, months", "12": "year, years, yr, yrs"},
    "celsius": {"1": "°c, degrees celsius, degrees c"},
    "fahrenheit": {"1": "°f, degrees fahrenheit, degrees f"},
    "frequency": {"1": "hz", "1e3": "khz", "1e6": "mhz", "1e9": "ghz"},
    "energy": {"1e3": "kj", "4184": "kcal"},
    "voltage": {"1e-3": "mv", "1e3": "kv"},
    "pressure": {"1": "pa", "1e2": "hpa", "1e3": "kpa", "133.322": "mmhg, mm hg"},
    "storage": {"1e3": "kb", "1e6": "mb", "1e9": "gb", "1e12": "tb"},
    "substance": {
        "1e-12": "pmol",
        "1e-9": "nmol",
        "1e-6": "µmol, umol",
        "1e-3": "mmol",
        "1": "mol",
    },
    "activity": {"1e-3": "miu", "1": "iu"},
    "dose": {"1": "gy"},
    "weight of molecules": {"1": "da", "1e3": "kda"},
    "dollars": {"1": "$, usd, us$, dollars, dollar, us dollars"},
    "euros": {"1": "€, eur, euros, euro"},
    "pounds sterling": {"1": "£, gbp"},
    "yen": {"1": "¥, yen"},
    PERCENT: {
        "0.1": "‰, permille, per mille",
        "1": "%, percent, per cent, per-cent, pct, percentage points",
    },
}
"""Kind of unit: value in the base unit: names, in any case."""
_CASED: dict[str, tuple[str, str]] = {
    "g": ("mass", "1"),
    "m": ("length", "1"),
    "l": ("volume", "1"),
    "L": ("volume", "1"),
    "s": ("time", "1"),
    "h": ("time", "3600"),
    "pM": ("concentration", "1e-12"),
    "nM": ("concentration", "1e-9"),
    "µM": ("concentration", "1e-6"),
    "uM": ("concentration", "1e-6"),
    "mM": ("concentration", "1e-3"),
    "K": ("kelvin", "1"),
    "MPa": ("pressure", "1e6"),
    "GPa": ("pressure", "1e9"),
    "mGy": ("dose", "1e-3"),
    "MDa": ("weight of molecules", "1e6"),
    "MIU": ("activity", "1e6"),
}
"""Units whose capitals matter: mM is not mm, 4G not 4 g, and 5 M are millions."""
_UNITS = {
    name: (kind, Decimal(worth))
    for kind, by_worth in _UNITS_BY_WORTH.items()
    for worth, names in by_worth.items()
    for name in names.split(", ")
}


def _any_of(units: list[str]) -> str:
    return "|".join(re.escape(unit) for unit in sorted(units, key=len, reverse=True))


UNIT = rf"(?-i:{_any_of(list(_CASED))})(?![A-Za-z])|{_any_of(list(_UNITS))}"
"""A unit, in a pattern without regard to case."""
PER = (
    rf"(?:(?:\s?/\s?| per )(?P<per>{UNIT})(?![A-Za-z])"
    r"|[ ·.]?(?P<inverse>(?-i:[mdµu]?[lL]|kg|m?g|min|s|h|day|m|cm))(?:\^-?|-)1(?!\d))?"
)
"""What a unit is divided by: "/ml", " per day", " ml-1"."""
CURRENCIES = r"us\$|[$€£¥]|(?:usd|eur|gbp)(?=\s)"
SYMBOL = r"(?:%|percent\b|per[ -]?cent\b|pct\b|(?:[mµnk]g|[mµd]l|[mckn]m|k?hz|kcal|kj)\b|°[cf]\b)"
"""Units that never follow the number of a page or a reference."""


def measured_in(unit: str) -> tuple[str, Decimal]:
    """The kind of a unit matched by `UNIT`, and its value in the base unit of its kind."""
    if unit in _CASED:
        kind, worth = _CASED[unit]
        return kind, Decimal(worth)
    return _UNITS[unit.lower()]

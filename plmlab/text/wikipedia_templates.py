"""Wikipedia's templates as running text: {{convert|8|km}} → 8 km. Most templates are removed."""

import re

FIRST_WORD = {"quote", "nihongo", "tooltip", "keypress", "oldstyledate", "vanchor", "nowrap", "ipa", "nts",
              "flag", "sup"}
LAST_WORD = {"lang", "rtl-lang", "transl", "native name", "script", "nq", "linktext", "angbr", "small", "smaller",
             "large", "big", "resize", "midsize", "sc"}
AS_SIGN = {"snd": " – ", "spaced ndash": " – ", "ndash": "–", "mdashb": "—", "nbsp": " ", "thinsp": " ",
           "spaces": " ", "'": "'", "'s": "'s", "·": " · ", "dot": " · ", "!": "|", "=": "=",
           "carbon": "C", "hydrogen": "H"}
UNITS = {
    "sqmi": "square miles", "km2": "km²", "m2": "m²", "m3": "m³", "c": "°C", "°c": "°C", "°f": "°F", "c-change": "°C",
    "nmi": "nautical miles", "mi": "miles", "ft": "feet", "in": "inches", "lb": "pounds", "acre": "acres",
    "e6acre": "million acres", "ha": "hectares", "mph": "miles per hour", "ft/s": "feet per second",
    "ft3": "cubic feet", "tcuft": "trillion cubic feet", "usgal": "US gallons", "musgal": "million US gallons",
    "oilbbl": "barrels", "moilbbl": "million barrels", "goilbbl": "billion barrels", "oilbbl/d": "barrels per day",
    "koilbbl/d": "thousand barrels per day", "moilbbl/d": "million barrels per day", "mt": "megatonnes",
    "lt": "long tons", "pd/sqmi": "people per square mile", "e6carat": "million carats", "au": "AU",
}
SINGULAR = {"mi": "mile", "ft": "foot", "in": "inch", "lb": "pound", "acre": "acre", "ha": "hectare",
            "nmi": "nautical mile"}
JOINTS = {"-": "–", "–": "–", "to": " to ", "and": " and ", "or": " or ", "x": " × ", "by": " × ",
          "to(-)": " to ", "and(-)": " and "}
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December")
NUMBER = re.compile(r"[-−]?[\d,.]+(?:/\d+)?$")
SUPERSCRIPT = str.maketrans("0123456789+-−n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿ")
SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def template_text(inside: str) -> str:
    """The text of the template ``{{inside}}`` in a sentence; an empty string if the template has none."""
    parts = [part.strip() for part in inside.split("|")]
    name, arguments = parts[0].lower().replace("_", " "), _positional(parts[1:])
    if name in AS_SIGN:
        return AS_SIGN[name]
    if not arguments:
        return ""
    if name in FIRST_WORD:
        return arguments[0]
    if name in LAST_WORD:
        return arguments[-1]
    if name.startswith("lang-"):
        return arguments[0]
    rule = RULES.get(name)
    return rule(arguments, inside) if rule else ""


def _positional(parts: list[str]) -> list[str]:
    """The unnamed arguments, including those numbered explicitly (``1=text``)."""
    found = []
    for part in parts:
        name, equals, value = part.partition("=")
        if not equals:
            found.append(part)
        elif name.strip().isdigit() or name.strip() == "text":
            found.append(value.strip())
    return found


def _convert(arguments: list[str], inside: str) -> str:
    """{{convert|3700|-|5500|m|ft}} → 3,700–5,500 m: the original value, without its conversion."""
    text = ""
    for i, argument in enumerate(arguments):
        if NUMBER.fullmatch(argument):
            text += _thousands(argument)
        elif argument in JOINTS and i + 1 < len(arguments) and NUMBER.fullmatch(arguments[i + 1]):
            text += JOINTS[argument]
        else:
            return text + _unit(argument.lower(), argument, "adj=" in inside or "sing=on" in inside, text)
    return text


def _unit(key: str, written: str, adjective: bool, amount: str) -> str:
    if adjective or amount == "1":
        return ("-" if adjective else " ") + SINGULAR.get(key, UNITS.get(key, written))
    return " " + UNITS.get(key, written)


def _thousands(number: str) -> str:
    return f"{int(number):,}" if number.isdigit() and len(number) > 4 else number.replace("-", "−")


def _as_of(arguments: list[str], inside: str) -> str:
    """{{as of|2015|6}} → As of June 2015."""
    year, month, day = (*arguments, "", "")[:3]
    if month.isdigit():
        month = MONTHS[(int(month) - 1) % 12]
    begin = "as of" if re.search(r"lc\s*=\s*y", inside) else "As of"
    return " ".join(part for part in (begin, day, month, year) if part)


def _chem(arguments: list[str], inside: str) -> str:
    """{{chem|H|2|O}} → H₂O; a charge becomes a superscript."""
    text = ""
    for argument in arguments:
        charge = re.fullmatch(r"\d*[+\-−]", argument)
        text += argument.translate(SUPERSCRIPT if charge and text else SUBSCRIPT)
    return text


def _fraction(arguments: list[str], inside: str) -> str:
    """{{frac|1|2}} → 1/2, {{frac|3|1|2}} → 3 1/2."""
    *whole, top, bottom = ["1", *arguments] if len(arguments) == 1 else arguments[:3]
    return " ".join([*whole, f"{top}/{bottom}"])


def _date(arguments: list[str], inside: str) -> str:
    """{{birth date|1879|3|14}} → 14 March 1879."""
    if len(arguments) < 3 or not all(part.isdigit() for part in arguments[:3]):
        return arguments[0]
    year, month, day = arguments[:3]
    return f"{int(day)} {MONTHS[(int(month) - 1) % 12]} {year}"


def _value(arguments: list[str], inside: str) -> str:
    """{{val|6.24|e=18|u=C}} → 6.24×10¹⁸ C; the uncertainty is left out."""
    power, unit = (re.search(rf"\b{name}\s*=\s*([^|]+)", inside) for name in ("e", "u"))
    text = arguments[0] + (_power([power[1].strip()], inside) if power else "")
    return f"{text} {unit[1].strip()}" if unit else text


def _power(arguments: list[str], inside: str) -> str:
    return "×10" + arguments[0].translate(SUPERSCRIPT)


RULES = {
    "convert": _convert, "as of": _as_of, "chem": _chem, "frac": _fraction, "birth date": _date, "dts": _date,
    "val": _value, "e": _power,
    "circa": lambda arguments, inside: f"c. {arguments[0]}", "us$": lambda arguments, inside: f"US${arguments[0]}",
}

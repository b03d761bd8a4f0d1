"""Dates into months, quarters, half-years, years, decades."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache

from dpdesk.core.messages import msg
from dpdesk.core.parameters import Parameter, TextListParameter, nearest
from dpdesk.core.plain import quoted
from dpdesk.engine.hierarchies.options import (
    APART,
    ROOT,
    Options,
    Rows,
    option_error,
    texts,
    value_error,
)

FORMATS = (
    "yyyy-mm-dd",
    "dd.mm.yyyy",
    "dd/mm/yyyy",
    "mm/dd/yyyy",
    "dd-mm-yyyy",
    "mm-dd-yyyy",
    "yyyy/mm/dd",
    "yyyymmdd",
    "yyyy-mm-dd hh:mm:ss",
    "yyyy-mm-ddThh:mm:ss",
    "yyyy-mm-dd hh:mm",
    "yyyy-mm-ddThh:mm",
    "dd.mm.yyyy hh:mm:ss",
    "dd.mm.yyyy hh:mm",
    "yyyy-mm",
    "mm/yyyy",
    "yyyymm",
    "yyyy",
)
RIVALS = (("dd/mm/yyyy", "mm/dd/yyyy"), ("dd-mm-yyyy", "mm-dd-yyyy"))
"""Forms of which both may fit the same dates."""

_ZONE = r"(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)?"
_PERCENT = {"%Y": "yyyy", "%m": "mm", "%d": "dd", "%H": "hh", "%M": "MM", "%S": "ss"}
_TOKENS = {
    "yyyy": r"(?P<year>[0-9]{4})",
    "mm": r"(?P<month>[0-9]{1,2})",
    "dd": r"(?P<day>[0-9]{1,2})",
    "hh": r"(?:[01]?[0-9]|2[0-3])",
    "MM": r"[0-5][0-9]",
    "ss": r"[0-5][0-9](?:\.[0-9]+)?",
}


@dataclass(frozen=True)
class _Unit:
    """A level: what of a date it needs, and how it writes it."""

    needs: str
    label: Callable[[date], str]


def _years(found: date, length: int) -> str:
    first = found.year - found.year % length
    return f"{first:04d}-{first + length - 1:04d}"


UNITS: dict[str, _Unit] = {
    "day": _Unit("day", lambda found: found.isoformat()),
    "month": _Unit("month", lambda found: f"{found.year:04d}-{found.month:02d}"),
    "quarter": _Unit("month", lambda found: f"{found.year:04d}-Q{(found.month + 2) // 3}"),
    "half-year": _Unit("month", lambda found: f"{found.year:04d}-H{(found.month + 5) // 6}"),
    "year": _Unit("year", lambda found: f"{found.year:04d}"),
    "decade": _Unit("year", lambda found: _years(found, 10)),
    "century": _Unit("year", lambda found: _years(found, 100)),
}
_DEFAULT = ("month", "quarter", "year", "decade")

PARAMETERS: tuple[Parameter, ...] = (
    TextListParameter(
        "format",
        "Form of the dates",
        "One or several forms such as dd.mm.yyyy; if empty, determined from the values.",
    ),
    TextListParameter(
        "levels",
        "Levels",
        "Rising units: day, month, quarter, half-year, year, decade, century.",
    ),
    APART,
)


def build_rows(values: Sequence[str], options: Options, where: str) -> Rows:
    """One row per value, sorted by date: the value, its period at each level, the top."""
    given = texts(options, "format")
    formats = _known_formats(given, where) if given else (_detect(values, where),)
    parsed = [read_date(value, formats) for value in values]
    wrong = [value for value, found in zip(values, parsed, strict=True) if found is None]
    if wrong:
        raise _no_date(where, wrong, formats)
    units = _units(texts(options, "levels"), formats, where)
    dated = sorted(
        (found, value) for value, found in zip(values, parsed, strict=True) if found is not None
    )
    return [[value, *(unit.label(found) for unit in units), ROOT] for found, value in dated]


def detect_formats(values: Sequence[str]) -> list[str]:
    """The known forms in which every value is a date, most likely first."""
    return [
        form
        for form in FORMATS
        if values and all(read_date(value, (form,)) is not None for value in values)
    ]


@cache
def _pattern(form: str) -> re.Pattern[str]:
    for percent, token in _PERCENT.items():
        form = form.replace(percent, token)
    # Minutes are written like months; after the hour they mean minutes.
    form = re.sub(r"(hh[^a-z]?)mm", r"\1MM", form)
    parts = re.split(r"(yyyy|mm|dd|hh|MM|ss)", form)
    text = "".join(_TOKENS.get(part, re.escape(part)) for part in parts)
    if "yyyymm" in form or "mmdd" in form or "ddmm" in form:
        text = text.replace("{1,2}", "{2}")
    if "hh" in form:
        text += _ZONE
    return re.compile(text, re.ASCII)


def read_date(value: str, formats: Sequence[str]) -> date | None:
    """The day that a text names in the first of ``formats`` that it has; None for none.

    A form without day or month gives the first one.
    """
    for form in formats:
        match = _pattern(form).fullmatch(value.strip())
        if match:
            parts = match.groupdict()
            try:
                return date(
                    int(parts["year"]), int(parts.get("month") or 1), int(parts.get("day") or 1)
                )
            except ValueError:
                continue
    return None


def _known_formats(given: tuple[str, ...], where: str) -> tuple[str, ...]:
    for form in given:
        try:
            groups = _pattern(form).groupindex
        except re.error:
            groups = {}
        if "year" not in groups or ("day" in groups and "month" not in groups):
            raise option_error(
                where,
                msg(
                    '`format` is "{form}", expected a form of yyyy, mm and dd such as '
                    '"dd.mm.yyyy".',
                    form=form,
                ),
                key="format",
            )
    return given


def _detect(values: Sequence[str], where: str) -> str:
    if not values:
        return FORMATS[0]
    found = detect_formats(values)
    if not found:
        best = max(FORMATS, key=lambda form: sum(read_date(v, (form,)) is not None for v in values))
        wrong = [value for value in values if read_date(value, (best,)) is None]
        raise _no_date(where, wrong, (best,))
    rivals = next((pair for pair in RIVALS if set(pair) <= set(found)), None)
    if rivals is not None:
        raise option_error(
            where,
            msg(
                "{values} can be read as {rivals} and as {rivals2}, expected `format` to "
                "say which.",
                values=quoted(values[0]),
                rivals=rivals[0],
                rivals2=rivals[1],
            ),
            hint=msg('For instance format = "{form}".', form=rivals[0]),
            key="format",
        )
    return found[0]


def _no_date(where: str, wrong: Sequence[str], formats: Sequence[str]) -> Exception:
    forms = " or ".join(formats)
    hint = "Declare such values as missing, keep them `apart`, or give `format`."
    return value_error(where, wrong, msg("dates in the form {forms}", forms=forms), hint)


def _units(given: tuple[str, ...] | None, formats: Sequence[str], where: str) -> list[_Unit]:
    known = list(UNITS)
    available = [
        name
        for name in known
        if all(UNITS[name].needs in _pattern(form).groupindex for form in formats)
    ]
    if given is None:
        return [UNITS[name] for name in _DEFAULT if name in available]
    for position, name in enumerate(given):
        if name not in known:
            near = nearest(name, known)
            raise option_error(
                where,
                msg(
                    '`levels` holds "{name}", expected {units}.', name=name, units=", ".join(known)
                ),
                hint=msg("Did you mean `{near}`?", near=near) if near else "",
                key="levels",
            )
        if position and known.index(name) <= known.index(given[position - 1]):
            raise option_error(
                where,
                msg(
                    "`levels` holds {name} after {given}, expected rising units.",
                    name=name,
                    given=given[position - 1],
                ),
                key="levels",
            )
        if name not in available:
            raise option_error(
                where,
                msg(
                    "`levels` holds {name}, but the form {join} has no {needs}.",
                    name=name,
                    join=" or ".join(formats),
                    needs=UNITS[name].needs,
                ),
                key="levels",
            )
    return [UNITS[name] for name in given]

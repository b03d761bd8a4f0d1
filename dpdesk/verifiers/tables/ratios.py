"""Tables of ratios: whether they are made of two other tables, and tell no more than these.

A ratio next to one of its sums gives the other one, to within its rounding: that is why a ratio
must be suppressed wherever one of its sums is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import inf, isclose

import numpy as np

from dpdesk.core.messages import msg
from dpdesk.core.shapes import as_list, as_table
from dpdesk.core.tabulation import INTERVAL, IS_LEAST, PRIMARY, PUBLISHED, SECONDARY, CellTable
from dpdesk.verifiers.reading import number
from dpdesk.verifiers.tables.published import place_of

RATIO = "ratio"
_CLOSE = 1e-9


def added_measures(parameters: Mapping[str, object]) -> list[object]:
    """What each table of the settings adds up; those of ratios are left out."""
    planned = as_list(parameters.get("tables", []))
    usual = parameters.get("measure", "count")
    found = [as_table(one).get("measure", usual) for one in planned] or [usual]
    return [one for one in found if not (isinstance(one, Mapping) and RATIO in one)]


def divided(
    made: Sequence[Mapping[str, object]],
    parameters: Mapping[str, object],
    published: Mapping[str, CellTable],
    internal: Mapping[str, CellTable] | None,
) -> tuple[str, str]:
    """What is wrong with the tables of ratios that are ``made``, and in which file; empty: nothing.

    Each is to be made of two others, and to tell no more than they do.
    """
    planned = {str(as_table(one)["name"]): as_table(one) for one in as_list(parameters["tables"])}
    apart = parameters.get("tell_apart") is True
    for line in made:
        own, file = as_table(planned[str(line["name"])]["measure"]), str(line["file"])
        fault = other_ratios(own, published[file], list(published.values()), apart=apart)
        if not fault and internal is not None:
            fault = other_kept_ratios(own, internal[file], list(internal.values()))
        if fault:
            return fault, file
    return "", str(made[0]["file"])


def _parts(
    measure: Mapping[str, object], tables: Sequence[CellTable]
) -> tuple[CellTable, CellTable]:
    """The table that is divided, and by which."""
    named = {table.name: table for table in tables}
    return named[str(measure["ratio"])], named[str(measure["by"])]


def other_ratios(
    measure: Mapping[str, object], table: CellTable, tables: Sequence[CellTable], *, apart: bool
) -> str:
    """What of published ratios is not as their published sums ask; empty: nothing.

    With ``apart`` the status of a suppressed one tells whether a sum of it is unsafe.
    """
    above, below = _parts(measure, tables)
    shapes = [[(x.name, x.labels, x.parents) for x in one.axes] for one in (table, above, below)]
    if shapes[0] != shapes[1] or shapes[0] != shapes[2]:
        return "its rows and columns are not those of the tables that it divides"
    for cell, text in enumerate(table.values):
        shown, by = above.values[cell], below.values[cell]
        fault: str | None = None
        if text and not (shown and by):
            fault = _told(measure, number(text), shown, by)
        elif not text and shown and by:
            fault = "the ratio is suppressed, and both of its sums are published"
        elif text and not _is_quotient(measure, text, number(shown), number(by)):
            fault = "the ratio is not the quotient of the published sums"
        elif not text and apart:
            both = above.status[cell], below.status[cell]
            wanted = PRIMARY if PRIMARY in both else SECONDARY
            fault = None if table.status[cell] == wanted else "its sums have another status"
        if fault:
            return msg("cell {cell}: {fault}", cell=place_of(table, cell), fault=fault)
    return ""


def _is_quotient(
    measure: Mapping[str, object], text: str, above: Fraction, below: Fraction
) -> bool:
    value = above / below if below else Fraction(0)
    if "decimals" in measure:
        value = round(value, int(str(measure["decimals"])))
    # A number with many digits stands there as the nearest one that a program reads.
    return number(text) == value or (value.denominator > 1 and float(text) == float(value))


def _told(measure: Mapping[str, object], ratio: Fraction, above: str, below: str) -> str:
    """What a ratio tells of a suppressed sum: its rounding leaves an interval."""
    if not above and not below:
        return "the ratio is published, and both of its sums are suppressed"
    half = Fraction(0)
    if "decimals" in measure:
        half = Fraction(1, 2 * 10 ** int(str(measure["decimals"])))
    low, high = ratio - half, ratio + half
    if below:
        ends = sorted([low * number(below), high * number(below)])
    else:
        shown = number(above)
        around = [shown / end for end in (low, high) if end]
        ends = sorted(around) if len(around) == 2 and low * high > 0 else []
    if not ends:
        return "the ratio is published, and one of its sums is suppressed"
    return msg(
        "the ratio is published and one of its sums is suppressed, which must be between {low} "
        "and {high} then",
        low=f"{float(ends[0]):.6g}",
        high=f"{float(ends[1]):.6g}",
    )


def other_kept_ratios(
    measure: Mapping[str, object], table: CellTable, tables: Sequence[CellTable]
) -> str:
    """What of the agency's ratios is not as its sums give them; empty: nothing."""
    above, below = (one.internal for one in _parts(measure, tables))
    own = table.internal
    for cell, text in enumerate(own["value"]):
        status = above["status"][cell], below["status"][cell]
        worst = next((code for code in (PRIMARY, SECONDARY) if code in status), PUBLISHED)
        held = [one["frequency"][cell] for one in (above, below)]
        fewest = str(min(map(int, held))) if all(held) else ""
        fits = own["status"][cell] == worst and own["frequency"][cell] == fewest
        fits &= own["lower_required"][cell] == own["upper_required"][cell] == "0"
        true = number(above["value"][cell]), number(below["value"][cell])
        if not fits or not text or not _is_quotient(measure, text, *true):
            return msg(
                "cell {cell}: the agency's ratio is not what its sums give",
                cell=place_of(table, cell),
            )
        ends = _ends(above, below, cell)
        if true[1] and ends[0] == ends[1]:
            ends = (float(number(text)),) * 2
        stated = own["lower"][cell], own["upper"][cell]
        if not all(_same(*pair) for pair in zip(stated, ends, strict=True)) or (
            INTERVAL in own and own[INTERVAL][cell] != _sureness(above, below, cell)
        ):
            return msg(
                "cell {cell}: the interval of the agency's ratio is not what its sums give",
                cell=place_of(table, cell),
            )
    return ""


def _same(stated: str, end: float) -> bool:
    if not stated:
        return abs(end) == inf
    return isclose(float(stated), end, rel_tol=_CLOSE, abs_tol=_CLOSE)


def _sureness(
    above: Mapping[str, Sequence[str]], below: Mapping[str, Sequence[str]], cell: int
) -> str:
    both = [one[INTERVAL][cell] for one in (above, below) if INTERVAL in one]
    return IS_LEAST if IS_LEAST in both else max(both)


def _ends(
    above: Mapping[str, Sequence[str]], below: Mapping[str, Sequence[str]], cell: int
) -> tuple[float, float]:
    """The least and largest quotient of numbers in the intervals of both sums: at their corners,
    or without an end where the divisor can be 0.
    """
    corners: list[float] = []
    signs = set[float]()
    for divisor in _limits(below, cell):
        for end in _limits(above, cell):
            corners.extend(_corner(end, divisor))
        signs.add(float(np.sign(divisor)))
    if {-1.0, 1.0} <= signs:
        return -inf, inf
    if 0.0 in signs:
        way = next((sign for sign in signs if sign), 1.0)
        corners += [float(np.sign(end)) * way * inf for end in _limits(above, cell) if end]
    return (min(corners), max(corners)) if corners else (0.0, 0.0)


def _limits(columns: Mapping[str, Sequence[str]], cell: int) -> tuple[float, float]:
    low, high = columns["lower"][cell], columns["upper"][cell]
    return float(low) if low else -inf, float(high) if high else inf


def _corner(end: float, divisor: float) -> Iterator[float]:
    if abs(end) == inf and abs(divisor) == inf:
        # Anything between 0 and no end.
        yield from (0.0, float(np.sign(end) * np.sign(divisor)) * inf)
    elif divisor:
        yield end / divisor

"""Tables of ratios: which two tables of a plan each of them divides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.systems import is_device_name
from dpdesk.core.table_parameters import BY, DECIMALS, MEAN, RATIO

if TYPE_CHECKING:
    from dpdesk.engine.methods.table.settings import TableSpec

FOLDER = "tables"


@dataclass(frozen=True)
class RatioSpec:
    """A table whose cells are those of one table of the plan, divided by those of another.

    ``above`` and ``below`` are their places among the tables that are counted, ``place`` is its own
    among all tables of the plan. ``decimals``: to how many ratios are rounded (None: not at all).
    """

    name: str
    dimensions: tuple[str, ...]
    file: str
    head: tuple[str, ...]
    place: int
    above: int
    below: int
    decimals: int | None = None


def is_ratio(each: Mapping[str, object]) -> bool:
    """Whether one of several tables holds ratios of others."""
    measure = each.get("measure")
    return isinstance(measure, Mapping) and RATIO in measure


def read_ratios(
    given: object, tables: Sequence[TableSpec], where: str, *, fitting: bool
) -> Iterator[RatioSpec]:
    """The tables of ratios among those that a plan gives; ``tables`` are the others.

    Raises InputError ``table.ratio`` for those of other than two tables of sums with the same rows
    and columns, and where the rest of the plan is not ``fitting``.
    """
    places = {table.name: place for place, table in enumerate(tables)}
    for place, each in enumerate(given if isinstance(given, list) else []):
        if not is_ratio(each):
            continue
        measure, name = each["measure"], str(each["name"])
        of = [str(measure[key]) for key in (RATIO, BY)]
        head = tuple(map(str, each.get("columns", [])))
        dimensions = (*map(str, each.get("rows", [])), *head)
        fault = _fault([tables[places[x]] for x in of if x in places], dimensions, each, where)
        if not fault and not fitting:
            fault = msg(
                "{where}: table `{table}` holds ratios, which are of tables counted from rows "
                "whose cells are suppressed; expected no other protection and no cells as given.",
                where=where,
                table=name,
            )
        if fault:
            raise InputError("table.ratio", fault, details={"key": "tables"})
        ends = places[of[0]], places[of[1]], measure.get(DECIMALS)
        yield RatioSpec(name, dimensions, file_of(name), head, place, *ends)


def _fault(
    parts: Sequence[TableSpec], dimensions: tuple[str, ...], each: Mapping[str, object], where: str
) -> str:
    """What is wrong with a table of ratios of these; empty: nothing."""
    if len(parts) < 2 or parts[0] is parts[1] or any(x.measure.kind == MEAN for x in parts):
        return msg(
            "{where}: table `{table}` holds ratios, expected `ratio` and `by` to name two other "
            "tables of the plan that hold counts or sums.",
            where=where,
            table=str(each["name"]),
        )
    own = each.get("hierarchy", {})
    if any(one.dimensions != dimensions or dict(one.hierarchy) != own for one in parts):
        return msg(
            "{where}: table `{table}` holds ratios, expected the `rows` and `columns` of both "
            "tables that it divides, and no `hierarchy` that only one of them has.",
            where=where,
            table=str(each["name"]),
        )
    return ""


def file_of(name: str) -> str:
    """The file of one of several tables: what no system may have in a name is percent-encoded."""
    safe = quote(name, safe="").replace("~", "%7E")
    if safe.startswith(".") or is_device_name(safe):
        safe = f"%{ord(safe[0]):02X}{safe[1:]}"
    return f"{FOLDER}/{safe}.csv"

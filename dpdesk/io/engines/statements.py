"""What is asked of an engine, as expressions of Ibis, and its SQL.

Every question stands on one table, ``dpdesk_source``: for each column ``k0``, ``k1``, … the text by
which the engine tells its values apart, and ``v0``, ``v1``, … the value with its own type. Ibis
groups and joins; which columns there are and how the engine writes a text is said by the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from dpdesk.core.plain import BLANKS
from dpdesk.core.source_spec import NUMBER, TEXT

if TYPE_CHECKING:
    from pathlib import Path

    from dpdesk.core.jobs import CancelToken, Report

SOURCE, RAW_SOURCE = "dpdesk_source", "dpdesk_raw"
KeyRanks = Sequence[tuple[str, int]]
"""Texts of the engine, each with the number that stands for it."""
COUNT = "Count in the engine"
FILLED = "[^" + "".join(f"{chr(one)}-{chr(last)}" for one, last in BLANKS) + "]"
"""The pattern, for engines, of a text that shows something."""
SURE: Mapping[str, str] = MappingProxyType({NUMBER: "[^0-9]", TEXT: "[^\x01-\U0010ffff]"})
"""By declared type the pattern, for engines, of a text that may not be of it.

Digits alone are a number with any decimal mark, and a text without NUL is a text. What matches is
looked at here, where it is decided; so is all of a type that is not in the list.
"""


class Engine(Protocol):
    """A table in an engine that counts it there."""

    @property
    def name(self) -> str:
        """What people call the engine."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table."""
        ...

    def base(self, places: Sequence[int], *, filled: bool, prints: bool) -> Mapping[str, str]:
        """The tables in SQL, by name, on which questions stand; see this module.

        With ``filled`` without the rows that hold no value in any column; with ``prints`` there are
        two whole numbers ``h0`` and ``h1`` made of all these columns of a row, and ``e``, 1 where
        the first of them shows nothing and 0 elsewhere.
        """
        ...

    def compiled(self, expression: Any) -> Any:
        """An expression of Ibis as a tree of SQL."""
        ...

    def sql(self, tree: Any) -> str:
        """A tree of SQL in the words of the engine."""
        ...

    def fetch(self, sql: str, target: Path, token: CancelToken, report: Report) -> None:
        """Run a question; its answer goes to the Parquet file ``target``, columns c0, c1, ….

        A column may have texts for what its type cannot hold, ``s0``, ``s1``, …. Raises InputError,
        StorageError, Cancelled.
        """
        ...

    def text_sql(self, name: str, kind: str) -> str:
        """SQL of DuckDB for the canonical text of a column of ``target``; never NULL."""
        ...

    def close(self) -> None:
        """Give back what the engine holds for us."""
        ...


def values_of(
    engine: Engine, place: int, *, filled: bool, most: int | None = None, doubt: str | None = None
) -> str:
    """SQL for the values of a column: c0 the value, c1 its text in the engine, c2 its rows.

    With ``most``, so many of the most frequent; with ``doubt``, those whose text matches this
    pattern.
    """
    found = _values(place)
    if doubt is not None:
        found = found.filter(found[f"k{place}"].re_search(doubt))
    if most is not None:
        found = found.order_by([_ibis().desc("n"), f"k{place}"]).limit(most)
    return _statement(engine, found, engine.base([place], filled=filled, prints=False))


def _values(place: int) -> Any:
    table = _source([f"v{place}", f"k{place}"])
    return table.group_by([f"v{place}", f"k{place}"]).agg(n=table.count())


def doubts_of(engine: Engine, patterns: Mapping[int, str], *, filled: bool) -> str:
    """SQL for one row: of how many rows the text of a column matches its pattern."""
    table = _source([f"k{place}" for place in patterns])
    counted = {
        f"n{place}": table[f"k{place}"].re_search(pattern).ifelse(1, 0).sum()
        for place, pattern in patterns.items()
    }
    base = engine.base([*patterns], filled=filled, prints=False)
    return _statement(engine, table.agg(**counted), base)


def tally_of(engine: Engine, place: int, *, filled: bool) -> str:
    """SQL for the number of values of a column, and of those that occur once."""
    values = _values(place)
    found = values.agg(a=values.count(), b=(values["n"] == 1).sum())
    return _statement(engine, found, engine.base([place], filled=filled, prints=False))


def first_of(engine: Engine, places: Sequence[int], most: int, *, filled: bool) -> str:
    """SQL for the values of the first rows, in whatever order the engine gives them."""
    table = _source([f"v{place}" for place in places])
    # Under names of their own: Ibis would ask for all columns of the base otherwise, keys too.
    named = {f"c{place}": table[f"v{place}"] for place in places}
    found = table.select(**named).limit(most)
    return _statement(engine, found, engine.base(places, filled=filled, prints=False))


def tuples_of(
    engine: Engine, places: Sequence[int], ranks: Mapping[int, KeyRanks], *, filled: bool
) -> str:
    """SQL for the distinct tuples of some columns, c0, c1, …, and behind them their rows.

    A column in ``ranks`` comes as the number that stands for its text, all others as their texts.
    """
    table = _source([f"k{place}" for place in places])
    found, keys = table, []
    for place in places:
        if place in ranks:
            small = _ibis().table({"k": "string", "r": "int32"}, name=f"m{place}")
            joined = found.join(small, found[f"k{place}"] == small["k"], how="inner")
            found = joined.drop(f"k{place}", "k").rename({f"r{place}": "r"})
        keys.append(f"r{place}" if place in ranks else f"k{place}")
    grouped = found.group_by(keys).agg(n=found.count())
    base = dict(engine.base(places, filled=filled, prints=False))
    small_tables = {f"m{place}": _listed(engine, pairs) for place, pairs in ranks.items()}
    return _statement(engine, grouped, {**small_tables, **base})


def totals_of(engine: Engine, places: Sequence[int], *, filled: bool) -> str:
    """SQL for the number of rows, two sums that a change of any of these columns changes, and how
    many rows show nothing in the first of them.
    """
    numbers = {"h0": "int64", "h1": "int64", "e": "int64"}
    table = _ibis().table(numbers, name=SOURCE)
    found = table.agg(
        n=table.count(),
        a=table["h0"].cast("decimal(38, 0)").sum(),
        b=table["h1"].cast("decimal(38, 0)").sum(),
        e=table["e"].sum(),
    )
    return _statement(engine, found, engine.base(places, filled=filled, prints=True))


def _source(columns: Sequence[str]) -> Any:
    return _ibis().table(dict.fromkeys(columns, "string"), name=SOURCE)


def _statement(engine: Engine, expression: Any, tables: Mapping[str, str]) -> str:
    """One statement: the tables that it stands on, and what Ibis makes of the expression."""
    tree = engine.compiled(expression)
    if tree.ctes:
        raise RuntimeError("a question with tables of its own")
    listed = ",\n".join(f"{name} AS (\n{sql}\n)" for name, sql in tables.items())
    return f"WITH {listed}\n{engine.sql(tree)}"


def _listed(engine: Engine, pairs: KeyRanks) -> str:
    """A small table of texts and numbers, written out."""
    from sqlglot import exp

    rows = [
        exp.Tuple(expressions=[exp.Literal.string(text), exp.Literal.number(rank)])
        for text, rank in pairs
    ]
    alias = exp.TableAlias(this=exp.to_identifier("t"), columns=[*map(exp.to_identifier, "kr")])
    return engine.sql(exp.select("k", "r").from_(exp.Values(expressions=rows, alias=alias)))


def _ibis() -> Any:
    import ibis

    return ibis

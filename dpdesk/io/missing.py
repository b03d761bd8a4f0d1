"""Which values of a column stand for a missing one: declared by the plan, or by the source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import UserMissing
from dpdesk.core.messages import counted, listed, msg
from dpdesk.core.plain import quoted
from dpdesk.core.schema import LONGEST_FORM, ColumnType
from dpdesk.core.source_spec import missing_line
from dpdesk.io.coding import DATA, Column
from dpdesk.io.csvload import RAW
from dpdesk.io.database import literal, query
from dpdesk.io.formats.stat_faults import nul_in_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


# The one character that a released table cannot have: NUL, at which other programs end a text.


_AT_ONCE = 500


def refuse_nul(
    con: DuckDBPyConnection,
    texts: Sequence[tuple[int, str]],
    path: Path,
    token: CancelToken,
) -> None:
    """Raise InputError ``read.nul`` with the first place of a NUL in the table ``raw``.

    ``texts`` are the places and the names of the columns that may hold one.
    """
    for first in range(0, len(texts), _AT_ONCE):
        some = texts[first : first + _AT_ONCE]
        listed = ", ".join(f"bool_or(contains(c{j}::VARCHAR, chr(0)))" for j, _ in some)
        with query(con, token, path) as cursor:
            found = cursor.execute(f"SELECT {listed} FROM {RAW}").fetchone() or ()
            for (j, name), hit in zip(some, found, strict=True):
                if hit:
                    where = f"FROM {RAW} WHERE contains(c{j}::VARCHAR, chr(0))"
                    row = cursor.execute(f"SELECT min(rowid) + 1 {where}").fetchone() or (1,)
                    raise nul_in_text(path.name, int(row[0]), name)


def form_sql(v: str) -> str:
    """SQL for the Unicode form of a text, as :func:`dpdesk.core.schema.form` gives it."""
    return f"CASE WHEN length({v}) <= {LONGEST_FORM} THEN nfc_normalize({v}) ELSE {v} END"


# The types that a column may have: what each of its values must be, in SQL, and their order.


_TRIMMED = "trim(v)"
_BOOLEAN_PAIRS = (
    ("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("ja", "nein"), ("oui", "non"),
    ("sí", "no"), ("si", "no"), ("wahr", "falsch"), ("vrai", "faux"),
)  # fmt: skip
ISO_DATE = r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?)?"
DATE_FORMS = (
    (r"\d{4}/\d{1,2}/\d{1,2}", "%Y/%m/%d"),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", "%d.%m.%Y"),
    (r"\d{1,2}/\d{1,2}/\d{4}", "%d/%m/%Y"),
    (r"\d{1,2}/\d{1,2}/\d{4}", "%m/%d/%Y"),
    (r"\d{1,2}-\d{1,2}-\d{4}", "%d-%m-%Y"),
    (r"\d{1,2}-\d{1,2}-\d{4}", "%m-%d-%Y"),
)


DATE_ORDERS = {"%Y": "ymd", "%d": "dmy", "%m": "mdy"}
"""How a date is written whose form begins like this."""


@dataclass(frozen=True)
class Candidate:
    """A type, the condition that each value ``v`` meets, and the key that orders them (or none).

    ``date_order`` tells the order of year, month and day in dates.
    """

    kind: ColumnType
    condition: str
    order: str = ""
    date_order: str = ""


def number_pattern(decimal: str) -> str:
    """What a number with this decimal mark looks like."""
    mark = r"\." if decimal == "." else ","
    return rf"[+-]?(\d+({mark}\d*)?|{mark}\d+)([eE][+-]?\d+)?"


def candidates(decimal: str, date_order: str = "") -> tuple[Candidate, ...]:
    """The types in the order in which they are tried; the first that fits all values is taken.

    Of dates that could be written in two orders, ``date_order`` is tried first.
    """
    number = number_pattern(decimal)
    as_number = _TRIMMED if decimal == "." else f"replace({_TRIMMED}, ',', '.')"
    day = f"try_cast(left({_TRIMMED}, 10) AS DATE)"
    return (
        Candidate(ColumnType.INTEGER, _matches(r"[+-]?\d+"), f"try_cast({_TRIMMED} AS HUGEINT)"),
        Candidate(ColumnType.DECIMAL, _matches(number), f"try_cast({as_number} AS DOUBLE)"),
        *(
            Candidate(ColumnType.BOOLEAN, f"lower({_TRIMMED}) IN ({_words(pair)})")
            for pair in _BOOLEAN_PAIRS
        ),
        Candidate(ColumnType.DATE, f"{_matches(ISO_DATE)} AND {day} IS NOT NULL", _TRIMMED, "ymd"),
        *sorted(
            (_date(form, code) for form, code in DATE_FORMS),
            key=lambda one: one.date_order != date_order,
        ),
    )


def _matches(pattern: str) -> str:
    return f"regexp_full_match({_TRIMMED}, {literal(pattern)})"


def _words(pair: tuple[str, str]) -> str:
    return ", ".join(literal(word) for word in pair)


def _date(form: str, code: str) -> Candidate:
    moment = f"try_strptime({_TRIMMED}, {literal(code)})"
    order = DATE_ORDERS[code[:2]]
    return Candidate(ColumnType.DATE, f"{_matches(form)} AND {moment} IS NOT NULL", moment, order)


_LETTER = r"\.[A-Za-z_]"
_LETTERED = literal(_LETTER)
NUMBER = r"^-?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$"
"""What a number looks like among the texts of a column."""


def missing_codes(
    domain: Sequence[str], declared: Sequence[str], user: UserMissing
) -> frozenset[int]:
    """The places in ``domain`` of the values that are missing."""
    tokens = frozenset(declared)
    if not user:
        return frozenset(code for code, value in enumerate(domain) if value in tokens)
    return frozenset(
        code for code, value in enumerate(domain) if value in tokens or user.holds(value)
    )


def note_empty(
    con: DuckDBPyConnection,
    columns: Sequence[Column],
    declared: Sequence[str],
    place: Path,
    token: CancelToken,
) -> tuple[str, ...]:
    """A sentence when fields without a value count as values of the table ``data``.

    They do when a plan lists missing texts and leaves the empty one out; that nothing is missing
    (an empty list) says so itself. Raises Cancelled.
    """
    if not declared or "" in declared:
        return ()
    # The texts of a domain are sorted, and no text comes before the empty one.
    some = [column for column in columns if column.domain is None or "" in column.domain[:1]]
    counts: list[int] = []
    for start in range(0, len(some), _AT_ONCE):
        parts = (f"count(*) FILTER (WHERE {one.sql} = '')" for one in some[start:][:_AT_ONCE])
        with query(con, token, place) as cursor:
            counts += cursor.execute(f"SELECT {', '.join(parts)} FROM {DATA}").fetchone() or ()
    found = [(one.name, count) for one, count in zip(some, counts, strict=True) if count]
    if not found:
        return ()
    name, most = max(found, key=lambda item: item[1])
    where = msg(
        "{counts:,} in {found:,} columns, most in {name}: {most:,}",
        counts=sum(counts),
        found=len(found),
        name=quoted(name),
        most=most,
    )
    if len(found) == 1:
        where = msg("{most:,} in column {name}", most=most, name=quoted(name))
    return (
        msg(
            "Empty fields and missing values of the system ({where}) count as values "
            "here, since the plan lists missing texts without the empty one. If they "
            "are missing, write `missing = [{list}]` under [source].",
            where=where,
            list=missing_line(["", *declared]),
        ),
    )


_GROUPED = {
    ".": r"[+-]?\d{1,3}([,'’ \x{a0}\x{202f}]\d{3})+(\.\d*)?",
    ",": r"[+-]?\d{1,3}([.'’ \x{a0}\x{202f}]\d{3})+(,\d*)?",
}
"""By decimal mark, numbers with marks of thousands, which are read as texts."""
_FIRST_ROWS, _SAMPLED, _LISTED = 1_000, 100, 5


def note_texts(
    con: DuckDBPyConnection,
    columns: Sequence[Column],
    decimal: str,
    codes: Sequence[str],
    place: Path,
    token: CancelToken,
) -> tuple[str, ...]:
    """Sentences on values of the table ``data`` that keep a column from being one of numbers.

    These are numbers with marks of thousands, where most values of the column are numbers (of a
    nearly unique column its first rows tell), and ``codes`` that may stand for missing values: each
    column that holds some is named, with their rows. Raises Cancelled.
    """
    told: list[str] = []
    grouped, known = literal(_GROUPED[decimal]), ", ".join(map(literal, codes)) or "''"
    held: list[tuple[str, int]] = []
    for column, texts in _first_texts(con, columns, place, token):
        if not _may_hold(texts, _GROUPED[decimal], codes):
            continue
        v = f"{column.sql}::VARCHAR"
        marked = f"regexp_full_match(trim({v}), {grouped})"
        number = f"regexp_full_match(trim({v}), {literal(number_pattern(decimal))})"
        with query(con, token, place) as cursor:
            found = cursor.execute(
                f"SELECT count(*) FILTER (WHERE {marked}), count(*) FILTER (WHERE {number}), "
                f"count(*) FILTER (WHERE {v} NOT IN ('', {known})), "
                f"count(*) FILTER (WHERE {v} IN ({known}) AND {v} <> ''), "
                f"arg_min({v}, rowid) FILTER (WHERE {marked}) FROM {DATA}"
            ).fetchone()
        many, plain, filled, coded, example = found or (0, 0, 0, 0, "")
        if coded:
            held.append((column.name, int(coded)))
        if many and 2 * (many + plain) > filled:
            told.append(_with_thousands(column.name, int(many), str(example)))
    return (*told, *_where_codes(codes, held))


def _first_texts(
    con: DuckDBPyConnection, columns: Sequence[Column], place: Path, token: CancelToken
) -> Iterator[tuple[Column, Any]]:
    """Each column with its texts, an Arrow array: its domain, or those of the first rows.

    Each question costs as many steps as the table has columns, so many columns are asked at once.
    """
    import pyarrow as pa

    for start in range(0, len(columns), _SAMPLED):
        some = columns[start : start + _SAMPLED]
        long = [one for one in some if one.domain is None]
        texts = iter(())
        if long:
            wanted = ", ".join(f"{one.sql} AS c{number}" for number, one in enumerate(long))
            with query(con, token, place) as cursor:
                first = cursor.sql(f"SELECT {wanted} FROM {DATA} LIMIT {_FIRST_ROWS}")
                texts = iter(first.to_arrow_table().columns)
        for one in some:
            known = one.domain
            yield one, next(texts) if known is None else pa.array(known, pa.string())


def _may_hold(texts: Any, grouped: str, codes: Sequence[str]) -> bool:
    """Whether texts of a column hold a code, or a number with marks of thousands."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if codes and pc.any(pc.is_in(texts, value_set=pa.array(codes, pa.string()))).as_py():
        return True
    return bool(pc.any(pc.match_substring_regex(texts, f"^\\s*(?:{grouped})\\s*$")).as_py())


def _with_thousands(name: str, rows: int, example: str) -> str:
    return msg(
        "Column {name} is read as text: it holds {many} with thousands separators, such as "
        "{example}, which are not read as numbers. Write them without separators.",
        name=quoted(name),
        many=counted("{n:,} number", "{n:,} numbers", n=rows),
        example=quoted(example),
    )


def _where_codes(codes: Sequence[str], held: Sequence[tuple[str, int]]) -> tuple[str, ...]:
    """How many rows of which columns hold ``codes``; another note says what they may be."""
    most = sorted(held, key=lambda item: -item[1])
    if not most:
        return ()
    places = [
        msg("{name} ({rows})", name=quoted(name), rows=counted("{n:,} row", "{n:,} rows", n=rows))
        for name, rows in most
    ]
    return (
        msg(
            "Columns with {codes}: {columns}.",
            codes=", ".join(f"`{code}`" for code in codes),
            columns=listed(places, _LISTED),
        ),
    )


def missing_sql(column: Column, declared: Sequence[str]) -> str:
    """The condition that the value ``v`` of a column is missing; empty when none can be."""
    return condition(column.user_missing, declared, "v")


def condition(user: UserMissing, declared: Sequence[str], v: str) -> str:
    """The condition in SQL that the text ``v`` is missing; empty when none can be."""
    parts = []
    tokens = [*declared, *user.values]
    if tokens:
        parts.append(f"{v} IN ({', '.join(literal(token) for token in tokens)})")
    if user.low is not None and user.high is not None:
        low, high = literal(str(user.low)), literal(str(user.high))
        parts.append(
            f"coalesce(try_cast({v} AS DOUBLE) BETWEEN {low}::DOUBLE AND {high}::DOUBLE, false)"
        )
    if user.letters:
        parts.append(f"regexp_full_match({v}, {_LETTERED})")
    return " OR ".join(parts)


def user_missing_flags(texts: Any, user: UserMissing) -> Any:
    """Which ``texts`` (an Arrow array) their source declares missing, without a step for each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.is_in(texts, value_set=pa.array(user.values, pa.string()))
    if user.letters:
        found = pc.or_(found, pc.match_substring_regex(texts, f"^{_LETTER}$"))
    if user.low is not None and user.high is not None:
        number = pc.match_substring_regex(texts, NUMBER)
        nothing = pa.scalar(None, pa.string())
        values = pc.if_else(number, texts, nothing).cast(pa.float64())
        low, high = pc.greater_equal(values, user.low), pc.less_equal(values, user.high)
        found = pc.or_(found, pc.fill_null(pc.and_(low, high), False))
    return found

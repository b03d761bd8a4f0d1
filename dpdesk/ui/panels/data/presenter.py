"""What the data panel shows, says and counts, decided without widgets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from dpdesk.app import describing, opening
from dpdesk.app.describing import Distribution
from dpdesk.app.types import ColumnProfile, DataProfile, DataStore, Reading, SourcePreview
from dpdesk.core.charts import Axis, BarChart, BarSeries, Cell, ChartTable, table_from
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.plan import SourceSpec
from dpdesk.core.source_spec import NULS, REPEATED, UNEVEN
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.words.numbers import columns_words, figure_words, grouped, rows_words, short_name
from dpdesk.ui.words.settings import label_facts, short_share, type_words, with_label

ENCODINGS = ("utf-8", "cp1252", "iso8859-1", "iso8859-15", "cp1250", "iso8859-2", "utf-16")
DELIMITERS = (",", ";", "\t", "|", " ")
_MOST_LABELLED = 12
_ABOUT_READING = (
    *("csv.", "encoding.", "read.", "workbook."),
    *("source.option", "source.table", "source.query"),
)
_LONGEST_LABEL, _LONGEST_SAID = 120, 60
_CODE = re.compile(r'\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(?:,|$)')
RANGE = " – "
translate = QCoreApplication.translate


class Page(Enum):
    """What the panel shows."""

    START = "start"
    LOADING = "loading"
    TABLE = "table"
    READING = "reading"


@dataclass(frozen=True)
class Situation:
    """What the choice of the page depends on."""

    has_data: bool = False
    loading: bool = False
    problem: JobFailed | None = None
    wants_reading: bool = False


def choose_page(now: Situation) -> Page:
    """The page for a situation: data win over a failed attempt, work in progress over both."""
    if now.loading and not now.has_data:
        return Page.LOADING
    if now.has_data:
        return Page.READING if now.wants_reading else Page.TABLE
    if now.problem is not None and about_reading(now.problem):
        return Page.READING
    return Page.START


def about_reading(problem: JobFailed) -> bool:
    """Whether reading the file in another way may help."""
    return problem.code.startswith(_ABOUT_READING)


def delimiter_words(delimiter: str) -> str:
    """A delimiter in words."""
    words = {
        ",": translate("DataPanel", "comma"),
        ";": translate("DataPanel", "semicolon"),
        "\t": translate("DataPanel", "tab"),
        "|": translate("DataPanel", "vertical bar"),
        " ": translate("DataPanel", "space"),
    }
    return words.get(delimiter, delimiter)


def quote_words(quote: str) -> str:
    """A quote mark in words."""
    words = {
        '"': translate("DataPanel", 'double (")'),
        "'": translate("DataPanel", "single (')"),
        "": translate("DataPanel", "none"),
    }
    return words.get(quote, quote)


def escape_words(escape: str) -> str:
    """An escape in words."""
    words = {
        "\\": translate("DataPanel", "backslash (\\)"),
        "": translate("DataPanel", "none"),
    }
    return words.get(escape, escape)


Setting = tuple[str, str | tuple[str, ...]]


def remedy_of(problem: JobFailed) -> tuple[Setting, ...]:
    """The options of the form, and their values, with which a problem says the file can be read."""
    skip, others = problem.details.get("skip"), problem.details.get("set")
    if isinstance(skip, int):
        return (("skip", str(skip)),)
    return others if isinstance(others, tuple) else ()


def remedy_words(options: Sequence[Setting]) -> str:
    """What a button says that sets options."""
    return ", ".join(_option_words(key, value) for key, value in options)


def allowed_words(kind: str) -> str:
    """What is read all the same, in words."""
    words = {
        UNEVEN: translate("DataPanel", "Read lines of fewer or more fields"),
        REPEATED: translate("DataPanel", "Number repeated column names"),
        NULS: translate("DataPanel", "Read NUL characters as \ufffd"),
    }
    return words[kind]


def _option_words(key: str, value: str | tuple[str, ...]) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(allowed_words, value))
    if key == "encoding":
        return translate("DataPanel", "Encoding: {what}").format(what=encoding_words(value))
    if key == "skip":
        return translate("DataPanel", "Lines above the table: {count}").format(count=value)
    if key == "escape":
        return translate("DataPanel", "Escape: {what}").format(what=escape_words(value))
    if key == "quote":
        return translate("DataPanel", "Quotes: {what}").format(what=quote_words(value))
    return translate("DataPanel", "Delimiter: {what}").format(what=delimiter_words(value))


def decimal_words(decimal: str) -> str:
    """A decimal mark in words."""
    return translate("DataPanel", "comma") if decimal == "," else translate("DataPanel", "point")


def header_words(header: bool) -> str:
    """Whether the first line names the columns."""
    if header:
        return translate("DataPanel", "in the first line")
    return translate("DataPanel", "none")


def encoding_words(encoding: str) -> str:
    """An encoding as people call it; one that is not among the usual ones by its own name."""
    words = {
        "utf-8": translate("DataPanel", "UTF-8"),
        "cp1252": translate("DataPanel", "Windows-1252 (Western Europe)"),
        "iso8859-1": translate("DataPanel", "ISO 8859-1 (Western Europe)"),
        "iso8859-15": translate("DataPanel", "ISO 8859-15 (Western Europe, €)"),
        "cp1250": translate("DataPanel", "Windows-1250 (Central Europe)"),
        "iso8859-2": translate("DataPanel", "ISO 8859-2 (Central Europe)"),
        "utf-16": translate("DataPanel", "UTF-16"),
        "utf-16-le": translate("DataPanel", "UTF-16"),
        "utf-16-be": translate("DataPanel", "UTF-16, big-endian"),
    }
    return words.get(encoding, encoding)


def missing_words(codes: Sequence[str]) -> str:
    """The missing codes in words."""
    if not codes:
        return translate("DataPanel", "nothing counts as missing")
    quoted = translate("DataPanel", "“{code}”")
    shown = [
        quoted.format(code=code) if code else translate("DataPanel", "empty field")
        for code in codes
    ]
    return translate("DataPanel", "missing: {codes}").format(codes=", ".join(shown))


def format_words(name: str) -> str:
    """A format by its usual name."""
    words = {
        "parquet": "Parquet",
        "sav": "SPSS",
        "dta": "Stata",
        "sas7bdat": "SAS",
        "xpt": translate("DataPanel", "SAS transport"),
        "xlsx": "Excel",
        "jj": "JJ",
        "frame": "DataFrame",
        "sqlite": "SQLite",
        "duckdb": "DuckDB",
        "postgresql": "PostgreSQL",
        "spark": "Spark",
        "fixed": translate("DataPanel", "fixed width"),
        "baskets": translate("DataPanel", "lists of items"),
    }
    return words.get(name, name)


def reading_sentence(reading: Reading) -> str:
    """How the file was read, in one line."""
    if reading.format == "baskets":
        text = translate(
            "DataPanel",
            "Read as lists of items: delimiter {delimiter}, encoding {encoding}; an item is 1 in a "
            "line that lists it, and 0 in all others.",
        )
        return text.format(
            delimiter=delimiter_words(reading.delimiter), encoding=encoding_words(reading.encoding)
        )
    if reading.format != "csv":
        text = translate("DataPanel", "Read as {format}; {missing}.")
        name = format_words(reading.format)
        return text.format(format=name, missing=missing_words(reading.missing))
    text = translate(
        "DataPanel",
        "Read as text: delimiter {delimiter}, encoding {encoding}, decimal {decimal}, "
        "quotes {quote}, column names {header}; {missing}.",
    )
    return text.format(
        delimiter=delimiter_words(reading.delimiter),
        encoding=encoding_words(reading.encoding),
        decimal=decimal_words(reading.decimal),
        quote=quote_words(reading.quote),
        header=header_words(reading.header),
        missing=missing_words(reading.missing),
    )


def stays_sentence(engine: str, shown: int) -> str:
    """What is to be seen of a table that stays in an engine; empty for one that was read."""
    if not engine:
        return ""
    text = translate(
        "DataPanel",
        "The table stays in {engine}: rows are counted there, and only the first {rows} that it "
        "gives are shown here. Of a column of very many values, the most frequent are looked at.",
    )
    return text.format(engine=engine, rows=grouped(shown))


def answer(name: str, rows: int, columns: int, profile: DataProfile | None) -> str:
    """What is in the file, in one sentence."""
    text = translate("DataPanel", "{name} contains {rows} and {columns}; counting their values…")
    lacking = 0
    if profile is not None:
        lacking = sum(column.missing > 0 for column in profile.columns)
        text = translate("DataPanel", "{name} contains {rows} and {columns}; no value is missing.")
    if lacking == 1:
        text = translate(
            "DataPanel", "{name} contains {rows} and {columns}; one column has missing values."
        )
    elif lacking:
        text = translate(
            "DataPanel",
            ("{name} contains {rows} and {columns}; {lacking} columns have missing values."),
        )
    return text.format(
        name=name, rows=rows_words(rows), columns=columns_words(columns), lacking=grouped(lacking)
    )


def header_lines(column: ColumnProfile) -> tuple[str, str]:
    """The small lines below a column's name."""
    missing = translate("DataPanel", "{missing} missing")
    return type_words(column.type), missing.format(missing=short_share(column.missing_share))


def header_note(column: ColumnProfile) -> str:
    """The small lines as one, for a tooltip."""
    lines = (column.label, *header_lines(column))
    return " · ".join(line for line in lines if line)


def facts(column: ColumnProfile) -> tuple[tuple[str, str], ...]:
    """Label and value of what is known of a column."""
    found = [
        *label_facts(column),
        (translate("DataPanel", "Type"), type_words(column.type)),
        (translate("DataPanel", "Distinct values"), grouped(column.distinct)),
        (
            translate("DataPanel", "Unique rows"),
            f"{grouped(column.unique)} ({short_share(column.unique_share)})",
        ),
        (
            translate("DataPanel", "Missing"),
            f"{grouped(column.missing)} ({short_share(column.missing_share)})",
        ),
    ]
    if column.user_missing:
        share = column.user_missing / column.rows
        text = f"{grouped(column.user_missing)} ({short_share(share)})"
        found.append((translate("DataPanel", "Of these, user-defined missing"), text))
    if column.minimum is not None and column.maximum is not None:
        ends = f"{short_name(column.minimum)} – {short_name(column.maximum)}"
        found.append((translate("DataPanel", "From – to"), ends))
    return tuple(found)


def distribution_chart(spread: Distribution, column: ColumnProfile) -> BarChart | None:
    """The values of a column as bars; None when there is none."""
    present = column.rows - column.missing
    if not spread.counts or present <= 0:
        return None
    ordered = spread.ordered
    ranges = ordered and any(RANGE in label for label in spread.labels)
    heading = translate("DataPanel", "Values from") if ranges else translate("DataPanel", "Value")
    # A bar reaches to where the next one begins: the whole of it is in the table.
    coded = _shows_codes(column, spread)
    names = [
        label.partition(RANGE)[0] if ordered and not coded else with_label(column, label)
        for label in spread.labels
    ]
    counts, gap = list(spread.counts), frozenset[int]()
    if column.missing:
        gap = frozenset({len(counts)})
        names.append(translate("DataPanel", "missing"))
        counts.append(column.missing)
    return BarChart(
        id=f"column-{column.name}",
        question=translate("DataPanel", "How are the values of {name} distributed?").format(
            name=short_name(column.name)
        ),
        answer=_spread_answer(spread, present, column.distinct),
        category_axis=Axis(heading),
        value_axis=Axis(translate("DataPanel", "Rows"), "%", percent=True, minimum=0.0),
        categories=tuple(_label(name) for name in names),
        series=(
            BarSeries(
                translate("DataPanel", "Rows"),
                tuple(count / column.rows for count in counts),
            ),
        ),
        table=_spread_table(spread, column),
        horizontal=coded or not ordered,
        missing=gap,
    )


def _spread_table(spread: Distribution, column: ColumnProfile) -> ChartTable:
    return table_from(
        (
            translate("DataPanel", "Values"),
            translate("DataPanel", "Rows"),
            translate("DataPanel", "Rows (%)"),
        ),
        [
            (with_label(column, label), count, round(100 * count / column.rows, 2))
            for label, count in zip(spread.labels, spread.counts, strict=True)
        ]
        + ([_missing_line(column)] if column.missing else []),
    )


def _missing_line(column: ColumnProfile) -> tuple[Cell, ...]:
    share = round(100 * column.missing_share, 2)
    return (translate("DataPanel", "missing"), column.missing, share)


def _shows_codes(column: ColumnProfile, spread: Distribution) -> bool:
    """Whether the bars are few codes with labels, which then stand beside them."""
    labelled = column.variable is not None and bool(column.variable.value_labels)
    return labelled and len(spread.labels) <= _MOST_LABELLED


def _label(text: str) -> str:
    return short_name(text, _LONGEST_LABEL)


def _spread_answer(spread: Distribution, present: int, distinct: int) -> str:
    most = max(range(len(spread.counts)), key=spread.counts.__getitem__)
    share = figure_words(spread.counts[most] / present, "share")
    if distinct == present > 1:
        return translate("DataPanel", "Every value occurs only once.")
    text = translate(
        "DataPanel",
        "The most frequent value is {label}, with {share} of the values that are not missing.",
    )
    said = text.format(label=short_name(spread.labels[most], _LONGEST_SAID), share=share)
    if spread.rest:
        others = distinct - len(spread.counts)
        more = translate("DataPanel", "Other values ({others}): {rest} rows.")
        said += " " + more.format(others=grouped(others), rest=grouped(spread.rest))
    return said


def parse_codes(text: str) -> tuple[str, ...]:
    """Missing codes from a line, separated by commas.

    A code with a comma, or with blanks at an end, stands in quotes.
    """
    found: list[str] = []
    for one in _CODE.finditer(text.replace("\n", " ")):
        quoted, bare = one.groups()
        found.append(bare.strip() if quoted is None else quoted.replace('""', '"'))
    return tuple(code for code in dict.fromkeys(found) if code)


def codes_text(codes: Sequence[str]) -> str:
    """The line from which :func:`parse_codes` reads these codes (without the empty one)."""
    shown = [code for code in codes if code]
    if not shown:
        return ""
    return ", ".join(_quoted(code) for code in shown)


def _quoted(code: str) -> str:
    if "," not in code and '"' not in code and code == code.strip():
        return code
    return '"' + code.replace('"', '""') + '"'


def number_columns(rows: Sequence[Sequence[object]], width: int, decimal: str) -> frozenset[int]:
    """The places of the columns whose values all look like numbers, so that they stand right."""
    found: set[int] = set()
    for place in range(width):
        values = [str(row[place]) for row in rows if place < len(row) and row[place]]
        if values and all(_is_number(value.strip(), decimal) for value in values):
            found.add(place)
    return frozenset(found)


def _is_number(text: str, decimal: str) -> bool:
    plain = text.replace(decimal, ".") if decimal != "." else text
    try:
        float(plain)
    except ValueError:
        return False
    return "_" not in plain


def error_line(problem: JobFailed) -> int | None:
    """The line of the file that a problem speaks of."""
    line = problem.details.get("line")
    return line if isinstance(line, int) and line > 0 else None


@dataclass(frozen=True)
class Spreads:
    """Distributions by column, and the profile that they belong to."""

    profile: DataProfile
    columns: Mapping[str, Distribution]


def count_spreads(
    data: DataStore, profile: DataProfile, token: CancelToken, report: Report
) -> Spreads:
    """Count how the values of every column are spread."""
    found: dict[str, Distribution] = {}
    for column in profile.columns:
        token.check()
        found[column.name] = describing.distribution(data, column, token)
    return Spreads(profile, found)


@dataclass(frozen=True)
class Previewed:
    """The head of a file, and the way of reading it that was asked for."""

    source: SourceSpec
    preview: SourcePreview = field(repr=False)


def read_preview(source: SourceSpec, base: Path, token: CancelToken, report: Report) -> Previewed:
    """Read the head of a file."""
    return Previewed(source, opening.preview(source, base, token))

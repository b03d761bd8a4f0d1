"""What the columns of loaded data look like, and how risky the chosen columns make them."""

from __future__ import annotations

import codecs
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.planning import PlacedPlan, placed
from dpdesk.core.charts import Axis, BarChart, BarSeries, SeriesStyle, format_figure, table_from
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg
from dpdesk.core.plan import SourceSpec
from dpdesk.core.schema import ColumnProfile, ColumnType, DataProfile
from dpdesk.core.source_spec import check_options, read_source

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.app.recipes import FitReport, Recipe
    from dpdesk.engine.methods.k_anonymity.metrics import RiskSummary
    from dpdesk.io.store import DataStore


# Describe a data file: what `dpdesk inspect` says.


_SAID = {
    "kind": "kind",
    "storage": "storage",
    "format": "format",
    "measure": "measure",
    "value_labels": "value_labels",
    "missing": "user_missing",
}


def inspected_source(data: Path | str, table: str | None, query: str | None) -> SourceSpec:
    """What is to be inspected: a file, or an address of a database.

    Raises InputError ``plan.password``, ``plan.invalid``, ``source.option`` for an address or
    options that make no sense, with the words that a plan gets.
    """
    raw: dict[str, object] = {"path": str(data if isinstance(data, str) else data.absolute())}
    raw |= {key: text for key, text in (("table", table), ("query", query)) if text is not None}
    source = read_source(raw, "the command line")
    check_options(source, "the command line")
    return source


def inspect_source(
    context: AppContext, source: SourceSpec, token: CancelToken, report: Report
) -> DataProfile:
    """Profile a source; how it is read is detected. Raises InputError, StorageError, Cancelled."""
    from dpdesk.io.store import DataStore

    store = DataStore.open(source, Path.cwd(), context.workspace, token, report)
    try:
        return store.profile(token, report)
    finally:
        store.close()


def fit_file(
    context: AppContext,
    plan: Path | PlacedPlan,
    data: Path | SourceSpec,
    token: CancelToken,
    report: Report,
) -> FitReport:
    """Say what of a plan, or of that of a file, does not fit other data; writes nothing.

    The plan's own file, where it still is, is counted too: only so other types and more missing
    values are noticed. Raises InputError and StorageError for a plan or a file that cannot be read,
    and Cancelled.
    """
    from dpdesk.app.examining import examine

    recipe = _recipe(context, placed(plan), token, report)
    source = data if isinstance(data, SourceSpec) else SourceSpec(path=str(data.absolute()))
    base = Path.cwd() if source.is_url else Path(source.path).absolute().parent
    return examine(context, recipe, source, base, token, report)


def _recipe(context: AppContext, given: PlacedPlan, token: CancelToken, report: Report) -> Recipe:
    """A plan with all that its own file, if it can be read, says of its columns."""
    from dpdesk.app.opening import open_data, profile
    from dpdesk.app.recipes import Recipe
    from dpdesk.project.work import WorkState

    plan, base = given.plan, given.base
    try:
        data = open_data(context, plan.source, base, token, report)
    except (InputError, StorageError):
        return Recipe.of_plan(plan, base, given.name, token)
    try:
        known = profile(data, token, report)
    finally:
        data.close()
    return Recipe.of_work(WorkState.from_plan(plan, base), known, given.name)


def profile_as_json(profile: DataProfile) -> dict[str, object]:
    """A profile as JSON values."""
    return {
        "name": profile.name,
        "rows": profile.rows,
        "reading": dict(profile.reading),
        "columns": [_column_as_json(column) for column in profile.columns],
    }


def _column_as_json(column: ColumnProfile) -> dict[str, object]:
    return {
        "name": column.name,
        "label": column.label,
        "type": column.type.value,
        "missing": column.missing,
        "user_missing": column.user_missing,
        "distinct": column.distinct,
        "unique": column.unique,
        "unique_share": column.unique_share,
        "minimum": column.minimum,
        "maximum": column.maximum,
        "top": [{"value": item.value, "rows": item.rows} for item in column.top],
        "suggestion": {
            "role": column.suggestion.role.value,
            "reason": column.suggestion.reason,
        },
        **_described(column),
    }


def _described(column: ColumnProfile) -> dict[str, object]:
    """What the source itself says of a column; nothing for a source that says nothing."""
    if column.variable is None:
        return {}
    said = column.variable.as_plain()
    return {_SAID[key]: said[key] for key in _SAID if key in said}


BINS = 24
_NUMERIC = (ColumnType.INTEGER, ColumnType.DECIMAL)
_CHUNK = 1 << 18
_LONGEST_LINE = 2_000


@dataclass(frozen=True)
class Distribution:
    """How the present values of a column are spread.

    ``counts`` are rows per part and ``labels`` name the parts: intervals of equal width where
    ``ordered``, else the most frequent values, with ``rest`` rows that hold other values.
    """

    column: str
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    ordered: bool
    rest: int = 0


@dataclass(frozen=True)
class LinesAround:
    """Lines of a file by number (from 1), around the line ``wanted``."""

    wanted: int
    lines: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class CurrentRisk:
    """Risk of the table as it is, for an attacker who knows ``attributes``; counts in rows."""

    attributes: tuple[str, ...]
    summary: RiskSummary
    chart: BarChart

    @property
    def unique_share(self) -> float:
        """Share of the rows (0 to 1) that nobody else equals on the attributes."""
        return self.summary.uniques / self.summary.rows if self.summary.rows else 0.0


def distribution(data: DataStore, column: ColumnProfile, token: CancelToken) -> Distribution:
    """The distribution of a column: intervals for numbers, the most frequent values for the rest.

    Whole numbers of few values get one part per value, so that no interval is empty by rounding.
    """
    ends = _ends(column, data.reading.decimal)
    if ends is None:
        return top_values(column)
    low, high = ends
    bins = BINS
    if column.type is ColumnType.INTEGER:
        step = max(1, math.ceil((high - low + 1) / BINS))
        bins = max(1, math.ceil((high - low + 1) / step))
        high = low + bins * step
        counts = data.histogram(column.name, (low, high), bins, token)
        return Distribution(column.name, _whole_labels(low, step, bins), counts, True)
    counts = data.histogram(column.name, (low, high), bins, token)
    width = (high - low) / bins
    edges = [low + width * number for number in range(bins + 1)]
    labels = tuple(f"{_short(a)} – {_short(b)}" for a, b in pairwise(edges))
    return Distribution(column.name, labels, counts, True)


def top_values(column: ColumnProfile) -> Distribution:
    """The most frequent values of a profile as a distribution."""
    counts = tuple(value.rows for value in column.top)
    labels = tuple(value.value for value in column.top)
    rest = column.rows - column.missing - sum(counts)
    return Distribution(column.name, labels, counts, False, rest)


def _ends(column: ColumnProfile, decimal: str) -> tuple[float, float] | None:
    if column.type not in _NUMERIC or column.minimum is None or column.maximum is None:
        return None
    try:
        low, high = (
            float(text.strip().replace(decimal, ".")) for text in (column.minimum, column.maximum)
        )
    except ValueError:
        return None
    if not (math.isfinite(low) and math.isfinite(high)) or abs(high) > 1e15 or abs(low) > 1e15:
        return None
    return (low, high) if high > low else None


def _whole_labels(low: float, step: int, bins: int) -> tuple[str, ...]:
    first = int(low)
    if step == 1:
        return tuple(str(first + number) for number in range(bins))
    return tuple(
        f"{first + number * step} – {first + (number + 1) * step - 1}" for number in range(bins)
    )


def _short(number: float) -> str:
    return format_figure(round(number, 6), "number")


def lines_around(
    source: SourceSpec, base: Path, wanted: int, encoding: str, token: CancelToken, span: int = 3
) -> LinesAround:
    """The lines of a text file around line ``wanted``, long ones cut; for showing, not for data.

    A line ends with LF, CR LF or CR. Raises StorageError when the file cannot be read.
    """
    from dpdesk.io.failures import storage_error
    from dpdesk.io.reading import resolve_source

    path = resolve_source(source, base)
    try:
        return _lines_around(path, wanted, encoding, token, span)
    except OSError as problem:
        raise storage_error(problem, path, "read") from problem


def _lines_around(
    path: Path, wanted: int, encoding: str, token: CancelToken, span: int
) -> LinesAround:
    first, last = max(1, wanted - span), wanted + span
    decoder = codecs.getincrementaldecoder(encoding or "utf-8")("replace")
    number, rest, kept = 1, "", []
    with path.open("rb") as file:
        while number <= last:
            token.check()
            data = file.read(_CHUNK)
            text = rest + decoder.decode(data, not data)
            if data and text.endswith("\r"):
                data_rest, text = text[-1:], text[:-1]
            else:
                data_rest = ""
            ends = text.count("\n") + text.count("\r") - text.count("\r\n")
            if data and number + ends < first:
                cut = max(text.rfind("\n"), text.rfind("\r")) + 1
                number, rest = number + ends, text[cut:][:_LONGEST_LINE] + data_rest
                continue
            pieces = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
            rest = pieces.pop()[:_LONGEST_LINE] + data_rest if data else ""
            for piece in pieces:
                if first <= number <= last:
                    kept.append((number, piece[:_LONGEST_LINE]))
                number += 1
            if not data:
                break
    return LinesAround(wanted, tuple(kept))


def current_risk(
    data: DataStore, attributes: Sequence[str], k: int, token: CancelToken
) -> CurrentRisk:
    """Risk of the table as it is to someone who knows ``attributes``; ``k`` is the asked size.

    Raises StorageError when memory or disk are not enough, Cancelled.
    """
    from dpdesk.engine.methods.k_anonymity.metrics import summarise_risk

    table = data.frequency_table(attributes, token)
    summary = summarise_risk(table.counts, k)
    return CurrentRisk(tuple(attributes), summary, _risk_chart(tuple(attributes), summary))


def _risk_chart(attributes: tuple[str, ...], summary: RiskSummary) -> BarChart:
    rows = max(summary.rows, 1)
    many = len(attributes)
    share = format_figure(summary.uniques / rows, "share")
    known = (
        "this quasi-identifier" if many == 1 else msg("these {many} quasi-identifiers", many=many)
    )
    limit = next(n for n, each in enumerate(summary.bins) if each.lowest == summary.k)
    return BarChart(
        id="current-risk",
        question="How risky is the unprotected table?",
        answer=(
            msg(
                "With {known}, {share} of the rows ({uniques:,} of {rows:,}) are unique; "
                "{exposed:,} are in groups of fewer than {k:,} rows.",
                known=known,
                share=share,
                uniques=summary.uniques,
                rows=summary.rows,
                exposed=summary.exposed,
                k=summary.k,
            )
        ),
        category_axis=Axis("Group size", "rows"),
        value_axis=Axis("Rows", "%", percent=True, minimum=0.0),
        categories=tuple(each.label for each in summary.bins),
        series=(
            BarSeries(
                "Original", tuple(each.rows / rows for each in summary.bins), SeriesStyle.FIRST
            ),
        ),
        table=table_from(
            ["Class size", "Classes", "Rows", "Rows (%)"],
            [
                [each.label, each.classes, each.rows, round(100 * each.rows / rows, 2)]
                for each in summary.bins
            ],
        ),
        hatched=frozenset(range(limit)),
        threshold_before=limit,
        threshold_label=msg("k = {k:,}", k=summary.k),
    )


__all__ = [
    "BINS",
    "CurrentRisk",
    "Distribution",
    "LinesAround",
    "current_risk",
    "distribution",
    "lines_around",
    "top_values",
]

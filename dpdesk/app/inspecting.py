"""Describe a data file: what `dpdesk inspect` says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.planning import PlacedPlan, placed
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.plan import SourceSpec
from dpdesk.core.schema import ColumnProfile, DataProfile
from dpdesk.core.source_spec import check_options, read_source

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.app.recipes import FitReport, Recipe

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

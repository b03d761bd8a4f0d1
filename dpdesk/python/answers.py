"""DataFrames of what a release holds and answers; whatever is here imports pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpdesk.python.frames import dtype_texts, pandas

if TYPE_CHECKING:
    import pandas as pd

    from dpdesk.core.cuboid import CuboidTable
    from dpdesk.core.query import Answer, Askable, Query
    from dpdesk.core.schema import DataProfile


def answer_frame(answer: Answer, query: Query, askable: Askable) -> pd.DataFrame:
    """An answer as :meth:`dpdesk.Release.query` gives it."""
    pd = pandas()
    columns: dict[str, Any] = {}
    for j, name in enumerate(answer.columns):
        labels = [row.labels[j] for row in answer.rows]
        columns[name] = _categories(labels, _declared(name, query, askable))
    for key in ("value", "standard_error", "low", "high"):
        values = [getattr(row, key) for row in answer.rows]
        columns[key] = np.array(values, dtype=np.float64)
    columns["note"] = [row.note for row in answer.rows]
    frame = pd.DataFrame(columns)
    frame.attrs |= {
        "sentence": str(answer.sentence),
        "warnings": tuple(map(str, answer.warnings)),
        "interval": str(answer.interval),
        "measure": answer.measure,
        "estimator": answer.estimator,
        "tables": answer.tables,
    }
    return frame


def _declared(name: str, query: Query, askable: Askable) -> Sequence[str]:
    """The categories of a column of the answer, at the level that was asked for."""
    level = next((each.level for each in query.by if each.column == name), 0)
    known = next((each for each in askable.columns if each.name == name), None)
    return known.levels[level] if known is not None and level < len(known.levels) else ()


def _categories(labels: Sequence[str | None], declared: Sequence[str]) -> Any:
    """Labels as categories in the declared order; the sum over all of them is missing."""
    pd = pandas()
    known = {label for label in labels if label is not None}
    if known <= set(declared):
        return pd.Categorical(labels, categories=list(declared))
    return pd.array(labels, dtype="string")


def table_frame(table: CuboidTable, error: float | None) -> pd.DataFrame:
    """A published table, a row for each cell in the declared order."""
    pd = pandas()
    domain = table.domain
    columns: dict[str, Any] = {
        name: pd.Categorical.from_codes(codes, categories=list(categories))
        for name, categories, codes in zip(
            domain.dimensions, domain.categories, domain.codes(0, domain.cells), strict=True
        )
    }
    columns["value"] = np.asarray(table.values).reshape(-1)
    if error is not None:
        columns["standard_error"] = error
    return pd.DataFrame(columns)


def profile_frame(profile: DataProfile) -> pd.DataFrame:
    """A profile, a row for each column."""
    pd = pandas()
    rows = [
        {
            "column": one.name,
            "label": one.label,
            "type": one.type.value,
            "missing": one.missing,
            "distinct": one.distinct,
            "unique": one.unique,
            "minimum": one.minimum,
            "maximum": one.maximum,
            "most_frequent": one.top[0].value if one.top else None,
            "role": one.suggestion.role.value,
            "reason": str(one.suggestion.reason),
        }
        for one in profile.columns
    ]
    frame = pd.DataFrame(rows).set_index("column")
    frame.attrs |= {"name": profile.name, "rows": profile.rows, "reading": dict(profile.reading)}
    return frame


def typed_columns(frame: pd.DataFrame, like: pd.DataFrame | None) -> pd.DataFrame:
    """Published texts with types; see :meth:`dpdesk.Release.microdata`."""
    pd = pandas()
    made = {name: _typed(frame[name], like) for name in frame.columns}
    return pd.DataFrame(made, columns=frame.columns)


def _typed(texts: pd.Series[Any], like: pd.DataFrame | None) -> Any:
    pd = pandas()
    known = texts.mask(texts == "")
    if like is not None and texts.name in like.columns:
        found = _as_there(known, like[texts.name])
        if found is not None:
            return found
    for dtype in ("Int64", "Float64"):
        try:
            made = pd.to_numeric(known.dropna()).astype(dtype).reindex(known.index)
        except (TypeError, ValueError, OverflowError):
            continue
        if _same(made, known):
            return made
    return known.astype("string")


def _as_there(known: pd.Series[Any], there: pd.Series[Any]) -> Any:
    """The texts in the dtype of another frame, None where one of them does not fit."""
    pd = pandas()
    dtype = there.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        listed = dtype_texts(pd.Series(dtype.categories))
        if not known.dropna().isin(listed).all():
            return None
        codes = known.map({text: j for j, text in enumerate(listed)}).fillna(-1).astype(int)
        return pd.Series(pd.Categorical.from_codes(codes, dtype=dtype), index=known.index)
    try:
        made = _converted(known, dtype)
    except (TypeError, ValueError, OverflowError):
        return None
    return made if _same(made, known) else None


def _converted(known: pd.Series[Any], dtype: Any) -> Any:
    pd = pandas()
    if pd.api.types.is_bool_dtype(dtype):
        return known.map({"true": True, "false": False}).astype("boolean").astype(dtype)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return pd.to_datetime(known, utc=True, format="ISO8601").astype(dtype)
    if pd.api.types.is_datetime64_dtype(dtype):
        return pd.to_datetime(known, format="ISO8601").astype(dtype)
    if pd.api.types.is_numeric_dtype(dtype):
        return pd.to_numeric(known).astype(dtype)
    return known.astype(dtype)


def _same(made: pd.Series[Any], known: pd.Series[Any]) -> bool:
    """Whether the values have the texts that were published, and are missing where none were."""
    return dtype_texts(made) == [None if gone else text for text, gone in
                                 zip(known, known.isna(), strict=True)]  # fmt: skip

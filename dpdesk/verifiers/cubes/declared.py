"""Whether the categories of a cube are those of its plan, and its rows those of the source.

The plan, its builders and the hierarchies lie in the agency's part of a release, so this can be
told there alone; they are read by :mod:`dpdesk.verifiers.declared`, as the design does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.published import CheckStatus, ClaimCheck
from dpdesk.core.shapes import as_list, as_table
from dpdesk.verifiers.cubes.stated import COUNT, Asked, asked_of
from dpdesk.verifiers.declared import (
    Column,
    ColumnRequest,
    Declarations,
    Rows,
    UndeclaredError,
    counted,
    kept_rows,
    read_column,
    unlike,
    without_number,
)
from dpdesk.verifiers.reading import cluster_of, count, texts

MANIFEST, EVIDENCE = "manifest.json", "internal/evidence.json"
_CLAIM = "domains of hierarchies"
_LABEL = "Categories are those that the plan and its hierarchies declare"
_COUNTED = "rows that count"
_COUNTED_LABEL = "Rows and exact numbers are those of the source"
_CENTRED = "centred "


def declared_check(manifest: Mapping[str, object], given: Declarations | None) -> list[ClaimCheck]:
    """Compare categories, their order, levels above, and where other texts go.

    Without ``given`` (the public part alone) only what the parameters list could be compared, and
    the check says so. Malformed manifests raise ValueError, TypeError or KeyError.
    """
    settings = asked_of(manifest)
    result = as_table(manifest["result"])
    names = (*settings.dimensions, *settings.extra)
    unlisted = [name for name in names if name not in settings.domains]
    if given is None:
        if not unlisted:
            return []
        found = msg(
            "the hierarchies of {columns} lie in the internal part", columns=", ".join(unlisted)
        )
        return [ClaimCheck(_CLAIM, CheckStatus.NEEDS_SOURCE, found, MANIFEST, _LABEL)]
    try:
        columns = _columns(manifest, settings, settings.dimensions, given)
        extra = _columns(manifest, settings, settings.extra, given)
    except UndeclaredError as error:
        return [ClaimCheck(_CLAIM, CheckStatus.FAILED, str(error), MANIFEST, _LABEL)]
    fault = _fault(result, columns, extra, complete=given.complete)
    status = CheckStatus.FAILED if fault else CheckStatus.CONFIRMED
    found = fault or "declared again from the plan in the evidence, the same"
    return [ClaimCheck(_CLAIM, status, found, MANIFEST, _LABEL)]


def counted_check(
    manifest: Mapping[str, object],
    recorded: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    given: Declarations,
    source: FrequencySource,
    token: CancelToken,
) -> list[ClaimCheck]:
    """Place the rows of the source again: how many count, and what is released exactly.

    ``recorded`` is the result in the evidence. Raises what :func:`declared_check` raises, and
    Cancelled.
    """
    settings = asked_of(manifest)
    columns = _columns(manifest, settings, settings.dimensions, given)
    extra = _columns(manifest, settings, settings.extra, given)
    order = texts(as_table(manifest["parameters"]).get("counted_by")) if extra else ()
    by_name = {column.name: column for column in (*columns, *extra)}
    deciding = tuple(by_name[name] for name in order or settings.dimensions)
    person = cluster_of(manifest)
    most = count(as_table(manifest["parameters"]).get("rows_per_person", 1))
    fault = ""
    for name in settings.measured():
        summed = "" if name == COUNT else name.removeprefix(_CENTRED).removeprefix("sum of ")
        rows = Rows(deciding, summed, person, most)
        kept, facts = kept_rows(source, rows, token)
        if summed:  # of the rows that count, where further columns decide which these are
            among = kept if extra else source
            facts["values_that_are_no_numbers"] = without_number(among, summed, token)
        key = unlike(recorded, name, facts, complete=given.complete)
        if key:
            found = msg("`{key}` is not what the source gives", key=key)
            return [ClaimCheck(_COUNTED, CheckStatus.FAILED, found, EVIDENCE, _COUNTED_LABEL)]
        if name == COUNT:
            fault = next(_inexact(manifest, published, columns, kept, token), "")
    status = CheckStatus.FAILED if fault else CheckStatus.CONFIRMED
    found = fault or "placed again, the same"
    return [ClaimCheck(_COUNTED, status, found, MANIFEST, _COUNTED_LABEL)]


def _columns(
    manifest: Mapping[str, object], settings: Asked, names: Sequence[str], given: Declarations
) -> tuple[Column, ...]:
    levels = as_table(as_table(manifest["parameters"]).get("levels") or {})
    found = []
    for name in names:
        level = levels.get(name, 0)
        if isinstance(level, bool) or not isinstance(level, int) or level < 0:
            raise TypeError("a level is a whole number")
        wanted = ColumnRequest(settings.domains.get(name), level, settings.outside.get(name))
        found.append(read_column(name, wanted, given))
    return tuple(found)


def _fault(
    result: Mapping[str, object],
    columns: Sequence[Column],
    extra: Sequence[Column],
    *,
    complete: bool,
) -> str:
    stated = as_list(result["domains"])
    for item, expected in zip(stated, _listed(columns), strict=True):
        if item != expected:
            return msg(
                "the categories of `{expected}` are others, or in another order",
                expected=expected["dimension"],
            )
    if result["outside"] != _elsewhere(columns):
        return "texts without a category go elsewhere than the plan says"
    above = {
        column.name: [list(level) for level in column.above] for column in columns if column.above
    }
    if result.get("rollups", {} if complete else above) != above:
        return "the levels to roll up to are others than the plan's hierarchies declare"
    rows = {"domains": _listed(extra), "outside": _elsewhere(extra)} if extra else None
    if result.get("counted_by") != rows:
        return "the rows that count are chosen by other categories than the plan declares"
    return ""


def _listed(columns: Sequence[Column]) -> list[dict[str, object]]:
    return [{"dimension": column.name, "categories": list(column.categories)} for column in columns]


def _elsewhere(columns: Sequence[Column]) -> dict[str, str]:
    return {
        column.name: column.categories[column.outside]
        for column in columns
        if column.outside is not None
    }


def _inexact(
    manifest: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    columns: Sequence[Column],
    kept: FrequencySource,
    token: CancelToken,
) -> Iterator[str]:
    """Exact tables and cells that are not the counts of the source."""
    for item in map(as_table, as_list(as_table(manifest["result"])["cuboids"])):
        cells = as_list(item.get("exact_cells") or [])
        if item.get("exact") is not True and not cells:
            continue
        file, dimensions = str(item["file"]), texts(item["dimensions"])
        axes = [column for column in columns if column.name in dimensions]
        true = counted(kept, axes, token)
        stated = np.asarray(published[file].values, np.float64).reshape(true.shape)
        differ = stated != true
        if cells:
            asked = np.zeros(true.shape, bool)
            for cell in cells:
                texts_of = zip(axes, texts(cell), strict=True)
                asked[tuple(axis.categories.index(text) for axis, text in texts_of)] = True
            differ &= asked
        if differ.any():
            yield msg("{file} has an exact number that is not that of the source", file=file)

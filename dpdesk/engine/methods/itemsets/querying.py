"""Answers from released itemsets: the sets, or those that hold some items, each with its error."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.query import Answer, AnswerRow, Askable, AskableColumn, Match, Query, matching
from dpdesk.core.release import Manifest, ReleasedContent
from dpdesk.core.shapes import as_float, as_list, as_table, read_json
from dpdesk.engine.cubes.lattice import mask_of
from dpdesk.engine.cubes.olap.answering import INTERVALS
from dpdesk.engine.cubes.olap.cube import variance_of
from dpdesk.engine.cubes.settings import Covered
from dpdesk.engine.methods.itemsets.design import BASES, ITEMS, ITEMSETS, UNIT, count_width
from dpdesk.engine.methods.itemsets.settings import PARAMETERS, ItemsetSettings
from dpdesk.engine.private.widths import half_width
from dpdesk.engine.views.choosing import PlannedNoise

_LAST = (
    "Sets were released because their noisy counts are large, so the counts near the end of the "
    "list are too large rather than too small."
)
_SENTENCES = {
    Covered.RELEASED: "How many rows hold all items of a set, from the release alone: the ± holds "
    "the error of the noise in 95 of 100 cases or more for a set that was fixed beforehand. "
    + _LAST,
    Covered.WITH_NEGATIVES: "How many rows hold all items of a set, from the release alone: the ± "
    "is that of the numbers before negative ones were taken out, which moves them, and for a set "
    "that was fixed beforehand. " + _LAST,
}
_UNCOVERED = (
    "Sets that lie in no view were made from the views, in the most even way that these allow. "
    "The ± is of noise alone; the error of that assumption is not in it, and cannot be known from "
    "the release."
)


def askable_itemsets(manifest: Manifest) -> Askable:
    """Every item, with its two categories."""
    listed = map(as_table, as_list(manifest.result["domains"]))
    columns = tuple(
        AskableColumn(str(item["dimension"]), (tuple(map(str, as_list(item["categories"]))),))
        for item in listed
    )
    return Askable(columns, (UNIT,))


def answer_itemsets(query: Query, content: ReleasedContent, token: CancelToken) -> Answer:
    """The released sets with all items that the conditions name as held; all without conditions.

    Raises InputError ``query.*``; RefusedError ``query.refused`` for what the sets cannot tell.
    """
    asked = askable_itemsets(content.manifest)
    asked.check(query)
    if query.by:
        raise _untold("the sets are released one by one, so nothing is grouped by a column")
    held = set()
    for column in {condition.column for condition in query.where}:
        absent, _ = matching(query.conditions_on(column), column, asked.column(column).categories)
        if absent is not Match.NO:
            raise _untold("the sets count rows that hold items, never rows without one")
        held.add(column)
    values = parse_parameters(PARAMETERS, content.manifest.parameters, "the manifest")
    settings = ItemsetSettings.from_parameters(values, "the manifest")
    listing, bases = content.cuboid(ITEMSETS, token), content.cuboid(BASES, token)
    error = _error_of_views if settings.views else _error_of_bases
    rows, uncovered = [], False
    groups = [frozenset(read_json(text)) for text in bases.domain.categories[0]]
    error_of = error(settings, groups, content.manifest)
    for text, value in zip(listing.domain.categories[0], listing.values.tolist(), strict=True):
        own = frozenset(read_json(text))
        if held <= own:
            deviation, width = error_of(own)
            rows.append(AnswerRow((text,), value, deviation, value - width, value + width))
            uncovered = uncovered or not any(own <= each for each in groups)
    covered = Covered.RELEASED if settings.views is None else settings.views.cube.covered
    return Answer(
        *((ITEMS,), UNIT, tuple(rows), _SENTENCES[covered], (ITEMSETS, BASES)),
        warnings=(_UNCOVERED,) if uncovered else (),
        interval=INTERVALS[covered],
    )


def _error_of_bases(
    settings: ItemsetSettings, groups: Sequence[frozenset[str]], manifest: Manifest
) -> Callable[[frozenset[str]], tuple[float, float]]:
    """Standard deviation and ± of a set's count; it errs as so many noisy cells as one over its
    summed weights.
    """

    def error(own: frozenset[str]) -> tuple[float, float]:
        sizes = np.array([len(each) for each in groups if own <= each])
        cells = float(1 / np.exp2(len(own) - sizes.astype(np.float64)).sum())
        return count_width(settings, len(groups), cells)

    return error


def _error_of_views(
    settings: ItemsetSettings, groups: Sequence[frozenset[str]], manifest: Manifest
) -> Callable[[frozenset[str]], tuple[float, float]]:
    """Standard deviation and ± of a set's count by the noise of views that agree."""
    place = {name: i for i, name in enumerate(settings.dimensions)}
    views = [tuple(sorted(place[name] for name in each)) for each in groups]
    shape = (2,) * len(place)
    scales = map(as_float, as_list(manifest.result["scales"]))
    assert settings.views is not None
    cube = settings.views.cube
    variances = [
        variance_of(cube, scale, 1.0, mask_of(view), shape)
        for scale, view in zip(scales, views, strict=True)
    ]
    planned = PlannedNoise.of(views, shape, variances)

    def error(own: frozenset[str]) -> tuple[float, float]:
        variance = planned.variance(tuple(sorted(place[name] for name in own)))
        return variance**0.5, half_width(settings.noise, variance, 1.0)

    return error


def _untold(why: str) -> RefusedError:
    return RefusedError(
        "query.refused",
        msg("The release cannot answer this: {why}.", why=why),
        hint="Ask without it for all sets, or name items that rows hold.",
    )

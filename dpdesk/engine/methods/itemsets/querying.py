"""Answers from released itemsets: the sets, or those that hold some items, each with its error."""

from __future__ import annotations

from json import loads

import numpy as np

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.manifest import Manifest
from dpdesk.core.messages import msg
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.query import Answer, AnswerRow, Askable, AskableColumn, Match, Query, matching
from dpdesk.core.released import ReleasedContent
from dpdesk.core.shapes import as_list, as_table
from dpdesk.engine.methods.itemsets.design import BASES, ITEMS, ITEMSETS, UNIT, count_width
from dpdesk.engine.methods.itemsets.settings import PARAMETERS, ItemsetSettings


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
    rows = []
    for text, value in zip(listing.domain.categories[0], listing.values.tolist(), strict=True):
        own = frozenset(loads(text))
        if held <= own:
            cells = _cells(own, bases.domain.categories[0])
            deviation, width = count_width(settings, len(bases.domain.categories[0]), cells)
            rows.append(AnswerRow((text,), value, deviation, value - width, value + width))
    sentence = "How many rows hold all items of a set, from the release alone: the ± holds the "
    sentence += "error of the noise in 95 of 100 cases or more for a set that was fixed "
    sentence += "beforehand. Sets were released because their noisy counts are large, so the "
    sentence += "counts near the end of the list are too large rather than too small."
    return Answer((ITEMS,), UNIT, tuple(rows), sentence, (ITEMSETS, BASES))


def _cells(own: frozenset[str], listed: tuple[str, ...]) -> float:
    """As how many noisy cells the count of a set errs: one over its summed weights."""
    sizes = np.array([len(loads(text)) for text in listed if own <= set(loads(text))])
    return float(1 / np.exp2(len(own) - sizes.astype(np.float64)).sum())


def _untold(why: str) -> RefusedError:
    return RefusedError(
        "query.refused",
        msg("The release cannot tell this: {why}.", why=why),
        hint="Ask without it for all sets, or name items that rows hold.",
    )

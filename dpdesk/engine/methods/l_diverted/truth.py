"""The true answer to a query that a diverted release is asked: for whoever holds the data.

Counted from the source, so never to be published beside an estimate: the two together tell the
error of a release, and with it more than the release does.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.core.query import Answer, AnswerRow, Match, Query
from dpdesk.core.release import CountedRows
from dpdesk.engine.method import MethodInput
from dpdesk.engine.methods.k_anonymity.querying import PARTLY, group_rows, matches_of
from dpdesk.engine.methods.l_diverted.settings import Settings
from dpdesk.engine.methods.l_diverted.values import labels_of

Texts = Mapping[str, Mapping[str, str]]
_NONE: Texts = MappingProxyType({})


def true_answer(
    query: Query, given: MethodInput, token: CancelToken, recoded: Texts = _NONE
) -> Answer:
    """Exact counts of the source for the groups and conditions of a query; no estimator is used.

    ``given`` is the input of the plan that the release was made from; drawn columns are counted at
    the level at which they are released, and ``recoded`` ones (of a combined release) by the
    released text of every raw one. Rows that a release leaves out are counted. Raises InputError
    ``query.value``, ``source.unknown-column``, Cancelled.
    """
    counted = _counted(query, given, token, recoded)
    certain = np.ones(len(counted.rows), bool)
    possible = certain.copy()
    for place, name in enumerate(counted.columns):
        found = matches_of(query, name, counted.texts[place], frozenset(recoded))
        codes = counted.codes[:, place]
        certain &= np.array([match is Match.YES for match in found])[codes]
        possible &= np.array([match is not Match.NO for match in found])[codes]
    places = [counted.columns.index(each.column) for each in query.by]
    rows = []
    for labels, inside in group_rows(query, counted, places, possible, token):
        count = float(counted.rows[inside & certain].sum())
        if bool((inside & possible & ~certain).any()):
            rows.append(AnswerRow(labels, None, note=PARTLY))
        else:
            rows.append(AnswerRow(labels, count, 0.0, count, count))
    return Answer(
        tuple(each.column for each in query.by),
        "count",
        tuple(rows),
        "True counts of the source: internal, not to be published.",
        interval="certain",
    )


def _counted(query: Query, given: MethodInput, token: CancelToken, recoded: Texts) -> CountedRows:
    """The rows of the source by the released texts of the columns of a query."""
    settings = Settings.from_parameters(given.parameters)
    names = query.columns() or settings.diverted(given.roles)[:1]
    table = given.source.frequency_table(names, token)
    texts: list[tuple[str, ...]] = []
    codes = table.codes.astype(np.int32)
    for place, name in enumerate(names):
        domain = table.domains[place]
        labels = recoded.get(name)
        if labels is None and settings.levels.get(name, 0):
            alone = given.source.frequency_table((name,), token)
            labels = labels_of(alone, given.hierarchies, settings.levels[name], given.where)
        if labels is not None:
            known = tuple(sorted(set(labels.values())))
            at = np.array([known.index(labels[value]) for value in domain], np.int32)
            codes[:, place] = at[codes[:, place]]
            domain = known
        texts.append(tuple(domain))
    return CountedRows(tuple(names), tuple(texts), codes, table.counts)

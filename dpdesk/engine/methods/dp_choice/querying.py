"""Answers from released choices: what was chosen in each group, and how far it may be from best."""

from __future__ import annotations

import numpy as np

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.query import Answer, AnswerRow, Askable, AskableColumn, Match, Query, matching
from dpdesk.core.release import Manifest, ReleasedContent
from dpdesk.core.shapes import as_float, as_list, as_table
from dpdesk.engine.methods.dp_choice.design import settings_of


def askable_choices(manifest: Manifest) -> Askable:
    """Every group column with its categories; the choices are the measures."""
    given = settings_of(manifest)
    domains = [as_table(item) for item in as_list(manifest.result["domains"])]
    listed = {
        str(item["dimension"]): tuple(map(str, as_list(item["categories"]))) for item in domains
    }
    columns = tuple(AskableColumn(name, (listed[name],)) for name in given.groups)
    return Askable(columns, tuple(each.name for each in given.wanted))


def answer_choices(query: Query, content: ReleasedContent, token: CancelToken) -> Answer:
    """What was chosen in each group that the conditions leave.

    Raises InputError ``query.*``; RefusedError ``query.refused`` where groups would have to be
    joined: the choice of a whole does not follow from those of its parts.
    """
    asked = askable_choices(content.manifest)
    asked.check(query)
    place = asked.measures.index(asked.measure(query.measure))
    wanted = settings_of(content.manifest).wanted[place]
    line = as_table(as_list(content.manifest.result["choices"])[place])
    table = content.cuboid(str(line["file"]), token)
    kept = []
    for column in asked.columns:
        found = matching(query.conditions_on(column.name), column.name, column.categories)
        if Match.PARTLY in found:
            raise _untold("a condition cuts through a category")
        kept.append([i for i, each in enumerate(found) if each is Match.YES])
    by = [each.column for each in query.by]
    for column, own in zip(asked.columns, kept, strict=True):
        if query.margins or (by and column.name not in by and len(own) > 1):
            raise _untold("what is chosen in joined groups does not follow from their choices")
    if wanted.quantile is None:
        note = msg(
            "Held by at most {rows:,.4g} rows fewer than the most frequent value of the group, in "
            "95 % of releases.",
            rows=as_float(line["error"]),
        )
    else:
        note = msg(
            "At most {rows:,.4g} rows of the group too many lie below it, or above it, in 95 % of "
            "releases.",
            rows=as_float(line["error"]),
        )
    names = tuple(column.name for column in asked.columns)
    rows = []
    for cell in np.ndindex(*map(len, kept)):
        token.check()
        codes = tuple(own[i] for own, i in zip(kept, cell, strict=True))
        value = table.values[codes].item()
        labels = tuple(
            column.categories[code] for column, code in zip(asked.columns, codes, strict=True)
        )
        if table.labels:
            rows.append(AnswerRow((*labels, table.labels[int(value)]), None, note=note))
        else:
            rows.append(AnswerRow(labels, value, note=note))
    sentence = (
        "What was chosen in each group, from the release alone. The error is one of rank (or "
    )
    sentence += "of rows), not of the value: how far the value is from the true one depends on how "
    sentence += "densely values lie there, which the release does not tell. In a group of few rows "
    sentence += "chance chooses."
    columns = (*names, wanted.column) if table.labels else names
    return Answer(columns, wanted.name, tuple(rows), sentence, (str(line["file"]),))


def _untold(why: str) -> RefusedError:
    return RefusedError(
        "query.refused",
        msg("The release cannot answer this: {why}.", why=why),
        hint="Ask for all groups, or fix each other column to one category with a condition.",
    )

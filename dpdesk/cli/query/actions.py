"""What ``dpdesk query`` does: ask a release, from its files alone."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from dpdesk.app.combining import OpenTogether, open_together
from dpdesk.app.querying import OpenRelease, open_release
from dpdesk.cli.outcome import Outcome
from dpdesk.cli.query.printing import answer_csv, answer_text, askable_text
from dpdesk.core.column_names import spelling
from dpdesk.core.errors import InputError
from dpdesk.core.query import Query
from dpdesk.core.query_texts import read_query

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.core.jobs import CancelToken, Report


def ask(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Answer a query, or tell what can be asked where nothing is."""
    query = _query(options)
    release: OpenRelease | OpenTogether
    if options.others:
        release = open_together(context, [options.release, *options.others], token, report)
    else:
        release = open_release(context, options.release, token, report)
    answer = release.ask(query, token, report)
    about = release.about
    pivot = options.pivot and spelling(answer.columns)(options.pivot)
    plain = {
        "release": str(about.folder),
        "title": about.title,
        "method": about.method,
        "query": query.as_json(),
        **answer.as_json(),
    }
    if options.csv:
        return Outcome(answer_csv(answer, pivot), plain)
    text = answer_text(answer, pivot)
    if not query.by and not query.where:
        text += "\n" + askable_text(about.askable)
    return Outcome(text, plain)


def _query(options: Namespace) -> Query:
    query = read_query(
        options.by,
        options.where,
        levels=options.level,
        measure=options.measure,
        margins=options.margins or options.pivot is not None,
        estimator=options.estimator,
    )
    if options.pivot is not None and options.pivot not in [each.column for each in query.by]:
        raise InputError(
            "usage",
            f"dpdesk query: `--pivot {options.pivot}` names no column of --by.",
            hint=f"Add `--by {options.pivot}`.",
        )
    return query

"""The grammar of ``dpdesk query``."""

from __future__ import annotations

import argparse
from pathlib import Path

_EXAMPLES = """\
examples:
  dpdesk query RELEASE                                  the total, and what can be asked for
  dpdesk query RELEASE --by sex,region                  one number for each combination
  dpdesk query RELEASE --by sex --where "age>=30"       only some of the rows
  dpdesk query RELEASE --where "region!=North" --where age=20-29,30-39
  dpdesk query RELEASE --by sex,region --pivot region   region across, with margins

A name or value that holds a comma stands in double quotes. Several conditions must all hold. A
condition on numbers (>=, >, <=, <, or 30..39) also selects intervals such as 30-39 as a whole.
"""


def add_query(query: argparse.ArgumentParser) -> None:
    """Fill the parser of ``dpdesk query``."""
    query.epilog = _EXAMPLES
    query.set_defaults(handler="actions.ask")
    query.add_argument(
        "release", metavar="RELEASE", type=Path, help="a release folder, or its public part alone"
    )
    query.add_argument(
        "--by", metavar="COLUMNS", action="append", default=[], help="tell these columns apart"
    )
    query.add_argument(
        "--where", metavar="CONDITION", action="append", default=[], help="count only these rows"
    )
    query.add_argument(
        "--level",
        metavar="COLUMN=N",
        action="append",
        default=[],
        help="roll a column of --by up to this level of its hierarchy (0: as released)",
    )
    _add_forms(query)


def _add_forms(query: argparse.ArgumentParser) -> None:
    query.add_argument("--measure", metavar="M", default="", help="what to add up, of several")
    query.add_argument(
        "--estimator", metavar="E", default="", help="how to estimate, of several ways"
    )
    query.add_argument(
        "--margins", action="store_true", help="also give the sums over all categories"
    )
    query.add_argument("--pivot", metavar="COLUMN", help="put this column of --by across")
    query.add_argument(
        "--with",
        dest="others",
        metavar="RELEASE",
        type=Path,
        action="append",
        default=[],
        help="another release of the same cube, to be combined by how exact each is",
    )
    form = query.add_mutually_exclusive_group()
    form.add_argument(
        "--json", action="store_true", help="print one JSON object as the last line of stdout"
    )
    form.add_argument("--csv", action="store_true", help="print CSV instead of a table for people")

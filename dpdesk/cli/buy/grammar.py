"""The grammar of ``dpdesk buy``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.cli.grammar import add_json

if TYPE_CHECKING:
    from dpdesk.cli.parser import Parser

_EXAMPLES = """\
Without --out it only tells what the table would bring and cost; nothing is spent. With --out the
budget is debited, then the noise is drawn, and the table becomes a release of its own that names
the manifests of the others. Ask them together: dpdesk query FIRST --with SECOND --by COLUMNS

examples:
  dpdesk buy plan.toml --by sex,region --epsilon 0.1 --with first
  dpdesk buy plan.toml --by sex,region --epsilon 0.1 --with first --out second
"""


def add_buy(buy: Parser) -> None:
    """Fill the parser of ``dpdesk buy``."""
    buy.epilog = _EXAMPLES
    buy.set_defaults(handler="actions.buy")
    buy.add_argument("plan", metavar="PLAN", type=Path, help="the plan of the cube")
    table = buy.add_mutually_exclusive_group(required=True)
    table.add_argument(
        "--by",
        metavar="COLUMNS",
        action="append",
        default=[],
        help="the dimensions of the table",
    )
    table.add_argument(
        "--total",
        action="store_true",
        help="the grand total",
    )
    budget = buy.add_mutually_exclusive_group(required=True)
    budget.add_argument("--epsilon", metavar="E", help="the budget of the table, in ε")
    budget.add_argument("--rho", metavar="R", help="the budget of the table, in ρ")
    buy.add_argument(
        "--with",
        dest="others",
        metavar="RELEASE",
        type=Path,
        action="append",
        default=[],
        help="a release of the same cube that there is already",
    )
    buy.add_argument(
        "--out", metavar="DIR", type=Path, help="buy, and write the release folder, absent or empty"
    )
    add_json(buy)

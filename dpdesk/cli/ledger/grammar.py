"""The grammar of ``dpdesk ledger``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.cli.grammar import AddParser, add_action, add_json

if TYPE_CHECKING:
    from dpdesk.cli.parser import Parser

DELTA = "0.000001"


def add_ledger(ledger: Parser) -> None:
    """Fill the parser of ``dpdesk ledger`` with its actions."""
    actions = ledger.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    add = actions.add_parser
    _add_show(add)
    _add_limit(add)
    _add_people(add)
    _add(add, "check", "check that no entry was changed or removed")
    export = _add(add, "export", "write all entries to a file")
    export.add_argument(
        "--out", metavar="FILE", type=Path, required=True, help="the .csv or .json file to write"
    )
    begin = _add(add, "begin", "begin a new ledger in the place of one that is lost for good")
    begin.add_argument("--reason", metavar="TEXT", required=True, help="why")
    restore = _add(add, "restore", "enter again what an old copy that was put back has lost")
    restore.add_argument("--reason", metavar="TEXT", required=True, help="what happened")
    restore.add_argument(
        "--release",
        metavar="DIR",
        type=Path,
        action="append",
        help="a release whose debit may be missing; may be given several times",
    )
    _add_accept(add)


def _add_accept(add: AddParser) -> None:
    accept = _add(add, "accept", "go on with a ledger although the witness of it was lost")
    accept.add_argument("--reason", metavar="TEXT", required=True, help="what happened")


def _add(add: AddParser, name: str, does: str) -> Parser:
    parser = add_action(add, name, does, f"actions.{name}")
    parser.add_argument(
        "--ledger",
        metavar="FILE",
        type=Path,
        help="the ledger (default: the one in the folder that DPDESK_HOME names)",
    )
    add_json(parser)
    return parser


def _add_show(add: AddParser) -> None:
    show = _add(add, "show", "show what was spent and what is left")
    show.add_argument("--population", metavar="P", help="show this population alone")
    show.add_argument(
        "--delta",
        metavar="D",
        default=DELTA,
        help=f"the δ at which ε is told beside the sums (default: {DELTA})",
    )


def _add_people(add: AddParser) -> None:
    people = _add(add, "people", "declare that two names mean the same people, or different ones")
    people.add_argument("--population", metavar="P", required=True, help="a name in the ledger")
    people.add_argument("--other", metavar="Q", required=True, help="the other name")
    how = people.add_mutually_exclusive_group(required=True)
    how.add_argument("--same", action="store_true", help="the same people: debits count together")
    how.add_argument("--different", action="store_true", help="different people, counted apart")
    people.add_argument("--reason", metavar="TEXT", required=True, help="how it is known")


def _add_limit(add: AddParser) -> None:
    limit = _add(add, "limit", "set or raise how much may be spent on a population, as its owner")
    whose = limit.add_mutually_exclusive_group(required=True)
    whose.add_argument("--population", metavar="P", help="the population, as plans name it")
    whose.add_argument(
        "--source", metavar="DIGITS", help="a source without population: its hash's first digits"
    )
    kind = limit.add_mutually_exclusive_group(required=True)
    kind.add_argument("--epsilon", metavar="E", help="a limit on ε")
    kind.add_argument("--rho", metavar="R", help="a limit on ρ (zero-concentrated)")
    kind.add_argument("--none", action="store_true", help="take the limit away")
    limit.add_argument("--delta", metavar="D", help="with --epsilon: ε is meant at this δ")
    limit.add_argument(
        "--reason", metavar="TEXT", default="", help="why; needed to raise a limit or take it away"
    )

"""The grammar of ``dpdesk databases``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpdesk.cli.grammar import add_action, add_json

if TYPE_CHECKING:
    from dpdesk.cli.parser import Parser

_ACTIONS = (
    ("confirm", "let plans on this computer read from a server, which may get your password"),
    ("forget", "confirm a server no more"),
)


def add_databases(databases: Parser) -> None:
    """Fill the parser of ``dpdesk databases`` with its actions."""
    actions = databases.add_subparsers(
        dest="action", metavar="ACTION", title="actions", required=True
    )
    for name, does in _ACTIONS:
        parser = add_action(actions.add_parser, name, does, f"actions.{name}")
        what = "the server, or the folder of its socket (port 5432)"
        parser.add_argument("host", metavar="HOST[:PORT]", help=what)
        add_json(parser)
    add_json(add_action(actions.add_parser, "list", "list the servers", "actions.show"))

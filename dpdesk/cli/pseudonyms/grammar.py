"""The grammar of ``dpdesk pseudonyms``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.cli.grammar import AddParser, add_action, add_json

if TYPE_CHECKING:
    from dpdesk.cli.parser import Parser


def add_pseudonyms(pseudonyms: Parser) -> None:
    """Fill the parser of ``dpdesk pseudonyms`` with its actions."""
    actions = pseudonyms.add_subparsers(
        dest="action", metavar="ACTION", title="actions", required=True
    )
    add = actions.add_parser
    new = _add(add, "new", "make a key for pseudonyms")
    new.add_argument("name", metavar="NAME", help="what plans call the key")
    _add(add, "list", "list the keys of this computer", "show")
    export = _add(add, "export", "write a backup of a key, sealed by a passphrase")
    export.add_argument("name", metavar="NAME", help="the key")
    export.add_argument(
        "--out", metavar="FILE", type=Path, required=True, help="the new file, outside of releases"
    )
    _passphrase(export)
    export.set_defaults(asks=(("passphrase", "A passphrase for the backup", True),))
    taken = _add(add, "import", "take a key from a backup", "take")
    taken.add_argument("file", metavar="FILE", type=Path, help="a backup, as `export` writes it")
    _passphrase(taken)
    taken.set_defaults(asks=(("passphrase", "Passphrase of the backup", False),))
    delete = _add(add, "delete", "take a key away for good")
    delete.add_argument("name", metavar="NAME", help="the key")
    delete.add_argument(
        "--id", metavar="DIGITS", required=True, help="8 digits of its id or more, to be sure"
    )


def _add(add: AddParser, name: str, does: str, handler: str = "") -> Parser:
    parser = add_action(add, name, does, f"actions.{handler or name}")
    add_json(parser)
    return parser


def _passphrase(parser: Parser) -> None:
    parser.add_argument(
        "--passphrase-file",
        metavar="FILE",
        type=Path,
        help="a file with the passphrase in its first line (default: ask at the terminal)",
    )

"""What the grammars of commands with actions share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from dpdesk.cli.parser import Parser

AddParser: TypeAlias = "Callable[..., Parser]"


def add_action(add: AddParser, name: str, does: str, handler: str) -> Parser:
    """An action that ``handler`` carries out; ``does`` is its help, without a full stop."""
    parser = add(
        name,
        help=does,
        description=does[0].upper() + does[1:] + ".",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(handler=handler)
    return parser


def add_json(parser: Parser) -> None:
    """The option ``--json``."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object as the last line of stdout"
    )

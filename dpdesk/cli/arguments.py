"""The grammar of the command line, from which ``--help`` is made.

Nothing heavy is imported here: the list of methods is loaded only when the help of ``run`` is
shown.
"""

from __future__ import annotations

import argparse
import textwrap
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from dpdesk import __version__
from dpdesk.cli.grammar import (
    Parser,
    add_buy,
    add_databases,
    add_json,
    add_ledger,
    add_pseudonyms,
    add_query,
    add_review,
)
from dpdesk.core.errors import InputError
from dpdesk.core.export_formats import FORMATS
from dpdesk.core.messages import msg
from dpdesk.core.parameters import ChoiceParameter, Parameter, nearest

if TYPE_CHECKING:
    from dpdesk.engine.method import Method


# The methods and their parameters in words, derived from the registry.


_WIDTH = 96


def methods_help() -> str:
    """The part of ``run --help`` on the plan's ``[protection]``."""
    from dpdesk.engine.methods.registered import default_registry

    parts = ["methods, with the keys of a plan's [protection]:"]
    parts += [_method_help(method) for method in default_registry()]
    return "\n\n".join(parts) + "\n"


def _method_help(method: Method) -> str:
    lines = [
        f'  method = "{method.id}"   {method.title}, version {method.version}',
        _wrapped(method.summary, 4),
    ]
    for parameter in method.parameters:
        lines += ["", _parameter_help(parameter)]
    return "\n".join(lines)


def _parameter_help(parameter: Parameter) -> str:
    unit = f" [{parameter.unit}]" if parameter.unit else ""
    lines = [f"    {parameter.key}{unit}: {parameter.range_text()}; {_default(parameter)}"]
    if len(lines[0]) > _WIDTH:
        lines = [_wrapped(lines[0].strip(), 4, 8)]
    lines.append(_wrapped(parameter.help, 8))
    if isinstance(parameter, ChoiceParameter):
        lines += [
            _wrapped(
                msg("{file}: {note}", file=choice.value, note=choice.help or choice.label), 8, 10
            )
            for choice in parameter.choices
        ]
    return "\n".join(lines)


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "required"
    plain = parameter.as_plain(parameter.default_value())
    return "optional" if plain is None else f"default {plain}"


def _wrapped(text: str, indent: int, following: int | None = None) -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent if following is None else following),
        break_long_words=False,
        break_on_hyphens=False,
    )


COMMANDS = (
    "open",
    "demo",
    "inspect",
    "run",
    "risk",
    "trial",
    "verify",
    "query",
    "compare",
    "buy",
    "export",
    "review",
    "ledger",
    "pseudonyms",
    "databases",
)
DEMO_FOLDER = "demo-release"

_EXIT_CODES = """\
exit codes:
  0    done
  1    the data or the release fails what was asked
  2    bad usage or bad input
  130  cancelled
"""


_Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


@cache
def build_parser() -> Parser:
    """The whole grammar. Made once: reading arguments leaves nothing in it."""
    parser = Parser(
        prog="dpdesk",
        description="Publish data about people without betraying one of them. "
        "Without a command, the window opens.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"dpdesk {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    _add_open_and_demo(commands)
    _add_inspect_and_risk(commands)
    _add_run(commands)
    _add_trial(commands)
    _add_verify_and_export(commands)
    add_review(_add(commands, "review", "sign off a release: keys, submission, votes, release"))
    add_ledger(_add(commands, "ledger", "show and limit what privacy budget was spent on whom"))
    add_pseudonyms(_add(commands, "pseudonyms", "make and keep the keys of pseudonyms"))
    add_databases(_add(commands, "databases", "say which database servers plans may read from"))
    return parser


def _add(commands: _Commands, name: str, does: str) -> Parser:
    return commands.add_parser(
        name,
        help=does,
        description=does[0].upper() + does[1:] + ".",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _add_open_and_demo(commands: _Commands) -> None:
    opening = _add(
        commands, "open", "open the window on a project, a plan, a data file or a release"
    )
    opening.add_argument("path", metavar="PATH", type=Path, nargs="?", help="what to open")
    demo = _add(commands, "demo", "make and verify real releases from the bundled sample")
    demo.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        default=Path(DEMO_FOLDER),
        help=f"folder to make, absent or empty (default: {DEMO_FOLDER})",
    )


def _data(text: str) -> Path | str:
    """A file; an address stays as it is, since a path would lose its double slash."""
    return text if "://" in text else Path(text)


def _add_inspect_and_risk(commands: _Commands) -> None:
    inspect = _add(commands, "inspect", "describe the columns of a data file and suggest roles")
    inspect.add_argument(
        "data", metavar="DATA", type=_data, help="a data file, or the address of a database"
    )
    inspect.add_argument("--table", metavar="T", help="the table of a database, or the sheet")
    inspect.add_argument(
        "--query",
        metavar="SQL",
        help="one SELECT over its rows, the table `data`; without --table a database runs it",
    )
    inspect.add_argument(
        "--plan",
        metavar="PLAN",
        type=Path,
        help="say what of this plan does not fit the file, and what to do about it",
    )
    add_json(inspect)
    risk = _add(commands, "risk", "tell the risk of a release, or of a plan before and after it")
    risk.add_argument(
        "target", metavar="RELEASE_OR_PLAN", type=Path, help="a release folder or a plan file"
    )
    add_json(risk)


def _add_run(commands: _Commands) -> None:
    run = _add(commands, "run", "run a plan and write a release folder")
    run.more_help = methods_help
    run.add_argument("plan", metavar="PLAN", type=Path, help="a plan file, .toml or .json")
    run.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        required=True,
        help="the release folder to make, absent or empty",
    )
    add_json(run)


def _add_trial(commands: _Commands) -> None:
    trial = _add(
        commands,
        "trial",
        "count the rows outside the categories of a plan with noise, before it spends (internal)",
    )
    trial.add_argument("plan", metavar="PLAN", type=Path, help="a plan file of a method with noise")
    add_json(trial)


def _file_or_address(text: str) -> Path | str:
    from dpdesk.app.at_hand import is_address

    return text if is_address(text) else Path(text)


def _add_verify_and_export(commands: _Commands) -> None:
    verify = _add(commands, "verify", "check a release, or its public part alone, from its files")
    verify.add_argument("release", metavar="DIR", type=Path, help="a release folder")
    verify.add_argument(
        "--source",
        metavar="FILE",
        type=_file_or_address,
        help="the original data, to check what the release was made from; of a table, the address "
        "of its server or cluster",
    )
    verify.add_argument(
        "--population",
        metavar="FILE",
        type=Path,
        help="the population that the plan names, to check k-map and delta-presence",
    )
    add_json(verify)
    add_query(_add(commands, "query", "ask a release for numbers, from its public files alone"))
    compare = _add(
        commands,
        "compare",
        "compare ways to release what a plan releases on its own data (internal)",
    )
    compare.add_argument("plan", metavar="PLAN", type=Path, help="the plan of such a release")
    either = compare.add_mutually_exclusive_group()
    either.add_argument(
        "--twin",
        metavar="FILE",
        type=Path,
        help="a file of the same columns that is public, to be used instead of the plan's source",
    )
    either.add_argument(
        "--redesign",
        action="store_true",
        help="which categories of a table to merge, and what that saves (internal)",
    )
    add_json(compare)
    add_buy(_add(commands, "buy", "one more noisy table of a cube: what it brings, and buying it"))
    export = _add(commands, "export", "write the public part of a release in another format")
    export.add_argument("release", metavar="DIR", type=Path, help="a release folder")
    export.add_argument(
        "--format", metavar="F", choices=FORMATS, required=True, help=", ".join(FORMATS)
    )
    export.add_argument("--out", metavar="PATH", type=Path, required=True, help="the file to write")
    export.add_argument(
        "--agency", metavar="ID", default="", help="who maintains the structure, for SDMX"
    )
    export.add_argument(
        "--rows", metavar="N", type=int, help="how many synthetic rows; else those of the release"
    )


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the arguments; InputError ``usage`` when they make no sense."""
    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        raise _unknown_command(arguments[0])
    return build_parser().parse_args(arguments)


def _unknown_command(word: str) -> InputError:
    near = nearest(word, COMMANDS)
    if near is None and Path(word).exists():
        hint = f"To open it in the window, use `dpdesk open {word}`."
    else:
        hint = msg("Did you mean `{near}`?", near=near) if near else "See `dpdesk --help`."
    return InputError(
        "usage",
        f"dpdesk: unknown command `{word}`, expected one of {', '.join(COMMANDS)}.",
        hint=hint,
    )

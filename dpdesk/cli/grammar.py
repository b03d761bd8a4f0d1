"""What the grammars of commands with actions share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from dpdesk.core.errors import InputError
from dpdesk.core.home import local_path
from dpdesk.core.messages import msg

# A parser of arguments that speaks as the program does.


class Parser(argparse.ArgumentParser):
    """A parser whose errors are ours: one sentence, raised as InputError ``usage``.

    ``more_help`` makes a further part of the help when it is asked for. With ``mixed`` a list of
    arguments may be parted by options.
    """

    more_help: Callable[[], str] | None = None
    mixed = False

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.register("type", Path, local_path)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """See argparse; what asks for mixed arguments comes back here for each half."""
        if not self.mixed:
            return super().parse_known_args(args, namespace)
        self.mixed = False
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.mixed = True

    def error(self, message: str) -> NoReturn:
        """Raise InputError instead of printing and exiting."""
        text = message[0].upper() + message[1:]
        raise InputError(
            "usage",
            msg("{path}: {reason}.", path=self.prog, reason=text),
            hint=f"See `{self.prog} --help`.",
        )

    def format_help(self) -> str:
        """The help, with the part that is made late."""
        text = super().format_help()
        return text if self.more_help is None else f"{text}\n{self.more_help()}"


# The grammar of ``dpdesk query``.


_QUERY_EXAMPLES = """\
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
    query.epilog = _QUERY_EXAMPLES
    query.set_defaults(handler="query.ask")
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
    _add_others(query, "another release of the same cube, to be combined by how exact each is")
    form = query.add_mutually_exclusive_group()
    form.add_argument(
        "--json", action="store_true", help="print one JSON object as the last line of stdout"
    )
    form.add_argument("--csv", action="store_true", help="print CSV instead of a table for people")


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


def _add_others(parser: argparse.ArgumentParser, help_text: str) -> None:
    parser.add_argument(
        "--with",
        dest="others",
        metavar="RELEASE",
        type=Path,
        action="append",
        default=[],
        help=help_text,
    )


def add_json(parser: Parser) -> None:
    """The option ``--json``."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object as the last line of stdout"
    )


# The grammar of ``dpdesk buy``.


_BUY_EXAMPLES = """\
Without --out it only tells what the table would bring and cost; nothing is spent. With --out the
budget is debited, then the noise is drawn, and the table becomes a release of its own that names
the manifests of the others. Ask them together: dpdesk query FIRST --with SECOND --by COLUMNS

examples:
  dpdesk buy plan.toml --by sex,region --epsilon 0.1 --with first
  dpdesk buy plan.toml --by sex,region --epsilon 0.1 --with first --out second
"""


def add_buy(buy: Parser) -> None:
    """Fill the parser of ``dpdesk buy``."""
    buy.epilog = _BUY_EXAMPLES
    buy.set_defaults(handler="query.buy")
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
    _add_others(buy, "a release of the same cube that there is already")
    buy.add_argument(
        "--out", metavar="DIR", type=Path, help="buy, and write the release folder, absent or empty"
    )
    add_json(buy)


# The grammar of ``dpdesk databases``.


_DATABASES_ACTIONS = (
    ("confirm", "let plans on this computer read from a server, which may get your password"),
    ("forget", "confirm a server no more"),
)


def add_databases(databases: Parser) -> None:
    """Fill the parser of ``dpdesk databases`` with its actions."""
    actions = databases.add_subparsers(
        dest="action", metavar="ACTION", title="actions", required=True
    )
    for name, does in _DATABASES_ACTIONS:
        parser = add_action(actions.add_parser, name, does, f"databases.{name}")
        what = "the server, or the folder of its socket (port 5432)"
        parser.add_argument("host", metavar="HOST[:PORT]", help=what)
        add_json(parser)
    add_json(add_action(actions.add_parser, "list", "list the servers", "databases.show"))


# The grammar of ``dpdesk ledger``.


DELTA = "0.000001"


def add_ledger(ledger: Parser) -> None:
    """Fill the parser of ``dpdesk ledger`` with its actions."""
    actions = ledger.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    add = actions.add_parser
    _add_show(add)
    _add_limit(add)
    _add_people(add)
    _add_ledger(add, "check", "check that no entry was changed or removed")
    export = _add_ledger(add, "export", "write all entries to a file")
    export.add_argument(
        "--out", metavar="FILE", type=Path, required=True, help="the .csv or .json file to write"
    )
    begin = _add_ledger(
        add, "begin", "begin a new ledger in the place of one that is lost for good"
    )
    begin.add_argument("--reason", metavar="TEXT", required=True, help="why")
    restore = _add_ledger(add, "restore", "enter again what an old copy that was put back has lost")
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
    accept = _add_ledger(add, "accept", "go on with a ledger although the witness of it was lost")
    accept.add_argument("--reason", metavar="TEXT", required=True, help="what happened")


def _add_ledger(add: AddParser, name: str, does: str) -> Parser:
    parser = add_action(add, name, does, f"ledger.{name}")
    parser.add_argument(
        "--ledger",
        metavar="FILE",
        type=Path,
        help="the ledger (default: the one in the folder that DPDESK_HOME names)",
    )
    add_json(parser)
    return parser


def _add_show(add: AddParser) -> None:
    show = _add_ledger(add, "show", "show what was spent and what is left")
    show.add_argument("--population", metavar="P", help="show this population alone")
    show.add_argument(
        "--delta",
        metavar="D",
        default=DELTA,
        help=f"the δ at which ε is told beside the sums (default: {DELTA})",
    )


def _add_people(add: AddParser) -> None:
    people = _add_ledger(
        add, "people", "declare that two names mean the same people, or different ones"
    )
    people.add_argument("--population", metavar="P", required=True, help="a name in the ledger")
    people.add_argument("--other", metavar="Q", required=True, help="the other name")
    how = people.add_mutually_exclusive_group(required=True)
    how.add_argument("--same", action="store_true", help="the same people: debits count together")
    how.add_argument("--different", action="store_true", help="different people, counted apart")
    people.add_argument("--reason", metavar="TEXT", required=True, help="how it is known")


def _add_limit(add: AddParser) -> None:
    limit = _add_ledger(
        add, "limit", "set or raise how much may be spent on a population, as its owner"
    )
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


# The grammar of ``dpdesk pseudonyms``.


def add_pseudonyms(pseudonyms: Parser) -> None:
    """Fill the parser of ``dpdesk pseudonyms`` with its actions."""
    actions = pseudonyms.add_subparsers(
        dest="action", metavar="ACTION", title="actions", required=True
    )
    add = actions.add_parser
    new = _add_pseudonyms(add, "new", "make a key for pseudonyms")
    new.add_argument("name", metavar="NAME", help="what plans call the key")
    _add_pseudonyms(add, "list", "list the keys of this computer", "show")
    export = _add_pseudonyms(add, "export", "write a backup of a key, sealed by a passphrase")
    export.add_argument("name", metavar="NAME", help="the key")
    export.add_argument(
        "--out", metavar="FILE", type=Path, required=True, help="the new file, outside of releases"
    )
    _passphrase(export)
    export.set_defaults(asks=(("passphrase", "A passphrase for the backup", True),))
    taken = _add_pseudonyms(add, "import", "take a key from a backup", "take")
    taken.add_argument("file", metavar="FILE", type=Path, help="a backup, as `export` writes it")
    _passphrase(taken)
    taken.set_defaults(asks=(("passphrase", "Passphrase of the backup", False),))
    delete = _add_pseudonyms(add, "delete", "take a key away for good")
    delete.add_argument("name", metavar="NAME", help="the key")
    delete.add_argument(
        "--id", metavar="DIGITS", required=True, help="8 digits of its id or more, to be sure"
    )


def _add_pseudonyms(add: AddParser, name: str, does: str, handler: str = "") -> Parser:
    parser = add_action(add, name, does, f"pseudonyms.{handler or name}")
    add_json(parser)
    return parser


def _passphrase(parser: Parser) -> None:
    parser.add_argument(
        "--passphrase-file",
        metavar="FILE",
        type=Path,
        help="a file with the passphrase in its first line (default: ask at the terminal)",
    )


# The grammar of ``dpdesk review``.


PASSPHRASE = ("passphrase", "Passphrase of the key", False)
_SIGNS = (PASSPHRASE,)


def add_review(review: Parser) -> None:
    """Fill the parser of ``dpdesk review`` with its actions."""
    actions = review.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    _add_signing(actions.add_parser)
    _add_looking(actions.add_parser)
    _add_protocol(actions.add_parser)
    _add_key(actions.add_parser)
    _add_trust(actions.add_parser)


def _add_review(add: AddParser, name: str, does: str, handler: str) -> Parser:
    parser = add_action(add, name, does, handler)
    add_json(parser)
    return parser


def _signed(add: AddParser, name: str, does: str) -> Parser:
    """An action that signs an event in a release folder."""
    parser = _add_review(add, name, does, f"review.rounds.{name}")
    parser.add_argument("release", metavar="DIR", type=Path, help="a release folder")
    _signer(parser)
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        help="write the review to this file instead, to be merged (for a read-only folder)",
    )
    return parser


def _signer(parser: Parser) -> None:
    parser.add_argument(
        "--as",
        dest="key",
        metavar="KEY",
        help="who signs: a person, or the first digits of a fingerprint (default: the only key)",
    )
    _passphrase(parser)
    parser.set_defaults(asks=_SIGNS)


def _add_signing(add: AddParser) -> None:
    submit = _signed(add, "submit", "submit a release for review, as its author")
    submit.add_argument(
        "--policy", metavar="FILE", type=Path, help="the policy it is checked against"
    )
    submit.add_argument("--protocol", metavar="FILE", type=Path, help="the locked protocol applied")
    submit.add_argument("--note", metavar="TEXT", default="", help="a word to the reviewers")
    submit.add_argument(
        "--after", metavar="OLD", type=Path, help="the release folder of the round before"
    )
    submit.add_argument(
        "--supersedes", metavar="OLD", type=Path, help="the released folder that this one replaces"
    )
    _signed(add, "start", "say that your review has begun")
    vote = _signed(add, "vote", "cast your vote, sealed until enough votes are in")
    vote.add_argument(
        "--sheet", metavar="FILE", type=Path, required=True, help="the filled decision sheet"
    )
    _signed(add, "reveal", "show your vote, once enough votes are in")
    merge = _signed(add, "merge", "join copies of the review that were made independently")
    merge.mixed = True
    merge.add_argument(
        "copies",
        metavar="COPY",
        type=Path,
        nargs="*",
        default=[],
        help="release folders or review files",
    )
    release = _signed(add, "release", "release what was approved; this is final")
    release.add_argument("--note", metavar="TEXT", default="", help="a word on it")
    withdraw = _signed(add, "withdraw", "take the submission back, as its author")
    withdraw.add_argument("--reason", metavar="TEXT", required=True, help="why")
    supersede = _signed(add, "supersede", "say which release replaces this one")
    supersede.add_argument(
        "--by", metavar="NEW", type=Path, required=True, help="the release folder that replaces it"
    )
    supersede.add_argument("--reason", metavar="TEXT", required=True, help="why")


def _add_looking(add: AddParser) -> None:
    status = _add_review(
        add, "status", "say where the review of a release stands", "review.rounds.status"
    )
    checklist = _add_review(
        add,
        "checklist",
        "check a release against a policy, item by item",
        "review.rounds.checklist",
    )
    for parser in (status, checklist):
        parser.add_argument("release", metavar="DIR", type=Path, help="a release folder")
        parser.add_argument(
            "--source", metavar="FILE", type=Path, help="the original data, to recompute the claims"
        )
    checklist.add_argument(
        "--policy", metavar="FILE", type=Path, help="the policy (default: the agency's)"
    )
    pack = _add_review(
        add,
        "pack",
        "write report, checklist, decisions and signatures in one file",
        "review.rounds.pack",
    )
    pack.add_argument("release", metavar="DIR", type=Path, help="a release folder")
    pack.add_argument(
        "--out", metavar="FILE", type=Path, required=True, help="the file to write, .html or .pdf"
    )
    pack.add_argument(
        "--language",
        metavar="CODE",
        default="",
        help="such as de (default: that of the release's report)",
    )
    materials = _add_review(
        add, "materials", "write the bill of materials of this program", "review.rounds.materials"
    )
    materials.add_argument(
        "--out", metavar="FILE", type=Path, required=True, help="the file to write (CycloneDX JSON)"
    )
    audit = _add_review(
        add, "audit", "show and check the audit log of this computer", "review.rounds.audit"
    )
    audit.add_argument(
        "--out", metavar="FILE", type=Path, help="write the whole log to this .csv or .json file"
    )
    sheet = _add_review(
        add, "sheet", "write a decision sheet to fill in for `vote`", "review.rounds.sheet"
    )
    sheet.add_argument("release", metavar="DIR", type=Path, help="a release folder")
    sheet.add_argument("--out", metavar="FILE", type=Path, required=True, help="the file to write")
    sheet.add_argument("--as", dest="key", metavar="KEY", help="whose vote it will be")


def _add_protocol(add: AddParser) -> None:
    parser = add("protocol", help="lock the way an approved release was made", allow_abbrev=False)
    actions = parser.add_subparsers(metavar="WHAT", required=True, dest="what")
    does = "lock the way an approved release was made, and sign it"
    lock = _add_review(actions.add_parser, "lock", does, "review.rounds.protocol_lock")
    lock.add_argument("release", metavar="DIR", type=Path, help="an approved release folder")
    _signer(lock)
    lock.add_argument("--out", metavar="FILE", type=Path, required=True, help="the file to write")
    does = "keep a protocol from a file, to compare releases that apply it"
    take = _add_review(actions.add_parser, "take", does, "review.rounds.protocol_take")
    take.add_argument("file", metavar="FILE", type=Path, help="a protocol, as `lock` writes it")


def _add_key(add: AddParser) -> None:
    parser = add("key", help="make and manage signing keys", allow_abbrev=False)
    actions = parser.add_subparsers(metavar="WHAT", required=True, dest="what")
    new = _add_review(
        actions.add_parser, "new", "make a key, locked by a passphrase", "review.keys.key_new"
    )
    new.add_argument("--person", metavar="NAME", required=True, help="your full name")
    _passphrase(new)
    new.set_defaults(asks=(("passphrase", "A passphrase for the new key", True),))
    _add_review(
        actions.add_parser, "list", "list the keys of this computer", "review.keys.key_list"
    )
    card = _add_review(
        actions.add_parser, "card", "write the public card of a key", "review.keys.key_card"
    )
    card.add_argument("key", metavar="KEY", help="a person, or the first digits of a fingerprint")
    card.add_argument("--out", metavar="FILE", type=Path, required=True, help="the file to write")
    change = _add_review(
        actions.add_parser,
        "passphrase",
        "change the passphrase of a key",
        "review.keys.key_passphrase",
    )
    change.add_argument("key", metavar="KEY", help="a person, or the first digits of a fingerprint")
    _passphrase(change)
    change.add_argument(
        "--new-passphrase-file", metavar="FILE", type=Path, help="a file with the new passphrase"
    )
    change.set_defaults(
        asks=(
            ("passphrase", "Old passphrase of the key", False),
            ("new_passphrase", "New passphrase", True),
        )
    )


def _add_trust(add: AddParser) -> None:
    parser = add("trust", help="say whose signatures count here", allow_abbrev=False)
    actions = parser.add_subparsers(metavar="WHAT", required=True, dest="what")
    trust = _add_review(
        actions.add_parser, "add", "trust the key of a card", "review.keys.trust_add"
    )
    trust.add_argument("card", metavar="CARD", type=Path, help="a card, as `key card` writes it")
    trust.add_argument(
        "--fingerprint", metavar="DIGITS", help="20 digits or more, as its holder told you"
    )
    _add_review(actions.add_parser, "list", "list whose signatures count", "review.keys.trust_list")
    revoke = _add_review(
        actions.add_parser, "revoke", "make a key count no more", "review.keys.trust_revoke"
    )
    revoke.add_argument("key", metavar="KEY", help="a person, or the first digits of a fingerprint")
    revoke.add_argument("--reason", metavar="TEXT", required=True, help="why")
    revoke.add_argument(
        "--retired", action="store_true", help="its holder left; what it signed before stands"
    )
    joined = _add_review(
        actions.add_parser, "import", "join a list from a file", "review.keys.trust_import"
    )
    joined.add_argument("file", metavar="FILE", type=Path, help="a list, as `export` writes it")
    out = _add_review(
        actions.add_parser, "export", "write the list to a file", "review.keys.trust_export"
    )
    out.add_argument("--out", metavar="FILE", type=Path, required=True, help="the file to write")

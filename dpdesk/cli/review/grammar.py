"""The grammar of ``dpdesk review``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.cli.grammar import AddParser, add_action, add_json

if TYPE_CHECKING:
    from dpdesk.cli.parser import Parser

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


def _add(add: AddParser, name: str, does: str, handler: str) -> Parser:
    parser = add_action(add, name, does, handler)
    add_json(parser)
    return parser


def _signed(add: AddParser, name: str, does: str) -> Parser:
    """An action that signs an event in a release folder."""
    parser = _add(add, name, does, f"rounds.{name}")
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


def _passphrase(parser: Parser) -> None:
    parser.add_argument(
        "--passphrase-file",
        metavar="FILE",
        type=Path,
        help="a file with the passphrase in its first line (default: ask at the terminal)",
    )


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
    status = _add(add, "status", "say where the review of a release stands", "rounds.status")
    checklist = _add(
        add, "checklist", "check a release against a policy, item by item", "rounds.checklist"
    )
    for parser in (status, checklist):
        parser.add_argument("release", metavar="DIR", type=Path, help="a release folder")
        parser.add_argument(
            "--source", metavar="FILE", type=Path, help="the original data, to recompute the claims"
        )
    checklist.add_argument(
        "--policy", metavar="FILE", type=Path, help="the policy (default: the agency's)"
    )
    pack = _add(
        add, "pack", "write report, checklist, decisions and signatures in one file", "rounds.pack"
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
    materials = _add(
        add, "materials", "write the bill of materials of this program", "rounds.materials"
    )
    materials.add_argument(
        "--out", metavar="FILE", type=Path, required=True, help="the file to write (CycloneDX JSON)"
    )
    audit = _add(add, "audit", "show and check the audit log of this computer", "rounds.audit")
    audit.add_argument(
        "--out", metavar="FILE", type=Path, help="write the whole log to this .csv or .json file"
    )
    sheet = _add(add, "sheet", "write a decision sheet to fill in for `vote`", "rounds.sheet")
    sheet.add_argument("release", metavar="DIR", type=Path, help="a release folder")
    sheet.add_argument("--out", metavar="FILE", type=Path, required=True, help="the file to write")
    sheet.add_argument("--as", dest="key", metavar="KEY", help="whose vote it will be")


def _add_protocol(add: AddParser) -> None:
    parser = add("protocol", help="lock the way an approved release was made", allow_abbrev=False)
    actions = parser.add_subparsers(metavar="WHAT", required=True, dest="what")
    does = "lock the way an approved release was made, and sign it"
    lock = _add(actions.add_parser, "lock", does, "rounds.protocol_lock")
    lock.add_argument("release", metavar="DIR", type=Path, help="an approved release folder")
    _signer(lock)
    lock.add_argument("--out", metavar="FILE", type=Path, required=True, help="the file to write")
    does = "keep a protocol from a file, to compare releases that apply it"
    take = _add(actions.add_parser, "take", does, "rounds.protocol_take")
    take.add_argument("file", metavar="FILE", type=Path, help="a protocol, as `lock` writes it")


def _add_key(add: AddParser) -> None:
    parser = add("key", help="make and manage signing keys", allow_abbrev=False)
    actions = parser.add_subparsers(metavar="WHAT", required=True, dest="what")
    new = _add(actions.add_parser, "new", "make a key, locked by a passphrase", "keys.key_new")
    new.add_argument("--person", metavar="NAME", required=True, help="your full name")
    _passphrase(new)
    new.set_defaults(asks=(("passphrase", "A passphrase for the new key", True),))
    _add(actions.add_parser, "list", "list the keys of this computer", "keys.key_list")
    card = _add(actions.add_parser, "card", "write the public card of a key", "keys.key_card")
    card.add_argument("key", metavar="KEY", help="a person, or the first digits of a fingerprint")
    card.add_argument("--out", metavar="FILE", type=Path, required=True, help="the file to write")
    change = _add(
        actions.add_parser, "passphrase", "change the passphrase of a key", "keys.key_passphrase"
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
    trust = _add(actions.add_parser, "add", "trust the key of a card", "keys.trust_add")
    trust.add_argument("card", metavar="CARD", type=Path, help="a card, as `key card` writes it")
    trust.add_argument(
        "--fingerprint", metavar="DIGITS", help="20 digits or more, as its holder told you"
    )
    _add(actions.add_parser, "list", "list whose signatures count", "keys.trust_list")
    revoke = _add(actions.add_parser, "revoke", "make a key count no more", "keys.trust_revoke")
    revoke.add_argument("key", metavar="KEY", help="a person, or the first digits of a fingerprint")
    revoke.add_argument("--reason", metavar="TEXT", required=True, help="why")
    revoke.add_argument(
        "--retired", action="store_true", help="its holder left; what it signed before stands"
    )
    joined = _add(actions.add_parser, "import", "join a list from a file", "keys.trust_import")
    joined.add_argument("file", metavar="FILE", type=Path, help="a list, as `export` writes it")
    out = _add(actions.add_parser, "export", "write the list to a file", "keys.trust_export")
    out.add_argument("--out", metavar="FILE", type=Path, required=True, help="the file to write")

"""What is known of ledgers outside of them: the audit log of the home folder, and the witness.

The audit log lies in the same folder as the usual ledger and is put back with it; the witness lies
elsewhere (:mod:`dpdesk.project.ledger.witness`). Both are compared with a ledger before anything is
spent, and what a ledger has lost is entered again from them and from the evidence of releases.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.auditing import enter
from dpdesk.app.context import AppContext
from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.jobs import CancelToken, Note
from dpdesk.core.logged import Logged
from dpdesk.core.messages import counted, listed, msg
from dpdesk.core.shapes import read_json
from dpdesk.project.settings import acting_user

if TYPE_CHECKING:
    from dpdesk.project.audit import AuditEntry, AuditLog
    from dpdesk.project.ledger import AuditEnd, Ledger, LedgerEntry

_SHOWN = 5
_MOST_COSTS = 5
_PRINT = 16
_HERE = "here"


@dataclass(frozen=True)
class DebitElsewhere:
    """A debit on the same people or the same file in another ledger: where that lay, the cost."""

    path: str
    cost: str


@dataclass(frozen=True)
class RestoredLedger:
    """A ledger that has everything again: how many entries were missing, how many of them debits.

    ``id`` is the ledger's, ``told`` how many debits the audit log was missing.
    """

    path: Path
    id: str
    entries: int
    debits: int
    told: int = 0


def _debits(home: Path) -> tuple[AuditEntry, ...]:
    """What the audit log knows of debits, each once: some are entered again after a kill."""
    from dpdesk.project.audit import FILE, AuditLog

    if not (home / FILE).exists():  # who only looks makes no file
        return ()
    found: dict[object, AuditEntry] = {}
    with AuditLog.open_home(home) as log:
        for one in log.entries_of(Logged.DEBITED):
            found.setdefault(one.facts.get("entry", one.hash), one)
    return tuple(found.values())


def known_entries(context: AppContext, ledger: str) -> dict[int, str]:
    """Rows and hashes of debits that this computer's audit log knows of a ledger, by its id.

    A ledger without one of them was put back from an old copy. Raises StorageError ``audit.*``.
    """
    found: dict[int, str] = {}
    for facts in (entry.facts for entry in _debits(context.home)):
        row, known = facts.get("row"), facts.get("entry")
        if facts.get("ledger") == ledger and isinstance(row, int) and isinstance(known, str):
            found[row] = known
    return found


def audit_end(context: AppContext, path: Path) -> AuditEnd:
    """Where the audit log of the home folder ends now, for a debit of the ledger at ``path``.

    Raises StorageError ``audit.*``.
    """
    from dpdesk.project.audit import AuditLog
    from dpdesk.project.ledger import AuditEnd

    with AuditLog.open_home(context.home) as log:
        first, last = log.first(), log.head()
    return AuditEnd(first, last, _homes(context.home, path)[0])


def _homes(home: Path, path: Path) -> tuple[str, ...]:
    """How debits of the ledger at ``path`` name this home folder, wherever both were moved.

    Where it does not lie there: what tells the folder of this user on this computer from others.
    """
    place = os.path.realpath(home)
    return (*((_HERE,) if path.is_relative_to(place) else ()), _print_of(home))


def _print_of(home: Path) -> str:
    place = f"{acting_user()}\n{os.path.realpath(home)}"
    return hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:_PRINT]


@dataclass(frozen=True)
class AuditTies:
    """What the audit log of this home folder should have, as debits of a ledger name it.

    ``ends`` are hashes of its entries with the number of the debit that names each; ``told`` the
    debits that are to be entered in it, of which those that are ``settled`` surely were. Those from
    before the last act that went on without some of them (restored, accepted) are not asked for.
    """

    ends: Mapping[str, int]
    told: Mapping[str, int]
    settled: Set[int]


def audit_ties(context: AppContext, log: AuditLog, ledger: Ledger) -> AuditTies:
    """What ``log`` should have of a ledger. Raises StorageError ``audit.*``, ``ledger.*``."""
    from dpdesk.project.ledger.records import Debited, Settled

    first, own = log.first(), _homes(context.home, ledger.path)
    acts = [one.facts for one in log.entries_of(Logged.RESTORED, Logged.ACCEPTED)]
    last = [one.get("last") for one in acts if one.get("ledger") == ledger.identity]
    before = max((number for number in last if isinstance(number, int)), default=0)
    ends, debits, settled = dict[str, int](), dict[int, str](), set[int]()
    for entry in ledger.entries():
        content = entry.content
        if isinstance(content, Settled):
            settled.add(content.debit)
        elif entry.n > before and isinstance(content, Debited):
            end = content.audit
            if end is not None and (end.home in own or (first and first == end.log)):
                debits[entry.n] = entry.hash
                if end.head:
                    ends.setdefault(end.head, entry.n)
    # A kill may have come between the ledger and the log; who settled a debit has come past both.
    return AuditTies(ends, {one: number for number, one in debits.items()}, settled)


def audit_gap(context: AppContext, ledger: Ledger) -> StorageError | None:
    """Why nothing is spent where the audit log does not have what a ledger's debits name.

    None where nothing is missing. Raises StorageError ``audit.*``.
    """
    from dpdesk.project.audit import FILE
    from dpdesk.project.ledger import file

    gone, _ = _missing(context, ledger)
    return file.audit_gap(context.home / FILE, min(gone)) if gone else None


def _missing(context: AppContext, ledger: Ledger) -> tuple[Set[int], Set[int]]:
    """The debits that name what the audit log of this home folder has lost, and all that it does
    not have: of some it was never told, since a kill came before, and nothing was drawn for them.
    """
    from dpdesk.project.audit import AuditLog

    with AuditLog.open_home(context.home, looking=True) as log:
        ties = audit_ties(context, log, ledger)
        told = {one.facts.get("entry") for one in log.entries_of(Logged.DEBITED)}
        gone = {ties.ends[one] for one in log.lacking(ties.ends)}
        cut = log.lost_some()
    untold = {number for one, number in ties.told.items() if one not in told}
    return gone | (untold if cut else untold & ties.settled), untold


def debit_facts(ledger: Ledger, entry: LedgerEntry) -> dict[str, object]:
    """What the audit log keeps of a debit: enough to enter it in the ledger again."""
    from dpdesk.project.ledger.records import Debited

    debited = entry.content
    assert isinstance(debited, Debited)
    return {
        "ledger": ledger.identity,
        "row": entry.n,
        "entry": entry.hash,
        "cost": str(debited.request.cost),
        "population": debited.request.population,
        "source": debited.request.source,
        "record": entry.as_plain(),
    }


def _enter_debits(context: AppContext, ledger: Ledger, numbers: Set[int]) -> None:
    """Enter debits of this home folder in the audit log, which does not have them."""
    for entry in ledger.entries() if numbers else ():
        if entry.n in numbers:
            enter(context, Logged.DEBITED, ledger.path, debit_facts(ledger, entry))


def noise_paid(home: Path, population: str, source_sha256: str) -> tuple[str, ...]:
    """What was paid for noise about a population, or about a file: releases that others combine.

    As far as this computer's audit log and the witness know, oldest first. Raises StorageError
    ``audit.*``, ``witness.*``.
    """
    from dpdesk.project.ledger.records import fold

    name = fold(population)
    paid = {
        entry: str(facts.get("cost", ""))
        for _, _, entry, facts in _known_debits(home)
        if facts.get("source") == source_sha256
        or (name and fold(str(facts.get("population", ""))) == name)
    }
    return tuple(paid.values())


def noise_notes(
    home: Path, budget: Mapping[str, object] | None, source_sha256: str
) -> tuple[tuple[str, ...], tuple[Note, ...]]:
    """What :func:`noise_paid` finds for a plan's ``budget``, and a warning that names it.

    Releases of rows take themselves to be the only ones. A log that cannot be read is the warning.
    """
    try:
        paid = noise_paid(home, str((budget or {}).get("population") or ""), source_sha256)
    except StorageError as error:
        return (), (Note(error.code, error.sentence),)
    return paid, paid_notes(paid)


def paid_notes(paid: Sequence[str]) -> tuple[Note, ...]:
    """The warning that names these costs; none where there are none."""
    if not paid:
        return ()
    costs = ", ".join(paid[:_MOST_COSTS]) + (", …" if len(paid) > _MOST_COSTS else "")
    sentence = msg(
        "Releases with noise about the same people were paid for on this computer "
        "({costs}): releases can be combined, and the guarantee takes this one to be the "
        "only one.",
        costs=costs,
    )
    return (Note("release.noise-paid", sentence),)


def debits_elsewhere(
    context: AppContext, ledger: str, population: str, sources: Collection[str]
) -> tuple[DebitElsewhere, ...]:
    """Debits on a population or on files, by their hashes, that are not in the ledger with this id.

    As far as the audit log and the witness know. Raises StorageError ``audit.*``, ``witness.*``.
    """
    from dpdesk.project.ledger.records import fold

    name = fold(population)
    found: dict[str, DebitElsewhere] = {}
    for where, known, entry, facts in _known_debits(context.home):
        same_name = name and fold(str(facts.get("population", ""))) == name
        if known != ledger and (same_name or facts.get("source") in sources):
            found[entry] = DebitElsewhere(where, str(facts.get("cost", "")))
    return tuple(found.values())


def _known_debits(home: Path) -> Iterable[tuple[str, object, str, Mapping[str, object]]]:
    """Path, id, hash and facts of every debit in any ledger that was used here."""
    from dpdesk.project.ledger import Book, Witness

    for entry in _debits(home):
        yield entry.subject, entry.facts.get("ledger"), str(entry.facts.get("entry")), entry.facts
    for seen in Witness.here().ledgers().values():
        for one in seen.entries:
            book = Book()
            if one.kind in ("debit", "restored"):
                book.take(one)
            for record in book.debits.values():
                request = record.request
                facts = {
                    "population": request.population,
                    "source": request.source,
                    "cost": str(request.cost),
                }
                yield seen.path, seen.id, record.entry, facts


def elsewhere_note(found: Sequence[DebitElsewhere]) -> Note:
    """What to say of debits in other ledgers."""
    paths = list(dict.fromkeys(one.path for one in found))
    where = ", ".join(paths[:_SHOWN]) + (", …" if len(paths) > _SHOWN else "")
    costs = ", ".join(one.cost for one in found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
    return Note(
        "ledger.elsewhere",
        msg(
            "Another ledger holds debits on the same people or file, which are not counted "
            "here: {costs} in {where}.",
            costs=costs,
            where=where,
        ),
    )


def copy_notes(path: Path, ledger: str) -> tuple[Note, ...]:
    """A warning that the ledger with this id lies at another place as well: one is a copy.

    As far as the witness knows places and files are there. What one of them spends the other lacks;
    nothing is spent from that one until it was entered again. Raises StorageError ``witness.*``.
    """
    from dpdesk.project.ledger import Ledger, Witness

    here, found = os.path.realpath(path), []
    for place, known in Witness.here().seen().places.items():
        if not ledger or known != ledger or os.path.realpath(place) == here or is_gone(Path(place)):
            continue
        try:
            with closing(Ledger.open(Path(place), create=False)) as other:
                if other.identity == ledger:
                    found.append(place)
        except DpdeskError:
            continue
    if not found:
        return ()
    return (
        Note(
            "ledger.copy",
            msg(
                "{path}: this ledger lies in {places} as well: one is a copy, and what one of them "
                "spends the other does not count. Use one of them alone, and take the others away.",
                path=path,
                places=listed(found, _SHOWN),
            ),
        ),
    )


def unwitnessed_note(reason: str) -> Note:
    """What to say where the witness in its usual place could not be told."""
    from dpdesk.project.ledger import Witness
    from dpdesk.project.ledger.witness import VARIABLE

    return Note(
        "ledger.unwitnessed",
        msg(
            "{path}: the witness of the ledgers cannot be written ({reason}), so an old copy of "
            "this ledger that is put back will not be noticed. Set {variable} to a place that "
            "can be written.",
            path=Witness.here().path,
            reason=reason,
            variable=VARIABLE,
        ),
    )


def witness_notes(context: AppContext) -> tuple[Note, ...]:
    """What to say where the witness would be put back together with what it should tell of."""
    from dpdesk.project.ledger import Witness
    from dpdesk.project.ledger.witness import VARIABLE

    place = Path(os.path.realpath(Witness.here().path))
    if not place.is_relative_to(os.path.realpath(context.home)):
        return ()
    sentence = msg(
        "{place}: the witness of the ledgers is in the home folder of DPDesk: an old copy of "
        "both that is put back will not be noticed. Set {variable} to a place outside it.",
        place=place,
        variable=VARIABLE,
    )
    return (Note("witness.at-home", sentence),)


def is_gone(path: Path) -> bool:
    """Whether there is no ledger: no file, or an empty one, which would be begun afresh."""
    try:
        facts = path.stat()
    except OSError:
        return not path.exists()
    return stat.S_ISREG(facts.st_mode) and facts.st_size == 0  # a pipe has no size either


def check_not_lost(context: AppContext, path: Path) -> None:
    """Raise StorageError ``ledger.lost`` when debits or limits were entered in one that is gone.

    As far as the audit log or the witness knows.

    A fresh one in its place would forget what was spent, and what may be.
    """
    if not is_gone(path):
        return
    debits, last = _made_here(context, path, "", moved=True)
    if debits:
        raise StorageError(
            "ledger.lost",
            counted(
                "{path}: the ledger is gone; {n:,} debit or limit was entered in it until {last}.",
                "{path}: the ledger is gone; {n:,} debits and limits were entered in it until "
                "{last}.",
                n=debits,
                path=path,
                last=last,
            ),
            hint="Put it back from where it was moved to or from a backup, or have it made again "
            "from the witness (`dpdesk ledger restore`); only if it is lost for good, begin a new "
            "one (`dpdesk ledger begin`).",
            details={"path": str(path), "debits": debits},
        )


def _made_here(context: AppContext, path: Path, ledger: str, *, moved: bool) -> tuple[int, str]:
    """How many debits and limits the last ledger at this place got, and when the last one came.

    Those of the ledger with the id ``ledger`` do not count, which is empty where there is none any
    more; limits of the audit log name no ledger, and count only then. The audit log lies beside the
    ledger, and may have been put back or lost with it; the witness knows then. With ``moved``,
    entries from before a move of the home folder count as well; those of a name that is a link to
    this place now always do.
    """
    from dpdesk.project.audit import FILE, AuditLog
    from dpdesk.project.ledger import Witness
    from dpdesk.project.ledger.records import BINDING
    from dpdesk.project.ledger.witness import leads_to

    entered: list[str] = []
    binding = {Logged.DEBITED} if ledger else {Logged.DEBITED, Logged.LIMITED, Logged.PEOPLE}
    if (context.home / FILE).exists():
        with AuditLog.open_home(context.home) as log:
            told = log.entries_of(*binding, Logged.BEGUN, Logged.ACCEPTED)
            places = _places(context, path, told) if moved else frozenset((str(path),))
            places |= {name for name in {e.subject for e in told} if leads_to(name, path)}
            for entry in told:
                if entry.subject not in places:
                    continue
                if entry.action in binding and entry.facts.get("ledger") != ledger:
                    entered.append(entry.time)
                else:
                    entered.clear()
    seen = Witness.here().lies_at(path)
    if seen is not None and seen.id != ledger:
        known = [one.time for one in seen.entries if one.kind in BINDING]
        entered = max(entered, known, key=len)
    return len(entered), max(entered, default="")


def _places(context: AppContext, path: Path, told: Sequence[AuditEntry]) -> frozenset[str]:
    """How entries of the audit log call the ledger at a place: also as before a move of both."""
    if _homes(context.home, path)[0] != _HERE:
        return frozenset((str(path),))
    moved = (e.subject for e in told if _made_at_home(e) and Path(e.subject).name == path.name)
    return frozenset((str(path), *moved))


def _made_at_home(entry: AuditEntry) -> bool:
    """Whether an entry tells of a debit into a ledger that lay in the folder of this log."""
    record = entry.facts.get("record")
    body = record.get("body") if isinstance(record, Mapping) else None
    try:
        made = read_json(body) if isinstance(body, str) else {}
    except ValueError:
        return False
    end = made.get("audit") if isinstance(made, Mapping) else None
    return isinstance(end, Mapping) and end.get("home") == _HERE


def check_witnessed(context: AppContext, ledger: Ledger, *, spending: bool = False) -> None:
    """Stop where it is not known whether a ledger has all that was ever entered.

    Before ``spending``, debits that a kill has kept from the audit log are entered there.

    Raises StorageError ``ledger.another`` where another one with debits lay in its place,
    ``ledger.audit-gap`` where the audit log has lost some of them, ``witness.lost``,
    ``witness.damaged``.
    """
    from dpdesk.project.ledger import file

    ledger.require_witness()
    for moved in (False, True):  # a log that is another's is a gap, not a move
        debits, last = _made_here(context, ledger.path, ledger.identity, moved=moved)
        if debits:
            raise file.another(ledger.path, debits, last)
        gap = None if moved else audit_gap(context, ledger)
        if gap is not None:
            raise gap
    if spending:
        _enter_debits(context, ledger, _missing(context, ledger)[1])


def unwitnessed_reason(context: AppContext, ledger: Ledger) -> tuple[str, ...]:
    """Why nothing can be spent from a ledger that can be looked at, and what to do; or nothing."""
    try:
        check_witnessed(context, ledger)
    except StorageError as error:
        return (error.sentence, error.hint)
    return ()


def accept_witness(
    context: AppContext, path: Path, reason: str, token: CancelToken | None = None
) -> str:
    """Go on with the ledger that lies here although the witness cannot say that it has all; its id.

    It is entered in the audit log and in the witness, with the reason. Raises InputError
    ``ledger.reason``; StorageError ``ledger.restored`` where entries are known to be missing, which
    are to be entered again instead, and as opening a ledger does.
    """
    from dpdesk.project.ledger import Ledger, Witness, is_said

    if not is_said(reason):
        raise InputError(
            "ledger.reason",
            msg("{path}: accepting a lost witness needs a reason.", path=path),
            hint="Say what happened: `--reason TEXT`.",
        )
    check_not_lost(context, path)
    with closing(Ledger.open(path, create=False, token=token, witness=Witness.here())) as ledger:
        ledger.require(known_entries(context, ledger.identity))
        held = ledger.entries()[-1].n
        facts = {"ledger": ledger.identity, "last": held, "reason": reason}
        enter(context, Logged.ACCEPTED, path, facts)
        ledger.accept(reason)
        return ledger.identity


def restore_ledger(
    context: AppContext,
    path: Path,
    reason: str,
    releases: Sequence[Path] = (),
    token: CancelToken | None = None,
) -> RestoredLedger:
    """Enter again what a ledger has lost: from the witness, the audit log and these releases.

    One that is gone is made again, as far as the witness knows it. Debits that the audit log has
    lost are entered in it again from the ledger.

    It is entered in the audit log, with the reason. Raises InputError ``ledger.reason``,
    ``ledger.no-record`` for a release that cannot say what it paid to this ledger; StorageError
    ``ledger.restored`` where something is known to be missing whose content is known nowhere, and
    as opening a ledger does.
    """
    from dpdesk.project.ledger import Ledger, Witness, is_said

    if not is_said(reason):
        raise InputError(
            "ledger.reason",
            msg("{path}: entering lost entries again needs a reason.", path=path),
            hint="Say what happened: `--reason TEXT`.",
        )
    begun = None
    if is_gone(path):
        begun = next((one for one in _seen_of(context, path) if one.kind == "begun"), None)
        if begun is None:
            check_not_lost(context, path)
    made, here = begun is not None, Witness.here()
    ledger = Ledger.open(path, create=made, token=token, witness=here, begun=begun)
    with closing(ledger):
        known = [*_records(context, ledger.identity)]
        known += [_release_record(folder, ledger.identity) for folder in releases]
        lost, (gone, untold) = ledger.lost(known), _missing(context, ledger)
        if lost or gone:
            facts = {
                "ledger": ledger.identity,
                "entries": len(lost),
                "last": ledger.entries()[-1].n + len(lost),
                "reason": reason,
            }
            _enter_debits(context, ledger, untold)
            enter(
                context, Logged.RESTORED, path, {**facts, **({"first": lost[0].n} if lost else {})}
            )
            if lost:
                ledger.restore(known)
        ledger.require(known_entries(context, ledger.identity))
        debits, told = sum(entry.kind == "debit" for entry in lost), lost or gone
        return RestoredLedger(path, ledger.identity, len(lost), debits, len(untold) if told else 0)


def _seen_of(context: AppContext, path: Path) -> tuple[LedgerEntry, ...]:
    """What the witness knows of the ledger that lay at a place, also as before a move with it."""
    from dpdesk.project.ledger import Witness

    witness = Witness.here()
    seen = witness.lies_at(path)
    if seen is not None:
        return seen.entries
    told = _debits(context.home)
    places = _places(context, path, told)
    here = [str(entry.facts.get("ledger")) for entry in told if entry.subject in places]
    return witness.entries(here[-1]) if here else ()


def _records(context: AppContext, ledger: str) -> Iterable[LedgerEntry]:
    """The debits of a ledger that the audit log can tell in full."""
    from dpdesk.project.ledger import read_entry

    for facts in (entry.facts for entry in _debits(context.home)):
        record = facts.get("record")
        if facts.get("ledger") == ledger and isinstance(record, Mapping):
            entry = read_entry(record)
            if entry is not None and entry.hash == facts.get("entry"):
                yield entry


def _release_record(folder: Path, ledger: str) -> LedgerEntry:
    """The debit of a release in this ledger, as its evidence has it."""
    from dpdesk.io.release_check import read_release
    from dpdesk.project.ledger import read_entry

    budget = read_release(folder).evidence.budget
    head = None if budget is None else budget.head
    entry = None if budget is None or budget.record is None else read_entry(budget.record)
    same = budget is not None and head is not None and head.ledger == ledger
    if budget is None or entry is None or entry.hash != budget.entry or not same:
        raise InputError(
            "ledger.no-record",
            msg(
                "{folder}: the evidence of this release has no complete entry for a debit in "
                "this ledger.",
                folder=folder,
            ),
            hint="Name the folder of a release that was debited to this ledger, with its "
            "internal part; earlier versions kept no such entry.",
        )
    return entry

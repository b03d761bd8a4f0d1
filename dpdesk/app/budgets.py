"""Look at a budget ledger, set limits, check it, give it to others.

What runs do with a ledger (look ahead, debit, settle) is in ``ledgers``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpdesk.app.auditing import enter
from dpdesk.app.context import AppContext
from dpdesk.app.ledgers import limit_facts
from dpdesk.app.witnessing import (
    audit_gap,
    check_not_lost,
    check_witnessed,
    copy_notes,
    debits_elsewhere,
    elsewhere_note,
    is_gone,
    known_entries,
    unwitnessed_note,
    unwitnessed_reason,
    witness_notes,
)
from dpdesk.core.budget import Budget, PureEpsilon, amount_text
from dpdesk.core.charts import Axis, PointSeries, ScatterChart, SeriesStyle, table_from
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.core.logged import Logged
from dpdesk.core.messages import msg
from dpdesk.core.parameters import nearest
from dpdesk.core.shapes import read_json

if TYPE_CHECKING:
    from dpdesk.app.witnessing import DebitElsewhere
    from dpdesk.project.ledger import (
        AccountKey,
        Book,
        DebitRecord,
        Figures,
        LedgerCheck,
        LedgerEntry,
        LimitRecord,
        PeopleRecord,
        Spending,
    )


_FIELDS = ("n", "time", "who", "kind", "body", "previous", "hash")
_FORMATS = (".csv", ".json")
_LEAST_DIGITS = 6


@dataclass(frozen=True)
class AccountPicture:
    """One account: what it spent, its limit and what is left of it, its debits (oldest first).

    ``history`` are all limits that it has had, oldest first; ``elsewhere`` are debits on the same
    people or files that other ledgers hold and this one does not count; ``people`` says which other
    names mean the same people or different ones. Sums, limit and debits are those of all names that
    mean the same people.
    """

    key: AccountKey
    spending: Spending
    limit: Budget | None
    left: Budget | None
    figures: Figures
    debits: tuple[DebitRecord, ...]
    history: tuple[LimitRecord, ...] = ()
    elsewhere: tuple[DebitElsewhere, ...] = ()
    people: tuple[PeopleRecord, ...] = ()


@dataclass(frozen=True)
class LedgerPicture:
    """A ledger as it is on the disk; no accounts where there is no file yet (``id`` empty).

    ``notes`` are sentences about what its sums cannot know; ``doubts`` are why nothing can be spent
    before it was accepted that debits may be missing.
    """

    path: Path
    id: str
    accounts: tuple[AccountPicture, ...]
    entries: int
    head: str
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def look_at_ledger(
    context: AppContext,
    path: Path,
    delta: Fraction,
    token: CancelToken,
    report: Report,
    population: str | None = None,
) -> LedgerPicture:
    """Read, check and compose a ledger; ``population`` names one account alone.

    Raises InputError ``ledger.no-population``, ``ledger.delta``; StorageError ``ledger.lost`` for a
    ledger that is gone, ``ledger.broken`` for one that was changed or put back from an old copy,
    and as :meth:`~dpdesk.project.ledger.Ledger.open` does; Cancelled.
    """
    from dpdesk.project.ledger import Ledger, Witness

    if not 0 < delta < 1:
        raise InputError("ledger.delta", "δ must lie between 0 and 1, for instance 0.000001.")
    if is_gone(path):
        check_not_lost(context, path)
        return LedgerPicture(path, "", (), 0, "")
    witness = Witness.here()
    with closing(Ledger.open(path, create=False, token=token, witness=witness)) as ledger:
        ledger.require(known_entries(context, ledger.identity))
        book, entries = ledger.book, ledger.entries()
        doubts = unwitnessed_reason(context, ledger)
        identity, unwitnessed = ledger.identity, ledger.tell_witness()
    keys = book.accounts() if population is None else (find_account(book, population, path),)
    accounts: list[AccountPicture] = []
    for key in keys:
        report(StepProgress("Composing losses", len(accounts), len(keys), "accounts"))
        accounts.append(_picture(context, book, key, delta, token))
    found = dict.fromkeys(one for account in accounts for one in account.elsewhere)
    notes = [*_doubts(book, keys), *([elsewhere_note(tuple(found)).sentence] if found else [])]
    if unwitnessed:
        notes.append(unwitnessed_note(unwitnessed).sentence)
    notes += [note.sentence for note in witness_notes(context)]
    notes += [note.sentence for note in copy_notes(path, identity)]
    return LedgerPicture(
        path, identity, tuple(accounts), len(entries), entries[-1].hash, tuple(notes), doubts
    )


def _doubts(book: Book, keys: Sequence[AccountKey]) -> list[str]:
    """That names may mean the same people, each pair once."""
    from dpdesk.project.ledger import open_doubts

    found, told = list[str](), set[tuple[str, str]]()
    for key in keys:
        if any(one.other.folded not in told for one in book.doubts(key)):
            found += [note.sentence for note in open_doubts(book, key)]
        told.add(key.folded)
    return found


def _picture(
    context: AppContext, book: Book, key: AccountKey, delta: Fraction, token: CancelToken
) -> AccountPicture:
    from dpdesk.project.ledger import add_up, figures, left_of

    debits = tuple(book.members(key))
    spending, limit = add_up(record.request for record in debits), book.binding(key)
    found = figures(debits, delta, token.check)
    sources = {key.source, *(record.request.source for record in debits)} - {""}
    elsewhere = debits_elsewhere(context, book.ledger, key.population, sources)
    left, people = left_of(limit, spending), book.people.about(key.population)
    history = sorted(
        (record for one in (key, *book.kin(key)) for record in book.history(one)),
        key=lambda record: record.n,
    )
    return AccountPicture(
        key, spending, limit, left, found, debits, tuple(history), elsewhere, people
    )


def find_account(book: Book, name: str, path: Path) -> AccountKey:
    """The population of this name. Raises InputError ``ledger.no-population``."""
    from dpdesk.project.ledger import AccountKey

    wanted = AccountKey(population=" ".join(name.split()))
    names = [key.population for key in book.accounts() if key.population]
    for key in book.accounts():
        if key.population and key.folded == wanted.folded:
            return key
    near = nearest(name, names)
    raise InputError(
        "ledger.no-population",
        msg("{path}: the ledger has no population “{name}”.", path=path, name=name),
        hint=msg("Did you mean “{near}”?", near=near) if near else "See `dpdesk ledger show`.",
    )


def find_source(book: Book, digits: str, path: Path) -> AccountKey:
    """The account of a source by the first digits of its hash. Raises InputError."""
    wanted = digits.lower()
    found = [key for key in book.accounts() if key.source.startswith(wanted)]
    if len(wanted) < _LEAST_DIGITS or len(found) != 1:
        raise InputError(
            "ledger.no-source",
            msg(
                "{path}: {n:,} sources have a content hash that begins with “{digits}”, "
                "expected one, named by {least} digits or more.",
                path=path,
                n=len(found),
                digits=digits,
                least=_LEAST_DIGITS,
            ),
            hint="See `dpdesk ledger show`.",
        )
    return found[0]


def set_limit(
    context: AppContext,
    path: Path,
    limit: Budget | None,
    reason: str,
    *,
    population: str = "",
    source: str = "",
    token: CancelToken | None = None,
) -> LedgerPicture:
    """Set the limit of a population, which may be new, or of a source that has spent.

    To raise one, or to take it away, needs a ``reason``. It is entered in the ledger's own chain
    and in the audit log. ``token`` ends the waiting for other programs that hold the file. Raises
    as :func:`look_at_ledger`; InputError ``ledger.reason``; StorageError when it cannot be written.
    """
    from dpdesk.project.ledger import AccountKey, Ledger, Witness, name_of

    check_not_lost(context, path)
    with closing(Ledger.open(path, token=token, witness=Witness.here())) as ledger:
        ledger.require(known_entries(context, ledger.identity))
        check_witnessed(context, ledger)
        if name := name_of(population):
            key = AccountKey(population=name)
        else:
            key = find_source(ledger.book, source, path)
        ledger.check_reason(key, limit, reason)
        enter(context, Logged.LIMITED, path, limit_facts(key, limit, reason))
        ledger.set_limit(key, limit, reason)
        account = _picture(context, ledger.book, key, _MILLIONTH, CancelToken())
        entries = ledger.entries()
        return LedgerPicture(path, ledger.identity, (account,), len(entries), entries[-1].hash)


_MILLIONTH = Fraction(1, 1_000_000)


def declare_people(
    context: AppContext,
    path: Path,
    one: str,
    other: str,
    same: bool,
    reason: str,
    token: CancelToken | None = None,
) -> None:
    """Say that two names of populations mean the same people, or different ones, and why.

    The debits of the same people count together from then on. It is entered in the ledger's own
    chain and in the audit log. Raises as :func:`look_at_ledger`; InputError ``ledger.reason``,
    ``ledger.people``, ``ledger.no-population`` where the ledger knows neither name; StorageError.
    """
    from dpdesk.project.ledger import AccountKey, Ledger, Witness

    one, other = " ".join(one.split()), " ".join(other.split())
    check_not_lost(context, path)
    witness = Witness.here()
    with closing(Ledger.open(path, create=False, token=token, witness=witness)) as ledger:
        ledger.require(known_entries(context, ledger.identity))
        check_witnessed(context, ledger)
        ledger.check_people(one, other, same, reason)
        if not any(
            key.folded in (AccountKey(one).folded, AccountKey(other).folded)
            for key in ledger.book.accounts()
        ):
            find_account(ledger.book, one, path)
        facts = {"one": one, "other": other, "same": same, "reason": reason}
        enter(context, Logged.PEOPLE, path, facts)
        ledger.declare_people(one, other, same, reason)


def check_ledger(context: AppContext, path: Path) -> LedgerCheck:
    """Check the chain of a ledger, and against what the audit log of this computer knows of it.

    A broken one is told, not raised. Raises StorageError ``ledger.missing``, ``ledger.lost`` and
    the like, InputError ``ledger.not-a-ledger``, ``ledger.newer``.
    """
    from dpdesk.project.ledger import Ledger, LedgerFault, Witness, check_file

    check_not_lost(context, path)
    found = check_file(path, lambda ledger: known_entries(context, ledger))
    if found.ok:
        with closing(Ledger.open(path, create=False, witness=Witness.here())) as ledger:
            lost, doubts = ledger.lost(), unwitnessed_reason(context, ledger)
            gap = audit_gap(context, ledger)
        told = "" if gap is None else gap.sentence
        doubts = () if told in doubts else doubts
        audit = told or _audit_fault(context)
        found = replace(found, notes=(*found.notes, *doubts), audit=audit)
        if lost:
            reason = msg(
                "entry {number:,}, which this computer knows, is missing or different",
                number=lost[0].n,
            )
            return replace(found, fault=LedgerFault(lost[0].n, reason))
    return found


def export_ledger(context: AppContext, path: Path, out: Path) -> int:
    """Write all entries as CSV or JSON, as the name of the new file ends; how many.

    Raises InputError ``ledger.exists``, ``ledger.format``; StorageError.
    """
    from dpdesk.io.safewrite import write_text
    from dpdesk.project.ledger import Ledger

    if out.exists():
        raise InputError(
            "ledger.exists", msg("{out}: the file already exists.", out=out), hint="Name another."
        )
    if out.suffix.lower() not in _FORMATS:
        raise InputError(
            "ledger.format",
            msg(
                "{out}: the name ends in “{suffix}”, expected `.csv` or `.json`.",
                out=out,
                suffix=out.suffix,
            ),
        )
    check_not_lost(context, path)
    with closing(Ledger.open(path, create=False)) as ledger:
        entries, identity = ledger.entries(), ledger.identity
    text = _as_json(entries, identity) if out.suffix.lower() == ".json" else _as_csv(entries)
    write_text(out, text, "ledger-export", context.workspace, new=True)
    return len(entries)


def _audit_fault(context: AppContext) -> str:
    """Where the chain of the audit log is broken; empty where it holds."""
    from dpdesk.project.audit import FILE, AuditLog

    with AuditLog.open_home(context.home, looking=True) as log:
        fault = log.verify().fault
    where = context.home / FILE
    return (
        ""
        if fault is None
        else msg(
            "{where}: the audit log is broken at entry {n:,}: {reason}.",
            where=where,
            n=fault.n,
            reason=fault.reason,
        )
    )


def _as_json(entries: tuple[LedgerEntry, ...], identity: str) -> str:
    from dpdesk.io.canonical import canonical_json

    rows = [
        {**{name: getattr(entry, name) for name in _FIELDS}, "body": read_json(entry.body)}
        for entry in entries
    ]
    head = entries[-1].hash if entries else ""
    plain = {"format": 1, "ledger": identity, "head": head, "entries": rows}
    return canonical_json(plain).decode("utf-8")


def _as_csv(entries: tuple[LedgerEntry, ...]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_FIELDS)
    writer.writerows([getattr(entry, name) for name in _FIELDS] for entry in entries)
    return out.getvalue()


# A picture of what an account has spent, debit after debit.


CURVES = "ledger-curves"
MOST_POINTS = 24


def account_curves(account: AccountPicture, delta: Fraction, token: CancelToken) -> ScatterChart:
    """ε at ``delta`` after each debit, by simple sums and by tight composition.

    Of many debits some are drawn, the last one always. Raises Cancelled.
    """
    from dpdesk.project.ledger import figures

    count = len(account.debits)
    places = [int(n) for n in np.unique(np.linspace(1, count, min(count, MOST_POINTS)).round())]
    found = [figures(account.debits[:place], delta, token.check) for place in places]
    limit = account.limit
    line = float(limit.epsilon) if isinstance(limit, PureEpsilon) else None
    simple = [_number(one.simple) for one in found]
    tight = [_number(one.tight) for one in found]
    unit = msg("ε at δ = {delta}", delta=amount_text(delta))
    return ScatterChart(
        id=CURVES,
        question="How does the spending add up?",
        answer=_answer(found),
        x_axis=Axis("Debits", "number", minimum=0, whole=True),
        y_axis=Axis("Spent", unit, minimum=0),
        series=(
            _series("simple sum", places, simple, SeriesStyle.FIRST),
            _series("tight composition", places, tight, SeriesStyle.SECOND),
        ),
        table=table_from(
            [
                "Debits",
                msg("Simple sum ({unit})", unit=unit),
                msg("Tight composition ({unit})", unit=unit),
            ],
            [
                [place, _cell(one.simple), _cell(one.tight)]
                for place, one in zip(places, found, strict=True)
            ],
        ),
        y_limit=line,
        y_limit_label="" if line is None else "limit",
        short="Spending",
    )


def _series(name: str, places: list[int], values: list[float], look: SeriesStyle) -> PointSeries:
    known = [place for place, value in enumerate(values) if value == value]
    return PointSeries(
        name,
        np.array([places[place] for place in known], dtype=np.float64),
        np.array([values[place] for place in known], dtype=np.float64),
        look=look,
        stepped=True,
    )


def _answer(found: Sequence[Figures]) -> str:
    if not found:
        return "Nothing has been spent."
    last = found[-1]
    if last.simple is None or last.tight is None:
        return "No ε can be stated at this δ: more δ has been spent."
    return msg(
        "Simple sum ε = {simple:.4g}, tight composition ε = {tight:.4g}.",
        simple=float(last.simple),
        tight=last.tight,
    )


def _number(value: Fraction | float | None) -> float:
    return float("nan") if value is None else float(value)


def _cell(value: Fraction | float | None) -> float | None:
    return None if value is None else round(float(value), 6)

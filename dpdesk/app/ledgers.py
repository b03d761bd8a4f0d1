"""The privacy budget as a run, a window or a command uses it: look ahead, debit, settle.

A run that draws noise goes like this::

    desk = open_ledger(context, base, plan.budget)
    request = desk.request(cost, source_sha256, columns, purpose, neighbours, unit, draws, title)
    desk.preview(request)                    # what the ledger will say; nothing is debited
    with desk.spending(request, report) as spent:
        noise(…, spent.debit)                # demands the debit
        write_the_release()
        spent.released(manifest_sha256)      # anything else leaves it failed or cancelled

Every call opens and closes the file, so a desk may be used from any thread.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING

from dpdesk.app.auditing import enter, mention
from dpdesk.app.context import AppContext
from dpdesk.app.witnessing import (
    audit_end,
    check_not_lost,
    check_witnessed,
    copy_notes,
    debit_facts,
    debits_elsewhere,
    elsewhere_note,
    is_gone,
    known_entries,
    unwitnessed_note,
    witness_notes,
)
from dpdesk.core.budget import (
    Budget,
    Debit,
    DebitRequest,
    Draws,
    Neighbours,
    ProtectedUnit,
    amount,
    columns_fingerprint,
)
from dpdesk.core.errors import Cancelled, DpdeskError, InputError, StorageError
from dpdesk.core.jobs import CancelToken, Event, Note, Report
from dpdesk.core.logged import Logged
from dpdesk.core.messages import joined, msg

if TYPE_CHECKING:
    from dpdesk.app.prepared import Prepared
    from dpdesk.engine.private.method import Charge
    from dpdesk.project.ledger import AccountKey, Book, Ledger, Outcome, Preview, Witness
    from dpdesk.project.ledger.records import LimitSet


def open_ledger(context: AppContext, base: Path, budget: Mapping[str, object] | None) -> LedgerDesk:
    """The ledger that a plan's ``[budget]`` names, or the one of the home folder.

    ``base`` is the folder to which the plan's paths are relative. Nothing is read or made yet.
    Raises InputError ``plan.invalid`` for a path that is none, ``budget.amount``.
    """
    table = budget or {}
    limit = None if table.get("limit") is None else amount(table["limit"], "limit")
    path = ledger_path(context, base, table.get("ledger"))
    return LedgerDesk(context, path, str(table.get("population") or ""), limit)


def ledger_path(context: AppContext, base: Path, named: object = None) -> Path:
    """The real path of the ledger that is named, or of the home folder's."""
    from dpdesk.project.ledger import FILE

    if named is None:
        return Path(os.path.realpath(context.home / FILE))
    if not isinstance(named, str | Path) or not str(named) or "\0" in str(named):
        raise InputError(
            "plan.invalid",
            msg("[budget]: `ledger` is {named!r}, expected the path of a file.", named=named),
        )
    return Path(os.path.realpath(base / named))


@dataclass
class Spent:
    """A debit that is being used; say :meth:`released` once the release is in its place.

    ``doubts`` are the warnings that others may be the same people, for the evidence.
    """

    debit: Debit
    doubts: tuple[str, ...] = ()
    manifest: str | None = field(default=None, init=False)

    def released(self, manifest_sha256: str) -> None:
        """The release has come about; the SHA-256 of its public manifest names it."""
        self.manifest = manifest_sha256


@dataclass(frozen=True)
class LedgerDesk:
    """One ledger, with what a plan says about its budget: population and limit (None: none)."""

    context: AppContext
    path: Path
    population: str = ""
    limit: Fraction | None = None
    _seen: dict[tuple[object, ...], Book] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def request(
        self,
        cost: Budget,
        source_sha256: str,
        columns: Sequence[str],
        purpose: str,
        *,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
        unit: ProtectedUnit = ProtectedUnit(),  # noqa: B008 - frozen
        draws: Iterable[Draws] = (),
        title: str = "",
        content: tuple[str, ...] = (),
    ) -> DebitRequest:
        """A request for this plan's population; ``columns`` are the names of the source's columns.

        ``content`` are the prints of the measured ones (:meth:`DataStore.content`).

        List every draw of noise in ``draws`` (equal ones together): the tight figures come from
        them. Raises ValueError when the draws cost more than ``cost``.
        """
        return DebitRequest(
            cost=cost,
            source=source_sha256,
            columns=columns_fingerprint(columns),
            purpose=purpose,
            neighbours=neighbours,
            unit=unit,
            draws=tuple(draws),
            population=self.population,
            title=title,
            content=content,
        )

    def preview(self, request: DebitRequest) -> Preview:
        """What the ledger will say after this debit; nothing is debited, no file is made.

        Raises StorageError ``ledger.*`` when the ledger that is there cannot be used.
        """
        from dpdesk.project.ledger import preview

        book = self._look()
        found = preview(book, request, self.limit, str(self.path))
        return replace(found, notes=(*found.notes, *self._elsewhere(book.ledger, request)))

    def paid(self, debit: Debit) -> dict[str, object]:
        """Where the ledger says that a release was paid for, and where the ledger ends now.

        ``record`` is the entry of the debit as it stands in the ledger, so that it can be entered
        again; ``head`` names the ledger by its id, its number of entries and the hash of the last.
        """
        with closing(self._open()) as ledger:
            entries = ledger.entries()
        (record,) = (entry for entry in entries if entry.hash == debit.entry)
        others = debits_elsewhere(self.context, debit.ledger, debit.population, (debit.source,))
        return {
            "debit": debit.id,
            "entry": debit.entry,
            "cost": str(debit.cost),
            "time": debit.time,
            "population": debit.population,
            "ledger": self.path.name,
            "record": record.as_plain(),
            "head": {
                "ledger": debit.ledger,
                "entries": entries[-1].n,
                "hash": entries[-1].hash,
            },
            "elsewhere": [{"ledger": one.path, "cost": one.cost} for one in others],
        }

    def known(self, source_sha256: str, content: tuple[str, ...]) -> str:
        """The accounts that were debited for these data, in whatever format, in words; empty: none.

        Raises StorageError ``ledger.*`` when the ledger that is there cannot be used.
        """
        from dpdesk.project.ledger.people import Versions, names_of

        data = Versions(frozenset((source_sha256,)), frozenset(content))
        debits = self._look().debits.values()
        return names_of(one.key for one in debits if data.hold(one.request))

    def _look(self) -> Book:
        """The accounts as they are, read again only when the file has changed."""
        from dpdesk.project.ledger import Book, Ledger, Witness, stamp_of

        try:
            stamp = (*stamp_of(self.path), *Witness.here().stamp())
        except OSError:
            stamp = ()  # opening it says what is wrong
        if is_gone(self.path):
            check_not_lost(self.context, self.path)
            return Book()
        known = self._seen.get(stamp)
        if known is None:
            with closing(Ledger.open(self.path, create=False, witness=Witness.here())) as ledger:
                ledger.require(known_entries(self.context, ledger.identity))
                check_witnessed(self.context, ledger)
                known = ledger.book
            self._seen.clear()
            self._seen[stamp] = known
        return known

    def debit(
        self, request: DebitRequest, report: Report, token: CancelToken | None = None
    ) -> Debit:
        """Take the cost from the budget; durable when this returns.

        ``token`` ends the waiting for other programs that hold the file (Cancelled). The ledger's
        warnings are reported as notes; the debit is entered in the audit log. Raises RefusedError
        ``ledger.exhausted``, ``ledger.incomparable`` or ``ledger.people-unknown`` (exit code 1),
        StorageError ``ledger.*``, ``audit.*``.
        """
        from dpdesk.project.ledger import AccountKey

        with closing(self._open(token)) as ledger:
            if ledger.made:
                report(
                    Note(
                        "ledger.made", msg("A new budget ledger was begun: {path}", path=self.path)
                    )
                )
            for note in ledger.preview(request, self.limit).notes:
                report(note)
            for note in self._elsewhere(ledger.identity, request):
                report(note)
            ledger.require(known_entries(self.context, ledger.identity))
            check_witnessed(self.context, ledger, spending=True)
            known, end = (
                known_entries(self.context, ledger.identity),
                audit_end(self.context, ledger.path),
            )
            debit = ledger.debit(request, self.limit, known, end)
            limits = ledger.book.history(AccountKey.of(request))
            (entry,) = (one for one in ledger.entries() if one.hash == debit.entry)
            facts = debit_facts(ledger, entry)
            if ledger.unwitnessed:
                report(unwitnessed_note(ledger.unwitnessed))
            for note in witness_notes(self.context):
                report(note)
        mention(self.context, Logged.DEBITED, self.path, report, facts)
        if limits and limits[-1].n == debit.row + 1:
            self._tell_limit(limits[-1].content, report)
        return debit

    def _elsewhere(self, ledger: str, request: DebitRequest) -> tuple[Note, ...]:
        """A note on debits on the same people or file that other ledgers hold; none without."""
        found = debits_elsewhere(self.context, ledger, request.population, (request.source,))
        others = (elsewhere_note(found),) if found else ()
        return (*others, *copy_notes(self.path, ledger))

    def _tell_limit(self, found: LimitSet, report: Report) -> None:
        """Say and enter that the plan's limit is that of its people from now on."""
        facts = limit_facts(found.key, found.limit, found.reason)
        mention(self.context, Logged.LIMITED, self.path, report, facts)
        words = msg(
            "The limit {limit} of the plan is the limit of {key} from now on.",
            limit=found.limit,
            key=found.key,
        )
        report(Note("ledger.limit-set", words))

    def settle(
        self, debit: Debit, outcome: Outcome, *, manifest: str = "", reason: str = ""
    ) -> None:
        """Record what became of a debit; the budget stays spent. Raises StorageError."""
        with closing(self._open()) as ledger:
            ledger.settle(debit, outcome, manifest=manifest, reason=reason)

    @contextmanager
    def spending(
        self, request: DebitRequest, report: Report, token: CancelToken | None = None
    ) -> Iterator[Spent]:
        """Debit (see :meth:`debit`), then record what becomes of it when the block ends.

        Released when :meth:`Spent.released` was called; cancelled or failed, with the reason, when
        the block raises; failed when it ends without a release. Where that cannot be recorded, a
        note says so, and the debit shows as spent, outcome unknown.
        """
        from dpdesk.project.ledger import UNDECLARED, Outcome

        doubts: list[str] = []

        def listen(event: Event) -> None:
            if isinstance(event, Note) and event.code in UNDECLARED:
                doubts.append(event.sentence)
            report(event)

        spent = Spent(self.debit(request, listen, token), tuple(doubts))
        outcome, reason = Outcome.FAILED, "it ended without a release"
        told = stays_spent(request)
        unreleased = self.context.unreleased.get(get_ident(), [])
        unreleased.append(told)
        try:
            yield spent
        except (Cancelled, KeyboardInterrupt):
            outcome, reason = Outcome.CANCELLED, "cancelled"
            raise
        except BaseException as error:
            reason = _reason(error)
            raise
        finally:
            if spent.manifest is not None:  # it is there, whatever happened afterwards
                outcome, reason = Outcome.RELEASED, ""
                unreleased.remove(told)
            self._settle_or_say(spent, outcome, reason, report)

    def _settle_or_say(self, spent: Spent, outcome: Outcome, reason: str, report: Report) -> None:
        try:
            self.settle(spent.debit, outcome, manifest=spent.manifest or "", reason=reason)
        except DpdeskError as error:
            report(
                Note(
                    "ledger.unsettled",
                    msg("What became of a debit is not recorded: {line}", line=error.line),
                )
            )

    def _open(self, token: CancelToken | None = None) -> Ledger:
        from dpdesk.project.ledger import Ledger, Witness

        check_not_lost(self.context, self.path)
        at_home = self.path.is_relative_to(os.path.realpath(self.context.home))
        return Ledger.open(self.path, shared=not at_home, token=token, witness=Witness.here())


def stays_spent(request: DebitRequest) -> str:
    """What a debit without a release comes to, and what to do."""
    from dpdesk.project.ledger import AccountKey

    return msg(
        "The budget {cost} of {key} stays spent, although nothing was released; a new run debits "
        "it once more.",
        cost=request.cost,
        key=AccountKey.of(request),
    )


@contextmanager
def telling_spent(context: AppContext, report: Report) -> Iterator[None]:
    """Whatever ends the block without a release says what was debited in it, and stays spent.

    Errors of the program's own say it in their hint, others in a note.
    """
    own = context.unreleased[get_ident()] = []
    try:
        yield
    except DpdeskError as error:
        error.hint = joined([error.hint, *own])
        raise
    except BaseException:
        for told in own:
            report(Note("ledger.stays-spent", told))
        raise
    finally:
        del context.unreleased[get_ident()]


def limit_facts(key: AccountKey, limit: Budget | None, reason: str) -> dict[str, object]:
    """What the audit log keeps of a limit."""
    told = "none" if limit is None else str(limit)
    return {"account": str(key), "limit": told, "reason": reason}


def _reason(error: BaseException) -> str:
    """Why a run failed, without any value of the data, which the text of an error may hold."""
    if isinstance(error, StorageError):
        return error.sentence
    return error.code if isinstance(error, DpdeskError) else type(error).__name__


def begin_ledger(context: AppContext, path: Path, reason: str) -> str:
    """Make a new ledger where there is none, or only an empty file, and enter why; its id.

    One without entries that has lost none is begun once more, for a kill may have come just after
    it was made.

    Raises InputError ``ledger.reason``, ``ledger.exists``; StorageError ``ledger.*``, ``audit.*``.
    """
    from dpdesk.project.ledger import Ledger, Witness, is_said

    if not is_said(reason):
        raise InputError(
            "ledger.reason",
            msg("{path}: beginning a new ledger needs a reason.", path=path),
            hint="Say what happened: `--reason TEXT`.",
        )
    witness = Witness.here()
    if not is_gone(path):
        _check_unused(path, witness)
    enter(context, Logged.BEGUN, path, {"reason": reason})
    with closing(Ledger.open(path, witness=witness)) as ledger:
        ledger.tell_witness()  # that this one lies here now, and not the lost one
        return ledger.identity


def _check_unused(path: Path, witness: Witness) -> None:
    """Raise InputError ``ledger.exists`` unless there is a ledger that was just begun."""
    from dpdesk.project.ledger import Ledger

    try:
        with closing(Ledger.open(path, create=False, witness=witness)) as ledger:
            if len(ledger.entries()) == 1 and not ledger.lost():
                return  # the first entry says that it was begun
    except InputError as error:
        raise InputError(
            "ledger.exists",
            msg("{path}: there is already a file.", path=path),
            hint="Name another one.",
        ) from error
    raise InputError(
        "ledger.exists",
        msg("{path}: there is already a ledger.", path=path),
        hint="Go on with it: `dpdesk ledger show` tells what it holds, and `dpdesk ledger restore` "
        "enters again what it has lost.",
    )


def debit_request(
    desk: LedgerDesk, prepared: Prepared, charge: Charge, token: CancelToken
) -> DebitRequest:
    """What a release has to pay, for the ledger."""
    data = prepared.data
    return desk.request(
        charge.cost,
        data.sha256,
        data.columns,
        charge.purpose(prepared.method.title),
        neighbours=charge.neighbours,
        unit=charge.unit,
        draws=charge.draws,
        title=prepared.plan.title,
        content=_content_of(prepared, token),
    )


@contextmanager
def printed_beside(prepared: Prepared, token: CancelToken) -> Iterator[None]:
    """Make the print that :func:`debit_request` asks for while the block does other work.

    It takes a second for millions of rows, most of it outside of the interpreter; the store keeps
    it, or it fails again where it is asked for.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="print") as pool:
        pool.submit(_content_of, prepared, token)
        yield


def _content_of(prepared: Prepared, token: CancelToken) -> tuple[str, ...]:
    """The print by which the ledger knows the measured columns of a source again, if any."""
    from dpdesk.app.private.pinning import used_columns

    data = prepared.data
    return data.content(used_columns(prepared.plan, data.columns), token)

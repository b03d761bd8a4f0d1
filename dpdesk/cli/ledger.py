"""``dpdesk ledger``: show, limit, people, check, export, begin, restore, accept."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app import budgets, ledgers, witnessing
from dpdesk.app.auditing import mention
from dpdesk.app.context import AppContext
from dpdesk.cli.printing import Outcome, columns, one_line, paragraph
from dpdesk.core.budget import (
    Approximate,
    Budget,
    PureEpsilon,
    ZeroConcentrated,
    amount,
    amount_text,
    budget_plain,
    fraction_text,
)
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.logged import Logged
from dpdesk.core.messages import msg

if TYPE_CHECKING:
    from dpdesk.app.budgets import AccountPicture, LedgerPicture
    from dpdesk.project.ledger import DebitRecord, LimitRecord, PeopleRecord

_SHOWN = 30
_DIGITS = 12


def show(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """What was spent and what is left."""
    delta = amount(options.delta, "--delta")
    path = _path(context, options)
    if options.ledger is not None and not path.exists():
        _must_exist(context, path)
    picture = budgets.look_at_ledger(context, path, delta, token, report, options.population)
    mention(context, Logged.VIEWED, path, report)
    if not picture.id:
        text = f"Nothing has been spent: there is no ledger {path} yet.\n"
        return Outcome(text, _as_json(picture, delta))
    parts = [
        f"Ledger {picture.path}",
        f"{picture.entries:,} entries, each with the hash of the one before",
    ]
    said = (*picture.doubts, *picture.notes)
    parts += [*(paragraph(f"Note: {note}") for note in said), ""]
    for account in picture.accounts:
        parts += [*_account_lines(account), ""]
    if not picture.accounts:
        parts.append("Nothing has been spent, and no limit is set.")
    return Outcome("\n".join(parts).rstrip() + "\n", _as_json(picture, delta))


def limit(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Set or take away the owner's limit."""
    wanted = _limit(options)
    picture = budgets.set_limit(
        context,
        _path(context, options),
        wanted,
        options.reason,
        population=options.population or "",
        source=options.source or "",
        token=token,
    )
    (account,) = picture.accounts
    said = "no limit any more" if wanted is None else f"the limit is now {wanted}"
    lines = [f"For {account.key}: {said}.", *_account_lines(account)[1:3]]
    plain = {
        "ledger": str(picture.path),
        "population": account.key.population,
        "source": account.key.source,
        "limit": None if wanted is None else budget_plain(wanted),
        "left": None if account.left is None else budget_plain(account.left),
    }
    return Outcome("\n".join(lines) + "\n", plain, kept=True)


def people(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Declare whether two names mean the same people."""
    path = _path(context, options)
    one, other, same = options.population, options.other, bool(options.same)
    budgets.declare_people(context, path, one, other, same, options.reason, token)
    now = "the same people: their debits count together" if same else "different people"
    plain = {"ledger": str(path), "population": one, "other": other, "same": same}
    return Outcome(f"“{one}” and “{other}” are {now} from now on.\n", plain, kept=True)


def check(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Check the chain; exit code 1 when it is broken."""
    path = _path(context, options)
    found = budgets.check_ledger(context, path)
    mention(context, Logged.VIEWED, path, report)
    lines = [paragraph(f"Note: {note}") for note in found.notes]
    complaints: tuple[str, ...] = ()
    if found.ok:
        lines.append(
            f"{path}: {found.entries:,} entries; each has its own hash and that of the one before, "
            f"the file's tables and indexes agree (SQLite), and no entry that the audit log or the "
            f"witness of this computer knows is missing; end: {found.head}"
        )
    elif found.fault is None:
        complaints = (found.audit,)
    else:
        complaints = (
            msg(
                "{path}: the ledger is broken at entry {place:,}: {reason}.",
                path=path,
                place=found.fault.n,
                reason=found.fault.reason,
            ),
        )
    plain = {
        "ok": found.ok,
        "ledger": str(path),
        "entries": found.entries,
        "head": found.head,
        "fault": (found.audit or None) if found.fault is None else found.fault.reason,
        "notes": list(found.notes),
    }
    text = "".join(f"{line}\n" for line in lines)
    return Outcome(text, plain, 0 if found.ok else 1, complaints)


def export(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Write all entries to a file."""
    path = _path(context, options)
    count = budgets.export_ledger(context, path, options.out)
    mention(context, Logged.EXPORTED, path, report, {"out": str(options.out.absolute())})
    text = f"Written: {options.out} ({count:,} entries)\n"
    return Outcome(text, {"out": str(options.out), "entries": count}, kept=True)


def begin(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Begin a new ledger in the place of a lost one."""
    path = _path(context, options)
    identity = ledgers.begin_ledger(context, path, options.reason)
    text = f"A new ledger was begun: {path}\nWhat the lost one held is not counted in it.\n"
    return Outcome(text, {"ledger": str(path), "id": identity}, kept=True)


def restore(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Enter again what an old copy of a ledger has lost."""
    path = _path(context, options)
    releases = tuple(options.release or ())
    found = witnessing.restore_ledger(context, path, options.reason, releases, token)
    text = f"{path}: entries entered again: {found.entries:,}, debits among them: {found.debits:,}"
    if not found.entries:
        text = f"{path}: nothing is missing"
    if found.told:
        text += f"; debits entered again in the audit log: {found.told:,}"
    plain = {
        "ledger": str(path),
        "id": found.id,
        "entries": found.entries,
        "debits": found.debits,
        "told": found.told,
    }
    return Outcome(f"{text}\n", plain, kept=True)


def accept(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Go on with a ledger although its witness was lost."""
    path = _path(context, options)
    identity = witnessing.accept_witness(context, path, options.reason, token)
    text = f"{path}: the witness has been told all that this ledger has\n"
    return Outcome(text, {"ledger": str(path), "id": identity}, kept=True)


def _path(context: AppContext, options: Namespace) -> Path:
    return ledgers.ledger_path(context, Path.cwd(), options.ledger)


def _must_exist(context: AppContext, path: Path) -> None:
    """A ledger that was named is not silently taken for an empty one."""
    from dpdesk.project.ledger import file

    witnessing.check_not_lost(context, path)
    raise file.missing(path)


def _limit(options: Namespace) -> Budget | None:
    if options.delta is not None and options.epsilon is None:
        raise InputError("usage", "dpdesk ledger limit: `--delta` stands beside `--epsilon` only.")
    if options.rho is not None:
        return ZeroConcentrated(amount(options.rho, "--rho"))
    if options.epsilon is None:
        return None
    epsilon = amount(options.epsilon, "--epsilon")
    if options.delta is None:
        return PureEpsilon(epsilon)
    delta = amount(options.delta, "--delta")
    if delta >= 1:
        raise InputError("budget.amount", f"`--delta` is {options.delta}, expected less than 1.")
    return Approximate(epsilon, delta)


def _account_lines(account: AccountPicture) -> list[str]:
    from dpdesk.project.ledger import unit_words

    spending, figures = account.spending, account.figures
    key = str(account.key)
    debits = "1 debit" if spending.count == 1 else f"{spending.count:,} debits"
    lines = [
        f"{key[0].upper()}{key[1:]}",
        f"  spent   {spending} ({debits}; for {unit_words(spending)})",
        f"  limit   {_limit_words(account)}",
        *(f"  people  {_people_words(record)}" for record in account.people),
    ]
    if spending.count:
        at = f"at δ = {amount_text(figures.delta)}"
        told = (
            ("simple", figures.simple),
            ("advanced", figures.advanced),
            ("tight", figures.tight),
        )
        lines.append(f"  {at}: " + ", ".join(f"{name} {_epsilon(one)}" for name, one in told))
        rows: list[tuple[str, ...]] = [("entry", "time", "cost", "purpose", "outcome")]
        rows += [_debit_row(record) for record in account.debits[-_SHOWN:]]
        lines += ["", *(f"  {line}" for line in columns(rows).splitlines())]
    if len(account.debits) > _SHOWN:
        lines.append(f"  … and {len(account.debits) - _SHOWN:,} before (--json tells all)")
    return lines


def _people_words(record: PeopleRecord) -> str:
    said = record.content
    how = "the same people as" if said.same else "not the people of"
    return f"“{one_line(said.one, 60)}”: {how} “{one_line(said.other, 60)}” (entry {record.n:,})"


def _limit_words(account: AccountPicture) -> str:
    if account.limit is None:
        return "none: nothing is refused"
    if account.left is None:
        return f"{account.limit}"
    return f"{account.limit}, left {account.left}"


def _epsilon(value: Fraction | float | None) -> str:
    if value is None:
        return "none"
    if isinstance(value, Fraction) and len(text := amount_text(value)) < _DIGITS:
        return msg("ε = {n}", n=text)
    return msg("ε = {n}", n=_rounded_up(float(value)))


def _rounded_up(value: float) -> str:
    """Four digits, never less than the value: an upper bound stays one when it is told."""
    text = f"{value:.4g}"
    if float(text) < value:
        step = 10.0 ** (int(f"{value:e}".partition("e")[2]) - 3)
        text = f"{float(text) + step:.4g}"
    return text


def _debit_row(record: DebitRecord) -> tuple[str, ...]:
    settled = record.settled
    outcome = "spent, outcome unknown" if settled is None else settled.outcome.value
    if settled is not None and settled.reason:
        outcome += f": {one_line(settled.reason, 60)}"
    what = record.request.title or record.request.purpose
    return str(record.n), record.time, str(record.request.cost), one_line(what, 40), outcome


def _as_json(picture: LedgerPicture, delta: Fraction) -> dict[str, object]:
    return {
        "ledger": str(picture.path),
        "id": picture.id,
        "entries": picture.entries,
        "head": picture.head,
        "delta": float(delta),
        "accounts": [_account_json(account) for account in picture.accounts],
        "notes": [*picture.doubts, *picture.notes],
    }


def _account_json(account: AccountPicture) -> dict[str, object]:
    spending, figures = account.spending, account.figures
    epsilon, delta = spending.approximate
    return {
        "population": account.key.population,
        "source": account.key.source,
        "spent": {
            "epsilon": float(spending.pure),
            "rho": float(spending.rho),
            "approximate": {"epsilon": float(epsilon), "delta": float(delta)},
            "exact": {
                "epsilon": fraction_text(spending.pure),
                "rho": fraction_text(spending.rho),
                "approximate_epsilon": fraction_text(epsilon),
                "approximate_delta": fraction_text(delta),
            },
        },
        "rows_per_person": spending.rows,
        "neighbours": spending.neighbours.value,
        "limit": None if account.limit is None else budget_plain(account.limit),
        "limits": [_limit_json(record) for record in account.history],
        "left": None if account.left is None else budget_plain(account.left),
        "simple_epsilon": None if figures.simple is None else float(figures.simple),
        "advanced_epsilon": figures.advanced,
        "tight_epsilon": figures.tight,
        "debits": [_debit_json(record) for record in account.debits],
        "people": [_people_json(record) for record in account.people],
    }


def _people_json(record: PeopleRecord) -> dict[str, object]:
    return {"entry": record.n, "time": record.time, "who": record.who, **asdict(record.content)}


def _limit_json(record: LimitRecord) -> dict[str, object]:
    limit = record.content.limit
    return {
        "entry": record.n,
        "time": record.time,
        "who": record.who,
        "limit": None if limit is None else budget_plain(limit),
        "reason": record.content.reason,
        "by_plan": record.content.by_plan,
    }


def _debit_json(record: DebitRecord) -> dict[str, object]:
    request, settled = record.request, record.settled
    return {
        "entry": record.n,
        "hash": record.entry,
        "time": record.time,
        "who": record.who,
        "cost": budget_plain(request.cost),
        "source": request.source,
        "neighbours": request.neighbours.value,
        "rows_per_person": request.unit.rows,
        "purpose": request.purpose,
        "title": request.title,
        "outcome": record.outcome.value,
        "reason": "" if settled is None else settled.reason,
        "manifest": "" if settled is None else settled.manifest,
    }

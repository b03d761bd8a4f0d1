"""Whether the evidence says that a release was paid for, and paid for what its manifest promises.

The debit's entry stands in the evidence as the ledger holds it: its hash covers all of it, so its
fields are compared with the plan, the source and the manifest. That the ledger really has it can be
told where its witness lies: what that knows of the ledger is compared too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from dpdesk.core.budget import (
    Budget,
    Draws,
    PureEpsilon,
    ZeroConcentrated,
    columns_fingerprint,
)
from dpdesk.core.errors import StorageError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import exact_number
from dpdesk.core.release import CheckStatus, ClaimCheck, Manifest
from dpdesk.engine.private.method import Charge
from dpdesk.io.release_folder import EVIDENCE, INTERNAL
from dpdesk.project.ledger.records import Debited, LedgerEntry, Settled, one_line

PAYMENT_CLAIM = "what was paid is the entry of the debit in the ledger"
_PAID = frozenset({"debit", "entry", "cost", "time", "population", "ledger"})
_SINCE = frozenset({"record", "head", "elsewhere"})
_RECORD = frozenset({"n", "time", "who", "kind", "body", "previous", "hash"})
_HEAD = frozenset({"ledger", "entries", "hash"})


def payment_faults(
    manifest: Manifest,
    evidence: Mapping[str, object],
    charge: Charge | None,
    *,
    complete: bool,
) -> Iterator[str]:
    """What is wrong with the debit that the evidence names.

    ``charge`` is what the plan costs, None where its plan cannot be read. ``complete`` says that
    this very program made the release, so that nothing may be missing.
    """
    budget = evidence.get("budget")
    if not isinstance(budget, Mapping):
        yield "does not give `budget`: it does not say that the release was paid for"
        return
    # Earlier versions kept none of what came with the entry of the debit; none kept a part of it.
    wanted = _PAID | _SINCE if complete or _SINCE & set(budget) else _PAID
    yield from (
        msg("the key `{key}` is missing", key=f"budget, {key}")
        for key in sorted(wanted - set(budget))
    )
    promised = promised_budget(manifest)
    if promised is None:
        yield "the manifest promises neither ε nor ρ, so what was paid cannot be compared"
        return
    if budget.get("cost") != str(promised):
        paid = str(budget.get("cost"))[:60]
        yield msg(
            "`budget` says that {paid} was paid, and the manifest promises {promised}",
            paid=paid,
            promised=promised,
        )
    if "record" in budget:
        yield from _record_faults(manifest, evidence, budget, promised, charge)
    else:
        yield from _unrecorded_faults(budget)
    if not isinstance(budget.get("elsewhere", []), list):
        yield "`budget, elsewhere` is not a list of other ledgers"


def payment_claims(manifest: Manifest, evidence: Mapping[str, object]) -> list[ClaimCheck]:
    """A claim that is not checked where the evidence does not hold the entry of the debit.

    Earlier versions kept none; anyone who removed it from a later one could name other texts.
    """
    budget = evidence.get("budget")
    if isinstance(budget, Mapping) and "record" in budget:
        return []
    found = msg(
        "made by version {version} without the entry of its debit in the ledger: what was paid, "
        "and when, could not be compared with anything",
        version=manifest.dpdesk[:60],
    )
    return [ClaimCheck(PAYMENT_CLAIM, CheckStatus.NOT_CHECKED, found, f"{INTERNAL}/{EVIDENCE}")]


def settled_faults(evidence: Mapping[str, object], manifest_sha256: str) -> list[str]:
    """Whether the witness of this computer knows another release of the debit, or that none came.

    Tables that were drawn at a higher price fit the pages and the debit of a cheap release, since
    no check sees how noise was drawn; the ledger entered which manifest came of each debit.
    """
    from dpdesk.project.ledger import Witness

    budget = evidence.get("budget")
    named = budget.get("debit") if isinstance(budget, Mapping) else None
    ledger, _, row = str(named).partition(":")
    try:
        ended = [_outcome(one) for one in Witness.here().entries(ledger)]
    except StorageError:
        return []
    came = {one.manifest for one in ended if one is not None and str(one.debit) == row}
    if came <= {manifest_sha256}:
        return []
    return ["`budget, debit`: the witness of this computer knows another outcome of this debit"]


def draws_faults(evidence: Mapping[str, object], draws: tuple[Draws, ...]) -> list[str]:
    """Whether the debit lists other draws of noise than a design of this plan makes.

    Evidence of earlier versions holds no debit to compare.
    """
    budget = evidence.get("budget")
    record = budget.get("record") if isinstance(budget, Mapping) else None
    if record is None:
        return []
    try:
        _, debited = _debit(record)
    except (TypeError, KeyError, ValueError):
        return ["`budget, record` is not a debit as a ledger keeps it"]
    same = debited.request.draws == draws
    return [] if same else ["`budget, record`: its draws are not those of this plan"]


def promised_budget(manifest: Manifest) -> Budget | None:
    """What a manifest says that its release costs: ε or ρ; None when it says neither, or both.

    Its settings and its guarantee must say the same.
    """
    found = [
        (exact_number(given.get("epsilon")), exact_number(given.get("rho")))
        for given in (manifest.parameters, manifest.guarantee.parameters)
    ]
    epsilon, rho = found[0]
    if found[0] != found[1] or (epsilon is None) == (rho is None):
        return None
    if (epsilon or rho or Fraction(0)) <= 0:
        return None
    return PureEpsilon(epsilon) if epsilon is not None else ZeroConcentrated(rho or Fraction(0))


def _record_faults(
    manifest: Manifest,
    evidence: Mapping[str, object],
    budget: Mapping[str, object],
    promised: Budget,
    charge: Charge | None,
) -> Iterator[str]:
    record, head = budget.get("record"), budget.get("head")
    try:
        entry, debited = _debit(record)
        expected = _expected(manifest, evidence, promised)
    except (TypeError, KeyError, ValueError):
        yield "`budget, record` is not a debit as a ledger keeps it"
        return
    request, ending = debited.request, head if isinstance(head, Mapping) else {}
    found: dict[str, tuple[object, object]] = {
        "hash": (entry.hash, budget.get("entry")),
        "own hash": (entry.expected_hash(), entry.hash),
        "time": (entry.time, budget.get("time")),
        "debit": (f"{ending.get('ledger')}:{entry.n}", budget.get("debit")),
        "population": (request.population, budget.get("population")),
        "cost": (request.cost, expected["cost"]),
        "population of the plan": (request.population, expected["population"]),
        "source": (request.source, expected["source"]),
        "columns": (request.columns, expected["columns"]),
        "title": (request.title, expected["title"]),
        "version": (debited.dpdesk, manifest.dpdesk),
    }
    if charge is not None:
        found |= {
            "cost by the plan": (request.cost, charge.cost),
            "neighbours": (request.neighbours, charge.neighbours),
            "protected unit": (request.unit, charge.unit),
        }
    for name, (one, other) in found.items():
        if one != other:
            yield msg("`budget, record`: its {name} is not that of this release", name=name)
    entries = ending.get("entries")
    if set(ending) != _HEAD or type(entries) is not int or entries < entry.n:
        yield "`budget, head` is not an end of that ledger"
    yield from _witnessed_faults(entry, ending)


def _witnessed_faults(entry: LedgerEntry, ending: Mapping[str, object]) -> Iterator[str]:
    """What the witness of this computer knows otherwise; nothing of a ledger that it never saw."""
    from dpdesk.project.ledger import Witness

    try:
        known = {one.n: one.hash for one in Witness.here().entries(str(ending.get("ledger")))}
    except StorageError:
        return
    if known.get(entry.n, entry.hash) != entry.hash:
        yield "`budget, record` is not the entry that the witness of this computer knows"
    end = ending.get("entries")
    if isinstance(end, int) and known.get(end, ending.get("hash")) != ending.get("hash"):
        yield "`budget, head` is not the end that the witness of this computer knows"


def _unrecorded_faults(budget: Mapping[str, object]) -> Iterator[str]:
    """What the witness of this computer knows otherwise of a debit whose entry is not there."""
    from dpdesk.project.ledger import Witness

    ledger, _, row = str(budget.get("debit")).partition(":")
    try:
        known = {str(one.n): one.hash for one in Witness.here().entries(ledger)}
    except StorageError:
        return
    if known.get(row, budget.get("entry")) != budget.get("entry"):
        yield "`budget, entry` is not the entry that the witness of this computer knows"


def _outcome(entry: LedgerEntry) -> Settled | None:
    try:
        content = entry.content
    except ValueError:  # an entry of a later version
        return None
    return content if isinstance(content, Settled) else None


def _debit(record: object) -> tuple[LedgerEntry, Debited]:
    """An entry and the debit in it. Raises TypeError, KeyError, ValueError."""
    if not isinstance(record, Mapping) or set(record) != _RECORD or type(record["n"]) is not int:
        raise TypeError("expected an entry")
    if not all(isinstance(record[name], str) for name in _RECORD - {"n"}):
        raise TypeError("expected texts")
    entry = LedgerEntry(**{str(name): value for name, value in record.items()})
    debited = entry.content
    if not isinstance(debited, Debited):
        raise TypeError("expected a debit")
    return entry, debited


def _expected(
    manifest: Manifest, evidence: Mapping[str, object], promised: Budget
) -> dict[str, object]:
    """What the debit of this release must say."""
    plan, source = evidence["plan"], evidence["source"]
    if not isinstance(plan, Mapping) or not isinstance(source, Mapping):
        raise TypeError("expected tables")
    given = plan.get("budget")
    population = given.get("population") if isinstance(given, Mapping) else None
    columns = source["columns"]
    if not isinstance(columns, list):
        raise TypeError("expected a list")
    return {
        "cost": promised,
        "population": one_line(str(population or "")),
        "source": source["sha256"],
        "columns": columns_fingerprint([str(name) for name in columns]),
        "title": one_line(manifest.title),
    }

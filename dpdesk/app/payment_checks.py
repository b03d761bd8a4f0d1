"""Whether the evidence says that a release was paid for, and paid for what its manifest promises.

The debit's entry stands in the evidence as the ledger holds it: its hash covers all of it, so its
fields are compared with the plan, the source and the manifest. That the ledger really has it can be
told on the computer of the ledger alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from dpdesk.core.budget import Budget, PureEpsilon, ZeroConcentrated, columns_fingerprint
from dpdesk.core.parameters import exact_number
from dpdesk.project.ledger.records import Debited, LedgerEntry, one_line

_PAID = frozenset({"debit", "entry", "cost", "time", "population", "ledger"})
_SINCE = frozenset({"record", "head", "elsewhere"})
_RECORD = frozenset({"n", "time", "who", "kind", "body", "previous", "hash"})
_HEAD = frozenset({"ledger", "entries", "hash"})
_ELSEWHERE = frozenset({"ledger", "cost"})


def payment_faults(
    manifest: Mapping[str, object], evidence: Mapping[str, object], *, complete: bool
) -> Iterator[str]:
    """What is wrong with the debit that the evidence names.

    ``complete`` says that this very program made the release, so that nothing may be missing.
    """
    budget = evidence.get("budget")
    if not isinstance(budget, Mapping):
        yield "gives no `budget`: it does not say that the release was paid for"
        return
    known = _PAID | _SINCE
    yield from (f"`budget, {str(k)[:60]}` is not a key of evidence" for k in set(budget) - known)
    wanted = known if complete else _PAID
    yield from (f"`budget, {key}` is missing" for key in sorted(wanted - set(budget)))
    promised = promised_budget(manifest)
    if promised is None:
        yield "the manifest promises neither ε nor ρ, so what was paid cannot be compared"
        return
    if budget.get("cost") != str(promised):
        paid = str(budget.get("cost"))[:60]
        yield f"`budget` says that {paid} was paid, and the manifest promises {promised}"
    if "record" in budget:
        yield from _record_faults(manifest, evidence, budget, promised)
    if not _elsewhere(budget.get("elsewhere", [])):
        yield "`budget, elsewhere` is not a list of other ledgers"


def promised_budget(manifest: Mapping[str, object]) -> Budget | None:
    """What a manifest says that its release costs: ε or ρ; None when it says neither, or both.

    Its settings and its guarantee must say the same.
    """
    guarantee = manifest.get("guarantee")
    stated = guarantee.get("parameters") if isinstance(guarantee, Mapping) else None
    found = []
    for table in (manifest.get("parameters"), stated):
        given = table if isinstance(table, Mapping) else {}
        found.append((exact_number(given.get("epsilon")), exact_number(given.get("rho"))))
    epsilon, rho = found[0]
    if found[0] != found[1] or (epsilon is None) == (rho is None):
        return None
    if (epsilon or rho or Fraction(0)) <= 0:
        return None
    return PureEpsilon(epsilon) if epsilon is not None else ZeroConcentrated(rho or Fraction(0))


def _record_faults(
    manifest: Mapping[str, object],
    evidence: Mapping[str, object],
    budget: Mapping[str, object],
    promised: Budget,
) -> Iterator[str]:
    record, head = budget.get("record"), budget.get("head")
    try:
        entry, debited = _debit(record)
        expected = _expected(manifest, evidence, promised)
    except (TypeError, KeyError, ValueError):
        yield "`budget, record` is not a debit as a ledger keeps it"
        return
    request, ending = debited.request, head if isinstance(head, Mapping) else {}
    found = {
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
        "version": (debited.dpdesk, manifest.get("dpdesk")),
    }
    for name, (one, other) in found.items():
        if one != other:
            yield f"`budget, record`: its {name} is not that of this release"
    entries = ending.get("entries")
    if set(ending) != _HEAD or type(entries) is not int or entries < entry.n:
        yield "`budget, head` is not an end of that ledger"


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
    manifest: Mapping[str, object], evidence: Mapping[str, object], promised: Budget
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
        "title": one_line(str(manifest["title"])),
    }


def _elsewhere(listed: object) -> bool:
    return isinstance(listed, list) and all(
        isinstance(each, Mapping) and set(each) == _ELSEWHERE for each in listed
    )

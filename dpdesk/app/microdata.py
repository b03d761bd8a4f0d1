"""What depends on how a method makes its rows: writing them, checking them, describing them.

Recoded rows can be made again from the source; drawn rows exist once. Everything else about a
release of microdata is the same for both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.published import ClaimCheck, RowDifference
from dpdesk.engine.kinds import RowsMethod, draws_of, recoding_of
from dpdesk.engine.method import MethodInput, MethodOutcome
from dpdesk.engine.randomised_method import Judged

if TYPE_CHECKING:
    from dpdesk.app.planning import PreparedRun
    from dpdesk.io.pseudonyms import Replacement
    from dpdesk.io.published import PublishedCsv
    from dpdesk.io.store import DataStore


def described(
    method: RowsMethod, given: MethodInput, token: CancelToken, report: Report
) -> MethodOutcome | Judged:
    """What a release will be like: guarantee, result, risk, charts; nothing is drawn or written.

    Raises what the method raises: InputError, RefusedError, Cancelled.
    """
    recoding, draws = recoding_of(method), draws_of(method)
    if recoding is not None:
        return recoding.run(given, token, report)
    if draws is None:
        raise TypeError("the method releases no rows")
    return draws.judge(given, token, report)


def write_rows(
    prepared: PreparedRun,
    outcome: MethodOutcome | Judged,
    path: Path,
    lap: Callable[[str], None],
    token: CancelToken,
    report: Report,
    replaced: Mapping[str, Replacement] = MappingProxyType({}),
) -> tuple[int, int]:
    """Write the table; rows written, and rows that there should be. ``lap`` ends a timed step.

    ``replaced`` are the pseudonyms of identifiers that are kept.

    Drawn rows are wiped from memory when they are written. Raises RefusedError, StorageError,
    Cancelled.
    """
    data, draws = prepared.data, draws_of(prepared.method)
    if isinstance(outcome, MethodOutcome):
        recoding = outcome.recoding
        return data.write_recoded(recoding, path, token, report, replaced), recoding.rows_out
    if draws is None:
        raise TypeError("only a randomised method judges")
    from dpdesk.engine.noise.randomness import SystemRandomness

    rows = draws.draw(prepared.given, outcome, data, SystemRandomness(), token, report)
    lap("draw")
    try:
        return data.write_rewritten(rows, path, token, report), rows.rows_out
    finally:
        rows.wipe()


def changed_columns(outcome: MethodOutcome | Judged) -> frozenset[str]:
    """Columns whose values are not released as they are."""
    recoding = outcome.recoding
    recoded = frozenset(recoding.attributes) if recoding is not None else frozenset()
    return recoded | (outcome.drawn if isinstance(outcome, Judged) else frozenset())


def settled_checks(
    method: RowsMethod,
    manifest: Mapping[str, object],
    published: PublishedCsv,
    given: MethodInput,
    data: DataStore,
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """All checks of a table, those that need the source settled with it."""
    recoding, draws = recoding_of(method), draws_of(method)
    if recoding is not None:
        return recoding.verify_with_source(manifest, published, given, token)
    difference = row_difference(method, manifest, published, given, data, token)
    if draws is None or difference is None:
        raise TypeError("drawn rows are compared with their source")
    return draws.verify_with_source(manifest, published, given, difference, token)


def row_difference(
    method: RowsMethod,
    manifest: Mapping[str, object],
    published: PublishedCsv,
    given: MethodInput,
    data: DataStore,
    token: CancelToken,
) -> RowDifference | None:
    """The rows of table and source compared, on the columns whose values were not drawn.

    None where no values are drawn: then the table is made again.
    """
    draws = draws_of(method)
    if draws is None:
        return None
    from dpdesk.io.prints import apart, fresh_print_key, published_prints

    drawn = draws.drawn_columns(manifest)
    names = [name for name in published.columns if name in data.columns and name not in drawn]
    recoding = draws.recoded(manifest, given, token)
    mapping = recoding.mapping if recoding is not None else {}
    key = fresh_print_key()
    there = data.row_prints(names, mapping, key, token)
    token.check()
    extra, missing = apart(published_prints(published, names, key, token), there)
    return RowDifference(extra, missing)


def evidence_fault(
    method: RowsMethod,
    manifest: Mapping[str, object],
    evidence: Mapping[str, object],
    published: PublishedCsv,
    token: CancelToken,
) -> str | None:
    """Why figures in the evidence cannot belong to manifest and table, or None when they can."""
    recoding, draws = recoding_of(method), draws_of(method)
    if recoding is not None:
        return recoding.evidence_fault(manifest, evidence)
    if draws is None:
        raise TypeError("the method releases no rows")
    return draws.evidence_fault(manifest, evidence, published, token)

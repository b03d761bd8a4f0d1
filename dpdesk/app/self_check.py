"""The check of a release before anybody sees it: in a process that planned and drew nothing.

That process holds verifiers, readers of what lies on the disk, and the words of guarantees; it
searches, plans and draws nothing, and keeps nothing of one release for the next. What verifiers
need of the source is counted here and handed over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import RefusedError
from dpdesk.core.frequency import FrequencySource, FrequencyTable, RowRule
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.recoding import Recoding, TupleRecoding
from dpdesk.core.release import CheckStatus, ClaimCheck, Manifest, RowDifference
from dpdesk.core.subprocesses import KeptSubprocess, SubprocessError
from dpdesk.engine.method import Method, MethodInput, RowsMethod
from dpdesk.engine.registry import paid_rows_of

if TYPE_CHECKING:
    from dpdesk.io.published import PublishedCsv
    from dpdesk.io.store import DataStore

_CHECKER = KeptSubprocess("dpdesk.app.checking_worker:answer")
_MOST_ASKED = 1000


class NotHandedError(Exception):
    """Counts of these columns of the source are needed and were not handed over."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        super().__init__(", ".join(columns))
        self.columns = columns


@dataclass(frozen=True)
class HandedCounts:
    """Counts of a source, as far as they were asked for: a ``FrequencySource``."""

    name: str
    rows: int
    columns: tuple[str, ...]
    tables: Mapping[tuple[str, ...], FrequencyTable] = field(default_factory=dict, repr=False)

    def frequency_table(self, attributes: Sequence[str], token: CancelToken) -> FrequencyTable:
        """See :class:`FrequencySource`. Raises :class:`NotHandedError`."""
        table = self.tables.get(tuple(attributes))
        if table is None:
            raise NotHandedError(tuple(attributes))
        return table

    def restricted(self, rule: RowRule, token: CancelToken) -> FrequencySource:
        """Checks of rows ask for all rows."""
        raise TypeError("rows are not restricted for a check")


@dataclass(frozen=True)
class TablesQuestion:
    """Check the tables of a release with noise in this folder."""

    method: Method
    public: Path
    home: Path


@dataclass(frozen=True)
class CellsQuestion:
    """Check protected tables in this folder, with the agency's in another."""

    method: Method
    public: Path
    internal: Path


@dataclass(frozen=True)
class RowsQuestion:
    """Check the rows of a release in this folder; ``difference`` compares drawn rows and source."""

    method: Method
    public: Path
    given: MethodInput
    difference: RowDifference | None


@dataclass(frozen=True)
class Fault:
    """What is wrong with a file, as a clause."""

    reason: str


@dataclass(frozen=True)
class CountsNeeded:
    """Counts of these columns are wanted first."""

    columns: tuple[str, ...]


def warm_checker() -> None:
    """Start the process, so that it is ready when the release is written."""
    _CHECKER.start()


def checked_tables(
    method: Method, public: Path, home: Path, token: CancelToken
) -> tuple[ClaimCheck, ...]:
    """What the verifier says of tables with noise as they lie on the disk.

    Raises RefusedError ``release.check-failed`` when they cannot be read, or the process ended;
    Cancelled.
    """
    return _checks(_asked(TablesQuestion(method, public, home), token))


def checked_cells(
    method: Method, public: Path, internal: Path, token: CancelToken
) -> tuple[ClaimCheck, ...]:
    """What the verifier says of protected tables as they lie on the disk; as for others."""
    return _checks(_asked(CellsQuestion(method, public, internal), token))


def checked_rows(
    method: Method,
    public: Path,
    given: MethodInput,
    difference: RowDifference | None,
    likely: Iterable[tuple[str, ...]],
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """What the verifier says of rows as they lie on the disk, settled with the source.

    ``likely`` are the columns of which it will want the counts: others cost it another look.
    Raises as :func:`checked_tables`, and what counting in the source raises.
    """
    source = given.source
    tables = {names: source.frequency_table(names, token) for names in likely}
    handed = HandedCounts(source.name, source.rows, tuple(source.columns), tables)
    for _ in range(_MOST_ASKED):
        question = RowsQuestion(method, public, replace(given, source=handed), difference)
        found = _asked(question, token)
        if not isinstance(found, CountsNeeded):
            return _checks(found)
        table = source.frequency_table(found.columns, token)
        handed = replace(handed, tables={**handed.tables, found.columns: table})
    raise failed("it asked for counts without end")


def row_difference(
    method: RowsMethod,
    manifest: Manifest,
    published: PublishedCsv,
    given: MethodInput,
    data: DataStore,
    token: CancelToken,
) -> RowDifference | None:
    """The rows of table and source compared, on the columns whose values were not drawn.

    None where no values are drawn: then the table is made again.
    """
    if not method.draws:
        return None
    drawn = method.drawn_columns(manifest)
    names = [name for name in published.columns if name in data.columns and name not in drawn]
    recoding = method.claimed_recoding(manifest, given, token)
    if isinstance(recoding, TupleRecoding):
        raise TypeError("values are drawn where columns are recoded one by one")
    found, apart = _difference(names, recoding, published, data, token), method.separated(manifest)
    if apart is None or apart.key not in published.columns or apart.column not in data.columns:
        return found
    from dpdesk.io.linking import rising_pairs
    from dpdesk.io.prints import fresh_print_key, unplaced

    key = fresh_print_key()
    alone, whole = (
        data.row_prints(each, {}, key, token) for each in (names, [*names, apart.column])
    )
    lost = unplaced(published, names, apart, (alone, whole), key, token)
    (column,) = data.coded_columns([apart.column], token)
    rising = rising_pairs(published, names, apart.key, column, alone, key, token)
    return replace(found, unplaced=lost, rising=rising)


def counted_draws(
    method: RowsMethod,
    manifest: Manifest,
    published: PublishedCsv,
    given: MethodInput,
    data: DataStore,
    token: CancelToken,
) -> ClaimCheck | None:
    """The claim on draws, counted in rows that are known again; None where no values are drawn.

    To be asked where no check of the table failed.
    """
    drawn = sorted(method.drawn_columns(manifest))
    if not drawn:
        return None
    from dpdesk.io.linking import linked_rows
    from dpdesk.io.prints import fresh_print_key

    names = [name for name in published.columns if name in data.columns and name not in drawn]
    recoding, key = method.claimed_recoding(manifest, given, token), fresh_print_key()
    there = data.row_prints(names, getattr(recoding, "mapping", {}), key, token)
    columns = data.coded_columns(drawn, token)
    linked = linked_rows(published, names, columns, there, key, token)
    return method.draws_check(manifest, given, linked, token)


def odd_draws(
    method: RowsMethod,
    manifest: Manifest,
    published: PublishedCsv,
    given: MethodInput,
    data: DataStore,
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """The claim on draws where it fails: such a release is not kept.

    A release that costs is kept all the same, for what comes of its draws may refuse none; checking
    with the source tells it.
    """
    if paid_rows_of(method) is not None:
        return ()
    found = counted_draws(method, manifest, published, given, data, token)
    return () if found is None or found.status is not CheckStatus.FAILED else (found,)


def strange_rows(
    method: RowsMethod,
    manifest: Manifest,
    published: PublishedCsv,
    given: MethodInput,
    data: DataStore,
    token: CancelToken,
    replaced: Collection[str] = (),
) -> int:
    """How many rows of a recoded table are not rows of the source at the levels that are claimed.

    Each row is compared as a whole, but for the columns ``replaced`` by pseudonyms, without making
    the table again. To be asked where no check of the table failed; 0 for drawn rows and for tuples
    that are recoded by themselves, which checks compare, and where the manifest claims no recoding.
    """
    claimed = method.draws or given.claimed is not None
    recoding = None if claimed else method.claimed_recoding(manifest, given, token)
    if not isinstance(recoding, Recoding):
        return 0
    names = [name for name in published.columns if name not in replaced]
    return _difference(names, recoding, published, data, token).extra


def _difference(
    names: Sequence[str],
    recoding: Recoding | None,
    published: PublishedCsv,
    data: DataStore,
    token: CancelToken,
) -> RowDifference:
    from dpdesk.io.prints import apart, fresh_print_key, published_counts

    mapping = recoding.mapping if recoding is not None else {}
    key = fresh_print_key()
    there = data.row_counts(names, mapping, key, token)
    token.check()
    return RowDifference(*apart(published_counts(published, names, key, token), there))


def failed(found: str) -> RefusedError:
    """The error that a release was not kept because the verifier found this in it."""
    return RefusedError(
        "release.check-failed",
        msg("The release was not kept, because checking it failed: {found}.", found=found),
        hint="This is an error in the program; please report it.",
    )


def _asked(question: object, token: CancelToken) -> object:
    """The answer; a process that had ended is started once more, for a budget may be spent.

    Meanwhile what reads manifests is loaded here: the release is read back next.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="ready") as pool:
        pool.submit(Manifest.make_ready)
        try:
            return _CHECKER.ask(question, token)
        except SubprocessError:
            pass
    try:
        return _CHECKER.ask(question, token)
    except SubprocessError as error:
        raise failed(
            msg("the process that checks it gave no answer ({error})", error=error)
        ) from error


def _checks(found: object) -> tuple[ClaimCheck, ...]:
    if isinstance(found, Fault):
        raise failed(found.reason)
    if not isinstance(found, tuple) or not found:
        raise failed("nothing was checked")
    return found

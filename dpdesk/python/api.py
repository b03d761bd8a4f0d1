"""What ``import dpdesk`` gives: the use-cases of window and command line, for Python code.

Each call does what the command of the same name does, with the same checks, the same entries in
the audit log and the same bytes. Errors are those of :mod:`dpdesk.core.errors`. ``progress`` and
``cancel`` are those of :func:`dpdesk.python.session.perform`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from dpdesk.app.auditing import enter, mention, mention_release
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.logged import Logged
from dpdesk.python import session
from dpdesk.python.plans import Plan, Source, Sourced, held_source, plan_of
from dpdesk.python.releases import Release, Verification, Where, opened, query_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from dpdesk.app.context import AppContext
    from dpdesk.app.private.trial import Trial
    from dpdesk.app.recipes import FitReport
    from dpdesk.app.risk import RiskReport
    from dpdesk.core.query import Answer, Askable
    from dpdesk.core.schema import DataProfile
    from dpdesk.python.session import Progress

Planned: TypeAlias = "Plan | str | Path"
Released: TypeAlias = "Release | str | PathLike[str]"
_THE_CALL = "The source"


def run(
    plan: Planned,
    out: str | Path,
    *,
    source: Sourced | None = None,
    progress: Progress = None,
    cancel: CancelToken | None = None,
) -> Release:
    """Run a plan, or that of a file, and write the release folder ``out``: absent or empty.

    ``source`` are other data than the plan names, such as a DataFrame. A method that draws noise
    debits its budget first. On any error, and when the call is stopped, ``out`` is as it was.

    Raises InputError and StorageError for bad input, RefusedError when the data cannot meet what is
    asked or the budget is not enough, Cancelled.
    """
    from dpdesk.app.running import run_plan
    from dpdesk.io.release_folder import check_out

    chosen, target = plan_of(plan)._using(source), Path(out)

    def work(context: AppContext, token: CancelToken, report: Report) -> None:
        check_out(target)  # before a frame is written, which may take a while
        details = {"command": "run", "out": str(target.absolute())}
        enter(context, Logged.RAN, _subject(plan), details)
        with chosen._placed(context, token) as placed:
            made = run_plan(context, placed, target, token, report)
        mention_release(context, made.out, report)

    _, notes = session.perform(work, progress, cancel)
    return open_release(target, progress=False)._noted(notes)


def open_release(
    folder: Released, *, progress: Progress = None, cancel: CancelToken | None = None
) -> Release:
    """Open a release folder, or its public part alone, after a check of files and claims.

    Raises InputError ``release.missing``, ``release.unreadable``; RefusedError
    ``release.not-intact``, ``release.not-listed``, ``release.not-verified``; Cancelled.
    """
    place = Path(fspath(folder))

    def work(context: AppContext, token: CancelToken, report: Report) -> Release:
        return opened(context, place, token)

    return session.perform(work, progress, cancel)[0]


def verify(
    release: Released,
    *,
    source: Sourced | None = None,
    progress: Progress = None,
    cancel: CancelToken | None = None,
) -> Verification:
    """Compute again everything that a release claims; with ``source``, what needs it as well.

    The answer counts as true when nothing failed; what is wrong is in its ``failures``. A DataFrame
    is the source when its content is that which was run; see ``resources/docs/python.md``.

    Raises InputError when there is no such release or source, Cancelled.
    """
    from dpdesk.app.review.review_picture import verify_signed

    place = Path(fspath(release))

    def work(context: AppContext, token: CancelToken, report: Report) -> Verification:
        private = source is not None and _is_private(context, place)
        with _source_file(source, context, token, private=private) as file:
            found = verify_signed(context, place, token, report, file)
        mention(context, Logged.VIEWED, place.absolute(), report)
        return Verification(**vars(found))

    return session.perform(work, progress, cancel)[0]


def risk(
    target: Planned | Released,
    *,
    source: Sourced | None = None,
    progress: Progress = None,
    cancel: CancelToken | None = None,
) -> RiskReport:
    """The risk of a release, or of a plan before and after it; nothing is written or spent.

    A path is a release when it is a folder, else a plan file; ``source`` are other data than the
    plan names. Raises what running the plan raises, RefusedError ``risk.not-verified``.
    """
    from dpdesk.app.risk import assess

    folder = None if isinstance(target, Plan) else Path(fspath(target))

    def work(context: AppContext, token: CancelToken, report: Report) -> RiskReport:
        if folder is not None and (folder.is_dir() or isinstance(target, Release)):
            found = assess(context, folder, token, report)
        else:
            chosen = plan_of(target if isinstance(target, Plan) else folder or "")._using(source)
            with chosen._placed(context, token) as placed:
                found = assess(context, placed, token, report)
        mention(context, Logged.VIEWED, _subject(target), report)
        return found

    return session.perform(work, progress, cancel)[0]


def query(
    release: Released | Sequence[Released],
    by: str | Sequence[str] = (),
    where: Where = (),
    *,
    levels: Mapping[str, int] | None = None,
    measure: str = "",
    margins: bool = False,
    estimator: str = "",
    progress: Progress = None,
    cancel: CancelToken | None = None,
) -> pd.DataFrame:
    """An answer from a release alone, or from several of one cube; see :meth:`Release.query`.

    Raises InputError ``query.*``, RefusedError ``query.*`` and ``release.*``.
    """
    from dpdesk.app.combining import open_together
    from dpdesk.app.querying import open_release as open_asked
    from dpdesk.python.answers import answer_frame

    several = [release] if isinstance(release, str | PathLike | Release) else release
    folders = [Path(fspath(one)) for one in several]
    asked = query_of(by, where, levels, measure, margins, estimator)

    def work(context: AppContext, token: CancelToken, report: Report) -> tuple[Answer, Askable]:
        found = (
            open_asked(context, folders[0], token, report)
            if len(folders) == 1
            else open_together(context, folders, token, report)
        )
        answer = found.ask(asked, token, report)
        for folder in folders:
            mention(context, Logged.VIEWED, folder.absolute(), report)
        return answer, found.about.askable

    (answer, askable), _ = session.perform(work, progress, cancel)
    return answer_frame(answer, asked, askable)


def inspect(
    source: Sourced, *, progress: Progress = None, cancel: CancelToken | None = None
) -> pd.DataFrame:
    """Profile data: of each column its type, missing and distinct values, and a suggested role.

    ``attrs`` has the number of ``rows`` and how a file was read (``reading``). Raises InputError,
    StorageError, Cancelled.
    """
    from dpdesk.app.describing import inspect_source
    from dpdesk.python.answers import profile_frame

    def work(context: AppContext, token: CancelToken, report: Report) -> DataProfile:
        with held_source(source, _THE_CALL, context, token, private=False) as spec:
            found = inspect_source(context, spec, token, report)
        mention(context, Logged.OPENED, spec.path, report)
        return found

    return profile_frame(session.perform(work, progress, cancel)[0])


def check(
    plan: Planned,
    source: Sourced,
    *,
    progress: Progress = None,
    cancel: CancelToken | None = None,
) -> FitReport:
    """What of a plan does not fit data: columns, types, values, missing ones; writes nothing.

    ``fits`` says whether nothing stands in the way, ``items`` what is not as the plan expects it.
    Raises InputError, StorageError, Cancelled.
    """
    from dpdesk.app.describing import fit_file

    chosen = plan_of(plan)

    def work(context: AppContext, token: CancelToken, report: Report) -> FitReport:
        with (
            held_source(source, _THE_CALL, context, token, private=False) as spec,
            chosen._placed(context, token) as placed,
        ):
            found = fit_file(context, placed, spec, token, report)
        mention(context, Logged.OPENED, spec.path, report)
        return found

    return session.perform(work, progress, cancel)[0]


def trial(
    plan: Planned,
    *,
    source: Sourced | None = None,
    progress: Progress = None,
    cancel: CancelToken | None = None,
) -> Trial:
    """Try a plan with noise on the data before anything is spent: rows outside its categories.

    Internal: a look at the data, entered in the audit log. What is decided after it is not covered
    by ε. Raises InputError ``trial.method`` for a method without noise, StorageError ``audit.*``.
    """
    from dpdesk.app.private.trial import try_plan

    chosen = plan_of(plan)._using(source)

    def work(context: AppContext, token: CancelToken, report: Report) -> Trial:
        with chosen._placed(context, token) as placed:
            return try_plan(context, placed, token, report)

    return session.perform(work, progress, cancel)[0]


def pin(
    plan: Planned,
    *,
    source: Sourced | None = None,
    progress: Progress = None,
    cancel: CancelToken | None = None,
) -> Plan:
    """The plan with every reading option that a method with noise must have named, as detected now.

    Look at them and keep the plan: from then on it alone says how the source is read. Raises
    InputError, StorageError, Cancelled.
    """
    from dpdesk.app.opening import open_data, profile
    from dpdesk.app.private.pinning import pinned_source

    chosen = plan_of(plan)._using(source)

    def work(context: AppContext, token: CancelToken, report: Report) -> Plan:
        with chosen._placed(context, token) as placed:
            spec = placed.plan.source.without_types()
            data = open_data(context, spec, placed.base, token, report)
            try:
                found = pinned_source(
                    placed.plan.source, data.reading, profile(data, token, report)
                )
            finally:
                data.close()
        return chosen._reading(found)

    return session.perform(work, progress, cancel)[0]


def export(
    release: Released,
    form: str,
    out: str | Path,
    *,
    agency: str = "",
    progress: Progress = None,
    cancel: CancelToken | None = None,
) -> Path:
    """Write the public part of a release to the file ``out`` in another format; its path.

    Formats: ``csv``, ``parquet``, ``xlsx``, ``sav``, ``dta``, ``xpt``, ``csvw``, ``ddi``,
    ``sdmx-csv``, ``sdmx-structure``. What the format cannot hold is noted. Raises InputError
    ``export.*``, RefusedError ``export.*``, StorageError, Cancelled; then ``out`` is as it was.
    """
    from dpdesk.app.exporting import export_release

    place, target = Path(fspath(release)), Path(out)

    def work(context: AppContext, token: CancelToken, report: Report) -> Path:
        details = {"command": "export", "out": str(target.absolute())}
        enter(context, Logged.EXPORTED, place.absolute(), details)
        known = context.registry
        return export_release(place, form, target, context.workspace, token, report, agency, known)

    return session.perform(work, progress, cancel)[0]


def _subject(of: object) -> Path | str:
    """What the audit log names: a path, or the object that a program made."""
    return of._name if isinstance(of, Plan) else Path(fspath(of)).absolute()  # type: ignore[call-overload]


def _is_private(context: AppContext, folder: Path) -> bool:
    """Whether a release draws noise, so that no value may decide whether its source is read."""
    from dpdesk.app.verifying import read_release
    from dpdesk.engine.registry import priced_of

    try:
        method = context.registry.get(read_release(folder).method, str(folder))
    except InputError:  # verifying says what is wrong with the release
        return True
    return priced_of(method) is not None


@contextmanager
def _source_file(
    source: Sourced | None, context: AppContext, token: CancelToken, *, private: bool
) -> Iterator[Path | str | None]:
    """The file, or the address, that is compared with the source of a release."""
    if source is None:
        yield None
        return
    with held_source(source, _THE_CALL, context, token, private=private) as spec:
        yield spec.path if spec.is_url else Path(spec.held or spec.path)


__all__ = [
    "Release", "Source", "check", "export", "inspect", "open_release", "pin", "query", "risk",
    "run", "trial", "verify",
]  # fmt: skip

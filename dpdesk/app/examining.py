"""Checking a file against a recipe: what no longer fits, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.fitting import Examination
from dpdesk.app.recipes import (
    STEP,
    FitItem,
    FitReport,
    Recipe,
    Trial,
    Weight,
    merged_source,
)
from dpdesk.core.errors import DpdeskError, InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Note, Report, StepStarted
from dpdesk.core.plan import SourceSpec
from dpdesk.core.source_options import given_keys
from dpdesk.engine.kinds import noise_of

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.engine.method import MethodOutcome
    from dpdesk.engine.private.method import Design
    from dpdesk.engine.randomised_method import Judged
    from dpdesk.io.store import DataStore
    from dpdesk.project.work import WorkState


def examine(
    context: AppContext,
    recipe: Recipe,
    source: SourceSpec,
    base: Path,
    token: CancelToken,
    report: Report,
    *,
    data: DataStore | None = None,
    trial: bool = True,
) -> FitReport:
    """Check a file against a recipe.

    ``source`` names the file below ``base``; options that it leaves open are those of the recipe,
    and where the file cannot be read by these, what is detected. ``data`` is the file when it is
    open already (it stays open). With ``trial`` the search is run too, when nothing else blocks.

    Raises InputError and StorageError for a file that cannot be read at all, and Cancelled.
    """
    report(StepStarted(STEP, 1, 1))
    opened = (
        _Opened(source, data, []) if data else _open(context, recipe, source, base, token, report)
    )
    try:
        recipe = recipe.spelled_as(opened.data.columns)
        profile = opened.data.profile(token, report)
        found = Examination(recipe, opened.data, profile, base, token)
        items = [*opened.items, *found.items()]
        result = None
        if trial and not any(item.weight is Weight.BLOCKS for item in items):
            result, more = _try(context, recipe, opened, base, token, report)
            items += more
    finally:
        if data is None:
            opened.data.close()
    order = list(Weight)
    items.sort(key=lambda item: order.index(item.weight))
    return FitReport(recipe.name, opened.source, base, profile, tuple(items), result)


@dataclass
class _Opened:
    source: SourceSpec
    data: DataStore
    items: list[FitItem]


def _open(
    context: AppContext,
    recipe: Recipe,
    source: SourceSpec,
    base: Path,
    token: CancelToken,
    report: Report,
) -> _Opened:
    """The file by the recipe's options; where it cannot be read by them, as detected."""
    from dpdesk.app.opening import open_data

    wanted = merged_source(recipe, source)
    try:
        return _Opened(wanted, open_data(context, wanted, base, token, report), [])
    except InputError as error:
        # Rows that the plan leaves out must never come in because something else does not fit.
        table = wanted.table if wanted.query is not None else source.table
        detected = replace(source, missing=wanted.missing, query=wanted.query, table=table)
        if detected == wanted:
            raise
        data = open_data(context, detected, base, token, report)
        changed = [key for key in given_keys(wanted) if key not in given_keys(detected)]
        set_ = ", ".join(f"`{key}`" for key in changed)
        item = FitItem(
            "reading.other",
            Weight.BLOCKS,
            f"The file cannot be read as the plan says ({set_}): {error.sentence}",
            "Take these options out of [source], or give those of the new file.",
        )
        return _Opened(detected, data, [item])


# ---- trying --------------------------------------------------------------------------------------


def _try(
    context: AppContext,
    recipe: Recipe,
    opened: _Opened,
    base: Path,
    token: CancelToken,
    report: Report,
) -> tuple[Trial | None, list[FitItem]]:
    """Run the search on the file, or make the design of a method with noise; writes nothing."""
    notes: list[FitItem] = []

    def listen(event: object) -> None:
        if not isinstance(event, Note):
            report(event)  # type: ignore[arg-type]
        elif not event.code.startswith("source."):
            notes.append(FitItem(event.code, Weight.NOTE, event.sentence))

    work = replace(recipe.work.based_on(base), source=opened.source)
    try:
        outcome = _outcome(context, work, recipe.name, opened, token, listen)
    except (InputError, RefusedError) as error:
        return None, [*notes, _refused(error)]
    return Trial(outcome.result, outcome.guarantee.claim), notes


def _outcome(
    context: AppContext,
    work: WorkState,
    name: str,
    opened: _Opened,
    token: CancelToken,
    report: Report,
) -> MethodOutcome | Judged | Design:
    from dpdesk.app.microdata import described
    from dpdesk.app.planning import prepare
    from dpdesk.app.private.preparing import prepare_private

    plan, at_hand, base = work.to_plan(), work.hand_made(), work.base
    if noise_of(context.registry.ready(plan.protection.method, name)) is not None:
        return prepare_private(
            context, plan, base, name, token, report, opened.data, at_hand
        ).design
    ready = prepare(context, plan, base, name, token, report, opened.data, at_hand)
    return described(ready.method, ready.given, token, report)


def _refused(error: DpdeskError) -> FitItem:
    advice = error.hint or "Change the settings of the plan, then check the file against it again."
    return FitItem(f"trial.{error.code}", Weight.BLOCKS, error.sentence, advice)

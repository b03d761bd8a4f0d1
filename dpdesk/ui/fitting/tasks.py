"""A plan checked against another file, as work for a background thread."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from dpdesk.app import examining, recording
from dpdesk.app.types import AppContext, FitReport, Fix, Recipe, mended
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.plan import SourceSpec

translate = QCoreApplication.translate

HOLD = "fitting.hold"


@dataclass(frozen=True)
class PlanComparison:
    """A recipe as it was mended, and how it fits the file."""

    path: Path
    recipe: Recipe
    mends: tuple[Fix, ...]
    report: FitReport


@dataclass(frozen=True)
class CompareWithPlan:
    """Check a file against a recipe, after some mends; changes nothing."""

    context: AppContext
    recipe: Recipe
    mends: tuple[Fix, ...]
    path: Path

    def __call__(self, token: CancelToken, report: Report) -> PlanComparison:
        """How it fits."""
        made = mended_recipe(self.recipe, self.mends)
        source, base = SourceSpec(path=str(self.path)), self.path.parent
        found = examining.examine(self.context, made, source, base, token, report)
        recording.mention(self.context, "opened", self.path, report)
        return PlanComparison(self.path, made, self.mends, found)


def mended_recipe(recipe: Recipe, mends: tuple[Fix, ...]) -> Recipe:
    """A recipe after what was decided. InputError ``recipe.decisions`` when that is impossible."""
    try:
        return mended(recipe, mends)
    except ValueError as error:  # the plan has changed since these were decided
        raise InputError(
            "recipe.decisions",
            translate(
                "Fitting",
                "What was decided for this file does not go with the plan any more: {reason}.",
            ).format(reason=error),
            hint=translate("Fitting", "Take the last decision back."),
        ) from error

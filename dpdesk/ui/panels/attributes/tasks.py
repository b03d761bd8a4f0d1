"""Work of the attributes panel for background threads: plain callables, no Qt."""

from __future__ import annotations

from dataclasses import dataclass

from dpdesk.app.describing import CurrentRisk, current_risk
from dpdesk.app.pseudonyms import list_keys, make_key
from dpdesk.app.types import AppContext, DataStore
from dpdesk.core.jobs import CancelToken, Report


@dataclass(frozen=True)
class Question:
    """Whose risk is asked: of these data, on these attributes, for groups of ``k``."""

    data: DataStore
    attributes: tuple[str, ...]
    k: int


@dataclass(frozen=True)
class Answered:
    """A question and its answer."""

    question: Question
    risk: CurrentRisk


@dataclass(frozen=True)
class CountRisk:
    """Count how many rows are alike."""

    question: Question

    def __call__(self, token: CancelToken, report: Report) -> Answered:
        """The risk of the table as it is."""
        asked = self.question
        return Answered(asked, current_risk(asked.data, asked.attributes, asked.k, token))


@dataclass(frozen=True)
class KeysHere:
    """The names of the keys of pseudonyms on this computer, and the one that was just made."""

    names: tuple[str, ...]
    made: str = ""


@dataclass(frozen=True)
class ListKeys:
    """Which keys there are; with ``made``, after making a key of this name."""

    context: AppContext
    made: str = ""

    def __call__(self, token: CancelToken, report: Report) -> KeysHere:
        """The names, by alphabet. Raises InputError, StorageError."""
        if self.made:
            make_key(self.context, self.made, report)
        names = tuple(each.name for each in list_keys(self.context) if not each.problem)
        return KeysHere(names, self.made)

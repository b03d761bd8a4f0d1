"""What is known of an attempt to open data that failed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dpdesk.app.types import WorkState
from dpdesk.ui.jobs import JobFailed


@dataclass(frozen=True)
class OpenProblem:
    """An attempt to read data that failed.

    ``path`` is the file that the user opened, empty when the open work was to be read in another
    way; ``work`` says how the data were to be read.
    """

    path: Path
    work: WorkState
    is_plan: bool
    failure: JobFailed

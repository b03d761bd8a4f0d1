"""What is done with a released cube, as work for a background thread."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dpdesk.app import browsing
from dpdesk.app.browsing import OpenCube
from dpdesk.app.types import AppContext
from dpdesk.core.browsing import BrowseState
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.pivot import Pivot

OPEN, LOOK = "browse.open", "browse.look"


@dataclass(frozen=True)
class OpenFolder:
    """Check and open the folder of a released cube."""

    context: AppContext
    folder: Path

    def __call__(self, token: CancelToken, report: Report) -> OpenCube:
        """The cube."""
        return browsing.open_cube(self.context, self.folder, token, report)


@dataclass(frozen=True)
class Seen:
    """The numbers of a state."""

    state: BrowseState
    pivot: Pivot


@dataclass(frozen=True)
class Look:
    """Read the numbers of one view."""

    cube: OpenCube
    state: BrowseState

    def __call__(self, token: CancelToken, report: Report) -> Seen:
        """The numbers."""
        return Seen(self.state, self.cube.look(self.state, token, report))


@dataclass(frozen=True)
class Export:
    """Write a view to a file."""

    context: AppContext
    cube: OpenCube
    state: BrowseState
    out: Path

    def __call__(self, token: CancelToken, report: Report) -> Path:
        """The file that was written."""
        return browsing.export_view(self.context, self.cube, self.state, self.out, token, report)

"""What a person wants to open in the place of the present work."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dpdesk.app.types import WorkState
from dpdesk.ui.projects import ProjectDesk
from dpdesk.ui.workbench import Workbench


@dataclass(frozen=True)
class OpenRequest:
    """A file, or the work that begins with a table of a server, which has no file."""

    path: Path
    is_project: bool = False
    work: WorkState | None = None

    def open(self, workbench: Workbench, projects: ProjectDesk) -> None:
        """Open it now."""
        if self.is_project:
            projects.open(self.path)
        elif self.work is not None:
            workbench.open_work(self.work, self.path)
        else:
            workbench.open_path(self.path)

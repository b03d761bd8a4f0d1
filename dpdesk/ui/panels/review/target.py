"""The folder into which a release goes: suggested, and looked at in the background."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Signal

from dpdesk.core.errors import DpdeskError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.resources import resource
from dpdesk.ui.jobs import JobDone
from dpdesk.ui.panels.review.presenter import (
    folder_problem,
    free_folder,
    may_write,
    suggested_name,
)
from dpdesk.ui.workbench import Workbench

_CHANNEL = "review.folder"


@dataclass(frozen=True)
class FolderFound:
    """A folder, and what stands against writing a release there (empty: nothing)."""

    text: str
    problem: str


@dataclass(frozen=True)
class InspectFolder:
    """Work for a background thread: look at ``text``, or find a free name below one of ``parents``.

    The first parent that exists and may be written to is taken; when there is none, the first.
    """

    text: str
    parents: tuple[Path, ...] = ()

    def __call__(self, token: CancelToken, report: Report) -> FolderFound:
        """What was found."""
        if self.parents:
            place = next((one for one in self.parents if may_write(one)), self.parents[0])
            folder = str(free_folder(place, self.text))
            return FolderFound(folder, folder_problem(folder))
        return FolderFound(self.text, folder_problem(self.text))


class Target(QObject):
    """``suggested(str)`` proposes a folder; ``checked()`` says that :attr:`problem` is new."""

    suggested = Signal(str)
    checked = Signal()

    def __init__(self, workbench: Workbench, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bench = workbench
        self._typed = False
        self._text = ""
        self._problem = ""

    @property
    def problem(self) -> str:
        """What stands against the folder, in one sentence; empty when nothing does."""
        return self._problem

    @property
    def typed(self) -> bool:
        """Whether a person chose the folder; a suggestion is never put over it."""
        return self._typed

    @property
    def start(self) -> Path:
        """Where a file chooser begins: beside the release, the plan or the data."""
        bench = self._bench
        if bench.release_path is not None:
            return bench.release_path.parent
        base = bench.plan_path.parent if bench.plan_path is not None else bench.work.base
        if bench.work.source is None or _is_bundled(base):
            return _own_places()[0]
        return base.absolute()

    def forget(self) -> None:
        """Suggest again from now on."""
        self._typed = False

    def suggest(self, parent: Path | None = None) -> None:
        """Suggest a new folder, below ``parent`` when a person chose that."""
        if self._typed and parent is None:
            return
        self._typed = parent is not None
        places = (self.start, *_own_places()) if parent is None else (parent,)
        self._ask(InspectFolder(suggested_name(self._bench.work), places))

    def type(self, text: str) -> None:
        """A person wrote this folder."""
        self._typed, self._text = True, text
        self._ask(InspectFolder(text))

    def check(self) -> None:
        """Look at the folder again."""
        if self._text:
            self._ask(InspectFolder(self._text))

    def _ask(self, look: InspectFolder) -> None:
        title = self.tr("Looking at the folder")
        channel = self._bench.hub.latest(_CHANNEL)
        channel.query(title, look, done=self._on_looked, quiet=True)

    def _on_looked(self, outcome: JobDone) -> None:
        found = outcome.value
        if isinstance(found, FolderFound):
            if found.text != self._text:
                self._text = found.text
                self.suggested.emit(found.text)
            self._problem = found.problem
            self.checked.emit()


def _own_places() -> tuple[Path, ...]:
    """Folders of the person at work: documents, then home."""
    place = QStandardPaths.StandardLocation.DocumentsLocation
    documents = Path(QStandardPaths.writableLocation(place) or Path.home())
    return (documents, Path.home()) if documents.is_dir() else (Path.home(),)


def _is_bundled(folder: Path) -> bool:
    try:
        return folder.absolute().is_relative_to(Path(str(resource("sample"))).absolute())
    except DpdeskError:
        return False

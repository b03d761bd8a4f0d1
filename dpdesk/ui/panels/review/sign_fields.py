"""What goes with a signature besides words: files and folders, by what is signed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from dpdesk.app.review.values import EventType, Wish
from dpdesk.app.types import AppContext
from dpdesk.ui.files import FileAsker
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.review.actions import Action, Beside
from dpdesk.ui.panels.review.path_field import Kind, PathField
from dpdesk.ui.panels.review.protocol_choice import ProtocolChoice
from dpdesk.ui.panels.review.sign_tasks import Ask
from dpdesk.ui.theme import SPACE
from dpdesk.ui.widgets import column

MOST_COPIES = 50


@dataclass(frozen=True)
class Desk:
    """What the fields need of the window; ``folder`` is the release at hand.

    ``beside`` is the file into which its review is written when the folder is known as read-only.
    """

    context: AppContext
    hub: JobHub
    asker: FileAsker
    folder: Path
    beside: Path | None = None


class Fields(QWidget):
    """No fields; the others say what they ask for. ``paths`` are the fields by name."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._rows: QVBoxLayout = column(self, gap=SPACE.s)
        self.paths: dict[str, PathField] = {}

    def problem(self) -> str:
        """What is missing, as a sentence; empty when nothing is."""
        return ""

    def fill(self, ask: Ask) -> Ask:
        """The wish with what was chosen here."""
        return ask

    def _add(self, key: str, words: str, tip: str, kind: Kind, start: Path | None = None) -> None:
        field = PathField(words, tip, self._desk.asker, kind, start or self._desk.folder.parent)
        self.paths[key] = field
        self._rows.addWidget(field)

    def _path(self, key: str) -> Path | None:
        return self.paths[key].path


class SubmitFields(Fields):
    """Mode and protocol, the policy, the round before, and the release that this one replaces."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.protocol = ProtocolChoice(desk.context, desk.hub, desk.asker)
        self._rows.addWidget(self.protocol)
        self._add(
            "after",
            self.tr("Folder of the round before (empty: the first round)"),
            self.tr("The release that this one follows, after changes were requested"),
            Kind.FOLDER,
        )
        self._add(
            "supersedes",
            self.tr("Released folder that this one is to replace (empty: none)"),
            self.tr("A release that went out; its own review is told when this one is out, too"),
            Kind.FOLDER,
        )
        self._add(
            "policy",
            self.tr("Policy file (empty: the one of this computer)"),
            self.tr("The rules by which the checklist is made"),
            Kind.FILE,
        )

    def problem(self) -> str:
        """See :class:`Fields`."""
        return self.protocol.problem()

    def fill(self, ask: Ask) -> Ask:
        """See :class:`Fields`."""
        wish = Wish(
            policy=self._path("policy"),
            protocol=self.protocol.path,
            note=ask.text,
            after=self._path("after"),
            supersedes=self._path("supersedes"),
        )
        return replace(ask, wish=wish)


class MergeFields(Fields):
    """As many copies as there are: when the last field is filled, another one follows."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        for _ in range(2):
            self._add_copy()

    def fill(self, ask: Ask) -> Ask:
        """See :class:`Fields`."""
        found = (one.path for one in self.paths.values())
        return replace(ask, copies=tuple(dict.fromkeys(path for path in found if path is not None)))

    def _add_copy(self) -> None:
        number = len(self.paths) + 1
        name = self.tr("Copy {n} (may stay empty)").format(n=number)
        tip = self.tr("The folder in which a reviewer signed, or a file review.json alone")
        self._add(f"copy-{number}", name, tip, Kind.EITHER)
        self.paths[f"copy-{number}"].changed.connect(self._on_changed)

    @Slot()
    def _on_changed(self) -> None:
        full = all(one.path is not None for one in self.paths.values())
        if full and len(self.paths) < MOST_COPIES:
            self._add_copy()


class SupersedeFields(Fields):
    """The release that takes the place of this one."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._add(
            "other",
            self.tr("Folder of the release that replaces this one"),
            self.tr("It has been reviewed and released itself"),
            Kind.FOLDER,
        )

    def problem(self) -> str:
        """See :class:`Fields`."""
        found = self._path("other")
        if found is None:
            return self.tr("Choose the release that replaces this one.")
        if found.absolute() == self._desk.folder.absolute():
            return self.tr("This is the release itself: choose the one that replaces it.")
        return ""

    def fill(self, ask: Ask) -> Ask:
        """See :class:`Fields`."""
        return replace(ask, other=self._path("other"))


class LockFields(Fields):
    """The file for the protocol."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        start = desk.folder.parent / f"{desk.folder.name}-protocol.json"
        self._add(
            "other",
            self.tr("New file for the protocol"),
            self.tr("It goes to those who apply the protocol; it holds the hierarchies"),
            Kind.NEW_FILE,
            start,
        )
        self.paths["other"].line.setText(str(start))

    def problem(self) -> str:
        """See :class:`Fields`."""
        if self._path("other") is None:
            return self.tr("Name the file for the protocol.")
        return ""

    def fill(self, ask: Ask) -> Ask:
        """See :class:`Fields`."""
        return replace(ask, other=self._path("other"))


_FIELDS: Mapping[Action, type[Fields]] = {
    EventType.SUBMIT: SubmitFields,
    EventType.MERGE: MergeFields,
    EventType.SUPERSEDE: SupersedeFields,
    Beside.LOCK: LockFields,
}


def fields_for(action: Action, desk: Desk) -> Fields:
    """The fields of an action."""
    return _FIELDS.get(action, Fields)(desk)

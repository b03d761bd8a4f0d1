"""What the panel changes: each method gives one undoable command to the workbench."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from dpdesk.app.types import ColumnType, DataStore, HierarchyChoice, SetHierarchies, SetHierarchy
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile
from dpdesk.ui.jobs import JobCancelled, JobFailed
from dpdesk.ui.panels.hierarchies.presenter import choice_words, reason
from dpdesk.ui.panels.hierarchies.tasks import (
    Answer,
    Edit,
    Edited,
    HierarchyAnswer,
    Imported,
    Suggestion,
    examine_choice,
    export_file,
    import_file,
    make_edit,
    suggest,
)
from dpdesk.ui.workbench import Workbench


class HierarchyActions(QObject):
    """Runs the work of an action in the background, then applies its command.

    ``said(kind, text)`` is a sentence for the band, ``failed(JobFailed)`` an error for it;
    ``editFailed(str)`` says why an edit by hand was not made; ``offered(Suggestion)`` answers
    :meth:`look_for_options`.
    """

    said = Signal(str, str)
    failed = Signal(object)
    editFailed = Signal(str)
    offered = Signal(object)

    def __init__(self, workbench: Workbench, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workbench = workbench
        self._reasons: dict[str, tuple[HierarchyBuilder, str]] = {}

    def why(self, attribute: str) -> str:
        """Why the present hierarchy was suggested; empty when it was not."""
        builder, sentence = self._reasons.get(attribute, (None, ""))
        return sentence if self._workbench.work.hierarchies.get(attribute) == builder else ""

    def use(self, attribute: str, choice: HierarchyBuilder | None) -> None:
        """Take a builder, or no hierarchy."""
        self._workbench.apply(SetHierarchy(attribute, choice, choice_words(choice)))

    # -- suggestions

    def suggest(self, attributes: Sequence[str]) -> None:
        """Suggest hierarchies for these; all of them are one undoable step."""
        data = self._workbench.data
        if data is None or not attributes:
            return
        kinds = {name: self._kind(name) for name in attributes}
        before = {name: self._workbench.work.hierarchies.get(name) for name in attributes}
        self._workbench.hub.latest("hierarchies.suggest").query(
            self.tr("Suggesting hierarchies"),
            partial(suggest, data, kinds, before),
            then=self._on_suggested,
            failed=self._on_failed,
        )

    def look_for_options(self, attribute: str) -> None:
        """Find the options that would be suggested, without changing anything."""
        data = self._workbench.data
        if data is None:
            return
        self._workbench.hub.latest("hierarchies.options").query(
            self.tr("Looking for options"),
            partial(suggest, data, {attribute: self._kind(attribute)}, {}),
            then=self._on_options,
            quiet=True,
        )

    def _on_options(self, found: tuple[Suggestion, ...]) -> None:
        for one in found:
            self.offered.emit(one)

    def _kind(self, attribute: str) -> ColumnType:
        profile = self._workbench.profile
        known = {} if profile is None else {one.name: one.type for one in profile.columns}
        return known.get(attribute, ColumnType.TEXT)

    def _on_suggested(self, found: tuple[Suggestion, ...]) -> None:
        fresh = {one.attribute: one for one in found if self._still_true(one)}
        suggested = {name: one.found for name, one in fresh.items() if one.found is not None}
        builders = {name: one.builder for name, one in suggested.items()}
        for name, one in suggested.items():
            self._reasons[name] = (one.builder, reason(one))
        work = self._workbench.work
        news = {name: b for name, b in builders.items() if work.hierarchies.get(name) != b}
        if news:
            self._workbench.apply(SetHierarchies(news, self.tr("suggested")))
        self._tell_suggested(news, [one for one in fresh.values() if one.builder is None])

    def _still_true(self, one: Suggestion) -> bool:
        return self._workbench.work.hierarchies.get(one.attribute) == one.before

    def _tell_suggested(
        self, news: dict[str, HierarchyBuilder], none: Sequence[Suggestion]
    ) -> None:
        if none:
            self.said.emit("caution", " ".join(one.problem for one in none))
        elif not news:
            self.said.emit("info", self.tr("There is nothing else to suggest here."))
        elif len(news) == 1:
            self.said.emit("ok", self._reasons[next(iter(news))][1])
        else:
            listed = ", ".join(f"{name} ({choice_words(b)})" for name, b in news.items())
            text = self.tr("Suggested {n} hierarchies in one step: {listed}. Look at each.")
            self.said.emit("ok", text.format(n=len(news), listed=listed))

    # -- files

    def import_file(self, attribute: str, path: Path) -> None:
        """Take a hierarchy file once it has been read without error."""
        self._workbench.hub.latest("hierarchies.import").query(
            self.tr("Reading {name}").format(name=path.name),
            partial(import_file, attribute, path.absolute()),
            then=self._on_imported,
            failed=self._on_failed,
        )

    def _on_imported(self, found: Imported) -> None:
        choice = HierarchyFile(_seen_from(self._workbench.work.base, found.path))
        self._workbench.apply(SetHierarchy(found.attribute, choice))
        if found.notes:
            self.said.emit("info", " ".join(found.notes))

    def export_file(self, hierarchy: Hierarchy, path: Path) -> None:
        """Write a hierarchy as a file."""
        self._workbench.hub.mutate(
            self.tr("Writing {name}").format(name=path.name),
            partial(export_file, self._workbench.context, hierarchy, path),
            then=self._on_exported,
            failed=self._on_failed,
        )

    def _on_exported(self, found: object) -> None:
        text = self.tr("{path} is written. It lists values of the data: keep it confidential.")
        self.said.emit("ok", text.format(path=found))

    # -- by hand

    def edit(self, attribute: str, look: HierarchyAnswer, edit: Edit) -> None:
        """Edit the tree on show by hand."""
        before = self._workbench.work.hierarchies.get(attribute)
        self._workbench.hub.latest("hierarchies.edit").query(
            self.tr("Editing the hierarchy of {name}").format(name=attribute),
            partial(make_edit, attribute, before, look.examined, edit),
            then=self._on_edited,
            failed=self._on_edit_failed,
            cancelled=self._on_edit_cancelled,
            quiet=True,
        )

    def _on_edited(self, made: Edited) -> None:
        if self._workbench.work.hierarchies.get(made.attribute) != made.before:
            self.editFailed.emit(self.tr("The hierarchy has changed meanwhile; try again."))
            return
        self._workbench.apply(SetHierarchy(made.attribute, made.hierarchy, made.edit.words))

    def _on_edit_failed(self, outcome: JobFailed) -> None:
        self.editFailed.emit(outcome.full)

    def _on_edit_cancelled(self, outcome: JobCancelled) -> None:
        self.editFailed.emit("")

    def _on_failed(self, outcome: JobFailed) -> None:
        self.failed.emit(outcome)


def _seen_from(base: Path, path: Path) -> str:
    """A path below ``base`` as relative, so that plan and files can be moved together."""
    try:
        relative = os.path.relpath(path, base)
    except ValueError:  # another drive has no relative path
        return str(path)
    return str(path) if relative.startswith("..") else Path(relative).as_posix()


KEPT_PER_ATTRIBUTE = 6


class AnswerStore(QObject):
    """Answers by data, attribute and choice.

    ``answered()`` when some have come, once for those that come together, since each is a reason to
    show all anew; ``failed(JobFailed)`` for a fault of the program.
    """

    answered = Signal()
    failed = Signal(object)

    def __init__(self, workbench: Workbench, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workbench = workbench
        self._data: DataStore | None = None
        self._answers: dict[str, list[Answer]] = {}
        self._asked: dict[str, HierarchyChoice | None] = {}
        self._telling = QTimer(self)
        self._telling.setSingleShot(True)
        self._telling.setInterval(0)
        self._telling.timeout.connect(self.answered)

    def forget_files(self) -> None:
        """Read hierarchy files again when they are next asked for: they may have changed."""
        for attribute, answers in self._answers.items():
            kept = [one for one in answers if not isinstance(one.choice, HierarchyFile)]
            self._answers[attribute] = kept

    def answer(self, attribute: str, choice: HierarchyChoice | None) -> Answer | None:
        """What is known of a choice; None when it has not come yet."""
        self._follow_data()
        for known in reversed(self._answers.get(attribute, [])):
            if known.choice == choice:
                return known
        return None

    def latest(self, attribute: str) -> Answer | None:
        """The newest answer for an attribute that has a look, whatever its choice."""
        self._follow_data()
        known = [one for one in self._answers.get(attribute, []) if one.look is not None]
        return known[-1] if known else None

    def ask(self, attribute: str, choice: HierarchyChoice | None, channel: str = "look") -> None:
        """Find out in the background, unless it is known or on its way."""
        data = self._workbench.data
        if data is None or self.answer(attribute, choice) is not None:
            return
        name = f"hierarchies.{channel}.{attribute}"
        jobs = self._workbench.hub.latest(name)
        if jobs.busy and name in self._asked and self._asked[name] == choice:
            return
        self._asked[name] = choice
        jobs.query(
            self.tr("Counting values of {name}").format(name=attribute),
            partial(examine_choice, data, attribute, choice, self._workbench.work.base),
            then=self._on_answer,
            failed=self._on_failed,
            quiet=True,
        )

    def _follow_data(self) -> None:
        if self._workbench.data is not self._data:
            self._data = self._workbench.data
            self._answers.clear()
            self._asked.clear()

    def _on_answer(self, answer: Answer) -> None:
        self._follow_data()
        if answer.data is not self._data:
            return
        answers = self._answers.setdefault(answer.attribute, [])
        answers.append(answer)
        del answers[:-KEPT_PER_ATTRIBUTE]
        self._telling.start()

    def _on_failed(self, outcome: JobFailed) -> None:
        self.failed.emit(outcome)

"""Joins the lattice of tables with the plan: what is done to a table changes the plan's keys."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from dpdesk.app.types import SetParameters
from dpdesk.core.cuboid_choice import CuboidChoice, Standing
from dpdesk.core.errors import InputError
from dpdesk.core.parameters import plain_number
from dpdesk.ui.charts.lattice_board import AVOID, EXACTLY, PUBLISH
from dpdesk.ui.charts.lattice_view import LatticeChange
from dpdesk.ui.panels.protect.deck import ChartDeck
from dpdesk.ui.widgets.wording import in_window
from dpdesk.ui.words.spoken import said_error
from dpdesk.ui.workbench import Aspect, Changes, Workbench


class LatticeEdits(QObject):
    """Applies changes as edits that can be undone; shows edits made elsewhere at once."""

    def __init__(self, workbench: Workbench, deck: ChartDeck, parent: QObject) -> None:
        super().__init__(parent)
        self._bench, self._deck = workbench, deck
        deck.changeAsked.connect(self._on_change)
        workbench.changed.connect(self._on_work)

    def _choice(self) -> CuboidChoice | None:
        try:
            return CuboidChoice.from_plain(self._bench.work.parameters)
        except (ValueError, TypeError, KeyError):
            return None

    @Slot(object)
    def _on_change(self, change: LatticeChange) -> None:
        view, before = self._deck.lattice, self._choice()
        if view is None:
            return
        if before is None or self._bench.stale:
            view.say(self.tr("The settings at the left cannot be read; mend them first."))
            return
        try:
            after = change.made(before)
        except InputError as error:
            view.say(in_window(said_error(error)))
            return
        changes = after.changes(before)
        if changes:
            self._bench.apply(SetParameters(changes, what=self._words(change, after)))

    def _words(self, change: LatticeChange, after: CuboidChoice) -> str:
        """The edit for the trail: a plan may have to name all other tables, people need not."""
        name, standing = after.name(change.cuboid), after.standing(change.cuboid)
        if change.act == EXACTLY:
            exact = change.cuboid in after.exact
            text = self.tr("Published exactly: {name}")
            text = text if exact else self.tr("No longer exact: {name}")
            return text.format(name=name)
        if change.act not in (PUBLISH, AVOID):
            text = self.tr("Weight of {name}: {weight}")
            return text.format(name=name, weight=plain_number(after.weight(change.cuboid)))
        words = {
            Standing.PUBLISHED: self.tr("Published: {name}"),
            Standing.FREE: self.tr("Not published: {name}"),
            Standing.FORBIDDEN: self.tr("Forbidden: {name}"),
        }
        return words[standing].format(name=name)

    @Slot(object)
    def _on_work(self, changes: Changes) -> None:
        view = self._deck.lattice
        if view is not None and Aspect.PARAMETERS in changes:
            choice = self._choice()
            if choice is not None:
                view.show_choice(choice)

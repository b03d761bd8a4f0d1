"""What somebody picks or moves in the charts becomes a change of the settings."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, Slot

from dpdesk.app.types import SetParameters
from dpdesk.core.cube_parameters import ACCURACY
from dpdesk.core.errors import InputError
from dpdesk.ui.panels.protect import presenter
from dpdesk.ui.panels.protect.private_side import PrivateSide
from dpdesk.ui.panels.protect.result_pane import ResultPane
from dpdesk.ui.words.settings import levels_words
from dpdesk.ui.workbench import Workbench


class Picking(QObject):
    """Joins the charts with the work: points that choose levels, lines that are parameters."""

    def __init__(
        self, workbench: Workbench, result: ResultPane, private: PrivateSide, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._bench, self._result, self._private = workbench, result, private
        result.deck.pointPicked.connect(self._on_point)
        result.deck.pointMarked.connect(self._on_marked)
        result.deck.limitMoved.connect(self._on_limit)

    @Slot(int)
    def _on_point(self, point: int) -> None:
        picked = self._picked(point)
        if picked:
            self._bench.apply(SetParameters(dict(picked)))

    @Slot(str, float)
    def _on_limit(self, key: str, value: float) -> None:
        method = self._bench.method
        if key == ACCURACY:
            self._private.solve(value)
        if method is None or not presenter.moves(method, key) or self._bench.stale:
            return
        plain = presenter.nearest_value(method, key, value)
        if plain is not None and plain != self._bench.work.parameters.get(key):
            self._bench.apply(SetParameters({key: plain}), merge=True)

    @Slot(int)
    def _on_marked(self, point: int) -> None:
        self._result.show_marked(levels_words(self._picked(point)))

    def _picked(self, point: int) -> Mapping[str, object]:
        explored = self._bench.explored
        if explored is None or self._bench.stale:
            return {}
        try:
            return explored.pick(point)
        except InputError:
            return {}

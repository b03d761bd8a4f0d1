"""The protect panel: it searches by itself, and every setting shows at once what it would give."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import QCoreApplication, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from dpdesk.app.cell_marks import Elsewhere, at, hand_mark, set_elsewhere, with_hand_mark
from dpdesk.app.types import (
    COMPARE_AT_MOST,
    Detail,
    ExplorationView,
    Explored,
    Method,
    Role,
    SetParameters,
    SetRoles,
    WorkState,
)
from dpdesk.core.cube_parameters import ACCURACY
from dpdesk.core.errors import InputError
from dpdesk.core.tabulation import CellTable, cell_words
from dpdesk.ui.forms.cubes import CubeForm
from dpdesk.ui.jobs import JobDone, JobFailed, JobOutcome
from dpdesk.ui.jobs.hub import alone
from dpdesk.ui.panels.protect import presenter
from dpdesk.ui.panels.protect.deck import ChartDeck
from dpdesk.ui.panels.protect.header import ProtectHeader
from dpdesk.ui.panels.protect.presenter import GrowingViews, LiveAnswer, LiveViews, ViewRequest
from dpdesk.ui.panels.protect.private_side import PrivateSide
from dpdesk.ui.panels.protect.result_pane import EXAMPLE, ResultPane
from dpdesk.ui.panels.protect.settings_pane import SettingsPane
from dpdesk.ui.shell import Mark, Panel, PanelStatus
from dpdesk.ui.shell.actions import ActionSet, ActionSpec
from dpdesk.ui.theme import SPACE, Theme, ThemeManager
from dpdesk.ui.widgets import EmptyState, column
from dpdesk.ui.widgets.layouts import SteadyArea
from dpdesk.ui.widgets.turning import Side, Sides
from dpdesk.ui.words.settings import (
    Missing,
    Situation,
    control_labels,
    levels_words,
    place_words,
    problem_place,
    role_words,
    unread_words,
    what_is_missing,
)
from dpdesk.ui.words.spoken import said
from dpdesk.ui.workbench import Aspect, Changes, Workbench

_CHANNEL = "protect.detail"


class Details(QObject):
    """Joins a deck whose bars are clicked with the search that knows what is behind them."""

    def __init__(
        self, workbench: Workbench, deck: ChartDeck, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._bench, self._deck = workbench, deck
        deck.barPicked.connect(self._on_bar)

    @Slot(str, int)
    def _on_bar(self, chart: str, place: int) -> None:
        explored = self._bench.explored
        if explored is None or self._bench.stale:
            return
        parameters = dict(self._bench.work.parameters)
        self._bench.hub.latest(_CHANNEL).query(
            self.tr("Looking behind a bar"),
            alone(partial(explored.detail, parameters, chart, place)),
            then=partial(self._on_found, (explored, parameters), chart),
            failed=self._on_failed,
        )

    def _on_found(self, asked: object, chart: str, found: Detail | None) -> None:
        now = (self._bench.explored, dict(self._bench.work.parameters))
        if found is not None and asked == now:
            self._deck.show_detail(chart, found)

    def _on_failed(self, outcome: object) -> None:
        self._bench.failed.emit(outcome)


translate = QCoreApplication.translate


def explanation(method: Method | None) -> str:
    """The promise of the method, then how to work here."""
    promise = () if method is None else (said(method.promise),)
    if method is not None and method.capabilities.spends:
        words = _private() if method.capabilities.blind else _drawn()
        return "\n\n".join((*promise, *words))
    return "\n\n".join((*promise, *_searched()))


def _searched() -> tuple[str, ...]:
    return (
        translate(
            "ProtectPanel",
            "Choose the protection, then move the sliders. All settings have been searched "
            "in advance, so the charts follow at once.",
        ),
        translate(
            "ProtectPanel",
            "Each point of the chart of all combinations is a possible release: further "
            "left keeps more detail, further down suppresses fewer rows. Arrow keys move "
            "from point to point, Enter or a click chooses one by hand. A click on a bar, "
            "or Enter, shows the rows or values behind it. The dashed lines at k and at "
            "the limit of suppression can be dragged, or moved with Shift and the arrow "
            "keys.",
        ),
        translate(
            "ProtectPanel",
            "Keep what looks good as a candidate (Ctrl+B) and compare candidates in the next "
            "step. Nothing is written before you make a release.",
        ),
    )


def _private() -> tuple[str, ...]:
    return (
        translate(
            "ProtectPanel",
            "Check the columns that span the tables and declare their categories. "
            "Categories come from you or from a hierarchy file: those known only from the "
            "data would give people away.",
        ),
        translate(
            "ProtectPanel",
            "All errors follow from the settings alone. Nothing is counted, nothing is "
            "spent, and no chart here depends on the data. A click on a table's point, or "
            "Enter, shows its error and where it is computed from.",
        ),
        translate(
            "ProtectPanel",
            "The lattice has a mark for each possible table, darker for larger errors (in "
            "dark colours: lighter). Click one or move to it with the arrow keys: Space "
            "publishes it or not, Delete forbids it, so that it gets no noise either, plus "
            "and minus change the weight of its error for planners that use weights. The "
            "settings on the left show the same.",
        ),
        translate(
            "ProtectPanel",
            "The noise is drawn once, when you make the release; that spends the budget for good. "
            "Another release of the same data spends it again.",
        ),
    )


def _drawn() -> tuple[str, ...]:
    return (
        translate(
            "ProtectPanel",
            "Name the columns whose values are drawn and declare their categories, without "
            "looking at the data. All other columns are released as they are; identifiers "
            "are left out.",
        ),
        translate(
            "ProtectPanel",
            "All errors follow from the settings and the number of rows. No chart here "
            "depends on what the drawn columns contain.",
        ),
        translate(
            "ProtectPanel",
            "The values are drawn once, when you make the release; that spends the budget for "
            "good. Another release of the same data spends it again.",
        ),
    )


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
        result.cells.set_hand(self._hand_mark)
        result.cells.markAsked.connect(self._on_hand_mark)

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

    def _hand_mark(self, table: CellTable, cell: int) -> tuple[str, Elsewhere | None]:
        """The status that the plan sets of a cell, and why none can be set."""
        keys = self._bench.work.parameters
        return hand_mark(keys, table, cell), set_elsewhere(keys, table, cell)

    @Slot(object, int, str)
    def _on_hand_mark(self, table: CellTable, cell: int, mark: str) -> None:
        keys = self._bench.work.parameters
        if hand_mark(keys, table, cell) != mark:
            place = tuple(
                axis.labels[i] for axis, i in zip(table.axes, at(table, cell), strict=True)
            )
            words = f"{said(cell_words(place))}: {self._result.cells.hand.currentText()}"
            self._bench.apply(SetParameters(with_hand_mark(keys, table, cell, mark), what=words))

    @Slot(int)
    def _on_marked(self, point: int) -> None:
        picked = self._picked(point)
        words = self._result.deck.words_of(point) if picked else ""
        self._result.show_marked(words or levels_words(picked))

    def _picked(self, point: int) -> Mapping[str, object]:
        explored = self._bench.explored
        if explored is None or self._bench.stale:
            return {}
        try:
            return explored.pick(point)
        except InputError:
            return {}


DIM_AFTER_MS = 200
COMPACT_EMS = 108
_UNSEEN = {Aspect.TITLE, Aspect.HISTORY, Aspect.RELEASE, Aspect.PROFILE}
_DRAW: Changes = frozenset({Aspect.EXPLORATION})
_SEARCHED = {Aspect.DATA, Aspect.SOURCE, Aspect.ROLES, Aspect.HIERARCHIES, Aspect.METHOD}
_OTHER = {*_SEARCHED, Aspect.PARAMETERS}
CATEGORIES, FIX, _FIELD = "categories", "fix", "field:"


class ProtectPanel(Panel):
    """``wantsPanel(str)`` names the panel that the user asked for; ``viewed(ExplorationView)``
    tells what is on show (None: nothing), for the status bar.
    """

    wantsPanel = Signal(str)
    viewed = Signal(object)

    def __init__(self, workbench: Workbench, theme: ThemeManager) -> None:
        super().__init__()
        self._bench, self._theme = workbench, theme
        self._paused = False
        self._searched: WorkState | None = None
        self._view: ExplorationView | None = None
        self._fix: tuple[list[str], Role] | None = None
        self._known_missing: tuple[tuple[object, ...], Missing | None] | None = None
        self._view_of: tuple[Explored | None, dict[str, object]] = (None, {})
        self._keep_job = 0
        self._live = LiveViews(workbench.hub, self)
        self._live.arrived.connect(self._on_view)
        self._live.failed.connect(self._on_view_failed)
        self._live.started.connect(self._follow_job)
        self._live.stopped.connect(self._on_view_stopped)
        self._growing = GrowingViews(workbench.hub, self)
        self._growing.arrived.connect(self._on_grown)
        self._stopped: tuple[Explored | None, dict[str, object]] = (None, {})
        self._dim = QTimer(self)
        self._dim.setSingleShot(True)
        self._dim.setInterval(DIM_AFTER_MS)
        self._dim.timeout.connect(self._on_slow)
        self._build()
        self._growing.stopped.connect(self.result.show_rest)
        self.result.restAsked.connect(self._growing.again)
        workbench.hub.finished.connect(self._on_finished)
        self.follow(workbench.changed)
        theme.changed.connect(self._on_theme)
        self._fit()
        self._refresh()

    # -- what the window asks

    def status(self) -> PanelStatus:
        """What the navigation shows."""
        if self._missing() is not None:
            return PanelStatus(Mark.OPEN, "")
        if self._bench.unread:
            return PanelStatus(Mark.ATTENTION, self.tr("to be corrected"))
        if self._bench.explore_problem is not None:
            if presenter.still_open(self._bench.method, self._bench.work):
                return PanelStatus()
            return PanelStatus(Mark.ATTENTION, self.tr("no result"))
        if self._bench.stale:
            known = self._bench.explored is not None
            return PanelStatus(Mark.STALE, self.tr("search again")) if known else PanelStatus()
        if self._view is None or self._view.supposed:
            return PanelStatus()
        if not self._view.feasible:
            if self._lacking_categories():
                return PanelStatus()
            return PanelStatus(Mark.ATTENTION, self.tr("not reached"))
        return PanelStatus(Mark.DONE, presenter.reached_words(self._bench.method))

    def can_run(self) -> bool:
        """Whether Ctrl+Enter would search or keep a candidate."""
        return self.can_keep() or self._can_search()

    def run(self) -> None:
        """Search when a search is due, else keep a candidate."""
        if self._can_search():
            self._search()
        elif self.can_keep():
            self.keep()

    def can_keep(self) -> bool:
        """Whether the present settings can be kept as a candidate (Ctrl+B)."""
        fits = self._view is not None and self._view.feasible and self._bench.data is not None
        return fits and not self._keep_job and not self._bench.stale and not self._bench.unread

    @Slot()
    def keep(self) -> None:
        """Keep the present settings for comparison."""
        if not self.can_keep():
            return
        same = presenter.kept_already(self._bench.work, self._bench.candidates)
        if same is not None:
            text = self.tr("These settings are already kept, as candidate {n}: {name}.")
            self._header.say(text.format(n=same.id, name=same.name))
            return
        if len(self._bench.candidates) >= COMPARE_AT_MOST:
            text = self.tr("{n} candidates are already kept. Remove one of them in Compare first.")
            self._header.say(f"△ {text.format(n=COMPARE_AT_MOST)}")
            return
        bench = self._bench
        name = presenter.candidate_name(bench.method, bench.work, bench.candidates)
        self._keep_job = bench.keep_candidate(name)
        self._update_buttons()

    def add_actions(self, actions: ActionSet) -> None:
        """Declare the panel's own actions in the window: Ctrl+B."""
        actions.add(
            ActionSpec(
                "protect.keep",
                self.tr("&Keep as candidate"),
                "run",
                "Ctrl+B",
                self.tr("Keep these settings for comparison"),
                "keep",
            ),
            self.keep,
            self.can_keep,
        )

    @property
    def busy(self) -> bool:
        """Whether a search or a view is on its way."""
        return self._bench.exploring or self._live.busy

    def guide_page(self) -> str:
        """The page of the guide that says more."""
        return self._bench.method.id if self._bench.method is not None else "protect"

    def explanation(self) -> str:
        """What F1 tells."""
        return explanation(self._bench.method)

    # -- building

    def _build(self) -> None:
        layout = column(self, margin=SPACE.l, gap=SPACE.m)
        self._header = ProtectHeader()
        self._header.keepAsked.connect(self.keep)
        self._header.placeAsked.connect(self.wantsPanel)
        layout.addWidget(self._header)
        self.settings = SettingsPane(self._bench.methods)
        self.settings.methodChosen.connect(self._on_method)
        self.settings.edited.connect(self._on_edited)
        self.settings.searchAgainAsked.connect(self._on_search_again)
        self.settings.paused.connect(self._on_paused)
        self.settings.read.connect(self._on_read)
        self.result = ResultPane(self._theme, self._bench.hub)
        self._private = PrivateSide(self._bench, self.settings, self.result, self)
        self.result.asked.connect(self._on_asked)
        self.result.placeAsked.connect(self.wantsPanel)
        self.result.strip.cancelAsked.connect(self._on_cancel)
        self._picking = Picking(self._bench, self.result, self._private, self)
        self._details = Details(self._bench, self.result.deck, self)
        self._right = QStackedWidget()
        area, self._page = SteadyArea(), QWidget()
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(self.result)
        lines = column(self._page, gap=SPACE.s)
        lines.addWidget(area, 1)
        lines.addWidget(self.result.strip)  # in sight wherever the rest is scrolled to
        self._right.addWidget(self._page)
        self._empties = {name: self._made_empty(name) for name in ("data", "attributes")}
        self._empties["hierarchies"] = self._made_empty("hierarchies")
        self.sides = Sides(
            self._theme,
            "protect",
            Side("settings", self.tr("Settings"), self.settings),
            Side("result", self.tr("Result"), self._right),
            self.settings.least_width,
        )
        self._header.add(self.sides.strip)
        self._header.add_buttons()
        layout.addWidget(self.sides, 1)

    def _made_empty(self, place: str) -> EmptyState:
        made = EmptyState(self._theme, place, "", "", ((place, place_words(place)),))
        made.triggered.connect(self.wantsPanel)
        self._right.addWidget(made)
        return made

    # -- state

    def _missing(self) -> Missing | None:
        """Asked often, so it is worked out once for a state."""
        bench = self._bench
        now = (bench.data, bench.loading, bench.work, bench.method)
        known = self._known_missing
        if known is None or any(a is not b for a, b in zip(known[0], now, strict=True)):
            columns = () if bench.data is None else bench.data.columns
            found = Situation(bool(columns), bench.loading, columns, bench.work, bench.method)
            known = self._known_missing = (now, what_is_missing(found))
        return known[1]

    def _can_search(self) -> bool:
        bench = self._bench
        running = bench.exploring and presenter.same_search(self._searched, bench.work)
        return bench.stale and not running and self._missing() is None and bench.method is not None

    def _search_if_wanted(self) -> bool:
        """Search by itself: not while paused, not again after a cancel or a failure.

        A failure that was a setting's is tried again with other settings. Whether it searches.
        """
        work, problem = self._bench.work, self._bench.explore_problem
        tried = presenter.same_search(self._searched, work) and not self._outdated()
        if problem is not None and "key" in problem.details and self._searched is not None:
            tried = tried and self._searched.parameters == work.parameters
        if self._paused or tried or not self._can_search():
            return False
        self._search()
        return True

    def _outdated(self) -> bool:
        """Whether the last search was finished, and was made for other settings than these."""
        found = self._bench.explored
        return found is not None and found.work == self._searched and self._bench.stale

    def _search(self) -> None:
        self._searched = self._bench.work
        self._bench.explore()

    def _refresh(self) -> None:
        """Show all that the workbench says."""
        bench, missing = self._bench, self._missing()
        self.settings.setEnabled(bench.data is not None)
        columns = () if bench.data is None else tuple(bench.data.columns)
        self.settings.show_work(bench.method, bench.work, columns, bench.level_names)
        if missing is not None:
            empty = self._empties[missing.panel]
            empty.set_texts(missing.title, missing.text)
            self._right.setCurrentWidget(empty)
            self._view = None
        else:
            self._right.setCurrentWidget(self._page)
            self._show_search()
        self._header.show_data(bench.data, possible=missing is None and not bench.unread)
        self._update_buttons()
        self._on_read()

    def _show_search(self) -> None:
        bench = self._bench
        self._follow_job()
        problem, reason = bench.explore_problem, self._stale_reason()
        # Pictures of another protection, which none will replace, would be taken for this one's.
        other = bench.explored is None or bench.explored.work.method != bench.work.method
        if bench.explored is None or (other and problem is not None):
            self._view = None
            self.result.clear()
        still_open = presenter.still_open(bench.method, bench.work)
        asked_for = bench.explore_problem is not None and "key" in bench.explore_problem.details
        if still_open and (asked_for or (problem is None and not bench.stale)):
            self._show_open(still_open)
            return
        self.result.deck.set_placeholder(reason or self.tr("Nothing to show yet."))
        if problem is not None:
            self._show_problem(problem)
        elif reason:
            self.result.deck.set_stale(True, reason)
            if not bench.exploring:
                action = ("search", self.tr("Search now") if bench.stale else self.tr("Draw now"))
                self.result.show_band("caution", reason, (action,))
        else:
            self._ask_view()

    def _show_open(self, still_open: presenter.StillOpen) -> None:
        """Say what has to be decided before there is something to show, and lead there."""
        self._view = None
        self._live.forget()
        self._dim.stop()
        self.result.clear()
        self.result.deck.set_placeholder(self.tr("Nothing to show yet."))
        self.result.deck.set_stale(False)
        self.result.show_band("info", still_open.text, self._way_to(still_open.key))
        self.viewed.emit(None)
        self._private.advise()

    def _way_to(self, key: str) -> tuple[tuple[str, str], ...]:
        """The button that brings the field of a setting in sight, where the form has it."""
        method = self._bench.method
        label = control_labels(method, ()).get(key) if method is not None else None
        if label is None or not self.settings.has_field(key):
            return ()
        return ((f"{_FIELD}{key}", self.tr("Show “{setting}”").format(setting=label)),)

    @Slot()
    def _follow_job(self) -> None:
        """Show the search, or the planning that takes long."""
        planning = self._live.job
        words = self.tr("Trying the settings") if planning else ""
        self.result.strip.follow(self._bench.explore_job or planning, words)

    def _stale_reason(self) -> str:
        """Why the pictures are not those of the settings; empty when they are or soon will be."""
        if self._bench.exploring:
            return self.tr("Searching all settings…")
        if self._bench.stale:
            return self.tr("Not searched yet for this state.")
        if self._paused and not self._shown():
            return self.tr("Paused: the settings have changed since.")
        if self._stopped == (self._bench.explored, dict(self._bench.work.parameters)):
            return self.tr("Stopped before it was done.")
        return ""

    def _shown(self) -> bool:
        """Whether the view is that of the present settings and search."""
        now = (self._bench.explored, dict(self._bench.work.parameters))
        return self._view is not None and self._view_of == now

    def _ask_view(self) -> None:
        explored = self._bench.explored
        if explored is None:
            return
        if self._shown() and not self._live.busy:
            self._show_view()
            return
        self._live.ask(explored, self._bench.work.parameters)
        if not self._dim.isActive():
            self._dim.start()

    def _show_view(self) -> None:
        if self._view is None:
            return
        self._dim.stop()
        if self.isVisible():
            self.result.show_view(self._view)
            if not self._ask_for_categories() and self._view.at:
                self.settings.show_field_error(self._view.at, self._view.sentence)
            explored = self._bench.explored
            advised = explored is not None and explored.advises
            self.result.deck.offer_page(EXAMPLE, offered=advised)
            old = unread_words(self._bench.unread) if self._bench.unread else ""
            self.result.deck.set_stale(bool(old), old)
            if old:
                self.result.show_band("caution", old)
        else:
            self.later(_DRAW)
        self.viewed.emit(self._view)

    def _lacking_categories(self) -> tuple[str, ...]:
        """The dimensions without categories, where these are what the settings lack."""
        form = self.settings.form
        asked = self._view is not None and self._view.at == "domains"
        return form.domains.missing if asked and isinstance(form, CubeForm) else ()

    def _ask_for_categories(self) -> bool:
        """Whether categories are missing; says which, and what can be done, in the form's words."""
        missing = self._lacking_categories()
        if not missing:
            return False
        text = self.tr(
            "Still to be declared: the categories of {names}. A private release must not learn "
            "them from the data."
        )
        action = (CATEGORIES, self.tr("Suggest categories…"))
        self.result.show_band("info", text.format(names=", ".join(missing)), (action,))
        return True

    def _show_problem(self, problem: JobFailed) -> None:
        """Say what went wrong, at the field where it went wrong, with a way out."""
        method, work = self._bench.method, self._bench.work
        sentence = problem.full
        # Settings that are wrong would fail again: there is no use in another search.
        wrong = problem.kind in ("input", "refused")
        actions: tuple[tuple[str, str], ...] = () if wrong else (("search", self.tr("Search now")),)
        place = problem_place(problem, method)
        if presenter.by_hand(method, work):
            actions = (("again", self.tr("Search again")),)
        elif place:
            actions = ((f"go:{place}", place_words(place)),)
        self._fix = presenter.role_that_fixes(problem.details)
        if self._fix is not None:
            names, role = self._fix
            words = self.tr("Set {column} to {role}")
            shown = words.format(column=", ".join(names), role=role_words(role))
            actions = ((FIX, shown), *actions)
        key = problem.details.get("key")
        if isinstance(key, str):
            actions = actions or self._way_to(key)
        self._dim.stop()
        self.result.deck.set_stale(True, self.tr("not for these settings"))
        self.result.show_band("fail", sentence, actions)
        if isinstance(key, str):
            self.settings.show_field_error(key, problem.sentence)

    def _update_buttons(self) -> None:
        kept = len(self._bench.candidates)
        self._header.show_keeping(possible=self.can_keep(), kept=kept)
        self.statusChanged.emit()

    # -- what the workbench and the jobs say

    def noted(self, changes: Changes) -> None:
        """Forget a search of another state; seen or not, know whether the settings reach it."""
        if changes & _OTHER:
            self._header.forget()  # what was said is of other settings
        if changes & _SEARCHED:
            self.result.show_marked("")
            self.result.deck.unmark()
        if changes & _SEARCHED and not presenter.same_search(self._searched, self._bench.work):
            self._searched = None
        if Aspect.DATA in changes and self._bench.stale and not self._bench.exploring:
            self._searched = None
        if not self.isVisible() and not changes <= _UNSEEN:
            self.settings.prepare(self._bench.method)
            if self._missing() is not None or self._bench.explored is None:
                self._view = None
            elif self._bench.explore_problem is None and not self._stale_reason():
                self._ask_view()

    def catch_up(self, changes: Changes) -> None:
        """Search when the last result is of another state, and show what is known."""
        if not changes <= _UNSEEN and not self._search_if_wanted():  # a search tells of itself
            self._refresh()

    @Slot()
    def _on_read(self) -> None:
        self._bench.set_unread(self.settings.unread)

    @Slot(object)
    def _on_view(self, answer: LiveAnswer) -> None:
        if answer.explored is not self._bench.explored or self._bench.explore_problem is not None:
            return
        self._view = answer.view
        self._view_of = (answer.explored, dict(answer.parameters))
        if self._paused and not self._shown():
            return
        self._show_view()
        if self._live.busy:
            self._dim.start()
        if answer.view.feasible or answer.view.supposed:
            self._private.advise()
            self._growing.follow(answer)
        self._update_buttons()

    @Slot(object)
    def _on_grown(self, answer: LiveAnswer) -> None:
        """Show what was added; where the budget was changed meanwhile, with the present one."""
        if answer.explored is not self._bench.explored:
            return
        if dict(answer.parameters) == dict(self._bench.work.parameters):
            self._on_view(answer)
        elif not self._paused:
            self._live.ask(answer.explored, self._bench.work.parameters)

    @Slot(object)
    def _on_view_failed(self, outcome: JobFailed) -> None:
        self._view = None
        self._show_problem(outcome)
        self._update_buttons()

    @Slot(object)
    def _on_view_stopped(self, wish: ViewRequest) -> None:
        self._stopped = (wish.explored, dict(wish.parameters))
        self._refresh()

    @Slot()
    def _on_slow(self) -> None:
        if self._live.busy:
            self.result.deck.set_stale(True, self.tr("drawing…"))

    @Slot(object)
    def _on_finished(self, outcome: JobOutcome) -> None:
        if outcome.job != self._keep_job:
            return
        self._keep_job = 0
        if isinstance(outcome, JobDone) and self._bench.candidates:
            kept = self._bench.candidates[-1]
            text = self.tr("✓ Kept as candidate {n}: {name}.").format(n=kept.id, name=kept.name)
            self._header.say(text)
        self._update_buttons()

    # -- what the user does

    @Slot(str)
    def _on_method(self, identifier: str) -> None:
        found = next((one for one in self._bench.methods if one.id == identifier), None)
        if found is not None and identifier != self._bench.work.method:
            self._bench.choose_method(found)

    @Slot(object, bool)
    def _on_edited(self, changes: Mapping[str, object], typing: bool) -> None:
        method = self._bench.method
        live = method is not None and set(changes) <= set(method.live)
        self._bench.apply(SetParameters(dict(changes)), merge=live or typing)

    @Slot(str)
    def _on_asked(self, what: str) -> None:
        if what == "remedy" and self._view is not None and self._view.remedy:
            self._bench.apply(SetParameters(dict(self._view.remedy)))
        elif what == FIX and self._fix is not None:
            names, role = self._fix
            self._bench.apply(SetRoles(dict.fromkeys(names, role)))
        elif what == CATEGORIES:
            self.settings.propose_categories()
        elif what.startswith(_FIELD):
            self.settings.show_field(what.removeprefix(_FIELD))
        elif what == "again":
            self._on_search_again()
        elif what == "search":
            self._stopped = (None, {})
            if self._bench.stale:
                self._search()
            else:
                self._ask_view()

    @Slot()
    def _on_search_again(self) -> None:
        keys = presenter.by_hand(self._bench.method, self._bench.work)
        if keys:
            self._searched = None
            self._bench.apply(SetParameters(dict.fromkeys(keys)))

    @Slot(bool)
    def _on_paused(self, paused: bool) -> None:
        self._paused = paused
        self._searched = self._searched if paused else None
        if paused or not self._search_if_wanted():
            self._refresh()

    @Slot()
    def _on_cancel(self) -> None:
        self._bench.hub.end(self._bench.explore_job or self._live.job)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out what the picture needs the room of."""
        super().resizeEvent(event)
        self._fit()

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self._fit()

    def _fit(self) -> None:
        self.result.set_compact(self.height() < self._theme.theme.ems(COMPACT_EMS))

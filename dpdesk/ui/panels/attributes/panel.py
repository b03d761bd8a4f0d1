"""The attributes panel: a role for every column, and the risk that follows from the roles."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from dpdesk.app.types import Role, SetPseudonym, SetRoles, SetSource
from dpdesk.core.messages import msg
from dpdesk.core.pseudonyms import PseudonymSpec
from dpdesk.core.source_spec import Coarsened
from dpdesk.ui.charts import ChartView
from dpdesk.ui.jobs import JobFailed, JobHub
from dpdesk.ui.panels.attributes.presenter import (
    LETTERS,
    Answered,
    KeysHere,
    Question,
    Row,
    asked_k,
    caution,
    coarser_source,
    count_risk,
    filtered,
    has_numbers,
    keys_here,
    line,
    meaning,
    next_role,
    note,
    quasi_identifiers,
    rows_of,
    status,
    suggestions,
)
from dpdesk.ui.panels.attributes.view import (
    AttributeGrid,
    AttributesModel,
    CoarseningCard,
    PseudonymCard,
)
from dpdesk.ui.shell import Panel, PanelStatus
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import EmptyState, MessageBand, StepHeader, column
from dpdesk.ui.widgets.layouts import FlowBox, PageStack
from dpdesk.ui.widgets.states import RoomyLine
from dpdesk.ui.widgets.turning import SideArea, TurningSplitter
from dpdesk.ui.words.numbers import short_name
from dpdesk.ui.words.settings import drawn_columns, role_words
from dpdesk.ui.words.spoken import said
from dpdesk.ui.workbench import Aspect, Changes, Workbench


class RoleButtons(FlowBox):
    """One button per role with its key; ``asked(Role)``."""

    asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, gap=SPACE.xs)
        self.setAccessibleName(self.tr("Set the role of the chosen columns"))
        self.add(QLabel(self.tr("Role:")))
        self.buttons: dict[Role, QPushButton] = {}
        for letter, role in LETTERS.items():
            button = QPushButton(f"{role_words(role)} ({letter})")
            set_look(button, "tight")
            button.setProperty("role", role.value)
            button.setAccessibleName(button.text())
            button.setToolTip(
                self.tr("{meaning} Key {letter} in the table.").format(
                    meaning=meaning(role), letter=letter
                )
            )
            button.clicked.connect(self._on_clicked)
            self.buttons[role] = button
            self.add(button)

    @Slot()
    def _on_clicked(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.asked.emit(Role(str(sender.property("role"))))


class ColumnCard(QFrame):
    """Name, role, what it means, and why it was suggested."""

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "card")
        layout = column(self, margin=SPACE.m, gap=SPACE.xs)
        self._name, self._role, self._reason = QLabel(), QLabel(), QLabel()
        self._warning = QLabel()
        set_look(self._name, "strong")
        set_look(self._reason, "note")
        set_look(self._warning, "caution")
        for label in (self._name, self._role, self._warning, self._reason):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            layout.addWidget(label)
        self.show_rows(())

    def show_rows(self, rows: tuple[Row, ...]) -> None:
        """Describe the chosen columns."""
        self._warning.hide()
        self._reason.hide()
        if len(rows) != 1:
            none = self.tr("No column is chosen")
            many = self.tr("{count} columns are chosen").format(count=len(rows))
            self._name.setText(many if rows else none)
            hint = self.tr("A role button, a letter or a digit changes all of them at once.")
            choose = self.tr("Choose one or several columns to set their roles.")
            self._role.setText(hint if rows else choose)
            return
        row = rows[0]
        self._name.setText(self._title(row))
        shown = row.shown
        self._role.setText(note(row) if row.drawn else "" if shown is None else meaning(shown))
        if row.warning:
            self._warning.setText(f"△ {row.warning}")
            self._warning.show()
        if row.profile is not None and row.role is not row.suggested:
            why = self.tr("Why suggested: {reason}")
            if row.role is None:
                why = self.tr("Why suggested: {reason} Space confirms it.")
            self._reason.setText(why.format(reason=said(row.profile.suggestion.reason)))
            self._reason.show()

    def _title(self, row: Row) -> str:
        if row.role is not None:
            return msg("{file}: {note}", file=short_name(row.name), note=role_words(row.role))
        if row.suggested is None:
            return short_name(row.name)
        text = self.tr("{name}: {role}?")
        return text.format(name=short_name(row.name), role=role_words(row.suggested))


CHANNEL = "attributes.risk"
PATIENCE_MS = 200


class RiskPicture(QWidget):
    """A chart that follows the roles; the last picture is dimmed while a new one is counted."""

    def __init__(self, hub: JobHub, theme: ThemeManager) -> None:
        super().__init__()
        self._hub = hub
        self._asked: Question | None = None
        layout = column(self, gap=SPACE.xs)
        self.band = MessageBand(theme)
        self.chart = ChartView(theme)
        self.chart.keep_answer()
        self._assumption = QLabel(
            self.tr(
                "Assumes someone who knows these values of a person, knows that the person is "
                "in the table, and knows nothing else."
            )
        )
        self._assumption.setWordWrap(True)
        set_look(self._assumption, "note")
        layout.addWidget(self.chart, 1)
        layout.addWidget(self.band)
        layout.addWidget(self._assumption)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MS)
        self._patience.timeout.connect(self._on_patience)
        self._needed = True
        self._show_nothing()

    @property
    def asked(self) -> Question | None:
        """What was asked last."""
        return self._asked

    def ask(self, question: Question | None, *, needed: bool = True) -> None:
        """Show the risk for a question; None when nothing is tagged, which may be ``needed``."""
        if question == self._asked and (question is not None or needed == self._needed):
            return
        self._asked, self._needed = question, needed
        self.band.clear()
        if question is None:
            self._hub.latest(CHANNEL).cancel()
            self._show_nothing()
            return
        self._patience.start()
        self.chart.set_placeholder(self.tr("Counting…"))
        self._hub.latest(CHANNEL).query(
            self.tr("Counting how many rows are alike"),
            partial(count_risk, question),
            then=self._on_risk,
            failed=self._on_failed,
        )

    def _show_nothing(self) -> None:
        self._patience.stop()
        self.chart.set_stale(False)
        self.chart.set_chart(None)
        words = self.tr("Mark a quasi-identifier to see the risk")
        if not self._needed:
            words = self.tr(
                "The chosen protection needs no quasi-identifier. Mark one to see the risk of rows "
                "that are published as they are."
            )
        self.chart.set_placeholder(words)
        self._assumption.hide()

    def _on_risk(self, found: Answered) -> None:
        if found.question == self._asked:
            self._patience.stop()
            self.chart.set_stale(False)
            self.chart.set_chart(found.risk.chart)
            self._assumption.show()

    def _on_failed(self, outcome: JobFailed) -> None:
        self._patience.stop()
        self.chart.set_stale(True)
        self.band.show_error(outcome)

    @Slot()
    def _on_patience(self) -> None:
        self.chart.set_stale(True, self.tr("counting…"))


_FOLLOWED = {Aspect.DATA, Aspect.PROFILE, Aspect.ROLES, Aspect.METHOD, Aspect.PARAMETERS}


class AttributesPanel(Panel):
    """Step 2."""

    def __init__(self, workbench: Workbench, theme: ThemeManager) -> None:
        super().__init__()
        self._workbench = workbench
        self._rows: list[Row] = []
        self._qis: tuple[str, ...] = ()
        self._stale_rows = True
        self._stack = PageStack()
        column(self, margin=SPACE.l).addWidget(self._stack)
        self.empty = EmptyState(
            theme,
            "attributes",
            self.tr("Open a table first"),
            self.tr("Then say here what each of its columns is."),
            (("data", self.tr("Go to &Data")),),
        )
        self.empty.triggered.connect(self.wantsPanel)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self._build(theme))
        self.follow(workbench.changed)
        self.take(frozenset(Aspect))

    # ---- building

    def _build(self, theme: ThemeManager) -> QWidget:
        page = QWidget()
        layout = column(page, gap=SPACE.m)
        title = self.tr("What does each column say about a person?")
        self._header = StepHeader(2, title, "")
        self._header.add(self._build_next())
        layout.addWidget(self._header)
        self.band = MessageBand(theme)
        self.model = AttributesModel(self)
        self.grid = AttributeGrid(theme, self.tr("Columns and their roles"))
        self.grid.setModel(self.model)
        self.risk = RiskPicture(self._workbench.hub, theme)
        self.card, self.pseudonym = ColumnCard(), PseudonymCard()
        self.coarsening = CoarseningCard()
        self.buttons = RoleButtons()
        left, right = self._build_left(), self._build_right(theme)
        parts = TurningSplitter("attributes", (left, right), (1, 0))
        parts.turned.connect(right.set_stacked)
        layout.addWidget(parts, 1)
        layout.addWidget(self.band)  # below: it comes up while roles are being clicked
        layout.addWidget(self._build_keys())
        self.grid.roleAsked.connect(self._on_role)
        self.grid.cycleAsked.connect(self._on_cycle)
        self.grid.rowsChosen.connect(self._on_rows)
        self.buttons.asked.connect(self._on_role)
        self.pseudonym.changed.connect(self._on_pseudonym)
        self.pseudonym.keyAsked.connect(self._on_key)
        self.coarsening.changed.connect(self._on_coarser)
        return page

    def _build_left(self) -> QWidget:
        left = QWidget()
        layout = column(left, gap=SPACE.s)
        layout.setContentsMargins(0, 0, SPACE.s, 0)
        tools = FlowBox(gap=SPACE.s)
        label = QLabel(self.tr("Fi&lter"))
        self.filter = RoomyLine()
        self.filter.setClearButtonEnabled(True)
        self.filter.setPlaceholderText(self.tr("name, role or type"))
        self.filter.setToolTip(self.tr("Show only columns whose name, role or type contains this"))
        self.filter.setAccessibleName(self.tr("Filter columns"))
        self.filter.textChanged.connect(self._fill)
        label.setBuddy(self.filter)
        self.accept_button = QPushButton()
        self.accept_button.clicked.connect(self._on_accept)
        for widget in (label, self.filter, self.accept_button):
            tools.add(widget)
        layout.addWidget(tools)
        layout.addWidget(self.buttons)
        layout.addWidget(self.grid, 1)
        return left

    def _build_right(self, theme: ThemeManager) -> SideArea:
        tip = self.tr("The chosen columns, and how risky the table is with the roles so far")
        right = SideArea(theme, self.tr("Chosen columns and risk"), tip)
        right.add(self.card)
        right.add(self.pseudonym)
        right.add(self.coarsening)
        right.add(self.risk, tall=True)
        return right

    def _build_next(self) -> QPushButton:
        self.next_button = QPushButton(self.tr("Ne&xt: hierarchies"))
        self.next_button.clicked.connect(self._on_next)
        return self.next_button

    def _build_keys(self) -> QLabel:
        keys = QLabel(
            self.tr(
                "Dotted: a suggestion, which does nothing until it is confirmed. In the table: "
                "Space confirms or goes to the next role; I Q S N W C or 1 to 6 set it; Shift and "
                "Ctrl choose several."
            )
        )
        keys.setWordWrap(True)
        set_look(keys, "note")
        return keys

    # ---- what the window asks

    @property
    def rows(self) -> tuple[Row, ...]:
        """All columns, filtered or not."""
        self._settle()
        return tuple(self._rows)

    def status(self) -> PanelStatus:
        """Done when there is a quasi-identifier and nothing is doubtful; only what is needed."""
        self._settle()
        return status(self._rows, len(self._qis), needed=self._workbench.generalises)

    def point_at(self, column: str) -> None:
        """Choose the row of a column."""
        names = [each.name for each in self.model.rows]
        if column in names:
            self.grid.choose_rows(names.index(column))
            self.grid.setFocus()

    def first_focus(self) -> QWidget:
        """The table, where Space confirms the suggestions."""
        return self.grid

    def can_run(self) -> bool:
        """Whether there is something to go on with."""
        self._settle()
        return bool(self._qis)

    def run(self) -> None:
        """Go on."""
        if self.can_run():
            self._on_next()

    def guide_page(self) -> str:
        """The page of the guide that says more."""
        return "roles"

    def explanation(self) -> str:
        """What F1 tells."""
        return self.tr(
            "Identifiers point to one person by themselves; they are left out of a release, or "
            "kept as pseudonyms where rows must be linked.\n\nQuasi-identifiers are what "
            "others may know: age, sex, place, occupation. Together they may point to one "
            "person, so they are made coarser until people hide in groups.\n\nSensitive "
            "columns are what people want kept private. Insensitive ones are released as they "
            "are, so choose that role with care.\n\nA weight says how many people a row of a "
            "sample represents. A cluster says which rows belong together, such as those of "
            "one household. Where rows are released, both stay unchanged.\n\nThe picture "
            "counts how many rows are alike on the quasi-identifiers. A row that is like no "
            "other is unique: anyone who knows these facts finds the person.\n\nKeys in the "
            "table: Space confirms a suggestion or goes to the next role; I, Q, S, N, W and C, "
            "or 1 to 6, set it; with Shift or Ctrl several columns are chosen."
        )

    # ---- reactions

    def noted(self, changes: Changes) -> None:
        """Other rows may follow from this."""
        if changes & _FOLLOWED:
            self._stale_rows = True

    def catch_up(self, changes: Changes) -> None:
        """List the columns as they are now."""
        if changes & _FOLLOWED:
            self._settle()
            self._show()
            self.statusChanged.emit()

    def _settle(self) -> None:
        """Work out what is listed, when something asks for it."""
        if not self._stale_rows:
            return
        self._stale_rows = False
        bench = self._workbench
        columns = () if bench.data is None else bench.data.columns
        drawn = drawn_columns(bench.context.registry.about(bench.work.method), bench.work)
        self._rows = rows_of(
            columns, bench.profile, bench.work, drawn, released=bench.releases_rows
        )
        self._qis = quasi_identifiers(columns, bench.work)

    def _show(self) -> None:
        data = self._workbench.data
        self._stack.setCurrentIndex(0 if data is None else 1)
        self._fill()
        question = None
        if data is not None and self._qis:
            question = Question(data, self._qis, asked_k(self._workbench.work))
        self.risk.ask(question, needed=self._workbench.generalises)

    def _fill(self) -> None:
        shown = filtered(self._rows, self.filter.text())
        fresh = [each.name for each in shown] != [each.name for each in self.model.rows]
        counted = any(each.profile is not None for each in shown) and not any(
            each.profile is not None for each in self.model.rows
        )
        self.model.set_rows(shown)
        if fresh and shown:
            self.grid.choose_rows(0)
        if counted:
            self.grid.fit_columns()
        self._header.set_line(line(self._rows, len(self._qis)))
        text = caution(self._rows, len(self._qis), needed=self._workbench.generalises)
        if not text:
            self.band.clear()
        elif text != self.band.text:
            self.band.show_message("caution", text, dismissible=False)
        self._offer()
        self._on_rows()

    def _offer(self) -> None:
        waiting = len(suggestions(self._rows))
        text = self.tr("&Accept {count} suggestions").format(count=waiting)
        self.accept_button.setText(text)
        self.accept_button.setEnabled(bool(waiting))
        self.accept_button.setVisible(bool(waiting))
        self.accept_button.setToolTip(
            self.tr(
                "Give every column without a role the one that is suggested; one undo takes it back"
            )
        )
        needed = self._workbench.generalises and not self._qis
        self.next_button.setEnabled(not needed)
        self.next_button.setToolTip(
            self.tr("Continue: say how values may become coarser (Ctrl+3)")
            if not needed
            else self.tr("Mark at least one quasi-identifier first")
        )
        set_look(self.accept_button, "" if self._qis else "primary")
        set_look(self.next_button, "primary" if self._qis else "")

    def _chosen(self) -> tuple[Row, ...]:
        rows = self.model.rows
        return tuple(rows[number] for number in self.grid.chosen() if number < len(rows))

    @Slot()
    def _on_rows(self) -> None:
        chosen = self._chosen()
        self.card.show_rows(chosen)
        only = chosen[0] if len(chosen) == 1 and chosen[0].role is Role.IDENTIFIER else None
        name = "" if only is None else only.name
        if name and name != self.pseudonym.column:
            self._ask_keys()  # another window may have made or deleted one
        self.pseudonym.show_column(name, self._workbench.work.pseudonym(name))
        self._show_coarsening(chosen)
        for button in self.buttons.buttons.values():
            button.setEnabled(bool(chosen))

    def _show_coarsening(self, chosen: tuple[Row, ...]) -> None:
        source, method = self._workbench.work.source, self._workbench.method
        given = {} if source is None else dict(source.coarsen)
        takes = method is None or method.capabilities.takes_coarsened
        names = [row.name for row in chosen if row.name in given or (takes and has_numbers(row))]
        name = names[0] if len(chosen) == 1 and names else ""
        self.coarsening.show_column(name, given.get(name))

    @Slot(object)
    def _on_coarser(self, numbers: Coarsened | None) -> None:
        source, name = self._workbench.work.source, self.coarsening.column
        if source is not None and name:
            what = msg("{column}: numbers made coarser", column=name)
            self._workbench.apply(SetSource(coarser_source(source, name, numbers), what=what))

    @Slot(object)
    def _on_role(self, role: Role) -> None:
        self._give({each.name: role for each in self._chosen()})

    @Slot(object)
    def _on_pseudonym(self, spec: PseudonymSpec | None) -> None:
        chosen = self._chosen()
        if len(chosen) == 1:
            self._workbench.apply(SetPseudonym(chosen[0].name, spec))

    def _ask_keys(self) -> None:
        self._workbench.hub.latest("attributes.keys").query(
            self.tr("Reading the keys of pseudonyms"),
            partial(keys_here, self._workbench.context),
            then=self._on_keys,
            quiet=True,
        )

    @Slot(str)
    def _on_key(self, name: str) -> None:
        self._workbench.hub.mutate(
            self.tr("Making a key"),
            partial(keys_here, self._workbench.context, made=name),
            then=self._on_keys,
            failed=self._on_no_key,
        )

    @Slot(object)
    def _on_keys(self, found: KeysHere) -> None:
        self.pseudonym.show_keys(found.names, found.made)

    @Slot(object)
    def _on_no_key(self, outcome: JobFailed) -> None:
        self.pseudonym.show_problem(outcome.full)

    @Slot()
    def _on_cycle(self) -> None:
        chosen = self._chosen()
        if len(chosen) > 1 and all(each.role is not None for each in chosen):
            role = next_role(chosen[0])
            self._give({each.name: role for each in chosen})
        elif len(chosen) > 1:
            self._give({each.name: next_role(each) for each in chosen if each.role is None})
        else:
            self._give({each.name: next_role(each) for each in chosen})

    @Slot()
    def _on_accept(self) -> None:
        self.grid.setFocus()  # the button goes grey; the next one would change a role
        self._give(suggestions(self._rows))

    def _give(self, roles: Mapping[str, Role]) -> None:
        if roles:
            self._workbench.apply(SetRoles(dict(roles)))

    @Slot()
    def _on_next(self) -> None:
        self.wantsPanel.emit("hierarchies")

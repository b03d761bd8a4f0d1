"""The guide in a window beside the main one: tasks, methods, words, and a way to a method."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QFrame,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from dpdesk.app.guide import (
    ATTACKERS,
    CHOOSER,
    READERS,
    TOPICS,
    GuidePage,
    Proposal,
    found,
    guide_pages,
    proposals,
)
from dpdesk.core.method_card import Attacker, Reader
from dpdesk.ui.theme import SPACE, Theme, ThemeManager
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import FlowBox, FrontStack, SteadyArea, card, splitter
from dpdesk.ui.widgets.states import LonelyBrowser, button, note
from dpdesk.ui.windows.base import SideWindow
from dpdesk.ui.words.spoken import said, window_language
from dpdesk.ui.workbench import Workbench

translate = QCoreApplication.translate
_PAGE = Qt.ItemDataRole.UserRole


class GuideWindow(SideWindow):
    """Lists pages, finds them by their words, shows one, and asks what leads to a method.

    ``methodAsked(str)`` names a method that is to be chosen for the data that are open.
    """

    methodAsked = Signal(str)
    room = (120, 32)
    least = (60, 18)

    def __init__(
        self, bench: Workbench, theme: ThemeManager, parent: QWidget | None = None
    ) -> None:
        super().__init__(bench.hub, theme, parent)
        self._pages = guide_pages(bench.methods, window_language())
        self.setWindowTitle(self.tr("Guide – DPDesk"))
        self.setAccessibleName(self.tr("Guide"))
        layout = column(self, margin=SPACE.l, gap=SPACE.m)
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Search the guide"))
        self.search.setAccessibleName(self.tr("Search the guide"))
        self.search.setToolTip(self.tr("List only pages that contain all of these words"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._list)
        self.pages = QTreeWidget()
        self.pages.setHeaderHidden(True)
        self.pages.setAccessibleName(self.tr("Pages of the guide"))
        self.pages.setToolTip(self.tr("Arrow keys choose a page"))
        self.pages.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.pages.currentItemChanged.connect(self._on_chosen)
        self.none = note("", "note")
        left = QWidget()
        beside = column(left, gap=SPACE.s)
        for part in (self.search, self.none, self.pages):
            beside.addWidget(part)
        self.text = LonelyBrowser()
        self.text.setOpenLinks(False)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(self.tr("Page"))
        self.text.setToolTip(self.tr("The page that is chosen in the list"))
        self.text.anchorClicked.connect(self._on_link)
        self.chooser = Chooser(bench)
        self.chooser.cardAsked.connect(self.show_page)
        self.chooser.methodAsked.connect(self.methodAsked)
        self._stack = FrontStack()
        self._scroll = SteadyArea()
        self._scroll.setWidget(self.chooser)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        for page in (self.text, self._scroll):
            self._stack.addWidget(page)
        self._splitter = splitter("guide", (left, self._stack), (0, 1))
        layout.addWidget(self._splitter, 1)
        self._list()
        self.show_page(self._pages[0].id)
        self.follow_theme(theme)

    def present(self, page: str = "") -> None:
        """Show the window in front; a page where one is named."""
        if page:
            self.show_page(page)
        self.bring_in_front()
        self.search.setFocus()

    @property
    def page(self) -> str:
        """The id of the page that is shown."""
        item = self.pages.currentItem()
        return "" if item is None else str(item.data(0, _PAGE) or "")

    @property
    def listed(self) -> tuple[str, ...]:
        """Ids of the pages that are listed, in order."""
        return tuple(self._items)

    @Slot(str)
    def show_page(self, page: str) -> None:
        """Show a page by its id; all are listed again where the search has left it out."""
        item = self._items.get(page)
        if item is None:
            self.search.clear()
            item = self._items.get(page)
        if item is not None:
            self.pages.setCurrentItem(item)

    @Slot()
    def _list(self) -> None:
        present, words = self.page, self.search.text()
        hits = found(self._pages, words)
        self.pages.clear()
        self._items: dict[str, QTreeWidgetItem] = {}
        groups: dict[str, QTreeWidgetItem] = {}
        if not words.strip():
            self._add(groups, self.tr("Begin here"), CHOOSER, self.tr("Which method fits?"), "")
        for hit in hits:
            self._add(groups, hit.page.group, hit.page.id, hit.page.title, hit.place)
        self.none.setText("" if hits else self.tr("No page contains these words."))
        self.none.setVisible(not hits)
        wanted = self._items.get(present) or next(iter(self._items.values()), None)
        if wanted is not None:
            self.pages.setCurrentItem(wanted)

    def _add(
        self, groups: dict[str, QTreeWidgetItem], group: str, page: str, title: str, place: str
    ) -> None:
        if group not in groups:
            groups[group] = QTreeWidgetItem(self.pages, [group])
            groups[group].setFlags(Qt.ItemFlag.ItemIsEnabled)
            groups[group].setExpanded(True)
        item = QTreeWidgetItem(groups[group], [title])
        item.setData(0, _PAGE, page)
        item.setToolTip(0, place or title)
        self._items[page] = item

    @Slot(QTreeWidgetItem, QTreeWidgetItem)
    def _on_chosen(self, item: QTreeWidgetItem | None, _before: QTreeWidgetItem | None) -> None:
        identifier = "" if item is None else str(item.data(0, _PAGE) or "")
        page = next((one for one in self._pages if one.id == identifier), None)
        if identifier == CHOOSER:
            self._stack.setCurrentWidget(self._scroll)
        elif page is not None:
            self._show_text(page)

    def _show_text(self, page: GuidePage) -> None:
        self.text.setMarkdown(page.text)
        self.text.moveCursor(self.text.textCursor().MoveOperation.Start)
        self._stack.setCurrentWidget(self.text)
        words = self.search.text().split()
        if words:
            self.text.find(words[0])

    @Slot(QUrl)
    def _on_link(self, link: QUrl) -> None:
        if link.scheme() == "page":
            self.show_page(link.path())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the list the room of its titles, but not more than half of it."""
        super().resizeEvent(event)
        width = event.size().width()
        left = min(self._titles, width // 2)
        self._splitter.setSizes([left, width - left])

    def fit(self, theme: Theme) -> None:
        """Fit the parts to the theme."""
        self.pages.setIndentation(theme.ems(1))
        self.pages.setMinimumWidth(theme.ems(15))
        letters = QFontMetrics(theme.font())
        widest = max(letters.horizontalAdvance(page.title) for page in self._pages)
        self._titles = widest + theme.ems(6)
        self.text.document().setDocumentMargin(SPACE.l)
        self.text.setFont(theme.font())


class Chooser(QWidget):
    """Three questions, and the methods that answer them, those that fit first.

    ``cardAsked(str)`` names a method whose card is to be shown, ``methodAsked(str)`` one that is to
    be chosen for the data.
    """

    cardAsked = Signal(str)
    methodAsked = Signal(str)

    def __init__(self, bench: Workbench) -> None:
        super().__init__()
        self._bench = bench
        self._layout = column(self, margin=SPACE.m, gap=SPACE.m)
        self._layout.addWidget(note(self.tr("Which method fits?"), "headline"))
        self._groups: list[QButtonGroup] = []
        topics = {choice.id: choice.label for choice in TOPICS}
        self._ask(self.tr("What do you want to publish?"), topics)
        self._ask(self.tr("For whom?"), {one.value: READERS[one] for one in READERS})
        against = {one.value: ATTACKERS[one] for one in ATTACKERS}
        self._ask(self.tr("Against whom should people be protected?"), against)
        self.answer = note("", "answer")
        self._layout.addWidget(self.answer)
        self._results = QWidget()
        self._cards = column(self._results, gap=SPACE.s)
        self._layout.addWidget(self._results)
        self._layout.addStretch(1)
        self._uses: list[QPushButton] = []
        bench.changed.connect(self._on_changed)
        self._show()

    @property
    def proposed(self) -> tuple[Proposal, ...]:
        """What is proposed, in order."""
        topic, reader, attacker = map(_checked, self._groups)
        return proposals(self._bench.methods, topic, Reader(reader), Attacker(attacker))

    def _ask(self, question: str, answers: Mapping[str, str]) -> None:
        group = QButtonGroup(self)
        box = QWidget()
        box.setAccessibleName(question)
        within = column(box, gap=SPACE.xs)
        within.addWidget(note(question, "section"))
        for key, words in answers.items():
            made = QRadioButton(said(words))
            made.setProperty("choice", key)
            made.setAccessibleName(made.text())
            made.setToolTip(f"{question} {made.text()}")
            made.setChecked(not group.buttons())
            group.addButton(made)
            within.addWidget(made)
        group.buttonClicked.connect(self._show)
        self._groups.append(group)
        self._layout.addWidget(box)

    @Slot()
    def _on_changed(self) -> None:
        for one in self._uses:
            self._allow(one)

    def _allow(self, use: QPushButton) -> None:
        there = self._bench.data is not None
        use.setEnabled(there)
        tip = self.tr("Choose {method} in Protect; one undo takes it back")
        use.setToolTip(
            tip.format(method=use.property("method")) if there else self.tr("Open a table first")
        )

    @Slot()
    def _show(self) -> None:
        self._uses.clear()
        while (old := self._cards.takeAt(0)) is not None:
            widget = old.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        proposed = self.proposed
        self.answer.setText(answer_words(sum(one.fits for one in proposed)))
        for one in proposed:
            self._cards.addWidget(self._card(one))

    def _card(self, proposal: Proposal) -> QFrame:
        method = proposal.method
        name = said(method.title)
        title = note(("✓ " if proposal.fits else "△ ") + name, "section")
        about = note(" ".join(map(said, proposal.against)) or said(method.summary))
        tip = self.tr("What {method} protects against, and what it does not").format(method=name)
        read = button(self.tr("Read its card"), tip)
        read.clicked.connect(lambda: self.cardAsked.emit(method.id))
        use = button(self.tr("Use it for the data"), "", "primary" if proposal.fits else "")
        use.clicked.connect(lambda: self.methodAsked.emit(method.id))
        use.setProperty("method", name)
        self._uses.append(use)
        self._allow(use)
        for one in (read, use):
            one.setAccessibleName(f"{one.text()}: {name}")
        buttons = FlowBox(gap=SPACE.s)
        buttons.add(read)
        buttons.add(use)
        return card(title, about, buttons)


def _checked(group: QButtonGroup) -> str:
    found_one: QAbstractButton | None = group.checkedButton()
    return "" if found_one is None else str(found_one.property("choice"))


def answer_words(fitting: int) -> str:
    """One sentence on how many methods fit."""
    if not fitting:
        return translate("Chooser", "No method does all of this. What speaks against each:")
    if fitting == 1:
        return translate("Chooser", "One method does this:")
    text = translate("Chooser", "{n} methods do this; their cards say how they differ:")
    return text.format(n=fitting)

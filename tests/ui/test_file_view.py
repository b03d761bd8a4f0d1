"""Files next to a decision: a PDF is shown as the page that was printed, and can be opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from pytestqt.qtbot import QtBot

from dpdesk.app.review.review_picture import look_at_file
from dpdesk.core.jobs import CancelToken
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.review import decide_page
from dpdesk.ui.panels.review.decide_page import FileView
from dpdesk.ui.theme import ThemeManager


class _Desktop:
    """Stands for the desktop: keeps what is opened."""

    def __init__(self, *, willing: bool) -> None:
        self.willing = willing
        self.opened: list[Path] = []

    def openUrl(self, url: QUrl) -> bool:
        self.opened.append(Path(url.toLocalFile()))
        return self.willing


@pytest.mark.parametrize("printed", [True, False])
@pytest.mark.parametrize("willing", [True, False])
def test_a_pdf_is_shown_as_its_page_and_opened_by_a_button(
    qtbot: QtBot,
    theme: ThemeManager,
    hub: JobHub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    printed: bool,
    willing: bool,
) -> None:
    desktop = _Desktop(willing=willing)
    monkeypatch.setattr(decide_page, "QDesktopServices", desktop)
    (tmp_path / "report.pdf").write_bytes(b"%PDF-1.7 ...")
    if printed:
        (tmp_path / "report.html").write_text("<p>Of 20 rows, 19 are kept.</p>")
    view = FileView(theme, hub)
    qtbot.addWidget(view)
    view.show()
    view.show_file(look_at_file(tmp_path, "report.pdf", CancelToken()))
    assert view.page.isVisible() is printed
    assert ("20 rows" in view.page.toPlainText()) is printed
    assert ("byte for byte" in view.note.text()) is printed
    view.open.click()
    assert desktop.opened == [tmp_path / "report.pdf"]
    assert ("No program was found" in view.note.text()) is not willing
    (tmp_path / "notes.txt").write_text("plain")
    view.show_file(look_at_file(tmp_path, "notes.txt", CancelToken()))
    assert view.open.isHidden()

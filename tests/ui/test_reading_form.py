"""The form of the reading dialog: titles, escapes and rows without any value."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from dpdesk.core.plan import SourceSpec
from dpdesk.io.preview import preview_source
from dpdesk.ui.jobs.hub import failure
from dpdesk.ui.panels.data.reading import ReadingForm


@pytest.fixture
def form(qtbot: QtBot) -> ReadingForm:
    made = ReadingForm()
    qtbot.addWidget(made)
    return made


def shown(form: ReadingForm, folder: Path, text: str, **options: object) -> None:
    (folder / "t.csv").write_text(text)
    spec = SourceSpec("t.csv", **options)  # type: ignore[arg-type]
    form.set_source(spec)
    form.show()
    found = preview_source(spec, folder)
    form.show_detected(found.reading)
    if found.problem is not None:
        form.offer_remedy(failure(0, "Reading", found.problem))


def test_detected_titles_and_escapes_are_shown(form: ReadingForm, tmp_path: Path) -> None:
    shown(form, tmp_path, 'Table 1,,\nregion,year,n\n"a \\"b\\"",2019,5\nc,2020,7\n')
    assert form.skip.currentText() == "1, detected"
    assert form.escape.currentText() == "backslash (\\), detected"
    assert form.source() == SourceSpec("t.csv")
    assert not form.remedy.isVisible()


@pytest.mark.parametrize(
    ("text", "options", "words", "key", "value"),
    [
        ("Place,,Total\nregion,year,n\na,2019,5\n", {}, "Lines above the table: 1", "skip", 1),
        ('a,b\n"x,1\ny,"2\nz,3\n', {}, "Quotes: none", "quote", ""),
        (
            "a;b\nx;1,5\ny;2\nz;3,5\n",
            {"delimiter": ","},
            "Delimiter: semicolon",
            "delimiter",
            ";",
        ),
    ],
)
def test_the_option_that_reads_a_refused_file_is_one_click_away(
    qtbot: QtBot,
    form: ReadingForm,
    tmp_path: Path,
    text: str,
    options: dict[str, object],
    words: str,
    key: str,
    value: object,
) -> None:
    shown(form, tmp_path, text, **options)
    assert form.remedy.text() == words
    with qtbot.waitSignal(form.edited):
        qtbot.mouseClick(form.remedy, Qt.MouseButton.LeftButton)
    assert getattr(form.source(), key) == value
    assert not form.remedy.isVisible()
    assert preview_source(form.source(), tmp_path).problem is None


def test_rows_without_any_value_are_kept_on_demand(form: ReadingForm, tmp_path: Path) -> None:
    shown(form, tmp_path, "a,b\n1,2\n,\n")
    assert form.source().empty_rows is None
    form.empty_rows.click()
    assert form.source().empty_rows == "keep"
    assert len(preview_source(form.source(), tmp_path).rows) == 2
    form.set_source(SourceSpec("t.csv", empty_rows="skip", skip=7, escape="\\"))
    assert form.source() == SourceSpec("t.csv", empty_rows="skip", skip=7, escape="\\")


@pytest.mark.parametrize("typed", ["x", "-1", "1.5", "99999999"])
def test_what_is_no_number_of_lines_is_not_taken(
    form: ReadingForm, tmp_path: Path, typed: str
) -> None:
    shown(form, tmp_path, "a,b\n1,2\n")
    form.skip.setEditText(typed)
    assert form.source().skip is None


@pytest.mark.parametrize(
    "source",
    [
        SourceSpec("t.csv", missing=(" ",)),
        SourceSpec("t.csv", missing=("", " x ", "\u00a0", 'a "b", c')),
        SourceSpec("t.xlsx", table=" t "),
        SourceSpec("t.sav", missing=("",), missing_named=True, encoding="utf-8"),
    ],
)
def test_what_a_plan_says_stays_as_it_is(form: ReadingForm, source: SourceSpec) -> None:
    form.set_source(source)
    assert form.source() == source

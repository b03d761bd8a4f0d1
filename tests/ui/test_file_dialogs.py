"""The dialogs that ask for files: what they add to a name, and what they ask again."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog

from dpdesk.ui.files import DialogAsker, with_ending


@pytest.mark.parametrize(
    ("name", "endings", "full"),
    [
        ("plan", (".toml", ".json"), "plan.toml"),
        ("plan.JSON", (".toml", ".json"), "plan.JSON"),
        ("plan.txt", (".toml", ".json"), "plan.txt.toml"),
        ("plan", (), "plan"),
    ],
)
def test_a_name_gets_the_first_ending_where_it_has_none(
    name: str, endings: tuple[str, ...], full: str
) -> None:
    assert with_ending(Path(name), endings) == Path(full)


def test_a_file_of_the_name_with_its_ending_is_asked_about_before_it_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "table.csv").write_text("old")
    answers = [tmp_path / "table", tmp_path / "table.csv", tmp_path / "other", None]
    suggested: list[str] = []

    def answer(parent: object, title: str, suggestion: str, filters: str) -> tuple[str, str]:
        suggested.append(suggestion)
        given = answers.pop(0)
        return ("" if given is None else str(given)), filters

    monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)
    asker = DialogAsker()
    # "table" would be "table.csv", of which the dialog did not ask: it is shown again with that.
    assert asker.save_file("Save", "start.csv", "*.csv", (".csv",)) == tmp_path / "table.csv"
    assert suggested == ["start.csv", str(tmp_path / "table.csv")]
    assert asker.save_file("Save", "start.csv", "*.csv", (".csv",)) == tmp_path / "other.csv"
    assert asker.save_file("Save", "start.csv", "*.csv", (".csv",)) is None

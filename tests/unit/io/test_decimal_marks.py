"""Which mark decimals have, where marks of thousands look like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io.reading import Reading
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace


def reading_of(folder: Path, text: str, decimal: str | None = None) -> Reading:
    """How a text is read by itself."""
    (folder / "pay.csv").write_text(text, "utf-8")
    workspace = Workspace.open(folder / "home")
    spec = SourceSpec("pay.csv", decimal=decimal)
    try:
        store = DataStore.open(spec, folder, workspace, CancelToken(), silent)
        store.close()
        return store.reading
    finally:
        workspace.close()


@pytest.mark.parametrize(
    ("text", "decimal", "said"),
    [
        ("sex;pay\nm;1,234\nf;12,500\nm;950\n", ".", "Values such as 1,234"),
        ("sex;pay\nm;1.234\nf;12.500\nm;950\n", ".", "Values such as 1.234"),
        ("sex\tpay\nm\t1.234\nf\t-12.500\nm\t950\n", ".", "Values such as 1.234"),
        ("sex;pay;share\nm;1.234;0,5\nf;12.500;0,25\n", ",", "decimal commas and with"),
        ("sex;pay;share\nm;1.234;0.5\nf;12.500;0.25\n", ".", None),
        ("sex,pay\nm,1.234\nf,12.500\nm,950\n", ".", None),
        ("sex;share\nm;0,234\nf;0,500\n", ",", None),
        ("sex;share\nm;0.234\nf;0.500\n", ".", None),
        ("sex;pay\nm;1.234,50\nf;12.500,00\n", ",", None),
    ],
)
def test_numbers_of_thousands_are_not_taken_for_decimals_in_silence(
    tmp_path: Path, text: str, decimal: str, said: str | None
) -> None:
    found = reading_of(tmp_path, text)
    assert found.decimal == decimal
    notes = [note for note in found.notes if "decimal" in note]
    assert [said in note for note in notes] == ([True] if said else []), notes  # type: ignore[operator]


def test_a_plan_that_names_the_mark_is_told_nothing(tmp_path: Path) -> None:
    found = reading_of(tmp_path, "sex;pay\nm;1.234\nf;12.500\n", decimal=",")
    assert [note for note in found.notes if "decimal" in note] == []


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "rows": [\n    {"sex": "m", "pay": 1}\n  ]\n}\n',
        '{"sex": "m", "pay": 1}\n{"sex": "f", "pay": 2}\n',
        '[{"sex": "m", "pay": 1}, {"sex": "f", "pay": 2}]\n',
        '\ufeff[\n  ["m", 1],\n  ["f", 2]\n]\n',
    ],
)
def test_json_is_no_delimited_text(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        reading_of(tmp_path, text)
    assert caught.value.code == "csv.not-text"
    assert "a JSON file" in caught.value.sentence


@pytest.mark.parametrize("text", ["{id},[sex]\n1,m\n2,f\n", '[id],"sex"\n1,m\n2,f\n'])
def test_brackets_around_names_are_part_of_them(tmp_path: Path, text: str) -> None:
    assert reading_of(tmp_path, text).header

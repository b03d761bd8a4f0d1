"""Labels too long or too many for a format: the file holds what it can, the rest is said."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyreadstat

from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import Codebook, Kind, Variable
from dpdesk.io.export_losses import described, losses
from dpdesk.io.formats.outcolumns import About
from dpdesk.io.formats.stata.writer import write_dta
from dpdesk.io.published import PublishedCsv

MOST, BYTES = 65_536, 32_000


def _written(folder: Path, labels: dict[str, str]) -> tuple[dict[float, str], list[str]]:
    """The value labels of a column of a Stata file by another reader, and what is said."""
    source, target = folder / "t.csv", folder / "t.dta"
    source.write_text("x\n1\n")
    target.unlink(missing_ok=True)
    book = Codebook((Variable("x", kind=Kind.NUMBER, value_labels=labels),))
    about = About("", datetime.date(2026, 1, 2), ())
    table = PublishedCsv(source, CancelToken())
    said = write_dta(table, book, target, about, CancelToken(), lambda rows: None)
    return pyreadstat.read_dta(target)[1].variable_value_labels["x"], said


def test_a_stata_file_has_the_first_codes_of_too_many_and_says_so(tmp_path: Path) -> None:
    labels = {str(code): f"place {code}" for code in range(1, MOST + 2)}
    found, said = _written(tmp_path, labels)
    assert (len(found), max(found), found[MOST]) == (MOST, MOST, f"place {MOST}")
    assert said == [
        "Of the value labels of `x` the file has the first 65,536, the most that a Stata file "
        "holds of a column."
    ]
    del labels[str(MOST + 1)]
    found, said = _written(tmp_path, labels)
    assert (len(found), said) == (MOST, [])


def test_a_stata_file_has_the_beginning_of_a_very_long_label_and_says_so(tmp_path: Path) -> None:
    found, said = _written(tmp_path, {"1": "z" * BYTES, "2": "ü" * (BYTES // 2) + "z"})
    assert found == {1: "z" * BYTES, 2: "ü" * (BYTES // 2)}
    assert said == [
        "Value labels of `x` are cut to 32,000 bytes, the most that a Stata file holds.",
    ]


def test_labels_of_a_workbook_are_counted_as_excel_counts() -> None:
    label = "😀" * 16_384
    book = Codebook((Variable("x", label, value_labels={"1": label}),))
    assert losses("xlsx", described(["x"], book), "") == [
        "The variable labels of `x` are cut to 32,767 UTF-16 characters, the most that an Excel "
        "file holds.",
        "Value labels of `x` are cut to 32,767 UTF-16 characters, the most that an Excel file "
        "holds.",
    ]
    short = Codebook((Variable("x", label[1:], value_labels={"1": label[1:]}),))
    assert losses("xlsx", described(["x"], short), "") == []


def test_a_workbook_has_no_name_for_a_column_without_one_which_is_said() -> None:
    assert losses("xlsx", described(["", "b"], Codebook(())), "") == [
        "The column without a name has an empty header cell; programs make up a name for it."
    ]
    assert losses("parquet", described(["", "b"], Codebook(())), "") == []

"""Tables written as files of statistical programs, through the CSV of a release."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Callable
from pathlib import Path

from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import NO_BOOK, Codebook, Kind, UserMissing, Variable
from dpdesk.core.language import voice_of
from dpdesk.io.formats.outcolumns import About
from dpdesk.io.formats.sas.transport_writer import write_xpt
from dpdesk.io.formats.spss.writer import write_sav
from dpdesk.io.formats.stata.writer import write_dta
from dpdesk.io.published import PublishedCsv
from tests.helpers.stat_files import head

WRITERS: dict[str, Callable[..., list[str]]] = {
    "sav": write_sav,
    "dta": write_dta,
    "xpt": write_xpt,
}
ABOUT = About("Title", datetime.date(2026, 1, 2), ("Title: Title", "Claim: " + "wörd " * 40))


def written(
    folder: Path,
    form: str,
    names: list[str],
    rows: list[list[str]],
    book: Codebook = NO_BOOK,
    told: list[str] | None = None,
) -> Path:
    """The table in this format, through the CSV of a release; ``told`` takes its sentences."""
    source, target = folder / "t.csv", folder / f"t.{form}"
    with source.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows([names, *rows])
    target.unlink(missing_ok=True)
    table = PublishedCsv(source, CancelToken())
    sentences = WRITERS[form](table, book, target, ABOUT, CancelToken(), lambda rows: None)
    if told is not None:
        told += sentences
    return target


VARIABLES = (
    Variable(
        "sex", "Sex of the person", Kind.NUMBER, measure="nominal",
        value_labels={"1": "male", "2": "weiblich ♀", "9": "refused"},
        missing=UserMissing(("9",), 97, 98),
    ),
    Variable("town", "Town", Kind.TEXT, value_labels={"A": "Aach"}, missing=UserMissing(("?",))),
    Variable("born", "", Kind.DATE, format="EDATE10"),
    Variable("at", "", Kind.DATETIME),
    Variable("time", "", Kind.TIME),
)  # fmt: skip
NAMES = ["sex", "town", "born", "at", "time", "code", "x"]


def lost(
    folder: Path, form: str, values: list[str], said: Variable
) -> tuple[list[str], list[str], Variable]:
    """What is told of a column, its values read again, and what is read of it."""
    source, target = folder / "t.csv", folder / f"t.{form}"
    with source.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([[said.name], *([one] for one in values)])
    target.unlink(missing_ok=True)
    table = PublishedCsv(source, CancelToken())
    told = WRITERS[form](table, Codebook((said,)), target, ABOUT, CancelToken(), lambda rows: None)
    assert [text for text in told if voice_of("de").say(text) == text] == []
    found = head(target)
    return told, [row[0] for row in found.head], found.variables[0]

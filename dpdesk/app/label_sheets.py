"""Sheets of an Excel file that tell what a release says of its columns and their codes."""

from __future__ import annotations

from dpdesk.core.labels import Codebook, Kind, Variable
from dpdesk.core.language import voice
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.tablewriters import Sheet


def label_sheets(book: Codebook) -> tuple[Sheet, ...]:
    """A row for each column, and one for each code that has a label or is missing; or none."""
    if not book:
        return ()
    say = voice()
    columns = [
        say.text("Column"),
        say.text("Label"),
        say.text("Type"),
        say.text("Measurement level"),
        say.text("Display format"),
        say.text("User-missing from"),
        say.text("User-missing to"),
        say.text("Lettered missing values"),
    ]
    codes = [say.text("Column"), say.text("Code"), say.text("Label"), say.text("User-missing")]
    return (
        Sheet("Variables", [columns, *map(_column, book.variables)]),
        Sheet("Codes", [codes, *(row for one in book.variables for row in _codes(one))]),
    )


def _column(variable: Variable) -> list[str]:
    say, missing = voice(), variable.missing
    kinds = {
        Kind.NUMBER: say.text("numeric"),
        Kind.TEXT: say.text("text"),
        Kind.DATE: say.text("date"),
        Kind.DATETIME: say.text("date and time"),
        Kind.TIME: say.text("time of day"),
    }
    levels = {
        "nominal": say.text("nominal"),
        "ordinal": say.text("ordinal"),
        "scale": say.text("scale"),
    }
    return [
        variable.name,
        variable.label,
        kinds[variable.kind],
        levels.get(variable.measure, ""),
        variable.format,
        _end(missing.low),
        _end(missing.high),
        say.text("yes") if missing.letters else "",
    ]


def _end(number: float | None) -> str:
    say = voice()
    ends = {float("-inf"): say.text("lowest"), float("inf"): say.text("highest")}
    return "" if number is None else ends.get(number) or number_text(number)


def _codes(variable: Variable) -> list[list[str]]:
    yes = voice().text("yes")
    listed = dict.fromkeys((*variable.value_labels, *variable.missing.values))
    return [
        [
            variable.name,
            code,
            variable.value_labels.get(code, ""),
            yes if code in variable.missing.values else "",
        ]
        for code in listed
    ]

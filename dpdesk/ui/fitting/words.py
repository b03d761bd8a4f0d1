"""How a plan fits a file, as texts of the window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QCoreApplication

from dpdesk.app.types import FitItem, FitReport, Fix, FixKind, Weight
from dpdesk.ui.widgets.wording import in_window
from dpdesk.ui.words.numbers import grouped
from dpdesk.ui.words.spoken import said

translate = QCoreApplication.translate
Row = tuple[str, str, int | None, str]


def headings() -> tuple[str, str, str, str]:
    """Headings of the list of items."""
    return (
        translate("Fitting", "Weight"),
        translate("Fitting", "Column"),
        translate("Fitting", "Rows"),
        translate("Fitting", "What is not as it was"),
    )


def row_of(item: FitItem) -> Row:
    """An item as a line; no number where no rows are counted."""
    whole = item.column or translate("Fitting", "(the file)")
    return (weight_words(item.weight), whole, item.rows or None, in_window(item.sentence))


def weight_words(weight: Weight) -> str:
    """A weight by shape and words."""
    words = {
        Weight.BLOCKS: translate("Fitting", "✕ does not fit"),
        Weight.LOOK: translate("Fitting", "△ to be looked at"),
        Weight.NOTE: translate("Fitting", "– good to know"),
    }
    return words[weight]


def question(name: str) -> str:
    """The title."""
    return translate("Fitting", "Does {name} fit this plan?").format(name=name)


def answer_words(report: FitReport) -> tuple[str, str]:
    """A look and one sentence."""
    blocking, looking = len(report.of(Weight.BLOCKS)), len(report.of(Weight.LOOK))
    rows = grouped(report.profile.rows)
    if blocking:
        text = translate(
            "Fitting", "✕ Not yet with its {rows} rows: {n} of the points below prevent it."
        )
        if blocking == 1:
            text = translate(
                "Fitting", "✕ Not yet with its {rows} rows: one of the points below prevents it."
            )
        return "fail", text.format(rows=rows, n=blocking)
    if looking:
        text = translate(
            "Fitting", "△ Nothing is in the way in its {rows} rows; look at the lines marked △."
        )
        return "caution", text.format(rows=rows)
    text = translate("Fitting", "✓ Yes: nothing in its {rows} rows is in the way.")
    return "ok", text.format(rows=rows)


def trial_words(report: FitReport) -> str:
    """What the plan gives for the file; empty when that was not tried."""
    if report.trial is None:
        return ""
    parts = [translate("Fitting", "The plan gives, for this file: {claim}")]
    result = report.trial.result
    suppressed, node = result.get("rows_suppressed"), result.get("node")
    if isinstance(suppressed, int):
        text = translate("Fitting", "Rows suppressed: {n} of {rows}.")
        parts.append(text.format(n=grouped(suppressed), rows=grouped(report.profile.rows)))
    if isinstance(node, Mapping):
        levels = ", ".join(f"{name} {level}" for name, level in node.items())
        parts.append(translate("Fitting", "Levels: {levels}.").format(levels=levels))
    return " ".join(parts).replace("{claim}", said(report.trial.claim))


def advice_words(item: FitItem) -> str:
    """What to do about an item, in this window."""
    special = {
        "column.missing": translate(
            "Fitting", "Say below what has become of it; the plan itself stays as it is."
        ),
        "column.new": translate(
            "Fitting", "Say below what it tells about a person; an identifier is left out."
        ),
        "missing.candidate": translate(
            "Fitting", "If it stands for a missing value, say so below."
        ),
        "reading.other": translate(
            "Fitting", "Go on with the file as it was detected, or mend the reading in Data."
        ),
    }
    return special.get(item.code) or in_window(item.advice)


def mend_words(mend: Fix) -> str:
    """What a button does."""
    if mend.kind is FixKind.ROLE:
        roles = {
            "identifier": translate("Fitting", "“{column}” points to a person: leave it out"),
            "quasi-identifier": translate("Fitting", "“{column}” is a quasi-identifier"),
            "sensitive": translate("Fitting", "“{column}” is sensitive"),
            "insensitive": translate("Fitting", "“{column}” is harmless: release it as it is"),
        }
        return roles[mend.value].format(column=mend.column)
    words = {
        FixKind.RENAME: translate("Fitting", "“{column}” is called “{value}” now"),
        FixKind.TAKE_OUT: translate("Fitting", "Take “{column}” out of the plan"),
        FixKind.MISSING: translate("Fitting", "“{value}” stands for a missing value"),
    }
    return words[mend.kind].format(column=mend.column, value=mend.value)


def decided_words(mends: Sequence[Fix]) -> str:
    """What was decided so far; empty when nothing was."""
    if not mends:
        return ""
    decided = "; ".join(mend_words(mend) for mend in mends)
    return translate("Fitting", "Decided for this file: {decided}.").format(decided=decided)


def place_of(item: FitItem) -> tuple[str, str]:
    """Where in the main window an item can be mended: the step, and its title."""
    for start, step, title in (
        ("hierarchy.", "hierarchies", translate("Fitting", "Hierarchies")),
        ("column.type", "data", translate("Fitting", "Data")),
        ("column.", "attributes", translate("Fitting", "Attributes")),
        ("missing.", "data", translate("Fitting", "Data")),
        ("reading.", "data", translate("Fitting", "Data")),
    ):
        if item.code.startswith(start):
            return step, title
    return "protect", translate("Fitting", "Protect")

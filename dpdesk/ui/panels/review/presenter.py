"""What the review panel decides, without any widget."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from dpdesk.app.types import Candidate, Failure, ReleaseFacts, VerifyReport, WorkState
from dpdesk.core.charts import (
    Axis,
    BarChart,
    BarSeries,
    Cell,
    ChartTable,
    Figure,
    SeriesStyle,
    table_from,
)
from dpdesk.core.guarantee import Guarantee
from dpdesk.core.home import expanded
from dpdesk.core.language import ENGLISH
from dpdesk.core.messages import msg
from dpdesk.core.schema import Role
from dpdesk.ui.files import file_stem
from dpdesk.ui.words.numbers import figure_words, grouped
from dpdesk.ui.words.spoken import spoken_figures

XLSX_ROWS = 1_048_576
MOST_FIGURES = 6
translate = QCoreApplication.translate


# ---- before: what would be released


@dataclass(frozen=True)
class Treatments:
    """What becomes of the columns: left out, generalised (with levels), released as they are.

    ``replaced`` are identifiers in whose place pseudonyms are released.
    """

    dropped: tuple[str, ...]
    generalised: tuple[tuple[str, int], ...]
    kept: tuple[str, ...]
    replaced: tuple[str, ...] = ()

    def lines(self) -> tuple[tuple[str, str], ...]:
        """Heads and sentences, for people."""
        none = translate("Review", "no column")
        levels = [_level_words(name, level) for name, level in self.generalised]
        pseudonyms = (translate("Review", "As pseudonyms"), ", ".join(self.replaced))
        return (
            (translate("Review", "Left out"), ", ".join(self.dropped) or none),
            (translate("Review", "Generalised"), ", ".join(levels) or none),
            (translate("Review", "As they are"), ", ".join(self.kept) or none),
            *([pseudonyms] if self.replaced else []),
        )


def fates(columns: Sequence[str], work: WorkState, result: Mapping[str, object]) -> Treatments:
    """What becomes of each column when ``result`` (of a run of the work) is released."""
    if isinstance(result.get("cuboids"), list | tuple):
        return _fates_of_tables(columns, work)
    node = result.get("node")
    levels = node if isinstance(node, Mapping) else {}
    dropped, generalised, kept, replaced = [], [], [], []
    for name in columns:
        level = levels.get(name, 0)
        if work.released_as(name) is Role.PSEUDONYM:
            replaced.append(name)
        elif work.role(name) is Role.IDENTIFIER:
            dropped.append(name)
        elif isinstance(level, int) and level > 0:
            generalised.append((name, level))
        else:
            kept.append(name)
    return Treatments(tuple(dropped), tuple(generalised), tuple(kept), tuple(replaced))


def _fates_of_tables(columns: Sequence[str], work: WorkState) -> Treatments:
    """Of tables with noise, columns that are neither a dimension nor measured leave nothing."""
    given = work.parameters
    named = given.get("dimensions")
    dimensions = named if isinstance(named, list | tuple) else ()
    levels = given.get("levels")
    at = levels if isinstance(levels, Mapping) else {}
    measured = str(given.get("measure", ""))
    used = [name for name in columns if name in dimensions or f"'{name}'" in measured]
    raised = tuple((name, int(at[name])) for name in used if at.get(name))
    return Treatments(
        tuple(name for name in columns if name not in used),
        raised,
        tuple(name for name in used if not at.get(name)),
    )


def _level_words(name: str, level: int) -> str:
    return translate("Review", "{column} (level {level})").format(column=name, level=level)


def same_release(first: WorkState | None, second: WorkState) -> bool:
    """Whether two states of the work release the same rows: they differ in what is said at most."""
    return first is not None and _unsaid(first) == _unsaid(second)


def _unsaid(work: WorkState) -> WorkState:
    return replace(work, title="", language=ENGLISH)


def known_candidate(work: WorkState, candidates: Sequence[Candidate]) -> Candidate | None:
    """The kept candidate with exactly these settings, if there is one."""
    return next((one for one in candidates if same_release(one.work, work)), None)


def figures_words(figures: Sequence[Figure]) -> str:
    """The figures that the method marks as the first to show, else the first few, in one line."""
    marked = tuple(figure for figure in figures if figure.headline) or tuple(figures)
    return " · ".join(_figure_words(figure) for figure in spoken_figures(marked[:MOST_FIGURES]))


def _figure_words(figure: Figure) -> str:
    value = figure_words(figure.value, figure.kind).replace(" ", "\u00a0")
    unit = f" {figure.unit}" if figure.unit and figure.kind == "number" else ""
    return f"{figure.label} {value}{unit}"


# ---- where it goes


def suggested_name(work: WorkState) -> str:
    """A name for the release folder, made from the title or the data file."""
    source = "" if work.source is None else work.source.stem
    return f"{file_stem(work.title or source) or 'data'}-release"


def free_folder(parent: Path, name: str) -> Path:
    """``parent / name``, with a number behind the name when something is there already."""
    place, number = parent / name, 1
    while place.exists():
        number += 1
        place = parent / f"{name}-{number}"
    return place


def may_write(folder: Path) -> bool:
    """Whether something can be made in this folder, which must exist; looks at the disk."""
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def folder_problem(text: str) -> str:
    """Why a release cannot be written to this folder; empty when nothing stands against it.

    It looks at the disk, so it belongs to a background thread.
    """
    if not text.strip():
        return translate("Review", "Name a folder for the release; it is made for you.")
    place = expanded(text.strip())
    if not place.is_absolute():
        return translate("Review", "Give the whole path of the folder, from the root.")
    try:
        if place.is_dir():
            if next(place.iterdir(), None) is not None:
                text = translate("Review", "{folder} holds files already: name a new folder.")
                return text.format(folder=place)
            return _not_writable(place.parent)  # the whole release takes the place of the folder
        if place.exists():
            text = translate("Review", "{folder} is a file: name a new folder.")
            return text.format(folder=place)
        above = next(one for one in place.parents if one.exists())
    except OSError as error:
        text = translate("Review", "{folder} cannot be looked at ({reason}).")
        return text.format(folder=place, reason=error.strerror or type(error).__name__)
    if not above.is_dir():
        return translate("Review", "{folder} is a file, expected a folder.").format(folder=above)
    return _not_writable(above)


def _not_writable(folder: Path) -> str:
    if may_write(folder):
        return ""
    text = translate("Review", "Nothing may be written in {folder}: choose another place.")
    return text.format(folder=folder)


# ---- after: what the release says


def guarantee_of(facts: ReleaseFacts) -> Guarantee | None:
    """The guarantee as the manifest words it; None when it has none."""
    given = facts.section("guarantee")
    claim = given.get("claim")
    if not isinstance(claim, str) or not claim:
        return None
    parameters = given.get("parameters")
    return Guarantee(
        str(given.get("model", "")),
        parameters if isinstance(parameters, Mapping) else {},
        claim,
        _sentences(given.get("assumes")),
        _sentences(given.get("does_not_cover")),
    )


def _sentences(value: object) -> tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, list | tuple) else ()


def made_from(facts: ReleaseFacts | None, sha256: str) -> bool:
    """Whether the release says that it was made from a file with this fingerprint."""
    return facts is not None and facts.internal_section("source").get("sha256") == sha256


def rows_out(facts: ReleaseFacts) -> int | None:
    """Rows of the published table, as the manifest says."""
    value = facts.section("result").get("rows_out")
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def excel_note(rows: int | None) -> tuple[bool, str]:
    """Whether an Excel sheet can hold this many rows and a header, and why (not)."""
    most = grouped(XLSX_ROWS)
    if rows is None:
        return True, translate("Review", "Excel sheets hold at most {most} rows.").format(most=most)
    fits = rows + 1 <= XLSX_ROWS
    text = translate("Review", "Excel sheets hold at most {most} rows; this table has {rows}.")
    if not fits:
        text = translate(
            "Review", "This table has {rows} rows, but an Excel sheet holds at most {most}."
        )
    return fits, text.format(most=most, rows=grouped(rows))


def stale_words(made_from: WorkState | None, now: WorkState) -> str:
    """What has changed in the work since the release was written; empty when nothing has."""
    if made_from is None or made_from == now:
        return ""
    pairs = (
        (translate("Review", "data"), (made_from.source, made_from.base), (now.source, now.base)),
        (translate("Review", "roles"), made_from.roles, now.roles),
        (translate("Review", "hierarchies"), made_from.hierarchies, now.hierarchies),
        (
            translate("Review", "settings"),
            (made_from.method, made_from.parameters),
            (now.method, now.parameters),
        ),
        (translate("Review", "budget"), made_from.budget, now.budget),
        (translate("Review", "title"), made_from.title, now.title),
    )
    changed = [word for word, before, after in pairs if before != after]
    if not changed:
        return ""
    text = translate(
        "Review",
        "The work has changed since this release was written ({what}). The release is as it was; "
        "write another one to release the change.",
    )
    return text.format(what=", ".join(changed))


def file_failures(report: VerifyReport) -> tuple[Failure, ...]:
    """Failures of files; those of claims stand with their claims."""
    claims = {msg("{file}: {note}", file=check.claim, note=check.found) for check in report.claims}
    return tuple(failure for failure in report.failures if failure.reason not in claims)


# ---- the picture


def risk_picture(facts: ReleaseFacts) -> BarChart | None:
    """Rows by class size before and after, from the evidence; None where it is not at hand."""
    risk = facts.internal_section("risk")
    before, after = _sizes(risk.get("before")), _sizes(risk.get("after"))
    if not before or not after or [one[0] for one in before] != [one[0] for one in after]:
        return None
    total = sum(rows for _, rows in before) or 1
    rows, share = translate("Review", "Rows"), translate("Review", "% of the original")
    return BarChart(
        id="review-risk",
        question=translate("Review", "How many rows share their quasi-identifiers?"),
        answer=_risk_answer(before[0], after[0]),
        category_axis=Axis(translate("Review", "Class size"), translate("Review", "rows")),
        value_axis=Axis(rows, share, percent=True, minimum=0.0),
        categories=tuple(size for size, _ in before),
        series=(
            _series(
                translate("Review", "Original"), before, total, SeriesStyle.REFERENCE, outline=True
            ),
            _series(
                translate("Review", "The release"), after, total, SeriesStyle.FIRST, outline=False
            ),
        ),
        table=_risk_table(before, after),
    )


def _sizes(state: object) -> list[tuple[str, int]]:
    bins = state.get("class_sizes") if isinstance(state, Mapping) else None
    found = []
    for one in bins if isinstance(bins, list) else []:
        if not isinstance(one, Mapping) or not isinstance(one.get("rows"), int):
            return []
        found.append((str(one.get("size")), int(one["rows"])))
    return found


def _series(
    name: str, sizes: Sequence[tuple[str, int]], total: int, look: SeriesStyle, *, outline: bool
) -> BarSeries:
    return BarSeries(name, tuple(rows / total for _, rows in sizes), look, outline=outline)


def _risk_answer(before: tuple[str, int], after: tuple[str, int]) -> str:
    text = translate(
        "Review",
        "{before} rows of the original were in classes of {size}; in the release {after} are.",
    )
    return text.format(before=grouped(before[1]), size=before[0], after=grouped(after[1]))


def _risk_table(before: Sequence[tuple[str, int]], after: Sequence[tuple[str, int]]) -> ChartTable:
    heads = [
        translate("Review", "Class size"),
        translate("Review", "Rows before"),
        translate("Review", "Rows after"),
    ]
    rows: list[list[Cell]] = [
        [size, rows, later] for (size, rows), (_, later) in zip(before, after, strict=True)
    ]
    return table_from(heads, rows)

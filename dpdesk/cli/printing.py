"""Plain tables and sentences for people at a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.messages import msg

if TYPE_CHECKING:
    from dpdesk.app.recipes import FitReport
    from dpdesk.core.schema import ColumnProfile, DataProfile


# What a command has to say.


@dataclass(frozen=True)
class Outcome:
    """What a command has to say.

    ``text`` is for people, ``json`` replaces it with ``--json``; ``complaints`` go to stderr, the
    last one being the sentence of an exit code that is not 0. ``kept`` says that the command left
    something behind that must stay even when nobody can read the text.
    """

    text: str
    json: object = None
    code: int = 0
    complaints: tuple[str, ...] = ()
    kept: bool = False


_WIDTH = 96


def columns(rows: Sequence[Sequence[str]], right: Sequence[int] = (), gap: int = 2) -> str:
    """Rows of cells in aligned columns; the columns numbered in ``right`` are right-aligned."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((" " * gap).join(cells).rstrip())
    return "\n".join(lines)


def hash_of(path: Path) -> str:
    """The SHA-256 of a file that was written; empty where it was taken away."""
    from dpdesk.app.auditing import hashes_of

    return hashes_of((path,)).get(path.name, "")


def written(path: Path) -> str:
    """What is said of a file that was written for others, who can compare its hash."""
    return f"Written: {path}\nSHA-256: {hash_of(path)}\n"


def paragraph(text: str, indent: int = 0, hanging: int = 0) -> str:
    """A sentence or more, wrapped; all lines but the first are indented by ``hanging`` more."""
    following = " " * (indent + hanging)
    return textwrap.fill(text, _WIDTH, initial_indent=" " * indent, subsequent_indent=following)


def one_line(text: str, width: int) -> str:
    """A text that may hold anything, on one line of at most ``width`` characters."""
    flat = "".join(character if character.isprintable() else "·" for character in text)
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def profile_text(profile: DataProfile) -> str:
    """The profile of a data file as a table, with the suggestions below."""
    head = [("column", "type", "missing", "distinct", "unique", "most frequent", "suggested role")]
    rows = head + [_profile_row(column) for column in profile.columns]
    reading = ", ".join(
        f"{key} {one_line(str(value), 24)!r}" if key in ("delimiter", "quote") else f"{key} {value}"
        for key, value in profile.reading.items()
        if key in ("format", "delimiter", "encoding", "decimal", "quote") and value
    )
    parts = [
        f"{profile.name}: {_count(profile.rows, 'row')}, {_count(len(profile.columns), 'column')}",
        f"read as {reading}",
        "",
        columns(rows, right=(2, 3, 4)),
        *_user_missing(profile),
        "",
        "Why these roles:",
    ]
    parts += [
        paragraph(
            msg("{file}: {note}", file=one_line(column.name, 40), note=column.suggestion.reason), 2
        )
        for column in profile.columns
        if column.suggestion.reason
    ]
    parts += _reading_notes(profile)
    return "\n".join(parts) + "\n"


_MARKS = {"does not fit": "✕", "to be looked at": "△", "good to know": "·"}


def fit_text(found: FitReport) -> str:
    """How a plan fits a file: what stands in the way first, each with what to do about it."""
    name = one_line(found.profile.name, 60)
    parts = [f"{name} ({_count(found.profile.rows, 'row')}) and the plan {found.recipe}:", ""]
    for item in found.items:
        parts.append(paragraph(f"{_MARKS[item.weight]} [{item.weight}] {item.sentence}", 2, 2))
        if item.advice:
            parts.append(paragraph(f"→ {item.advice}", 4, 2))
    if not found.items:
        parts.append("  Nothing has changed that matters to the plan.")
    if found.trial is not None:
        parts += ["", "The plan gives, for this file:", paragraph(found.trial.claim, 2)]
        parts.append(paragraph(_trial_words(found.trial.result), 2))
    parts += ["", "It fits." if found.fits else "It does not fit."]
    return "\n".join(parts) + "\n"


def _trial_words(result: Mapping[str, object]) -> str:
    node, suppressed = result.get("node"), result.get("rows_suppressed")
    words = f"{suppressed:,} rows suppressed" if isinstance(suppressed, int) else ""
    if isinstance(node, Mapping):
        levels = ", ".join(f"{name} {level}" for name, level in node.items())
        words += f"; levels: {levels}" if words else f"levels: {levels}"
    return f"{words}." if words else ""


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _profile_row(column: ColumnProfile) -> tuple[str, ...]:
    from dpdesk.core.charts import format_figure  # loads NumPy, which `--help` does without

    name = column.name if not column.label else f"{column.name} ({column.label})"
    top = ", ".join(_value(column, item.value) for item in column.top[:3])
    return (
        one_line(name, 32),
        column.type.value,
        format_figure(column.missing_share, "share"),
        f"{column.distinct:,}",
        format_figure(column.unique_share, "share"),
        top,
        column.suggestion.role.value,
    )


def _value(column: ColumnProfile, value: str) -> str:
    """A value as it stands in the table of columns, with its label where it has one."""
    if column.variable is None or value not in column.variable.value_labels:
        return one_line(value, 14) or "(empty)"
    return one_line(column.variable.shown(value), 20)


def _user_missing(profile: DataProfile) -> list[str]:
    """Which of the missing values the file itself declares missing."""
    named = [
        f"{one_line(column.name, 40)} {column.user_missing:,} of {column.missing:,}"
        for column in profile.columns
        if column.user_missing
    ]
    if not named:
        return []
    return ["", paragraph("Missing, of which user-missing by the file: " + ", ".join(named) + ".")]


def _reading_notes(profile: DataProfile) -> list[str]:
    notes = profile.reading.get("notes")
    if not isinstance(notes, list | tuple) or not notes:
        return []
    return ["", "About the file:"] + [paragraph(str(note), 2) for note in notes]


def guarantee_text(guarantee: Mapping[str, object]) -> str:
    """Claim, assumptions and limits."""
    parts = [paragraph(str(guarantee.get("claim", "")), 2)]
    for key, heading in (("assumes", "Assumes:"), ("does_not_cover", "Does not cover:")):
        sentences = guarantee.get(key)
        if isinstance(sentences, list | tuple) and sentences:
            parts.append(f"  {heading}")
            parts += [paragraph(f"· {sentence}", 4, hanging=2) for sentence in sentences]
    return "\n".join(parts)


_RISK_LABELS = {
    "rows": ("rows", "count"),
    "classes": ("combinations (classes)", "count"),
    "smallest_class": ("rows of the smallest class", "count"),
    "sample_uniques": ("rows alone in their class", "count"),
    "highest_risk": ("highest risk of a row", "share"),
    "average_risk": ("average risk of a row", "share"),
    "rows_above_threshold": ("rows with a risk above 1/k", "count"),
}


_RECORDED = (
    "“before” and “after” are as the evidence of the release has them, and are compared when it is "
    "verified with the source (`dpdesk verify --source`)."
)
_WITH_MISSING = (
    "Missing values count here as values of their own, as for someone who knows what is missing of "
    "a person; for anyone else, a row matches as many as the guarantee says."
)


def risk_text(
    risk: Mapping[str, object], counted: Mapping[str, object], guarantee: Mapping[str, object]
) -> str:
    """Risk figures side by side: before, after, and as counted from the published table."""
    if "posterior" in risk:
        return _odds_text(risk)
    beliefs = _beliefs_text(risk)
    sides = [
        (heading, side)
        for heading, side in (
            ("before", risk.get("before")),
            ("after", risk.get("after")),
            ("counted now", counted),
        )
        if isinstance(side, Mapping) and side
    ]
    if not sides:
        return beliefs or "No risk figures."
    rows = [("", *(heading for heading, _ in sides))]
    for key, (label, kind) in _RISK_LABELS.items():
        cells = [_figure(side.get(key), kind) for _, side in sides]
        if any(cells):
            rows.append((label, *cells))
    text = columns(rows, right=range(1, len(sides) + 1))
    sizes, linked = class_size_text(risk), _linkage_text(counted.get("linkage"))
    recorded = paragraph(_RECORDED) if counted and len(sides) > 1 else ""
    given = guarantee.get("parameters")
    matching = isinstance(given, Mapping) and given.get("missing_as") == "any"
    lost = paragraph(_WITH_MISSING) if matching else ""
    return "\n\n".join(part for part in (beliefs, text, sizes, lost, linked, recorded) if part)


def _linkage_text(linkage: object) -> str:
    """What pseudonyms show of persons with several rows; empty when there are none."""
    if not isinstance(linkage, Mapping):
        return ""
    heads = ("pseudonyms of", "different", "several rows", "most rows", "few alike", "alone")
    rows: list[tuple[str, ...]] = [heads]
    keys = ("pseudonyms", "several", "most", "few", "alone")
    for name, each in linkage.items():
        figures = each if isinstance(each, Mapping) else {}
        rows.append((str(name), *(_figure(figures.get(key), "count") for key in keys)))
    text = (
        "All rows of a pseudonym together: few alike are those whose combinations fewer than k "
        "pseudonyms have, alone those whose combinations no one else has."
    )
    return f"{columns(rows, right=(1, 2, 3, 4, 5))}\n{paragraph(text)}"


def _beliefs_text(risk: Mapping[str, object]) -> str:
    """How sure somebody is of a value who knows only how often each occurs; empty when not told."""
    beliefs = risk.get("beliefs")
    if not isinstance(beliefs, Mapping):
        return ""
    heads = ("chance of a value, before", "rarest", "most frequent", "where it is published")
    keys = ("belief_before_rarest", "belief_before_most_frequent", "belief_after")
    rows: list[tuple[str, ...]] = [heads]
    for name, each in beliefs.items():
        figures = each if isinstance(each, Mapping) else {}
        rows.append((str(name), *(_figure(figures.get(key), "share") for key in keys)))
    return columns(rows, right=(1, 2, 3))


def _odds_text(risk: Mapping[str, object]) -> str:
    """How far a release with noise can move what somebody thinks of one person."""
    posterior = risk["posterior"]
    change = risk.get("minimal_change")
    guess = "a person" if change is None else f"a minimal change (up to {change} rows)"
    rows = [(f"chance of a guess about {guess}, before", "at most, after")]
    for prior, after in posterior.items() if isinstance(posterior, Mapping) else ():
        rows.append((_figure(float(prior), "share"), _figure(after, "share")))
    factor = risk.get("odds_factor")
    times = f"×{factor:,.4g}" if isinstance(factor, float) else "more than ×10^300"
    return f"Odds change by at most {times}.\n\n" + columns(rows, right=(0, 1))


def class_size_text(risk: Mapping[str, object]) -> str:
    """Rows by the size of their class, before and after; empty when not recorded."""
    sides = [
        (heading, {str(item["size"]): item for item in sizes})
        for heading in ("before", "after")
        if isinstance(side := risk.get(heading), Mapping)
        and isinstance(sizes := side.get("class_sizes"), list | tuple)
    ]
    if not sides:
        return ""
    rows = [("rows by class size", *(heading for heading, _ in sides))]
    rows += [
        (size, *(_figure(bins.get(size, {}).get("rows"), "count") for _, bins in sides))
        for size in sides[0][1]
    ]
    return columns(rows, right=range(1, len(sides) + 1))


def _figure(value: object, kind: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    from dpdesk.core.charts import format_figure

    return format_figure(value, kind)

"""What the review panel decides, without any widget: modes, checks, files, buttons."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from dpdesk.app.review.values import (
    Mode,
    ProtocolFacts,
    ReviewPicture,
)
from dpdesk.app.types import Candidate, Failure, LevelNames, ReleaseFacts, VerifyReport, WorkState
from dpdesk.core.capabilities import UNKNOWN, Capabilities, Content, Protection
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
from dpdesk.core.hierarchy import level_words
from dpdesk.core.home import expanded, is_address
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.language import ENGLISH
from dpdesk.core.messages import msg
from dpdesk.core.release import FIGURES_CLAIM, CheckStatus, ClaimCheck, Guarantee
from dpdesk.core.schema import Role, columns_of
from dpdesk.ui.files import file_stem
from dpdesk.ui.panels.review.deciding import SHAPES
from dpdesk.ui.words.numbers import figure_words, grouped, marked, with_quotes
from dpdesk.ui.words.settings import drawn_columns
from dpdesk.ui.words.spoken import moment_words, said, spoken_figures

XLSX_ROWS = 1_048_576
MOST_FIGURES = 6
translate = QCoreApplication.translate


# ---- before: what would be released


@dataclass(frozen=True)
class Treatments:
    """What becomes of the columns: left out, generalised (with levels), released as they are.

    A level without words: row by row. Where no rows are released, ``kept`` are those that are used.
    ``replaced`` are identifiers in whose place pseudonyms are released; the values of ``drawn``
    ones are drawn, those of ``apart`` stand apart from the rows.
    """

    dropped: tuple[str, ...]
    generalised: tuple[tuple[str, str], ...]
    kept: tuple[str, ...]
    replaced: tuple[str, ...] = ()
    drawn: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    rows: bool = True

    def lines(self) -> tuple[tuple[str, str], ...]:
        """Heads and sentences, for people."""
        none = translate("Review", "no column")
        levels = [_treatment(name, level) for name, level in self.generalised]
        others = (
            (translate("Review", "As pseudonyms"), self.replaced),
            (translate("Review", "Drawn at random"), self.drawn),
            (translate("Review", "Apart from the rows"), self.apart),
        )
        kept = translate("Review", "As they are") if self.rows else translate("Review", "Used")
        raised = [(translate("Review", "Generalised"), ", ".join(levels) or none)]
        return (
            (translate("Review", "Left out"), ", ".join(self.dropped) or none),
            *(raised if self.rows or levels else ()),
            (kept, ", ".join(self.kept) or none),
            *((head, ", ".join(names)) for head, names in others if names),
        )


def fates(columns: Sequence[str], found: Candidate, about: Capabilities = UNKNOWN) -> Treatments:
    """What becomes of each column when what was found for a state of the work is released.

    ``about`` is what its method says of itself.
    """
    work, result = found.work, found.result
    if about.content not in (None, Content.ROWS):
        return _fates_of_tables(columns, work, found.level_names)
    node = result.get("node")
    levels = node if isinstance(node, Mapping) else {}
    celled = "smallest_class" in result and not isinstance(node, Mapping)
    others = drawn_columns(about, work)
    groups = about.protection is Protection.GROUPS
    dropped, kept, replaced = [], [], []
    generalised: list[tuple[str, str]] = []
    for name in columns:
        level = levels.get(name, 0)
        if work.released_as(name) is Role.PSEUDONYM:
            replaced.append(name)
        elif work.role(name) is Role.IDENTIFIER:
            dropped.append(name)
        elif name in others:
            continue
        elif isinstance(level, int) and level > 0:
            generalised.append((name, level_words(found.level_names.get(name, ()), level)))
        elif celled and work.role(name) is Role.QUASI_IDENTIFIER:
            generalised.append((name, ""))
        else:
            kept.append(name)
    drawn, apart = ((), others) if groups else (others, ())
    sides = tuple(kept), tuple(replaced), drawn, apart
    return Treatments(tuple(dropped), tuple(generalised), *sides)


def _fates_of_tables(columns: Sequence[str], work: WorkState, known: LevelNames) -> Treatments:
    """Of releases without rows: columns that the settings do not name leave nothing."""
    given = work.parameters
    levels = given.get("levels")
    at = levels if isinstance(levels, Mapping) else {}
    named = columns_of(given)
    used = [name for name in columns if name in named]
    raised = tuple(
        (name, level_words(known.get(name, ()), int(at[name]))) for name in used if at.get(name)
    )
    return Treatments(
        tuple(name for name in columns if name not in used),
        raised,
        tuple(name for name in used if not at.get(name)),
        rows=False,
    )


def _treatment(name: str, level: str) -> str:
    if not level:
        return translate("Review", "{column} (row by row)").format(column=name)
    return translate("Review", "{column}: level {level}").format(column=name, level=level)


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
    return f"{figure.label}: {value}{unit}"


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
        return translate("Review", "Name a folder for the release; it will be created.")
    if is_address(text):
        return translate("Review", "Enter the path of a folder, not an address.")
    place = expanded(text.strip())
    if not place.is_absolute():
        return translate("Review", "Enter the full path of the folder, from the root.")
    try:
        if place.is_dir():
            if next(place.iterdir(), None) is not None:
                text = translate("Review", "{folder} already contains files: name a new folder.")
                return text.format(folder=place)
            return _not_writable(place.parent)  # the whole release takes the place of the folder
        if place.exists():
            text = translate("Review", "{folder} is a file: name a new folder.")
            return text.format(folder=place)
        above = next(one for one in place.parents if one.exists())
    except OSError as error:
        text = translate("Review", "{folder} cannot be read ({reason}).")
        return text.format(folder=place, reason=error.strerror or type(error).__name__)
    if not above.is_dir():
        return translate("Review", "{folder} is a file, expected a folder.").format(folder=above)
    return _not_writable(above)


def _not_writable(folder: Path) -> str:
    if may_write(folder):
        return ""
    text = translate("Review", "You may not write to {folder}: choose another place.")
    return text.format(folder=folder)


# ---- after: what the release says


def guarantee_of(facts: ReleaseFacts) -> Guarantee | None:
    """The guarantee as the manifest words it; None when it has none."""
    given = facts.manifest.guarantee
    return given if given.claim else None


def made_from(facts: ReleaseFacts | None, sha256: str) -> bool:
    """Whether the release says that it was made from a file with this fingerprint."""
    return facts is not None and facts.evidence.source.sha256 == sha256


def rows_out(facts: ReleaseFacts) -> int | None:
    """Rows of the published table, as the manifest says."""
    value = facts.manifest.result.get("rows_out")
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def excel_note(rows: int | None) -> tuple[bool, str]:
    """Whether an Excel sheet can hold this many rows and a header, and why not."""
    if rows is None or rows + 1 <= XLSX_ROWS:
        return True, ""
    text = translate(
        "Review", "This table has {rows} rows, but an Excel sheet holds at most {most}."
    )
    return False, text.format(most=grouped(XLSX_ROWS), rows=grouped(rows))


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
        "The work has changed since this release was written ({what}). The release "
        "itself is unchanged; write another one to release the change.",
    )
    return text.format(what=", ".join(changed))


def file_failures(report: VerifyReport) -> tuple[Failure, ...]:
    """Failures of files; those of claims stand with their claims."""
    claims = {msg("{file}: {note}", file=check.claim, note=check.found) for check in report.claims}
    return tuple(failure for failure in report.failures if failure.reason not in claims)


# ---- the picture


def risk_picture(facts: ReleaseFacts, report: VerifyReport) -> BarChart | None:
    """Rows by class size before and after, from the evidence; None where it is not at hand.

    Of a release that failed its check there is none, and where the figures were not compared with
    the source the picture says so.
    """
    if not report.ok:
        return None
    risk = facts.evidence.risk
    before, after = _sizes(risk.get("before")), _sizes(risk.get("after"))
    if not before or not after or [one[0] for one in before] != [one[0] for one in after]:
        return None
    total = sum(rows for _, rows in before) or 1
    rows, share = translate("Review", "Rows"), translate("Review", "% of the original")
    return BarChart(
        id="review-risk",
        question=translate("Review", "How many rows share their quasi-identifiers?"),
        answer=_risk_answer(before[0], after[0], compared=_compared(report)),
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


def _compared(report: VerifyReport) -> bool:
    """Whether the figures of the evidence were compared with the source."""
    return any(one.claim == FIGURES_CLAIM for one in report.confirmed())


def _risk_answer(before: tuple[str, int], after: tuple[str, int], *, compared: bool) -> str:
    text = translate(
        "Review",
        "{before} rows of the original were in classes of {size}; in the release {after} are.",
    )
    answer = text.format(before=grouped(before[1]), size=before[0], after=grouped(after[1]))
    if compared:
        return answer
    more = translate(
        "Review", "These figures come from the evidence and were not compared with the source."
    )
    return f"{answer} {more}"


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


def mode_words(mode: Mode) -> str:
    """What a mode means, in a sentence or two."""
    if mode is Mode.APPLY:
        return translate(
            "Review",
            "It has to be made exactly as the protocol says: only source and title may differ, "
            "and the checklist says whether more does. The reviewers judge these data, not the "
            "method.",
        )
    return translate(
        "Review",
        "Every setting is open to review. Once it is approved, the way it was made can be locked "
        "and applied to later data.",
    )


def protocol_words(facts: ProtocolFacts) -> str:
    """Which protocol it is, who locked it and when, and what the signature is worth here."""
    text = translate(
        "Review", "“{title}”, locked by {person} on {date}, protocol {id}; signed {worth}."
    )
    shapes = "✓" if facts.trusted else "△"
    words = text.format(
        title=facts.title or translate("Review", "Without a title"),
        person=facts.person,
        date=moment_words(facts.made, day=True),
        id=facts.id[:16],
        worth=facts.signature,
    )
    return f"{shapes} {words}"


def lacks_protocol(picture: ReviewPicture | None) -> bool:
    """Whether the submission applies a protocol that is not on this computer."""
    current = None if picture is None else picture.state.current
    applies = current is not None and current.payload.mode is Mode.APPLY
    return applies and picture is not None and picture.protocol is None


def mode_lines(picture: ReviewPicture) -> tuple[str, ...]:
    """How a submitted release came about, in lines; none before it is submitted."""
    current = picture.state.current
    if current is None:
        return ()
    mode = current.payload.mode
    if mode is Mode.DEVELOP:
        head = translate("Review", "It develops a protocol.")
        return (f"{head} {mode_words(mode)}",)
    head = translate("Review", "It applies a locked protocol.")
    lines = [f"{head} {mode_words(mode)}"]
    if picture.protocol is not None:
        lines.append(protocol_words(picture.protocol))
    else:
        text = translate(
            "Review",
            "△ The protocol {id} is not on this computer, so it cannot be compared here: "
            "ask the person who locked it for the file.",
        )
        lines.append(text.format(id=(current.payload.protocol_sha256 or "")[:16]))
    items = picture.checked.checklist.items
    lines += [f"{SHAPES[one.status]} {said(one.evidence)}" for one in items if one.id == "mode"]
    return tuple(lines)


_KEY = re.compile(r"[a-z]+(_[a-z]+)+")


class State(Enum):
    """How a check went; the value is its shape."""

    FAILED = "✕"
    CONFIRMED = "✓"
    JUDGE = "△"
    NEEDS_MORE = "○"
    NOT_CHECKABLE = "–"
    NOT_CHECKED = "?"


@dataclass(frozen=True)
class CheckRow:
    """One line of the checklist; ``path`` and ``digest`` are the file that it is about.

    ``key`` is what the manifest calls the claim, where that is not what people read. ``advice``
    says what can be done, ``place`` where (a step, or the source), ``remedy`` which settings.
    """

    state: State
    word: str
    claim: str
    found: str
    path: str = ""
    digest: str = ""
    short: str = ""
    key: str = ""
    advice: str = ""
    place: str = ""
    remedy: Mapping[str, object] = field(default_factory=dict)

    @property
    def mark(self) -> str:
        """Shape and a word or two, for the list."""
        return f"{self.state.value} {self.short or short_words(self.state)}"


@dataclass(frozen=True)
class Verdict:
    """The answer in one sentence; ``kind`` as message bands have it."""

    kind: str
    sentence: str


_STATES = {
    CheckStatus.CONFIRMED: State.CONFIRMED,
    CheckStatus.FAILED: State.FAILED,
    CheckStatus.NEEDS_SOURCE: State.NEEDS_MORE,
    CheckStatus.NOT_CHECKABLE: State.NOT_CHECKABLE,
    CheckStatus.NOT_CHECKED: State.NOT_CHECKED,
}


def check_rows(
    facts: ReleaseFacts, report: VerifyReport, source: Path | str | None
) -> tuple[CheckRow, ...]:
    """All checks: files, seal, then every claim; failed ones first."""
    rows = [*_file_rows(report), _seal_row(facts, report)]
    rows += [_claim_row(facts, check, source) for check in report.claims]
    return tuple(sorted(rows, key=lambda row: row.state is not State.FAILED))


def verdict(report: VerifyReport, rows: tuple[CheckRow, ...]) -> Verdict:
    """What checking showed, in one sentence."""
    count = {state: sum(row.state is state for row in rows) for state in State}
    if not report.ok:
        problems = len(report.failures)
        text = translate("Review", "This release failed its check: nothing of it is exported.")
        if problems:
            first = report.failures[0]
            more = translate("Review", "{sentence} {path}: {reason}.")
            text = more.format(sentence=text, path=first.path, reason=said(first.reason))
        if problems > 1:
            text += " " + translate("Review", "({n} more)").format(n=problems - 1)
        return Verdict("fail", text)
    text = translate("Review", "{confirmed} of {all} checks are confirmed, none failed.")
    parts = [text.format(confirmed=count[State.CONFIRMED], all=len(rows))]
    wanting = [row.short for row in rows if row.state is State.NEEDS_MORE]
    wanted, rest = wanting.count(""), wanting.count(_new_run())
    if wanted:
        text = translate("Review", "Could be settled with the source: {n}.")
        parts.append(text.format(n=wanted))
    if rest:
        parts.append(translate("Review", "Only a new run could settle: {n}.").format(n=rest))
    if count[State.NOT_CHECKABLE]:
        text = translate("Review", "No check of files can show: {n}.")
        parts.append(text.format(n=count[State.NOT_CHECKABLE]))
    if count[State.NOT_CHECKED]:
        text = translate("Review", "Not checked, because this program has other texts: {n}.")
        parts.append(text.format(n=count[State.NOT_CHECKED]))
    return Verdict("ok" if report.sealed else "caution", " ".join(parts))


def needs_source(rows: tuple[CheckRow, ...]) -> bool:
    """Whether the source could settle more."""
    return any(row.state is State.NEEDS_MORE and not row.short for row in rows)


def short_words(state: State) -> str:
    """A state in one or two words, for the list."""
    texts = {
        State.CONFIRMED: translate("Review", "re-checked"),
        State.NEEDS_MORE: translate("Review", "needs source"),
        State.NOT_CHECKABLE: translate("Review", "not checkable"),
        State.NOT_CHECKED: translate("Review", "not checked"),
        State.FAILED: translate("Review", "failed"),
    }
    return texts[state]


def _new_run() -> str:
    return translate("Review", "needs a new run")


def words(state: State, source: Path | str | None = None) -> str:
    """A state in words, so that the shape is not alone."""
    if state is State.CONFIRMED and source is not None:
        return translate("Review", "re-checked, with the source")
    if state is State.NEEDS_MORE and source is not None:
        return translate("Review", "not settled by the source alone: run the plan again on it")
    texts = {
        State.CONFIRMED: translate("Review", "re-checked from the public files"),
        State.NEEDS_MORE: translate("Review", "needs the source"),
        State.NOT_CHECKABLE: translate("Review", "cannot be checked by nature"),
        State.NOT_CHECKED: translate("Review", "not checked: not compared"),
        State.FAILED: translate("Review", "failed"),
    }
    return texts[state]


def _file_rows(report: VerifyReport) -> list[CheckRow]:
    failed = words(State.FAILED)
    rows = [
        CheckRow(State.FAILED, failed, one.path, said(one.reason), one.path)
        for one in file_failures(report)
    ]
    if not rows:
        claim = translate("Review", "All files are intact")
        found = translate("Review", "names, sizes and hashes match the manifest")
        word = translate("Review", "re-checked")
        rows.append(CheckRow(State.CONFIRMED, word, claim, found, "manifest.json"))
    return rows


def _seal_row(facts: ReleaseFacts, report: VerifyReport) -> CheckRow:
    claim = translate("Review", "The seal is intact")
    if report.sealed:
        found = translate("Review", "it covers the manifest and all internal files")
        word = translate("Review", "re-checked")
        return CheckRow(State.CONFIRMED, word, claim, found, "internal/seal.json")
    if facts.internal is None and report.ok:
        found = translate(
            "Review", "manifest unsealed: the seal is in the internal part, which is not here"
        )
        word = translate("Review", "needs the internal part")
        short = translate("Review", "unsealed")
        return CheckRow(State.NEEDS_MORE, word, claim, found, short=short)
    found = translate("Review", "the seal does not fit the files")
    return CheckRow(State.FAILED, words(State.FAILED), claim, found, "internal/seal.json")


def _claim_row(facts: ReleaseFacts, check: ClaimCheck, source: Path | str | None) -> CheckRow:
    state = _STATES[check.status]
    name = check.path.removeprefix("public/")
    return CheckRow(
        state,
        words(state, source),
        claim_words(check),
        with_quotes(said(check.found)),
        _path_of(name),
        _digest(facts, name),
        short=_new_run() if state is State.NEEDS_MORE and source is not None else "",
        key=check.claim if check.label else "",
    )


def _path_of(name: str) -> str:
    """A file as the release folder has it; claims name those of the public part alone."""
    if not name or name.startswith("internal/"):
        return name
    return f"public/{name}"


def _digest(facts: ReleaseFacts, name: str) -> str:
    listed = facts.manifest.files.get(name)
    return "" if listed is None else listed.sha256


def claim_words(check: ClaimCheck) -> str:
    """A claim for people: the method's own words, else the claim without the marks of a key."""
    text = said(check.label or check.claim)
    if not check.label and _KEY.fullmatch(text):
        text = text.replace("_", " ")
    first = text.split(" ", 1)[0]
    # "k = 5" begins with a symbol and "about.html says" with a file: both stay as they are.
    starts_with_word = text[1:2].isalpha() and "." not in first
    return text[:1].upper() + text[1:] if starts_with_word else text


MOST_FILES = 200


@dataclass(frozen=True)
class FileLine:
    """A file of a release; ``size`` in bytes, None when it cannot be read."""

    name: str
    size: int | None
    sentence: str


@dataclass(frozen=True)
class FileLists:
    """The two parts; ``internal`` is None when that part is not at hand."""

    release: Path
    public: tuple[FileLine, ...]
    internal: tuple[FileLine, ...] | None


def list_files(
    release: Path,
    facts: ReleaseFacts,
    content: Content | None,
    token: CancelToken,
    report: Report,
) -> FileLists:
    """Work for a background thread: look at both folders of a release with this ``content``."""
    public = {name: public_table_words(content) for name in facts.manifest.files}
    lines = _lines(facts.public, public, token)
    if facts.internal is None:
        return FileLists(release, lines, None)
    held = public if content is Content.CELLS else ()
    true = translate("Review", "The same table with true values and the attacker's intervals.")
    return FileLists(release, lines, _lines(facts.internal, dict.fromkeys(held, true), token))


def _lines(folder: Path, tables: Mapping[str, str], token: CancelToken) -> tuple[FileLine, ...]:
    found: list[FileLine] = []
    try:
        for path in sorted(folder.rglob("*")):
            token.check()
            if len(found) < MOST_FILES and not path.is_dir():
                name = path.relative_to(folder).as_posix()
                found.append(FileLine(name, _size(path), purpose(name, tables)))
    except OSError:
        return tuple(found)
    return tuple(found)


def _size(path: Path) -> int | None:
    try:
        return path.lstat().st_size
    except OSError:
        return None


def public_table_words(content: Content | None) -> str:
    """What a public table of numbers is, by what the releases of the method hold."""
    if content is Content.CELLS:
        return translate("Review", "A protected table: every cell, its value and its status.")
    if content is Content.ITEMSETS:
        return translate("Review", "Sets of items, each with its number, the largest first.")
    if content is Content.ROWS:
        return translate("Review", "How often each value occurs in each group of rows.")
    return translate("Review", "A table: every declared cell, and its value.")


def purpose(name: str, tables: Mapping[str, str]) -> str:
    """What a file is for, in one sentence; ``tables`` are words on tables by their name."""
    texts = {
        "manifest.json": translate(
            "Review", "What the release is and guarantees, and the hash of each public file."
        ),
        "microdata.csv": translate("Review", "The protected table: the data that users get."),
        "variables.json": translate("Review", "Labels of the columns and of their codes."),
        "microdata.csv-metadata.json": translate(
            "Review", "The same, for programs that know CSV on the Web."
        ),
        "about.html": translate("Review", "For users of the data: what was done, how to use it."),
        "evidence.json": translate("Review", "Plan, facts about the raw data, risk and loss."),
        "report.html": translate("Review", "For the reviewer: risk before and after, charts."),
        "report.pdf": translate("Review", "The same report, for paper and archives."),
        "seal.json": translate("Review", "Hashes that show whether a file was changed."),
        "review.json": translate("Review", "Who decided what in the review, signed."),
    }
    if name.endswith(".csv") and name not in texts and name in tables:
        return tables[name]
    return texts.get(name, translate("Review", "Not a file that this version of DPDesk writes."))


def size_text(size: int | None) -> str:
    """A size for people: ``403 B``, ``13.2 kB``, ``1.41 MB``."""
    if size is None:
        return "–"
    if size < 1_000:
        return f"{size} B"
    value = float(size)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1_000
        if value < 999.5 or unit == "TB":
            return marked(f"{value:.3g}" if value < 999.5 else f"{value:,.0f}") + f" {unit}"
    return f"{grouped(size)} B"

"""Checking a file against a recipe: what no longer fits, and what to do about it."""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.recipes import STEP, FitItem, FitReport, Recipe, Trial, Weight, merged_source
from dpdesk.core.capabilities import Content
from dpdesk.core.charts import format_figure
from dpdesk.core.errors import DpdeskError, InputError, RefusedError, StorageError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Note, Report, StepStarted, ending
from dpdesk.core.messages import Listed, counted, joined, msg
from dpdesk.core.parameters import nearest
from dpdesk.core.plain import quoted
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile, SourceSpec
from dpdesk.core.schema import ColumnProfile, ColumnType, DataProfile, Role, ValueCount
from dpdesk.core.source_spec import given_keys, missing_line
from dpdesk.io.missing import number_pattern
from dpdesk.project.work import HierarchyChoice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpdesk.app.context import AppContext
    from dpdesk.core.frequency import FrequencyTable
    from dpdesk.engine.method import Outcome
    from dpdesk.engine.private.method import Design
    from dpdesk.io.store import DataStore
    from dpdesk.project.work import WorkState


SHOWN_VALUES = 100
_NAMED, _COMPARED = 3, 20
_LOOKED_AT = 2_000
_SHORT = 3
_MOST_LEAVES = 2_000
_PIECE = 10_000
_COVERED, _NEAR = 0.9, 0.7
_MISSING_MORE = 0.1
_WITH_HIERARCHY = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
_NUMBERS = {ColumnType.INTEGER, ColumnType.DECIMAL}
_READING = {
    "format": "Format",
    "delimiter": "Delimiter",
    "encoding": "Encoding",
    "decimal": "Decimal mark",
    "header": "Line of names",
    "skip": "Lines above the table",
}


class Examination:
    """One file checked against one recipe; see :func:`dpdesk.app.examining.examine`."""

    def __init__(
        self,
        recipe: Recipe,
        data: DataStore,
        profile: DataProfile,
        base: Path,
        token: CancelToken,
        *,
        rows: bool = True,
    ) -> None:
        self._recipe, self._rows = recipe, rows
        self._work = recipe.work
        self._data = data
        self._profile = {column.name: column for column in profile.columns}
        self._base = base
        self._token = token
        self._hierarchies = self._resolved()

    def items(self) -> Iterator[FitItem]:
        """Everything that is not as it was, in no order."""
        yield from self._reading_items()
        yield from self._code_items()
        fresh = [name for name in self._profile if not self._knows(name)]
        renamed = set()
        for name in self._expected():
            self._token.check()
            if name in self._profile:
                yield from self._column_items(self._profile[name])
            else:
                item = self._lacking_column(name, [one for one in fresh if one not in renamed])
                renamed.add(item.instead)
                yield item
        for name in fresh:
            item = self._new_column(self._profile[name])
            if name not in renamed or item.weight is Weight.BLOCKS:
                yield item

    # ---- the file as a whole

    def _reading_items(self) -> Iterator[FitItem]:
        before, now = self._recipe.reading, self._data.reading.as_dict()
        for key, words in _READING.items():
            if key not in before or before[key] == now[key] or "" in (before[key], now[key]):
                continue
            weight = Weight.LOOK if key in ("decimal", "header", "skip") else Weight.NOTE
            found, was = _option(now[key]), _option(before[key])
            sentence = msg("{words}: {found} now, {was} before.", words=words, found=found, was=was)
            advice = (
                "Check that numbers and names are read correctly." if weight is Weight.LOOK else ""
            )
            yield FitItem(f"reading.{key}", weight, sentence, advice)

    def _code_items(self) -> Iterator[FitItem]:
        known = {
            *_texts(self._recipe.reading.get("missing_candidates")),
            *self._data.reading.missing,
        }
        for code in self._data.reading.missing_candidates:
            if code not in known:
                yield FitItem(
                    "missing.candidate",
                    Weight.LOOK,
                    msg(
                        "{code} looks like a code for missing values, and the plan does not "
                        "declare it.",
                        code=quoted(code),
                    ),
                    msg(
                        "If it is one, write `missing = [{list}]` under [source].",
                        list=missing_line([*self._data.reading.missing, code]),
                    ),
                    values=(ValueCount(code, 0),),
                )

    # ---- columns

    def _knows(self, name: str) -> bool:
        if self._recipe.columns:
            return name in self._recipe.columns
        return name in self._work.roles or name in self._work.hierarchies

    def _expected(self) -> list[str]:
        """Columns that the recipe says something of, then others that its file had."""
        return list(dict.fromkeys([*self._work.roles, *self._hierarchies, *self._recipe.columns]))

    def _lacking_column(self, name: str, fresh: Sequence[str]) -> FitItem:
        role = self._work.role(name)
        instead = _like_name(name, fresh) or self._same_values(name, fresh)
        matters = name in self._work.roles and role is not Role.INSENSITIVE
        sentence = msg(
            "The file has no column {name}, which is {a} in the plan", name=quoted(name), a=_a(role)
        )
        advice = "Remove it from the plan if it is no longer needed."
        if matters:
            advice = "Remove it from the plan."
        if instead:
            sentence += msg("; is it called {instead} now?", instead=quoted(instead))
            advice = msg(
                "If so, write {name} in the plan; otherwise remove the column.",
                name=quoted(instead),
            )
        named = name in self._work.roles or name in self._work.hierarchies
        weight = Weight.BLOCKS if named else Weight.LOOK
        if not named:
            sentence = msg("The column {name} is missing now", name=quoted(name))
            sentence += (
                msg("; is it called {instead} now?", instead=quoted(instead)) if instead else ""
            )
            advice = "Nothing has to be done, unless users of the release need it."
        sentence += "" if sentence.endswith("?") else "."
        return FitItem("column.missing", weight, sentence, advice, name, instead=instead or "")

    def _same_values(self, name: str, fresh: Sequence[str]) -> str | None:
        """A new column nearly all of whose rows have a leaf in the hierarchy of a lacking one."""
        hierarchy = self._hierarchies.get(name)
        if not isinstance(hierarchy, Hierarchy) or not _telling(hierarchy):
            return None
        for other in fresh:
            profile = self._profile[other]
            if 1 < profile.distinct <= 2 * len(hierarchy.leaves):
                _, rows = self._without_leaf(other, hierarchy)
                if int(rows.sum()) <= (1 - _COVERED) * profile.rows:
                    return other
        return None

    def _new_column(self, column: ColumnProfile) -> FitItem:
        suggestion = column.suggestion
        if not self._rows:
            sentence = msg(
                "The column {name} is new: no table of the release holds it.",
                name=quoted(column.name),
            )
            return FitItem("column.new", Weight.NOTE, sentence, column=column.name)
        dangerous = suggestion.role is Role.IDENTIFIER
        weight, name = Weight.BLOCKS if dangerous else Weight.LOOK, quoted(column.name)
        sentence = msg("The column {name} is new: it would be released unchanged.", name=name)
        if dangerous:
            sentence = msg(
                "The column {name} is new: it would be released unchanged, and it looks like an "
                "identifier ({reason}).",
                name=name,
                reason=suggestion.reason,
            )
        elif suggestion.role is not Role.INSENSITIVE:
            sentence = msg(
                "The column {name} is new: it would be released unchanged, though it may be "
                "{role}.",
                name=name,
                role=_a(suggestion.role),
            )
        advice = "Give it a role in the plan; an identifier is left out."
        return FitItem(
            "column.new",
            weight,
            sentence,
            advice,
            column.name,
            column.rows,
        )

    def _column_items(self, column: ColumnProfile) -> Iterator[FitItem]:
        before = self._recipe.columns.get(column.name)
        if before is not None and not _same_type(before, column.type):
            yield self._other_type(column, before)
        share = self._recipe.missing_shares.get(column.name)
        if share is not None and abs(column.missing_share - share) > _MISSING_MORE:
            now, was = (format_figure(each, "share") for each in (column.missing_share, share))
            yield FitItem(
                "missing.share",
                Weight.LOOK,
                msg(
                    "In {name} {now} of the rows are missing, {was} before.",
                    name=quoted(column.name),
                    now=now,
                    was=was,
                ),
                "Check whether the codes for missing values have changed.",
                column.name,
                column.missing,
            )
        yield from self._hierarchy_items(column)

    def _other_type(self, column: ColumnProfile, before: ColumnType) -> FitItem:
        """A column of another type, with the values that are not what they were."""
        counts = self._data.value_counts(column.name, self._token, _LOOKED_AT)
        absent = frozenset(self._data.reading.missing)
        present = [one for one in counts if one.value not in absent]
        pattern = re.compile(number_pattern(self._data.reading.decimal))
        odd = [one for one in present if not pattern.fullmatch(one.value.strip())]
        shown = odd if before in _NUMBERS and odd else present
        sentence = msg(
            "{name} holds {now} now, {was} before; now for example {values}.",
            name=quoted(column.name),
            now=_values_of(column.type),
            was=_values_of(before),
            values=", ".join(quoted(one.value) for one in shown[:_NAMED]),
        )
        advice = "Check the file, its decimal mark and its missing codes."
        rows = sum(one.rows for one in odd) if before in _NUMBERS and odd else column.rows
        values = tuple(shown[:SHOWN_VALUES])
        return FitItem("column.type", Weight.LOOK, sentence, advice, column.name, rows, values)

    # ---- hierarchies

    def _resolved(self) -> dict[str, Hierarchy | FitItem]:
        """The hierarchies by value that the file can be checked against, or why there is none."""
        from dpdesk.app.hierarchies import load

        found: dict[str, Hierarchy | FitItem] = {}
        for name, choice in self._work.hierarchies.items():
            self._token.check()
            if self._work.role(name) not in _WITH_HIERARCHY:
                continue
            try:
                if isinstance(choice, Hierarchy):
                    found[name] = choice
                elif isinstance(choice, HierarchyFile):
                    found[name] = load(self._work.base / choice.path, name).hierarchy
                elif isinstance(choice, HierarchyBuilder) and name in self._profile:
                    found[name] = self._built(name, choice)
            except (InputError, StorageError) as error:
                advice = error.hint or "Fix the hierarchy, or choose another one."
                found[name] = FitItem(
                    "hierarchy.unusable", Weight.BLOCKS, error.sentence, advice, name
                )
        return found

    def _built(self, name: str, builder: HierarchyBuilder) -> Hierarchy:
        from dpdesk.app.hierarchies import build

        return build(self._data, name, builder, self._token)

    def _hierarchy_items(self, column: ColumnProfile) -> Iterator[FitItem]:
        hierarchy = self._hierarchies.get(column.name)
        if isinstance(hierarchy, FitItem):
            yield hierarchy
            return
        choice = self._work.hierarchies.get(column.name)
        if hierarchy is None or isinstance(choice, HierarchyBuilder):
            return
        values, rows = self._without_leaf(column.name, hierarchy)
        if len(values):
            yield self._lacking_leaves(column, hierarchy, choice, values, rows)
        used = column.distinct - len(rows)
        if used < len(hierarchy.leaves):
            idle = len(hierarchy.leaves) - used
            yield FitItem(
                "hierarchy.idle",
                Weight.NOTE,
                msg(
                    "{idle:,} of the {n:,} values in the hierarchy of {name} occur in no row.",
                    idle=idle,
                    n=len(hierarchy.leaves),
                    name=quoted(column.name),
                ),
                column=column.name,
            )

    def _without_leaf(self, name: str, hierarchy: Hierarchy) -> tuple[list[str], NDArray[np.int64]]:
        """Values of a column without a leaf, most frequent first, and their rows."""
        import numpy as np

        table = self._data.frequency_table([name], self._token)
        lacking = _no_leaf(table, hierarchy, self._token)
        rows = np.zeros(len(table.domains[0]), np.int64)
        rows[table.codes[:, 0]] = table.counts
        codes = np.flatnonzero(lacking & (rows > 0))
        codes = codes[np.argsort(-rows[codes], kind="stable")]
        return [table.domains[0][code] for code in codes[:SHOWN_VALUES]], rows[codes]

    def _lacking_leaves(
        self,
        column: ColumnProfile,
        hierarchy: Hierarchy,
        choice: HierarchyChoice | None,
        values: Sequence[str],
        rows: NDArray[np.int64],
    ) -> FitItem:
        total = int(rows.sum())
        pairs = [*zip(values, rows.tolist(), strict=False)]
        counts = [ValueCount(v, n) for v, n in pairs]
        named = [
            msg("{each} ({rows})", each=quoted(v), rows=_rows(int(n))) for v, n in pairs[:_NAMED]
        ]
        origin = f" {choice.path}" if isinstance(choice, HierarchyFile) else ""
        sentence = counted(
            "{name}: {n:,} value has no leaf in the hierarchy{origin}: {shown}; "
            "together {rows} of {all:,}.",
            "{name}: {n:,} values have no leaf in the hierarchy{origin}: {shown}; "
            "together {rows} of {all:,}.",
            n=len(rows),
            name=quoted(column.name),
            origin=origin,
            shown=Listed(named, max(0, len(rows) - _NAMED)),
            rows=_rows(total),
            all=column.rows,
        )
        like, leaf = _likeness(counts, hierarchy)
        advice = "Add the values to the hierarchy, or declare them as missing."
        if leaf:
            advice = msg(
                "{like} may be {leaf}. {advice}",
                like=quoted(like),
                leaf=quoted(leaf),
                advice=advice,
            )
        quasi = self._work.role(column.name) is Role.QUASI_IDENTIFIER
        weight = Weight.BLOCKS if quasi else Weight.LOOK
        return FitItem(
            "hierarchy.missing-leaf",
            weight,
            sentence,
            advice,
            column.name,
            total,
            tuple(counts),
            leaf,
        )


def _no_leaf(table: FrequencyTable, hierarchy: Hierarchy, token: CancelToken) -> NDArray[np.bool_]:
    """Which values of a domain are neither a leaf nor a missing code."""
    import numpy as np

    domain, leaves = table.domains[0], hierarchy.leaf_codes
    lacking = np.ones(len(domain), np.bool_)
    for start in range(0, len(domain), _PIECE):  # in pieces, so that others get their turn
        token.check()
        piece = domain[start : start + _PIECE]
        lacking[start : start + len(piece)] = [value not in leaves for value in piece]
    if table.missing:
        lacking[sorted(table.missing[0])] = False
    return lacking


def _likeness(values: Sequence[ValueCount], hierarchy: Hierarchy) -> tuple[str, str]:
    """A value and the leaf that it may be: equal but for capitals and blanks, or else near."""
    plain = {_plain(leaf): leaf for leaf in hierarchy.leaves}
    for each in values[:_COMPARED]:
        leaf = plain.get(_plain(each.value))
        if leaf is not None:
            return each.value, leaf
    if len(hierarchy.leaves) > _MOST_LEAVES:
        return "", ""
    for each in values[:_COMPARED]:
        close = difflib.get_close_matches(each.value, hierarchy.leaves, n=1, cutoff=_NEAR)
        if close and not each.value.strip().replace(".", "").isdigit():
            return each.value, close[0]
    return "", ""


def _telling(hierarchy: Hierarchy) -> bool:
    """Whether a column that has these values is likely the one: three of them, or two words."""
    leaves = hierarchy.leaves
    words = all(leaf.isalpha() for leaf in leaves) and max(map(len, leaves), default=0) > _SHORT
    return len(leaves) >= _NAMED or (len(leaves) == 2 and words)


def _like_name(name: str, others: Sequence[str]) -> str | None:
    """The name among others that may be the same one, written otherwise; None: there is none."""
    plain = {_plain(other): other for other in reversed(others)}
    close = nearest(_plain(name), tuple(plain))
    return nearest(name, others) if close is None else plain[close]


def _plain(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def _same_type(one: ColumnType, other: ColumnType) -> bool:
    return one is other or ColumnType.EMPTY in (one, other) or {one, other} <= _NUMBERS


def _values_of(kind: ColumnType) -> str:
    words: Mapping[ColumnType, str] = {
        ColumnType.INTEGER: "whole numbers",
        ColumnType.DECIMAL: "numbers",
        ColumnType.DATE: "dates",
        ColumnType.BOOLEAN: "yes or no",
        ColumnType.EMPTY: "nothing",
    }
    return words.get(kind, "text")


def _a(role: Role) -> str:
    """A role in a sentence: ``an identifier``, ``sensitive``."""
    if role in (Role.SENSITIVE, Role.INSENSITIVE):
        return str(role.value)
    return f"{'an' if role is Role.IDENTIFIER else 'a'} {role.value}"


def _option(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return {"\t": "a tab", " ": "a space"}.get(str(value), quoted(str(value)))


def _texts(raw: object) -> list[str]:
    return [str(item) for item in raw] if isinstance(raw, list | tuple) else []


def _rows(count: int) -> str:
    return counted("{n:,} row", "{n:,} rows", n=count)


def examine(
    context: AppContext,
    recipe: Recipe,
    source: SourceSpec,
    base: Path,
    token: CancelToken,
    report: Report,
    *,
    data: DataStore | None = None,
    trial: bool = True,
    before: tuple[WorkState, DataStore] | None = None,
) -> FitReport:
    """Check a file against a recipe.

    ``source`` names the file below ``base``; options that it leaves open are those of the recipe,
    and where the file cannot be read by these, what is detected. ``data`` is the file when it is
    open already (it stays open). With ``trial`` the search is run too, when nothing else blocks;
    with ``before``, the work that the recipe comes from and its data, other levels than theirs are
    told of.

    Raises InputError and StorageError for a file that cannot be read at all, and Cancelled.
    """
    report(StepStarted(STEP, 1, 1))
    opened = (
        _Opened(source, data, []) if data else _open(context, recipe, source, base, token, report)
    )
    try:
        recipe = recipe.spelled_as(opened.data.columns)
        profile = opened.data.profile(token, report)
        rows = context.registry.about(recipe.work.method).content in (Content.ROWS, None)
        found = Examination(recipe, opened.data, profile, base, token, rows=rows)
        items = [*opened.items, *found.items()]
        result = None
        if trial and not any(item.weight is Weight.BLOCKS for item in items):
            result, more = _try(context, recipe, opened, base, token, report)
            items += more
            if result is not None and before is not None:
                items += _series_break(context, recipe, result, before, token, report)
    finally:
        if data is None:
            opened.data.close()
    order = list(Weight)
    items.sort(key=lambda item: order.index(item.weight))
    return FitReport(recipe.name, opened.source, base, profile, tuple(items), result)


@dataclass
class _Opened:
    source: SourceSpec
    data: DataStore
    items: list[FitItem]


def _open(
    context: AppContext,
    recipe: Recipe,
    source: SourceSpec,
    base: Path,
    token: CancelToken,
    report: Report,
) -> _Opened:
    """The file by the recipe's options; where it cannot be read by them, as detected."""
    from dpdesk.app.opening import open_data

    wanted = merged_source(recipe, source)
    try:
        return _Opened(wanted, open_data(context, wanted, base, token, report), [])
    except InputError as error:
        # Rows that the plan leaves out must never come in because something else does not fit.
        table = wanted.table if wanted.query is not None else source.table
        detected = replace(source, missing=wanted.missing, query=wanted.query, table=table)
        if detected == wanted:
            raise
        data = open_data(context, detected, base, token, report)
        changed = [key for key in given_keys(wanted) if key not in given_keys(detected)]
        set_ = ", ".join(f"`{key}`" for key in changed)
        item = FitItem(
            "reading.other",
            Weight.BLOCKS,
            msg(
                "The file cannot be read as the plan says ({keys}): {sentence}",
                keys=set_,
                sentence=error.sentence,
            ),
            "Remove these options from [source], or give those of the new file.",
        )
        return _Opened(detected, data, [item])


# ---- trying --------------------------------------------------------------------------------------


def _try(
    context: AppContext,
    recipe: Recipe,
    opened: _Opened,
    base: Path,
    token: CancelToken,
    report: Report,
) -> tuple[Trial | None, list[FitItem]]:
    """Run the search on the file, or make the design of a method with noise; writes nothing."""
    notes: list[FitItem] = []

    def listen(event: object) -> None:
        if not isinstance(event, Note):
            report(event)  # type: ignore[arg-type]
        elif not event.code.startswith("source."):
            notes.append(FitItem(event.code, Weight.NOTE, event.sentence))

    work = replace(recipe.work.based_on(base), source=opened.source)
    try:
        with ending(token) as own:
            outcome = _outcome(context, work, recipe.name, opened, own, listen)
    except (InputError, RefusedError) as error:
        return None, [*notes, _refused(error)]
    return Trial(outcome.result, outcome.guarantee.claim), notes


def _series_break(
    context: AppContext,
    recipe: Recipe,
    found: Trial,
    before: tuple[WorkState, DataStore],
    token: CancelToken,
    report: Report,
) -> Iterator[FitItem]:
    """Levels that are not those of the file before: two releases that do not compare there."""
    work, data = before
    now, source = found.result.get("node"), work.source
    if not isinstance(now, Mapping) or source is None or "levels" in recipe.work.parameters:
        return
    try:
        outcome = _outcome(context, work, recipe.name, _Opened(source, data, []), token, report)
    except (InputError, RefusedError):
        return
    known = outcome.result.get("node")
    was = {n: known[n] for n in now if n in known} if isinstance(known, Mapping) else {}
    other = [name for name in was if was[name] != now[name]]
    if other and len(was) == len(now):
        told = [
            msg("{name}: level {now}, {was} before", name=quoted(n), now=now[n], was=was[n])
            for n in other
        ]
        yield FitItem(
            "series.levels",
            Weight.LOOK,
            msg(
                "A break in the series: {told}. The two releases cannot be compared in these "
                "columns.",
                told=joined(told, "; "),
            ),
            "Keep the earlier levels where they still protect this file enough.",
            other[0],
            instead=json.dumps(was, ensure_ascii=False),
        )


def _outcome(
    context: AppContext,
    work: WorkState,
    name: str,
    opened: _Opened,
    token: CancelToken,
    report: Report,
) -> Outcome | Design:
    from dpdesk.app.exploring import ready

    return ready(context, opened.data, work, token, report, name).decide(token, report)


def _refused(error: DpdeskError) -> FitItem:
    advice = error.hint or "Change the settings of the plan, then check the file against it again."
    return FitItem(f"trial.{error.code}", Weight.BLOCKS, error.sentence, advice)

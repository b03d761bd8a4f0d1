"""Checking released tables from their files, and with the source where that is at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, zip_longest
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.plain import fraction_of
from dpdesk.core.release import CELLS_COUNTED, CheckStatus, ClaimCheck
from dpdesk.core.shapes import as_list, as_table
from dpdesk.core.tabulation import (
    MOVED_COLUMNS,
    PRIMARY,
    PUBLISHED,
    SECONDARY,
    SUPPRESSED,
    CellAxis,
    CellTable,
)
from dpdesk.verifiers.promises import Sentences, first_difference
from dpdesk.verifiers.reading import guarantee_of, number
from dpdesk.verifiers.tables.marks import is_set, recount, set_alike
from dpdesk.verifiers.tables.published import (
    CommonSum,
    ReadTable,
    added_up,
    innermost,
    numbered,
    other_twins,
    place_of,
    unsummed,
)
from dpdesk.verifiers.tables.ratios import RATIO, added_measures, divided
from dpdesk.verifiers.tables.source import (
    Given,
    Recounted,
    common_sums,
    full_needs,
    has_groups,
    other_counts,
    other_figures,
    other_plan,
    other_status,
)

if TYPE_CHECKING:
    from dpdesk.verifiers.tables.attacks import Known

MANIFEST, EVIDENCE = "manifest.json", "internal/evidence.json"
MODELS = {
    "suppress": "cell-suppression",
    "controlled-round": "controlled-rounding",
    "random-round": "random-rounding",
    "cell-key": "cell-keys",
    "adjust": "controlled-adjustment",
    "none": "unprotected-tables",
}
_SUPPRESS, _RANDOM, _CONTROLLED = "suppress", "random-round", "controlled-round"
_CELL_KEY, _ADJUST = "cell-key", "adjust"
_CLOSE = Fraction(1, 10**9)
WORDS = "the words of the guarantee"
KEPT = "the agency's tables"
ATTACK = "protection of unsafe cells"
NARROWED = "how closely changed cells can be told"
MOVED = "how far unsafe cells were moved"
RANGES = "intervals of suppressed cells"
PRESENT = "what published empty cells tell of suppressed ones"
TOLD = "told_exactly_if_present", "told_closer_if_present"
AS_WHOLE = "what whole numbers tell of suppressed counts"
WHOLE = "told_exactly_as_whole", "told_closer_as_whole", "undecided_as_whole"
BY_RULES = "cells are unsafe by the rules of the plan"
SHARED = "shared cells"
TOGETHER = "what the tables of the plan tell together"
DIVIDED = "ratios are those of published sums"
LISTED = "tables are those of the settings"
PLANNED = "dimensions and protection are those of the plan"
FIGURES = "figures of the protection in the evidence"


def verify_tables(
    manifest: Mapping[str, object],
    published: Mapping[str, CellTable],
    internal: Mapping[str, CellTable] | None,
    worded: Sentences,
    given: Given | None,
    token: CancelToken,
    recorded: Mapping[str, object] | None = None,
) -> tuple[ClaimCheck, ...]:
    """Every claim of a manifest of the method ``table``; see :meth:`CellsMethod.verify`.

    ``worded`` is its guarantee in words again, ``recorded`` the result in the evidence. Whatever
    is malformed raises ValueError, TypeError, KeyError or ArithmeticError.
    """
    parameters, result = as_table(manifest["parameters"]), as_table(manifest["result"])
    protect = str(parameters.get("protect", _SUPPRESS))
    lines = [as_table(item) for item in as_list(result["tables"])]
    checks = [_words(manifest, worded, protect, parameters)]
    fault = _other_tables(published, lines, parameters)
    checks.append(_check(LISTED, fault, "their dimensions, measures and totals", MANIFEST))
    for line in lines:
        token.check()
        file = str(line["file"])
        table = published[file]
        fault = _values(table, line, protect, parameters)
        checks.append(_check(msg("values of {file}", file=file), fault, _added(protect), file))
    if checks[1].status is CheckStatus.FAILED:
        return tuple(checks)
    made = [line for line in lines if line["measure"] == RATIO]
    lines = [line for line in lines if line["measure"] != RATIO]
    case = _Case(manifest, published, internal, lines, protect)
    checks.append(case.shared())
    cells = sum(len(table.values) for table in published.values())
    checks.append(_counted("cells", result, cells))
    suppressed = sum(table.suppressed for table in published.values())
    checks.append(_counted("suppressed", result, suppressed))
    if made:
        said = "each is published where both of its sums are, and is their quotient"
        fault, file = divided(made, parameters, published, internal)
        checks.append(_check(DIVIDED, fault, said, file))
    if any(check.status is CheckStatus.FAILED for check in checks):
        return tuple(checks)
    if internal is not None:
        inside = _inside(lines)
        checks.append(case.kept(inside))
        if given is not None and checks[-1].status is not CheckStatus.FAILED:
            stated = as_table(manifest["guarantee"])
            pairs = list(zip(case.tables, case.measures, strict=True))
            fault = other_plan(pairs, stated, given, case.total, token)
            checks.append(_check(PLANNED, fault, "as plan and source give them", MANIFEST))
            case = case if fault else case.with_source(given, token)
            again = {SHARED: case.shared, KEPT: lambda: case.kept(inside)}
            checks = [again.get(each.claim, lambda each=each: each)() for each in checks]
        if any(check.status is CheckStatus.FAILED for check in checks):
            return tuple(checks)
    if protect == _SUPPRESS:
        checks += [*case.attacked(recorded, token), *case.together(recorded)]
    elif protect in (_RANDOM, _CONTROLLED, _CELL_KEY):
        checks.append(case.narrowed(token))
    elif protect == _ADJUST:
        checks.append(case.moved())
    return (*checks, *case.recounted(given, recorded))


def _inside(lines: list[Mapping[str, object]]) -> str:
    return f"internal/{lines[0]['file']}"


def _check(claim: str, fault: str, found: str, path: str, label: str = "") -> ClaimCheck:
    status = CheckStatus.FAILED if fault else CheckStatus.CONFIRMED
    return ClaimCheck(claim, status, fault or found, path, label)


def _words(
    manifest: Mapping[str, object],
    worded: Sentences,
    protect: str,
    parameters: Mapping[str, object],
) -> ClaimCheck:
    """Model, parameters and sentences of the guarantee are those of the settings."""
    stated, promised = guarantee_of(manifest)
    fault = ""
    if stated["model"] != MODELS[protect]:
        fault = "it has a different model than the settings"
    elif protect == _SUPPRESS:
        wide = as_table(parameters.get("attacker", {"lower": 0}))
        same = fraction_of(str(promised.get("lower", 0))) == fraction_of(str(wide.get("lower", 0)))
        upper = promised.get("upper"), wide.get("upper")
        if (
            not same
            or (upper[0] is None) is not (upper[1] is None)
            or (upper[0] is not None and fraction_of(str(upper[0])) != fraction_of(str(upper[1])))
        ):
            fault = "it assumes different knowledge of cells than the settings"
        elif promised.get("present") is not (wide.get("present") is True):
            fault = "it assumes different knowledge of empty cells than the settings"
        elif promised.get("singletons") is not (parameters.get("singletons", True) is True):
            fault = "it assumes a different attacker than the settings"
    elif protect in (_RANDOM, _CONTROLLED) and promised.get("base") != parameters.get("base"):
        fault = "it names a different base than the settings"
    elif protect == _CELL_KEY and any(
        fraction_of(str(promised.get(key, 0))) != fraction_of(str(parameters.get(key)))
        for key in ("deviation", "variance")
    ):
        fault = "it names a different change of counts than the settings"
    if fault:
        return ClaimCheck(WORDS, CheckStatus.FAILED, fault, MANIFEST)
    key = first_difference(manifest, worded)
    if key is not None:
        words = worded.differs_in_words(stated)
        found = msg("`{key}` is not what the settings give", key=key)
        return ClaimCheck(WORDS, CheckStatus.FAILED, found, MANIFEST, words=words)
    return ClaimCheck(WORDS, CheckStatus.CONFIRMED, "worded again, the same", MANIFEST)


def _values(
    table: CellTable,
    line: Mapping[str, object],
    protect: str,
    parameters: Mapping[str, object],
) -> str:
    """What is wrong with the values and statuses of a table; empty: nothing."""
    codes = {PUBLISHED}
    if protect == _SUPPRESS:
        codes |= {PRIMARY, SECONDARY} if parameters.get("tell_apart") is True else {SUPPRESSED}
    for cell, (value, status) in enumerate(zip(table.values, table.status, strict=True)):
        if status not in codes:
            return msg(
                "cell {cell}: found the status {status}, expected one of {codes}",
                cell=place_of(table, cell),
                status=repr(status[:20]),
                codes=", ".join(sorted(codes)),
            )
        if bool(value) is not (status == PUBLISHED):
            return msg(
                "cell {cell}: its status {status} does not fit its value",
                cell=place_of(table, cell),
                status=status,
            )
    if line["cells"] != len(table.values) or line["suppressed"] != table.suppressed:
        return "the manifest states a different number of cells or of suppressed ones"
    try:
        read = ReadTable.of(table)
    except (ValueError, TypeError):
        return "a value is not a number"
    if protect in (_RANDOM, _CONTROLLED):
        base = fraction_of(str(parameters["base"]))
        off = [i for i, value in enumerate(read.values) if value is not None and value % base]
        if off:
            return msg(
                "cell {cell}: it is not a multiple of {base}",
                cell=place_of(table, off[0]),
                base=str(base),
            )
    if protect == _CELL_KEY:
        if line["measure"] != "count":
            return "cell keys change only counts"
        off = [i for i, value in enumerate(read.values) if value is None or value % 1 or value < 0]
        if off:
            return msg("cell {cell}: it is not a count", cell=place_of(table, off[0]))
    elif protect != _RANDOM and line["measure"] not in ("mean", RATIO):
        low = [i for i, value in enumerate(read.values) if value is not None and value < 0]
        if protect == _ADJUST and line["measure"] == "count" and low:
            return msg("cell {cell}: it is not a count", cell=place_of(table, low[0]))
        unequal = unsummed(read)
        if unequal:
            return msg("cell {cell}: it is not the sum of its parts", cell=unequal)
    return ""


def _added(protect: str) -> str:
    if protect == _RANDOM:
        return "every status fits, and every value is a multiple of the base"
    if protect == _CELL_KEY:
        return "every status fits, and every value is a count"
    return "every status fits, and every published total is the sum of its parts"


def _other_tables(
    published: Mapping[str, CellTable],
    lines: list[Mapping[str, object]],
    parameters: Mapping[str, object],
) -> str:
    """What of the listed tables is not what the settings name; empty: nothing."""
    planned = [as_table(one) for one in as_list(parameters.get("tables", []))] or [parameters]
    if len(planned) != len(lines):
        return "the settings name a different number of tables"
    for line, plan in zip(lines, planned, strict=True):
        axes = published[str(line["file"])].axes
        names = [*as_list(plan.get("rows", [])), *as_list(plan.get("columns", []))]
        measure = plan.get("measure", parameters.get("measure", "count"))
        plain = measure if isinstance(measure, Mapping) else {"count": ""}
        kind = next(one for one in ("count", "sum", "mean", "ratio") if one in plain)
        total = parameters.get("total", "Total")
        stated = line["name"], line["measure"], [axis.name for axis in axes]
        own = plan["name"] if "tables" in parameters else ""
        if stated != (own, kind, names) or any(axis.labels[-1] != total for axis in axes):
            return msg("{file}: it is not a table that the settings name", file=str(line["file"]))
        if not all(_merged(axis, as_table(parameters.get("merge") or {})) for axis in axes):
            return msg("{file}: it is not a table that the settings name", file=str(line["file"]))
    return ""


def _merged(axis: CellAxis, merge: Mapping[str, object]) -> bool:
    """Whether merged values stand under their label alone, with nothing below it."""
    groups = as_table(merge.get(axis.name, {}))
    inner = {axis.labels[above] for above in axis.parents if above >= 0}
    alone = {str(value) for group in groups.values() for value in as_list(group)} - {*groups}
    return {*groups} <= {*axis.labels} - inner and alone.isdisjoint(axis.labels)


def _as_present(
    found: tuple[int, int], recorded: Mapping[str, object], *, merged: bool
) -> ClaimCheck:
    """Whether the figures of who concludes that no suppressed cell is empty are those found.

    Unless they are ``merged``, cells that hold the same rows may count twice, and with fewer
    equations less is told; what is told at all is told with the source too.
    """
    said = "no unsafe cell can be determined more closely than the rules allow"
    if any(found):
        said = msg(
            "unsafe cells that readers who take no suppressed cell to be empty can determine "
            "exactly: {exact:,}; others that they can determine more closely than the rules "
            "allow: {closer:,}",
            exact=found[0],
            closer=found[1],
        )
    return _stated(PRESENT, dict(zip(TOLD, found, strict=True)), recorded, said, merged=merged)


def _as_whole(
    found: tuple[int, int, int], recorded: Mapping[str, object], *, merged: bool
) -> ClaimCheck:
    """Whether the figures of who uses that counts are whole numbers are those found."""
    exact, closer, undecided = found
    said = "no unsafe count can be determined more closely than the rules allow"
    if any(found):
        said = msg(
            "unsafe counts that readers who use that counts are whole numbers can determine "
            "exactly: {exact:,}; others that they can determine more closely than the rules "
            "allow: {closer:,}; not decided: {undecided:,}",
            exact=exact,
            closer=closer,
            undecided=undecided,
        )
    if undecided or recorded.get(WHOLE[2]):
        # Another search may decide others; it must not find more than is stated.
        stated = [n for n in map(recorded.get, WHOLE) if type(n) is int and n >= 0]
        open_ = undecided + (stated[2] if len(stated) == len(WHOLE) else 0)
        if len(stated) == len(WHOLE) and all(abs(stated[i] - found[i]) <= open_ for i in (0, 1)):
            return ClaimCheck(AS_WHOLE, CheckStatus.NOT_CHECKED, said, EVIDENCE)
    return _stated(AS_WHOLE, dict(zip(WHOLE, found, strict=True)), recorded, said, merged=merged)


def _stated(
    claim: str,
    found: Mapping[str, int],
    recorded: Mapping[str, object],
    said: str,
    *,
    merged: bool,
) -> ClaimCheck:
    """Whether numbers in the evidence are those found; see :func:`_as_present` on ``merged``."""
    stated, keys = [recorded.get(key) for key in found], list(found)
    pairs = zip(keys, stated, found.values(), strict=True)
    wrong = next((key for key, one, own in pairs if type(one) is not int or one != own), None)
    if wrong is None:
        return _check(claim, "", said, EVIDENCE)
    numbers = [n for n in stated if type(n) is int and n >= 0]
    exactly = found[keys[0]]
    hidden = (
        len(numbers) < len(keys) or numbers[0] < bool(exactly) or sum(numbers) < any(found.values())
    )
    if not merged and not hidden:
        said = "which cells hold the same rows is known from the source alone"
        return ClaimCheck(claim, CheckStatus.NEEDS_SOURCE, said, EVIDENCE)
    fault = msg("`{key}` is not what the agency's tables give", key=f"result, {wrong}")
    return _check(claim, fault, "", EVIDENCE)


def _counted(key: str, result: Mapping[str, object], actual: int) -> ClaimCheck:
    stated = result[key]
    fault = ""
    if isinstance(stated, bool) or stated != actual:
        fault = msg("found {actual}, the manifest states a different number", actual=actual)
    return _check(key, fault, msg("{actual:,} counted", actual=actual), MANIFEST)


def _spans(stated: tuple[str, str], low: Fraction, high: Fraction | None = None) -> bool:
    """Whether these are the ends of an interval; without ``high`` it is a single value."""
    ends = low, low if high is None else high
    near = (_CLOSE * max(Fraction(1), abs(end)) for end in ends)
    every = zip(stated, ends, near, strict=True)
    return all(text and abs(number(text) - end) <= far for text, end, far in every)


@dataclass(frozen=True)
class _Case:
    """A release whose tables can be read: what is beyond single cells."""

    manifest: Mapping[str, object]
    published: Mapping[str, CellTable]
    internal: Mapping[str, CellTable] | None
    lines: list[Mapping[str, object]]
    protect: str
    again: tuple[Recounted, ...] = ()
    grouped: bool = False
    sums: tuple[CommonSum, ...] = ()
    complete: bool = True

    @property
    def parameters(self) -> Mapping[str, object]:
        return as_table(self.manifest["parameters"])

    @property
    def measures(self) -> list[object]:
        """What each table adds up."""
        return added_measures(self.parameters)

    @property
    def tables(self) -> list[CellTable]:
        """The published tables, as the manifest lists them."""
        return [self.published[str(line["file"])] for line in self.lines]

    @property
    def total(self) -> str:
        """How margins are called."""
        return str(self.parameters.get("total", "Total"))

    def numbers(self) -> list[list[int]]:
        """The cells of each table by number: those that count the same have the same one."""
        pairs = [(t, added_up(one)) for t, one in zip(self.tables, self.measures, strict=True)]
        rows = [each.rows for each in self.again if each.rows is not None]
        # That a cell holds the rows of another one says nothing while it is open which are empty.
        known = len(rows) == len(pairs) and not self.grouped
        return [each.tolist() for each in numbered(pairs, rows if known else None)]

    def with_source(self, given: Given, token: CancelToken) -> _Case:
        """The same with its cells counted again."""
        pairs = zip(self.tables, self.measures, strict=True)
        again = [recount(table, one, given, self.total, token) for table, one in pairs]
        case = replace(self, again=tuple(again), grouped=has_groups(given))
        if len(again) > 1 and again[0].rows is not None and not case.grouped:
            found, complete = common_sums(self.tables, self.measures, again, given, token)
            case = replace(case, sums=tuple(found), complete=complete)
        if not is_set(again):
            return case
        return replace(case, again=set_alike(case.again, case.numbers()))

    def shared(self) -> ClaimCheck:
        """Cells of several tables that count the same have the same value and status."""
        path = str(self.lines[0]["file"])
        status: dict[int, str] = {}
        value: dict[tuple[int, object], str] = {}
        every = zip(self.tables, self.numbers(), self.lines, strict=True)
        for table, numbers, line in every:
            for cell, same in enumerate(numbers):
                here, kind = (table.status[cell], table.values[cell]), (same, line["measure"])
                if (status.setdefault(same, here[0]), value.setdefault(kind, here[1])) != here:
                    fault = msg(
                        "cell {cell}: another cell that counts the same has another value or "
                        "status",
                        cell=place_of(table, cell),
                    )
                    return _check(SHARED, fault, "", table.file)
        said = "cells that count the same thing are equal wherever they appear"
        return _check(SHARED, "", said, path)

    def kept(self, path: str) -> ClaimCheck:
        """Whether the agency's tables fit the published ones."""
        return _check(KEPT, self.other_kept(), "they fit the published ones", path)

    def other_kept(self) -> str:
        """What does not fit between the agency's tables and the published ones."""
        assert self.internal is not None
        signed = self._known({}, self.tables).signed
        for place, table in enumerate(self.tables):
            inside = self.internal[table.file].internal
            for cell, text in enumerate(table.values):
                fault = self._other_cell(table, inside, cell, text)
                if not fault and text and not self._fits(place, cell, inside, signed=signed[place]):
                    fault = "the interval in the agency's table is not what is published of it"
                if fault:
                    return msg("cell {cell}: {fault}", cell=place_of(table, cell), fault=fault)
            if all(str(line["measure"]) != "mean" for line in self.lines):
                wrong = unsummed(ReadTable.of(replace(table, values=inside["value"])))
                if wrong:
                    return msg("cell {cell}: it is not the sum of its parts", cell=wrong)
        kept = [self.internal[table.file] for table in self.tables]
        return other_twins(kept, self.numbers(), [line["measure"] for line in self.lines])

    def _other_cell(
        self, table: CellTable, inside: Mapping[str, tuple[str, ...]], cell: int, text: str
    ) -> str:
        value, status = inside["value"][cell], inside["status"][cell]
        if status not in (PUBLISHED, PRIMARY, SECONDARY) or not value:
            return "the agency's table has no value or a different status"
        if self.protect != _SUPPRESS:
            if self.protect == _CELL_KEY:
                most = fraction_of(str(self.parameters["deviation"]))
                within = abs(number(value) - number(text)) <= (most if number(value) else 0)
                return "" if within else "it was changed by more than the settings allow"
            if self.protect == _ADJUST:
                stays = inside["frequency"][cell] == "0" and status == PUBLISHED
                return "an empty cell was changed" if stays and value != text else ""
            if self.protect not in (_RANDOM, _CONTROLLED):
                return "" if value == text else "the published value is different"
            base = fraction_of(str(self.parameters["base"]))
            away = abs(number(value) - number(text))
            fits = away < base and (number(value) % base or not away)
            return "" if fits else "it was not rounded to one of the two nearest multiples"
        if (status == PUBLISHED) is not bool(text):
            return "it is suppressed in one table and not in the other"
        if text and value != text:
            return "the published value is different"
        apart = self.parameters.get("tell_apart") is True
        if apart and status != table.status[cell]:
            return "the agency's table has a different status"
        return ""

    def _fits(
        self, place: int, cell: int, inside: Mapping[str, tuple[str, ...]], *, signed: bool
    ) -> bool:
        """Whether the interval of a cell that has a published value is what that leaves open."""
        stated = inside["lower"][cell], inside["upper"][cell]
        value, text = inside["value"][cell], self.tables[place].values[cell]
        exact, empty = _spans(stated, number(value)), inside["frequency"][cell] == "0"
        if self.protect not in (_RANDOM, _CONTROLLED, _CELL_KEY, _ADJUST):
            return exact
        if empty and value == text and inside["status"][cell] == PUBLISHED:
            return exact
        if self.protect == _ADJUST:
            shown = inside["status"][cell] == PUBLISHED
            if shown and len(self.tables) == len(self.again) == 1:
                shown = exact = self.again[0].status[cell] == "P"  # must be published
            return (exact and shown) or stated == ("" if signed else "0", "")
        reach = self.parameters["deviation" if self.protect == _CELL_KEY else "base"]
        middle, far = number(text), fraction_of(str(reach))
        low = middle - far if signed else max(middle - far, Fraction(0))
        return _spans(stated, low, middle + far)

    def attacked(
        self, recorded: Mapping[str, object] | None, token: CancelToken
    ) -> list[ClaimCheck]:
        """What an attacker can tell of suppressed cells."""
        from dpdesk.verifiers.tables.attacked import Attacked
        from dpdesk.verifiers.tables.attacks import (
            compared,
            held,
            open_check,
            told_as_present,
            told_as_whole,
            unprotected,
        )

        promised = as_table(as_table(self.manifest["guarantee"])["parameters"])
        if promised.get("audited") is not True:
            found = "the release promises nothing about what can be computed back"
            nothing = ClaimCheck(ATTACK, CheckStatus.NOT_CHECKABLE, found, MANIFEST)
            return [nothing, *self._unpromised(token)]
        tables, internal, path = self.tables, self.internal, self.tables[0].file
        if means := any(line["measure"] == "mean" for line in self.lines):
            sums = self._of_sums()
            if sums is None:
                found = "cells hold means, whose sums are not published"
                return [ClaimCheck(ATTACK, CheckStatus.NOT_CHECKABLE, found, path)]
            tables, internal = sums
        attacked = Attacked.of(tables, self.numbers(), self.sums)
        known = self._known(promised, tables)
        checks = []
        if not known.lower and known.upper is None and not means:
            # Of the files alone: that a safe cell follows from which rows are where harms nobody.
            shown = replace(attacked, sums=())
            checks.append(open_check(shown, known.signed, token, internal))
        if internal is None:
            found = "only the agency knows how far unsafe cells must be protected"
            return [*checks, ClaimCheck(ATTACK, CheckStatus.NOT_CHECKABLE, found, path)]
        alone, source = promised.get("singletons") is True, bool(self.again)
        fault, ranges, looked = unprotected(
            *(attacked, internal, known),
            singletons=alone,
            token=token,
            merged=source,
            owners=self._owners() if source else None,
        )
        inside = _inside(self.lines)
        said = held(attacked, internal, looked, singletons=alone)
        checks.append(_check(ATTACK, fault, said, path))
        checks.append(_check(RANGES, ranges, compared(attacked, internal), inside))
        if recorded is None:
            return checks
        whole = told_as_whole(attacked, internal, known, token)
        checks.append(_as_whole(whole, recorded, merged=source))
        if known.present:
            return checks
        told = told_as_present(attacked, internal, known, token)
        return [*checks, _as_present(told, recorded, merged=source)]

    def together(self, recorded: Mapping[str, object] | None) -> list[ClaimCheck]:
        """Whether it is said rightly if sums that tables have in common are reckoned with."""
        promised = as_table(as_table(self.manifest["guarantee"])["parameters"])
        if len(self.tables) < 2 or recorded is None or promised.get("audited") is not True:
            return []
        stated, spans = recorded.get("together"), list(zip(self.measures, self.tables, strict=True))
        sides = [(added_up(one), innermost(table)) for one, table in spans]
        pairs = combinations(sides, 2)
        bear = any(a == b and here - there and there - here for (a, here), (b, there) in pairs)
        if not self.again and bear:
            said = "which cells hold the same rows is known from the source alone"
            return [ClaimCheck(TOGETHER, CheckStatus.NEEDS_SOURCE, said, EVIDENCE)]
        ready = any(each.rows is None for each in self.again)
        found = "ready" if ready else "empty" if self.grouped else "used"
        found = ("used" if self.complete else "partly") if found == "used" else found
        fault = msg("`{key}` is not what the agency's tables give", key="result, together")
        fault = "" if stated == (found if bear else "alone") else fault
        said = "which cells hold the same rows together was found again"
        return [_check(TOGETHER, fault, said, EVIDENCE)]

    def _unpromised(self, token: CancelToken) -> list[ClaimCheck]:
        """The intervals of suppressed cells that nothing is promised of."""
        from dpdesk.verifiers.tables.attacked import Attacked
        from dpdesk.verifiers.tables.attacks import compared, unprotected

        if self.internal is None or any(line["measure"] == "mean" for line in self.lines):
            return []
        attacked = Attacked.of(self.tables, self.numbers(), self.sums)
        known = self._known(as_table(self.parameters.get("attacker") or {}), self.tables)
        _, ranges, _ = unprotected(
            *(attacked, self.internal, known),
            singletons=False,
            token=token,
            merged=bool(self.again),
        )
        return [_check(RANGES, ranges, compared(attacked, self.internal), _inside(self.lines))]

    def moved(self) -> ClaimCheck:
        """Whether every unsafe cell is published as another value, as far away as is asked."""
        path = self.tables[0].file
        if self.internal is None:
            found = "only the agency knows how far unsafe cells must be protected"
            return ClaimCheck(MOVED, CheckStatus.NOT_CHECKABLE, found, path)
        for table, again in zip_longest(self.tables, self.again):
            inside = self.internal[table.file].internal
            for cell, text in enumerate(table.values):
                change = number(text) - number(inside["value"][cell])
                if inside["status"][cell] == PRIMARY:
                    needs = [number(inside[f"{end}_required"][cell]) for end in ("upper", "lower")]
                    up, down = (need * (1 - _CLOSE) for need in needs)
                    fault = "it is unsafe and was not moved as far as required"
                    fits = change >= up if change > 0 else change < 0 and -change >= down
                else:
                    fault = "it must be published as it is, and was changed"
                    fits = again is None or again.status[cell] != "P" or not change
                if not fits:
                    said = msg("cell {cell}: {fault}", cell=place_of(table, cell), fault=fault)
                    return _check(MOVED, said, "", path)
        return _check(
            MOVED, "", "every unsafe cell is at least as far from its value as required", path
        )

    def narrowed(self, token: CancelToken) -> ClaimCheck:
        """How closely changed cells can be told; nothing of that is promised."""
        from dpdesk.verifiers.tables.attacked import Attacked
        from dpdesk.verifiers.tables.attacks import (
            MOST_FLAT,
            MOST_ROUNDED,
            told_by_rounding,
        )

        path, cells = self.tables[0].file, sum(len(table.values) for table in self.tables)
        if self.internal is None:
            found = "only the agency knows how far unsafe cells must be protected"
            return ClaimCheck(NARROWED, CheckStatus.NOT_CHECKABLE, found, path)
        # Programs of one table by two dimensions are solved in a moment, those of others are not.
        most = MOST_FLAT if [len(one.axes) for one in self.tables] in ([1], [2]) else MOST_ROUNDED
        # A rounded value is less than the base from the true one, a changed count at most so far.
        keyed = self.protect == _CELL_KEY
        base = fraction_of(str(self.parameters["deviation" if keyed else "base"])) + int(keyed)
        short, unsafe = told_by_rounding(
            *(Attacked.of(self.tables, self.numbers(), self.sums), self.internal, base),
            self._known({}, self.tables).signed,
            [measure == "count" for measure in self.measures],
            token,
            programs=cells <= most,
        )
        found = "every unsafe cell's interval reaches as far as required on both sides"
        if not unsafe:
            found = "no cell is unsafe by the rules"
        elif cells > most:
            found = msg(
                "{n:,} of {all:,} unsafe cells can be determined more closely than the rules "
                "allow from the largest possible change and single sums; whether all sums together "
                "tell others was not looked at, since there are more than {most:,} cells",
                n=short,
                all=unsafe,
                most=most,
            )
            return ClaimCheck(NARROWED, CheckStatus.NOT_CHECKABLE, found, path)
        elif short:
            found = msg(
                "{n:,} of {all:,} unsafe cells can be determined more closely than the rules "
                "allow, just from the largest possible change and the sums",
                n=short,
                all=unsafe,
            )
        return ClaimCheck(NARROWED, CheckStatus.CONFIRMED, found, path)

    def _known(self, promised: Mapping[str, object], tables: Sequence[CellTable]) -> Known:
        """What everyone knows of each cell; which tables have negative ones, as far as is told."""
        from dpdesk.verifiers.tables.attacks import Known

        below = set()
        for table, measure in zip(tables, map(str, self.measures), strict=True):
            inside = None if self.internal is None else self.internal[table.file].internal["value"]
            if any(text.startswith("-") for text in inside or table.values):
                below.add(measure)
        signed = [str(measure) in below for measure in self.measures]
        upper = promised.get("upper")
        return Known(
            float(fraction_of(str(promised.get("lower", 0)))),
            None if upper is None else float(fraction_of(str(upper))),
            promised.get("present") is True,
            tuple(signed),
            tuple(str(line["measure"]) == "count" for line in self.lines),
        )

    def _owners(self) -> Mapping[int, int] | None:
        """By the numbers of cells who is alone in each; None where the source does not tell."""
        known: dict[object, int] = {}
        found: dict[int, int] = {}
        every = zip(self.numbers(), self.again, self.measures, strict=True)
        for own, again, measure in every:
            if again.alone is None:
                return None
            for cell, who in zip(own, again.alone, strict=True):
                if who is not None:
                    key = added_up(measure), who
                    found[cell] = known.setdefault(key, len(known))
        return found

    def _of_sums(self) -> tuple[list[CellTable], Mapping[str, CellTable]] | None:
        """The tables with sums for means, which the source alone gives; None where it cannot."""
        assert self.internal is not None or not self.again
        tables: list[CellTable] = []
        kept: dict[str, CellTable] = {}
        for table, again in zip(self.tables, self.again, strict=False):
            inside = self.internal[table.file] if self.internal is not None else table
            weights = again.weights or (Fraction(1),) * len(table.values)
            hidden = [w for w, text in zip(weights, table.values, strict=True) if not text]
            if any(weight <= 0 for weight in hidden):
                return None
            sums = [str(one) for one in again.sums]
            shown = tuple(x and text for x, text in zip(table.values, sums, strict=True))
            amounts = {
                key: tuple(
                    text and repr(float(number(text) * weight))
                    for text, weight in zip(texts, weights, strict=True)
                )
                for key, texts in inside.internal.items()
                if key not in ("value", "status", "frequency", *MOVED_COLUMNS)
            }
            own = {
                **inside.internal,
                **amounts,
                "value": tuple(repr(float(Fraction(x))) for x in sums),
            }
            tables.append(replace(table, values=shown))
            kept[table.file] = replace(inside, internal=own)
        return (tables, kept) if tables else None

    def _full(self, given: Given) -> Mapping[str, Mapping[int, tuple[Fraction, Fraction]]]:
        """What cells of whole groups need, by table and cell."""
        assert self.internal is not None
        numbers, inside = self.numbers(), [self.internal[table.file] for table in self.tables]
        counts = [measure == "count" for measure in self.measures]
        needs = full_needs(list(zip(self.tables, inside, numbers, counts, strict=True)), given)
        return {
            table.file: {cell: needs[each] for cell, each in enumerate(own) if each in needs}
            for table, own in zip(self.tables, numbers, strict=True)
        }

    def recounted(
        self, given: Given | None, recorded: Mapping[str, object] | None
    ) -> list[ClaimCheck]:
        """The agency's tables and the figures of the evidence against the source."""
        if given is None or self.internal is None:
            found = "the true values of the cells are compared when the source is given"
            status = CheckStatus.NEEDS_SOURCE
            claims = (CELLS_COUNTED, BY_RULES)
            return [ClaimCheck(each, status, found, MANIFEST) for each in claims]
        counts, ruled, full = "", "", self._full(given)
        every = zip(self.tables, self.again, self.measures, strict=True)
        for table, again, measure in every:
            inside = self.internal[table.file]
            counts = counts or other_counts(table, inside, again)
            ruled = ruled or other_status(
                table, inside, again, given, full[table.file], counts=measure == "count"
            )
        path, numbers = _inside(self.lines), self.numbers()
        checks = [
            _check(CELLS_COUNTED, counts, "counted again, the same", path),
            _check(BY_RULES, ruled, "judged again, the same", path),
        ]
        if recorded is not None:
            kept = [self.internal[table.file] for table in self.tables]
            tables = list(zip(self.tables, kept, numbers, self.again, strict=True))
            fault = other_figures(recorded, tables, self.protect, given)
            checks.append(
                _check(FIGURES, fault, "counted again, the same", "internal/evidence.json")
            )
        return checks

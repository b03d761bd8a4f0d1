"""Checking released tables from their files, and with the source where that is at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.published import CELLS_COUNTED, CheckStatus, ClaimCheck
from dpdesk.core.shapes import as_list, as_table
from dpdesk.core.tabulation import PRIMARY, PUBLISHED, SECONDARY, SUPPRESSED, CellTable
from dpdesk.verifiers.reading import guarantee_of, number
from dpdesk.verifiers.tables.published import ReadTable, numbered, place_of, unsummed
from dpdesk.verifiers.tables.source import Given, full_needs, other_counts, other_status, recount
from dpdesk.verifiers.worded import Sentences, first_difference

if TYPE_CHECKING:
    from dpdesk.verifiers.tables.attacks import Known

MANIFEST = "manifest.json"
MODELS = {
    "suppress": "cell-suppression",
    "controlled-round": "controlled-rounding",
    "random-round": "random-rounding",
    "none": "unprotected-tables",
}
_SUPPRESS, _RANDOM, _CONTROLLED = "suppress", "random-round", "controlled-round"
WORDS = "the words of the guarantee"
KEPT = "the agency's tables"
ATTACK = "protection of unsafe cells"
RANGES = "intervals of suppressed cells"
BY_RULES = "cells are unsafe by the rules of the plan"


def verify_tables(
    manifest: Mapping[str, object],
    published: Mapping[str, CellTable],
    internal: Mapping[str, CellTable] | None,
    worded: Sentences,
    given: Given | None,
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """Every claim of a manifest of the method ``table``; see :meth:`CellsMethod.verify`.

    ``worded`` is its guarantee in words again. Whatever is malformed raises ValueError, TypeError,
    KeyError or ArithmeticError.
    """
    parameters, result = as_table(manifest["parameters"]), as_table(manifest["result"])
    protect = str(parameters.get("protect", _SUPPRESS))
    lines = [as_table(item) for item in as_list(result["tables"])]
    checks = [_words(manifest, worded, protect, parameters)]
    read: dict[str, ReadTable] = {}
    for line in lines:
        token.check()
        file = str(line["file"])
        table = published[file]
        fault, found = _values(table, line, protect, parameters)
        if found is not None:
            read[file] = found
        checks.append(_check(msg("values of {file}", file=file), fault, _added(protect), file))
    checks.append(_shared(published, lines, parameters))
    cells = sum(len(table.values) for table in published.values())
    checks.append(_counted("cells", result, cells))
    suppressed = sum(table.suppressed for table in published.values())
    checks.append(_counted("suppressed", result, suppressed))
    if any(check.status is CheckStatus.FAILED for check in checks):
        return tuple(checks)
    case = _Case(manifest, published, internal, lines, protect)
    if internal is not None:
        checks.append(
            _check(KEPT, case.other_kept(), "they fit the published ones", _inside(lines))
        )
        if checks[-1].status is CheckStatus.FAILED:
            return tuple(checks)
    if protect == _SUPPRESS:
        checks += case.attacked(token)
    return (*checks, *case.recounted(given, token))


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
        fault = "it is of another model than the settings say"
    elif protect == _SUPPRESS:
        wide = as_table(parameters.get("attacker", {"lower": 0}))
        same = Fraction(str(promised.get("lower", 0))) == Fraction(str(wide.get("lower", 0)))
        upper = promised.get("upper"), wide.get("upper")
        if (
            not same
            or (upper[0] is None) is not (upper[1] is None)
            or (upper[0] is not None and Fraction(str(upper[0])) != Fraction(str(upper[1])))
        ):
            fault = "it assumes another knowledge of cells than the settings say"
        elif promised.get("singletons") is not (parameters.get("singletons", True) is True):
            fault = "it assumes another attacker than the settings say"
    elif protect in (_RANDOM, _CONTROLLED) and promised.get("base") != parameters.get("base"):
        fault = "it names another base than the settings"
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
) -> tuple[str, ReadTable | None]:
    """What is wrong with the values and statuses of a table; it with numbers otherwise."""
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
            ), None
        if bool(value) is not (status == PUBLISHED):
            return msg(
                "cell {cell}: its status {status} does not fit its value",
                cell=place_of(table, cell),
                status=status,
            ), None
    if line["cells"] != len(table.values) or line["suppressed"] != table.suppressed:
        return "the manifest states another number of cells or of suppressed ones", None
    try:
        read = ReadTable.of(table)
    except (ValueError, TypeError):
        return "a value is not a number", None
    if protect in (_RANDOM, _CONTROLLED):
        base = Fraction(str(parameters["base"]))
        off = [i for i, value in enumerate(read.values) if value is not None and value % base]
        if off:
            return msg(
                "cell {cell}: it is not a multiple of {base}",
                cell=place_of(table, off[0]),
                base=str(base),
            ), None
    if protect != _RANDOM and line["measure"] != "mean":
        unequal = unsummed(read)
        if unequal:
            return msg("cell {cell}: it is not the sum of its parts", cell=unequal), None
    return "", read


def _added(protect: str) -> str:
    if protect == _RANDOM:
        return "every status fits, and every value is a multiple of the base"
    return "every status fits, and every published total is the sum of its parts"


def _shared(
    published: Mapping[str, CellTable],
    lines: list[Mapping[str, object]],
    parameters: Mapping[str, object],
) -> ClaimCheck:
    """Cells of several tables that count the same have the same value and status."""
    claim, path = "shared cells", str(lines[0]["file"])
    planned = as_list(parameters.get("tables", []))
    usual = parameters.get("measure", "count")
    measures = [str(as_table(one).get("measure", usual)) for one in planned] or [str(usual)]
    tables = [published[str(line["file"])] for line in lines]
    if len(measures) != len(tables):
        return _check(claim, "the settings name another number of tables", "", MANIFEST)
    seen: dict[int, tuple[str, str]] = {}
    pairs = list(zip(tables, measures, strict=True))
    for table, numbers in zip(tables, numbered(pairs), strict=True):
        for cell, same in enumerate(numbers.tolist()):
            here = table.values[cell], table.status[cell]
            if seen.setdefault(same, here) != here:
                fault = msg(
                    "cell {cell}: another cell that counts the same has another value or status",
                    cell=place_of(table, cell),
                )
                return _check(claim, fault, "", table.file)
    return _check(claim, "", "cells that count the same are alike wherever they stand", path)


def _counted(key: str, result: Mapping[str, object], actual: int) -> ClaimCheck:
    stated = result[key]
    fault = ""
    if isinstance(stated, bool) or stated != actual:
        fault = msg("found {actual}, the manifest states another number", actual=actual)
    return _check(key, fault, msg("{actual:,} counted", actual=actual), MANIFEST)


@dataclass(frozen=True)
class _Case:
    """A release whose tables can be read: what is beyond single cells."""

    manifest: Mapping[str, object]
    published: Mapping[str, CellTable]
    internal: Mapping[str, CellTable] | None
    lines: list[Mapping[str, object]]
    protect: str

    @property
    def parameters(self) -> Mapping[str, object]:
        return as_table(self.manifest["parameters"])

    @property
    def measures(self) -> list[object]:
        """What each table adds up."""
        planned = as_list(self.parameters.get("tables", []))
        usual = self.parameters.get("measure", "count")
        return [as_table(one).get("measure", usual) for one in planned] or [usual]

    def other_kept(self) -> str:
        """What does not fit between the agency's tables and the published ones."""
        assert self.internal is not None
        for file, table in self.published.items():
            inside = self.internal[file].internal
            for cell, text in enumerate(table.values):
                fault = self._other_cell(table, inside, cell, text)
                if fault:
                    return msg("cell {cell}: {fault}", cell=place_of(table, cell), fault=fault)
            if all(str(line["measure"]) != "mean" for line in self.lines):
                wrong = unsummed(ReadTable.of(replace(table, values=inside["value"])))
                if wrong:
                    return msg("cell {cell}: it is not the sum of its parts", cell=wrong)
        return ""

    def _other_cell(
        self, table: CellTable, inside: Mapping[str, tuple[str, ...]], cell: int, text: str
    ) -> str:
        value, status = inside["value"][cell], inside["status"][cell]
        if status not in (PUBLISHED, PRIMARY, SECONDARY) or not value:
            return "the agency's table has no value or another status"
        if self.protect != _SUPPRESS:
            if self.protect not in (_RANDOM, _CONTROLLED):
                return "" if value == text else "the published value is another"
            base = Fraction(str(self.parameters["base"]))
            away = abs(number(value) - number(text))
            fits = away < base and (number(value) % base or not away)
            return "" if fits else "it was rounded to another multiple than the two next to it"
        if (status == PUBLISHED) is not bool(text):
            return "it is suppressed in one table and not in the other"
        if text and value != text:
            return "the published value is another"
        apart = self.parameters.get("tell_apart") is True
        if apart and status != table.status[cell]:
            return "the agency's table has another status"
        return ""

    def attacked(self, token: CancelToken) -> list[ClaimCheck]:
        """What an attacker can tell of suppressed cells."""
        from dpdesk.verifiers.tables.attacks import (
            Attacked,
            compared,
            held,
            told_in_public,
            unprotected,
            words,
        )

        promised = as_table(as_table(self.manifest["guarantee"])["parameters"])
        if promised.get("audited") is not True:
            found = "the release promises nothing of what can be computed back"
            return [ClaimCheck(ATTACK, CheckStatus.NOT_CHECKABLE, found, MANIFEST)]
        tables = [self.published[str(line["file"])] for line in self.lines]
        pairs = [(table, str(one)) for table, one in zip(tables, self.measures, strict=True)]
        numbers = [each.tolist() for each in numbered(pairs)]
        attacked = Attacked.of(tables, numbers)
        path, means = tables[0].file, "mean" in {str(line["measure"]) for line in self.lines}
        if means:
            found = "cells hold means, whose sums are not published"
            return [ClaimCheck(ATTACK, CheckStatus.NOT_CHECKABLE, found, path)]
        known = self._known(promised, tables)
        checks = []
        if not known.lower and known.upper is None:
            fault = told_in_public(attacked, known.signed, token)
            said = msg(
                "{n}, and none can be computed from the published ones",
                n=words(len(attacked.unknown)),
            )
            checks.append(_check("suppressed cells stay uncertain", fault, said, path))
        if self.internal is None:
            found = "how far unsafe cells must be protected is known to the agency alone"
            return [*checks, ClaimCheck(ATTACK, CheckStatus.NOT_CHECKABLE, found, path)]
        alone = promised.get("singletons") is True
        fault, recorded = unprotected(attacked, self.internal, known, singletons=alone, token=token)
        inside = _inside(self.lines)
        said = held(attacked, self.internal, singletons=alone)
        checks.append(_check(ATTACK, fault, said, path))
        checks.append(_check(RANGES, recorded, compared(len(attacked.unknown)), inside))
        return checks

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
            float(Fraction(str(promised.get("lower", 0)))),
            None if upper is None else float(Fraction(str(upper))),
            tuple(signed),
        )

    def _full(self, given: Given) -> Mapping[str, Mapping[int, tuple[Fraction, Fraction]]]:
        """What cells of whole groups need, by table and cell."""
        assert self.internal is not None
        tables = [self.published[str(line["file"])] for line in self.lines]
        pairs = [(table, str(one)) for table, one in zip(tables, self.measures, strict=True)]
        numbers = [each.tolist() for each in numbered(pairs)]
        inside = [self.internal[table.file] for table in tables]
        counts = [measure == "count" for measure in self.measures]
        needs = full_needs(list(zip(tables, inside, numbers, counts, strict=True)), given)
        return {
            table.file: {cell: needs[each] for cell, each in enumerate(own) if each in needs}
            for table, own in zip(tables, numbers, strict=True)
        }

    def recounted(self, given: Given | None, token: CancelToken) -> list[ClaimCheck]:
        """The agency's tables against the source."""
        if given is None or self.internal is None:
            found = "the true values of the cells are compared when the source is given"
            status = CheckStatus.NEEDS_SOURCE
            return [ClaimCheck(each, status, found, MANIFEST) for each in (CELLS_COUNTED, BY_RULES)]
        total = str(self.parameters.get("total", "Total"))
        counts, ruled, full = "", "", self._full(given)
        for line, measure in zip(self.lines, self.measures, strict=True):
            table = self.published[str(line["file"])]
            inside = self.internal[table.file]
            again = recount(table, measure, given, total, token)
            counts = counts or other_counts(table, inside, again)
            ruled = ruled or other_status(
                table, inside, again, given, full[table.file], counts=measure == "count"
            )
        path = _inside(self.lines)
        return [
            _check(CELLS_COUNTED, counts, "counted again, the same", path),
            _check(BY_RULES, ruled, "judged again, the same", path),
        ]

"""Items about the published table as a whole: classes, suppression, what a class gives away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from dpdesk.core.messages import counted, joined, msg
from dpdesk.core.plain import number_text, quoted
from dpdesk.core.release import ColumnFacts, SpreadFacts, TableFacts
from dpdesk.core.schema import Role
from dpdesk.project.review.questions import (
    Answer,
    Basis,
    Case,
    Question,
    TableQuestion,
    named,
    part,
    percent,
    share_of,
    value,
)
from dpdesk.project.review.votes import ItemStatus as Status

# Questions about protected tables: what protects cells, what the rules found, other tables.


PROTECTED, NARROWED = "protection of unsafe cells", "how closely changed cells can be told"
PRESENT = "what published empty cells tell of suppressed ones"
_TOLD = "told_exactly_if_present", "told_closer_if_present"
AS_WHOLE = "what whole numbers tell of suppressed counts"
_WHOLE = "told_exactly_as_whole", "told_closer_as_whole", "undecided_as_whole"
EARLIER = "what earlier tables of the same people tell"
EARLIER_IF = "what earlier tables of other files tell if their rows are the same"
_SAME_ROWS = (
    "Ask whether these are the same people with the same values. Where they are, protect the "
    "tables together; where they are others, name another population in the plan."
)
TOGETHER = "what the tables of the plan tell together"
_AS_PRESENT = (
    "Protect against that too: add `present = true` to `attacker` in the plan, as in `attacker = "
    "{ lower = 0, present = true }`, and release again."
)
_AGAIN = "Do not publish it; make the release again."
_UNPROTECTED, _SUPPRESSION, _KEYED = "unprotected-tables", "cell-suppression", "cell-keys"
_CHANGED, MOVED = "controlled-adjustment", "how far unsafe cells were moved"


def _rules(case: Case) -> Answer:
    """Whether there are rules, and how many cells they found."""
    evidence = case.facts.release.evidence
    # As the tables print them, like the numbers of cells and of suppressed ones next to it.
    figures = {str(figure["key"]): figure["value"] for figure in evidence.figures}
    unsafe = figures.get("unsafe_cells", evidence.result.get("primary"))
    if not isinstance(unsafe, int | float) or isinstance(unsafe, bool):
        text = "The internal part, which says what the rules found, is not available."
        return Answer(Status.REVIEW, text, Basis.EVIDENCE, "Check the whole release folder.")
    if not evidence.parameters.get("rule") and not evidence.parameters.get("cells"):
        text = "The plan has no rule, so no cell counts as unsafe, however small it is."
        return Answer(Status.FAIL, text, Basis.EVIDENCE, "Add rules to the plan and release again.")
    confirmed = case.facts.confirmed("cells are unsafe by the rules of the plan")
    text = counted(
        "{n} cell is unsafe by the rules.", "{n} cells are unsafe by the rules.", n=int(unsafe)
    )
    advice = "Judge whether the rules are those of the agency."
    basis = Basis.SOURCE if confirmed else Basis.EVIDENCE
    return Answer(Status.REVIEW, text, basis, advice)


def _protection(case: Case) -> Answer:
    """Whether unsafe cells are protected as far as the rules ask."""
    stated = case.facts.release.manifest.guarantee
    if stated.model == _UNPROTECTED:
        text = "The tables are published as they were counted; nothing is protected."
        return Answer(Status.FAIL, text, Basis.MANIFEST, "Choose a protection and release again.")
    if stated.model != _SUPPRESSION:
        base, most = (str(stated.parameters.get(key)) for key in ("base", "deviation"))
        text = msg("Every value is rounded to a multiple of {base}.", base=base)
        if stated.model == _KEYED:
            text = msg("Every count is changed at random by at most {most}.", most=most)
        if stated.model == _CHANGED:
            text = "Every unsafe cell is published with another value."
        told = case.facts.claim(MOVED if stated.model == _CHANGED else NARROWED)
        if told is not None:
            text = joined([text, msg("When attacked again: {found}.", found=told.found)])
        advice = "Judge whether such changes alone are enough for the smallest cells."
        return Answer(Status.REVIEW, text, Basis.FILES, advice)
    if stated.parameters.get("audited") is not True:
        text = "Only unsafe cells are suppressed, so many can be computed back from totals."
        return Answer(
            Status.FAIL, text, Basis.MANIFEST, "Let secondary cells be suppressed as well."
        )
    if case.facts.confirmed(PROTECTED):
        text = "When attacked again, every unsafe cell stays as uncertain as the rules require."
        return Answer(Status.PASS, text, Basis.FILES)
    text = "It could not be shown that unsafe cells stay as uncertain as the rules require."
    failed = case.facts.report.failures
    return Answer(Status.FAIL if failed else Status.REVIEW, text, Basis.FILES, _AGAIN)


def _present(case: Case) -> Answer | None:
    """What readers can tell who conclude from published empty cells that others are not empty."""
    release = case.facts.release
    stated = release.manifest.guarantee
    audited = stated.model == _SUPPRESSION and stated.parameters.get("audited") is True
    if not audited or stated.parameters.get("present") is True:
        return None
    exact, closer = (release.evidence.result.get(key) for key in _TOLD)
    if type(exact) is not int or type(closer) is not int:
        text = "The internal part, which says what empty cells reveal, is not available."
        return Answer(Status.REVIEW, text, Basis.EVIDENCE, "Check the whole release folder.")
    if exact or closer:
        text = msg(
            "The guarantee does not cover readers who conclude from the published empty cells "
            "that no suppressed one is empty. Unsafe cells that they know exactly: {exact:,}; "
            "others that they can determine more closely than the rules allow: {closer:,}.",
            exact=exact,
            closer=closer,
        )
        status = Status.FAIL if exact else Status.REVIEW
        known = release.evidence.parameters.get("attacker")
        given = dict(known) if isinstance(known, Mapping) else {"lower": 0}
        remedy = {"attacker": {**given, "present": True}}
        return Answer(status, text, Basis.EVIDENCE, _AS_PRESENT, remedy=remedy)
    if case.facts.confirmed(PRESENT):
        text = (
            "When attacked again, empty cells reveal no more about unsafe ones than the rules "
            "allow."
        )
        return Answer(Status.PASS, text, Basis.FILES)
    text = "It could not be shown that empty cells reveal no more than the rules allow."
    failed = case.facts.report.failures
    return Answer(Status.FAIL if failed else Status.REVIEW, text, Basis.FILES, _AGAIN)


def _as_whole(case: Case) -> Answer | None:
    """What readers can tell who use that counts are whole numbers."""
    release = case.facts.release
    stated = release.manifest.guarantee
    if stated.model != _SUPPRESSION or stated.parameters.get("audited") is not True:
        return None
    numbers = [release.evidence.result.get(key) for key in _WHOLE]
    exact, closer, undecided = (n if type(n) is int else -1 for n in numbers)
    if min(exact, closer, undecided) < 0:
        text = "The internal part, which says what whole numbers reveal, is not available."
        return Answer(Status.REVIEW, text, Basis.EVIDENCE, "Check the whole release folder.")
    if exact or closer or undecided:
        text = msg(
            "The guarantee does not cover readers who use that counts are whole numbers. Unsafe "
            "counts that they know exactly: {exact:,}; others that they can determine more "
            "closely than the rules allow: {closer:,}; not decided: {undecided:,}.",
            exact=exact,
            closer=closer,
            undecided=undecided,
        )
        advice = "Ask for a wider `range` in the rule, or suppress a cell next to them by hand."
        return Answer(Status.FAIL if exact else Status.REVIEW, text, Basis.EVIDENCE, advice)
    if case.facts.confirmed(AS_WHOLE):
        text = (
            "When attacked again, whole numbers reveal no more about unsafe counts than the rules "
            "allow."
        )
        return Answer(Status.PASS, text, Basis.FILES)
    text = "It could not be shown that whole numbers reveal no more than the rules allow."
    failed = case.facts.report.failures
    return Answer(Status.FAIL if failed else Status.REVIEW, text, Basis.FILES, _AGAIN)


def _together(case: Case) -> Answer | None:
    """What the tables of the plan tell next to each other, by which rows are in their cells."""
    release = case.facts.release
    stated, tables = release.manifest.guarantee, release.manifest.result.get("tables")
    several = isinstance(tables, list | tuple) and len(tables) > 1
    audited = stated.model == _SUPPRESSION and stated.parameters.get("audited") is True
    if not several or not audited:
        return None
    known, found = _TOGETHER, str(release.evidence.result.get("together"))
    if found in known:
        advice = (
            "Find out whether values of one table's columns decide those of another's, such as "
            "towns their district, and whether the notes name cells; say why none is given away, "
            "or make one hierarchy of such columns, or one table, and release again."
        )
        return Answer(Status.FAIL, known[found], Basis.EVIDENCE, advice)
    if found not in ("alone", "used"):
        text = "It is not recorded what the tables of the plan tell together."
        return Answer(Status.FAIL, text, Basis.EVIDENCE, _AGAIN)
    if case.facts.confirmed(TOGETHER):
        text = "Cells of several tables that hold the same rows together are protected together."
        if found == "alone":
            text = "No cells of two tables can be sums of each other that the tables do not show."
        return Answer(Status.PASS, text, Basis.FILES)
    text = "It was not found again which cells of the tables hold the same rows together."
    failed = case.facts.report.failures
    advice = "Check the release with its source."
    return Answer(Status.FAIL if failed else Status.REVIEW, text, Basis.FILES, advice)


_TOGETHER: Mapping[str, str] = {
    "partly": "What three or more tables of the plan tell together was not looked for: they are "
    "too large. What each two tell is taken into account.",
    "empty": "What tables of the plan tell together, where cells of both hold the same rows, is "
    "not taken into account, since empty cells may be suppressed.",
    "ready": "What tables of the plan tell together, where cells of both hold the same people or "
    "companies, is not taken into account: of ready cells no one knows who is in them.",
}
"""What a person has to decide, since nothing was computed of it."""


def _known(case: Case) -> Answer | None:
    """What the protection takes for granted that others know."""
    stated = case.facts.release.manifest.guarantee
    if stated.model != _SUPPRESSION:
        return None
    text = msg(
        "Assumed: what others know about cells beforehand, and that contributors do not tell "
        "each other what they gave."
    )
    if stated.parameters.get("singletons") is not True:
        text += " Contributors who are alone in a cell are not counted among the attackers."
    advice = (
        "Ask who could know more: competitors, trade associations, the contributors themselves."
    )
    return Answer(Status.REVIEW, text, Basis.PERSON, advice)


def _other_tables(case: Case) -> Answer:
    """Whether other tables of the same people were published."""
    told = case.facts.claim(EARLIER)
    if told is not None and not case.facts.confirmed(EARLIER):
        return Answer(Status.FAIL, told.found, Basis.SOURCE, _AGAIN)
    supposed = case.facts.claim(EARLIER_IF)
    if supposed is not None:
        return Answer(Status.REVIEW, supposed.found, Basis.PERSON, _SAME_ROWS)
    text = (
        "Other tables about the same people or companies can be combined with these; no file "
        "shows what else was released."
    )
    advice = (
        "Ask which tables share cells, totals or regions with these, and protect them together."
    )
    return Answer(Status.REVIEW, text, Basis.PERSON, advice)


def _sizes(case: Case) -> Answer:
    """How much is published, and how much is not."""
    result: Mapping[str, object] = case.facts.release.manifest.result
    cells, gone = result.get("cells"), result.get("suppressed")
    if not isinstance(cells, int) or not isinstance(gone, int):
        text = "The manifest does not say how many cells there are."
        return Answer(Status.FAIL, text, Basis.MANIFEST, _AGAIN)
    text = msg("{gone:,} of {cells:,} cells are suppressed.", gone=gone, cells=cells)
    basis = Basis.FILES if case.facts.confirmed("suppressed") else Basis.MANIFEST
    return Answer(
        Status.PASS if gone < cells else Status.REVIEW,
        text,
        basis,
        "Judge whether the table is still useful.",
    )


CELL_ITEMS: tuple[Question, ...] = (
    Question("unsafe-cells", "Which cells are unsafe?", _rules),
    Question("protected-cells", "Are unsafe cells protected?", _protection),
    Question("empty-cells", "Do published empty cells reveal more?", _present),
    Question("whole-numbers", "Do whole numbers reveal more?", _as_whole),
    Question("tables-together", "What do the tables tell together?", _together),
    Question("known-cells", "Could someone know more than is assumed?", _known),
    Question("other-tables", "Which other tables were published?", _other_tables),
    Question("cells-left", "How much of the tables is left?", _sizes),
)
"""Questions that protected tables raise, in reading order."""


SMALL_K, SMALL_TABLE = 3, 100
HIGH_SUPPRESSION, HIGH_GROUP, UNEVEN = Fraction(1, 20), Fraction(1, 10), 3
"""What a person judges where the policy sets no limit."""

_TABLE = Basis.TABLE


def _smallest_class(case: Case, table: TableFacts) -> Answer:
    minimum = case.policy.whole("minimum_k")
    if not table.rows:
        advice = "Make a release that keeps some rows."
        return Answer(Status.FAIL, "The table has no rows.", _TABLE, advice)
    text = msg(
        "The smallest class has {smallest}",
        smallest=counted("{n:,} row", "{n:,} rows", n=table.smallest),
    )
    if table.smallest < table.k:
        text += msg(", but the release claims k = {k:,}.", k=table.k)
        return Answer(Status.FAIL, text, _TABLE, "Do not publish it; make the release again.")
    claimed = msg("the release claims {k}", k=f"k = {table.k:,}" if table.k else "no k")
    if minimum is None:
        text += msg("; {claimed}, the policy sets no minimum.", claimed=claimed)
        status = Status.REVIEW if table.k < SMALL_K else Status.PASS
        return Answer(status, text, _TABLE, "Raise k, or say why such a small class is enough.")
    asked = msg("the policy requires {minimum:,} or more", minimum=minimum)
    advice = msg("Run the plan again with k = {n} or more.", n=minimum)
    if table.smallest < minimum:
        return Answer(Status.FAIL, msg("{text}; {asked}.", text=text, asked=asked), _TABLE, advice)
    if table.k < minimum:
        text += msg(
            " and so meets the policy's minimum of {minimum:,}, but only {claimed}.",
            minimum=minimum,
            claimed=claimed,
        )
        return Answer(Status.REVIEW, text, _TABLE, advice)
    return Answer(Status.PASS, msg("{text}; {asked}.", text=text, asked=asked), _TABLE)


def _uniques(case: Case, table: TableFacts) -> Answer:
    if table.uniques:
        text = msg("{uniques} are alone in their class.", uniques=part(table.uniques, table.rows))
        return Answer(Status.FAIL, text, _TABLE, "Do not publish it; make the release again.")
    if not table.with_role(Role.QUASI_IDENTIFIER):
        text = "No quasi-identifiers are named, so no one can say who is alone in a class."
        return Answer(Status.FAIL, text, _TABLE, ("Say what someone could know about a person."))
    text = msg(
        "None of the {rows} is alone in its class.",
        rows=counted("{n:,} row", "{n:,} rows", n=table.rows),
    )
    before = _section(case.facts.release.evidence.risk, "before")
    alone, rows = _whole(before.get("sample_uniques")), _whole(before.get("rows"))
    more = ""
    if alone is not None and rows:
        more = msg(
            "Before protection {alone} were ({evidence}).",
            alone=part(alone, rows),
            evidence=Basis.EVIDENCE.value,
        )
    return Answer(Status.PASS, text, _TABLE, more=more)


def _average_risk(case: Case, table: TableFacts) -> Answer:
    limit = case.policy.share("maximum_average_risk") or Fraction(0)
    if not table.rows:
        return _empty()
    risk = Fraction(table.classes, table.rows)
    text = msg(
        "The average risk is {share_of} ({classes:,} classes in {rows}); the policy "
        "allows {percent}.",
        share_of=share_of(table.classes, table.rows),
        classes=table.classes,
        rows=counted("{n:,} row", "{n:,} rows", n=table.rows),
        percent=percent(limit),
    )
    status = Status.PASS if risk <= limit else Status.FAIL
    return Answer(status, text, _TABLE, "Raise k, or generalise further.")


def _rows(case: Case, table: TableFacts) -> Answer:
    minimum = case.policy.whole("minimum_rows")
    classes = counted("{n:,} class", "{n:,} classes", n=table.classes)
    text = msg(
        "The table has {rows} in {classes}",
        rows=counted("{n:,} row", "{n:,} rows", n=table.rows),
        classes=classes,
    )
    if minimum is not None:
        status = Status.PASS if table.rows >= minimum else Status.FAIL
        text += msg("; the policy requires {minimum:,} rows or more.", minimum=minimum)
        return Answer(status, text, _TABLE, "Publish figures of a larger population instead.")
    if table.rows < SMALL_TABLE:
        advice = "Ask whether so few people can be recognised by who they are."
        return Answer(
            Status.REVIEW,
            msg("{text}, fewer than {small_table}.", text=text, small_table=SMALL_TABLE),
            _TABLE,
            advice,
        )
    return Answer(Status.PASS, msg("{text}.", text=text), _TABLE)


class _Suppressed(NamedTuple):
    rows: int
    whole: int
    basis: Basis


def _suppressed(case: Case, table: TableFacts) -> _Suppressed | None:
    rows = _whole(case.facts.release.manifest.result.get("rows_suppressed"))
    if rows is None:
        return None
    basis = Basis.SOURCE if case.facts.confirmed("rows_suppressed") else Basis.MANIFEST
    removed = _whole(case.facts.release.manifest.result.get("rows_removed")) or 0
    return _Suppressed(rows, table.rows + rows + removed, basis)


def _suppression(case: Case, table: TableFacts) -> Answer:
    found = _suppressed(case, table)
    if found is None:
        text = "The manifest does not say how many rows were suppressed."
        return Answer(Status.FAIL, text, Basis.MANIFEST, "Make the release again.")
    limit = case.policy.share("maximum_suppression")
    text = msg(
        "Of the {whole} of the source, {rows:,} are suppressed ({share_of})",
        whole=counted("{n:,} row", "{n:,} rows", n=found.whole),
        rows=found.rows,
        share_of=share_of(found.rows, found.whole),
    )
    share = Fraction(found.rows, found.whole) if found.whole else Fraction(0)
    advice = "Allow more generalisation, or fewer quasi-identifiers, so that fewer rows are lost."
    if limit is not None:
        allowed = int(limit * found.whole)
        text += msg(
            "; the policy allows {percent}, that is {allowed}.",
            percent=percent(limit),
            allowed=counted("{n:,} row", "{n:,} rows", n=allowed),
        )
        status = Status.PASS if share <= limit else Status.FAIL
        return Answer(status, text, found.basis, advice)
    status = Status.REVIEW if share > HIGH_SUPPRESSION else Status.PASS
    return Answer(status, msg("{text}; the policy sets no limit.", text=text), found.basis, advice)


class _Group(NamedTuple):
    share: Fraction
    attribute: str
    value: str
    suppressed: int
    rows: int


def _who_is_suppressed(case: Case, table: TableFacts) -> Answer:
    found = _suppressed(case, table)
    if found is not None and not found.rows:
        return Answer(Status.PASS, "No row is suppressed.", found.basis)
    groups = _groups(case.facts.release.evidence.utility.get("suppression_by_group"))
    limit = case.policy.share("maximum_group_suppression")
    if not groups:
        text = "It is not known who is suppressed: the figures are in the internal part."
        status = Status.REVIEW if limit is None else Status.FAIL
        return Answer(status, text, Basis.EVIDENCE, "Check the whole release folder.")
    overall = Fraction(found.rows, found.whole) if found and found.whole else Fraction(0)
    worst = groups[0]
    text = msg(
        "Affected most: {suppressed} with {worst} in {attribute} are suppressed",
        suppressed=part(worst.suppressed, worst.rows),
        worst=value(worst.value),
        attribute=quoted(worst.attribute),
    )
    advice = "Tell the users of the data, or generalise so that these people stay in."
    if limit is not None:
        over = [group for group in groups if group.share > limit]
        text += msg(
            "; the policy allows {percent}, and {over:,} of the groups that the evidence lists "
            "exceed it.",
            percent=percent(limit),
            over=len(over),
        )
        return Answer(Status.FAIL if over else Status.PASS, text, Basis.EVIDENCE, advice)
    uneven = worst.share >= HIGH_GROUP and worst.share >= UNEVEN * overall
    text += msg(
        ", of all rows {share_of}.", share_of=share_of(overall.numerator, overall.denominator)
    )
    return Answer(Status.REVIEW if uneven else Status.PASS, text, Basis.EVIDENCE, advice)


def _groups(raw: object) -> list[_Group]:
    found = []
    for each in raw if isinstance(raw, list) else []:
        rows = _whole(_section(each).get("rows"))
        suppressed = _whole(_section(each).get("suppressed"))
        if rows and suppressed is not None:
            names = (str(each.get("attribute")), str(each.get("value")))
            found.append(_Group(Fraction(suppressed, rows), *names, suppressed, rows))
    return sorted(found, key=lambda group: -group.share)


# ---- what a class gives away ---------------------------------------------------------------------


class _Spread(NamedTuple):
    column: ColumnFacts
    facts: SpreadFacts


def _spreads(table: TableFacts, *roles: Role) -> list[_Spread]:
    columns = table.with_role(*roles)
    return [_Spread(column, column.spread) for column in columns if column.spread is not None]


def _homogeneous(case: Case, table: TableFacts) -> Answer:
    limit = case.policy.share("maximum_homogeneous")
    spreads = _spreads(table, Role.SENSITIVE) or _spreads(table, Role.INSENSITIVE)
    if not spreads or not table.rows:
        text = "No sensitive or insensitive column is published."
        return Answer(Status.NOT_APPLICABLE, text, _TABLE)
    hit = [each for each in spreads if each.facts.homogeneous_classes]
    hit.sort(key=lambda each: -each.facts.homogeneous_rows)
    if not hit:
        text = msg(
            "None of the {classes:,} classes holds only one value of {named}.",
            classes=table.classes,
            named=named([each.column.name for each in spreads]),
        )
        return Answer(Status.PASS, text + _dominated(spreads, table), _TABLE)
    text = joined(_homogeneous_words(each, table) for each in hit[:3]) + _dominated(hit, table)
    advice = (
        "Ask for ℓ-diversity or larger classes, or coarsen the column; where the shared "
        "value is harmless, say so."
    )
    if limit is None:
        return Answer(Status.REVIEW, text, _TABLE, advice)
    over = Fraction(hit[0].facts.homogeneous_rows, table.rows) > limit
    text += msg(" The policy allows {percent} of the rows.", percent=percent(limit))
    return Answer(Status.FAIL if over else Status.PASS, text, _TABLE, advice)


def _homogeneous_words(each: _Spread, table: TableFacts) -> str:
    facts, name = each.facts, each.column.name
    text = msg(
        "In {part}, {homogeneous_rows}, everyone has one value of {name}, most often {common}",
        part=part(
            facts.homogeneous_classes,
            table.classes,
            counted("{n:,} class", "{n:,} classes", n=table.classes),
        ),
        homogeneous_rows=counted("{n:,} row", "{n:,} rows", n=facts.homogeneous_rows),
        name=quoted(name),
        common=value(facts.common),
    )
    if facts.common == each.column.top.value:
        text += msg(", which {rows} hold in all", rows=part(each.column.top.rows, table.rows))
    return msg("{text}: anyone who knows the class knows the value.", text=text)


def _dominated(spreads: Sequence[_Spread], table: TableFacts) -> str:
    worst = max(spreads, key=lambda each: each.facts.dominated_rows)
    if not worst.facts.dominated_rows:
        return ""
    classes = counted("{n:,} class", "{n:,} classes", n=worst.facts.dominated_classes)
    return msg(
        " In {classes} more, {part}, one value of {name} has nine tenths or more.",
        classes=classes,
        part=part(worst.facts.dominated_rows, table.rows),
        name=quoted(worst.column.name),
    )


def _diversity(case: Case, table: TableFacts) -> Answer:
    minimum = case.policy.whole("minimum_l") or 0
    spreads = _spreads(table, Role.SENSITIVE)
    if not spreads:
        return _no_sensitive("minimum_l")
    worst = min(spreads, key=lambda each: each.facts.fewest)
    text = msg(
        "A class holds as few as {fewest} of {name}; the policy requires {minimum:,} or more.",
        fewest=counted("{n:,} value", "{n:,} values", n=worst.facts.fewest),
        name=quoted(worst.column.name),
        minimum=minimum,
    )
    status = Status.PASS if worst.facts.fewest >= minimum else Status.FAIL
    return Answer(status, text, _TABLE, "Ask for ℓ-diversity, larger classes or coarser values.")


def _closeness(case: Case, table: TableFacts) -> Answer:
    limit = case.policy.share("maximum_t") or Fraction(0)
    spreads = _spreads(table, Role.SENSITIVE)
    if not spreads:
        return _no_sensitive("maximum_t")
    worst = max(spreads, key=lambda each: each.facts.distance)
    text = msg(
        "The values of {name} in a class are up to {distance:.4f} from those of all "
        "released rows (equal distance); the policy allows {limit}.",
        name=quoted(worst.column.name),
        distance=float(worst.facts.distance),
        limit=number_text(limit),
    )
    status = Status.PASS if worst.facts.distance <= limit else Status.FAIL
    return Answer(status, text, _TABLE, "Ask for t-closeness, larger classes or coarser values.")


def _no_sensitive(key: str) -> Answer:
    text = msg(
        "No published column has the role sensitive, so `{key}` of the policy has no effect.",
        key=key,
    )
    return Answer(Status.REVIEW, text, _TABLE, "Check the roles of the columns.")


def _missing(case: Case, table: TableFacts) -> Answer:
    if not table.missing:
        text = "No quasi-identifier of a published row is missing."
        return Answer(Status.PASS, text, _TABLE)
    columns = [each for each in table.with_role(Role.QUASI_IDENTIFIER) if each.missing]
    columns.sort(key=lambda each: -each.missing)
    which = joined((_lacking(each) for each in columns[:5]), ", ")
    text = msg(
        ("In {missing} a quasi-identifier is missing and counts as a value of its own ({which})."),
        missing=part(table.missing, table.rows),
        which=which,
    )
    advice = "Ask whether others know for whom it is missing; if not, such a row may fit anyone."
    return Answer(Status.REVIEW, text, _TABLE, advice)


def _lacking(column: ColumnFacts) -> str:
    """A column with its missing values, and how many of them its source declared so."""
    text = msg("{name} {n:,}", name=quoted(column.name), n=column.missing)
    if column.user_missing:
        text += msg(
            ", of which declared missing {user_missing:,}", user_missing=column.user_missing
        )
    return text


def _detail(case: Case, table: TableFacts) -> Answer:
    node = _section(case.facts.release.manifest.result, "node")
    lost = [
        each
        for each in table.with_role(Role.QUASI_IDENTIFIER)
        if each.distinct + (each.missing > 0) == 1 and node.get(each.name) != 0
    ]
    if not lost:
        return Answer(Status.PASS, "Every quasi-identifier still distinguishes rows.", _TABLE)
    names = [each.name for each in lost]
    shown = named(sorted({each.top.value for each in lost}))
    text = counted(
        "{names} is at the top of the hierarchy: every row shows {shown}, so nothing "
        "of it is published.",
        "{names} are at the top of the hierarchy: every row shows {shown}, so "
        "nothing of it is published.",
        n=len(names),
        names=named(names),
        shown=shown,
    )
    advice = (
        "Leave it out, or give its hierarchy levels in between, so that others keep more detail."
    )
    return Answer(Status.REVIEW, text, _TABLE, advice)


def _empty() -> Answer:
    return Answer(Status.FAIL, "The table has no rows.", _TABLE, "Make a release that keeps some.")


def _section(raw: object, key: str = "") -> Mapping[str, object]:
    if key:
        raw = raw.get(key) if isinstance(raw, Mapping) else None
    return raw if isinstance(raw, Mapping) else {}


def _whole(raw: object) -> int | None:
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0 else None


TABLE_ITEMS = (
    TableQuestion("smallest-class", "Is the smallest class large enough?", _smallest_class),
    TableQuestion("uniques", "Is anyone alone in their class?", _uniques),
    TableQuestion(
        "average-risk", "Is the average risk low enough?", _average_risk, "maximum_average_risk"
    ),
    TableQuestion("table-size", "Is the table large enough?", _rows),
    TableQuestion("suppression", "Are few enough rows suppressed?", _suppression),
    TableQuestion(
        "suppressed-groups",
        "Does suppression affect some people more than others?",
        _who_is_suppressed,
    ),
    TableQuestion("homogeneous", "Does a class give a value away?", _homogeneous),
    TableQuestion("diversity", "Are sensitive values diverse enough?", _diversity, "minimum_l"),
    TableQuestion("closeness", "Are classes close enough to the whole?", _closeness, "maximum_t"),
    TableQuestion("missing", "Are missing values published as values?", _missing),
    TableQuestion("detail", "Does every quasi-identifier still say something?", _detail),
)
"""Questions about rows and classes, in reading order."""

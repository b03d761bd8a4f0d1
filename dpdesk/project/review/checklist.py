"""The checklist of a release: what its own files show, checked against a policy.

A checklist is a pure function of checked facts: what the verifier found, what was counted from the
published table, what manifest and evidence say, and the policy. Nothing comes from a form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpdesk.core.capabilities import ESTIMATED, Content, Protection
from dpdesk.core.charts import format_figure
from dpdesk.core.messages import counted, joined, msg
from dpdesk.core.parameters import exact_number
from dpdesk.core.plain import number_text
from dpdesk.core.public_fields import LISTED
from dpdesk.core.release import (
    CELLS_COUNTED,
    MADE_AGAIN,
    ROWS_COMPARED,
    CheckStatus,
    TableFacts,
    hidden_columns,
)
from dpdesk.core.schema import Role
from dpdesk.project.review.events import ChecklistItem, Mode
from dpdesk.project.review.items_columns import ALONE_ITEM, COLUMN_ITEMS, TELLING_ITEM
from dpdesk.project.review.items_private import DRAWN_ITEMS, PRIVATE_ITEMS, spent_epsilon
from dpdesk.project.review.items_table import CELL_ITEMS, TABLE_ITEMS
from dpdesk.project.review.policy import Policy, PolicyRelation
from dpdesk.project.review.protocol import Signature
from dpdesk.project.review.questions import (
    DEVELOPING,
    Answer,
    Basis,
    Case,
    CheckedFacts,
    Item,
    Passage,
    Question,
    TableQuestion,
    answered,
    claims,
    named,
    part,
    share_of,
)
from dpdesk.project.review.votes import ItemStatus as Status

_ABOUT_CLASSES = frozenset(
    ("smallest-class", "uniques", "average-risk", "suppression", "suppressed-groups", "detail")
)
_ABOUT_TABLES = frozenset(("table-size", "missing"))
_ABOUT_UNCHANGED = frozenset(("own-values", "one-column-more", "raw-contents", "extremes"))


def questions_of(case: Case) -> tuple[Question | TableQuestion, ...]:
    """The questions about a release with drawn values, in reading order.

    Questions about classes are asked where the release claims k; those about columns that are
    released unchanged leave the drawn ones out.
    """
    with_k = _size(case, "k") is not None
    wanted = _ABOUT_TABLES | (_ABOUT_CLASSES if with_k else frozenset())
    columns = [
        _without_drawn(each) if each.id in _ABOUT_UNCHANGED else each
        for each in COLUMN_ITEMS
        if with_k or each.id != "one-column-more"
    ]
    return (*DIVERTED_ITEMS, *(each for each in TABLE_ITEMS if each.id in wanted), *columns)


def _without_drawn(question: TableQuestion) -> TableQuestion:
    def ask(case: Case, table: TableFacts) -> Answer | None:
        drawn = hidden_columns(_parameters(case))
        columns = tuple(each for each in table.columns if each.name not in drawn)
        return question.ask(case, replace(table, columns=columns))

    return replace(question, ask=ask)


def _drawn(case: Case) -> Answer:
    size, names = _size(case, "l"), _names(case, "diverted")
    if size is None or not names:
        text = "The guarantee names no ℓ′ or no column."
        return Answer(Status.FAIL, text, Basis.MANIFEST, "Make the release again.")
    text = msg(
        "For someone who knows only how often each value occurs, and to whom the other columns "
        "reveal nothing, a published value of {columns} is the true one with a chance of {p}.",
        columns=named(names),
        p=share_of(1, size),
    )
    text = joined([text, *(_rarest(case, name) for name in names)], "")
    minimum = case.policy.whole("minimum_l")
    if minimum is not None and size < minimum:
        text += msg(" The policy requires ℓ of {minimum:,} or more.", minimum=minimum)
        return Answer(Status.FAIL, text, Basis.MANIFEST, msg("Set l to {n:,} or more.", n=minimum))
    advice = "Judge whether such a large chance is harmless for the rarest value."
    return Answer(Status.REVIEW, text, Basis.MANIFEST, advice)


def _rarest(case: Case, name: str) -> str:
    beliefs = case.facts.release.evidence.risk.get("beliefs")
    each = beliefs.get(name) if isinstance(beliefs, Mapping) else None
    share = each.get("belief_before_rarest") if isinstance(each, Mapping) else None
    if not isinstance(share, int | float) or isinstance(share, bool) or not 0 <= share <= 1:
        return ""
    return msg(
        " Before, the rarest value of {value} had {format_figure}.",
        value=named([name]),
        format_figure=format_figure(share, "share"),
    )


def _apart(case: Case) -> Answer:
    size, names = _size(case, "l"), _names(case, "separated")
    if size is None or not names:
        text = "The guarantee names no l or no column."
        return Answer(Status.FAIL, text, Basis.MANIFEST, "Make the release again.")
    text = msg(
        "For someone to whom the other columns reveal nothing about it, each value of "
        "{columns} in a person's group is the true one with a chance of at most {p}; all "
        "values that are not in the group are ruled out.",
        columns=named(names),
        p=share_of(1, size),
    )
    minimum = case.policy.whole("minimum_l")
    if minimum is not None and size < minimum:
        text += msg(" The policy requires ℓ of {minimum:,} or more.", minimum=minimum)
        return Answer(Status.FAIL, text, Basis.MANIFEST, msg("Set l to {n:,} or more.", n=minimum))
    advice = "Judge whether it is harmless to be narrowed down to so few values."
    return Answer(Status.REVIEW, text, Basis.MANIFEST, advice)


def _asked(text: str, advice: str) -> Callable[[Case], Answer]:
    """What no file answers."""
    return lambda case: Answer(Status.REVIEW, text, Basis.PERSON, advice)


_known_others = _asked(
    "Anyone who knows most of the other people's values may learn a person's with certainty; "
    "the guarantee does not cover it.",
    "Ask who could know them: an employer, a clinic, a village.",
)

_only_groups = _asked(
    "A person's groups in two releases often have only the true value in common; no file "
    "shows what else was released.",
    "Ask whether these people's values have been released before, in any form.",
)
_only_release = _asked(
    "Values drawn twice for the same people can be combined, and together reveal the true "
    "ones; no file shows what else was released.",
    "Ask whether these people's values have been released before, in any form.",
)


def _found_rows(case: Case, table: TableFacts) -> Answer:
    """All rows are released, and everything but the values that stand apart."""
    quasi = [each.name for each in table.with_role(Role.QUASI_IDENTIFIER)]
    text = "All rows of the source are released, and all columns but the one that stands apart "
    text += "unchanged: anyone who knows them of a person sees that the person is in the data."
    if quasi:
        text += msg(
            " By {quasi}, {uniques} can be distinguished from all others.",
            quasi=named(quasi),
            uniques=part(table.uniques, table.rows),
        )
    advice = "Where that is a threat, use a method that hides who is in the data."
    return Answer(Status.REVIEW, text, Basis.TABLE, advice)


def _linkage(case: Case, table: TableFacts) -> Answer:
    k = _size(case, "k")
    if k is not None:
        return _linkage_beside(case, table, k)
    quasi = [each.name for each in table.with_role(Role.QUASI_IDENTIFIER)]
    advice = "Where that is a threat, give `k` in the plan: both guarantees then hold at once."
    if not quasi:
        others = len(table.columns) - len(_names(case, "diverted"))
        text = msg(
            "{others} are released unchanged; none is named as known to others.",
            others=counted("{n:,} column", "{n:,} columns", n=others),
        )
        return Answer(Status.REVIEW, text, Basis.TABLE, advice, _alone(case))
    text = counted(
        ("{quasi} is released unchanged; by them {uniques} can be distinguished from all others."),
        ("{quasi} are released unchanged; by them {uniques} can be distinguished from all others."),
        n=len(quasi),
        quasi=named(quasi),
        uniques=part(table.uniques, table.rows),
    )
    return Answer(Status.REVIEW, text, Basis.TABLE, advice, _alone(case))


def _linkage_beside(case: Case, table: TableFacts, k: int) -> Answer:
    """Rows are alike in the quasi-identifiers; other columns may still tell them apart."""
    text = msg(
        "The release claims k = {k:,}, and the smallest class has {n:,} rows.",
        k=k,
        n=table.smallest,
    )
    if table.smallest < k:
        return Answer(Status.FAIL, text, Basis.TABLE, "Do not publish it; make the release again.")
    drawn = _names(case, "diverted")
    others = [
        each.name
        for each in table.columns
        if each.role is not Role.QUASI_IDENTIFIER and each.name not in drawn
    ]
    if not others or _rows_alone(case) == 0:
        return Answer(Status.PASS, text, Basis.TABLE, more=_alone(case) if others else "")
    advice = (
        "Judge whether others may know these columns of a person; if so, make them "
        "quasi-identifiers as well, or leave them out."
    )
    text += counted(
        " {others} is released unchanged.",
        " {others} are released unchanged.",
        n=len(others),
        others=named(others),
    )
    return Answer(Status.REVIEW, text, Basis.TABLE, advice, _alone(case))


def _rows_alone(case: Case) -> object:
    return case.facts.release.evidence.risk.get("rows_alone")


def _alone(case: Case) -> str:
    """How many rows of the source no other row equals in the columns that are not drawn."""
    alone, rows = _rows_alone(case), case.facts.release.evidence.source.rows
    if not isinstance(alone, int) or isinstance(alone, bool) or not rows or rows < 1:
        return ""
    return msg(
        "By all columns that are not drawn, taken together, {alone} can be distinguished from "
        "all others ({evidence}).",
        alone=part(alone, rows),
        evidence=Basis.EVIDENCE.value,
    )


def _removed(case: Case) -> Answer:
    rows = case.facts.release.manifest.result.get("rows_removed")
    if not isinstance(rows, int) or isinstance(rows, bool):
        text = "The manifest does not say how many rows were removed."
        return Answer(Status.FAIL, text, Basis.MANIFEST, "Make the release again.")
    basis = Basis.SOURCE if case.facts.confirmed("rows_removed") else Basis.MANIFEST
    text = counted(
        "{n:,} row was removed at random, so that ℓ′ divides the rest.",
        "{n:,} rows were removed at random, so that ℓ′ divides the rest.",
        n=rows,
    )
    return Answer(Status.PASS, text, basis)


def _size(case: Case, key: str) -> int | None:
    value = _parameters(case).get(key)
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 2
    return value if whole and isinstance(value, int) else None


def _names(case: Case, key: str) -> list[str]:
    names = _parameters(case).get(key)
    return [str(name) for name in names] if isinstance(names, list) else []


def _parameters(case: Case) -> Mapping[str, object]:
    return case.facts.release.manifest.guarantee.parameters


DIVERTED_ITEMS: tuple[Question | TableQuestion, ...] = (
    Question("drawn-values", "How sure can someone be of a published value?", _drawn),
    TELLING_ITEM,
    Question("known-others", "Could someone know most of the others' values?", _known_others),
    Question("only-release", "Is it the only release of these people's values?", _only_release),
    TableQuestion("linkage", "Can someone find a person's row?", _linkage),
    Question("removed", "How many rows were removed at random?", _removed),
)
"""Questions that only drawn values raise, in reading order."""


GROUPED_ITEMS: tuple[Question | TableQuestion, ...] = (
    Question("group-values", "How sure can someone be of a value in a group?", _apart),
    TELLING_ITEM,
    Question("known-others", "Could someone know most of the others' values?", _known_others),
    Question("only-release", "Is it the only release of these people's values?", _only_groups),
    TableQuestion("linkage", "Can someone find a person's row?", _found_rows),
    *(each for each in TABLE_ITEMS if each.id in _ABOUT_TABLES),
    *(each for each in COLUMN_ITEMS if each.id != "one-column-more"),
)
"""Questions about rows whose sensitive values stand apart by groups, in reading order."""


def _unchanged_rows(case: Case, table: TableFacts) -> Answer:
    """All rows are released, and what was not drawn as it is."""
    quasi = [each.name for each in table.with_role(Role.QUASI_IDENTIFIER)]
    text = (
        "All rows of the source are released, and the columns that were not drawn unchanged: "
        "anyone who knows them of a person sees that the person is in the data."
    )
    if quasi:
        text += msg(
            " By {quasi}, {uniques} can be distinguished from all others.",
            quasi=named(quasi),
            uniques=part(table.uniques, table.rows),
        )
    advice = "Where that is a threat, leave columns out, or use a method that hides who is there."
    return Answer(Status.REVIEW, text, Basis.TABLE, advice)


RESPONSE_ITEMS: tuple[Question | TableQuestion, ...] = (
    *DRAWN_ITEMS,
    TableQuestion("linkage", "Can someone find a person's row?", _unchanged_rows),
    *(each for each in TABLE_ITEMS if each.id in _ABOUT_TABLES),
    *(
        _without_drawn(each) if each.id in _ABOUT_UNCHANGED else each
        for each in COLUMN_ITEMS
        if each.id != "one-column-more"
    ),
)
"""Questions about rows whose values are drawn from a budget, in reading order."""

_TABLE = "table"
ASK_ABOUT = (
    "Ask the authors of the method what a release reveals about people, and say why it may pass."
)


def _known(case: Case) -> Answer | None:
    """Arises only for a method that leaves something out of what it says, or contradicts itself."""
    unsaid, spent = case.facts.about.unsaid, spent_epsilon(case)
    if not unsaid and spent is not None and case.facts.about.spends is False:
        text = msg(
            "The release states ε = {spent}, and the method `{method}` says that it "
            "spends nothing of a privacy budget.",
            spent=number_text(spent),
            method=case.facts.release.method,
        )
        return Answer(Status.FAIL, text, Basis.MANIFEST, ASK_ABOUT)
    if not unsaid:
        return None
    text = msg(
        "The method `{method}` does not say {unsaid}, so questions may be missing from this list.",
        method=case.facts.release.method,
        unsaid=case.facts.about.listed(unsaid),
    )
    return Answer(Status.FAIL, text, Basis.MANIFEST, ASK_ABOUT)


def _verified(case: Case) -> Answer:
    report = case.facts.report
    if report.failures or not report.ok:
        first = report.failures[0] if report.failures else None
        more = (
            msg(" ({failures:,} more)", failures=len(report.failures) - 1)
            if len(report.failures) > 1
            else ""
        )
        found = (
            msg("{path}: {reason}{more}", path=first.path, reason=first.reason, more=more)
            if first
            else "a claim is not confirmed"
        )
        text = msg("Checking the release failed: {what}.", what=found)
        return Answer(Status.FAIL, text, Basis.FILES, "Do not publish it; make the release again.")
    confirmed = msg(
        "{confirmed:,} of {claims}",
        confirmed=len(report.confirmed()),
        claims=counted("{n:,} claim", "{n:,} claims", n=len(report.claims)),
    )
    unlike = report.not_checked()
    if unlike:
        text = msg(
            "{confirmed} are confirmed, but {claim} could not be compared with anything.",
            confirmed=confirmed,
            claim=claims(unlike),
        )
        accepted = case.policy.accept_not_compared
        advice = "Make the release again with this version, or say why it may stay as it is."
        return Answer(Status.REVIEW if accepted else Status.FAIL, text, Basis.FILES, advice)
    if not report.sealed:
        text = msg(
            "{confirmed} are confirmed, but the manifest is not sealed: the internal part is "
            "not here.",
            confirmed=confirmed,
        )
        advice = "Check the whole release folder, with its internal part."
        return Answer(Status.REVIEW, text, Basis.FILES, advice)
    text = msg(
        "All hashes and the seal are right; {confirmed} are confirmed, none failed.",
        confirmed=confirmed,
    )
    return Answer(Status.PASS, text, Basis.FILES)


_SETTLED = {
    MADE_AGAIN: "The published table was made again from the source, the same byte for byte.",
    ROWS_COMPARED: "The columns that were not drawn were compared with the source, row by row; "
    "values are drawn once, so no table can be made again.",
    CELLS_COUNTED: "The true values of all cells were counted again from the source.",
}


def _source(case: Case) -> Answer:
    for claim, text in _SETTLED.items():
        if case.facts.confirmed(claim):
            return Answer(Status.PASS, text, Basis.SOURCE)
    check = case.facts.claim(MADE_AGAIN)
    if check is not None and check.status is CheckStatus.FAILED:
        text = "Made again from the source, the table is different."
        return Answer(Status.FAIL, text, Basis.SOURCE, "Make the release again from the source.")
    if case.facts.about.protection is Protection.NOISE:
        text = "Noise is drawn once and forgotten, so no table can be made again from the source."
        return Answer(Status.NOT_APPLICABLE, text, Basis.MANIFEST)
    advice = "Verify the release with its source file."
    text = "It was checked without its source; figures that need it are only as recorded."
    if check is not None and check.status is not CheckStatus.NEEDS_SOURCE:
        advice, text = "Verify it where its keys are.", msg("With the source: {r}.", r=check.found)
    if case.policy.require_source_verification:
        text = msg("{found} The policy asks for a whole check with the source.", found=text)
        return Answer(Status.FAIL, text, Basis.FILES, advice)
    return Answer(Status.REVIEW, text, Basis.FILES, advice)


def _public_fields(case: Case) -> Answer:
    check = case.facts.claim(LISTED)
    if check is not None and check.status is CheckStatus.CONFIRMED:
        text = (
            "Every field of the public part is one that the program lists together with what it "
            "can reveal about people who are not in the release."
        )
        names = _levels_tell(case)
        if not names:
            return Answer(Status.PASS, text, Basis.FILES)
        text = msg(
            "The levels of {names} also follow from values of suppressed rows: made from the "
            "released rows alone, they would be different.",
            names=named(names),
        )
        return Answer(Status.REVIEW, text, Basis.EVIDENCE, _WRITE_OUT)
    if check is None or check.status is not CheckStatus.NOT_CHECKABLE:
        text = "It could not be shown that every public field is a listed one."
        return Answer(Status.FAIL, text, Basis.FILES, "Do not publish it; make the release again.")
    text = "A public number is computed from the original values of all rows, as earlier versions "
    text += "did it"
    advice = "Make the release again with this version; inform those who have the old one."
    if case.facts.release.manifest.result.get("rows_suppressed") == 0:
        text = msg("{text}; no row was suppressed.", text=text)
        return Answer(Status.REVIEW, text, Basis.FILES, advice)
    text += ", so that values of suppressed rows can be computed back."
    return Answer(Status.FAIL, text, Basis.FILES, advice)


_WRITE_OUT = (
    "Write out in the plan what makes the levels (widths, steps, a form), or use a hierarchy from "
    "a file."
)


def _levels_tell(case: Case) -> list[str]:
    """Columns whose released labels tell of values that only suppressed rows have."""
    found = case.facts.release.evidence.risk.get("levels_tell")
    return [str(name) for name in found] if isinstance(found, list) else []


def _policy(case: Case) -> Answer:
    short = case.policy.sha256[:16]
    title = case.policy.title
    text = msg(
        "{named}hash {short}…, {reviewers}: {value}.",
        named=msg("“{title}”, ", title=title) if title else "",
        short=short,
        reviewers=counted("{n:,} reviewer", "{n:,} reviewers", n=case.policy.reviewers),
        value=case.standing.value,
    )
    if case.standing is PolicyRelation.OWN:
        return Answer(Status.PASS, text, Basis.POLICY)
    if case.standing is PolicyRelation.OTHER:
        advice = "Submit again under the agency's policy, or ask who changed it."
        return Answer(Status.FAIL, text, Basis.POLICY, advice)
    advice = "Put the agency's policy in its place on this computer, then check again."
    return Answer(Status.REVIEW, text, Basis.POLICY, advice)


def _method(case: Case) -> Answer | None:
    allowed, method = case.policy.methods, case.facts.release.method
    if allowed is None:
        return None
    text = msg(
        "The release was made by {method}; the policy allows {allowed}.",
        method=named([method]),
        allowed=named(allowed),
    )
    if method in allowed:
        return Answer(Status.PASS, text, Basis.MANIFEST)
    return Answer(Status.FAIL, text, Basis.MANIFEST, "Use a method that the policy allows.")


def _mode(case: Case) -> Answer:
    mode, protocol = case.passage.mode, case.passage.protocol
    if mode not in case.policy.modes:
        allowed = named([each.value for each in case.policy.modes])
        text = msg(
            "The mode is `{mode}`; the policy allows {allowed}.", mode=mode.value, allowed=allowed
        )
        return Answer(Status.FAIL, text, Basis.POLICY, "Submit it in an allowed mode.")
    if mode is not Mode.APPLY:
        text = "A protocol is being developed: every setting is open to review."
        return Answer(Status.PASS, text, Basis.POLICY)
    if protocol is None:
        text = "A locked protocol was to be applied, but it is not available."
        return Answer(Status.FAIL, text, Basis.FILES, "Give the file of the protocol.")
    name = msg("the locked protocol {id}…", id=protocol.id[:16])
    if protocol.signature in (Signature.BAD, Signature.REVOKED, Signature.AHEAD):
        text = msg("The signature of {name} {value}.", name=name, value=protocol.signature.value)
        if protocol.signature is Signature.REVOKED:
            text = msg(
                "The signature of {name}, by {signer}, is {value}.",
                name=name,
                signer=protocol.signer,
                value=protocol.signature.value,
            )
        return Answer(Status.FAIL, text, Basis.FILES, "Ask for a newly signed protocol.")
    if protocol.differences:
        more = len(protocol.differences) - 1
        also = msg(" ({more:,} more)", more=more) if more else ""
        text = msg(
            "The release departs from {name}: {differences}{also}.",
            name=name,
            differences=protocol.differences[0],
            also=also,
        )
        advice = "Apply the protocol as it is, or submit the change as a new protocol."
        return Answer(Status.FAIL, text, Basis.EVIDENCE, advice)
    text = msg(
        "Except for source and title, the plan is {name}, signed by {signer}.",
        name=name,
        signer=protocol.signer,
    )
    if protocol.signature is not Signature.TRUSTED:
        advice = "Check the signer's key, and add it to the trust list if it is right."
        told = msg("{text} Its key is not trusted here.", text=text)
        return Answer(Status.REVIEW, told, Basis.FILES, advice)
    if protocol.own:
        advice = "Compare it with the release that was approved, or have a reviewer of it sign it."
        told = msg("{text} That is the author of this release.", text=text)
        return Answer(Status.REVIEW, told, Basis.FILES, advice)
    return Answer(Status.PASS, text, Basis.EVIDENCE)


def _optimum(case: Case) -> Answer | None:
    if not case.policy.require_proven_optimal:
        return None
    result = case.facts.release.manifest.result
    if case.facts.about.protection in ESTIMATED and "node" not in result:
        text = "Values are drawn; nothing is searched for."
        return Answer(Status.NOT_APPLICABLE, text, Basis.MANIFEST)
    value = result.get("proven_optimal")
    if value is True:
        text = "The search proved that no other choice within the limits is better."
        return Answer(Status.PASS, text, Basis.MANIFEST)
    text = "The release does not claim to be the proven best; the policy requires that."
    advice = "Use an exact search, or levels that it found."
    return Answer(Status.FAIL, text, Basis.MANIFEST, advice)


def _epsilon(case: Case) -> Answer | None:
    limit = case.policy.share("maximum_epsilon")
    if limit is None:
        return None
    release = case.facts.release
    spent = spent_epsilon(case)
    if case.facts.about.spends is False and spent is None:
        text = msg("The method `{method}` spends no ε.", method=release.method)
        return Answer(Status.NOT_APPLICABLE, text, Basis.MANIFEST)
    if case.facts.about.spends is None:
        text = msg(
            "The method `{method}` does not say what it spends of a privacy budget.",
            method=release.method,
        )
        return Answer(Status.FAIL, text, Basis.MANIFEST, ASK_ABOUT)
    if spent is None:
        text = "The manifest states no ε, so it cannot be checked against the limit."
        return Answer(Status.FAIL, text, Basis.MANIFEST, "State ε in the plan.")
    text = msg(
        "The release spends ε = {n}; the policy allows {m}.",
        n=number_text(spent),
        m=number_text(limit),
    )
    status = Status.PASS if spent <= limit else Status.FAIL
    return Answer(status, text, Basis.MANIFEST, "Choose a smaller ε and release again.")


def _threshold(case: Case) -> Answer | None:
    limit = case.policy.whole("threshold")
    if limit is None:
        return None
    values = [rule.get("n") for rule in _rules(case, "threshold")]
    least = [number for value in values if (number := exact_number(value)) is not None]
    asked = msg("n = {limit:,} or more", limit=limit)
    return _table_rule(case, max(least, default=None), lambda n: n >= limit, "threshold", asked)


def _dominance(case: Case) -> Answer | None:
    limit = case.policy.limits.get("dominance")
    if not isinstance(limit, Mapping):
        return None
    n, k = exact_number(limit["n"]), _as_percent(exact_number(limit["k"]))
    asked = msg("n = {n}, k = {value} % or stricter", n=n, value=number_text(k or Fraction(0)))
    shares = [
        share
        for rule in _rules(case, "dominance")
        if (share := _as_percent(exact_number(rule.get("k")))) is not None
        and (count := exact_number(rule.get("n"))) is not None
        and n is not None
        and count >= n
    ]
    strictest = min(shares, default=None)
    fits = (lambda share: share <= k) if k is not None else (lambda share: False)
    return _table_rule(case, strictest, fits, "dominance", asked)


def _as_percent(value: Fraction | None) -> Fraction | None:
    """A share of 1 or less is one of 100 percent."""
    return value if value is None or value > 1 else value * 100


def _table_rule(
    case: Case, found: Fraction | None, fits: Callable[[Fraction], bool], rule: str, asked: str
) -> Answer:
    method = case.facts.release.method
    if method != _TABLE and case.facts.about.content is None:
        text = msg("The method `{method}` does not say what it releases.", method=method)
        return Answer(Status.FAIL, text, Basis.MANIFEST, ASK_ABOUT)
    if method != _TABLE:
        text = msg("The method `{method}` publishes no table of cells.", method=method)
        return Answer(Status.NOT_APPLICABLE, text, Basis.MANIFEST)
    shown = "no such rule" if found is None else number_text(found)
    text = msg(
        "The plan's {rule} rule: {shown}; the policy requires {asked}.",
        rule=rule,
        shown=shown,
        asked=asked,
    )
    passes = found is not None and fits(found)
    status = Status.PASS if passes else Status.FAIL
    return Answer(
        status, text, Basis.EVIDENCE, msg("Make the {rule} rule of the plan stricter.", rule=rule)
    )


def _rules(case: Case, name: str) -> list[Mapping[str, object]]:
    plan = case.facts.release.evidence.plan.get("protection")
    rules = plan.get("rule") if isinstance(plan, Mapping) else None
    if not isinstance(rules, list):
        return []
    return [rule for rule in rules if isinstance(rule, Mapping) and rule.get("rule") == name]


def _assumptions(case: Case) -> Answer:
    sentences = case.facts.release.manifest.guarantee.assumes
    if not sentences:
        text = "The guarantee names no assumptions."
        return Answer(Status.REVIEW, text, Basis.MANIFEST, "Read the guarantee itself.")
    text = "The guarantee holds only under these assumptions: " + joined(sentences)
    advice = "Judge them for these people and for what else is published about them."
    return Answer(Status.REVIEW, text, Basis.PERSON, advice, _noise_paid(case))


def _noise_paid(case: Case) -> str:
    """Releases with noise about the same people, as the evidence of rows names them."""
    costs = case.facts.release.evidence.noise_paid
    if not costs:
        return ""
    return msg(
        "Releases with noise about the same people were paid for: {join} ({evidence}).",
        join=", ".join(costs),
        evidence=Basis.EVIDENCE.value,
    )


RELEASE_ITEMS = (
    Question("verified", "Is the release complete, and is every claim true?", _verified),
    Question("known-method", "Do these questions fit the method?", _known),
    Question("source", "Was the table made again from its source?", _source),
    Question(
        "public-fields", "Do public numbers reveal nothing about people left out?", _public_fields
    ),
    Question("policy", "Is this the agency's own policy?", _policy),
    Question("method", "Is the method allowed?", _method),
    Question("mode", "Was the release made in an allowed way?", _mode),
    Question("optimum", "Is the release the proven best of its kind?", _optimum),
    Question("epsilon", "Is ε small enough?", _epsilon),
    Question("threshold", "Are cells of few contributors protected?", _threshold),
    Question("dominance", "Are cells that few contributors dominate protected?", _dominance),
)
"""Questions about files, making and policy, in reading order."""

CLOSING_ITEMS = (
    Question("assumptions", "Do the assumptions of the guarantee hold here?", _assumptions),
)
"""Questions that come after the table."""


@dataclass(frozen=True)
class Difference:
    """An item that stands otherwise than in a submission; None: there is no such item."""

    id: str
    submitted: Status | None
    found: Status | None


@dataclass(frozen=True)
class Checklist:
    """All items, in the order in which people should read them."""

    items: tuple[Item, ...]
    policy_sha256: str

    def item(self, item_id: str) -> Item:
        """The item with this id; KeyError when there is none."""
        for item in self.items:
            if item.id == item_id:
                return item
        raise KeyError(item_id)

    def count(self, status: Status) -> int:
        """How many items stand so."""
        return sum(item.status is status for item in self.items)

    def submitted(self) -> dict[str, ChecklistItem]:
        """The items as a submission holds them."""
        return {
            item.id: ChecklistItem(item.question, item.status, item.evidence) for item in self.items
        }

    def differences(self, submitted: Mapping[str, Status]) -> tuple[Difference, ...]:
        """Items that stand otherwise than in a submission, in the order of this list."""
        here = {item.id: item.status for item in self.items}
        ids = [*here, *(key for key in submitted if key not in here)]
        return tuple(
            Difference(key, submitted.get(key), here.get(key))
            for key in ids
            if submitted.get(key) is not here.get(key)
        )


def make_checklist(
    facts: CheckedFacts,
    policy: Policy,
    standing: PolicyRelation,
    passage: Passage = DEVELOPING,
) -> Checklist:
    """Check a release against a policy; never raises, whatever manifest and evidence hold."""
    case = Case(facts, policy, standing, passage)
    content = [_meant(item, case) for item in _items(_content(case), case)]
    items = (*_items(RELEASE_ITEMS, case), *content, *_items(CLOSING_ITEMS, case))
    return Checklist((*items, *_sign_offs(policy)), policy.sha256)


def _items(questions: Sequence[Question | TableQuestion], case: Case) -> list[Item]:
    return [item for question in questions if (item := question.item(case)) is not None]


def _meant(item: Item, case: Case) -> Item:
    """What was counted passes only where it is known by what the method protects."""
    if case.facts.about.protection is not None or item.status is not Status.PASS:
        return item
    text = "The method does not say how it protects, so this alone decides nothing."
    found = joined([text, item.evidence])
    return replace(item, status=Status.FAIL, evidence=found, advice=ASK_ABOUT)


def _content(case: Case) -> Sequence[Question | TableQuestion]:
    """The questions that the kind of the release raises."""
    if (about := case.facts.about).protection is Protection.DRAWN:
        return questions_of(case)
    if about.protection is Protection.RANDOMISED:
        return RESPONSE_ITEMS
    if about.protection is Protection.GROUPS:
        return GROUPED_ITEMS
    if about.protection is Protection.NOISE:
        return PRIVATE_ITEMS
    if about.protection is Protection.CELLS:
        return CELL_ITEMS
    rows = (*TABLE_ITEMS, *COLUMN_ITEMS, ALONE_ITEM, TELLING_ITEM)
    if about.protection is Protection.CLASSES or about.content is Content.ROWS:
        return rows
    asked = {question.id for question in rows}  # not known how it protects: all that may arise
    return (*rows, *(question for question in PRIVATE_ITEMS if question.id not in asked))


def _sign_offs(policy: Policy) -> Sequence[Item]:
    text = "The policy requires this of every release; the person who accepts it answers for it."
    answer = Answer(Status.REVIEW, text, Basis.PERSON)
    return [answered(f"sign-off-{key}", text, answer) for key, text in policy.sign_offs.items()]

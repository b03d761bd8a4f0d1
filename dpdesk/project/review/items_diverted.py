"""Questions about releases with drawn values: what a value tells, who could know more, linkage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dpdesk.core.charts import format_figure
from dpdesk.core.disclosure import TableFacts
from dpdesk.core.schema import Role
from dpdesk.project.review.item_words import counted, listed, part, share_of, verb
from dpdesk.project.review.items_columns import COLUMN_ITEMS
from dpdesk.project.review.items_table import TABLE_ITEMS
from dpdesk.project.review.items_telling import TELLING_ITEM
from dpdesk.project.review.questions import Answer, Basis, Case, Question, TableQuestion
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
        drawn = _names(case, "diverted")
        columns = tuple(each for each in table.columns if each.name not in drawn)
        return question.ask(case, replace(table, columns=columns))

    return replace(question, ask=ask)


def _drawn(case: Case) -> Answer:
    size, names = _size(case, "l"), _names(case, "diverted")
    if size is None or not names:
        text = "The guarantee names no ℓ′ or no column."
        return Answer(Status.FAIL, text, Basis.MANIFEST, "Make the release again.")
    text = (
        f"For someone who knows only how often each value occurs, and to whom the other columns "
        f"tell nothing, a published value of {listed(names)} is the true one with a chance of "
        f"{share_of(1, size)}."
    )
    text += "".join(_rarest(case, name) for name in names)
    minimum = case.policy.whole("minimum_l")
    if minimum is not None and size < minimum:
        text += f" The policy asks for ℓ of {minimum:,} or more."
        return Answer(Status.FAIL, text, Basis.MANIFEST, f"Set l to {minimum:,} or more.")
    advice = "Judge whether so large a chance is harmless for the rarest value."
    return Answer(Status.REVIEW, text, Basis.MANIFEST, advice)


def _rarest(case: Case, name: str) -> str:
    beliefs = case.facts.release.internal_section("risk").get("beliefs")
    each = beliefs.get(name) if isinstance(beliefs, Mapping) else None
    share = each.get("belief_before_rarest") if isinstance(each, Mapping) else None
    if not isinstance(share, int | float) or isinstance(share, bool) or not 0 <= share <= 1:
        return ""
    return f" Before, the rarest value of {listed([name])} had {format_figure(share, 'share')}."


def _known_others(case: Case) -> Answer:
    text = (
        "Whoever knows most of the other people's values may learn a person's with certainty; the "
        "guarantee does not cover it."
    )
    advice = "Ask who could know them: an employer, a clinic, a village."
    return Answer(Status.REVIEW, text, Basis.PERSON, advice)


def _only_release(case: Case) -> Answer:
    text = (
        "Values drawn twice for the same people can be combined, and together tell the true ones; "
        "no file shows what else was released."
    )
    advice = "Ask whether these people's values have been released before, in any form."
    return Answer(Status.REVIEW, text, Basis.PERSON, advice)


def _linkage(case: Case, table: TableFacts) -> Answer:
    k = _size(case, "k")
    if k is not None:
        return _linkage_beside(case, table, k)
    quasi = [each.name for each in table.with_role(Role.QUASI_IDENTIFIER)]
    advice = "Where that is a threat, give `k` in the plan: both guarantees then hold at once."
    if not quasi:
        others = len(table.columns) - len(_names(case, "diverted"))
        text = f"{counted(others, 'column')} are released unchanged; none is named as known to "
        return Answer(Status.REVIEW, f"{text}others.", Basis.TABLE, advice, _alone(case))
    text = f"{listed(quasi)} {verb(quasi, 'is', 'are')} released unchanged; by them "
    text += f"{part(table.uniques, table.rows)} can be told from all others."
    return Answer(Status.REVIEW, text, Basis.TABLE, advice, _alone(case))


def _linkage_beside(case: Case, table: TableFacts, k: int) -> Answer:
    """Rows are alike in the quasi-identifiers; other columns may still tell them apart."""
    text = f"The release claims k = {k:,}, and the smallest class has {table.smallest:,} rows."
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
    text += f" {listed(others)} {verb(others, 'is', 'are')} released unchanged."
    return Answer(Status.REVIEW, text, Basis.TABLE, advice, _alone(case))


def _rows_alone(case: Case) -> object:
    return case.facts.release.internal_section("risk").get("rows_alone")


def _alone(case: Case) -> str:
    """How many rows of the source no other row equals in the columns that are not drawn."""
    evidence = case.facts.release
    alone = _rows_alone(case)
    rows = evidence.internal_section("source").get("rows")
    known = all(isinstance(each, int) and not isinstance(each, bool) for each in (alone, rows))
    if not known or not isinstance(alone, int) or not isinstance(rows, int) or rows < 1:
        return ""
    return (
        f"By all columns that are not drawn together, {part(alone, rows)} can be told from all "
        f"others ({Basis.EVIDENCE.value})."
    )


def _removed(case: Case) -> Answer:
    rows = case.facts.release.section("result").get("rows_removed")
    if not isinstance(rows, int) or isinstance(rows, bool):
        text = "The manifest does not say how many rows were removed."
        return Answer(Status.FAIL, text, Basis.MANIFEST, "Make the release again.")
    basis = Basis.SOURCE if case.facts.confirmed("rows_removed") else Basis.MANIFEST
    text = f"{counted(rows, 'row')} {'was' if rows == 1 else 'were'} removed at random, so that "
    return Answer(Status.PASS, f"{text}ℓ′ divides the rest.", basis)


def _size(case: Case, key: str) -> int | None:
    value = _parameters(case).get(key)
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 2
    return value if whole and isinstance(value, int) else None


def _names(case: Case, key: str) -> list[str]:
    names = _parameters(case).get(key)
    return [str(name) for name in names] if isinstance(names, list) else []


def _parameters(case: Case) -> Mapping[str, object]:
    found = case.facts.release.section("guarantee").get("parameters")
    return found if isinstance(found, Mapping) else {}


DIVERTED_ITEMS: tuple[Question | TableQuestion, ...] = (
    Question("drawn-values", "How sure can somebody be of a published value?", _drawn),
    TELLING_ITEM,
    Question("known-others", "Could somebody know most of the others' values?", _known_others),
    Question("only-release", "Is it the only release of these people's values?", _only_release),
    TableQuestion("linkage", "Can somebody find a person's row?", _linkage),
    Question("removed", "How many rows were removed at random?", _removed),
)
"""Questions that only drawn values raise, in reading order."""

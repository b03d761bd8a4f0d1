"""Questions about protected tables: what protects cells, what the rules found, other tables."""

from __future__ import annotations

from collections.abc import Mapping

from dpdesk.core.messages import counted, joined, msg
from dpdesk.project.review.questions import Answer, Basis, Case, Question
from dpdesk.project.review.votes import ItemStatus as Status

PROTECTED, NARROWED = "protection of unsafe cells", "how closely changed cells can be told"
PRESENT = "what published empty cells tell of suppressed ones"
_TOLD = "told_exactly_if_present", "told_closer_if_present"
_AS_PRESENT = (
    "Protect from that too: add `present = true` to `attacker` in the plan, as in "
    "`attacker = { lower = 0, present = true }`, and release again."
)
_AGAIN = "Do not publish it; make the release again."
_UNPROTECTED, _SUPPRESSION, _KEYED = "unprotected-tables", "cell-suppression", "cell-keys"


def _rules(case: Case) -> Answer:
    """Whether there are rules, and how many cells they found."""
    evidence = case.facts.release.evidence
    unsafe = evidence.result.get("primary")
    if not isinstance(unsafe, int) or isinstance(unsafe, bool):
        text = "The internal part, which says what the rules found, is not available."
        return Answer(Status.REVIEW, text, Basis.EVIDENCE, "Check the whole release folder.")
    if not evidence.parameters.get("rule") and not evidence.parameters.get("cells"):
        text = "The plan has no rule, so no cell counts as unsafe, however small it is."
        return Answer(Status.FAIL, text, Basis.EVIDENCE, "Add rules to the plan and release again.")
    confirmed = case.facts.confirmed("cells are unsafe by the rules of the plan")
    text = counted(
        "{n} cell is unsafe by the rules.", "{n} cells are unsafe by the rules.", n=unsafe
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
        told = case.facts.claim(NARROWED)
        if told is not None:
            text = joined([text, msg("As attacked again: {found}.", found=told.found)])
        advice = "Judge whether such changes alone are enough for the smallest cells."
        return Answer(Status.REVIEW, text, Basis.FILES, advice)
    if stated.parameters.get("audited") is not True:
        text = "Only unsafe cells are suppressed, so many can be computed back from totals."
        return Answer(Status.FAIL, text, Basis.MANIFEST, "Let further cells be suppressed.")
    if case.facts.confirmed(PROTECTED):
        text = "Attacked again, every unsafe cell stays as uncertain as the rules ask."
        return Answer(Status.PASS, text, Basis.FILES)
    text = "It was not found that unsafe cells stay as uncertain as the rules ask."
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
        text = "The internal part, which says what empty cells tell, is not available."
        return Answer(Status.REVIEW, text, Basis.EVIDENCE, "Check the whole release folder.")
    if exact or closer:
        text = msg(
            "The guarantee does not cover readers who conclude from the published empty cells that "
            "no suppressed one is empty. Unsafe cells that they know exactly: {exact:,}; others "
            "that they can tell more closely than the rules allow: {closer:,}.",
            exact=exact,
            closer=closer,
        )
        status = Status.FAIL if exact else Status.REVIEW
        return Answer(status, text, Basis.EVIDENCE, _AS_PRESENT)
    if case.facts.confirmed(PRESENT):
        text = "Attacked again, empty cells tell no more of unsafe ones than the rules allow."
        return Answer(Status.PASS, text, Basis.FILES)
    text = "It was not found that empty cells tell no more than the rules allow."
    failed = case.facts.report.failures
    return Answer(Status.FAIL if failed else Status.REVIEW, text, Basis.FILES, _AGAIN)


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
        "Judge whether the table is of any use.",
    )


CELL_ITEMS: tuple[Question, ...] = (
    Question("unsafe-cells", "Which cells are unsafe?", _rules),
    Question("protected-cells", "Are unsafe cells protected?", _protection),
    Question("empty-cells", "Do published empty cells tell more?", _present),
    Question("known-cells", "Could someone know more than is assumed?", _known),
    Question("other-tables", "Which other tables were published?", _other_tables),
    Question("cells-left", "How much of the tables is left?", _sizes),
)
"""Questions that protected tables raise, in reading order."""

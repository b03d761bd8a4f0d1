"""Why a hierarchy was suggested, in words."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from dpdesk.core.suggested import SuggestedHierarchy, Why
from dpdesk.ui.panels.hierarchies.edits import shown

translate = QCoreApplication.translate


def reason(found: SuggestedHierarchy) -> str:
    """Why this was suggested, in one sentence, with a second for what it leaves apart."""
    sentences = [_main(found.why).format(**found.facts), *_ends(found)]
    if "other" in found.facts:
        sentences.append(
            translate("Hierarchies", "They could be {other} as well: check the form.").format(
                other=found.facts["other"]
            )
        )
    if len(found.apart) == 1:
        text = translate("Hierarchies", "{value} stays apart: it looks like a code for missing.")
        sentences.append(text.format(value=shown(found.apart[0])))
    elif found.apart:
        text = translate("Hierarchies", "{values} stay apart: they look like codes for missing.")
        sentences.append(text.format(values=", ".join(shown(one) for one in found.apart)))
    return " ".join(sentences)


def _main(why: Why) -> str:
    return {**_of_numbers(), **_of_known_words(), **_of_others()}[why]


def _of_numbers() -> dict[Why, str]:
    return {
        Why.YEARS: translate(
            "Hierarchies", "Suggested intervals of {widths}: {n} years from {low} to {high}."
        ),
        Why.NUMBERS: translate(
            "Hierarchies", "Suggested intervals of {widths}: {n} numbers from {low} to {high}."
        ),
        Why.COUNTS: translate(
            "Hierarchies",
            "Suggested intervals of {widths}: {n} numbers from {low} to {high}, and the name "
            "speaks of how many.",
        ),
        Why.NUMBER_CODES: translate(
            "Hierarchies",
            "Suggested value, then *: {n} whole numbers from {low} to {high} are codes, as a rule, "
            "whose order says nothing. Choose intervals if they measure or count something.",
        ),
        Why.NAMED_CODES: translate(
            "Hierarchies",
            "Suggested value, then *: {n} numbers from {low} to {high}, and the name speaks of "
            "codes, whose order says nothing. A file or the tree can say what belongs together.",
        ),
        Why.RUNNING: translate(
            "Hierarchies",
            "Suggested value, then *: all {n} numbers from {low} to {high} are there, so they only "
            "count records. Choose intervals if they measure something.",
        ),
        Why.ORDER: translate(
            "Hierarchies",
            "Suggested neighbours in pairs: {n} numbers from {low} to {high}, and the name speaks "
            "of an order.",
        ),
    }


def _of_known_words() -> dict[Why, str]:
    return {
        Why.SCALE: translate(
            "Hierarchies",
            "Suggested neighbours in order: {n} words of a scale, from {low} to {high}.",
        ),
        Why.MONTHS: translate("Hierarchies", "Suggested quarters and half-years: the months."),
        Why.DAYS: translate(
            "Hierarchies", "Suggested work days and the weekend: the values are days of the week."
        ),
        Why.SECTIONS: translate(
            "Hierarchies",
            "Suggested sections of economic activities (NACE Rev. 2, ISIC Rev. 4): {n} divisions "
            "make {groups} sections. Another revision needs a file.",
        ),
    }


def _of_others() -> dict[Why, str]:
    return {
        Why.FEW: translate(
            "Hierarchies", "Suggested value, then *: there are only {n} different values."
        ),
        Why.DATES: translate(
            "Hierarchies", "Suggested periods: the values are dates written as {form}."
        ),
        Why.CODES: translate(
            "Hierarchies",
            "Suggested masking from the right: {n} codes of {length} characters make {groups} "
            "groups without the last {hidden}.",
        ),
        Why.PADDED_CODES: translate(
            "Hierarchies",
            "Suggested masking from the right: {n} codes, filled with zeros to {length} digits, "
            "make {groups} groups without the last {hidden}.",
        ),
        Why.LOOSE_CODES: translate(
            "Hierarchies",
            "Suggested value, then *: {n} codes whose beginnings put hardly any together.",
        ),
        Why.RANGES: translate(
            "Hierarchies", "Suggested neighbours in pairs: the values are {n} ranges in order."
        ),
        Why.NAMES: translate(
            "Hierarchies",
            "Suggested value, then *: the {n} names do not tell what belongs together. Group "
            "values in the tree, or take a file.",
        ),
    }


def _ends(found: SuggestedHierarchy) -> list[str]:
    """A sentence on coded ends, when there are any."""
    low, high = found.facts.get("bottom"), found.facts.get("top")
    if low is not None and high is not None:
        text = translate(
            "Hierarchies", "Few rows lie below {low} or from {high} on: these are one group each."
        )
    elif high is not None:
        text = translate("Hierarchies", "Few rows lie from {high} on: these are one group.")
    elif low is not None:
        text = translate("Hierarchies", "Few rows lie below {low}: these are one group.")
    else:
        return []
    return [text.format(low=low, high=high)]

"""Every sentence of a guarantee of protected tables, with the condition under which it is true.

As :mod:`tests.reference.guarantee_table`, of which this is a part.
"""

from __future__ import annotations

from tests.reference.guarantee_table import (
    ASSUMES,
    CLAIM,
    LIMITS,
    Condition,
    Entry,
    Truth,
    number,
)


def _cells(*protections: str, audited: bool | None = None) -> Condition:
    def holds(truth: Truth, _: tuple[str, ...]) -> bool:
        known = audited is None or truth.audited is audited
        return truth.kind == "cells" and truth.protect in protections and known

    return holds


def _based(protect: str) -> Condition:
    def holds(truth: Truth, found: tuple[str, ...]) -> bool:
        named = all(number(one) == truth.size for one in found)
        return truth.kind == "cells" and truth.protect == protect and named

    return holds


def _changed(truth: Truth, found: tuple[str, ...]) -> bool:
    """The largest change and the variance are those of the plan; ``lower`` holds the variance."""
    return truth.protect == _KEYED and [number(one) for one in found] == [truth.size, truth.lower]


def _known(truth: Truth, found: tuple[str, ...]) -> bool:
    """A cell lies between the shares of its value that the plan says everyone knows."""
    ends = [truth.lower, *([] if truth.upper is None else [truth.upper])]
    return truth.audited and [number(one) for one in found] == ends


_SUPPRESS, _ADDITIVE, _RANDOM, _NOTHING = "suppress", "controlled-round", "random-round", "none"
_KEYED, _MOVED = "cell-key", "adjust"
_TOTALS_TELL = (
    "Totals and parts together can narrow a value down further than its own rounding does."
)
CELLS: tuple[Entry, ...] = (
    Entry(
        CLAIM,
        "No one can compute the value of a cell that the agency's rules call unsafe from "
        "these tables more closely than the rules allow.",
        lambda truth, _: truth.audited and truth.present,
    ),
    Entry(
        CLAIM,
        "No one who knows of a cell beforehand only what is assumed here, and does not conclude "
        "that suppressed cells are not empty, can compute the value of a cell that the agency's "
        "rules call unsafe from these tables more closely than the rules allow.",
        lambda truth, _: truth.audited and not truth.present,
    ),
    Entry(
        CLAIM,
        "Cells that the agency's rules call unsafe are not published; nothing else is "
        "suppressed, so many of them can be computed back from totals.",
        _cells(_SUPPRESS, audited=False),
    ),
    Entry(
        CLAIM,
        "Every value is a multiple of {n} and less than {n} from the true one, and totals "
        "are the sums of their parts.",
        _based(_ADDITIVE),
    ),
    Entry(
        CLAIM,
        "Every value is a multiple of {n} and less than {n} from the true one; whether it "
        "went up or down was drawn at random, so that it is right on average.",
        _based(_RANDOM),
    ),
    Entry(
        CLAIM,
        "Every count was changed at random by at most {n}, so that it is right on average and its "
        "changes have the variance {x}; counts of 0 stay 0.",
        _changed,
    ),
    Entry(
        CLAIM,
        "Every cell that the agency's rules call unsafe is published with another value, at least "
        "as far from the true one as the rules require; other cells are changed so that totals "
        "are the sums of their parts.",
        _cells(_MOVED),
    ),
    *(
        Entry(LIMITS, sentence, _cells(_MOVED))
        for sentence in (
            "Someone who finds out, or guesses, which cells were changed, in which direction and "
            "by how much, can compute true values; nothing was drawn at random.",
            "It is not shown which cells were changed, and no limit is promised for how far a "
            "published value is from the true one.",
            "Someone who knows that a cell holds only what they gave sees how far it was changed.",
        )
    ),
    Entry(
        CLAIM,
        "The tables are published as they were counted; nothing is protected.",
        _cells(_NOTHING),
    ),
    Entry(
        ASSUMES,
        "No other table about the same people or companies shares cells, totals or "
        "contributors with these tables.",
        _cells(_SUPPRESS, _ADDITIVE, _RANDOM, _KEYED, _MOVED),
    ),
    Entry(
        ASSUMES,
        "Where all empty cells are published, everyone can conclude that no suppressed cell is "
        "empty, and a suppressed count at least 1: this is taken into account.",
        lambda truth, _: truth.audited and truth.present,
    ),
    Entry(
        LIMITS,
        "Someone who concludes from the published empty cells that a suppressed count is at least "
        "1 may determine it more closely than the rules allow, even exactly.",
        lambda truth, _: truth.audited and not truth.present,
    ),
    Entry(
        LIMITS,
        "Distances are over all numbers: someone who uses that counts, and sums of whole numbers, "
        "are whole may determine a suppressed value more closely than the rules allow.",
        lambda truth, _: truth.audited,
    ),
    Entry(
        LIMITS,
        "Sums of finer tables: where several tables are sums of one finer table that is not "
        "published, someone who uses that none of its cells is negative may determine a "
        "suppressed value more closely than the rules allow, even exactly.",
        lambda truth, _: truth.audited and truth.several,
    ),
    Entry(
        LIMITS,
        "Which cells of several tables hold the same people or companies together (the towns of a "
        "district) is taken into account where they are counted from rows and empty cells are "
        "published; what three or more large tables reveal together in this way is not.",
        lambda truth, _: truth.audited and truth.several,
    ),
    Entry(
        LIMITS,
        "It may be certain that an unsafe cell has the value 0.",
        lambda truth, _: truth.audited and not truth.present,
    ),
    Entry(
        ASSUMES,
        "Before these tables appear, no one knows more about a cell than that it is not "
        "negative; where values can be negative, no one knows anything about it.",
        lambda truth, _: truth.audited and not truth.lower and truth.upper is None,
    ),
    Entry(
        ASSUMES,
        "Before these tables appear, everyone knows of each cell that it is at least "
        "{x} times its value, and no more.",
        _known,
    ),
    Entry(
        ASSUMES,
        "Before these tables appear, everyone knows of each cell that it lies between "
        "{x} times and {x} times its value, and no more.",
        _known,
    ),
    Entry(
        ASSUMES,
        "A contributor who is alone in a cell knows that cell, and no other; no one else uses "
        "what they themselves gave beyond what the rules take into account.",
        lambda truth, _: truth.audited and truth.alone,
    ),
    Entry(
        ASSUMES,
        "No one who contributes to a cell uses what they themselves gave.",
        lambda truth, _: truth.audited and not truth.alone,
    ),
    Entry(
        ASSUMES,
        "Each cell was drawn once and keeps its value in every table that is made from the same "
        "data on this computer.",
        _cells(_RANDOM),
    ),
    Entry(
        ASSUMES,
        "Each row has a secret key that was drawn once, so that cells of the same rows have the "
        "same value in every table that is made from the same data on this computer.",
        _cells(_KEYED),
    ),
    Entry(
        LIMITS,
        "Other tables about the same people or companies can reveal more.",
        _cells(_SUPPRESS, audited=False),
    ),
    Entry(
        LIMITS,
        "Contributors who tell each other what they gave can work out what others gave.",
        _cells(_SUPPRESS, _ADDITIVE, _RANDOM, _KEYED, _MOVED),
    ),
    Entry(
        LIMITS,
        "Anyone who is alone in a part of a total knows that the total is at least that part.",
        lambda truth, _: truth.audited and truth.alone,
    ),
    Entry(
        LIMITS,
        ("That a cell is suppressed reveals that it, or one that it protects, was found unsafe."),
        _cells(_SUPPRESS),
    ),
    Entry(
        LIMITS,
        "The rules by which cells count as unsafe are not published, because that "
        "would help attackers.",
        _cells(_SUPPRESS, _ADDITIVE, _MOVED),
    ),
    Entry(LIMITS, _TOTALS_TELL, _cells(_ADDITIVE, _RANDOM)),
    Entry(
        LIMITS,
        "Totals were rounded by themselves: they are not the sums of their parts.",
        _cells(_RANDOM),
    ),
    Entry(
        LIMITS,
        "Totals were changed by themselves: they are not the sums of their parts.",
        _cells(_KEYED),
    ),
    Entry(
        LIMITS,
        "Totals and parts together can narrow a count down further than its own change does.",
        _cells(_KEYED),
    ),
    Entry(
        LIMITS,
        "A published count above 0 reveals that the cell is not empty.",
        _cells(_KEYED),
    ),
    Entry(
        LIMITS,
        "What single cells and their differences reveal about people or companies.",
        _cells(_NOTHING),
    ),
)
"""Sentences about protected tables."""

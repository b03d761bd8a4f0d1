"""What a release of protected tables promises, in words, from what its manifest states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpdesk.core.messages import listed, msg
from dpdesk.core.plain import fraction_of, number_text
from dpdesk.core.release import Guarantee
from dpdesk.core.shapes import as_list
from dpdesk.engine.methods.table.settings import (
    ADJUST,
    CELL_KEY,
    CONTROLLED,
    NONE,
    RANDOM,
    SUPPRESS,
    Settings,
)

SUPPRESSION, ADDITIVE, AT_RANDOM, NOTHING = (
    *("cell-suppression", "controlled-rounding", "random-rounding"),
    "unprotected-tables",
)
BY_KEYS, BY_CHANGES = "cell-keys", "controlled-adjustment"
MODELS = {
    SUPPRESS: SUPPRESSION,
    CONTROLLED: ADDITIVE,
    RANDOM: AT_RANDOM,
    NONE: NOTHING,
    CELL_KEY: BY_KEYS,
    ADJUST: BY_CHANGES,
}
"""The model of the guarantee, by the kind of protection."""


@dataclass(frozen=True)
class Promise:
    """What the sentences depend on.

    ``audited``: every unsafe cell was found protected as far as the agency's rules ask. ``lower``
    and ``upper`` are the shares of its value that everyone knows a cell to lie between;
    ``present``: readers may conclude that no suppressed cell is empty. ``several``: there is more
    than one table.
    """

    protect: str
    audited: bool = False
    base: int = 0
    singletons: bool = False
    lower: Fraction = Fraction(0)
    upper: Fraction | None = None
    present: bool = False
    deviation: int = 0
    variance: Fraction = Fraction(0)
    several: bool = False
    sample: Fraction | None = None
    swapped: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: Settings) -> Promise:
        """From the settings of a plan."""
        suppress = settings.protect == SUPPRESS
        return cls(
            settings.protect,
            suppress and settings.secondary != NONE,
            settings.base if settings.protect in (RANDOM, CONTROLLED) else 0,
            suppress and settings.singletons,
            settings.lower if suppress else Fraction(0),
            settings.upper if suppress else None,
            suppress and settings.present,
            settings.deviation,
            settings.variance,
            len(settings.tables) > 1,
            settings.sample,
            settings.swap.columns if settings.swap is not None else (),
        )

    @classmethod
    def stated(
        cls, model: str, parameters: Mapping[str, object], *, several: bool = False
    ) -> Promise:
        """From what a manifest states. Raises KeyError, TypeError, ValueError for other forms."""
        protect = {name: kind for kind, name in MODELS.items()}[model]
        upper = parameters.get("upper")
        base, deviation = parameters.get("base", 0), parameters.get("deviation", 0)
        if not isinstance(base, int) or not isinstance(deviation, int):
            raise TypeError("base and largest change are whole numbers")
        return cls(
            protect,
            parameters.get("audited") is True,
            base,
            parameters.get("singletons") is True,
            fraction_of(str(parameters.get("lower", 0))),
            None if upper is None else fraction_of(str(upper)),
            parameters.get("present") is True,
            deviation,
            fraction_of(str(parameters.get("variance", 0))),
            several,
            fraction_of(str(parameters["sample"])) if "sample" in parameters else None,
            tuple(map(str, as_list(parameters.get("swapped", [])))),
        )

    @property
    def parameters(self) -> dict[str, object]:
        """What the guarantee states, as JSON values."""
        edits: dict[str, object] = {}
        if self.sample is not None:
            edits["sample"] = _plain(self.sample)
        if self.swapped:
            edits["swapped"] = list(self.swapped)
        return {**self._of_protection, **edits}

    @property
    def _of_protection(self) -> dict[str, object]:
        if self.protect == SUPPRESS:
            found: dict[str, object] = {
                "audited": self.audited,
                "singletons": self.singletons,
                "lower": _plain(self.lower),
                "present": self.present,
            }
            return found if self.upper is None else found | {"upper": _plain(self.upper)}
        if self.protect == CELL_KEY:
            return {"deviation": self.deviation, "variance": _plain(self.variance)}
        return {"base": self.base} if self.base else {}


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def table_guarantee(promise: Promise) -> Guarantee:
    """The guarantee in words."""
    words = {
        SUPPRESS: _suppressed,
        CONTROLLED: _rounded,
        RANDOM: _at_random,
        NONE: _nothing,
        CELL_KEY: _by_keys,
        ADJUST: _changed,
    }
    claim, assumes, not_covered = words[promise.protect](promise)
    assumes, not_covered = (*_edited(promise), *assumes), (*_of_edits(promise), *not_covered)
    return Guarantee(MODELS[promise.protect], promise.parameters, claim, assumes, not_covered)


_Words = tuple[str, tuple[str, ...], tuple[str, ...]]
_OTHER_TABLES = (
    "No other table about the same people or companies shares cells, totals or contributors with "
    "these tables."
)
_TOGETHER = "Contributors who tell each other what they gave can work out what others gave."
_INSIDE = "Anyone who is alone in a part of a total knows that the total is at least that part."
_MARKS = "That a cell is suppressed reveals that it, or one that it protects, was found unsafe."
_PARAMETERS = (
    "The rules by which cells count as unsafe are not published, because that would help attackers."
)


def _suppressed(promise: Promise) -> _Words:
    if not promise.audited:
        claim = (
            "Cells that the agency's rules call unsafe are not published; nothing else is "
            "suppressed, so many of them can be computed back from totals."
        )
        return claim, (), (_OTHER_TABLES_LIMIT, _TOGETHER, _MARKS)
    claim = (
        "No one can compute the value of a cell that the agency's rules call unsafe from these "
        "tables more closely than the rules allow."
        if promise.present
        else "No one who knows of a cell beforehand only what is assumed here, and does not "
        "conclude that suppressed cells are not empty, can compute the value of a cell that the "
        "agency's rules call unsafe from these tables more closely than the rules allow."
    )
    assumes = [_known(promise), _OTHER_TABLES]
    if promise.present:
        assumes.insert(1, _PRESENT)
    if promise.singletons:
        assumes.append(
            "A contributor who is alone in a cell knows that cell, and no other; no one else "
            "uses what they themselves gave beyond what the rules take into account."
        )
    else:
        assumes.append("No one who contributes to a cell uses what they themselves gave.")
    inside = (_INSIDE,) if promise.singletons else ()
    open_ = () if promise.present else (_NOT_PRESENT, _ZERO)
    several = (_FINER, _COMMON) if promise.several else ()
    return (
        claim,
        tuple(assumes),
        (*open_, _WHOLE, *several, _TOGETHER, *inside, _MARKS, _PARAMETERS),
    )


def _edited(promise: Promise) -> Iterator[str]:
    """What was done to rows before they were counted."""
    if promise.sample is not None:
        yield msg(
            "The tables count a random sample, {share} % of all rows or households, as it is and "
            "not scaled up; it was drawn once, and is the same in every table that is made of the "
            "same data on this computer.",
            share=number_text(100 * promise.sample),
        )
    if promise.swapped:
        yield msg(
            "Before counting, values of {columns} were exchanged between some rows or households "
            "that match in other columns: what is said here of true values is said of those after "
            "the swap. How many were swapped is not published.",
            columns=listed([f"`{name}`" for name in promise.swapped]),
        )


def _of_edits(promise: Promise) -> Iterator[str]:
    if promise.sample is not None:
        yield (
            "Someone who knows that a person is in the sample is not held up by the sampling; how "
            "far sample and population differ is not stated."
        )
    if promise.swapped:
        yield (
            "Most rows are not swapped, so a cell mostly counts whom it says; counts without the "
            "exchanged columns, and by them and the matched ones alone, are as they were."
        )


_PRESENT = (
    "Where all empty cells are published, everyone can conclude that no suppressed cell is empty, "
    "and a suppressed count at least 1: this is taken into account."
)
_NOT_PRESENT = (
    "Someone who concludes from the published empty cells that a suppressed count is at least 1 "
    "may determine it more closely than the rules allow, even exactly."
)
_WHOLE = (
    "Distances are over all numbers: someone who uses that counts, and sums of whole numbers, "
    "are whole may determine a suppressed value more closely than the rules allow."
)
_FINER = (
    "Sums of finer tables: where several tables are sums of one finer table that is not "
    "published, someone who uses that none of its cells is negative may determine a suppressed "
    "value more closely than the rules allow, even exactly."
)
_COMMON = (
    "Which cells of several tables hold the same people or companies together (the towns of a "
    "district) is taken into account where they are counted from rows and empty cells are "
    "published; what three or more large tables reveal together in this way is not."
)
_ZERO = "It may be certain that an unsafe cell has the value 0."
_OTHER_TABLES_LIMIT = "Other tables about the same people or companies can reveal more."


def _known(promise: Promise) -> str:
    if promise.upper is not None:
        return msg(
            "Before these tables appear, everyone knows of each cell that it lies between {lower} "
            "times and {upper} times its value, and no more.",
            lower=number_text(promise.lower),
            upper=number_text(promise.upper),
        )
    if promise.lower:
        return msg(
            "Before these tables appear, everyone knows of each cell that it is at least {lower} "
            "times its value, and no more.",
            lower=number_text(promise.lower),
        )
    return (
        "Before these tables appear, no one knows more about a cell than that it is not "
        "negative; where values can be negative, no one knows anything about it."
    )


def _rounded(promise: Promise) -> _Words:
    claim = msg(
        "Every value is a multiple of {base} and less than {base} from the true one, and totals "
        "are the sums of their parts.",
        base=promise.base,
    )
    return claim, (_OTHER_TABLES,), (_NARROW, _TOGETHER, _PARAMETERS)


_NARROW = "Totals and parts together can narrow a value down further than its own rounding does."


def _at_random(promise: Promise) -> _Words:
    claim = msg(
        "Every value is a multiple of {base} and less than {base} from the true one; whether it "
        "went up or down was drawn at random, so that it is right on average.",
        base=promise.base,
    )
    assumes = (
        "Each cell was drawn once and keeps its value in every table that is made from the same "
        "data on this computer.",
        _OTHER_TABLES,
    )
    sums = "Totals were rounded by themselves: they are not the sums of their parts."
    return claim, assumes, (sums, _NARROW, _TOGETHER)


def _by_keys(promise: Promise) -> _Words:
    claim = msg(
        "Every count was changed at random by at most {deviation}, so that it is right on average "
        "and its changes have the variance {variance}; counts of 0 stay 0.",
        deviation=promise.deviation,
        variance=number_text(promise.variance),
    )
    assumes = (
        "Each row has a secret key that was drawn once, so that cells of the same rows have the "
        "same value in every table that is made from the same data on this computer.",
        _OTHER_TABLES,
    )
    limits = (
        "Totals were changed by themselves: they are not the sums of their parts.",
        "Totals and parts together can narrow a count down further than its own change does.",
        "A published count above 0 reveals that the cell is not empty.",
        _TOGETHER,
    )
    return claim, assumes, limits


def _changed(promise: Promise) -> _Words:
    claim = (
        "Every cell that the agency's rules call unsafe is published with another value, at "
        "least as far from the true one as the rules require; other cells are changed so that "
        "totals are the sums of their parts."
    )
    limits = (
        "Someone who finds out, or guesses, which cells were changed, in which direction and by "
        "how much, can compute true values; nothing was drawn at random.",
        "It is not shown which cells were changed, and no limit is promised for how far a "
        "published value is from the true one.",
        "Someone who knows that a cell holds only what they gave sees how far it was changed.",
        _TOGETHER,
        _PARAMETERS,
    )
    return claim, (_OTHER_TABLES,), limits


def _nothing(promise: Promise) -> _Words:
    claim = "The tables are published as they were counted; nothing is protected."
    return (
        claim,
        (),
        (("What single cells and their differences reveal about people or companies."),),
    )

"""Codes masked character by character, from the right or from the left."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dpdesk.core.messages import msg
from dpdesk.core.parameters import (
    Choice,
    ChoiceParameter,
    IntegerParameter,
    NumberListParameter,
    Parameter,
    TextParameter,
)
from dpdesk.engine.hierarchies.options import (
    APART,
    ROOT,
    Options,
    Rows,
    number,
    numbers,
    option_error,
    text,
)

_MOST_LEVELS = 50

PARAMETERS: tuple[Parameter, ...] = (
    ChoiceParameter(
        "from",
        "Mask from",
        "The end whose characters are hidden first.",
        choices=(Choice("right", "The right: 4767*"), Choice("left", "The left: *7677")),
        default="right",
    ),
    TextParameter(
        "character",
        "Mask character",
        "What replaces a hidden character.",
        default="*",
        longest=1,
    ),
    IntegerParameter(
        "every",
        "Characters per level",
        "How many more characters each level hides.",
        minimum=1,
        default=1,
    ),
    NumberListParameter(
        "steps",
        "Hidden characters",
        "Instead: how many characters each level hides, such as 1, 2, 4.",
        whole=True,
        minimum=1,
        replaces=("every",),
    ),
    TextParameter(
        "pad",
        "Fill short codes with",
        "Added on the left of shorter codes before masking, such as 0; if empty, codes stay as "
        "they are.",
        default="",
        longest=1,
    ),
    APART,
)


def build_rows(values: Sequence[str], options: Options, where: str) -> Rows:
    """One row per value, sorted: the value, what each level leaves visible, the top."""
    mark, pad = text(options, "character"), text(options, "pad")
    if not mark:
        raise option_error(where, '`character` is "", expected one character.', key="character")
    length = max((len(value) for value in values), default=0)
    hidden = _steps(options, length, where)
    from_right = text(options, "from") != "left"
    rows: Rows = []
    for value in sorted(values):
        whole = value.rjust(length, pad) if pad else value
        rows.append([value, *(_masked(whole, count, mark, from_right) for count in hidden), ROOT])
    return rows


def _steps(options: Options, length: int, where: str) -> list[int]:
    given = numbers(options, "steps")
    if not given:
        every = int(number(options, "every") or 1)
        hidden = range(every, length, every)
        if len(hidden) > _MOST_LEVELS:
            raise option_error(
                where,
                msg(
                    "the longest value has {length:,} characters, which gives {hidden:,} "
                    "levels, expected {most_levels} at most.",
                    length=length,
                    hidden=len(hidden),
                    most_levels=_MOST_LEVELS,
                ),
                hint="Give `steps`, or another builder.",
                key="steps",
            )
        return list(hidden)
    steps = [int(step) for step in given]
    for before, step in pairwise(steps):
        if step <= before:
            raise option_error(
                where,
                msg(
                    "`steps` holds {step} after {before}, expected rising numbers.",
                    step=step,
                    before=before,
                ),
                hint="For instance [1, 2, 4].",
                key="steps",
            )
    return steps


def _masked(value: str, count: int, mark: str, from_right: bool) -> str:
    hidden = min(count, len(value))
    visible = len(value) - hidden
    if from_right:
        return value[:visible] + mark * hidden
    return mark * hidden + value[hidden:]

"""Words that items of a checklist share: counts, shares, lists of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from dpdesk.core.charts import format_figure
from dpdesk.core.messages import Listed, counted, msg
from dpdesk.core.plain import number_text, quoted

_MOST_NAMED = 5


def share_of(some: int, whole: int) -> str:
    """``3.19 %``, to two digits."""
    return format_figure(some / whole if whole else 0.0, "share")


def part(some: int, whole: int, of: str = "") -> str:
    """``655 of 20,502 rows (3.19 %)``; ``of`` are the words for the whole, if not rows."""
    return msg(
        "{some:,} of {whole} ({share})",
        some=some,
        whole=of or counted("{n:,} row", "{n:,} rows", n=whole),
        share=share_of(some, whole),
    )


def percent(share: Fraction) -> str:
    """An exact share in percent, with all its digits."""
    return f"{number_text(share * 100)} %"


def named(names: Sequence[str], after: Callable[[str], str] = lambda _: "") -> str:
    """Names in a sentence, each between backticks; beyond a handful it says how many more.

    ``after`` are words of ours that follow a name.
    """
    shown = [f"{quoted(name)}{after(name)}" for name in names[:_MOST_NAMED]]
    return Listed(shown, len(names) - len(shown))


def value(text: str) -> str:
    """A published value in a sentence, on one line and cut when long."""
    return quoted(text) if text else msg("the empty value")


def printable(text: str) -> str:
    """A text on one line, without outer blanks and without what no screen can show."""
    flat = " ".join(text.split())
    return "".join(character if character.isprintable() else "·" for character in flat)

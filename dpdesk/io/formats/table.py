"""What every reader of a foreign format gives: columns described, rows in Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from dpdesk.core.errors import DpdeskError, InputError
from dpdesk.core.labels import Variable
from dpdesk.core.messages import msg

if TYPE_CHECKING:
    import pyarrow

_LISTED = 5


@dataclass(frozen=True)
class Values:
    """Values of one column in one batch: Arrow values, and texts for what their type cannot hold.

    ``odd`` is None for a column of texts; else it has a text in each row whose value is told by it
    and not by ``values`` (a lettered missing value, a number that is no date).
    """

    values: pyarrow.Array
    odd: pyarrow.Array | None = None


class TableReader(Protocol):
    """A source that was opened; its rows can be read once."""

    variables: tuple[Variable, ...]
    rows: int | None
    encoding: str
    notes: Notes

    def batches(self, limit: int | None) -> Iterator[tuple[Values, ...]]:
        """The rows, at most ``limit``, in batches of equal types; raises DpdeskError."""
        ...

    def close(self) -> None:
        """Give the source back."""
        ...


@dataclass
class Notes:
    """Sentences about a source; of many of a kind the first few, and how many there were."""

    sentences: list[str] = field(default_factory=list)
    _kinds: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, sentence: str, count: int = 1) -> None:
        """Note a sentence that stands for ``count`` values; ``kind`` tells what they share."""
        seen = self._kinds.get(kind, 0)
        if seen == 0:
            self.sentences.append(sentence)
        self._kinds[kind] = seen + count

    def __contains__(self, kind: str) -> bool:
        """Whether a sentence of that kind was noted."""
        return kind in self._kinds

    def told(self) -> tuple[str, ...]:
        """The sentences, each with the number of further values that it stands for."""
        return tuple(
            sentence
            if kind_count == 1
            else msg(
                "{sentence} There are {kind_count:,} such values.",
                sentence=sentence,
                kind_count=kind_count,
            )
            for sentence, kind_count in zip(self.sentences, self._kinds.values(), strict=True)
        )


def listed(names: Sequence[str]) -> str:
    """The first of some names, in marks, for a sentence."""
    told = ", ".join(f"`{name}`" for name in names[:_LISTED])
    return told + (", …" if len(names) > _LISTED else "")


def damaged(name: str, what: str, row: int | None = None) -> DpdeskError:
    """The error for a file that breaks off or is no file of its kind."""
    place = name if row is None else msg("{name}, row {row:,}", name=name, row=row)
    return InputError(
        "read.damaged",
        msg("{path}: {reason}.", path=place, reason=what),
        hint="Get the file again from where it comes from, or save it again with its program.",
        details={} if row is None else {"row": row},
    )

"""The one error tree of the program.

Every error that a user can cause or meet carries a stable ``code``, one sentence that says what is
wrong and where, and a hint that says what to do. Front ends show these; they never parse text.

    DpdeskError
    ├── InputError      bad usage or bad input                     (exit code 2)
    ├── StorageError    a file or folder could not be read or written (exit code 2)
    ├── RefusedError    the data or the release fails what was asked  (exit code 1)
    └── Cancelled       the user stopped the work                    (exit code 130)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from dpdesk.core.messages import joined

_SENTENCE_END = re.compile(r"(?<=[\w`)*])\.\s+(?=[A-Z`])")
_NAMES = ("DPDesk", "Excel", "Parquet", "Python", "Unicode")
_PLAIN_WORD = re.compile(rf"(?!(?:{'|'.join(_NAMES)})\b)[A-Z][a-z]+\b|A\b")
_NO_DETAILS: Mapping[str, object] = MappingProxyType({})


class DpdeskError(Exception):
    """Root of all errors that DPDesk raises on purpose.

    Parameters
    ----------
    code:
        Stable identifier such as ``"hierarchy.missing-leaf"``; tests and front ends rely on it.
    sentence:
        One sentence for the user: file, row and column where there is one, what was found, what
        was expected.
    hint:
        What the user can do about it; empty when the sentence says it already.
    details:
        Machine-readable facts (for instance ``{"attribute": "age", "row": 812}``), never raw data
        beyond what the sentence shows.
    """

    exit_code: ClassVar[int] = 2

    def __init__(
        self,
        code: str,
        sentence: str,
        *,
        hint: str = "",
        details: Mapping[str, object] = _NO_DETAILS,
    ) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.hint = hint
        self.details = MappingProxyType(dict(details))

    @property
    def full(self) -> str:
        """Sentence and hint, each a sentence of its own."""
        return joined([self.sentence, self.hint])

    @property
    def line(self) -> str:
        """Sentence and hint as one sentence on one line, the last one on stderr."""
        sentence = " ".join(self.sentence.split())
        if not self.hint:
            return sentence
        hint = " ".join(self.hint.split())
        return f"{sentence.rstrip('.')}; {_continued(hint)}"


def _continued(hint: str) -> str:
    """A hint as the rest of a sentence: its sentences joined, each begun with a small letter."""
    parts = [part for part in _SENTENCE_END.split(hint) if part]
    return "; ".join(
        part[0].lower() + part[1:] if _PLAIN_WORD.match(part) else part for part in parts
    )


class InputError(DpdeskError):
    """Bad usage or bad input: a plan, a data file, a hierarchy or an option."""

    exit_code = 2


class StorageError(DpdeskError):
    """A file or folder could not be read or written (missing, no permission, disk full)."""

    exit_code = 2


class RefusedError(DpdeskError):
    """The data or the release fails what was asked: infeasible, not eligible, not verified."""

    exit_code = 1


class Cancelled(DpdeskError):  # noqa: N818 - it is an outcome, not a fault
    """The user stopped the work; nothing was changed."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("cancelled", "Cancelled; nothing was written.")

"""What the texts of a published column look like: type, free text, addresses, extreme numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import NOTHING_MISSING, UserMissing
from dpdesk.core.published import Content
from dpdesk.core.schema import ColumnType, ValueCount
from dpdesk.io.column_types import DATE_FORMS, ISO_DATE
from dpdesk.io.missing import user_missing_flags

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PIECE = 100_000
_INTEGER = r"[+-]?\d+"
_NUMBER = r"[+-]?(\d+(MARK\d*)?|MARK\d+)([eE][+-]?\d+)?"
_DATES = "|".join((ISO_DATE, *(form for form, _ in DATE_FORMS)))
_ADDRESS = r"[^\s@]+@[^\s@]+\.[A-Za-z]{2,}"
_WORDY = r"\S+(\s+\S+){3,}"
_MANY_VALUES, _WORDY_SHARE = 100, 0.3
_HIGH, _FAR = 0.99, 2.0


@dataclass(frozen=True)
class ColumnContent:
    """What the texts of a column look like; see :class:`dpdesk.core.published.ColumnFacts`."""

    type: ColumnType
    content: Content
    extreme: ValueCount | None


def column_content(
    texts: Any,
    rows: NDArray[np.int64],
    missing: Sequence[str],
    decimal: str,
    token: CancelToken,
    user: UserMissing = NOTHING_MISSING,
) -> ColumnContent:
    """Judge the different ``texts`` of a column (an Arrow array); each stands in ``rows`` rows.

    The type is that which all texts but the missing codes have, ``user`` being those of the source.
    Free text: many different texts, of which three in ten or more have four words. One e-mail
    address is enough for addresses.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    listed = pc.is_in(texts, value_set=pa.array(list(missing), pa.string()))
    present = ~_taken(pc.or_(listed, user_missing_flags(texts, user)))
    kept, counts = texts.filter(pa.array(present)), rows[present]
    if not len(kept):
        return ColumnContent(ColumnType.EMPTY, Content.PLAIN, None)
    number = _NUMBER.replace("MARK", "[.]" if decimal == "." else ",")
    if _all_match(kept, number, token):
        whole = _all_match(kept, _INTEGER, token)
        extreme = _extreme(kept, counts, decimal)
        kind = ColumnType.INTEGER if whole else ColumnType.DECIMAL
        return ColumnContent(kind, Content.PLAIN, extreme)
    if _all_match(kept, _DATES, token):
        return ColumnContent(ColumnType.DATE, Content.PLAIN, None)
    return ColumnContent(ColumnType.TEXT, _text_content(kept, token), None)


def _text_content(texts: Any, token: CancelToken) -> Content:
    if _matching(texts, _ADDRESS, token):
        return Content.ADDRESSES
    if len(texts) > _MANY_VALUES:
        wordy = _matching(texts, _WORDY, token)
        if wordy >= _WORDY_SHARE * len(texts):
            return Content.FREE_TEXT
    return Content.PLAIN


def _all_match(texts: Any, pattern: str, token: CancelToken) -> bool:
    for start in range(0, len(texts), _PIECE):
        token.check()
        piece = texts.slice(start, _PIECE)
        if _count(piece, pattern) < len(piece):
            return False
    return True


def _matching(texts: Any, pattern: str, token: CancelToken) -> int:
    found = 0
    for start in range(0, len(texts), _PIECE):
        token.check()
        found += _count(texts.slice(start, _PIECE), pattern)
    return found


def _count(texts: Any, pattern: str) -> int:
    import pyarrow.compute as pc

    hits = pc.match_substring_regex(texts, rf"^\s*(?:{pattern})\s*$")
    return int(pc.sum(hits).as_py() or 0)


def _extreme(texts: Any, rows: NDArray[np.int64], decimal: str) -> ValueCount | None:
    """The largest number where it is more than twice the 99th percentile of the rows, else None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = pc.utf8_trim_whitespace(texts)
    if decimal == ",":
        plain = pc.replace_substring(plain, ",", ".")
    plain = pc.replace_substring_regex(plain, r"^\+", "")
    try:
        numbers = pc.cast(plain, pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        return None
    order = np.argsort(numbers, kind="stable")
    reached = np.cumsum(rows[order])
    high = numbers[order][int(np.searchsorted(reached, _HIGH * reached[-1]))]
    last = int(order[-1])
    if not high > 0 or not numbers[last] > _FAR * high:
        return None
    return ValueCount(str(texts[last].as_py()), int(rows[last]))


def _taken(mask: Any) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.asarray(mask.to_numpy(zero_copy_only=False), dtype=np.bool_)
    return found

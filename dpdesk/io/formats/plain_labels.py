"""Names and labels of Stata and SAS files that end inside a character, looked at as plain bytes.

The reading library drops such an ending. Read once more in an encoding of one byte for each
character, names and labels give their bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dpdesk.core.labels import Variable
from dpdesk.core.messages import msg
from dpdesk.io.formats.endings import Endings
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.stat_faults import label_breaks_off, no_text, note_cut_label
from dpdesk.io.formats.table import Notes

_BAD = "\ufffd"
PLAIN = "ISO-8859-1"
"""The encoding whose characters are bytes."""
Label = tuple[str, str]
"""What it is, and it, as characters that stand for bytes."""


def check_labels(
    file: str, names: Sequence[str], plain: Any, endings: Endings, notes: Notes
) -> None:
    """Raise InputError ``encoding.undecodable`` for a name or label in another encoding by its end.

    Those that were cut off are noted. ``names`` are those of the columns, ``plain`` is what the
    library says of the file, read in ``PLAIN``.
    """
    for j, column in enumerate(names):
        raw = plain.column_names[j]
        found = [("its name", raw), ("its label", plain.column_labels[j] or "")]
        check_texts(file, column, found, endings, notes)
        labels = plain.variable_value_labels.get(raw, {})
        check_texts(file, column, of_values(labels), endings, notes)


def check_read(
    file: str, variables: Sequence[Variable], plain: Any, endings: Endings, encoding: str
) -> None:
    """Raise InputError ``encoding.undecodable`` for a name or label that was read in part.

    Of Stata files the library reads names and labels up to the first bytes that are no text.
    """
    for j, variable in enumerate(variables):
        found = (
            ("its name", plain.column_names[j], variable.name),
            ("its label", plain.column_labels[j] or "", variable.label),
        )
        for what, raw, given in found:
            whole = "" if raw.isascii() else endings.decoded(raw.encode(PLAIN))
            before, bad, _ = whole.partition(_BAD)
            if bad and given == before.rstrip(" "):
                raise no_text(file, variable.name, what, encoding)


def of_values(labels: Mapping[Any, str]) -> Iterator[Label]:
    """Value labels, and those values that are texts."""
    for code, label in labels.items():
        if not isinstance(code, str):
            yield msg("the label of the value {value}", value=number_text(code)), label
            continue
        what = msg(
            "the label of the value `{decode}`",
            decode=code.encode(PLAIN).decode("utf-8", "replace"),
        )
        yield what, label
        yield what, code


def check_texts(
    file: str, column: str, texts: Iterator[Label] | Sequence[Label], endings: Endings, notes: Notes
) -> None:
    """Raise InputError ``encoding.undecodable`` for such a text of a column, or note it."""
    for what, text in texts:
        raw = text.encode(PLAIN)
        if not endings.breaks_off(raw):
            continue
        if endings.is_foreign(raw):
            raise label_breaks_off(file, column, what, endings.encoding)
        note_cut_label(notes, column, what)

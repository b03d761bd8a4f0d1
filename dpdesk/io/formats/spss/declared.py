"""Labels and missing values of an SPSS file that the reading library takes for those of no column.

It takes the last record of value labels of a column alone, and finds columns of long texts by their
long names alone, as they are written; SPSS and PSPP add records up, and know both names.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpdesk.core.messages import msg
from dpdesk.io.formats.endings import Endings, codec_name, is_known
from dpdesk.io.formats.spss.layout import Label, SavLayout, read_layout
from dpdesk.io.formats.stat_faults import no_text
from dpdesk.io.formats.table import Notes, damaged

_UTF8 = "utf-8"
_WIDER = {"big5": "cp950", "shift_jis": "cp932", "gb2312": "gbk", "euc_kr": "cp949"}
"""Codecs with the letters that Windows has besides, as the library reads them."""
Values = dict[Any, str]


def completed(
    path: Path, meta: Any, endings: Endings, notes: Notes
) -> dict[str, Mapping[Any, str]]:
    """The value labels of each column, and in ``meta`` the missing values, as the file has them.

    Noted are those of no column, names that the library does not give, and ranges of missing texts,
    which are left out. Raises InputError ``read.damaged`` for a column that is a number in its
    description and a text by its format, ``encoding.undecodable`` for a label that is no text.
    """
    layout = read_layout(path)
    names = list(meta.column_names)
    found: dict[str, Mapping[Any, str]] = dict(meta.variable_value_labels)
    encoding = endings.encoding or _UTF8
    if len(names) != len(layout.columns) or not is_known(encoding):
        return found
    file = _File(path.name, layout, names, codec_name(encoding), endings)
    file.check_kinds(meta.readstat_variable_types)
    file.note_names(notes)
    for j, labels in enumerate(file.labels(notes)):
        given = found.get(names[j], {})
        if layout.columns[j].numeric:
            given = {code: text for code, text in given.items() if not isinstance(code, str)}
        # The library's tables may decode a value otherwise, so what tells is how many there are.
        if len(labels) > len(given):
            bare = {code.rstrip(" ") if isinstance(code, str) else code: code for code in given}
            own = {file.code(code): file.text(names[j], raw) for code, raw in labels.items()}
            given = own | {code: given[bare[code]] for code in bare}
        if given or names[j] in found:
            found[names[j]] = given
    meta.missing_ranges = file.missing(meta.missing_ranges, notes)
    return found


class _File:
    def __init__(
        self, name: str, layout: SavLayout, names: list[str], codec: str, endings: Endings
    ) -> None:
        self._name, self._layout, self._names = name, layout, names
        self._codec, self._endings = _WIDER.get(codec, codec), endings

    def _decoded(self, raw: bytes) -> str:
        return raw.rstrip(b" \0").decode(self._codec, "replace")

    def code(self, code: float | bytes) -> float | str:
        """A labelled value as it stands in its column."""
        return self._decoded(code) if isinstance(code, bytes) else code

    def text(self, column: str, raw: bytes) -> str:
        """A label; InputError ``encoding.undecodable`` when it is no text."""
        raw = raw.rstrip(b" \0")
        try:
            return raw.decode(self._codec)
        except UnicodeDecodeError as error:
            whole = self._endings.cut(raw)
            if whole is None:
                encoding = self._endings.encoding
                raise no_text(self._name, column, "its label", encoding) from error
            return whole

    def check_kinds(self, kinds: Mapping[str, str]) -> None:
        """Refuse a column whose numbers the library takes for texts, or the other way round."""
        for name, cells in zip(self._names, self._layout.columns, strict=True):
            if cells.numeric == (kinds.get(name) == "string"):
                what = msg(
                    "column `{name}` is a number by its description and a text by its format",
                    name=name,
                )
                raise damaged(self._name, what)

    def note_names(self, notes: Notes) -> None:
        """Note columns that the file calls by a longer name than the library."""
        for name, raw in zip(self._names, self._layout.names, strict=True):
            long = self._decoded(raw)
            if long and long.casefold() != name.casefold() and "\ufffd" not in long:
                notes.add(
                    f"name {name}",
                    msg(
                        "Column `{column}`: the file calls it `{long}` as well, which is left out.",
                        column=name,
                        long=long,
                    ),
                )

    def _column(self, name: bytes) -> int | None:
        """The column of a long name, or of a short one, whatever their case."""
        wanted = self._decoded(name).casefold()
        for names in (self._layout.names, self._layout.short):
            for j, one in enumerate(names):
                if self._decoded(one).casefold() == wanted:
                    return j
        return None

    def labels(self, notes: Notes) -> list[dict[Any, bytes]]:
        """The labels of each column, of a value with two the last one."""
        found: list[dict[Any, bytes]] = [{} for _ in self._names]
        for label in self._layout.labels:
            if label.code is None:
                continue
            place = label.column if isinstance(label.column, int) else self._column(label.column)
            is_long = not isinstance(label.column, int)
            if place is None or (is_long and self._layout.columns[place].numeric):
                notes.add(
                    "idle labels",
                    msg(
                        "The value labels called `{called}` belong to no column; "
                        "they are left out.",
                        called=self._called(label),
                    ),
                )
                continue
            cells = self._layout.columns[place]
            if cells.numeric:
                (bits,) = struct.unpack(f"{self._layout.order}Q", label.code)
                (number,) = struct.unpack(f"{self._layout.order}d", label.code)
                if number == number and bits != self._layout.sysmis:
                    found[place][number] = label.text
            elif is_long or sum(cells.segments) == 1:
                found[place][label.code.rstrip(b" \0")] = label.text
        return found

    def _called(self, label: Label) -> str:
        return self._decoded(label.column) if isinstance(label.column, bytes) else ""

    def missing(self, given: Mapping[str, list[Any]], notes: Notes) -> dict[str, list[Any]]:
        """The missing values of each column, those of long texts too; without ranges of texts."""
        found = dict(given)
        for raw, values in self._layout.missing:
            place = self._column(raw)
            if place is None or self._layout.columns[place].numeric:
                notes.add(
                    f"idle missing {self._decoded(raw)}",
                    msg(
                        "The missing values of a column `{column}`, which the file does not "
                        "have, are left out.",
                        column=self._decoded(raw),
                    ),
                )
            elif not found.get(self._names[place]):
                texts = [self._decoded(value) for value in values]
                found[self._names[place]] = [{"lo": text, "hi": text} for text in texts]
        for name, items in found.items():
            single = [
                one for one in items if not isinstance(one["lo"], str) or one["lo"] == one["hi"]
            ]
            if len(single) < len(items):
                found[name] = single
                notes.add(
                    f"range {name}",
                    msg(
                        "Column `{column}`: the range of missing texts is not taken over; its "
                        "values stay ordinary values.",
                        column=name,
                    ),
                )
        return found

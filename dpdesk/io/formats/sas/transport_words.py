"""Names and labels of a SAS transport file, which does not say in which encoding they are."""

from __future__ import annotations

from collections.abc import Iterator

from dpdesk.io.formats.endings import Endings
from dpdesk.io.formats.sas.transport_layout import Member
from dpdesk.io.formats.stat_faults import (
    label_breaks_off,
    no_text,
    note_cut_label,
    note_guess,
    note_nul,
    nul_in_label,
)
from dpdesk.io.formats.table import Notes

_NAMES, _LABELS = (8, 32), (40, 256)
"""Bytes at which a program cuts names and labels off."""


class Words:
    """How the texts of a table are read: as the plan says, as UTF-8, or else as cp1252.

    They are UTF-8 unless a name or a label is none; one that was cut off inside its last character
    is.
    """

    def __init__(self, member: Member, named: str | None) -> None:
        self.encoding = named or ("utf-8" if _are_utf8(member) else "cp1252")
        self.endings = Endings(self.encoding, by_plan=named is not None)
        self._guessed = named is None and self.encoding != "utf-8"

    def of(self, member: Member, file: str, notes: Notes) -> Iterator[tuple[str, str]]:
        """Name and label of each column.

        Raises InputError ``encoding.undecodable`` and ``read.nul``; noted is a guessed encoding,
        and what was cut off.
        """
        for field in member.fields:
            column = field.name.decode(self.encoding, "replace")
            texts = (("its name", field.name, _NAMES), ("its label", field.label, _LABELS))
            name, label = (self._text(*text, column, file, notes) for text in texts)
            yield name, label

    def _text(
        self, what: str, raw: bytes, ends: tuple[int, ...], column: str, file: str, notes: Notes
    ) -> str:
        if b"\0" in raw and ends is _NAMES:
            raise nul_in_label(file, column, what)
        if b"\0" in raw:
            note_nul(notes, column, what)
            raw = raw.partition(b"\0")[0].rstrip(b" ")
        if self._guessed and not raw.isascii():
            note_guess(notes, self.encoding, raw.decode(self.encoding, "replace"))
        try:
            return raw.decode(self.encoding)
        except UnicodeDecodeError as error:
            text = self.endings.cut(raw)
            if text is None:
                raise no_text(file, column, what, self.encoding) from error
            if self.endings.is_foreign(raw) and len(raw) not in ends:
                raise label_breaks_off(file, column, what, self.encoding) from error
        note_cut_label(notes, column, what)
        return text


def _are_utf8(member: Member) -> bool:
    endings = Endings("utf-8")
    for field in member.fields:
        for raw, ends in ((field.name, _NAMES), (field.label, _LABELS)):
            try:
                raw.decode("utf-8")
            except UnicodeDecodeError:
                foreign = endings.is_foreign(raw) and len(raw) not in ends
                if endings.cut(raw) is None or foreign:
                    return False
    return True

"""What a statistical file says beside its columns and their values, and no release holds: noted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpdesk.core.messages import listed, msg
from dpdesk.core.plain import quoted
from dpdesk.io.formats.spss.layout import Declared, declared
from dpdesk.io.formats.stata.labels import FILE, Characteristic, characteristics
from dpdesk.io.formats.table import Notes

_NAMED = 5
_NOTE = re.compile(r"note[1-9][0-9]*")
_LANGUAGES, _LANGUAGE = "_lang_list", "_lang_c"


def note_unkept(path: Path, file_format: str, meta: Any, notes: Notes) -> None:
    """Note label, documents, sets, attributes, weight, languages and notes, once for each kind.

    ``meta`` is what the reading library tells of the file.
    """
    note_file_label(notes, str(meta.file_label or ""))
    if file_format == "sav":
        if meta.notes:
            lines = f"{len(meta.notes):,}"
            notes.add(
                "documents",
                msg("The documents of the file (lines: {lines}) are not kept.", lines=lines),
            )
        if meta.mr_sets:
            sets = _listed([f"${name}" for name in meta.mr_sets])
            notes.add("sets", msg("Sets of multiple responses are not kept: {names}.", names=sets))
        _note_declared(declared(path), meta.column_names, notes)
    elif file_format == "dta":
        _note_characteristics(characteristics(path), notes)


def _note_declared(found: Declared, names: Sequence[str], notes: Notes) -> None:
    if found.attributes:
        notes.add(
            "attributes",
            msg("Custom attributes are not kept: {names}.", names=_listed(found.attributes)),
        )
    if found.weight is not None:
        weight = quoted(names[found.weight])
        notes.add(
            "weight",
            msg(
                "SPSS weights the rows by {weight}; this is not kept, each row counts once.",
                weight=weight,
            ),
        )


def note_file_label(notes: Notes, label: str) -> None:
    """Note the label of a file, or of its table, where it has one."""
    if label.strip():
        notes.add(
            "file label",
            msg("The label of the file is not kept: {strip}.", strip=quoted(label.strip())),
        )


def _note_characteristics(found: Sequence[Characteristic], notes: Notes) -> None:
    of_file = {one.name: one.text for one in found if one.owner == FILE}
    read = of_file.get(_LANGUAGE, "")
    others = [name for name in of_file.get(_LANGUAGES, "").split() if name != read]
    if others:
        notes.add(
            "languages",
            msg(
                "Labels in other languages than {language} are not kept: {names}.",
                language=quoted(read),
                names=_listed(others),
            ),
        )
    owners = [one.owner for one in found if _NOTE.fullmatch(one.name)]
    if count := owners.count(FILE):
        notes.add(
            "file notes",
            msg("The notes of the file (there are {count:,}) are not kept.", count=count),
        )
    if columns := list(dict.fromkeys(owner for owner in owners if owner != FILE)):
        notes.add(
            "column notes", msg("Notes of columns are not kept: {names}.", names=_listed(columns))
        )


def _listed(names: Sequence[str]) -> str:
    """The first of some names, and how many more."""
    return listed([quoted(name) for name in names], _NAMED)

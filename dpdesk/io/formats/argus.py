"""Metadata of µ-ARGUS and τ-ARGUS: columns of a text (.rda) and their code lists (.cdl)."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path

from dpdesk.core.errors import InputError
from dpdesk.core.labels import Kind, UserMissing, Variable
from dpdesk.core.messages import msg
from dpdesk.io.textfile import decode, read_bytes

_FALLBACK = "cp1252"
_ENDS = re.compile(r"\r\n|\r|\n")
_CODE = re.compile(r'\s*(?:"([^"]+)"|([^",][^,]*?))\s*,\s*(.*?)\s*')
_QUOTED = re.compile(r'"[^"]*"')
_ROLES = {
    "WEIGHT": "is the sampling weight: give it the role `weight`",
    "HOUSE_ID": "names the household: rows of one household share the role `cluster`",
    "HOLDING": "names the holding: rows of one holding share the role `cluster`",
    "REQUEST": "tells who asked for protection; rules of tables by request are not read",
}
"""What is said of columns of which the metadata state a use."""


@dataclass(frozen=True)
class ArgusColumn:
    """A column as its metadata describes it; ``start`` is 0 in a text with separators."""

    variable: Variable
    start: int
    width: int


@dataclass
class ArgusMeta:
    """The columns of a text, and the separator of its fields (empty: fixed width)."""

    columns: list[ArgusColumn] = field(default_factory=list)
    separator: str = ""
    notes: list[str] = field(default_factory=list)


def find_beside(path: Path, name: str) -> Path | None:
    """A file beside ``path`` by its name, in whatever case its letters are."""
    exact = path.with_name(name)
    if exact.is_file():
        return exact
    wanted = name.casefold()
    return next(
        (item for item in sorted(path.parent.iterdir()) if item.name.casefold() == wanted), None
    )


def lines_of(path: Path, code: str) -> list[str]:
    """The lines of a small text of ARGUS; raises StorageError or InputError ``{code}.*``."""
    text = decode(read_bytes(path, code), path, code, fallback=_FALLBACK).text
    return _ENDS.split(text.rstrip("\x1a"))


def read_metadata(path: Path) -> ArgusMeta:
    """Read a .rda file and the code lists that it names.

    Raises InputError ``argus.syntax`` with the line, ``argus.codelist``; StorageError.
    """
    meta = ArgusMeta()
    for number, line in enumerate(lines_of(path, "argus"), start=1):
        text = line.strip()
        if text.startswith("<"):
            _option(meta, path, number, text)
        elif text:
            meta.columns.append(_column(meta, path, number, text))
    if not meta.columns:
        raise _fault(path, 1, "found no column", "a line such as `AGE 6 2 99`")
    names = [column.variable.name for column in meta.columns]
    for j, name in enumerate(names):
        if name in names[:j]:
            raise InputError(
                "argus.syntax",
                msg(
                    "{file}: the column `{column}` is described twice.", file=path.name, column=name
                ),
            )
    return meta


def _column(meta: ArgusMeta, path: Path, number: int, text: str) -> ArgusColumn:
    try:
        name, *rest = shlex.split(text)
        counts = 1 if meta.separator else 2
        places = [int(item) for item in rest[:counts]]
    except ValueError:
        raise _fault(
            path, number, msg("found `{text}`", text=text[:60]), "a name and numbers"
        ) from None
    if len(places) < counts or min(places) < 1:
        expected = "a name, its first position and its width"
        raise _fault(path, number, msg("found `{text}`", text=text[:60]), expected)
    start = 0 if meta.separator else places[0]
    missing = UserMissing(tuple(dict.fromkeys(item.strip() for item in rest[counts:] if item)))
    return ArgusColumn(Variable(name, missing=missing, storage="text"), start, places[-1])


def _option(meta: ArgusMeta, path: Path, number: int, text: str) -> None:
    word, _, value = text[1:].partition(">")
    word, value = word.strip().upper(), value.strip()
    if word == "SEPARATOR":
        meta.separator = value.strip('"') or ","
        return
    if not meta.columns:
        raise _fault(path, number, msg("found <{word}>", word=word), "a column first")
    last = meta.columns[-1]
    variable = last.variable
    if word == "CODELIST":
        labels = _labels(path, value.strip('"'), variable.name, meta)
        variable = replace(variable, value_labels=labels)
    elif word == "NUMERIC":
        variable = replace(variable, kind=Kind.NUMBER, measure="scale")
    elif word in ("RECODABLE", "RECODEABLE"):
        variable = replace(variable, measure="nominal")
    elif word == "HIERCODELIST":
        meta.notes.append(
            msg(
                "Column `{name}` has the hierarchy {file}: name it as its `hierarchy`.",
                name=variable.name,
                file=value.strip(chr(34)),
            )
        )
    elif word == "HIERLEVELS":
        meta.notes.append(
            msg(
                "The codes of column `{name}` are hierarchical by their digits ({value}): a "
                "hierarchy of the kind `mask` says so.",
                name=variable.name,
                value=value,
            )
        )
    elif word in _ROLES:
        meta.notes.append(msg("Column `{name}` {roles}.", name=variable.name, roles=_ROLES[word]))
    meta.columns[-1] = replace(last, variable=variable)


def _labels(path: Path, name: str, column: str, meta: ArgusMeta) -> dict[str, str]:
    """The code list of a column; one that is not there is noted, since data do not need it."""
    found = find_beside(path, Path(name.replace("\\", "/")).name)
    if found is None:
        meta.notes.append(
            msg(
                "Column `{column}`: the code list {list} is not beside {file}.",
                column=column,
                list=name,
                file=path.name,
            )
        )
        return {}
    return read_code_list(found)


def read_code_list(path: Path) -> dict[str, str]:
    """Labels by code from a .cdl file; raises InputError ``argus.codelist`` with the line."""
    labels: dict[str, str] = {}
    for number, line in enumerate(lines_of(path, "argus"), start=1):
        if not line.strip():
            continue
        found = _CODE.fullmatch(line)
        if found is None:
            raise InputError(
                "argus.codelist",
                msg(
                    "{name}, line {line}: found `{found}`, expected a code, a comma and a label.",
                    name=path.name,
                    line=number,
                    found=line[:60],
                ),
                hint="Repair the line of the code list.",
                details={"metadata_line": number},
            )
        code, label = found[1] or found[2], found[3]
        if _QUOTED.fullmatch(label):
            label = label[1:-1]
        if labels.setdefault(code, label) != label:
            raise InputError(
                "argus.codelist",
                msg(
                    "{name}, line {line}: the code `{code}` has two labels.",
                    name=path.name,
                    line=number,
                    code=code,
                ),
                hint="Repair the code list.",
                details={"metadata_line": number},
            )
    return labels


def _fault(path: Path, number: int, found: str, expected: str) -> InputError:
    return InputError(
        "argus.syntax",
        msg(
            "{name}, line {number}: {found}, expected {expected}.",
            name=path.name,
            number=number,
            found=found,
            expected=expected,
        ),
        hint="Repair the metadata, or describe the columns in the plan (`columns`).",
        details={"metadata_line": number},
    )


def metadata_beside(path: Path) -> Path | None:
    """The .rda file of the same name beside a text, in whatever case."""
    return find_beside(path, f"{path.stem}.rda")

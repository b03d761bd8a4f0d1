"""Files of µ-ARGUS and τ-ARGUS.

Read are the columns of a text (.rda), their code lists (.cdl), and statuses set by hand (.hst).
Written are tables with their metadata, hierarchies (.hrc) and statuses (.hst), and cells with
equations (JJ).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from pathlib import Path

from dpdesk.core.errors import InputError
from dpdesk.core.labels import Kind, UserMissing, Variable
from dpdesk.core.messages import msg
from dpdesk.core.plain import quoted
from dpdesk.core.schema import Role
from dpdesk.core.table_parameters import mark_of
from dpdesk.core.tabulation import PRIMARY, CellAxis, CellTable, Crosstab
from dpdesk.io.safewrite import decode, read_bytes

_FALLBACK = "cp1252"
_ENDS = re.compile(r"\r\n|\r|\n")
_CODE = re.compile(r'\s*(?:"([^"]+)"|([^",][^,]*?))\s*,\s*(.*?)\s*')
_DIGITS = re.compile(r"[0-9]{1,3}(?:\s+[0-9]{1,3})*")
_QUOTED = re.compile(r'"[^"]*"')
_SEPARATORS = ";,|\t"
_ROLES = {
    "WEIGHT": "is the sampling weight: give it the role `weight`",
    "HOUSE_ID": "names the household: rows of one household share the role `cluster`",
    "HOLDING": "names the holding: rows of one holding share the role `cluster`",
    "REQUEST": "says who asked for protection: name it as `column` of `request`",
    "FREQUENCY": "has the number of contributors: name it as `frequency` of `cells`",
    "MAXSCORE": "has a largest contribution: list it in `top` of `cells`",
    "STATUS": "has statuses set by hand: name it as `status` of `cells`",
    "COST": "has costs of suppression: name it as `cost` of `cells`",
}
"""What is said of columns of which the metadata state a use."""
_STATED = {"WEIGHT": Role.WEIGHT, "HOUSE_ID": Role.CLUSTER, "HOLDING": Role.CLUSTER}
"""The roles of such columns; the others are insensitive."""
_LETTERS = ("SAFE", "UNSAFE", "PROTECT")
"""Options of the whole text: the letters of its statuses."""


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
    letters: dict[str, str] = field(default_factory=dict)
    """How the statuses S, U and P are written, where it is said."""


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
    if word in _LETTERS:
        meta.letters[word[0]] = value.strip().strip('"')
        return
    if not meta.columns:
        raise _fault(path, number, msg("found <{word}>", word=word), "a column first")
    last = meta.columns[-1]
    variable = last.variable
    if word == "CODELIST":
        labels = _labels(path, value.strip('"'), variable.name, meta)
        variable = replace(variable, value_labels=labels)
    elif word == "NUMERIC":
        role = variable.role or Role.SENSITIVE.value
        variable = replace(variable, kind=Kind.NUMBER, measure="scale", role=role)
    elif word in ("RECODABLE", "RECODEABLE"):
        stated = variable.role in (Role.WEIGHT.value, Role.CLUSTER.value)
        role = variable.role if stated else Role.QUASI_IDENTIFIER.value
        variable = replace(variable, measure="nominal", role=role)
    elif word == "HIERCODELIST":
        tree = _beside(path, value.strip('"'))
        variable = replace(variable, hierarchy="" if tree is None else tree.name)
        meta.notes.append(
            msg(
                "Column `{name}` has the hierarchy {file}: give it as its `hierarchy`.",
                name=variable.name,
                file=value.strip(chr(34)),
            )
        )
    elif word == "HIERLEVELS":
        levels = value if _DIGITS.fullmatch(value) else ""
        variable = replace(variable, hierarchy=levels)
        meta.notes.append(
            msg(
                "The codes of column `{name}` are hierarchical by their digits ({value}): a "
                "hierarchy of the kind `mask` says so.",
                name=variable.name,
                value=value,
            )
        )
    elif word in _ROLES:
        role = _STATED.get(word, Role.INSENSITIVE).value
        variable = replace(variable, role=role)
        meta.notes.append(msg("Column `{name}` {roles}.", name=variable.name, roles=_ROLES[word]))
    meta.columns[-1] = replace(last, variable=variable)


def _beside(path: Path, name: str) -> Path | None:
    """The file that metadata name, wherever it lay there: next to the metadata."""
    bare = Path(name.replace("\\", "/")).name
    return find_beside(path, bare) if bare else None


def _labels(path: Path, name: str, column: str, meta: ArgusMeta) -> dict[str, str]:
    """The code list of a column; one that is not there is noted, since data do not need it."""
    found = _beside(path, name)
    if found is None:
        meta.notes.append(
            msg(
                "Column `{column}`: the code list {list} is not next to {file}.",
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
                hint="Correct the line of the code list.",
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
                hint="Correct the code list.",
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
        hint="Correct the metadata, or describe the columns in the plan (`columns`).",
        details={"metadata_line": number},
    )


def metadata_beside(path: Path) -> Path | None:
    """The .rda file of the same name beside a text, in whatever case."""
    return find_beside(path, f"{path.stem}.rda")


# ---- statuses set by hand


def read_marks(path: Path) -> list[list[str]]:
    """The lines of a file of statuses: codes of a cell, then what is set of it.

    A blank line is empty, so that lines keep their numbers; those at the end and quotes around
    codes are no part of them. The separator is the one with which the first line can be read.
    Raises InputError ``marks.line``, and what reading a file raises.
    """
    text = decode(read_bytes(path, "marks"), path, "marks", fallback=_FALLBACK).text
    found: list[list[str]] = []
    separator = ""
    for number, line in enumerate(_ENDS.split(text), 1):
        if not line.strip():
            found.append([])
            continue
        for sign in separator or _SEPARATORS:
            parts = [part.strip() for part in line.split(sign)]
            codes = [part[1:-1] if _QUOTED.fullmatch(part) else part for part in parts]
            if mark_of(codes) is not None:
                separator = sign
                found.append(codes)
                break
        else:
            raise InputError(
                "marks.line",
                msg(
                    "{file}, line {line}: found {found}, expected the codes of a cell, then U, S, "
                    "P, C with a cost, PL with two protection levels, or SPL with a width.",
                    file=path.name,
                    line=number,
                    found=quoted(line),
                ),
                details={"line": number, "key": "marks"},
            )
    while found and not found[-1]:
        found.pop()
    return found


# ---- tables written for τ-ARGUS


def argus_files(tables: Sequence[CellTable], stem: str) -> dict[str, bytes]:
    """Tables of the agency as τ-ARGUS reads ready tables, by names of files that begin with
    ``stem``: values (.tab), metadata (.rda), hierarchies (.hrc) and statuses (.hst).

    Unsafe cells have the status ``U`` and their required protection; what else was suppressed is
    not in them, since τ-ARGUS looks for it again.

    Raises InputError ``export.argus`` for labels or names that its files cannot hold.
    """
    found: dict[str, bytes] = {}
    for number, table in enumerate(tables):
        own = f"{stem}-{table.name}" if number else stem
        found |= {name: text.encode("utf-8") for name, text in _argus_table(table, own).items()}
    return found


def _argus_table(table: CellTable, stem: str) -> dict[str, str]:
    texts = [label for axis in table.axes for label in axis.labels]
    separator = next((one for one in _SEPARATORS if not any(one in text for text in texts)), "")
    for text in texts:
        if not separator or text != text.strip() or not text.isprintable() or '"' in text:
            raise _unfit(table, text)
    names = [re.sub(r"\W", "_", axis.name) for axis in table.axes]
    if len(set(names)) < len(names):
        raise _unfit(table, table.axes[0].name)
    files = {f"{stem}.tab": "", f"{stem}.rda": ""}
    described = [f"<SEPARATOR> {separator}", '<SAFE> "S"', '<UNSAFE> "U"', '<PROTECT> "P"']
    for axis, name in zip(table.axes, names, strict=True):
        width = max(map(len, axis.labels))
        described += [f"{name} {width}", "  <RECODABLE>", f'  <TOTCODE> "{axis.labels[-1]}"']
        if any(above < len(axis.labels) - 1 for above in axis.parents[:-1]):
            tree = f"{stem}-{name}.hrc"
            files[tree] = _tree_text(table, axis)
            described += ["  <HIERARCHICAL>", f'  <HIERCODELIST> "{Path(tree).name}"']
            described += ['  <HIERLEADSTRING> "@"']
    inside = table.internal
    decimals = max(len(text.partition(".")[2]) for text in inside["value"])
    described += ["value 20", "  <NUMERIC>", f"  <DECIMALS> {decimals}"]
    described += ["frequency 12", "  <FREQUENCY>"] if all(inside["frequency"]) else []
    described += ["status 1", "  <STATUS>"]
    described += ["lower 20", "  <LOWERPL>", "upper 20", "  <UPPERPL>"]
    places = list(product(*(axis.labels for axis in table.axes)))
    unsafe = ["U" if code == PRIMARY else "S" for code in inside["status"]]
    columns = [inside["value"], *([inside["frequency"]] if all(inside["frequency"]) else [])]
    columns += [tuple(unsafe), inside["lower_required"], inside["upper_required"]]
    lines = [[*place, *texts] for place, *texts in zip(places, *columns, strict=True)]
    files[f"{stem}.tab"] = "".join(separator.join(line) + "\n" for line in lines)
    files[f"{stem}.rda"] = "".join(f"{line}\n" for line in described)
    marks = zip(places, unsafe, inside["lower_required"], inside["upper_required"], strict=True)
    files[f"{stem}.hst"] = "".join(
        separator.join([*place, "U"]) + "\n" + separator.join([*place, "PL", low, high]) + "\n"
        for place, code, low, high in marks
        if code == "U"
    )
    return files


def _tree_text(table: CellTable, axis: CellAxis) -> str:
    """The codes below the total, each deeper by one sign; none may begin with that sign."""
    shown, lines = Crosstab((axis,), (0,), ()), []
    for (node,) in shown.lines[1:].tolist():
        if axis.labels[node].startswith("@"):
            raise _unfit(table, axis.labels[node])
        lines.append("@" * (shown.depths[0][node] - 1) + axis.labels[node] + "\n")
    return "".join(lines)


def _unfit(table: CellTable, text: str) -> InputError:
    return InputError(
        "export.argus",
        msg(
            "Table `{table}`: files for τ-ARGUS cannot hold {text}, expected codes without "
            "quotes, separators, control characters or spaces at either end.",
            table=table.name,
            text=quoted(text),
        ),
        hint="Rename it in the source or the hierarchy.",
    )


@dataclass(frozen=True)
class JjCell:
    """A cell of a JJ file: its value, what suppressing it costs, its status (``u`` unsafe, ``s``
    safe, ``z`` must be published), between what everyone knows it to lie, required protection.
    """

    value: Fraction
    cost: Fraction
    status: str
    lower: Fraction
    upper: Fraction
    lower_required: Fraction
    upper_required: Fraction
    width_required: Fraction = Fraction(0)


def jj_text(cells: Sequence[JjCell], sums: Sequence[Sequence[tuple[int, int]]]) -> str:
    """A JJ file: cells, then sums that are 0, each as cells with their signs.

    Source: G. Sande's format as the CSP solvers of τ-ARGUS read it.
    """
    return "".join(f"{line}\n" for line in _jj_lines(cells, sums))


def _jj_lines(cells: Sequence[JjCell], sums: Sequence[Sequence[tuple[int, int]]]) -> Iterator[str]:
    yield "0"
    yield str(len(cells))
    for number, c in enumerate(cells):
        ends = (c.lower, c.upper, c.lower_required, c.upper_required, c.width_required)
        amounts = " ".join(map(_amount, ends))
        yield f"{number} {_amount(c.value)} {_amount(c.cost)} {c.status} {amounts}"
    yield str(len(sums))
    for parts in sums:
        yield f"0 {len(parts)} : " + " ".join(f"{cell} ({sign})" for cell, sign in parts)


def _amount(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else repr(float(number))

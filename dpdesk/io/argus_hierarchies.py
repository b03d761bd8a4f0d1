"""Hierarchies of ARGUS: recodings of µ-ARGUS (.grc) and code trees of τ-ARGUS (.hrc)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from dpdesk.core.errors import InputError
from dpdesk.io.formats.argus import find_beside, lines_of, read_code_list

TREE, RECODING = ".hrc", ".grc"
_TOP = "*"
_RANGE = re.compile(r"(\d*)\s*-\s*(\d*)")
_MOST_CODES = 100_000


def argus_rows(path: Path) -> list[list[str]]:
    """The rows of a hierarchy (from the leaf to ``*``) that a file of ARGUS describes.

    Raises InputError ``hierarchy.argus`` with the line, and StorageError.
    """
    return _tree(path) if path.suffix.lower() == TREE else _recoding(path)


# ---- trees: depth by leading signs


def _tree(path: Path) -> list[list[str]]:
    lines = [(n, line) for n, line in enumerate(lines_of(path, "hierarchy"), 1) if line.strip()]
    lead = next((line[0] for _, line in lines if not line[0].isalnum() and line[0] != " "), "@")
    above: list[str] = []
    leaves: list[list[str]] = []
    depths = [len(line) - len(line.lstrip(lead)) for _, line in lines]
    for at, (number, line) in enumerate(lines):
        depth, code = depths[at], line.lstrip(lead).strip()
        if not code or depth > len(above):
            found = "found no code" if not code else f"found a jump to depth {depth}"
            raise _fault(path, number, f"{found}, expected at most depth {len(above)}")
        above = [*above[:depth], code]
        if at + 1 == len(lines) or depths[at + 1] <= depth:
            leaves.append(list(above))
    if not leaves:
        raise _fault(path, 1, "found no code")
    deepest = max(len(leaf) for leaf in leaves)
    return [_path_up(leaf, deepest) for leaf in leaves]


def _path_up(path: list[str], deepest: int) -> list[str]:
    """From the leaf up; a leaf that lies less deep stays itself until its parent's level."""
    return [path[-1]] * (deepest - len(path)) + path[::-1] + [_TOP]


# ---- recodings: a new code, a colon, the old ones


def _recoding(path: Path) -> list[list[str]]:
    labels: dict[str, str] = {}
    groups: list[tuple[int, str, str]] = []
    for number, line in enumerate(lines_of(path, "hierarchy"), start=1):
        text = line.strip()
        if text.upper().startswith("<CODELIST>"):
            labels = _labels(path, text[len("<CODELIST>") :].strip().strip('"'))
        elif text.startswith("<") or not text:
            continue
        elif ":" in text:
            new, _, old = text.partition(":")
            groups.append((number, new.strip(), old.strip()))
        else:
            raise _fault(path, number, f"found `{text[:60]}`, expected `new: old, old`")
    names = _names({new for _, new, _ in groups}, labels)
    largest = _largest(old for _, _, old in groups)
    rows: dict[str, list[str]] = {}
    for number, new, old in groups:
        for code in _codes(path, number, old, largest):
            row = [code, names[new], _TOP]
            if rows.setdefault(code, row) != row:
                raise _fault(path, number, f"the code `{code}` is recoded twice")
    if not rows:
        raise _fault(path, 1, "found no recoding")
    return list(rows.values())


def _labels(path: Path, name: str) -> dict[str, str]:
    found = find_beside(path, Path(name.replace("\\", "/")).name)
    return {} if found is None else read_code_list(found)


def _names(codes: set[str], labels: dict[str, str]) -> dict[str, str]:
    """How the new codes are called: by their labels, where these tell all of them apart."""
    named = {code: labels.get(code, code) for code in codes}
    return named if len(set(named.values())) == len(codes) else {code: code for code in codes}


def _largest(texts: Iterator[str]) -> int:
    """Where an open range ends: the largest number of as many digits as the longest code has."""
    digits = [len(found) for text in texts for found in re.findall(r"\d+", text)]
    return int("9" * max(digits, default=1))


def _codes(path: Path, number: int, text: str, largest: int) -> Iterator[str]:
    for part in text.split(","):
        item = part.strip()
        found = _RANGE.fullmatch(item)
        if found is None:
            if item:
                yield item
            continue
        low, high = int(found[1] or 0), int(found[2] or largest)
        if high < low or high - low > _MOST_CODES:
            raise _fault(path, number, f"found the range `{item}`, expected a smaller number first")
        yield from (str(code) for code in range(low, high + 1))


def _fault(path: Path, number: int, what: str) -> InputError:
    return InputError(
        "hierarchy.argus",
        f"{path}, line {number}: {what}.",
        hint="Repair the line, or build the hierarchy in another way.",
        details={"line": number},
    )

"""The slow, obvious way to write protected microdata: plain Python lists and loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def field(text: str) -> str:
    """RFC 4180: quote a field that holds a comma, a quote, CR or LF; double the quotes."""
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def recoded_csv(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    mapping: Mapping[str, Mapping[str, str]],
    suppressed: set[tuple[str, ...]],
    dropped: Sequence[str],
) -> bytes:
    """The whole file. ``suppressed`` holds released tuples in the order of ``mapping``'s keys."""
    kept = [name for name in columns if name not in dropped]
    out: list[tuple[str, ...]] = []
    for row in rows:
        values = dict(zip(columns, row, strict=True))
        for name, recode in mapping.items():
            values[name] = recode[values[name]]
        if tuple(values[name] for name in mapping) not in suppressed:
            out.append(tuple(values[name] for name in kept))
    lines = [[field(name) for name in kept]]
    lines += [[field(value) for value in row] for row in sorted(out)]
    texts = [",".join(line) for line in lines]
    return "".join((text or '""') + "\n" for text in texts).encode("utf-8")

"""Whether the figures in the evidence are those of manifest and table: reviewers read the evidence.

What follows from the released rows is counted in them; what the source alone tells is left open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import isclose

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.release import PublishedTable
from dpdesk.verifiers.anonymity.verification import has_levels

_CLOSE = 1e-9
_SIZES = re.compile(r"([0-9,]+)(?:–([0-9,]+)|(\+))?")
_ALONE = "rows_alone"
Ints = NDArray[np.int64]


def evidence_fault(
    manifest: Mapping[str, object],
    evidence: Mapping[str, object],
    published: PublishedTable,
    token: CancelToken,
) -> str | None:
    """Why source, risk or figures of the evidence disagree with manifest or table, or None.

    ``manifest`` has passed its own checks. Figures of the source alone (the risk before) need the
    source; only the number of its rows follows from the manifest.
    """
    told = _told(manifest)
    source, risk = _table(evidence.get("source")), _table(evidence.get("risk"))
    if not _same(source.get("rows"), told["source_rows"]):
        return "the rows of its source are not those of the manifest, released and suppressed"
    before, after = _table(risk.get("before")), _table(risk.get("after"))
    if not _same(before.get("rows"), told["source_rows"]):
        return "the rows of its risk before are not those of its source"
    for key in ("rows", "classes", "smallest_class", "highest_risk", "average_risk"):
        if not _same(after.get(key), told[key]):
            return msg("`{key}` of its risk is not what the manifest gives", key=key)
    figures, metrics = _figures(evidence.get("figures")), _metrics(manifest)
    for key in (*metrics, *_FIGURES):
        if not _same(figures.get(key), told[key]):
            return msg("`{key}` of its figures is not what the manifest gives", key=key)
    utility = _table(evidence.get("utility"))
    for key in (*metrics, "suppressed_share"):
        if key in utility and not _same(utility[key], told[key]):
            return msg("`{key}` of its utility is not what the manifest gives", key=key)
    fault = _levels_fault(manifest, evidence, utility)
    fault = fault or _labels_fault(manifest, evidence, published, token)
    return fault or _counted_fault(manifest, risk, published, token)


_FIGURES = (
    "rows_kept",
    "rows_suppressed",
    "suppressed_share",
    "classes",
    "smallest_class",
    "highest_risk",
    "average_risk",
)


def alone_in(published: PublishedTable, names: Sequence[str], token: CancelToken) -> int:
    """How many rows of a table are the only ones with their values in these columns."""
    return published.group_sizes(names, token).alone


def _counted_fault(
    manifest: Mapping[str, object],
    risk: Mapping[str, object],
    published: PublishedTable,
    token: CancelToken,
) -> str | None:
    """Which figure of the risk is not the one that is counted in the released rows."""
    stated = _table(_table(manifest["guarantee"]).get("parameters"))
    quasi = [str(name) for name in _list(stated.get("quasi_identifiers"))]
    if risk.get("quasi_identifiers", quasi) != quasi:
        return "`quasi_identifiers` of its risk are not those of the manifest"
    sizes = np.asarray(published.combinations(quasi, token).rows, np.int64)
    for key in _strange(_table(risk.get("after")), sizes, _number(stated["k"])):
        return msg("`{key}` of its risk is not what the table gives", key=key)
    known = [name for name in published.columns if name not in _list(stated.get("pseudonym"))]
    if _ALONE in risk and not _same(risk[_ALONE], alone_in(published, known, token)):
        return msg("`{key}` of its risk is not what the table gives", key=_ALONE)
    return None


def _strange(after: Mapping[str, object], sizes: Ints, k: float) -> Iterator[str]:
    """Keys of the risk after whose values are not those of classes of these sizes."""
    exposed = int(sizes[sizes < k].sum())
    counted = {
        "sample_uniques": int((sizes == 1).sum()),
        "rows_above_threshold": exposed,
        "share_above_threshold": exposed / int(sizes.sum()),
        "threshold": 1 / k,
    }
    yield from (key for key, n in counted.items() if key in after and not _same(after[key], n))
    for least, rows in _table(after.get("violations")).items():
        if not str(least).isdecimal() or not _same(rows, int(sizes[sizes < int(str(least))].sum())):
            yield "violations"
    if "class_sizes" in after and not _fits(_list(after["class_sizes"]), sizes):
        yield "class_sizes"


def _fits(bins: Sequence[object], sizes: Ints) -> bool:
    """Whether bins follow each other from 1 on without an end, and hold these classes."""
    begin = 1
    for each in map(_table, bins):
        found = _SIZES.fullmatch(str(each.get("size")))
        if found is None or not begin:
            return False
        first, last, open_ = found.groups()
        low = int(first.replace(",", ""))
        high = int(last.replace(",", "")) if last else low
        inside = sizes[(sizes >= low) & ((sizes <= high) | bool(open_))]
        if low != begin or (each.get("classes"), each.get("rows")) != (len(inside), inside.sum()):
            return False
        begin = 0 if open_ else high + 1
    return not begin


def _levels_fault(
    manifest: Mapping[str, object], evidence: Mapping[str, object], utility: Mapping[str, object]
) -> str | None:
    """Whether what was recoded, and the utility, are of the levels of the manifest.

    Values are looked up in the hierarchies of the evidence, which come from plan and source.
    """
    if not has_levels(manifest.get("parameters")):
        return None
    node = _table(_table(manifest["result"]).get("node"))
    trees = _table(evidence.get("hierarchies"))
    attributes = [_table(each) for each in _list(utility.get("attributes"))]
    recoded = [_table(each) for each in _list(evidence.get("recoded"))]
    for key, entries in (("utility", attributes), ("recoded", recoded)):
        levels = {str(each.get("attribute")): each.get("level") for each in entries}
        if entries and (levels != dict(node) or len(levels) != len(entries)):
            return msg("`{key}` is not of the levels of the manifest", key=key)
        for each in entries:
            rows = [_list(row) for row in _list(trees.get(str(each["attribute"])))]
            if rows and each.get("height") != len(rows[0]) - 1:
                return msg("`{key}` is not of the hierarchies of the evidence", key=key)
    for each in recoded:
        rows = [_list(row) for row in _list(trees.get(str(each["attribute"])))]
        level = each.get("level")
        labels = {row[0]: row[level] for row in rows if isinstance(level, int) and level < len(row)}
        for group in map(_table, _list(each.get("groups"))):
            released = group.get("released")
            if any(labels.get(raw, released) != released for raw in _list(group.get("raw"))):
                return msg("`{key}` is not of the hierarchies of the evidence", key="recoded")
    return None


def _labels_fault(
    manifest: Mapping[str, object],
    evidence: Mapping[str, object],
    published: PublishedTable,
    token: CancelToken,
) -> str | None:
    """Whether released values are labels of the hierarchies of the evidence, at their levels.

    Of texts alone: which values other formats call missing is in the source.
    """
    reading = _table(_table(evidence.get("source")).get("reading"))
    if not has_levels(manifest.get("parameters")) or reading.get("format") != "csv":
        return None
    trees, missing = _table(evidence.get("hierarchies")), {*_list(reading.get("missing", [""]))}
    for name, level in _table(_table(manifest["result"]).get("node")).items():
        token.check()
        rows = [_list(row) for row in _list(trees.get(name))]
        if not rows:
            continue
        if not isinstance(level, int) or level >= len(rows[0]):
            return msg(
                "the hierarchy of `{name}` does not have the level of the manifest", name=name
            )
        shown = {*published.value_counts(str(name), token)} - {row[level] for row in rows}
        if shown - missing:
            return msg("the table has values of `{name}` that are not of this level", name=name)
    return None


def _told(manifest: Mapping[str, object]) -> dict[str, float]:
    """What the manifest's result says, under the names that evidence uses."""
    result = _table(manifest["result"])
    numbers = {key: _number(value) for key, value in result.items() if _is_number(value)}
    kept, suppressed = numbers["rows_out"], numbers["rows_suppressed"]
    classes, smallest = numbers["classes"], numbers["smallest_class"]
    return numbers | {
        **{key: _number(value) for key, value in _metrics(manifest).items()},
        "source_rows": kept + suppressed,
        "rows": kept,
        "rows_kept": kept,
        "suppressed_share": suppressed / (kept + suppressed),
        "highest_risk": 1 / smallest,
        "average_risk": classes / kept,
    }


def _metrics(manifest: Mapping[str, object]) -> Mapping[str, object]:
    return {str(key): n for key, n in _table(_table(manifest["result"]).get("metrics")).items()}


def _figures(listed: object) -> dict[object, object]:
    return {item.get("key"): item.get("value") for item in map(_table, _list(listed))}


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: object) -> float:
    if isinstance(value, int | float):
        return value
    raise TypeError("expected a number")


def _same(found: object, expected: float) -> bool:
    if not _is_number(found):
        return False
    return isclose(_number(found), expected, rel_tol=_CLOSE, abs_tol=_CLOSE)

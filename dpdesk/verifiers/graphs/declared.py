"""Whether the nodes of a graph are those of its plan, and its rows those of the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.published import CheckStatus, ClaimCheck
from dpdesk.core.shapes import as_list, as_table
from dpdesk.verifiers.declared import (
    Column,
    ColumnRequest,
    Declarations,
    Rows,
    UndeclaredError,
    counted,
    kept_rows,
    read_column,
    unlike,
)
from dpdesk.verifiers.graphs.verification import Asked, asked_of
from dpdesk.verifiers.reading import cluster_of, texts

MANIFEST, EVIDENCE = "manifest.json", "internal/evidence.json"
_CLAIM, _LABEL = "nodes of the hierarchy", "The nodes are those that the plan declares"
_COUNTED = "rows that count"
_COUNTED_LABEL = "Rows and exact numbers are those of the source"


def declared_check(manifest: Mapping[str, object], given: Declarations | None) -> list[ClaimCheck]:
    """Whether the nodes are those of the hierarchy, where the plan does not list them."""
    settings = asked_of(manifest)
    if settings.nodes is not None:
        return []
    if given is None:
        found = "the hierarchy lies in the internal part"
        return [ClaimCheck(_CLAIM, CheckStatus.NEEDS_SOURCE, found, MANIFEST, _LABEL)]
    try:
        nodes = list(_ends(settings, given)[0].categories)
    except UndeclaredError as error:
        return [ClaimCheck(_CLAIM, CheckStatus.FAILED, str(error), MANIFEST, _LABEL)]
    expected = [{"dimension": name, "categories": nodes} for name in settings.ends]
    if as_table(manifest["result"])["domains"] == expected:
        text = "declared again, the same"
        return [ClaimCheck(_CLAIM, CheckStatus.CONFIRMED, text, MANIFEST, _LABEL)]
    found = "the nodes are others, or in another order"
    return [ClaimCheck(_CLAIM, CheckStatus.FAILED, found, MANIFEST, _LABEL)]


def counted_check(
    manifest: Mapping[str, object],
    recorded: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    given: Declarations,
    source: FrequencySource,
    token: CancelToken,
) -> list[ClaimCheck]:
    """Place the rows of the source again: how many count, and exact degrees and numbers of edges.

    ``recorded`` is the result in the evidence. Raises what :func:`declared_check` raises, and
    Cancelled.
    """
    settings = asked_of(manifest)
    ends = _ends(settings, given)
    person = cluster_of(manifest)
    rows = Rows(ends, "", person, settings.rows_per_person)
    kept, facts = kept_rows(source, rows, token)
    pairs = counted(kept, ends, token)
    there = pairs > 0 if settings.directed else pairs + pairs.T > 0
    there &= ~np.eye(len(there), dtype=bool)
    edges = int(there.sum()) // (1 if settings.directed else 2)
    loops = int(np.trace(pairs))
    facts["rows_from_a_node_to_itself"] = loops
    facts["rows_that_repeat_an_edge"] = int(pairs.sum()) - loops - edges
    key = unlike(recorded, "edges", facts, complete=given.complete)
    if key:
        found = msg("`{key}` is not what the source gives", key=key)
        return [ClaimCheck(_COUNTED, CheckStatus.FAILED, found, EVIDENCE, _COUNTED_LABEL)]
    true = {
        "degrees": there.sum(axis=1),
        "out-degrees": there.sum(axis=1),
        "in-degrees": there.sum(axis=0),
        "edge-count": np.array([edges]),
    }
    fault = next(_inexact(manifest, published, true), "")
    status = CheckStatus.FAILED if fault else CheckStatus.CONFIRMED
    found = fault or "placed again, the same"
    return [ClaimCheck(_COUNTED, status, found, MANIFEST, _COUNTED_LABEL)]


def _ends(settings: Asked, given: Declarations) -> tuple[Column, Column]:
    """Both ends have the nodes that the plan lists, or those of the hierarchy of the first."""
    first, second = settings.ends
    nothing = Declarations({}, {})
    wanted = ColumnRequest(settings.nodes)
    one = read_column(first, wanted, given if settings.nodes is None else nothing)
    return one, Column(**{**vars(one), "name": second})


def _inexact(
    manifest: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    true: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.int64]]],
) -> Iterator[str]:
    """Exact degrees and numbers of edges that are not those of the source."""
    result = as_table(manifest["result"])
    nodes = texts(as_table(as_list(result["domains"])[0])["categories"])
    for item in map(as_table, as_list(result["cuboids"])):
        listed = [texts(cell)[0] for cell in as_list(item.get("exact_cells") or [])]
        if item.get("exact") is not True and not listed:
            continue
        file = str(item["file"])
        stated = np.asarray(published[file].values, np.float64).reshape(-1)
        counts = true[file.removeprefix("graph/").removesuffix(".csv")]
        known = np.array([not listed or node in listed for node in nodes][: len(counts)], bool)
        if (stated != counts)[known].any():
            yield msg("{file} has an exact number that is not that of the source", file=file)

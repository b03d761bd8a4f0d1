"""What a graph with noise may show; see :mod:`dpdesk.engine.private.public_fields`."""

from __future__ import annotations

from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
from dpdesk.engine.private.public_fields import DESIGNED, GUARANTEED

PUBLIC_FIELDS: tuple[PublicField, ...] = (
    *settings(
        *("graph", "ends[]", "nodes[]", "origins", "exact", "exact_nodes[]", "exact_in_nodes[]"),
        *("exact_edges", "epsilon", "rho", "delta", "neighbours", "rows_per_person"),
    ),
    *GUARANTEED,
    *DESIGNED,
    *fields_of(
        Tells.NOTHING,
        "Which table of the graph it is; the nodes are declared in the plan.",
        "result.cuboids[].table",
        "result.cuboids[].pairs",
    ),
    PublicField(
        "result.cuboids[].variances[][]",
        Tells.NOTHING,
        "Where cells of a table have different variances: how many have which, from the scales of "
        "the noise and from which degrees are exact, not from what they are.",
    ),
)

"""What a release with noise may show: nothing outside the tables depends on the data.

Adding, removing or changing one person changes nothing of these fields, so they tell nothing about
anyone, in the data or not. What the tables tell is what the guarantee bounds.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpdesk.core.public_fields import PublicField, Tells, fields_of

_DESIGN = (
    "Planned before the data are read, from the plan alone; the same for any data. Planning sees "
    "no row."
)
_DECLARED = (
    "The declared categories, in the order of the plan. Values that are not among them go where "
    "the plan sends them; how many did stays inside."
)

CHECKED_BY: Mapping[str, str] = {
    "guarantee": "guarantee",
    **dict.fromkeys(("domains", "outside", "counted_by", "rollups", "noise_sources"), "result"),
    **dict.fromkeys(("shares", "residuals", "biased", "proven"), "result"),
    **dict.fromkeys(("sensitivity", "scales", "measures"), "scales within"),
    "max_variance": "max_variance",
    "cuboids": "variance of each table",
    "exact": "minimal change",
}
"""Which check bears on each part of such a release; see :class:`dpdesk.engine.method.Method`."""
GUARANTEED: tuple[PublicField, ...] = fields_of(
    Tells.NOTHING,
    "What the plan pays, and in which sense the guarantee holds.",
    "guarantee.parameters.epsilon",
    "guarantee.parameters.rho",
    "guarantee.parameters.delta",
    "guarantee.parameters.noise",
    "guarantee.parameters.neighbours",
    "guarantee.parameters.rows_per_person",
    "guarantee.parameters.cluster[]",
    "guarantee.parameters.minimal_change",
)
DESIGNED: tuple[PublicField, ...] = (
    *fields_of(
        Tells.NOTHING,
        _DESIGN,
        "result.noise_sources[][]",
        "result.noise_sources[]",
        "result.shares[]",
        "result.residuals",
        "result.sensitivity",
        "result.scales[]",
        "result.max_variance",
        "result.biased",
        "result.proven",
        "result.cuboids[].dimensions[]",
        "result.cuboids[].cells",
        "result.cuboids[].file",
    ),
    PublicField(
        "result.cuboids[].variance",
        Tells.NOTHING,
        "The variance of the noise of a cell, from the scales of the noise; never measured by "
        "comparing with the data.",
    ),
    *fields_of(
        Tells.NOTHING,
        "Which tables or cells the plan asks to be exact. What they hold is published without "
        "noise and no guarantee covers it; the guarantee says so.",
        "result.cuboids[].exact",
        "result.cuboids[].exact_cells[][]",
    ),
    PublicField(
        "result.exact.minimal_change",
        Tells.NOTHING,
        "How many cells the smallest change moves that keeps what is exact: it follows from the "
        "categories and from which cells are exact, not from what they hold.",
    ),
    *fields_of(
        Tells.NOTHING,
        _DECLARED,
        "result.domains[].dimension",
        "result.domains[].categories[]",
        "result.outside.*",
    ),
)

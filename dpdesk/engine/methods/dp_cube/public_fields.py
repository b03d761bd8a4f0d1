"""What a data cube with noise may show; see :mod:`dpdesk.engine.private.public_fields`."""

from __future__ import annotations

from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
from dpdesk.engine.private.public_fields import DESIGNED, GUARANTEED

PUBLIC_FIELDS: tuple[PublicField, ...] = (
    *settings(
        *("dimensions[]", "levels.*", "domains.*[]", "origins.*", "outside.*", "counted_by[]"),
        *("publish.**", "forbid.**", "exact.**", "measure.**", "weights.**", "targets.**"),
        *("planner", "theta", "objective", "basis", "epsilon", "rho", "delta", "noise"),
        *("neighbours", "consistency", "nonnegative", "integral", "rows_per_person", "labels"),
    ),
    PublicField(
        "parameters.follows[]",
        Tells.NOTHING,
        "SHA-256 codes of manifests of earlier releases that this one is to be combined with; they "
        "are public themselves.",
    ),
    *GUARANTEED,
    *DESIGNED,
    *fields_of(
        Tells.NOTHING,
        "How the minimal change was found: by formula, by counting, or by which program.",
        "result.exact.total_fixed",
        "result.exact.known_by",
        "result.exact.tool",
    ),
    *fields_of(
        Tells.NOTHING,
        "The same figures for each measure, in its own unit.",
        "result.measures[].measure",
        "result.measures[].sensitivity",
        "result.measures[].scales[]",
        "result.measures[].max_variance",
        "result.cuboids[].measure",
    ),
    PublicField(
        "result.rollups.*[][]",
        Tells.NOTHING,
        "Groups of the declared categories at higher levels of declared hierarchies; hierarchies "
        "made from the data are refused.",
    ),
    *fields_of(
        Tells.NOTHING,
        "Declared categories of the columns that decide which rows count; how many rows did not "
        "count stays inside.",
        "result.counted_by.domains[].dimension",
        "result.counted_by.domains[].categories[]",
        "result.counted_by.outside.*",
    ),
)

"""What an ℓ′-diverted release may show, and what it tells of rows that were left out."""

from __future__ import annotations

from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
from dpdesk.engine.methods.k_anonymity.public_fields import NODE, ROLES, ROWS_SUPPRESSED

PUBLIC_FIELDS: tuple[PublicField, ...] = (
    *settings("l", "k", "sensitive[]", "partition", "max_suppression", "levels.*"),
    *fields_of(
        Tells.NOTHING,
        "A setting of the plan, said again with the guarantee.",
        "guarantee.parameters.l",
        "guarantee.parameters.k",
        "guarantee.parameters.diverted[]",
    ),
    *ROLES,
    PublicField(
        "result.rows_removed",
        Tells.COUNT,
        "How many rows were left over when all others were put into groups of ℓ′, so how many the "
        "source had. They are drawn at random, whatever the columns that are drawn hold (beside k: "
        "from the classes with more than k rows), and no drawn value comes from them, so nothing "
        "else of them is published.",
    ),
    PublicField(
        "result.rows_out",
        Tells.NOTHING,
        "Counted from the released rows alone; anyone who has the table can count it again.",
    ),
    NODE,
    ROWS_SUPPRESSED,
)

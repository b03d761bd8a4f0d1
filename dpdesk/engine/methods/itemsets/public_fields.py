"""What itemsets may show; see :mod:`dpdesk.engine.private.public_fields`."""

from __future__ import annotations

from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
from dpdesk.engine.private.public_fields import DESIGNED, GUARANTEED

_USED = (
    "result.shares[]",
    "result.sensitivity",
    "result.domains[].dimension",
    "result.domains[].categories[]",
    "result.outside.*",
)

PUBLIC_FIELDS: tuple[PublicField, ...] = (
    *settings(
        *("dimensions[]", "domains.*[]", "epsilon", "top", "longest", "mine", "neighbours"),
        "rows_per_person",
    ),
    *(
        field
        for field in GUARANTEED
        if not field.path.endswith((".rho", ".delta", ".minimal_change"))
    ),
    *(field for field in DESIGNED if field.path in _USED),
    *fields_of(
        Tells.NOTHING,
        "The two lists that every such release has, whatever the data are. What stands in them is "
        "what the guarantee bounds.",
        "result.itemsets[].dimensions[]",
        "result.itemsets[].file",
        "result.itemsets[].listed",
    ),
)

"""What itemsets may show; see :mod:`dpdesk.engine.private.public_fields`."""

from __future__ import annotations

from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
from dpdesk.engine.private.public_fields import DESIGNED, GUARANTEED

_USED = (
    *("result.noise_sources[][]", "result.noise_sources[]", "result.residuals"),
    *("result.scales[]", "result.max_variance", "result.biased", "result.proven"),
    "result.shares[]",
    "result.sensitivity",
    "result.domains[].dimension",
    "result.domains[].categories[]",
    "result.outside.*",
)

PUBLIC_FIELDS: tuple[PublicField, ...] = (
    *settings(
        *("dimensions[]", "domains.*[]", "origins.*", "epsilon", "top", "longest", "mine"),
        *(
            "neighbours",
            "rows_per_person",
            "view_size",
            "cover",
            "views.**",
            "reconstruct",
            "rho",
            "delta",
        ),
        "noise",
    ),
    *(field for field in GUARANTEED if not field.path.endswith(".minimal_change")),
    *(field for field in DESIGNED if field.path in _USED),
    *fields_of(
        Tells.NOTHING,
        "Which tables there are and how much noise a cell has: chosen and computed from the plan "
        "before the data are read.",
        *(f"result.views[].{field}" for field in ("dimensions[]", "cells", "file", "variance")),
    ),
    *fields_of(
        Tells.NOTHING,
        "With what choices and noise are drawn where there is one basis: computed from the plan "
        "before the data are read.",
        "result.rates[]",
        "result.scale",
    ),
    *fields_of(
        Tells.NOTHING,
        "The two lists that every such release has, whatever the data are. What is in them is "
        "what the guarantee bounds.",
        "result.itemsets[].dimensions[]",
        "result.itemsets[].file",
        "result.itemsets[].listed",
    ),
)

"""What a release of protected tables may show, and what it tells of those who are in its cells."""

from __future__ import annotations

from collections.abc import Mapping

from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings

PUBLIC_FIELDS: tuple[PublicField, ...] = (
    *settings(
        *("rows[]", "columns[]", "measure", "measure.*", "total", "protect", "base"),
        "merge.**",
        *("deviation", "variance"),
        *("tables[].name", "tables[].rows[]", "tables[].columns[]", "tables[].measure"),
        *("tables[].measure.*", "tables[].hierarchy.**", "singletons", "attacker.*"),
        *("tell_apart", "sample"),
    ),
    *fields_of(
        Tells.NOTHING,
        "What the plan requires of the protection, without the parameters of any rule.",
        "guarantee.parameters.audited",
        "guarantee.parameters.singletons",
        "guarantee.parameters.lower",
        "guarantee.parameters.upper",
        "guarantee.parameters.present",
        "guarantee.parameters.base",
        "guarantee.parameters.deviation",
        "guarantee.parameters.variance",
        "guarantee.parameters.sample",
        "guarantee.parameters.swapped[]",
    ),
    *fields_of(
        Tells.NOTHING,
        "Counted from the published tables; anyone who has them can repeat the count.",
        "result.cells",
        "result.suppressed",
        "result.tables[].cells",
        "result.tables[].suppressed",
    ),
    *fields_of(
        Tells.NOTHING,
        "Which tables there are, in which files, and what their cells hold, according to the plan.",
        "result.tables[].name",
        "result.tables[].file",
        "result.tables[].measure",
        "result.tables[].dimensions[].dimension",
    ),
    *fields_of(
        Tells.NOTHING,
        "The rows of the published tables and how they add up: the hierarchies of the plan, and "
        "where a column has none, the values of the rows that count. Every one of them is a row of "
        "the table.",
        "result.tables[].dimensions[].categories[]",
        "result.tables[].dimensions[].parents[]",
    ),
)
CHECKED_BY: Mapping[str, str] = {
    "guarantee": "the words of the guarantee",
    "cells": "cells",
    "suppressed": "suppressed",
    "tables": "values of",
}
"""Which check bears on each part of such a release; see :class:`dpdesk.engine.method.Method`."""

"""Columns of a source of which a plan asks nothing: those of an engine stay there."""

from __future__ import annotations

from collections.abc import Mapping

from dpdesk.core.plan import Plan
from dpdesk.core.schema import Role


def left_out(plan: Plan, roles: Mapping[str, Role]) -> list[str]:
    """The columns of which a release of rows holds nothing."""
    kept = plan.pseudonyms
    return [name for name, role in roles.items() if role is Role.IDENTIFIER and name not in kept]


def unused_columns(plan: Plan, roles: Mapping[str, Role]) -> list[str]:
    """The columns that tables do not speak of, by the plan's settings and roles."""
    from dpdesk.app.private.pinning import texts_in

    said = set(texts_in(plan.protection.parameters))
    idle = (Role.INSENSITIVE, Role.IDENTIFIER)
    return [name for name, role in roles.items() if role in idle and name not in said]

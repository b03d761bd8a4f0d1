"""Cells that a plan sets by hand: their lines, read from the files that it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from dpdesk.core.plain import freeze
from dpdesk.core.plan import Plan
from dpdesk.core.table_parameters import typed
from dpdesk.io.formats.argus import read_marks


def with_marks(plan: Plan, base: Path) -> Plan:
    """The plan with the lines of the files of statuses that it names, so that it stands alone.

    Raises what :func:`~dpdesk.io.formats.argus.read_marks` raises.
    """
    keys = plan.protection.parameters
    try:
        given = typed(keys.get("marks"))
    except (ValueError, KeyError):
        return plan  # said where the settings are checked

    def lines(raw: object) -> object:
        if not isinstance(raw, str) or not raw.strip():
            return raw
        return freeze(read_marks(base / raw.strip()))

    if isinstance(given, Mapping):
        marks: object = {name: lines(each) for name, each in given.items()}
    else:
        marks = lines(given)
    if marks is None:
        return plan
    return replace(plan, protection=replace(plan.protection, parameters={**keys, "marks": marks}))

"""A small table of people with ages, a file of their population, and a plan of k-anonymity."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

AGES = {"kind": "intervals", "widths": [5, 10], "origin": 0, "bottom": 0, "top": 40}


def plan_of_people(
    folder: Path,
    rows: Sequence[Sequence[object]],
    people: Iterable[Sequence[object]],
    roles: Mapping[str, str],
    **keys: object,
) -> Path:
    """Write `people.csv` (age, town, and the columns of ``roles``), `all.csv` and the plan."""
    for name, columns, lines in (
        ("people.csv", ("age", "town", *roles), rows),
        ("all.csv", ("age", "town"), people),
    ):
        texts = [",".join(map(str, line)) for line in (columns, *lines)]
        (folder / name).write_text("\n".join([*texts, ""]), "utf-8")
    plan = {
        "version": 1,
        "source": {"path": "people.csv"},
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": AGES},
            "town": {"role": "quasi-identifier"},
            **{name: {"role": role} for name, role in roles.items()},
        },
        "protection": {"method": "k-anonymity", **keys},
    }
    (folder / "plan.json").write_text(json.dumps(plan), "utf-8")
    return folder / "plan.json"

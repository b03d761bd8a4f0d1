"""Plans of private methods with all that they must name of how their source is read."""

from __future__ import annotations

import tempfile
from pathlib import Path

from dpdesk.app.context import AppContext
from dpdesk.app.planning import PlacedPlan
from dpdesk.app.private.pinning import open_pinned
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.io.planfile import read_plan


def pin(plan: Path) -> Path:
    """Add the lines that the refusal of a plan asks for, below those of its ``[source]``."""
    with tempfile.TemporaryDirectory() as home:
        context = AppContext.open(Path(home))
        try:
            source, given = read_plan(plan), CancelToken()
            open_pinned(context, PlacedPlan(source, plan.parent, plan.name), given, silent).close()
        except InputError as error:
            lines = error.details["lines"]
            assert isinstance(lines, tuple)
            text = plan.read_text("utf-8")
            begun = text.replace("[source]\n", "[source]\n" + "".join(f"{x}\n" for x in lines), 1)
            plan.write_text(begun, "utf-8")
        finally:
            context.close()
    return plan

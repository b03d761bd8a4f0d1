"""The form of a graph: as any form, with its ends chosen among the columns."""

from __future__ import annotations

from dpdesk.ui.forms.fields import Field
from dpdesk.ui.forms.form import ParameterForm

_PAIR = {"epsilon": "rho", "rho": "epsilon"}


class GraphForm(ParameterForm):
    """A budget is given in ε or in ρ: the one that is typed takes the other's place."""

    def _applies(self, key: str) -> bool:
        """In-degrees are asked for where edges have a direction."""
        if key == "exact_in_nodes" and self.field("graph").plain() != "directed":
            return False
        return super()._applies(key)

    def follow(self, field: Field) -> None:
        """See the class."""
        other = _PAIR.get(field.parameter.key)
        if other is not None and field.plain() is not None:
            self.field(other).set_plain(None)

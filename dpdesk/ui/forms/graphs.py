"""The form of a graph: as any form, with its ends chosen among the columns."""

from __future__ import annotations

from collections.abc import Mapping

from dpdesk.core.parameters import Parameter
from dpdesk.core.schema import Role
from dpdesk.ui.forms.cubes.dimensions import DimensionsField, FormContext
from dpdesk.ui.forms.fields import Field, field_for
from dpdesk.ui.forms.form import ParameterForm

_ENDS = "ends"
_PAIR = {"epsilon": "rho", "rho": "epsilon"}


class GraphForm(ParameterForm):
    """A budget is given in ε or in ρ: the one that is typed takes the other's place."""

    def made_field(self, parameter: Parameter, *, live: bool) -> Field:
        """Check boxes for the two columns, the usual fields for the rest."""
        if parameter.key == _ENDS:
            return DimensionsField(parameter)
        return field_for(parameter, live=live)

    def show_columns(self, columns: tuple[str, ...], roles: Mapping[str, Role]) -> None:
        """Offer the columns of the data, as their roles allow."""
        ends = self.field(_ENDS)
        if isinstance(ends, DimensionsField):
            ends.show_around(FormContext(columns, dict(roles)))

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

"""The form of differentially private tables: as any form, with fields that know each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from dpdesk.app.private.levels import LevelChoice
from dpdesk.core.cube_parameters import (
    CuboidNumbersParameter,
    CuboidsParameter,
    ExactParameter,
    MeasureParameter,
    PublishParameter,
)
from dpdesk.core.parameters import ChoiceParameter, Parameter
from dpdesk.ui.forms.cubes.around import Around
from dpdesk.ui.forms.cubes.dimensions import DimensionsField, LevelsByDimension, OutsideField
from dpdesk.ui.forms.cubes.domains import DomainsField
from dpdesk.ui.forms.cubes.exact import ExactField
from dpdesk.ui.forms.cubes.measures import MeasureField
from dpdesk.ui.forms.cubes.origins import OriginsField
from dpdesk.ui.forms.cubes.publishing import (
    CuboidNumbersField,
    OptionalChoiceField,
    PublishField,
    TablesField,
)
from dpdesk.ui.forms.field import Field
from dpdesk.ui.forms.fields import field_for
from dpdesk.ui.forms.form import ParameterForm
from dpdesk.ui.widgets.mnemonics import Mnemonics

GAUSSIAN = "discrete-gaussian"


class CubeForm(ParameterForm):
    """``categoriesWanted(str, str)`` is :attr:`DomainsField.wanted`; keys that do not apply now
    keep the values that were given.
    """

    categoriesWanted = Signal(str, str)

    def __init__(
        self,
        specifications: Sequence[Parameter],
        parent: QWidget | None = None,
        mnemonics: Mnemonics | None = None,
    ) -> None:
        self._around = Around()
        self._given: dict[str, object] = {}
        super().__init__(specifications, (), parent, mnemonics)
        self.domains.wanted.connect(self.categoriesWanted)
        origins = self.field("origins")
        if isinstance(origins, OriginsField):
            self.domains.took.connect(origins.note)

    @property
    def domains(self) -> DomainsField:
        """The editor of categories."""
        found = self.field("domains")
        if not isinstance(found, DomainsField):
            raise TypeError("not the form of a cube")
        return found

    def show_around(self, around: Around) -> None:
        """Offer the columns of the data, as their roles allow."""
        self._around = around
        self._follow()

    def level(self, dimension: str) -> int:
        """The level at which a dimension is published."""
        found = self.field("levels")
        return found.level(dimension) if isinstance(found, LevelsByDimension) else 0

    def show_levels(self, choices: Mapping[str, tuple[LevelChoice, ...]]) -> None:
        """Offer these levels of hierarchies, by dimension."""
        found = self.field("levels")
        if isinstance(found, LevelsByDimension):
            found.show_choices(choices)

    def set_values(self, values: Mapping[str, object]) -> None:
        """See :meth:`ParameterForm.set_values`."""
        self._given = dict(values)
        super().set_values(values)
        self._follow()

    def values(self) -> dict[str, object]:
        """See :meth:`ParameterForm.values`; what does not apply stays as it was given."""
        kept = {key: one for key, one in self._given.items() if not self._applies(key)}
        return kept | super().values()

    def made_field(self, parameter: Parameter, *, live: bool) -> Field:
        """The field of a parameter, by its key where a cube has one of its own."""
        by_key: dict[str, type[Field]] = {
            "dimensions": DimensionsField,
            "levels": LevelsByDimension,
            "domains": DomainsField,
            "origins": OriginsField,
            "outside": OutsideField,
        }
        if parameter.key in by_key:
            return by_key[parameter.key](parameter)
        if isinstance(parameter, PublishParameter):
            return PublishField(parameter)
        if isinstance(parameter, CuboidsParameter):
            return TablesField(parameter)
        if isinstance(parameter, ExactParameter):
            return ExactField(parameter)
        if isinstance(parameter, CuboidNumbersParameter):
            return CuboidNumbersField(parameter)
        if isinstance(parameter, MeasureParameter):
            return MeasureField(parameter)
        if isinstance(parameter, ChoiceParameter) and parameter.default is None:
            follows = self.tr("As the budget is given")
            return OptionalChoiceField(
                parameter, follows, self.tr("Laplace for ε, Gaussian for ρ.")
            )
        return field_for(parameter, live=live)

    def _applies(self, key: str) -> bool:
        if key == "delta":
            given = self.field("rho").plain() is not None
            return given or self.field("noise").plain() == GAUSSIAN
        return super()._applies(key)

    def _follow(self) -> None:
        """Tell the fields what the others say."""
        dimensions = self.field("dimensions")
        if not isinstance(dimensions, DimensionsField):
            return
        around = self._around
        dimensions.show_around(around)
        chosen = dimensions.chosen
        for key in ("levels", "outside"):
            found = self.field(key)
            if isinstance(found, LevelsByDimension):
                found.show_dimensions(tuple(n for n in chosen if n in around.hierarchies))
            elif isinstance(found, OutsideField):
                found.show_dimensions(chosen)
        origins = self.field("origins")
        if isinstance(origins, OriginsField):
            origins.show_dimensions((*chosen, *self._counted_by()))
        self.domains.show_around(around, chosen)
        measure = self.field("measure")
        if isinstance(measure, MeasureField):
            measure.show_around(around)
        self._show_what_applies()

    def _counted_by(self) -> tuple[str, ...]:
        given = self._given.get("counted_by")
        return tuple(map(str, given)) if isinstance(given, list | tuple) else ()

    def follow(self, field: Field) -> None:
        """A budget is given in ε or in ρ: the one that is typed takes the other's place."""
        pair = {"epsilon": "rho", "rho": "epsilon"}
        other = pair.get(field.parameter.key)
        if other is not None and field.plain() is not None:
            self.field(other).set_plain(None)
            self.field("noise").set_plain(None)
        self._follow()

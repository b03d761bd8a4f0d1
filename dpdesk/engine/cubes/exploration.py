"""Trying settings of a cube: each view is a design, so nothing is counted and nothing is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from threading import Lock
from typing import TypeAlias

from dpdesk.core.charts import Chart, LatticeChart, ScatterChart
from dpdesk.core.errors import Cancelled, DpdeskError, InputError
from dpdesk.core.jobs import CancelToken, Note, Report, silent
from dpdesk.core.parameters import ParameterValue
from dpdesk.engine.cubes.charts import TABLES
from dpdesk.engine.cubes.design import CubeDesign, design_cube
from dpdesk.engine.cubes.lattice_chart import (
    LATTICE,
    NO_BUDGET,
    lattice_of_design,
    lattice_without_errors,
    supposed_budget,
)
from dpdesk.engine.cubes.planning_charts import (
    error_by_budget,
    needed_budget,
    table_detail,
    table_names,
)
from dpdesk.engine.cubes.plans import Noise
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.method import Detail, ExplorationView
from dpdesk.engine.private_method import PrivateInput

_KEPT = 32
_Key: TypeAlias = "tuple[tuple[str, str], ...]"


class CubeExploration:
    """An :class:`~dpdesk.engine.method.Exploration` of a data cube.

    The first view of new settings plans the noise, which may take seconds; later ones of the same
    settings are at hand. The token ends planning that nobody waits for any more.
    """

    def __init__(self, given: PrivateInput, token: CancelToken) -> None:
        self._given = given
        self._token = token
        self._lock = Lock()
        self._known: dict[_Key, CubeDesign] = {}
        self._compared: dict[_Key, ScatterChart] = {}
        self._lattices: dict[_Key, LatticeChart] = {}

    def view(self, parameters: Mapping[str, ParameterValue]) -> ExplorationView:
        """Errors, costs and guarantee of these settings; an unusable one says what is wrong."""
        return self.view_until(parameters, self._token, silent)

    def view_until(
        self, parameters: Mapping[str, ParameterValue], token: CancelToken, report: Report
    ) -> ExplorationView:
        """See :meth:`view`; planning ends within a second of a cancel. Raises Cancelled."""
        supposed = supposed_budget(parameters)
        try:
            design = self.design(supposed or parameters, token, report)
        except Cancelled:
            raise
        except DpdeskError as error:
            sentence = error.sentence if isinstance(error, InputError) else error.line
            return ExplorationView(False, sentence, self._lattice(supposed or parameters), ())
        if supposed is not None:
            lattice = lattice_of_design(design, supposed=True)
            return ExplorationView(False, NO_BUDGET, (lattice,), (), supposed=True)
        return ExplorationView(
            True,
            _sentence(design),
            self._charts(parameters, design, token),
            design.figures,
            design.guarantee,
            notes=(*design.notes, *_internal_note()),
        )

    def detail(
        self, parameters: Mapping[str, ParameterValue], chart: str, place: int
    ) -> Detail | None:
        """What is known of the table behind a point, whose id is the table's mask."""
        if chart not in (TABLES, LATTICE):
            return None
        return table_detail(self.design(supposed_budget(parameters) or parameters), place)

    def tables(self, parameters: Mapping[str, ParameterValue]) -> tuple[str, ...]:
        """See :meth:`BudgetAdvice.tables`."""
        return table_names(CubeSettings.from_parameters(parameters, self._given.where))

    def needed(
        self,
        parameters: Mapping[str, ParameterValue],
        place: int,
        wanted: float,
        token: CancelToken,
    ) -> tuple[str, Fraction]:
        """See :meth:`BudgetAdvice.needed`."""
        design = self.design(parameters, token)
        key = "epsilon" if design.settings.noise is Noise.LAPLACE else "rho"
        return key, needed_budget(design, place, wanted, token)

    def _charts(
        self, parameters: Mapping[str, ParameterValue], design: CubeDesign, token: CancelToken
    ) -> tuple[Chart, ...]:
        """The design's charts, and the comparison of planners behind the first one."""
        key = _key(parameters)
        with self._lock:
            known = self._compared.get(key)
        if known is None:
            known = error_by_budget(design, token)
            with self._lock:
                while len(self._compared) >= _KEPT:
                    del self._compared[next(iter(self._compared))]
                self._compared[key] = known
        return (*design.charts[:1], self._drawn(key, design), known, *design.charts[1:])

    def _drawn(self, key: _Key, design: CubeDesign) -> LatticeChart:
        with self._lock:
            known = self._lattices.get(key)
        if known is None:
            known = lattice_of_design(design)
            with self._lock:
                while len(self._lattices) >= _KEPT:
                    del self._lattices[next(iter(self._lattices))]
                self._lattices[key] = known
        return known

    def _lattice(self, parameters: Mapping[str, ParameterValue]) -> tuple[Chart, ...]:
        """The lattice where no design can be made, so that the choice can be mended there."""
        found = lattice_without_errors(replace(self._given, parameters=parameters))
        return () if found is None else (found,)

    def design(
        self,
        parameters: Mapping[str, ParameterValue],
        token: CancelToken | None = None,
        report: Report = silent,
    ) -> CubeDesign:
        """The design of these settings. Raises InputError, RefusedError, Cancelled."""
        key = _key(parameters)
        with self._lock:
            known = self._known.get(key)
        if known is None:
            given = replace(self._given, parameters=parameters)
            known = design_cube(given, token or self._token, report)
            with self._lock:
                while len(self._known) >= _KEPT:
                    del self._known[next(iter(self._known))]
                self._known[key] = known
        return known

    def pick(self, point: int) -> Mapping[str, object]:
        """Nothing is chosen by a point: the tables of the chart are all published."""
        return {}


def _key(parameters: Mapping[str, ParameterValue]) -> _Key:
    return tuple(sorted((name, repr(value)) for name, value in parameters.items()))


def _sentence(design: CubeDesign) -> str:
    figures = {figure.key: figure for figure in design.figures}
    tables, error = int(figures["tables"].value), figures["largest_error"]
    count = "1 table" if tables == 1 else f"{tables:,} tables"
    size = f"± {error.value:,.4g} {error.unit} in 95 % of the cells"
    return f"{count}; the largest planned error is {size}."


def _internal_note() -> tuple[Note, ...]:
    return (
        Note(
            "cube.planned",
            "All errors are planned ones: they follow from the settings, and nothing was counted.",
        ),
    )

"""Trying settings of a cube: each view is a design, so nothing is counted and nothing is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from threading import Lock

from dpdesk.core.errors import Cancelled, DpdeskError, InputError
from dpdesk.core.jobs import CancelToken, Note, Report, silent
from dpdesk.core.parameters import ParameterValue
from dpdesk.engine.cubes.design import CubeDesign, design_cube
from dpdesk.engine.method import ExplorationView
from dpdesk.engine.private_method import PrivateInput

_KEPT = 32


class CubeExploration:
    """An :class:`~dpdesk.engine.method.Exploration` of a data cube.

    The first view of new settings plans the noise, which may take seconds; later ones of the same
    settings are at hand. The token ends planning that nobody waits for any more.
    """

    def __init__(self, given: PrivateInput, token: CancelToken) -> None:
        self._given = given
        self._token = token
        self._lock = Lock()
        self._known: dict[tuple[tuple[str, object], ...], CubeDesign] = {}

    def view(self, parameters: Mapping[str, ParameterValue]) -> ExplorationView:
        """Errors, costs and guarantee of these settings; an unusable one says what is wrong."""
        return self.view_until(parameters, self._token, silent)

    def view_until(
        self, parameters: Mapping[str, ParameterValue], token: CancelToken, report: Report
    ) -> ExplorationView:
        """See :meth:`view`; planning ends within a second of a cancel. Raises Cancelled."""
        try:
            design = self.design(parameters, token, report)
        except Cancelled:
            raise
        except InputError as error:
            return ExplorationView(False, error.sentence, (), ())
        except DpdeskError as error:
            return ExplorationView(False, error.line, (), ())
        return ExplorationView(
            True,
            _sentence(design),
            design.charts,
            design.figures,
            design.guarantee,
            notes=(*design.notes, *_internal_note()),
        )

    def design(
        self,
        parameters: Mapping[str, ParameterValue],
        token: CancelToken | None = None,
        report: Report = silent,
    ) -> CubeDesign:
        """The design of these settings. Raises InputError, RefusedError, Cancelled."""
        key = tuple(sorted((name, repr(value)) for name, value in parameters.items()))
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


def _sentence(design: CubeDesign) -> str:
    figures = {figure.key: figure for figure in design.figures}
    tables, error = int(figures["tables"].value), figures["largest_error"]
    count = "1 table" if tables == 1 else f"{tables:,} tables"
    return f"{count}; the largest error is ± {error.value:,.4g} {error.unit} in 95 % of the cells."


def _internal_note() -> tuple[Note, ...]:
    return (
        Note(
            "cube.planned",
            "All errors are planned ones: they follow from the settings, and nothing was counted.",
        ),
    )

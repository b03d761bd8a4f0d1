"""The one list of methods."""

from __future__ import annotations

from collections.abc import Iterator

from dpdesk.core.capabilities import (
    ESTIMATED,
    UNKNOWN,
    Capabilities,
    Content,
    Protection,
    Spending,
    Use,
)
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import nearest
from dpdesk.engine.method import CellsMethod, Method, RowsMethod
from dpdesk.engine.private.method import PaidRowsMethod, PrivateMethod
from dpdesk.engine.querying import ComparedMethod, QueryableMethod, RedesignedMethod, TrueMethod

# The kinds of methods, for those who use one: the one place that asks of which class it is.
#
# Each function gives the method as what it is, or None. What a method can be used for counts only
# where it says so (:mod:`dpdesk.core.capabilities`).


def rows_of(method: Method) -> RowsMethod | None:
    """The method, where it releases rows."""
    return method if isinstance(method, RowsMethod) else None


def paid_rows_of(method: Method | None) -> PaidRowsMethod | None:
    """The method, where it releases rows with values drawn from a budget."""
    return method if isinstance(method, PaidRowsMethod) else None


def priced_of(method: Method | None) -> PrivateMethod | PaidRowsMethod | None:
    """The method, where its releases are paid for from a budget."""
    return method if isinstance(method, PrivateMethod | PaidRowsMethod) else None


def noise_of(method: Method | None) -> PrivateMethod | None:
    """The method, where it releases tables with noise from a budget."""
    return method if isinstance(method, PrivateMethod) else None


def cells_of(method: Method | None) -> CellsMethod | None:
    """The method, where it releases tables that are counted exactly and then protected."""
    return method if isinstance(method, CellsMethod) else None


def answers_of(method: Method) -> QueryableMethod | None:
    """The method, where it says that its releases answer questions."""
    said = method.capabilities.allows(Use.ASKED)
    return method if said and isinstance(method, QueryableMethod) else None


def compared_of(method: Method) -> ComparedMethod | None:
    """The method, where it says that its releases can be compared with the truth."""
    said = method.capabilities.allows(Use.COMPARED)
    return method if said and isinstance(method, ComparedMethod) else None


def redesigned_of(method: Method) -> RedesignedMethod | None:
    """The method, where it proposes other designs of what it releases."""
    found = compared_of(method)
    return found if isinstance(found, RedesignedMethod) else None


def truth_of(method: Method) -> TrueMethod | None:
    """The method, where its answers can be compared with the true ones."""
    found = compared_of(method)
    return found if isinstance(found, TrueMethod) else None


class Registry:
    """Methods by id, in the order in which front ends offer them."""

    def __init__(self, methods: tuple[Method, ...] = (), later: tuple[str, ...] = ()) -> None:
        """``later`` are ids that plans may know already and that this version does not offer."""
        self._later = later
        self._methods: dict[str, Method] = {}
        for method in methods:
            self.add(method)

    def add(self, method: Method) -> None:
        """Register a method; ValueError when its id is taken, or what it says cannot be true."""
        if method.id in self._methods:
            raise ValueError(f"method id {method.id!r} is registered already")
        contradiction = _contradiction(method)
        if contradiction:
            raise ValueError(f"method {method.id!r} {contradiction}")
        self._methods[method.id] = method

    def __iter__(self) -> Iterator[Method]:
        """All methods, in order."""
        return iter(self._methods.values())

    def about(self, method_id: str) -> Capabilities:
        """What the method with this id says of itself; nothing when there is none."""
        found = self._methods.get(method_id)
        return UNKNOWN if found is None else found.capabilities

    def get(self, method_id: str, where: str) -> Method:
        """The method with this id; InputError ``plan.unknown-method`` starting with ``where``."""
        found = self._methods.get(method_id)
        if found is not None:
            return found
        known = list(self._methods)
        if method_id in self._later:
            raise InputError(
                "plan.not-available",
                msg(
                    "{where}: the method `{method_id}` is not available in this version, "
                    "expected one of {listed}.",
                    where=where,
                    method_id=method_id,
                    listed=_listed(known),
                ),
                details={"key": "method"},
            )
        near = nearest(method_id, known)
        raise InputError(
            "plan.unknown-method",
            msg(
                "{where}: unknown method `{method_id}`, expected one of {listed}.",
                where=where,
                method_id=method_id,
                listed=_listed(known),
            ),
            hint=msg("Did you mean `{near}`?", near=near) if near else "",
            details={"key": "method"},
        )

    def ready(self, method_id: str, where: str) -> Method:
        """The method with this id, where it says all that a release needs.

        Raises what :meth:`get` raises, and RefusedError ``plan.silent-method``.
        """
        method = self.get(method_id, where)
        if method.capabilities.unready:
            words = method.capabilities.listed(method.capabilities.unready)
            raise RefusedError(
                "plan.silent-method",
                msg(
                    "{place}: the method `{method}` does not say {things}, so nothing can be "
                    "released with it.",
                    place=where,
                    method=method.id,
                    things=words,
                ),
                hint="Use a method that says so, or ask the authors of this one.",
            )
        return method


_PROTECTS = {True: ESTIMATED, False: (Protection.CLASSES,)}
_PAID = (Protection.RANDOMISED,)
"""By what rows are protected, by whether their values are drawn."""


def _contradiction(method: Method) -> str:
    """What a method says of itself and cannot be so, by what it is; empty when there is nothing."""
    said, rows = method.capabilities, (None, Content.ROWS)
    if isinstance(method, PrivateMethod):
        if said.content is Content.ROWS:
            return "draws noise for tables and says that it releases rows"
        if said.protection not in (None, Protection.NOISE):
            return "draws noise and says that it protects otherwise"
        if said.spending is Spending.NOTHING:
            return "draws noise from a budget and says that it spends nothing"
    elif isinstance(method, CellsMethod):
        cells = said.content in (None, Content.CELLS) and said.spending in (None, Spending.NOTHING)
        if not cells or said.protection not in (None, Protection.CELLS):
            return "protects cells of tables and says something else"
    elif isinstance(method, RowsMethod) and said.protection not in (None, *_rows_protect(method)):
        return "releases rows and says that it protects otherwise than such rows do"
    elif isinstance(method, PaidRowsMethod):
        if said.content not in rows or said.spending not in (None, Spending.VALUES):
            return "draws values of rows from a budget and says something else"
    elif said.content not in rows or said.spending not in (None, Spending.NOTHING):
        return "releases rows without a budget and says something else"
    if said.allows(Use.ASKED) and not isinstance(method, QueryableMethod):
        return "says that it answers questions and has no answers"
    if said.allows(Use.COMPARED) and not isinstance(method, ComparedMethod):
        return "says that it can be compared with the truth and has no comparison"
    if said.allows(Use.COMPARED) and said.comparison is None:
        return "says that it can be compared with the truth, but not with what"
    return ""


def _rows_protect(method: RowsMethod) -> tuple[Protection, ...]:
    """By what the rows of a method can be protected: what is paid for, where something is."""
    if isinstance(method, PaidRowsMethod):
        return _PAID
    return tuple(each for each in _PROTECTS[method.draws] if each not in _PAID)


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)

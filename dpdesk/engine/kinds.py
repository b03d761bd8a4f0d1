"""The kinds of methods, for those who use one: the one place that asks of which class it is.

Each function gives the method as what it is, or None. What a method can be used for counts only
where it says so (:mod:`dpdesk.core.capabilities`).
"""

from __future__ import annotations

from dpdesk.core.capabilities import Use
from dpdesk.engine.method import CellsMethod, Method, RowsMethod
from dpdesk.engine.private.method import PaidRowsMethod, PrivateMethod
from dpdesk.engine.querying import ComparedMethod, QueryableMethod, TrueMethod


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


def truth_of(method: Method) -> TrueMethod | None:
    """The method, where its answers can be compared with the true ones."""
    found = compared_of(method)
    return found if isinstance(found, TrueMethod) else None

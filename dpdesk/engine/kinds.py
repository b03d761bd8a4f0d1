"""The kinds of methods, for those who use one: the one place that asks of which class it is.

Each function gives the method as what it is, or None. What a method can be used for counts only
where it says so (:mod:`dpdesk.core.capabilities`).
"""

from __future__ import annotations

from dpdesk.core.capabilities import Use
from dpdesk.engine.method import Method, MicrodataMethod
from dpdesk.engine.private.method import PrivateMethod
from dpdesk.engine.querying import ComparedMethod, QueryableMethod
from dpdesk.engine.randomised_method import RandomisedMethod

RowsMethod = MicrodataMethod | RandomisedMethod
"""A method that releases rows."""


def recoding_of(method: Method) -> MicrodataMethod | None:
    """The method, where its rows can be made again from the source."""
    return method if isinstance(method, MicrodataMethod) else None


def draws_of(method: Method) -> RandomisedMethod | None:
    """The method, where it draws values of its rows."""
    return method if isinstance(method, RandomisedMethod) else None


def rows_of(method: Method) -> RowsMethod | None:
    """The method, where it releases rows."""
    return method if isinstance(method, RowsMethod) else None


def noise_of(method: Method | None) -> PrivateMethod | None:
    """The method, where it releases tables with noise from a budget."""
    return method if isinstance(method, PrivateMethod) else None


def answers_of(method: Method) -> QueryableMethod | None:
    """The method, where it says that its releases answer questions."""
    said = method.capabilities.allows(Use.ASKED)
    return method if said and isinstance(method, QueryableMethod) else None


def truth_of(method: Method) -> ComparedMethod | None:
    """The method, where it says that its answers can be compared with the truth."""
    said = method.capabilities.allows(Use.COMPARED)
    return method if said and isinstance(method, ComparedMethod) else None

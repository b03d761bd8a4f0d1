"""The one list of methods."""

from __future__ import annotations

from collections.abc import Iterator

from dpdesk.core.errors import InputError
from dpdesk.core.parameters import nearest
from dpdesk.engine.method import Method


class Registry:
    """Methods by id, in the order in which front ends offer them."""

    def __init__(self, methods: tuple[Method, ...] = (), later: tuple[str, ...] = ()) -> None:
        """``later`` are ids that plans may know already and that this version does not offer."""
        self._later = later
        self._methods: dict[str, Method] = {}
        for method in methods:
            self.add(method)

    def add(self, method: Method) -> None:
        """Register a method; ValueError when its id is taken."""
        if method.id in self._methods:
            raise ValueError(f"method id {method.id!r} is registered already")
        self._methods[method.id] = method

    def __iter__(self) -> Iterator[Method]:
        """All methods, in order."""
        return iter(self._methods.values())

    def get(self, method_id: str, where: str) -> Method:
        """The method with this id; InputError ``plan.unknown-method`` starting with ``where``."""
        found = self._methods.get(method_id)
        if found is not None:
            return found
        known = list(self._methods)
        if method_id in self._later:
            raise InputError(
                "plan.not-available",
                f"{where}: the method `{method_id}` is not available in this version, "
                f"expected one of {_listed(known)}.",
                details={"key": "method"},
            )
        near = nearest(method_id, known)
        raise InputError(
            "plan.unknown-method",
            f"{where}: unknown method `{method_id}`, expected one of {_listed(known)}.",
            hint=f"Did you mean `{near}`?" if near else "",
            details={"key": "method"},
        )


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)

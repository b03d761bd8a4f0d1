"""The one list of methods."""

from __future__ import annotations

from collections.abc import Iterator

from dpdesk.core.errors import InputError
from dpdesk.core.parameters import nearest
from dpdesk.engine.method import Method


class Registry:
    """Methods by id, in the order in which front ends offer them."""

    def __init__(self, methods: tuple[Method, ...] = ()) -> None:
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
        near = nearest(method_id, known)
        raise InputError(
            "plan.unknown-method",
            f"{where}: unknown method `{method_id}`, expected one of "
            + ", ".join(f"`{name}`" for name in known)
            + ".",
            hint=f"Did you mean `{near}`?" if near else "",
            details={"key": "method"},
        )

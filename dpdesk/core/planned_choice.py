"""Choices of which some values belong to later versions."""

from __future__ import annotations

from dataclasses import dataclass

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import ChoiceParameter, ParameterValue


@dataclass(frozen=True)
class PlannedChoiceParameter(ChoiceParameter):
    """A choice of which some values are known to plans but not offered by this version."""

    not_yet: tuple[str, ...] = ()

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`; says so when a value is only not available yet.

        Raises InputError ``parameter.not-available`` for those, else ``parameter.invalid``.
        """
        if isinstance(raw, str) and raw in self.not_yet:
            raise InputError(
                "parameter.not-available",
                msg(
                    '{where}: `{key}` is "{found}", which is not available in this version, '
                    "expected {expected}.",
                    where=where,
                    key=self.key,
                    found=raw,
                    expected=self.range_text(),
                ),
                details={"key": self.key, "value": raw},
            )
        return super().parse(raw, where)

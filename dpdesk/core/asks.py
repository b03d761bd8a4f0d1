"""What a method has to be told before there is anything of it to show."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sized
from dataclasses import dataclass

from dpdesk.core.messages import msg
from dpdesk.core.parameters import Condition
from dpdesk.core.plain import quoted


@dataclass(frozen=True)
class Ask:
    """A decision that is needed, and the sentence that asks for it.

    It is made when one of the parameters ``keys`` has a value (a list or table: ``least`` entries),
    or when the first column that the parameter ``by_file`` names has a hierarchy. ``text`` may name
    that column: ``{column}``. Nobody is asked where ``applies`` fails.
    """

    keys: tuple[str, ...]
    text: str
    least: int = 1
    applies: Condition | None = None
    by_file: str = ""

    def sentence(self, given: Mapping[str, object], hierarchies: Container[str]) -> str:
        """What to say about these parameters (plan keys); empty when it is decided."""
        if self.applies is not None and given.get(self.applies.key) not in self.applies.values:
            return ""
        if any(self._holds(given.get(key)) for key in self.keys):
            return ""
        if not self.by_file:
            return self.text
        named = given.get(self.by_file)
        column = str(named[0]) if isinstance(named, list | tuple) and named else ""
        return "" if column in hierarchies else msg(self.text, column=quoted(column))

    def _holds(self, value: object) -> bool:
        return len(value) >= self.least if isinstance(value, Sized) else value is not None


def columns_to_publish(key: str, label: str) -> Ask:
    """Ask for the columns under a parameter that forms call ``label``."""
    text = msg(
        "Choose what to publish: check the columns under “{field}”. Nothing is counted.",
        field=label,
    )
    return Ask((key,), text)


def open_question(
    asks: tuple[Ask, ...], given: Mapping[str, object], hierarchies: Container[str]
) -> tuple[str, str] | None:
    """The sentence and the key of the first decision that is still needed; None when none is."""
    for ask in asks:
        sentence = ask.sentence(given, hierarchies)
        if sentence:
            return sentence, ask.keys[0]
    return None

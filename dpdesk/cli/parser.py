"""A parser of arguments that speaks as the program does."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from dpdesk.core.errors import InputError
from dpdesk.core.home import local_path
from dpdesk.core.messages import msg


class Parser(argparse.ArgumentParser):
    """A parser whose errors are ours: one sentence, raised as InputError ``usage``.

    ``more_help`` makes a further part of the help when it is asked for. With ``mixed`` a list of
    arguments may be parted by options.
    """

    more_help: Callable[[], str] | None = None
    mixed = False

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.register("type", Path, local_path)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """See argparse; what asks for mixed arguments comes back here for each half."""
        if not self.mixed:
            return super().parse_known_args(args, namespace)
        self.mixed = False
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.mixed = True

    def error(self, message: str) -> NoReturn:
        """Raise InputError instead of printing and exiting."""
        text = message[0].upper() + message[1:]
        raise InputError(
            "usage",
            msg("{path}: {reason}.", path=self.prog, reason=text),
            hint=f"See `{self.prog} --help`.",
        )

    def format_help(self) -> str:
        """The help, with the part that is made late."""
        text = super().format_help()
        return text if self.more_help is None else f"{text}\n{self.more_help()}"

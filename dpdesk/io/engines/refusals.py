"""What work in engines needs and what it does not do, and what is said then."""

from __future__ import annotations

from importlib.util import find_spec

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg

_HINT = "Install the optional part of the program: pip install 'dpdesk[engines]'."


def need_ibis(engine: str) -> None:
    """Raise InputError ``engine.missing`` where the library that asks engines is not installed."""
    _need("ibis", engine)


def need_spark(engine: str) -> None:
    """As :func:`need_ibis`, for the library of Spark too."""
    _need("ibis", engine)
    _need("pyspark", engine)


def _need(library: str, engine: str) -> None:
    if find_spec(library) is None:
        raise InputError(
            "engine.missing",
            msg(
                "To work inside {engine}, the library `{library}` is needed, and it is not "
                "installed.",
                engine=engine,
                library=library,
            ),
            hint=_HINT,
            details={"library": library},
        )


def no_looks(name: str, engine: str) -> InputError:
    """The error for looking at the rows of a table that stays in an engine."""
    return InputError(
        "engine.looks",
        msg(
            "{name}: rows of a table that stays in {engine} are not looked at.",
            name=name,
            engine=engine,
        ),
        hint="Remove `engine` under [source] to read the table to this computer, or run the "
        "plan from the command line.",
    )

"""What work in engines needs beyond the program itself, and what is said where it is missing."""

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

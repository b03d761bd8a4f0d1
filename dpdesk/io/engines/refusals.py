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


def no_column(name: str, column: str, engine: str) -> InputError:
    """The error for a column that is needed of rows that came without it."""
    return InputError(
        "engine.columns",
        msg(
            "{name}: the rows came from {engine} without the column `{column}`, which was an "
            "identifier.",
            name=name,
            column=column,
            engine=engine,
        ),
        hint="Open the table again.",
        details={"column": column},
    )


def no_session(name: str) -> InputError:
    """The error for a look at a table of a cluster to which there is no connection."""
    return InputError(
        "engine.closed",
        msg("{name}: there is no connection to the cluster.", name=name),
        hint="Connect to it and open the table.",
    )

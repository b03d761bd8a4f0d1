"""Where declared categories or nodes come from, as plans record it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dpdesk.core.messages import msg
from dpdesk.core.parameters import Choice, Nested, NestedParameter, ParameterValue
from dpdesk.core.plain import quoted
from dpdesk.engine.private.settings import misfit

TYPED, FROM_FILE, FROM_CODES, FROM_DATA = "typed", "file", "code-list", "data"
ORIGINS = (TYPED, FROM_FILE, FROM_CODES, FROM_DATA)
ORIGINS_PARAMETER = NestedParameter(
    "origins",
    "Where categories come from",
    "Who or what declared the categories of a column: `typed` (by hand), `file` (a hierarchy), "
    "`code-list` (of the source) or `data` (suggested from the data); the guarantee says it.",
    example='{ sex = "typed" }',
    words=(
        Choice(TYPED, "typed"),
        Choice(FROM_FILE, "from a hierarchy"),
        Choice(FROM_CODES, "from the code list of the source"),
        Choice(FROM_DATA, "from the data"),
    ),
)


def recorded_origins(
    value: ParameterValue, columns: Collection[str], where: str
) -> Mapping[str, str]:
    """Where the plan says that categories of ``columns`` come from; InputError ``cube.origins``."""
    plain = value.plain if isinstance(value, Nested) else {}
    if not isinstance(plain, Mapping) or not all(text in ORIGINS for text in plain.values()):
        known = ", ".join(f"`{one}`" for one in ORIGINS)
        sentence = msg("`origins` names an origin other than {known}", known=known)
        raise misfit("cube.origins", where, sentence, "origins")
    strange = next((name for name in plain if name not in columns), None)
    if strange is not None:
        sentence = msg(
            "`origins` names {name}, a column that needs no categories", name=quoted(strange)
        )
        raise misfit("cube.origins", where, sentence, "origins")
    return {name: str(text) for name, text in plain.items()}

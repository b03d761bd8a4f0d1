"""Reading options that a plan of a private method must name: what is detected depends on a person.

Which options these are stands in :data:`dpdesk.core.source_options.FORMATS`. The refusal of the
command line, the window that writes them into the plan, and the documentation follow it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from dpdesk.core.column_names import form
from dpdesk.core.source_options import FORMATS
from dpdesk.core.source_spec import DATE, SourceSpec

_BARE = re.compile("[A-Za-z0-9_-]+")


def is_named(spec: SourceSpec, key: str) -> bool:
    """Whether a plan names this key."""
    if key == "missing":
        return spec.missing_named or spec.missing != ("",)
    if key == "types":
        return bool(spec.types)
    return getattr(spec, key) is not None


def unnamed(spec: SourceSpec, file_format: str) -> tuple[str, ...]:
    """The keys that the plan must name and does not."""
    keys = FORMATS[file_format].pinned
    if any(kind == DATE for _, kind in spec.types):
        keys = (*keys, "date_order")
    return tuple(key for key in keys if not is_named(spec, key))


def untyped(spec: SourceSpec, columns: Sequence[str]) -> tuple[str, ...]:
    """Those of the columns that ``types`` does not declare."""
    known = {form(name) for name, _ in spec.types}
    return tuple(name for name in columns if form(name) not in known)


def lines_of(spec: SourceSpec, keys: Sequence[str]) -> tuple[str, ...]:
    """The lines of a plan's ``[source]`` that name these keys as ``spec`` has them."""
    plain = spec.as_plain() | {"missing": list(spec.missing)}
    return tuple(f"{key} = {_toml(plain[key])}" for key in keys if key in plain)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _toml(name)


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(str(key))} = {_toml(item)}" for key, item in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    # What JSON writes of a text TOML reads too, but for the byte 0x7F.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

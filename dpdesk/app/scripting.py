"""What was clicked, as Python code that does the same by `import dpdesk`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.language import ENGLISH
from dpdesk.core.plain import thaw
from dpdesk.core.plan import HierarchyFile
from dpdesk.core.query import Condition, Query, Within
from dpdesk.core.source_spec import SourceSpec
from dpdesk.core.spans import Span
from dpdesk.project.work import WorkState

_WIDTH = 80
_DECIMAL = "from decimal import Decimal\n\n"


class _Code(str):
    """An expression, which is written as it is."""

    __slots__ = ()


def work_script(work: WorkState, out: str) -> str:
    """The plan, its run into ``out`` and the check of the release. ValueError without a source."""
    plan = work.to_plan()
    named: dict[str, object] = {"source": _source(plan.source)}
    named["attributes"] = {name: _attribute(work, name) for name in plan.attributes}
    if plan.title:
        named["title"] = plan.title
    if plan.language != ENGLISH:
        named["language"] = plan.language
    if plan.budget is not None:
        named["budget"] = thaw(plan.budget, exact=True)
    named["folder"] = str(work.base)
    named |= {key: thaw(value, exact=True) for key, value in plan.protection.parameters.items()}
    method = plan.protection.method
    lines = [
        f"plan = {_call('dpdesk.Plan', (method,), named)}",
        f"release = dpdesk.run(plan, {out!r})",
        "print(release.claim)",
        "print(dpdesk.verify(release).ok)",
    ]
    return _module(lines)


def query_script(folders: Sequence[Path], query: Query) -> str:
    """A question to a release, or to several of one cube together."""
    named: dict[str, object] = {}
    if query.by:
        named["by"] = [each.column for each in query.by]
    if query.where:
        named["where"] = [one for each in query.where for one in _conditions(each)]
    levels = {each.column: each.level for each in query.by if each.level}
    more = {"levels": levels, "measure": query.measure, "estimator": query.estimator}
    named |= {key: value for key, value in more.items() if value}
    if query.margins:
        named["margins"] = True
    places = [str(folder) for folder in folders]
    asked = _call("dpdesk.query", (places[0] if len(places) == 1 else places,), named)
    return _module([f"answer = {asked}", "print(answer)", 'print(answer.attrs["sentence"])'])


def release_script(
    folder: Path, source: Path | str | None, exports: Iterable[tuple[str, Path]] = ()
) -> str:
    """The check of a release, with its source where that is at hand, and its exports."""
    named = {} if source is None else {"source": str(source)}
    lines = [
        f"release = dpdesk.open_release({str(folder)!r})",
        "print(release.claim)",
        f"found = {_call('dpdesk.verify', (_Code('release'),), named)}",
        "print(found.ok, *found.failures)",
    ]
    lines += [
        _call("dpdesk.export", (_Code("release"), form, str(path)), {}) for form, path in exports
    ]
    return _module(lines)


def _module(lines: Sequence[str]) -> str:
    text = "\n".join(lines) + "\n"
    return f"{_DECIMAL if 'Decimal(' in text else ''}import dpdesk\n\n{text}"


def _source(spec: SourceSpec) -> object:
    """A path, or what is said of its reading too."""
    plain = spec.as_plain()
    options = {key: value for key, value in plain.items() if key != "path"}
    return _Code(_call("dpdesk.Source", (plain["path"],), options)) if options else plain["path"]


def _attribute(work: WorkState, name: str) -> object:
    """The role of a column, or what is said of it too."""
    role, choice, known = work.role(name), work.hierarchies.get(name), work.pseudonym(name)
    named: dict[str, object] = {}
    if isinstance(choice, Hierarchy):
        named["hierarchy"] = choice.rows()
    elif isinstance(choice, HierarchyFile):
        named["hierarchy"] = choice.path
    elif choice is not None:
        options = {key: thaw(value, exact=True) for key, value in choice.options.items()}
        named["hierarchy"] = {"kind": choice.kind, **options}
    if known is not None:
        named["pseudonym"] = known.as_plain()
    return _Code(_call("dpdesk.Attribute", (role.value,), named)) if named else role.value


def _conditions(condition: Condition) -> list[object]:
    """A condition as `dpdesk.query` takes it; a range with two ends as two of them."""
    if isinstance(condition, Within):
        span, column = condition.span, condition.column
        low = Span(low=span.low, low_open=span.low_open)
        high = Span(high=span.high, high_open=span.high_open)
        return [text for end in (low, high) if (text := Within(column, end).words())]
    if condition.text not in ("", *condition.values):
        return [condition.words()]
    if condition.excluded:  # in one text, an empty value could not stand among others
        return [replace(condition, values=(v,), text="").words() for v in condition.values]
    values = condition.values
    return [{condition.column: values[0] if len(values) == 1 else list(values)}]


def _call(name: str, given: Sequence[object], named: Mapping[str, object]) -> str:
    """A call, each argument on a line of its own where one line is too short."""
    parts = [_literal(value) for value in given]
    parts += [f"{key}={_literal(value)}" for key, value in named.items()]
    return _lines(f"{name}(", parts, ")")


def _literal(value: object) -> str:
    """A value as Python writes it; exact numbers stay exact."""
    if isinstance(value, _Code):
        return str(value)
    if isinstance(value, Decimal):
        return repr(float(value)) if Decimal(repr(float(value))) == value else repr(value)
    if isinstance(value, Mapping):
        parts = [f"{_literal(key)}: {_literal(item)}" for key, item in value.items()]
        return _lines("{", parts, "}")
    if isinstance(value, list | tuple):
        return _lines("[", [_literal(item) for item in value], "]")
    return repr(str(value)) if isinstance(value, str) else repr(value)


def _lines(head: str, parts: Sequence[str], tail: str) -> str:
    line = f"{head}{', '.join(parts)}{tail}"
    if len(line) <= _WIDTH and "\n" not in line:
        return line
    indented = (part.replace("\n", "\n    ") for part in parts)
    return f"{head}\n" + "".join(f"    {part},\n" for part in indented) + tail

"""Plans and sources as objects: made from keywords, and written to and read from plan files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from dpdesk.app.planning import PlacedPlan, check_protection
from dpdesk.app.types import THE_WORK
from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.language import ENGLISH
from dpdesk.core.messages import msg
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.plain import thaw
from dpdesk.core.plan import Plan as PlanValue
from dpdesk.core.schema import Role
from dpdesk.core.source_spec import (
    FRAME_ENDING,
    SourceSpec,
    check_options,
    read_source,
    source_format,
    without_ignored,
)
from dpdesk.engine.methods.registered import default_registry
from dpdesk.engine.registry import priced_of
from dpdesk.project.work import WorkState
from dpdesk.python import session
from dpdesk.python.frames import NAME, held_frame, is_frame, texts_of

if TYPE_CHECKING:
    import pandas as pd

    from dpdesk.app.context import AppContext

Data: TypeAlias = "str | Path | pd.DataFrame"
"""A path, the address of a database, or a DataFrame."""
Sourced: TypeAlias = "Data | Source"
HierarchyLike: TypeAlias = (
    "str | Path | Mapping[str, object] | Sequence[Sequence[object]] | pd.DataFrame"
)
AttributeLike: TypeAlias = "str | Role | Attribute"


@dataclass(frozen=True, eq=False)
class Source:
    """Data, and how they are read: the keys of ``[source]`` in a plan, by the same names.

    ``data`` is a path, the address of a database or a DataFrame, to which ``name`` can give another
    name than ``data.frame``. What is None is detected; of a DataFrame, only ``missing``, ``types``,
    ``date_order``, ``empty_rows``, ``query`` and ``coarsen`` apply.
    """

    data: Data
    name: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    quote: str | None = None
    escape: str | None = None
    header: bool | None = None
    skip: int | None = None
    empty_rows: str | None = None
    missing: Sequence[str] | None = None
    table: str | None = None
    query: str | None = None
    metadata: str | None = None
    catalog: str | None = None
    columns: Sequence[Mapping[str, object]] | None = None
    widths: Sequence[int] | None = None
    types: Mapping[str, str] | None = None
    date_order: str | None = None
    allow: Sequence[str] | None = None
    coarsen: Mapping[str, Mapping[str, object]] | None = None

    def _plain(self, where: str) -> dict[str, object]:
        """The table ``[source]``. Raises InputError ``frame.name``."""
        options = {
            item.name: _listed(getattr(self, item.name))
            for item in fields(self)
            if item.name not in ("data", "name") and getattr(self, item.name) is not None
        }
        return {"path": _path(self.data, self.name, where), **options}


@dataclass(frozen=True)
class Attribute:
    """What a column is: its role, its hierarchy, and for an identifier how it is replaced.

    ``hierarchy`` is a CSV file, a builder such as ``{"kind": "intervals", "widths": [5, 10]}``, or
    the rows themselves from leaf to top, as lists or as a DataFrame.
    """

    role: str | Role = Role.INSENSITIVE
    hierarchy: HierarchyLike | None = None
    pseudonym: Mapping[str, object] | None = None


class Plan:
    """What to read, what each column is, and which protection to apply: a plan file as an object.

    Parameters
    ----------
    method:
        Such as ``"k-anonymity"`` or ``"dp-cube"``; see ``resources/docs/methods.md``.
    source:
        A path, the address of a database, a DataFrame, or a :class:`Source` with options.
    attributes:
        Of each column that matters its role, or an :class:`Attribute`.
    title, language, budget:
        As in a plan file.
    folder:
        Where relative paths start; the working directory when None.
    parameters:
        The keys of ``[protection]``, such as ``k=5``. Floats count as the shortest decimal that
        reads back as them; give a text or a ``Decimal`` where that matters.

    Raises InputError for whatever a plan file would be refused for.
    """

    def __init__(
        self,
        method: str,
        source: Sourced,
        attributes: Mapping[str, AttributeLike] = MappingProxyType({}),
        *,
        title: str = "",
        language: str = ENGLISH,
        budget: Mapping[str, object] | None = None,
        folder: str | Path | None = None,
        **parameters: object,
    ) -> None:
        given = source if isinstance(source, Source) else Source(source)
        raw: dict[str, object] = {
            "version": 1,
            "title": title,
            "language": language,
            "source": given._plain(THE_WORK),
            "attributes": _attribute_tables(attributes),
            "protection": {"method": method} | _plain_table(parameters),
        }
        if budget is not None:
            raw["budget"] = _plain_table(budget)
        base = Path.cwd() if folder is None else Path(folder).absolute()
        work = _work_of(raw, base, _hierarchy_values(attributes))
        self._set(work, THE_WORK, _frame_of(given.data))

    def _set(self, work: WorkState, name: str, frame: pd.DataFrame | None) -> None:
        self._work, self._name, self._frame = work, name, frame

    @classmethod
    def _of(cls, work: WorkState, name: str, frame: pd.DataFrame | None) -> Plan:
        made = cls.__new__(cls)
        made._set(work, name, frame)
        return made

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """The plan of a file (TOML or JSON), where relative paths start at its folder.

        Raises StorageError, InputError ``plan.*``.
        """
        from dpdesk.io.planfile import read_plan

        place = Path(path)
        return cls._of(
            WorkState.from_plan(read_plan(place), place.absolute().parent), place.name, None
        )

    @classmethod
    def from_toml(cls, text: str, folder: str | Path | None = None) -> Plan:
        """The plan of a text of TOML or JSON. Raises InputError ``plan.*``."""
        from dpdesk.io.planfile import plan_of_text

        plan = plan_of_text(text, Path(THE_WORK))
        base = Path.cwd() if folder is None else Path(folder).absolute()
        return cls._of(WorkState.from_plan(plan, base), THE_WORK, None)

    def save(self, path: str | Path) -> None:
        """Write a plan file: TOML, or JSON where the name ends in ``.json``.

        Hierarchies that are rows are written beside it. Of a DataFrame the file has the name alone:
        give it as ``source`` again when the file is run. Raises StorageError.
        """
        from dpdesk.app.projects import save_work

        save_work(self._work, Path(path), session.context().workspace)

    def to_toml(self) -> str:
        """The text that :meth:`save` writes into a plan file in :attr:`folder`."""
        from dpdesk.io.planfile import plan_as_toml

        return plan_as_toml(self._work.to_plan())

    def replace(
        self,
        *,
        source: Sourced | None = None,
        attributes: Mapping[str, AttributeLike] = MappingProxyType({}),
        title: str | None = None,
        language: str | None = None,
        budget: Mapping[str, object] | None = None,
        method: str | None = None,
        **parameters: object,
    ) -> Plan:
        """The plan with these changes; ``attributes`` are added to the others, or replace them.

        A parameter that is None is taken out; another method keeps no parameter of the old one.
        Raises what making a plan raises.
        """
        raw = self._work.to_plan().as_plain(exact=True)
        told = {"title": title, "language": language, "budget": budget}
        raw |= {key: value for key, value in told.items() if value is not None}
        old = thaw(self.parameters, exact=True) if method in (None, self.method) else {}
        kept = {**old, **_plain_table(parameters)}  # type: ignore[dict-item]
        gone = [key for key, value in parameters.items() if value is None]
        raw["protection"] = {"method": method or self.method} | {
            key: value for key, value in kept.items() if key not in gone
        }
        raw["attributes"] = {**raw["attributes"], **_attribute_tables(attributes)}  # type: ignore[dict-item]
        hand = {n: v for n, v in self._work.hand_made().items() if n not in attributes}
        work = _work_of(raw, self.folder, {**hand, **_hierarchy_values(attributes)})
        return Plan._of(work, self._name, self._frame)._using(source)

    @property
    def folder(self) -> Path:
        """Where relative paths start."""
        return self._work.base

    @property
    def method(self) -> str:
        """The id of the method."""
        return self._work.method

    @property
    def parameters(self) -> Mapping[str, object]:
        """The keys of ``[protection]``, numbers that are not whole as decimals."""
        return self._work.parameters

    @property
    def value(self) -> PlanValue:
        """The plan as the program works with it."""
        return self._work.to_plan()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Plan):
            return NotImplemented
        return (self._work, self._frame is None) == (other._work, other._frame is None) and (
            self._frame is other._frame
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        source = self._work.source
        return f"<dpdesk.Plan: {self.method} of {source.name if source else 'nothing'}>"

    def _using(self, source: Sourced | None) -> Plan:
        """The plan for other data; options of its own that do not apply to them are left out."""
        if source is None:
            return self
        old = self._work.source
        data = source.data if isinstance(source, Source) else source
        if isinstance(source, Source) or old is None:
            given = source if isinstance(source, Source) else Source(source)
            spec = read_source(given._plain(self._name), self._name)
        else:
            spec = without_ignored(replace(old, path=_path(data, None, self._name), held=None))
        if not is_frame(data):
            spec = spec.with_paths(lambda path: str(Path(path).absolute()))
        check_options(spec, f"{self._name}, [source]")
        return Plan._of(replace(self._work, source=spec), self._name, _frame_of(data))

    def _reading(self, spec: SourceSpec) -> Plan:
        """The plan with these options of reading."""
        return Plan._of(
            replace(self._work, source=replace(spec, held=None)), self._name, self._frame
        )

    @contextmanager
    def _placed(self, context: AppContext, token: CancelToken) -> Iterator[PlacedPlan]:
        """The plan as use-cases take it; its DataFrame is in the private folder meanwhile.

        Raises InputError ``frame.*``, StorageError, Cancelled.
        """
        plan, made = self._work.to_plan(), self._work.hand_made()
        with ExitStack() as stack:
            if self._frame is not None:
                method, _ = check_protection(context, plan, self._name)
                private, name = priced_of(method) is not None, plan.source.path
                held = stack.enter_context(held_frame(self._frame, name, context, token, private))
                plan = replace(plan, source=replace(plan.source, held=str(held)))
            elif source_format(plan.source) == "frame":
                raise InputError(
                    "frame.missing",
                    msg(
                        "{where}, [source]: the data are the DataFrame `{name}`, which is not "
                        "available.",
                        where=self._name,
                        name=plan.source.path,
                    ),
                    hint="Give it as `source`.",
                )
            yield PlacedPlan(plan, self.folder, self._name, made)


def plan_of(plan: Plan | str | Path) -> Plan:
    """A plan that is at hand, or that of a file. Raises what :meth:`Plan.load` raises."""
    return plan if isinstance(plan, Plan) else Plan.load(plan)


@contextmanager
def held_source(
    source: Sourced, where: str, context: AppContext, token: CancelToken, *, private: bool
) -> Iterator[SourceSpec]:
    """Data as readers take them; a DataFrame is in the private folder meanwhile.

    Raises InputError ``frame.*``, ``plan.*`` and ``source.option``, StorageError, Cancelled.
    """
    given = source if isinstance(source, Source) else Source(source)
    spec = read_source(given._plain(where), where)
    check_options(spec, where)
    frame = _frame_of(given.data)
    if frame is None:
        yield spec.with_paths(lambda path: str(Path(path).absolute()))
        return
    with held_frame(frame, spec.path, context, token, private) as held:
        yield replace(spec, held=str(held))


def _frame_of(data: Data) -> pd.DataFrame | None:
    return data if is_frame(data) else None


def _path(data: object, name: str | None, where: str) -> str:
    """What ``path`` says of the data: where they are, or what a DataFrame is called."""
    if not is_frame(data):
        if not isinstance(data, str | Path):
            raise InputError(
                "frame.type",
                msg(
                    "{where}: the source is a {kind}, expected a path, the address of a database "
                    "or a DataFrame of pandas.",
                    where=where,
                    kind=type(data).__name__,
                ),
            )
        return str(data)
    chosen = NAME if name is None else name
    chosen += "" if chosen.endswith(FRAME_ENDING) else FRAME_ENDING
    if Path(chosen).name != chosen or "\\" in chosen or not chosen.isprintable():
        raise InputError(
            "frame.name",
            msg("{where}: `{name}` is not a name for a DataFrame.", where=where, name=chosen),
            hint="Use letters, digits, spaces, full stops and hyphens.",
        )
    return chosen


def _work_of(
    raw: Mapping[str, object], base: Path, hierarchies: Mapping[str, Hierarchy]
) -> WorkState:
    """What plain values say, checked as those of a plan file are."""
    plan = PlanValue.from_plain(raw, THE_WORK)
    check_options(plan.source, f"{THE_WORK}, [source]")
    method = default_registry().ready(plan.protection.method, f"{THE_WORK}, [protection]")
    parse_parameters(method.parameters, plan.protection.parameters, f"{THE_WORK}, [protection]")
    work = WorkState.from_plan(plan, base)
    return replace(work, hierarchies=MappingProxyType({**work.hierarchies, **hierarchies}))


def _attribute_tables(attributes: Mapping[str, AttributeLike]) -> dict[str, object]:
    """The tables of columns; a hierarchy that is a value is put in afterwards."""
    found: dict[str, object] = {}
    for name, spec in attributes.items():
        given = spec if isinstance(spec, Attribute) else Attribute(spec)
        role, hierarchy = given.role, given.hierarchy
        plain: dict[str, object] = {"role": role.value if isinstance(role, Role) else role}
        if isinstance(hierarchy, Mapping):
            plain["hierarchy"] = _plain_table(hierarchy)
        elif isinstance(hierarchy, str | Path):
            plain["hierarchy"] = str(hierarchy)
        if given.pseudonym is not None:
            plain["pseudonym"] = _plain_table(given.pseudonym)
        found[name] = plain
    return found


def _hierarchy_values(attributes: Mapping[str, AttributeLike]) -> dict[str, Hierarchy]:
    """The hierarchies of columns that give their rows. Raises InputError ``hierarchy.*``."""
    found: dict[str, Hierarchy] = {}
    for name, spec in attributes.items():
        given = spec.hierarchy if isinstance(spec, Attribute) else None
        if given is None or isinstance(given, str | Path | Mapping):
            continue
        place = msg("{the_work}, [attributes.{name}], hierarchy", the_work=THE_WORK, name=name)
        rows: Any = given.to_numpy().tolist() if is_frame(given) else given
        found[name] = Hierarchy.from_rows(name, [texts_of(row) for row in rows], place)
    return found


def _plain_table(table: Mapping[str, Any]) -> dict[str, object]:
    return {str(key): _listed(value) for key, value in table.items() if value is not None}


def _listed(value: Any) -> object:
    """A value as a plan file has it: numbers of NumPy as Python's, other sequences as lists."""
    if isinstance(value, Mapping):
        return _plain_table(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, list | tuple | set | frozenset):
        listed = sorted(value) if isinstance(value, set | frozenset) else value
        return [_listed(item) for item in listed]
    return _listed(value.tolist()) if hasattr(value, "tolist") else value

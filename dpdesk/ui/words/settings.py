"""Columns, settings, edits, trials and budgets in words, and what a search still needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from PySide6.QtCore import QCoreApplication

from dpdesk.app.private.trial import OutsideRows, Trial
from dpdesk.app.types import (
    ColumnProfile,
    ColumnType,
    Command,
    LevelNames,
    Method,
    Outlook,
    ReleaseFacts,
    Role,
    SetMethod,
    SetParameters,
    WorkState,
)
from dpdesk.core.capabilities import ESTIMATED, Capabilities
from dpdesk.core.cube_parameters import PartParameter
from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import level_words
from dpdesk.core.labels import Variable
from dpdesk.core.messages import msg
from dpdesk.core.parameters import (
    ChoiceParameter,
    LevelsParameter,
    NestedParameter,
    Parameter,
    Records,
    ShareParameter,
    StructuredParameter,
    exact_number,
    parse_parameters,
)
from dpdesk.core.plain import freeze, number_text
from dpdesk.core.plan import THE_SETTINGS
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.words.numbers import (
    figure_words,
    grouped,
    marked,
    marked_within,
    quoted,
    shortened,
    tied,
)
from dpdesk.ui.words.spoken import in_window, inside, said, unit_words

translate = QCoreApplication.translate


def type_words(kind: ColumnType) -> str:
    """A column type in plain words."""
    words = {
        ColumnType.INTEGER: translate("DataPanel", "integer"),
        ColumnType.DECIMAL: translate("DataPanel", "decimal"),
        ColumnType.DATE: translate("DataPanel", "date"),
        ColumnType.BOOLEAN: translate("DataPanel", "yes/no"),
        ColumnType.TEXT: translate("DataPanel", "text"),
        ColumnType.EMPTY: translate("DataPanel", "no value"),
    }
    return words[kind]


def role_words(role: Role) -> str:
    """A role as people call it."""
    words = {
        Role.IDENTIFIER: translate("DataPanel", "identifier"),
        Role.QUASI_IDENTIFIER: translate("DataPanel", "quasi-identifier"),
        Role.SENSITIVE: translate("DataPanel", "sensitive"),
        Role.INSENSITIVE: translate("DataPanel", "insensitive"),
        Role.WEIGHT: translate("DataPanel", "weight"),
        Role.CLUSTER: translate("DataPanel", "cluster"),
        Role.PSEUDONYM: translate("DataPanel", "pseudonym"),
    }
    return words[role]


def short_share(share: float) -> str:
    """A share in few letters: whole percents where that is honest."""
    percent = share * 100
    if percent == 0:
        return "0 %"
    if percent < 1:
        return "<1 %"
    if 99 < percent < 100:
        return ">99 %"
    return f"{percent:.0f} %"


_MOST_CODES = 12


def label_of(profile: ColumnProfile | None) -> str:
    """The label of a column; empty when its source gives none."""
    return "" if profile is None else profile.label


def with_label(profile: ColumnProfile | None, value: str) -> str:
    """A value with the label of its code, where it has one; a very long one is cut."""
    if profile is None or profile.variable is None:
        return shortened(value)
    return shortened(profile.variable.shown(value))


def is_declared_missing(profile: ColumnProfile | None, value: str) -> bool:
    """Whether the source itself declares the value missing."""
    if profile is None or profile.variable is None:
        return False
    return bool(profile.variable.missing) and profile.variable.missing.holds(value)


def label_facts(profile: ColumnProfile) -> tuple[tuple[str, str], ...]:
    """Label and value of what the source says of a column; nothing when it says nothing."""
    said = profile.variable
    if said is None:
        return ()
    found = [
        (translate("Labels", "Label"), said.label),
        (translate("Labels", "Codes"), codes_words(said)),
        (translate("Labels", "Declared missing"), missing_words(said)),
    ]
    return tuple((name, text) for name, text in found if text)


def codes_words(said: Variable) -> str:
    """The labelled codes, the first dozen of them."""
    codes = [f"{code} = {label}" for code, label in said.value_labels.items()]
    more = [translate("Labels", "and {n} more").format(n=grouped(len(codes) - _MOST_CODES))]
    return "; ".join(codes[:_MOST_CODES] + (more if len(codes) > _MOST_CODES else []))


def missing_words(said: Variable) -> str:
    """The codes and the range that stand for a missing value."""
    parts = list(said.missing.values)
    if said.missing.low is not None and said.missing.high is not None:
        low, high = (_end_words(end) for end in (said.missing.low, said.missing.high))
        parts.append(f"{low} – {high}")
    return ", ".join(parts)


def _end_words(end: float) -> str:
    """An end of a range with all its digits: rounded, it would name other codes."""
    if end == float("-inf"):
        return translate("Labels", "lowest")
    if end == float("inf"):
        return translate("Labels", "highest")
    return marked(number_text(Fraction(repr(end))))


MOST_PARTS = 6
NO_NAMES: LevelNames = MappingProxyType({})


def levels_words(picked: Mapping[str, object], names: LevelNames = NO_NAMES) -> str:
    """What a point of a chart stands for: ``age 1 (20-29 …), sex 0``."""
    parts: list[str] = []
    for key, value in picked.items():
        if isinstance(value, Mapping):
            known = ((name, level, names.get(name, ())) for name, level in value.items())
            parts += [f"{name} {level_words(at, level)}" for name, level, at in known]
        else:
            parts.append(f"{key} {value}")
    return ", ".join(parts)


_NAMING = ("drawn", "sensitive")


def drawn_columns(about: Capabilities, work: WorkState) -> tuple[str, ...]:
    """The columns of which no released row has its own value: it is drawn, or stands apart."""
    if about.protection not in ESTIMATED:
        return ()
    given = (work.parameters.get(key) for key in _NAMING)
    named = next((value for value in given if value), None)
    if isinstance(named, str):
        return (named,)
    if isinstance(named, Mapping | list | tuple):
        return tuple(map(str, named))
    return tuple(work.with_role(Role.SENSITIVE))


def settings_words(method: Method | None, work: WorkState, names: LevelNames = NO_NAMES) -> str:
    """The settings that are no defaults, in a few words: ``k 25 rows · objective entropy``."""
    if method is None:
        return ""
    parts: list[str] = []
    for parameter in method.parameters:
        value = work.parameters.get(parameter.key)
        default = parameter.as_plain(parameter.default_value())
        if value is not None and not same_value(parameter, value, default):
            parts.append(f"{short_label(parameter)} {value_words(parameter, value, names)}")
    return " · ".join(parts)


def control_labels(method: Method, columns: Sequence[str]) -> dict[str, str]:
    """What the form calls the keys of a plan; not those that are columns of the data as well."""
    return {one.key: _short(said(one.label)) for one in method.parameters if one.key not in columns}


def short_label(parameter: Parameter) -> str:
    """A label as the beginning or the middle of a sentence."""
    return inside(said(parameter.label).partition(",")[0].partition(":")[0])


def value_words(parameter: Parameter, value: object, names: LevelNames = NO_NAMES) -> str:
    """A plain value for people, with its unit; levels by their ``names`` where they are known."""
    if isinstance(parameter, LevelsParameter) and isinstance(value, Mapping):
        return levels_words({parameter.key: value}, names)
    if isinstance(parameter, ChoiceParameter):
        return inside(_choice(parameter, value)) or str(value)
    if isinstance(parameter, StructuredParameter) and parameter.records is not None:
        return _records_words(parameter.records, value)
    if isinstance(parameter, NestedParameter) and parameter.words and isinstance(value, Mapping):
        words = {one.value: said(one.label) for one in parameter.words}
        value = {key: words.get(one, one) for key, one in value.items()}
    if isinstance(value, Mapping | list | tuple):
        return _listed(value)
    try:
        exact = parameter.parse(value, "")
    except InputError:
        return str(value)
    if isinstance(parameter, ShareParameter) and isinstance(exact, int | Fraction):
        return figure_words(float(exact), "share")
    if isinstance(parameter, PartParameter) and isinstance(exact, int | Fraction):
        return tied(marked(parameter.percent(Fraction(exact))))
    if isinstance(exact, bool):
        return translate("Cells", "yes") if exact else translate("Cells", "no")
    if isinstance(exact, Fraction):
        return marked(parameter.as_text(exact))
    if isinstance(exact, int):
        return f"{grouped(exact)} {unit_words(parameter.unit, exact)}".strip()
    return parameter.as_text(exact).replace("\n", ", ")


def _records_words(records: Records, value: object) -> str:
    """Rules and measures as their form shows them: ``p-percent rule: Closer than 10 %``."""
    if isinstance(value, list | tuple):
        return "; ".join(_records_words(records, one) for one in value)
    variant = records.variant_of(value)
    if not variant.fits(value):
        return _listed(value)
    given = value if isinstance(value, Mapping) else {}
    parts = [
        f"{said(one.label)} {value_words(one, given[one.key])}"
        for one in variant.entries
        if one.key in given
    ]
    words = ", ".join(parts)
    if not variant.label or not words:
        return said(variant.label) or words
    return msg("{file}: {note}", file=said(variant.label), note=words)


def _listed(value: object) -> str:
    """A value with parts as people write it: ``sex: f, m; region: north, south, …``."""
    if isinstance(value, Mapping):
        parts = [msg("{file}: {note}", file=key, note=_listed(one)) for key, one in value.items()]
        return "; ".join(_few(parts))
    if not isinstance(value, list | tuple):
        return str(value)
    if any(isinstance(one, list | tuple) for one in value):
        return "; ".join(_few([" × ".join(map(str, one)) or said("grand total") for one in value]))
    if any(isinstance(one, Mapping) for one in value):
        return "; ".join(_few(list(map(_listed, value))))
    empty = translate("DataPanel", "empty field")
    return ", ".join(_few([str(one) or empty for one in value]))


def _few(parts: list[str]) -> list[str]:
    return parts if len(parts) <= MOST_PARTS else [*parts[:MOST_PARTS], "…"]


def same_value(parameter: Parameter, first: object, second: object) -> bool:
    """Whether two plain values of a parameter mean the same."""
    if first == second:
        return True
    try:
        return parameter.parse(first, "") == parameter.parse(second, "")
    except InputError:
        return False


def worded(
    command: Command,
    method: Method | None,
    methods: Sequence[Method],
    names: LevelNames = NO_NAMES,
    before: Mapping[str, object] | None = None,
    *,
    typed: bool = False,
) -> Command:
    """The same command; where it would name keys of a plan, it says what the form shows.

    Of long lists and tables it says what differs from the settings ``before``, but for what is
    ``typed``: letter by letter, that makes one step.
    """
    if isinstance(command, SetParameters) and not command.what and method is not None:
        words = changes_words(method, command.changes, names, before, typed=typed)
        return replace(command, what=words)
    if isinstance(command, SetMethod) and not command.what:
        chosen = next((one for one in methods if one.id == command.method), None)
        if chosen is not None:
            words = translate("Edits", "Method: {title}")
            if command.source is not None:
                words = translate("Edits", "Method: {title}; how the data are read is in the plan")
            words = words.format(title=said(chosen.title))
            return replace(command, what=words)
    return command


def changes_words(
    method: Method,
    changes: Mapping[str, object],
    names: LevelNames = NO_NAMES,
    before: Mapping[str, object] | None = None,
    *,
    typed: bool = False,
) -> str:
    """Changed settings: ``k: 12 rows, Search: Samarati``; None stands for the default.

    A long list is said as ``Dimensions: sex added``, a table by what changed, where the settings
    ``before`` are known; what goes back to a default that held already, or that has no effect any
    more, is not said.
    """
    known = {parameter.key: parameter for parameter in method.parameters}
    now = {**(before or {}), **changes}
    parts: list[str] = []
    for key, value in changes.items():
        parameter = known.get(key)
        if value is None and before is not None and key not in before:
            continue
        if value is None and parameter is not None and _without_effect(parameter, known, now):
            continue
        if parameter is None:
            parts.append(msg("{file}: {note}", file=key, note=value))
        elif value is None:
            words = translate("Edits", "{setting}: default")
            parts.append(words.format(setting=_short(said(parameter.label))))
        else:
            label = _short(said(parameter.label))
            old = None if typed or before is None else freeze(before.get(key))
            note = _change(parameter, old, freeze(value), names)
            parts.append(msg("{file}: {note}", file=label, note=note))
    return ", ".join(parts)


def _without_effect(
    parameter: Parameter, known: Mapping[str, Parameter], now: Mapping[str, object]
) -> bool:
    """Whether a form hides a parameter beside these settings."""
    rules = [*parameter.offered, *filter(None, (parameter.applies,))]
    for rule in rules:
        other, value = known.get(rule.key), now.get(rule.key)
        if other is not None and value is None:
            value = other.as_plain(other.default_value())
        if ("" if value is None else str(value)) not in rule.values:
            return True
    return False


_FEW = 3


def _change(parameter: Parameter, old: object, new: object, names: LevelNames) -> str:
    """What is new of a setting: all of it, or what makes a long list or table another one."""
    if isinstance(parameter, StructuredParameter) and parameter.records is not None:
        return _value(parameter, new, names)
    if isinstance(new, Mapping):
        known = old if isinstance(old, Mapping) else {}
        changed = {key: value for key, value in new.items() if known.get(key) != value}
        gone = [key for key in known if key not in new]
        parts = [_added_and_removed([], gone)] if gone else []
        if changed:
            many = len(changed) > _FEW
            parts[:0] = [_listed(list(changed)) if many else _value(parameter, changed, names)]
        return "; ".join(parts)
    if isinstance(old, tuple) and isinstance(new, tuple) and len(new) > _FEW:
        added = [one for one in new if one not in old]
        removed = [one for one in old if one not in new]
        if 0 < len(added) + len(removed) <= _FEW:
            return _added_and_removed(added, removed)
    return _value(parameter, new, names)


def _added_and_removed(added: Sequence[object], removed: Sequence[object]) -> str:
    words = (
        (translate("Edits", "{values} added"), added),
        (translate("Edits", "{values} removed"), removed),
    )
    return ", ".join(text.format(values=_listed(list(which))) for text, which in words if which)


def _value(parameter: Parameter, value: object, names: LevelNames) -> str:
    if isinstance(parameter, ChoiceParameter):
        return _choice(parameter, value) or str(value)
    return value_words(parameter, value, names)


def _choice(parameter: ChoiceParameter, value: object) -> str:
    """The label of a choice, as short as none of the others is."""
    labels = {one.value: said(one.label) for one in parameter.choices}
    label = labels.pop(str(value), "")
    return label if _short(label) in map(_short, labels.values()) else _short(label)


def _short(label: str) -> str:
    return label.partition(":")[0].partition(",")[0]


_SIGNS = {"epsilon": "ε", "rho": "ρ", "k": "k", "l": "ℓ"}
_BUDGETS = ("epsilon", "rho")


def released_words(facts: ReleaseFacts | None) -> str:
    """``ε = 0.5`` or ``k = 5`` as a release states it; empty without one."""
    return "" if facts is None else _first(facts.manifest.guarantee.parameters, tuple(_SIGNS))


def strength_words(work: WorkState) -> str:
    """``k = 5`` or ``ε = 0.5`` as the settings ask for it; empty where they do not say."""
    return _first(work.parameters, tuple(_SIGNS))


def planned_words(method: Method | None, work: WorkState) -> str:
    """The privacy loss of a work whose method draws noise; empty for other methods."""
    if method is None or not method.capabilities.spends:
        return ""
    return _first(work.parameters, _BUDGETS) or translate("Protection", "ε not chosen")


def _first(values: Mapping[str, object], keys: tuple[str, ...]) -> str:
    for key in keys:
        number = exact_number(values.get(key))
        if number is not None:
            return f"{_SIGNS[key]} = {marked(number_text(number))}"
    return ""


DATA, ATTRIBUTES, HIERARCHIES, PROTECT = "data", "attributes", "hierarchies", "protect"
COMPARE, REVIEW = "compare", "review"


@dataclass(frozen=True)
class Missing:
    """Why nothing can be searched yet, and the panel where that can be changed."""

    panel: str
    title: str
    text: str


@dataclass(frozen=True)
class Situation:
    """All of the workbench that decides what the panel shows."""

    has_data: bool
    loading: bool
    columns: tuple[str, ...]
    work: WorkState
    method: Method | None


def what_is_missing(now: Situation) -> Missing | None:
    """What has to be done in another panel before a search can start; None when nothing."""
    if not now.has_data:
        title = translate("Protect", "Open a table of people first")
        text = translate(
            "Protect", "Protection starts from data: a file, or a table of a database."
        )
        if now.loading:
            title = translate("Protect", "The data are being read")
            text = translate("Protect", "The search starts as soon as they are there.")
        return Missing(DATA, title, text)
    if now.method is None:
        return None
    try:
        values = parse_parameters(now.method.parameters, now.work.parameters, "")
        roles = {name: now.work.role(name) for name in now.columns}
        now.method.check(now.columns, roles, values, THE_SETTINGS)
    except InputError as error:
        return None if "key" in error.details else _from_error(error, now.work)
    return None


def _from_error(error: InputError, work: WorkState) -> Missing:
    title = translate("Protect", "Something is missing")
    if not work.with_role(Role.QUASI_IDENTIFIER):
        title = translate("Protect", "Mark at least one quasi-identifier")
    return Missing(place_of(error.code), title, said(error.hint or error.sentence))


def place_of(code: str) -> str:
    """The panel where something can be done about an error or a note with this code."""
    room = code.partition(".")[0]
    if room == "hierarchy":
        return HIERARCHIES
    if room in ("csv", "encoding", "parquet", "source", "storage", "read", "path"):
        return DATA
    return ATTRIBUTES


def unread_words(labels: Sequence[str]) -> str:
    """Why nothing is kept or released while fields say what cannot be used."""
    return translate(
        "Protect",
        "What is written under {settings} cannot be used yet, so nothing is kept or released. "
        "Finish or correct it; what is shown is of the settings before.",
    ).format(settings=", ".join(map(quoted, labels)))


def place_words(panel: str) -> str:
    """Words for the button that leads to a panel."""
    words = {
        DATA: translate("Protect", "Go to Data"),
        ATTRIBUTES: translate("Protect", "Go to Attributes"),
        HIERARCHIES: translate("Protect", "Go to Hierarchies"),
        PROTECT: translate("Protect", "Go to Protect"),
        COMPARE: translate("Protect", "Compare"),
    }
    return words[panel]


def problem_place(problem: JobFailed, method: Method | None) -> str:
    """The panel that can fix a failed search; empty when a value of the form is to blame, or the
    method itself. ``role`` among the details of a problem is one that a column should have.
    """
    if problem.kind not in ("input", "refused") or problem.code == "plan.silent-method":
        return ""
    if "role" in problem.details:
        return ATTRIBUTES
    keys = {parameter.key for parameter in method.parameters} if method is not None else set()
    return "" if problem.details.get("key") in keys else place_of(problem.code)


def trial_lines(trial: Trial) -> list[str]:
    """One line for each column, then one for the rows that would be in no table."""
    lines = [_column(trial, one) for one in trial.found.columns]
    words = translate("Trial", "{mark} Left out: {rows} ({share}). At most {limit} are allowed.")
    found = trial.found
    beyond = trial.share(found.left_out) > trial.limit
    lines.append(
        words.format(
            mark="✕" if beyond else "✓",
            rows=_of(found.left_out, found.rows),
            share=_percent(float(trial.share(found.left_out))),
            limit=_percent(float(trial.limit)),
        )
    )
    return lines


def trial_verdict(trial: Trial) -> str:
    """One sentence for those who are about to spend a budget."""
    if trial.ok:
        return translate("Trial", "✓ Tried on the data: the declared categories cover the rows.")
    worst = max(trial.beyond, key=lambda one: one.rows, default=None)
    if worst is None:
        words = translate("Trial", "✕ Tried on the data: {rows} would be in no table.")
        return words.format(rows=_of(trial.found.left_out, trial.found.rows))
    words = translate(
        "Trial",
        "✕ Tried on the data: {rows} are outside the categories of {column}. The "
        "release would contain mostly noise.",
    )
    return words.format(rows=_of(worst.rows, trial.found.rows), column=worst.column)


def untried_words() -> str:
    """What to say to those who did not try."""
    return translate(
        "Trial",
        "△ The categories were not tried on the data with these settings (Protect): if "
        "they miss the rows, the budget buys only noise.",
    )


def _column(trial: Trial, one: OutsideRows) -> str:
    if not one.rows:
        return translate("Trial", "✓ {column}: no row outside the {n} categories").format(
            column=one.column, n=grouped(one.categories)
        )
    words = translate("Trial", "{mark} {column}: {rows} ({share}) outside the {n} categories")
    if one.taker:
        words = translate(
            "Trial", "{mark} {column}: {rows} ({share}) moved to “{taker}”, one of {n} categories"
        )
    line = words.format(
        mark="✕" if one in trial.beyond else "△",
        column=one.column,
        rows=_of(one.rows, trial.found.rows),
        share=_percent(float(trial.share(one.rows))),
        n=grouped(one.categories),
        taker=one.taker,
    )
    values = ", ".join(f"“{text[:30]}” ({grouped(rows)})" for text, rows in one.values)
    return line + translate("Trial", "; most frequent: {values}").format(values=values)


def _of(some: int, rows: int) -> str:
    return translate("Trial", "{n} of {rows} rows").format(n=grouped(some), rows=grouped(rows))


def _percent(share: float) -> str:
    return translate("Trial", "{number} %").format(number=marked(f"{100 * share:.3g}"))


def cost_words(outlook: Outlook) -> str:
    """The button that releases: ``Release, spends ε = 0.5 of 2``."""
    words = translate("Budget", "Release, spends {cost}")
    if outlook.again:
        words = translate("Budget", "Release again, spends {cost}")
    if outlook.limit:
        words += translate("Budget", " of {limit}")
    return words.format(
        cost=_short_amount(outlook.cost), limit=_amount(outlook.limit, outlook.cost)
    )


def status_words(outlook: Outlook) -> str:
    """The status bar: ``ε 0.5/2``, spent of what may be spent."""
    if not outlook.limit:
        return translate("Budget", "{spent} spent").format(spent=_short_amount(outlook.spent))
    return f"{_short_amount(outlook.spent)}/{_amount(outlook.limit, outlook.spent)}"


def outlook_words(outlook: Outlook) -> str:
    """What is spent, what this costs, what would be left."""
    account = said(outlook.account)
    words = translate("Budget", "{account}: {spent} spent so far. This release costs {cost}.")
    if outlook.refusal:
        words += " ✕ {refusal}"
    elif outlook.left:
        words += translate("Budget", " The total is then {after} of {limit}; {left} left.")
    else:
        words += translate("Budget", " The total is then {after}; no limit is set.")
    return words.format(
        account=f"{account[:1].upper()}{account[1:]}",
        spent=_short_amount(outlook.spent),
        cost=_short_amount(outlook.cost),
        after=_short_amount(outlook.after),
        limit=_short_amount(outlook.limit),
        left=_short_amount(outlook.left),
        refusal=f"{in_window(outlook.refusal)} {in_window(outlook.hint)}".strip(),
    )


def confirm_words(outlook: Outlook) -> str:
    """What the second step before a release says."""
    words = translate(
        "Budget",
        "The noise is drawn once, now. This spends {cost} of the budget of {account} for good, "
        "no matter what becomes of the release.",
    )
    if outlook.again:
        words += translate(
            "Budget", " {spent} were spent before: this is a further release about the same people."
        )
    return words.format(
        cost=_short_amount(outlook.cost),
        account=said(outlook.account),
        spent=_short_amount(outlook.spent),
    )


def _short_amount(text: str) -> str:
    return marked_within(text).replace(" = ", "\u00a0")


def _amount(limit: str, beside: str) -> str:
    """A limit without the sign that stands before it already."""
    sign, _, amount = limit.partition(" = ")
    alike = beside.startswith(sign) and ", " not in limit
    return marked_within(amount) if alike else _short_amount(limit)

"""What the attributes panel shows, says and counts, decided without widgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QCoreApplication

from dpdesk.app.describing import CurrentRisk, current_risk
from dpdesk.app.pseudonyms import list_keys, make_key
from dpdesk.app.types import (
    AppContext,
    ColumnProfile,
    ColumnType,
    DataProfile,
    DataStore,
    Role,
    WorkState,
)
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.source_spec import Coarsened, SourceSpec
from dpdesk.ui.shell import Mark, PanelStatus
from dpdesk.ui.words.numbers import grouped, short_name
from dpdesk.ui.words.settings import role_words, short_share, type_words
from dpdesk.ui.words.spoken import said

translate = QCoreApplication.translate

ROLES = (
    Role.IDENTIFIER,
    Role.QUASI_IDENTIFIER,
    Role.SENSITIVE,
    Role.INSENSITIVE,
    Role.WEIGHT,
    Role.CLUSTER,
)
LETTERS: Mapping[str, Role] = dict(zip("IQSNWC", ROLES, strict=True))
NEARLY_UNIQUE = 0.9
DEFAULT_K = 5
_TOP_SHOWN = 3
_LONGEST_VALUE = 18
_NUMERIC = (ColumnType.INTEGER, ColumnType.DECIMAL)


@dataclass(frozen=True)
class Row:
    """One column of the data as the panel lists it.

    ``role`` is the role that was given, None as long as none was: then the column counts as
    insensitive, and ``suggested`` is what its profile suggests. ``warning`` is empty when there is
    nothing to say. ``pseudonym`` says that it is an identifier that is kept for linkage, ``drawn``
    that no released row has its own value.
    """

    name: str
    role: Role | None
    profile: ColumnProfile | None
    warning: str = ""
    pseudonym: bool = False
    drawn: bool = False

    @property
    def suggested(self) -> Role | None:
        """The role that the profile suggests."""
        return None if self.profile is None else self.profile.suggestion.role

    @property
    def shown(self) -> Role | None:
        """The role on the chip: the given one, else the suggested one."""
        return self.role or self.suggested


def rows_of(
    columns: Sequence[str],
    profile: DataProfile | None,
    work: WorkState,
    drawn: Sequence[str] = (),
    *,
    released: bool = True,
) -> list[Row]:
    """All columns of the data, with what they are and what is wrong with that.

    ``drawn`` are columns of which no value is released; ``released``: rows are, so that columns
    may be released as they are.
    """
    known = {} if profile is None else {column.name: column for column in profile.columns}
    return [
        Row(
            name,
            work.roles.get(name),
            known.get(name),
            warning(work.roles.get(name), known.get(name))
            if released and name not in drawn
            else "",
            work.pseudonym(name) is not None,
            name in drawn,
        )
        for name in columns
    ]


def has_numbers(row: Row) -> bool:
    """Whether a column holds numbers, as far as it was counted."""
    return row.profile is not None and row.profile.type in _NUMERIC


def coarser_source(source: SourceSpec, name: str, numbers: Coarsened | None) -> SourceSpec:
    """The source with other numbers of the column ``name``; None: as they are."""
    others = tuple(each for each in source.coarsen if each[0] != name)
    return replace(source, coarsen=others if numbers is None else (*others, (name, numbers)))


def warning(role: Role | None, profile: ColumnProfile | None) -> str:
    """What is doubtful about a role (None: not decided, so released as it is); empty if nothing."""
    if profile is None:
        return ""
    released = role is None or role is Role.INSENSITIVE
    if released and profile.unique_share >= NEARLY_UNIQUE and profile.rows > 1:
        text = translate(
            "AttributesPanel",
            "{share} of the rows have a value of their own, and the column would be released as it "
            "is.",
        )
        return text.format(share=short_share(profile.unique_share))
    if released and profile.points_to_few:
        text = translate(
            "AttributesPanel",
            "Its {n} values occur in few rows each and may point to people, and the column "
            "would be released as it is.",
        )
        return text.format(n=grouped(profile.distinct))
    if role is Role.INSENSITIVE and profile.suggestion.role is Role.IDENTIFIER:
        return translate(
            "AttributesPanel", "It looks like an identifier, but would be released as it is."
        )
    if role is Role.WEIGHT and profile.type not in _NUMERIC:
        text = translate(
            "AttributesPanel", "A weight must be a number, but the column contains {type}."
        )
        return text.format(type=type_words(profile.type))
    return ""


def filtered(rows: Iterable[Row], text: str) -> list[Row]:
    """The rows whose name, role, type or warning holds every word of ``text``."""
    words = text.casefold().split()
    return [row for row in rows if all(word in _searchable(row) for word in words)]


def _searchable(row: Row) -> str:
    parts = [row.name, "" if row.shown is None else role_words(row.shown), row.warning]
    if row.profile is not None:
        parts += [type_words(row.profile.type), row.profile.label]
    return " ".join(parts).casefold()


def suggestions(rows: Iterable[Row]) -> dict[str, Role]:
    """The suggested roles of the columns that have none yet."""
    return {
        row.name: row.suggested for row in rows if row.role is None and row.suggested is not None
    }


def next_role(row: Row) -> Role:
    """What Space makes of a column: first the suggestion, then the next role in order."""
    if row.role is None:
        return row.suggested or ROLES[0]
    return ROLES[(ROLES.index(row.role) + 1) % len(ROLES)]


def quasi_identifiers(columns: Sequence[str], work: WorkState) -> tuple[str, ...]:
    """The columns tagged as quasi-identifiers, in the order of the data."""
    return tuple(name for name in columns if work.roles.get(name) is Role.QUASI_IDENTIFIER)


def asked_k(work: WorkState) -> int:
    """The smallest group that the work asks for; a usual one when it asks for none."""
    k = work.parameters.get("k")
    return k if isinstance(k, int) and not isinstance(k, bool) and k >= 2 else DEFAULT_K


def line(rows: Sequence[Row], qis: int) -> str:
    """The one sentence below the title."""
    waiting = sum(row.role is None for row in rows)
    if rows and all(row.profile is None for row in rows):
        return translate("AttributesPanel", "Counting values, to suggest what each column is…")
    if waiting == len(rows):
        return translate(
            "AttributesPanel",
            "Nothing is decided yet: dotted roles are suggestions, confirm or change them.",
        )
    if waiting:
        text = translate(
            "AttributesPanel",
            "{decided} of {all} columns are decided, {qis} of them quasi-identifiers; a column "
            "that is not decided counts as insensitive.",
        )
    else:
        text = translate(
            "AttributesPanel", "All {all} columns are decided, {qis} of them quasi-identifiers."
        )
    return text.format(decided=len(rows) - waiting, all=len(rows), qis=qis)


def caution(rows: Sequence[Row], qis: int, *, needed: bool = True) -> str:
    """What is doubtful about the roles as a whole; empty if nothing.

    ``needed``: the method makes rows alike by quasi-identifiers.
    """
    doubtful = [row.name for row in rows if row.role is not None and row.warning]
    parts: list[str] = []
    if len(doubtful) == 1:
        text = translate("AttributesPanel", "{name}: {warning}")
        only = next(row for row in rows if row.name == doubtful[0])
        parts.append(text.format(name=only.name, warning=only.warning))
    elif doubtful:
        text = translate("AttributesPanel", "{count} columns need a second look: {names}.")
        names = ", ".join(doubtful[:4]) + ("…" if len(doubtful) > 4 else "")
        parts.append(text.format(count=len(doubtful), names=names))
    if needed and not qis and any(row.role is not None for row in rows):
        parts.append(
            translate(
                "AttributesPanel",
                "No column is a quasi-identifier, so nothing would be protected: mark what "
                "others may know about a person.",
            )
        )
    return " ".join(parts)


def status(rows: Sequence[Row], qis: int, *, needed: bool = True) -> PanelStatus:
    """What the navigation shows; ``needed`` as of :func:`caution`."""
    if rows and needed and not qis:
        return PanelStatus(Mark.OPEN, translate("AttributesPanel", "mark a quasi-identifier"))
    if any(row.role is not None and row.warning for row in rows):
        return PanelStatus(Mark.ATTENTION, translate("AttributesPanel", "a role is doubtful"))
    if not rows or not needed:
        decided = bool(rows) and all(row.role is not None for row in rows)
        return PanelStatus(Mark.DONE if decided else Mark.OPEN, "")
    text = translate("AttributesPanel", "{count} quasi-identifiers")
    if qis == 1:
        text = translate("AttributesPanel", "{count} quasi-identifier")
    return PanelStatus(Mark.DONE, text.format(count=qis))


def top_text(profile: ColumnProfile) -> str:
    """The most frequent values in one line."""
    shown = [short_name(value.value, _LONGEST_VALUE) for value in profile.top[:_TOP_SHOWN]]
    return ", ".join(shown) + (", …" if profile.distinct > len(shown) else "")


def note(row: Row) -> str:
    """What is doubtful about a column, else why its role is suggested, else what the role does."""
    if row.warning:
        return f"△ {row.warning}" if row.role is not None else row.warning
    if row.role is None:
        waiting = translate("AttributesPanel", "not decided")
        return waiting if row.profile is None else short_reason(row.profile)
    if row.pseudonym:
        return translate("AttributesPanel", "kept as a pseudonym, for linkage")
    if row.drawn:
        return translate("AttributesPanel", "drawn or taken apart, as chosen in Protect")
    return effect(row.role)


def short_reason(profile: ColumnProfile) -> str:
    """Why a role is suggested, without the name of the role, which stands beside it."""
    suggestion = profile.suggestion
    reason = said(suggestion.reason)
    if not suggestion.reason.casefold().startswith(f"{suggestion.role.value}, ".replace("_", "-")):
        return reason
    rest = reason.partition(", ")[2]
    return rest[:1].upper() + rest[1:]


def effect(role: Role) -> str:
    """What a role does to the release, in a few words."""
    words = {
        Role.IDENTIFIER: translate("AttributesPanel", "left out of the release"),
        Role.QUASI_IDENTIFIER: translate("AttributesPanel", "made coarser, to hide people"),
        Role.SENSITIVE: translate("AttributesPanel", "how it is released is chosen in Protect"),
        Role.INSENSITIVE: translate("AttributesPanel", "released as it is"),
        Role.WEIGHT: translate("AttributesPanel", "survey weight, released as it is"),
        Role.CLUSTER: translate("AttributesPanel", "groups rows, such as a household"),
    }
    return words[role]


def meaning(role: Role) -> str:
    """What a role means, in one plain sentence."""
    words = {
        Role.IDENTIFIER: translate(
            "AttributesPanel", "Points to one person by itself, such as a name or a number."
        ),
        Role.QUASI_IDENTIFIER: translate(
            "AttributesPanel",
            "Others may know it, and several of them together may point to one person.",
        ),
        Role.SENSITIVE: translate(
            "AttributesPanel", "What people want kept private, such as a diagnosis or an income."
        ),
        Role.INSENSITIVE: translate(
            "AttributesPanel", "Neither known to others nor private; released as it is."
        ),
        Role.WEIGHT: translate(
            "AttributesPanel", "How many people of the population a row represents."
        ),
        Role.CLUSTER: translate(
            "AttributesPanel", "Which rows belong together, such as those of one household."
        ),
    }
    return words[role]


@dataclass(frozen=True)
class Question:
    """Whose risk is asked: of these data, on these attributes, for groups of ``k``."""

    data: DataStore
    attributes: tuple[str, ...]
    k: int


@dataclass(frozen=True)
class Answered:
    """A question and its answer."""

    question: Question
    risk: CurrentRisk


def count_risk(question: Question, token: CancelToken, report: Report) -> Answered:
    """Count how many rows are alike."""
    asked = question
    return Answered(asked, current_risk(asked.data, asked.attributes, asked.k, token))


@dataclass(frozen=True)
class KeysHere:
    """The names of the keys of pseudonyms on this computer, and the one that was just made."""

    names: tuple[str, ...]
    made: str = ""


def keys_here(
    context: AppContext, token: CancelToken, report: Report, *, made: str = ""
) -> KeysHere:
    """Which keys there are; with ``made``, after making a key of this name.

    Raises InputError, StorageError.
    """
    if made:
        make_key(context, made, report)
    names = tuple(each.name for each in list_keys(context) if not each.problem)
    return KeysHere(names, made)

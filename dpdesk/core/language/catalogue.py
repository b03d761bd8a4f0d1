"""Catalogues of translations: gettext PO files below ``resources/translations/<language>``.

``pages.po`` holds the words of pages, ``texts.po`` sentences that the program makes (and so does
every ``texts-….po``), ``window.po`` the words of the window. ``forms.po`` says some of the
sentences once more for the window, which has controls in the place of the keys of a plan. A message
with typed placeholders is a :class:`~dpdesk.core.language.templates.Template`.
"""

from __future__ import annotations

import gettext
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from io import BytesIO

from dpdesk.core.errors import StorageError
from dpdesk.core.language.numbers import NumberMarks
from dpdesk.core.language.templates import Template, bare_of, placeholders
from dpdesk.core.messages import msg
from dpdesk.core.resources import resource_files, resource_root

ENGLISH = "en"
PAGES, TEXTS, WINDOW, FORMS = "pages", "texts", "window", "forms"
_FOLDER = "translations"
_THIN_SPACE = "\u202f"


@dataclass(frozen=True)
class Catalogue:
    """All messages of one language.

    ``plain`` maps English texts to translated ones; ``plurals`` the English singular to all forms;
    ``plural_form`` chooses among them by a count. ``counted`` are those with typed placeholders, by
    their English forms without the kinds. ``templates`` are ordered, most specific first.
    """

    language: str
    plain: Mapping[str, str]
    templates: tuple[Template, ...] = ()
    plurals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    counted: Mapping[tuple[str, str], tuple[Template, ...]] = field(default_factory=dict)
    plural_form: Callable[[int], int] = field(default=lambda count: int(count != 1))
    marks: NumberMarks = field(default_factory=NumberMarks)

    @cached_property
    def framed(self) -> Mapping[tuple[str, ...], tuple[Template, ...]]:
        """The templates by their fixed parts, in the same order."""
        found: dict[tuple[str, ...], tuple[Template, ...]] = {}
        for template in self.templates:
            found[template.frame] = (*found.get(template.frame, ()), template)
        return found


def languages() -> tuple[str, ...]:
    """The languages that there are, English first."""
    folder = resource_root().joinpath(_FOLDER)
    found = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    others = [name for name in sorted(found) if resource_files(f"{_FOLDER}/{name}", ".po")]
    return (ENGLISH, *others)


@cache
def read_catalogue(language: str, parts: tuple[str, ...]) -> Catalogue:
    """The catalogue of a language from these parts, such as ``("pages", "texts")``.

    What a later part says goes before what an earlier one says of the same message. Parts that the
    language lacks are empty; fuzzy and untranslated messages count as lacking.
    StorageError ``resources.missing`` when there are no resources at all, ``resources.catalogue``
    for a file that cannot be read.
    """
    files = resource_files(f"{_FOLDER}/{language}", ".po")
    wanted = [entry for part in parts for entry in files if part_of(entry.name) == part]
    try:
        return catalogue_from(language, [entry.read_bytes() for entry in wanted])
    except ValueError as error:
        raise StorageError(
            "resources.catalogue",
            msg(
                "The translations to `{language}` that come with DPDesk cannot be read: {error}.",
                language=language,
                error=error,
            ),
            hint="Install DPDesk again.",
        ) from error


def part_of(name: str) -> str:
    """The part that a file belongs to: ``texts-io.po`` is one of ``texts``."""
    return name.removesuffix(".po").partition("-")[0]


def catalogue_from(language: str, files: Sequence[bytes]) -> Catalogue:
    """The catalogue that PO files make. ValueError for one that cannot be read."""
    from babel import Locale
    from babel.messages.pofile import PoFileError, read_po

    plain: dict[str, str] = {}
    plurals: dict[str, tuple[str, ...]] = {}
    counted: dict[tuple[str, str], tuple[Template, ...]] = {}
    finished: list[Template] = []
    form: Callable[[int], int] = gettext.c2py("n != 1")
    for content in files:
        try:
            read = read_po(BytesIO(content), locale=language, abort_invalid=True)
        except PoFileError as error:
            raise ValueError(f"a catalogue of {language} cannot be read: {error}") from error
        form = gettext.c2py(read.plural_expr)
        for entry in read:
            if not entry.id or entry.fuzzy:
                continue
            if isinstance(entry.id, tuple | list):
                forms = tuple(map(str, entry.string or ()))
                if forms and all(forms):
                    one, many = map(str, entry.id)
                    plurals[one] = forms
                    if placeholders(many):
                        made = tuple(Template(many, other) for other in forms)
                        counted[bare_of(one), bare_of(many)] = made
                        finished += [Template(one, forms[0]), Template(many, forms[-1])]
            elif entry.string:
                plain[str(entry.id)] = str(entry.string)
    decimal = Locale.parse(language).number_symbols["latn"]["decimal"]
    return Catalogue(
        language,
        plain,
        _templates(plain, finished),
        plurals,
        counted,
        form,
        NumberMarks(decimal, _THIN_SPACE),
    )


def _templates(plain: Mapping[str, str], counted: Sequence[Template]) -> tuple[Template, ...]:
    made = [Template(english, other) for english, other in plain.items() if placeholders(english)]
    return tuple(sorted([*made, *counted], key=lambda one: one.weight, reverse=True))

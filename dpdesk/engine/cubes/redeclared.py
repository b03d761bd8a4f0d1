"""Whether the domains of a released cube are those that its plan and hierarchies declare.

The plan, its builders and the hierarchies by value lie in the agency's part of a release, so this
can be told there alone. What a hierarchy declares is a definition, not a search, so it is read by
the same code as in the design.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpdesk.core.errors import InputError
from dpdesk.core.published import CheckStatus, ClaimCheck
from dpdesk.engine.cubes.declaring import declared_of
from dpdesk.engine.cubes.stating import settings_of
from dpdesk.engine.private.declared import DeclaredDomain, stated_rows
from dpdesk.engine.private.method import PrivateInput

MANIFEST = "manifest.json"
_CLAIM = "domains of hierarchies"
_LABEL = "Categories are those that the plan and its hierarchies declare"


def declared_check(manifest: Mapping[str, object], given: PrivateInput | None) -> list[ClaimCheck]:
    """Compare categories, their order, and where other texts go; none when the plan lists them all.

    Without ``given`` (the public part alone) only what the parameters list could be compared, and
    the check says so. Malformed manifests raise ValueError, TypeError, KeyError or InputError.
    """
    settings = settings_of(manifest)
    result = manifest["result"]
    if not isinstance(result, Mapping):
        raise TypeError("expected a table")
    names = (*settings.dimensions, *settings.extra)
    unlisted = [name for name in names if name not in settings.domains]
    if given is None:
        if not unlisted:
            return []
        found = f"the hierarchies of {', '.join(unlisted)} lie in the internal part"
        return [ClaimCheck(_CLAIM, CheckStatus.NEEDS_SOURCE, found, MANIFEST, _LABEL)]
    try:
        declared = declared_of(settings, given, settings.dimensions)
        extra = declared_of(settings, given, settings.extra)
    except InputError as error:
        return [ClaimCheck(_CLAIM, CheckStatus.FAILED, error.sentence, MANIFEST, _LABEL)]
    if stated_rows(extra).get("counted_by") != result.get("counted_by"):
        found = "the rows that count are chosen by other categories than the plan declares"
        return [ClaimCheck(_CLAIM, CheckStatus.FAILED, found, MANIFEST, _LABEL)]
    return [_compared(result, declared)]


def _compared(result: Mapping[str, object], declared: DeclaredDomain) -> ClaimCheck:
    stated = result["domains"]
    if not isinstance(stated, list):
        raise TypeError("expected a list")
    for item, expected in zip(stated, declared.domain.as_json(), strict=True):
        if item != expected:
            found = f"the categories of `{expected['dimension']}` are others, or in another order"
            return ClaimCheck(_CLAIM, CheckStatus.FAILED, found, MANIFEST, _LABEL)
    if result["outside"] != declared.elsewhere():
        found = "texts without a category go elsewhere than the plan says"
        return ClaimCheck(_CLAIM, CheckStatus.FAILED, found, MANIFEST, _LABEL)
    if result.get("rollups", declared.rollups()) != declared.rollups():
        found = "the levels to roll up to are others than the plan's hierarchies declare"
        return ClaimCheck(_CLAIM, CheckStatus.FAILED, found, MANIFEST, _LABEL)
    found = "declared again from the plan in the evidence, the same"
    return ClaimCheck(_CLAIM, CheckStatus.CONFIRMED, found, MANIFEST, _LABEL)

"""What the pages of a cube say about its exact tables, and the attack that fails on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

from dpdesk.core.language import message as m
from dpdesk.core.language import voice
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.release import Manifest
from dpdesk.core.shapes import as_float, as_list, as_table
from dpdesk.engine.cubes.exact.attack import Attack, averaging_attack
from dpdesk.engine.cubes.mechanism import RowEffect
from dpdesk.engine.cubes.parameters import PARAMETERS
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.guarantee_words import converted
from dpdesk.report.pages import figure
from dpdesk.verifiers.cubes.exact_claim import ExactClaim, exact_claim
from dpdesk.verifiers.noise import gaussian_variance, laplace_variance

_MOST_DIMENSIONS = 12
_MOST_NAMED = 20


@dataclass(frozen=True)
class AttackLine:
    """One figure of the attack, with plain noise and with that of the release."""

    label: str
    plain: str
    calibrated: str


@dataclass(frozen=True)
class AveragedLine:
    """A table: ± of a cell from one noisy table, and after averaging, for both kinds of noise."""

    name: str
    plain_single: str
    plain_averaged: str
    single: str
    averaged: str


@dataclass(frozen=True)
class ExactWords:
    """The exact part of a cube as its readers see it.

    ``lines`` and ``tables`` are the attack; there is none where noise for one person is enough, and
    beyond twelve dimensions it is left out. Beside single exact cells there are no ``tables``.
    """

    names: tuple[str, ...]
    change: int
    lines: tuple[AttackLine, ...]
    tables: tuple[AveragedLine, ...]


def exact_words(manifest: Manifest) -> ExactWords | None:
    """The words for a manifest of a cube; None when nothing of it is exact."""
    result, parameters = manifest.result, manifest.parameters
    if "exact" not in result:
        return None
    listed = [as_table(item) for item in as_list(result["domains"])]
    categories = {str(d["dimension"]): tuple(map(str, as_list(d["categories"]))) for d in listed}
    replace = parameters["neighbours"] == "replace"
    claim = exact_claim(parameters.get("exact"), categories, replace=replace)
    if claim is None:
        return None
    change = int(as_float(as_table(result["exact"])["minimal_change"]))
    names = _exact_names(result)
    if len(categories) > _MOST_DIMENSIONS or change <= (2 if replace else 1):
        return ExactWords(names, change, (), ())
    attack = _attack(result, parameters, categories, claim, change)
    # Single exact cells have no part in the closed form that the lines of tables come from.
    single = any(as_table(item).get("exact_cells") for item in as_list(result["cuboids"]))
    tables = () if single else _tables(attack, tuple(categories))
    return ExactWords(names, change, attack_lines(attack), tables)


def _exact_names(result: Mapping[str, object]) -> tuple[str, ...]:
    """Exact tables, and tables with exact cells, as people read them."""
    found = []
    for item in map(as_table, as_list(result["cuboids"])):
        name = " × ".join(map(str, as_list(item["dimensions"]))) or voice().text("grand total")
        cells = as_list(item.get("exact_cells", []))
        if item.get("exact") is True:
            found.append(name)
        elif cells:
            shown = ", ".join("/".join(map(str, as_list(cell))) for cell in cells[:_MOST_NAMED])
            if len(cells) > _MOST_NAMED:
                left = len(cells) - _MOST_NAMED
                shown = voice().text("{shown} and {n} more", shown=shown, n=left)
            words = voice().counted(
                len(cells),
                "{n} cell of {table} ({cells})",
                "{n} cells of {table} ({cells})",
                table=name,
                cells=shown,
            )
            found.append(words)
    return tuple(found)


@dataclass(frozen=True)
class PlayedAttack:
    """The attack on a true count, for the reviewer; errors are means over ``attacks``."""

    cell: str
    true: int
    attacks: int
    lines: tuple[AttackLine, ...]


def played_attack(manifest: Manifest, result: Mapping[str, object]) -> PlayedAttack | None:
    """The attack as the internal result holds it; None when it was not played."""
    found = result.get("attack")
    if not isinstance(found, Mapping) or not found:
        return None
    domains = {
        str(as_table(item)["dimension"]): as_list(as_table(item)["categories"])
        for item in as_list(manifest.result["domains"])
    }
    names = [str(name) for name in as_list(found["table"])]
    places = [int(as_float(place)) for place in as_list(found["cell"])]
    texts = [str(domains[name][place]) for name, place in zip(names, places, strict=True)]
    cell = voice().text("the grand total")
    if names:
        cell = voice().text("{cell} in {table}", cell="/".join(texts), table=" × ".join(names))
    labels = ((m("One noisy number, off by"), "one"), (m("After averaging, off by"), "averaged"))
    lines = tuple(
        AttackLine(
            voice().text(label),
            _number(as_float(found[f"plain_{key}"])),
            _number(as_float(found[f"here_{key}"])),
        )
        for label, key in labels
    )
    return PlayedAttack(cell, int(as_float(found["true"])), int(as_float(found["attacks"])), lines)


def _attack(
    result: Mapping[str, object],
    parameters: Mapping[str, object],
    categories: Mapping[str, tuple[str, ...]],
    claim: ExactClaim,
    change: int,
) -> Attack:
    settings = CubeSettings.from_parameters(
        parse_parameters(PARAMETERS, parameters, "the manifest"), "the manifest"
    )
    order = list(categories)
    pure = "epsilon" in parameters
    loss = float(settings.budget)
    usual = RowEffect(1, 1, 1, settings.replace).of_cuboid()
    if pure:
        plain = float(usual.l1) / change
        more = loss / plain
    else:
        squared = change**2 / (2 if claim.fixed else 1)
        plain = sqrt(float(usual.l2_squared) / squared)
        more = converted(loss / plain**2, float(settings.delta))
        loss = converted(loss, float(settings.delta))
    scales = [as_float(scale) for scale in as_list(result["scales"])]
    return averaging_attack(
        [len(texts) for texts in categories.values()],
        [_mask(names, order) for names in claim.everything],
        [_mask(as_list(names), order) for names in as_list(result["noise_sources"])],
        [deviation_of(scale, pure) for scale in scales],
        [_mask(as_list(as_table(c)["dimensions"]), order) for c in as_list(result["cuboids"])],
        readings=change,
        plain=deviation_of(plain * max(scales), pure) / deviation_of(max(scales), pure),
        loss=loss,
        plain_loss=more,
    )


def deviation_of(scale: float, pure: bool) -> float:
    """The standard deviation of whole numbers of noise, as the tables state it too."""
    return sqrt(laplace_variance(scale) if pure else gaussian_variance(scale))


def attack_lines(attack: Attack) -> tuple[AttackLine, ...]:
    """The figures of an attack, with plain noise and with that of a release."""
    say = voice()
    return (
        AttackLine(
            say.text("One noisy number, ±"), _number(attack.plain_single), _number(attack.single)
        ),
        AttackLine(
            say.text("The mean of {n}, ±", n=attack.readings),
            _number(attack.plain_mean),
            _number(attack.mean),
        ),
        AttackLine(say.text("Odds can change by"), _odds(attack.plain_odds), _odds(attack.odds)),
        AttackLine(
            say.text("A chance of 50 % can become"),
            figure(attack.plain_surer, "share"),
            figure(attack.surer, "share"),
        ),
    )


def _tables(attack: Attack, order: tuple[str, ...]) -> tuple[AveragedLine, ...]:
    return tuple(
        AveragedLine(
            " × ".join(name for i, name in enumerate(order) if one.cuboid >> i & 1)
            or voice().text("grand total"),
            _number(one.plain_single),
            _number(one.plain_averaged),
            _number(one.single),
            _number(one.averaged),
        )
        for one in attack.tables
    )


def _odds(value: float | None) -> str:
    if value is None or value >= 1e6:
        return voice().text("more than ×{n}", n=1_000_000)
    return f"×{figure(value, 'number')}"


def _number(value: float) -> str:
    return figure(value, "number")


def _mask(names: object, order: list[str]) -> int:
    return sum(1 << i for i, name in enumerate(order) if name in set(_names(names)))


def _names(names: object) -> list[str]:
    return [str(name) for name in names] if isinstance(names, list | tuple | frozenset) else []

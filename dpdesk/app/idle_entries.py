"""What the plan of a release says of columns and its method does not use: nobody can check it.

Such an entry changes nothing in the release, so neither the source nor the files show whether it
was changed since. It stays allowed, because roles and hierarchies belong to columns and outlast a
change of the method; checking names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dpdesk.app.page_checks import recorded_hierarchies
from dpdesk.core.errors import InputError
from dpdesk.core.messages import listed, msg
from dpdesk.core.parameters import ParameterValue, parse_parameters
from dpdesk.core.plain import quoted
from dpdesk.core.plan import HierarchyFile, Plan
from dpdesk.core.release import CheckStatus, ClaimCheck, Manifest
from dpdesk.core.schema import Role
from dpdesk.core.shapes import as_list, as_table
from dpdesk.engine.method import Method
from dpdesk.engine.private.method import PrivateMethod
from dpdesk.engine.registry import noise_of
from dpdesk.io.release_folder import EVIDENCE, INTERNAL
from dpdesk.verifiers.declared import Declarations

IDLE_CLAIM = "what the plan says of columns and this method does not use"
PLACE = f"{INTERNAL}/{EVIDENCE}"
_WHERE = "the plan in the evidence"


def idle_check(
    manifest: Manifest, evidence: Mapping[str, object], method: Method
) -> list[ClaimCheck]:
    """The claim that names such entries; empty where the method uses all that the plan says.

    The release must have passed its other checks. Raises what malformed evidence raises.
    """
    plan, values = _read(evidence, method)
    columns = [str(name) for name in as_list(as_table(evidence["source"])["columns"])]
    hierarchies = _idle_hierarchies(manifest, evidence, method, plan, values)
    noisy, parts = noise_of(method), []
    if noisy is not None:
        parts.append(msg("the roles of columns, but for whose rows belong together"))
    elif roles := _idle_roles(manifest, method, plan, values, columns):
        parts.append(msg("the roles of {columns}", columns=", ".join(map(quoted, roles))))
    if hierarchies:
        names = ", ".join(map(quoted, hierarchies))
        parts.append(msg("the hierarchies of {columns}", columns=names))
    if not parts:
        return []
    found = msg(
        "only recorded: they change nothing in the release, so it does not show whether they were "
        "changed: {parts}",
        parts=listed(parts),
    )
    return [ClaimCheck(IDLE_CLAIM, CheckStatus.NOT_CHECKABLE, found, PLACE)]


def lacking_rows(evidence: Mapping[str, object], method: Method) -> Iterator[str]:
    """Hierarchy files that the method reads and of which the evidence keeps no rows.

    What cannot be read of them is said elsewhere. Raises what malformed evidence raises.
    """
    try:
        plan, values = _read(evidence, method)
        kept = recorded_hierarchies(as_table(evidence["hierarchies"]))
    except InputError:
        return
    for name, spec in plan.attributes.items():
        reads = noise_of(method) is not None or _uses(method, plan, values, name)
        if reads and isinstance(spec.hierarchy, HierarchyFile) and name not in kept:
            yield msg(
                "`hierarchies` has no rows of the file that the plan names for `{name}`", name=name
            )


def _read(evidence: Mapping[str, object], method: Method) -> tuple[Plan, dict[str, ParameterValue]]:
    plan = Plan.from_plain(as_table(evidence["plan"]), _WHERE)
    return plan, parse_parameters(method.parameters, plan.protection.parameters, _WHERE)


def _uses(method: Method, plan: Plan, values: Mapping[str, ParameterValue], name: str) -> bool:
    """Whether a method that releases rows or cells uses the hierarchy of a column."""
    roles = {column: spec.role for column, spec in plan.attributes.items()}
    return method.effective_roles(roles, values)[name] in method.roles_with_hierarchy(values)


def _idle_hierarchies(
    manifest: Manifest,
    evidence: Mapping[str, object],
    method: Method,
    plan: Plan,
    values: Mapping[str, ParameterValue],
) -> list[str]:
    given = [name for name, spec in plan.attributes.items() if spec.hierarchy is not None]
    noisy = noise_of(method)
    if noisy is None:
        return [name for name in given if not _uses(method, plan, values, name)]
    used = _looked_at(manifest, evidence, noisy, plan)
    return [name for name in given if name not in used]


def _looked_at(
    manifest: Manifest, evidence: Mapping[str, object], method: PrivateMethod, plan: Plan
) -> set[str]:
    """Columns of whose hierarchies the verifier reads, and those that decide which rows count."""
    declared = Declarations(
        as_table(as_table(evidence["plan"]).get("attributes") or {}),
        as_table(evidence["hierarchies"]),
    )
    method.verify_declared(manifest, declared)
    settings = plan.protection.parameters
    levels, domains = (as_table(settings.get(key) or {}) for key in ("levels", "domains"))
    counted = {name for name in domains if name in declared.hierarchies}
    return {*declared.used, *counted, *(name for name, level in levels.items() if level)}


def _idle_roles(
    manifest: Manifest,
    method: Method,
    plan: Plan,
    values: Mapping[str, ParameterValue],
    columns: Sequence[str],
) -> list[str]:
    """Columns whose role the settings replace, or that the guarantee lists whatever it is."""
    stated = manifest.guarantee.parameters
    apart = stated.get("separated", stated.get("drawn"))
    drawn = {str(name) for name in apart} if isinstance(apart, list | tuple) else set()
    roles = plan.column_roles(columns)
    whole = method.effective_roles(roles, values)

    def settled(name: str) -> bool:
        """Whether the settings say what the column is, so that a role that fits says nothing."""
        without = method.effective_roles({**roles, name: Role.INSENSITIVE}, values)
        return without[name] is not Role.INSENSITIVE and without == whole

    return [
        name for name in columns if name in plan.attributes and (name in drawn or settled(name))
    ]

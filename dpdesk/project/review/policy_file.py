"""Where policies come from: a file, the agency's place on this computer, or the built-in one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.io.tomlfile import is_json, line_of, parse_settings, read_settings_text, too_deep
from dpdesk.project.review.policy import BUILT_IN, Policy

AGENCY_POLICY = "policy.toml"
_HINT = 'Texts are written in quotes, such as title = "Public use files".'


@dataclass(frozen=True)
class AgencyPolicy:
    """The policy that holds on this computer; ``path`` is None for the built-in one."""

    policy: Policy
    path: Path | None

    @property
    def given(self) -> Policy | None:
        """The agency's own policy; None where the built-in one holds."""
        return None if self.path is None else self.policy


def read_policy(path: Path) -> Policy:
    """Read and check a policy file: TOML, or JSON of the same shape.

    Raises
    ------
    StorageError
        ``policy.unreadable``.
    InputError
        ``policy.syntax``, ``policy.encoding``, ``policy.nul``, and what :meth:`Policy.from_plain`
        raises. Each sentence starts with the path or the file's name and gives the line where it is
        known.
    """
    text = read_settings_text(path, "policy")
    raw = parse_settings(text, path, "policy", _HINT)
    try:
        return Policy.from_plain(raw, path.name)
    except RecursionError:
        raise too_deep(path.name, "policy") from None
    except InputError as error:
        raise _with_line(error, path, text) from None


def agency_policy(home: Path) -> AgencyPolicy:
    """The policy below ``home`` when there is one, else the built-in one.

    Raises what :func:`read_policy` raises: a policy that cannot be read is never passed over.
    """
    path = home / AGENCY_POLICY
    if not path.is_symlink() and not path.exists():
        return AgencyPolicy(BUILT_IN, None)
    return AgencyPolicy(read_policy(path), path)


def _with_line(error: InputError, path: Path, text: str) -> InputError:
    keys = error.details.get("path")
    if is_json(path, text) or not isinstance(keys, tuple):
        return error
    line = line_of(text, [str(key) for key in keys])
    if line is None or not error.sentence.startswith(path.name):
        return error
    sentence = msg(
        "{name}, line {line}{sentence}",
        name=path.name,
        line=line,
        sentence=error.sentence[len(path.name) :],
    )
    details = {**error.details, "line": line}
    return InputError(error.code, sentence, hint=error.hint, details=details)

"""The guide is what the program says of itself."""

from __future__ import annotations

from dpdesk.app.guide import method_guide
from dpdesk.core.resources import resource
from dpdesk.engine.methods.registered import default_registry


def test_the_bundled_guide_is_the_one_that_the_registry_writes() -> None:
    """Write it again with ``python -m dpdesk.app.guide > resources/docs/methods.md``."""
    written = resource("docs/methods.md").read_text(encoding="utf-8")
    assert written == method_guide(default_registry())


def test_the_guide_names_every_key_of_every_method() -> None:
    guide = method_guide(default_registry())
    for method in default_registry():
        assert all(f"| `{parameter.key}`" in guide for parameter in method.parameters)

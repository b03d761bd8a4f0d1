"""The content of one page inside another: what a page of ours may hold, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from dpdesk.report.page_tree import Node, parse_page

TAGS = frozenset(
    """section header h1 h2 h3 p ul ol li dl dt dd div span strong code bdi
    table caption thead tbody tr th td figure figcaption details summary
    svg title desc defs pattern g line rect path circle text""".split()  # noqa: SIM905
)
DRAWN = frozenset(
    """x y x1 y1 x2 y2 cx cy r d width height viewbox patternunits fill stroke stroke-width opacity
    stroke-dasharray text-anchor font-weight font-size font-family style xmlns role
    """.split()  # noqa: SIM905
)
WRITTEN = frozenset({"class", "scope", "id", "aria-labelledby", "lang"})
_SPELT = {"viewbox": "viewBox", "patternunits": "patternUnits"}


def content_of(page: bytes, prefix: str) -> str:
    """The content of a page as markup that can stand in another one.

    Elements and attributes that no page of ours has are refused (ValueError), so that nothing
    active comes in with a page from elsewhere. All ids get the prefix.
    """
    main = parse_page(page).find("main")
    if main is None:
        raise ValueError("the page has no content")
    return "".join(_markup(main, prefix))


def _markup(node: Node, prefix: str) -> Iterator[str]:
    for child in node.children:
        if isinstance(child, str):
            yield escape(child, quote=False)
            continue
        if child.tag not in TAGS:
            raise ValueError(f"a page holds <{child.tag}>, which cannot be taken over")
        yield f"<{child.tag}{''.join(_attributes(child, prefix))}>"
        yield from _markup(child, prefix)
        yield f"</{child.tag}>"


def _attributes(node: Node, prefix: str) -> Iterator[str]:
    for name, value in node.attributes.items():
        if name not in DRAWN and name not in WRITTEN:
            raise ValueError(f"<{node.tag}> has the attribute `{name}`, which cannot be taken over")
        if name == "id":
            value = f"{prefix}{value}"
        elif name == "aria-labelledby":
            value = " ".join(f"{prefix}{part}" for part in value.split())
        elif "url(" in value:
            if not value.replace("fill:", "", 1).startswith("url(#"):
                raise ValueError(f"<{node.tag}> refers to something outside the page")
            value = value.replace("url(#", f"url(#{prefix}")
        yield f' {_SPELT.get(name, name)}="{escape(value)}"'

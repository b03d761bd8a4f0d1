"""XML documents: texts that XML cannot hold made visible, and bytes that are always the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree as Xml

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def visible(text: str) -> str:
    """The text with the picture ``␀``, ``␁``, … of each character that XML 1.0 does not allow."""
    return _FORBIDDEN.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    place = ord(match[0])
    return chr(0x2400 + place) if place < 0x20 else "\ufffd"


def document_bytes(root: Xml.Element, prefixes: Mapping[str, str]) -> bytes:
    """The document in UTF-8, indented; ``prefixes`` are of this document alone."""
    for prefix, name in prefixes.items():
        Xml.register_namespace(prefix, name)
    Xml.indent(root)
    found: bytes = Xml.tostring(root, encoding="utf-8", xml_declaration=True)
    # Every reader takes a bare carriage return for an end of line (XML 1.0, 2.11).
    return found.replace(b"\r", b"&#13;") + b"\n"

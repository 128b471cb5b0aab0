"""Text of XML elements. A tree of objects, as lxml makes it, takes several times as long for many variables."""

import re
from collections.abc import Mapping

DECLARATION = "<?xml version='1.0' encoding='UTF-8'?>\n"

_SPECIAL = re.compile(r'[&<>"\n\t\r]')
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}


def element(level: int, tag: str, attributes: Mapping[str, str], children: str = "") -> str:
    """The lines of an element, `level` steps deep; children: the lines of its children."""
    indent = "  " * level
    if _SPECIAL.search("".join(attributes.values())):
        attributes = {name: _SPECIAL.sub(lambda found: _ESCAPES[found[0]], v) for name, v in attributes.items()}
    parts = [f' {name}="{value}"' for name, value in attributes.items()]
    start = f"{indent}<{tag}{''.join(parts)}"
    return f"{start}>\n{children}{indent}</{tag}>\n" if children else f"{start}/>\n"

"""Reads XML of robots, which may be malformed or hostile.

libxml2 repairs what is malformed, and tells each repair. Entities and document types are refused before it parses, by
text that is decoded here, so that no encoding hides them; nothing is fetched.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fmumbs._tables import number
from fmumbs.errors import ModelError

MOST_BYTES = 32 * 2**20
MOST_MARKS = 2_000_000  # of < and =: tags and attributes, of which each takes some 100 bytes when read
_MOST_REPAIRS = 20  # that are told one by one

_DECLARATION = re.compile(r"\A\s*<\?xml\b[^>]*\?>")
_FORBIDDEN = re.compile(r"<!\s*(DOCTYPE|ENTITY)", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s,;]+")
_CUT_OFF = {"ERR_TAG_NOT_FINISHED", "ERR_GT_REQUIRED", "ERR_LTSLASH_REQUIRED", "ERR_ATTRIBUTE_NOT_FINISHED"}

Repair = tuple[int, str]  # the line, and what was wrong there


def read_bytes(path: Path) -> bytes:
    """The contents of a file. Raises ModelError for one that cannot be read or is too large."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ModelError(f"'{path}' has more than {MOST_BYTES} bytes, which no robot needs. Leave data out of it.")
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"'{path}' cannot be read: {error.strerror or error}. Give a file.") from None


def parse(path: Path, data: bytes) -> tuple[Any, list[Repair]]:
    """The root element (lxml), and what was repaired. path: for messages.

    Raises ModelError for what is not XML, ends early, is too large, or declares a document type.
    """
    from lxml import etree

    text = _DECLARATION.sub(lambda match: "\n" * match[0].count("\n"), _decoded(data)).replace("\0", "")
    if _FORBIDDEN.search(_without_comments(text)):
        raise ModelError(f"'{path}' declares a document type or entities, which are not read. Write the text itself.")
    if text.count("<") + text.count("=") > MOST_MARKS:
        raise ModelError(f"'{path}' has more than {MOST_MARKS} tags and attributes. Leave data out of it.")
    parser = etree.XMLParser(
        encoding="utf-8", recover=True, resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError) as error:
        raise ModelError(f"'{path}' is not XML ({error}). Give a robot's file.") from None
    if root is None:
        raise ModelError(f"'{path}' is not XML: it has no element. Give a robot's file.")
    log = list(parser.error_log)
    last = text.rstrip().count("\n") + 1
    if any(entry.type_name in _CUT_OFF and entry.line >= last for entry in log):
        raise ModelError(f"'{path}', line {last}, ends within an element: it is cut off. Get it again.")
    return root, _repairs(log)


def _repairs(log: list[Any]) -> list[Repair]:
    found = list(dict.fromkeys((entry.line, entry.message.strip()) for entry in log))
    rest = len(found) - _MOST_REPAIRS
    return found if rest <= 0 else [*found[:_MOST_REPAIRS], (found[_MOST_REPAIRS][0], f"{rest} more like these")]


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _without_comments(text: str) -> str:
    """A comment that does not end hides nothing."""
    return re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)


def tag(element: Any) -> str:
    """Its name without a prefix or a namespace."""
    name = str(element.tag)
    return name.rpartition("}")[2].rpartition(":")[2]


def prefixed(element: Any) -> bool:
    """Whether its name has a prefix, declared or not: an extension by some tool."""
    return element.prefix is not None or ":" in str(element.tag).rpartition("}")[2]


def children(element: Any, name: str | None = None) -> Iterator[Any]:
    """The child elements of that name, or all."""
    for child in element:
        if isinstance(child.tag, str) and (name is None or (tag(child) == name and not prefixed(child))):
            yield child


def repaired_numbers(text: str, count: int) -> tuple[list[float], str]:
    """`count` finite numbers that spaces or commas separate, and what was changed, "" for nothing.

    Zeros stand for numbers that are missing at the end, as in "1.57,"; numbers beyond the count, and a point or an f
    behind a number, are left out. Raises ValueError, with the reason, for any other text.
    """
    words = [word for word in _SEPARATORS.split(text.strip()) if word]
    if not words:
        raise ValueError("has no number")
    changes, found = [], []
    for word in words[:count]:
        try:
            found.append(number(word))
        except ValueError:
            found.append(number(word.rstrip(".fF")))
            changes.append(f"'{word[:30]}' is read as {found[-1]:g}")
    if not all(math.isfinite(value) for value in found):
        raise ValueError("has a number that is not finite")
    if len(words) < count:
        changes.append("is completed by zeros")
    if len(words) > count:
        changes.append(f"has {len(words)} numbers, of which the first {count} are taken")
    return found + [0.0] * (count - len(found)), ", ".join(changes)

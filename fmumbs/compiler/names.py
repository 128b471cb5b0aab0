"""Names of an image's elements and of their variables.

The name of a variable is OWNER.suffix or OWNER.suffix[i], i from 1; variables of the model have no owner. A name
without [i] means all components of a vector.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs.compiler.kinds import BODY, MODEL, OWNERS, POINT, Kind, Listing, kinds, kinds_called, ordinary_kinds
from fmumbs.compiler.layout import Arrays, text_at

_FEW = 500  # up to this many names are all compared with a misspelled one
_NEIGHBOURS = 40  # of more names, this many before and after it in alphabetical order
_CLOSEST = 3  # elements whose variables are compared with a misspelled one
_COMPONENT = re.compile(r"\[([1-9][0-9]*)\]\Z")


class Place(NamedTuple):
    """One row of the table of variables; component: -1 for a scalar."""

    kind: int
    element: int
    component: int


class Address(NamedTuple):
    """A parsed name: the possible kinds, the element, and the component or None for all."""

    kinds: tuple[Kind, ...]
    element: int
    component: int | None


def split_component(name: str) -> tuple[str, int | None]:
    """The name of the vector and the 0-based component: ("B.r", 0) for "B.r[1]", ("A.q", None) for "A.q"."""
    match = _COMPONENT.search(name)
    return (name[: match.start()], int(match[1]) - 1) if match else (name, None)


def by_name(named: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    """Value references by name, and by the stem of names with [i], in the order of i."""
    found: dict[str, list[int]] = {}
    parts: dict[str, list[tuple[int, int]]] = {}
    for name, index in named:
        found.setdefault(name, []).append(index)
        stem, component = split_component(name)
        if component is not None:
            parts.setdefault(stem, []).append((component, index))
    return {stem: [index for _, index in sorted(of)] for stem, of in parts.items()} | found


def nearest(word: str, names: Iterable[str]) -> str:
    """A sentence with the name nearest to `word`; among very many names, only alphabetical neighbours are compared."""
    return _checks.nearest(word, _neighbours(word, list(names)))


def _neighbours(word: str, names: list[str]) -> list[str]:
    """Names that begin or end like `word`, or differ only in case; all names if they are few."""
    if len(names) <= _FEW:
        return names
    found = {name: None for name in names if name.lower() == word.lower()}
    for turn in (slice(None), slice(None, None, -1)):
        ordered = sorted(name[turn] for name in names)
        at = bisect_left(ordered, word[turn])
        found |= {name[turn]: None for name in ordered[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS]}
    return list(found)


class Names:
    """Reads names from an image's arrays, without its table of variables."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self._elements: dict[int, list[str]] = {MODEL: [""]}

    def text(self, offset: int) -> str:
        """The string at an offset of the text."""
        found = self._strings.get(offset)
        return text_at(self._text, offset) if found is None else found

    def elements(self, owner: int) -> list[str]:
        """The names of all elements of an owner in the image's order; [""] for the model."""
        if owner not in self._elements:
            self._elements[owner] = [self.text(at) for at in self._arrays[f"{OWNERS[owner]}_name"].tolist()]
        return self._elements[owner]

    def name(self, kind: int, element: int, component: int) -> str:
        """The structured name of a Place."""
        return self.names([kind], [element], [component])[0]

    def names(self, kind: list[int], element: list[int], component: list[int]) -> list[str]:
        """The structured names of (n,) places."""
        of = {k: (self.elements(kinds()[k].owner), kinds()[k].suffix) for k in set(kind)}
        found = []
        for k, i, part in zip(kind, element, component, strict=True):
            elements, suffix = of[k]
            name = f"{elements[i]}.{suffix}" if elements[i] else suffix
            found.append(name if part < 0 else f"{name}[{part + 1}]")
        return found

    def address(self, name: str) -> Address | None:
        """The parsed name, None for an unknown element or suffix."""
        stem, component = split_component(name)
        if found := kinds_called(MODEL, stem):
            return Address(found, 0, component)
        for dot in re.finditer(r"\.", stem):
            owner = self._owners.get(stem[: dot.start()])
            if owner and (found := kinds_called(owner[0], stem[dot.end() :])):
                return Address(found, owner[1], component)
        return None

    def places(self, name: str) -> list[Place]:
        """The rows of a name in the table of all variables; [] if there is no such variable."""
        address = self.address(name)
        if address is None:
            return []
        ordinary = [kind for kind in address.kinds if not kind.of_inverse]
        places = [place for kind in ordinary for place in self._places(kind, address.element)]
        return [place for place in places if address.component in (None, place.component)]

    def listed(self, kind: Kind) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(variables,) element and component of each variable of a kind that the model has."""
        return self._listing.of(kind)

    def _places(self, kind: Kind, element: int) -> list[Place]:
        elements, components = self._listing.of(kind)
        first, end = np.searchsorted(elements, [element, element + 1])
        return [Place(kind.index, element, component) for component in components[first:end].tolist()]

    def nearest(self, word: str) -> str:
        """A sentence with the variable nearest to `word`: first the nearest element, then its variables."""
        whole = split_component(word)[1] is None
        places = [place for element in self._alike(word) for place in self._of_element(element)]
        places += [place for kind in kinds() if kind.owner == MODEL for place in self._places(kind, 0)]
        names = [self.name(*place) for place in places]
        return _checks.nearest(word, dict.fromkeys(split_component(name)[0] if whole else name for name in names))

    def _of_element(self, name: str) -> list[Place]:
        owner, element = self._owners[name]
        return [place for kind in ordinary_kinds() if kind.owner == owner for place in self._places(kind, element)]

    def _alike(self, word: str) -> list[str]:
        """The element that `word` begins with, or those with the most similar names; and the named points on them."""
        parts = split_component(word)[0].split(".")
        starts = (".".join(parts[:size]) for size in range(len(parts), 0, -1))
        exact = next((start for start in starts if start in self._owners), None)
        found = [exact] if exact else self._most_alike(parts[0])
        bodies = tuple(f"{name}." for name in found if self._owners[name][0] == BODY)
        return found + [name for name in self._owners if name.startswith(bodies)]

    def _most_alike(self, word: str) -> list[str]:
        from difflib import get_close_matches  # late, for messages

        names = _neighbours(word, [name for name, (owner, _) in self._owners.items() if owner != POINT])
        same = [name for name in names if name.lower() == word.lower()]
        return same or get_close_matches(word, names, _CLOSEST, cutoff=0.5) or names[:_CLOSEST]

    @cached_property
    def _text(self) -> bytes:
        return self._arrays["text"].tobytes()

    @cached_property
    def _listing(self) -> Listing:
        return Listing(self._arrays)

    @cached_property
    def _strings(self) -> dict[int, str]:
        """Every string by the offset where it begins."""
        parts = self._text.split(b"\0")[:-1]
        starts = accumulate((len(part) + 1 for part in parts), initial=0)
        return {start: part.decode() for start, part in zip(starts, parts, strict=False)}

    @cached_property
    def _owners(self) -> dict[str, tuple[int, int]]:
        """Owner kind and index of each element, by name; points without a name are left out."""
        found: dict[str, tuple[int, int]] = {}
        for owner in OWNERS:
            for element, name in enumerate(self.elements(owner)):
                found.setdefault(name, (owner, element))
        found.pop("", None)
        return found

"""Legal and unique names for what a file calls as it likes."""

from __future__ import annotations

import re

_LONGEST = 200
_ILLEGAL = re.compile(r"[^A-Za-z0-9_]")


def legal(name: str, default: str) -> str:
    """Letters, digits and _ alone, and no digit first; `default` if nothing of the name is left."""
    found = _ILLEGAL.sub("_", name)[:_LONGEST]
    if not found.strip("_") and found != name:
        found = default
    return f"_{found}" if found[:1].isdigit() else found or default


class Names:
    """Names that are taken, and new ones."""

    def __init__(self, *taken: str) -> None:
        self._taken = set(taken)

    def new(self, name: str, default: str, otherwise: str = "") -> str:
        """A legal name like `name`; if it is taken, with `otherwise` appended, then with a number."""
        found = legal(name, default)
        tried, k = found, 2
        if tried in self._taken and otherwise:
            tried = found = f"{found}{otherwise}"
        while tried in self._taken:
            tried, k = f"{found}{k}" if not found[-1].isdigit() else f"{found}_{k}", k + 1
        self._taken.add(tried)
        return tried

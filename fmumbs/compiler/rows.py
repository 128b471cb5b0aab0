"""Rows of the image's arrays during compilation."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Rows:
    """A list of rows for each array of the image, by name."""

    rows: defaultdict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))

    def add(self, **values: Any) -> None:
        rows = self.rows
        for name, value in values.items():
            rows[name].append(value)

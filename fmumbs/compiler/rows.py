"""Rows of the image's arrays during compilation."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Rows:
    """A list of rows for each array of the image, by name."""

    rows: dict[str, list[Any]] = field(default_factory=dict)

    def add(self, **values: Any) -> None:
        for name, value in values.items():
            self.rows.setdefault(name, []).append(value)

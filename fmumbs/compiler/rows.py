"""Rows of the image's arrays while they are being made."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Rows:
    """Rows of the image's arrays, one list each."""

    rows: dict[str, list[Any]] = field(default_factory=dict)

    def add(self, **values: Any) -> None:
        for name, value in values.items():
            self.rows.setdefault(name, []).append(value)

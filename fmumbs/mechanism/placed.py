"""What contacts touch with is fixed to a point of a body."""

from dataclasses import dataclass

from fmumbs import _checks
from fmumbs.mechanism.bodies import Point, point


@dataclass(frozen=True)
class Placed:
    """What is fixed to the body of the point `at`."""

    at: Point

    def __post_init__(self) -> None:
        point(self.at, f"{type(self).__name__}: at")

    def _size(self, name: str) -> None:
        store(self, name, _checks.size(getattr(self, name), f"{type(self).__name__}: {name}"))

    def _sizes(self, name: str) -> None:
        what = f"{type(self).__name__}: {name}"
        x, y, z = (_checks.size(v, f"{what}[{i}]") for i, v in enumerate(_checks.vector(getattr(self, name), what)))
        store(self, name, (x, y, z))


def store(one: object, name: str, value: object) -> None:
    """Sets a field of a frozen dataclass."""
    object.__setattr__(one, name, value)

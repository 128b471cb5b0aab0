"""The base class of everything that can be added to a Model."""

from dataclasses import dataclass, field

from fmumbs import _checks


@dataclass(frozen=True)
class Element:
    """A named part of a model. Elements are immutable, and can be printed, compared and pickled.

    name: letters, digits and _, not beginning with a digit; unique among all elements of a model.
    """

    name: str

    def __post_init__(self) -> None:
        _checks.name(self.name, type(self).__name__)

    def _where(self, field: str) -> str:
        """A field as messages name it: "Body 'crank': mass"."""
        return f"{type(self).__name__} '{self.name}': {field}"

    def _store(self, field: str, value: object) -> None:
        """Replaces a field by its checked form; only in __init__ or __post_init__."""
        object.__setattr__(self, field, value)


@dataclass(frozen=True)
class Composite(Element):
    """An element that consists of others, which Model.add() adds with it."""

    parts: tuple[Element, ...] = field(init=False, repr=False, compare=False)

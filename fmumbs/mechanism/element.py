"""The base of all that is added to a Model."""

from dataclasses import dataclass

from fmumbs import _checks


@dataclass(frozen=True)
class Element:
    """Something with a name. Elements are immutable; they print, compare and pickle.

    name: letters, digits and _, not beginning with a digit; unique among all elements of a model.
    """

    name: str

    def __post_init__(self) -> None:
        _checks.name(self.name, type(self).__name__)

    def _where(self, field: str) -> str:
        """How messages call a field: "Body 'crank': mass"."""
        return f"{type(self).__name__} '{self.name}': {field}"

    def _store(self, field: str, value: object) -> None:
        """Replaces a field by its checked form; only while the element is being made."""
        object.__setattr__(self, field, value)

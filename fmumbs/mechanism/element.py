"""The base class of everything that can be added to a Model."""

import inspect
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fmumbs import _checks

_HEADING = "Arguments of "


@dataclass(frozen=True)
class Element:
    """A named part of a model. Elements are immutable, and can be printed, compared and pickled.

    name: letters, digits and _, not beginning with a digit; unique among all elements of a model.
    """

    name: str

    _passes_on: ClassVar[str] = "every element"  # whose arguments the docstring of a base class describes

    def __init_subclass__(cls, **options: Any) -> None:
        """Completes the docstring with the arguments that the class inherits, so that help() describes all of them."""
        super().__init_subclass__(**options)
        own = cls.__dict__.get("__doc__")
        if own is None:
            return
        bases = [(base.__doc__, vars(base).get("_passes_on")) for base in cls.__mro__[1:]]
        texts = [f"{_HEADING}{whose}:\n\n{_arguments(text)}" for text, whose in bases if text and whose]
        cls.__doc__ = "\n\n".join([inspect.cleandoc(own), *texts])

    def __post_init__(self) -> None:
        _checks.name(self.name, type(self).__name__)

    def _where(self, field: str) -> str:
        """A field as messages name it: "Body 'crank': mass"."""
        return f"{self.title}: {field}"

    @property
    def title(self) -> str:
        """Its class and name; of a part of a composite, those of the composite, which the user wrote."""
        made_by: str | None = vars(self).get("_made_by")
        return made_by or f"{type(self).__name__} '{self.name}'"

    def _store(self, field: str, value: object) -> None:
        """Replaces a field by its checked form; only in __init__ or __post_init__."""
        object.__setattr__(self, field, value)


def _arguments(text: str | None) -> str:
    """A docstring's own text without its first paragraph, which says what the class is."""
    return inspect.cleandoc(text or "").partition(f"\n\n{_HEADING}")[0].partition("\n\n")[2]


@dataclass(frozen=True)
class Composite(Element):
    """An element that consists of others, which Model.add() adds with it."""

    parts: tuple[Element, ...] = field(init=False, repr=False, compare=False)

    def _consist_of(self, *parts: Element) -> None:
        self._store("parts", parts)
        for part in parts:
            part._store("_made_by", self.title)

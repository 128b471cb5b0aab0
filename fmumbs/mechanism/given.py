"""Default start values, distinguished from given ones by their type, which dataclasses.replace() preserves."""


class Unset:
    """Marks a start value as a default: loops may change it without a warning."""

    __slots__ = ()


class UnsetNumber(float, Unset):
    """The default of one coordinate."""

    __slots__ = ()

    def __repr__(self) -> str:
        return float.__repr__(self)


class UnsetNumbers(tuple[float, ...], Unset):
    """The default of several coordinates."""


UNSET = UnsetNumber(0.0)

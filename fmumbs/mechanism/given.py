"""Start values that a user has not given: the defaults, which dataclasses.replace() hands on as what they are."""


class Unset:
    """Marks a start value as a default: loops may decide otherwise without a word."""

    __slots__ = ()


class UnsetNumber(float, Unset):
    """A default of one coordinate."""

    __slots__ = ()

    def __repr__(self) -> str:
        return float.__repr__(self)


class UnsetNumbers(tuple[float, ...], Unset):
    """A default of several."""


UNSET = UnsetNumber(0.0)

"""Checks of user input: each returns the value in its stored form or raises a ModelError.

`what` names the value in messages, with its element: "Body 'crank': mass".
"""

import math
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeGuard, cast

from fmumbs import _limits
from fmumbs.errors import FmumbsError, ModelError, StartWarning

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

Vec3 = tuple[float, float, float]
Mat3 = tuple[Vec3, Vec3, Vec3]
Axis = str | Sequence[float]

_AXES: dict[str, Vec3] = {
    "x": (1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
    "-x": (-1.0, 0.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "-z": (0.0, 0.0, -1.0),
}
_UNIT = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LARGEST_SIZE = 1e40
_ROUND_OFF = 1e-15  # a vector this close to length one is not changed, so that normalising is idempotent


@contextmanager
def in_range(what: str, error: type[FmumbsError] = ModelError) -> Iterator[None]:
    """Within it, arithmetic that leaves the range of floating-point numbers raises an error of this type."""
    import numpy as np  # late: most checks need none

    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            yield
    except (ArithmeticError, np.linalg.LinAlgError):
        raise error(
            f"{what} cannot be computed: its numbers are too large, too small or too far apart. "
            "Give numbers in units that bring them nearer to 1."
        ) from None


def number(value: object, what: str) -> float:
    """A finite real number."""
    if type(value) is float and math.isfinite(value):
        return value
    try:
        if isinstance(value, str | bytes | bool) or getattr(value, "ndim", 0) > 0:
            raise TypeError
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what} is {shown(value)}, which is not a number. Give a real number.") from None
    if not math.isfinite(result):
        raise ModelError(f"{what} is {result}, but must be finite. Give a real number.")
    return result


def not_negative(value: object, what: str) -> float:
    """A finite number of at least zero."""
    result = number(value, what)
    if result < 0.0:
        raise ModelError(f"{what} is {result:g}, below zero. Give zero or a positive number.")
    return result


def parameter(owner: str, suffix: str, value: object, what: str) -> float:
    """A number that a parameter of this kind may have, such as ("spring", "stiffness"): the core's rule."""
    result = number(value, what)
    rule, fix = _limits.out_of_bounds(_limits.kind_of(owner, suffix), result)
    if rule:
        raise ModelError(f"{what} is {result:g}, but {rule}. {fix}.")
    return result


def positive(value: object, what: str) -> float:
    """A finite number above zero."""
    result = number(value, what)
    if result <= 0.0:
        raise ModelError(f"{what} is {result:g}, but must be above zero. Give a positive number.")
    return result


def size(value: object, what: str) -> float:
    """A positive number whose third power does not overflow, and neither does a product of a few."""
    result = positive(value, what)
    if not 1.0 / _LARGEST_SIZE <= result <= _LARGEST_SIZE:
        raise ModelError(
            f"{what} is {result:g}, but must lie between {1.0 / _LARGEST_SIZE:g} and {_LARGEST_SIZE:g}. "
            "Give it in SI units."
        )
    return result


def numbers(values: object, size: int, what: str, example: Sequence[float] | None = None) -> tuple[float, ...]:
    """`size` finite numbers from any flat sequence. example: valid ones for the message, by default zeros."""
    if type(values) is tuple and len(values) == size and _all_finite(values):
        return values
    found = _listed(values)
    if found is None:
        raise ModelError(f"{what} is {shown(values)}, but must have {size} numbers. Give {_example(size, example)}.")
    if len(found) != size:
        raise ModelError(f"{what} has {len(found)} entries, but must have {size}. Give {_example(size, example)}.")
    return tuple(number(item, f"{what}[{i + 1}]") for i, item in enumerate(found))


def items(values: object, what: str, fix: str) -> tuple[Any, ...]:
    """The entries of a list, a tuple, an array or any other iterable, but not the letters of a text."""
    found = _listed(values)
    if found is None:
        raise ModelError(f"{what} is {shown(values)}, which is not a list. {fix}")
    return found


def names(values: object, what: str) -> tuple[str, ...]:
    """Names in a list, or one alone."""
    found = (values,) if isinstance(values, str) else _listed(values)
    if found is None or not all(isinstance(one, str) for one in found):
        raise ModelError(f"{what} is {shown(values)}, which is not a list of names. Give names such as ['A.q'].")
    return found


def flag(value: object, what: str) -> bool:
    """True or False, also as NumPy has them, or as 1 and 0."""
    if getattr(value, "ndim", 0) == 0 and value in (True, False):
        return bool(value)
    raise ModelError(f"{what} is {shown(value)}, but must be True or False. Give one of them.")


def choice(value: object, known: Iterable[str], what: str) -> None:
    """One of some words."""
    words = tuple(known)
    if not isinstance(value, str) or value not in words:
        listed = ", ".join(f"'{word}'" for word in words[:-1])
        raise ModelError(f"{what} is {shown(value)}. Give {listed} or '{words[-1]}'.")


def whole(value: object, what: str, least: int, most: int = 2**63 - 1) -> int:
    """A whole number within two bounds, Python's or NumPy's."""
    if isinstance(value, SupportsIndex) and not isinstance(value, bool) and getattr(value, "ndim", 0) == 0:
        with suppress(TypeError):  # of an array of real numbers
            if least <= (found := index(value)) <= most:
                return found
    raise ModelError(f"{what} is {shown(value)}, but must be a whole number from {least} to {most}. Give one.")


def mapping(value: object, what: str, fix: str) -> dict[str, Any]:
    """A mapping by name."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ModelError(f"{what} is {shown(value)}, which is not a mapping by name. {fix}")
    return dict(value)


def array(values: object, what: str) -> "NDArray[np.float64]":
    """An array of real numbers, finite or not, of any shape."""
    import numpy as np  # late: most checks need none

    try:
        return np.array(values, float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what} is {shown(values)}, which is not an array of numbers. Give real numbers.") from None


def path(value: object, what: str) -> "Path":
    """A place in the file system, from text or what os.fspath() takes."""
    from pathlib import Path  # late: an import of fmumbs needs none

    try:
        return Path(value)  # type: ignore[arg-type]
    except TypeError:
        raise ModelError(f"{what} is {shown(value)}, which is not a path. Give its name in quotes.") from None


def vector(values: object, what: str, example: Sequence[float] | None = None) -> Vec3:
    """Three finite numbers. example: as for numbers()."""
    return cast(Vec3, numbers(values, 3, what, example))


def unit(values: Sequence[float], what: str, fix: str) -> tuple[float, ...]:
    """The vector scaled to length one; fix: ends the message for a zero vector."""
    length = math.hypot(*values)
    if length == 0.0:
        raise ModelError(f"{what} is zero, so it has no direction. {fix}")
    if abs(length - 1.0) <= _ROUND_OFF:
        return tuple(values)
    scale = max(abs(v) for v in values)
    scaled = [v / scale for v in values]
    length = math.hypot(*scaled)
    return tuple(v / length for v in scaled)


def angle(value: object, what: str) -> float:
    """A finite number [rad]; a StartWarning at the user's line asks whether it is meant in degrees."""
    result = number(value, what)
    ask_if_degrees(result, what)
    return result


def looks_like_degrees(angle: float) -> bool:
    """Whether an angle [rad] is beyond a turn, and a whole or a half number, as degrees are."""
    return abs(angle) > 2.0 * math.pi and float(2.0 * angle).is_integer()


def ask_if_degrees(given: float, what: str) -> None:
    """Warns of an angle that looks like degrees."""
    if not looks_like_degrees(given):
        return
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "fmumbs":
        frame, level = frame.f_back, level + 1
    warnings.warn(
        f"{what} is {given:g} rad, {abs(given) / (2.0 * math.pi):.1f} turns; is {given:g} degrees meant? "
        f"Angles are in radians: give math.radians({given:g}), which is {math.radians(given):.4g}.",
        StartWarning,
        stacklevel=level,
    )


def axis(value: object, what: str) -> Vec3:
    """A unit vector from a letter, "x", "y", "z" or with a minus sign, or from three numbers."""
    if isinstance(value, str):
        if value not in _AXES:
            raise ModelError(
                f"{what} is '{value}', but an axis is one of {', '.join(_AXES)}, or three numbers. Give one of these."
            )
        return _AXES[value]
    return cast(Vec3, unit(vector(value, what, (0, 0, 1)), what, "Give a vector along the axis."))


def quaternion(values: object, what: str) -> tuple[float, float, float, float]:
    """A unit quaternion w, x, y, z."""
    given = numbers(values, 4, what, (1, 0, 0, 0))
    fix = "Give (1, 0, 0, 0) for no rotation."
    return cast(tuple[float, float, float, float], unit(given, what, fix))


def matrix(values: object, what: str) -> Mat3:
    """A 3x3 matrix as a tuple of its rows."""
    rows = items(values, what, "Give the three rows of a 3x3 matrix.")
    if len(rows) != 3:
        raise ModelError(f"{what} has {len(rows)} rows, but must have 3. Give the three rows of a 3x3 matrix.")
    return cast(Mat3, tuple(vector(row, f"{what}, row {i + 1},", _UNIT[i]) for i, row in enumerate(rows)))


def name(value: object, what: str) -> str:
    """A legal name: letters, digits and _, not beginning with a digit."""
    if not isinstance(value, str):
        raise ModelError(f"{what} has the name {shown(value)}, which is not a string. Give a name such as 'arm'.")
    if not _NAME.fullmatch(value):
        legal = re.sub(r"[^A-Za-z0-9_]", "_", value)
        if not _NAME.fullmatch(legal):
            legal = f"_{legal}"
        raise ModelError(
            f"{what} has the name {shown(value)}, but a name has only letters, digits and _, and does "
            f"not begin with a digit. Call it {shown(legal)}."
        )
    return value


def text(value: object, what: str) -> str:
    """Text that XML and UTF-8 can hold."""
    found = _NOT_IN_XML.search(str(value))
    if found:
        raise ModelError(
            f"{what} has the character U+{ord(found[0]):04X} at {found.start() + 1}, which an FMU cannot hold. "
            "Leave it out."
        )
    return str(value)


def nearest(word: str, known: Iterable[str]) -> str:
    """A sentence with the known name nearest to `word`, or with the first few names."""
    from difflib import get_close_matches  # late, as in all that only makes messages

    names = list(known)
    close = get_close_matches(word, names, n=1, cutoff=0.5) or [n for n in names if n.lower() == word.lower()]
    if close:
        return f"The nearest name is '{close[0]}'."
    if not names:
        return "There is none yet."
    listed = ", ".join(f"'{n}'" for n in names[:8])
    return f"There are {listed}{' and others' if len(names) > 8 else ''}."


def _listed(values: object) -> tuple[Any, ...] | None:
    """The entries of an iterable, None for text and for what is none."""
    if isinstance(values, str | bytes):
        return None
    try:
        return tuple(values)  # type: ignore[arg-type]
    except TypeError:  # also of an array without dimensions, which only says that it is iterable
        return None


def _all_finite(values: tuple[object, ...]) -> TypeGuard[tuple[float, ...]]:
    """Whether all are finite floats; a fast test, which is False if the sum overflows."""
    return {*map(type, values)} == {float} and math.isfinite(sum(cast(tuple[float, ...], values)))


def shown(value: object) -> str:
    """A value for a message, on one line and not longer than 60 characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def _example(size: int, example: Sequence[float] | None) -> str:
    return f"{size} numbers such as ({', '.join(map(str, example or (0,) * size))})"

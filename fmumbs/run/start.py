"""Warnings of a start: given values that assembly changed, and an equilibrium that is unstable."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fmumbs.compiler.layout import ffi, lib

_LISTED = 6  # changes that a message names


@dataclass(frozen=True)
class StartChange:
    """A given start value that the loops changed.

    name: of the variable, such as "A.q". given, value: before and after assembly, one number or a quaternion w x y z.
    unit: of both. was_set: whether it was set to another value than the model's.
    """

    name: str
    given: tuple[float, ...]
    value: tuple[float, ...]
    unit: str
    was_set: bool

    def __str__(self) -> str:
        for digits in range(6, 18):  # as many as they need to differ
            given, value = (", ".join(f"{v:.{digits}g}" for v in numbers) for numbers in (self.given, self.value))
            if given != value:
                break
        if len(self.given) > 1:
            given, value = f"({given})", f"({value})"
        return f"{self.name} from {given} to {value} {self.unit}".rstrip()


def start_changes(ask: Callable[..., Any]) -> tuple[StartChange, ...]:
    """The changes in an assembled instance, values that were set first; ask: calls a function of the core."""
    count = ask(lib.fm_start_changes, ffi.NULL, 0)
    if count == 0:
        return ()
    found = ffi.new("fm_start_change[]", count)
    ask(lib.fm_start_changes, found, count)
    return tuple(
        StartChange(
            ffi.string(one.name).decode(),
            tuple(one.given[0 : one.count]),
            tuple(one.value[0 : one.count]),
            ffi.string(one.unit).decode(),
            bool(one.set),
        )
        for one in found
    )


def start_warnings(name: str, changes: Sequence[StartChange], departure: tuple[float, str]) -> list[str]:
    """What to warn of after assembly. name: of the model; changes, departure: as a Solver has them."""
    growth, moving = departure
    found = [describe(name, changes)] if changes else []
    if growth > 0.0:
        what = f"a displacement of {moving}" if moving else "a vibration"
        fix = "hold that coordinate" if moving else "add damping"
        found.append(
            f"Model '{name}' starts in an unstable equilibrium: {what} grows as exp({growth:.6g} t). Give a start "
            f"nearer to a stable one, or {fix}."
        )
    elif growth != 0.0:
        found.append(
            f"Model '{name}' starts in an equilibrium whose stability was not found out: round-off hides it, or forces "
            "without a potential may make it flutter. Compare a start beside it."
        )
    return found


def describe(name: str, changes: Sequence[StartChange]) -> str:
    """A warning that names the first changes."""
    more = f" and {len(changes) - _LISTED} more" if len(changes) > _LISTED else ""
    return (
        f"Model '{name}': loops and couplings changed {len(changes)} given start "
        f"value{'' if len(changes) == 1 else 's'}: {', '.join(map(str, changes[:_LISTED]))}{more}. "
        "Give consistent values, or leave them out."
    )

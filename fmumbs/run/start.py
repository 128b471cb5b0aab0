"""What became of the start values that a model gives or that were set."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fmumbs.compiler.layout import ffi, lib

_TOLD = 6  # changes that a sentence names


@dataclass(frozen=True)
class StartChange:
    """A given start value that the loops changed.

    name: of the variable, such as "A.q". given, value: what was given and what it became, (numbers,): one, or four of a
    quaternion w x y z. unit: of both. was_set: it was set to another value than the model's.
    """

    name: str
    given: tuple[float, ...]
    value: tuple[float, ...]
    unit: str
    was_set: bool

    def __str__(self) -> str:
        given, value = (", ".join(f"{v:.6g}" for v in numbers) for numbers in (self.given, self.value))
        if len(self.given) > 1:
            given, value = f"({given})", f"({value})"
        return f"{self.name} from {given} to {value} {self.unit}".rstrip()


def start_changes(ask: Callable[..., Any]) -> tuple[StartChange, ...]:
    """Those of an instance that has been assembled, the ones that were set first; ask: calls a function of the core."""
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


def told(name: str, changes: Sequence[StartChange]) -> str:
    """A sentence that names the first of them."""
    more = f" and {len(changes) - _TOLD} more" if len(changes) > _TOLD else ""
    return (
        f"Model '{name}': its loops and couplings leave no room for {len(changes)} given start "
        f"value{'' if len(changes) == 1 else 's'}: {', '.join(map(str, changes[:_TOLD]))}{more}. "
        "Give values that fit, or leave them out."
    )

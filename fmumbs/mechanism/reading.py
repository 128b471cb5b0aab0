"""What reading a model from a file took, changed and left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

What = Literal["taken", "changed", "left out"]

WHAT: tuple[What, ...] = get_args(What)


@dataclass(frozen=True)
class ReadingRow:
    """One thing in a file, and what became of it.

    what: "taken" as it is, "changed", or "left out". element: what it is in the file, such as "joint 'elbow'".
    text: a sentence. line: in the file, counted from 1; None where the file has no lines, such as a compiled one.
    """

    what: What
    element: str
    text: str
    line: int | None = None

    def __str__(self) -> str:
        where = "" if self.line is None else f"line {self.line}, "
        return f"{self.what}: {where}{self.element}: {self.text}"


@dataclass(frozen=True)
class Limits:
    """What a coordinate may do, as a file says it, or for `limits=` of a joint; None where nothing is said.

    lower, upper: of the position [rad] or [m]. effort: of the force or torque [N.m] or [N]. velocity: [rad/s] or [m/s].
    stiffness, damping, restitution: of the fm.Stop that `limits=` of a joint makes, a stiffness or a restitution; a
    reader leaves them out, as what it read is data, at which nothing stops.
    """

    lower: float | None = None
    upper: float | None = None
    effort: float | None = None
    velocity: float | None = None
    stiffness: float | None = field(default=None, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    restitution: float | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Control:
    """An actuator of a file, whose command enters the model by an input.

    input: the model's variable, such as "hip.tau". factor: the input is this times the command, which is an angle [rad]
    or a length [m] of a position servo, a velocity of a velocity servo, and whatever the file's author meant of a
    motor. unit: of the command, "" for a motor's. stiffness, damping: what a servo adds to those of the joint
    [N.m/rad], [N.m.s/rad] or [N/m], [N.s/m]. lower, upper: of the command; None where it has no limit.
    """

    input: str
    factor: float
    unit: str = ""
    stiffness: float = 0.0
    damping: float = 0.0
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True)
class Reading:
    """The report of a reader: `model.reading`.

    file: what was read. rows: one for each thing of the file that was taken, changed or left out. limits: by
    coordinate of the model, such as "elbow.q", as data; nothing stops at them unless a row says so. controls: by the
    file's name of the actuator.

    print(model.reading) shows what was changed and left out.
    """

    file: str
    rows: tuple[ReadingRow, ...] = ()
    limits: Mapping[str, Limits] = field(default_factory=dict)
    controls: Mapping[str, Control] = field(default_factory=dict)

    def of(self, what: What) -> tuple[ReadingRow, ...]:
        """The rows of one kind."""
        return tuple(row for row in self.rows if row.what == what)

    def inputs(self, commands: Mapping[str, float]) -> dict[str, float]:
        """The model's inputs for commands of actuators by name, for inputs= of simulate(); several may act on one.

        Raises KeyError for an unknown actuator.
        """
        found: dict[str, float] = {}
        for name, command in commands.items():
            control = self.controls[name]
            found[control.input] = found.get(control.input, 0.0) + control.factor * command
        return found

    def __str__(self) -> str:
        counts = ", ".join(f"{len(self.of(what))} {what}" for what in WHAT)
        return "\n".join([f"{self.file}: {counts}", *map(str, (*self.of("changed"), *self.of("left out")))])

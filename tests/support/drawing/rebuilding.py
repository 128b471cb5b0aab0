"""The same model of other elements: each element is made again, and whatever refers to one refers to the new one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any

import fmumbs as fm
from fmumbs.mechanism.coupling import Coupling
from fmumbs.mechanism.element import Composite
from fmumbs.mechanism.joints import JointBase
from fmumbs.mechanism.laws import ForceLaw
from fmumbs.mechanism.placed import Placed
from fmumbs.mechanism.program import Program

ORDER: tuple[Any, ...] = (
    fm.Body, fm.FlexibleLink, JointBase, fm.FlexibleSupport, fm.Spring, fm.Load, fm.Actuator, fm.Cylinder, object
)  # fmt: skip
"""Those that refer to no other first."""

Change = Callable[[Any], Any]


def own_elements(model: fm.Model) -> list[Any]:
    """What was added by name, without the parts of composites."""
    parts = {part.name for one in model.elements if isinstance(one, Composite) for part in one.parts}
    return [one for one in model.elements if one.name not in parts]


class Rebuilding:
    """Makes a model of another's elements.

    change: of an element whose references are new already; gives one element, or several in a list, the first of which
    stands for the old one. point: of every point. gravity: (3,) [m/s2]. order: the elements' names as they are added.
    """

    def __init__(self, model: fm.Model, change: Change | None = None, point: Change | None = None) -> None:
        self.old = model
        self.change, self.point = change or (lambda one: one), point or (lambda P: P)
        self.bodies: dict[str, Any] = {"ground": model.ground}
        self.joints: dict[str, Any] = {}
        self.springs: dict[str, Any] = {}
        self.made: dict[str, list[Any]] = {}

    def model(self, gravity: Any = None, order: Iterable[str] | None = None) -> fm.Model:
        own = own_elements(self.old)
        for element in sorted(own, key=lambda one: next(i for i, kind in enumerate(ORDER) if isinstance(one, kind))):
            self._make(element)
        new = fm.Model(self.old.name, gravity=self.old.gravity if gravity is None else gravity)
        for name in order or [one.name for one in own]:
            new.add(*self.made[name])
        return new

    def _make(self, element: Any) -> None:
        given = {f.name: getattr(element, f.name) for f in fields(element) if f.init}
        changed = {name: self._new(value) for name, value in given.items()}
        changed = {name: value for name, value in changed.items() if value is not given[name]}
        made = self.change(replace(element, **changed) if changed else element)
        self.made[element.name] = made = list(made) if isinstance(made, list) else [made]
        for one in made:
            self._know(one)
        if isinstance(made[0], JointBase):
            self.joints[element.name] = made[0]

    def _know(self, one: Any) -> None:
        for part in (one, *one.parts) if isinstance(one, Composite) else (one,):
            known = (self.bodies, fm.Body), (self.joints, JointBase), (self.springs, fm.Spring)
            for table, kind in known:
                if isinstance(part, kind):
                    table[part.name] = part

    def _new(self, value: Any) -> Any:
        """The value, or the new one that stands for it."""
        if isinstance(value, fm.Point):
            return self.point(replace(value, body=self.bodies[value.body.name]))
        for kind, table in ((JointBase, self.joints), (fm.Spring, self.springs)):
            if isinstance(value, kind):
                return table[value.name]
        if isinstance(value, fm.Pulley):
            return replace(value, joint=self.joints[value.joint.name])
        if isinstance(value, Placed):
            return replace(value, at=self._new(value.at))
        if isinstance(value, tuple) and any(isinstance(one, tuple | JointBase | fm.Point) for one in value):
            new = tuple(self._new(one) for one in value)
            return value if all(a is b for a, b in zip(new, value, strict=True)) else new
        return value


def rebuilt(
    model: fm.Model,
    change: Change | None = None,
    point: Change | None = None,
    gravity: Any = None,
    order: Iterable[str] | None = None,
) -> fm.Model:
    """See Rebuilding."""
    return Rebuilding(model, change, point).model(gravity, order)


def uses(model: fm.Model) -> dict[str, list[Any]]:
    """By the name of a joint or a spring: the laws, couplings and programs on it."""
    found: dict[str, list[Any]] = {}
    for one in own_elements(model):
        if isinstance(one, ForceLaw):
            names = [one.on.name]
        elif isinstance(one, Coupling):
            names = [joint.name for joint, _, _ in one.coordinates]
        elif isinstance(one, fm.Motor):
            names = [one.on.name]
        elif isinstance(one, fm.Gear):
            names = [one.A.name, one.B.name]
        elif isinstance(one, fm.Rope):
            names = [pulley.joint.name for pulley in one.pulleys]
        elif isinstance(one, Program):
            names = [joint.name for joint, _ in one.driven]
            names += [one.joint.name] if isinstance(one, fm.ProgrammedJoint) else []
            names += [one.varies_with.name] if isinstance(one, fm.ProgrammedVelocity) and one.varies_with else []
        else:
            continue
        for name in names:
            found.setdefault(name, []).append(one)
    return found

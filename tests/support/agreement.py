"""Whether two models are one mechanism: all that they show at the start and after a short motion.

A difference counts where a finer run does not remove it, and where it is more than round-off that the mechanism
magnifies, which runs of the mechanism with slightly other numbers measure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as ScipyRotation

import fmumbs as fm
from fmumbs.compiler.kinds import kinds
from fmumbs.mechanism.joints import JointBase
from support.drawing.mechanism import Drawn, Refused
from support.drawing.rebuilding import rebuilt
from support.drawing.scaling import Units

TOLERANCE, FINE = 1e-8, 1e-11
"""Of runs, and of those that decide where the first do not agree."""
AT_START, IN_MOTION = 1e-9, 3e-7
"""Relative to the largest value of a unit: round-off that loops magnify; errors of some ten steps."""
REDUCED = 0.03
"""What a thousandth of the tolerance leaves of an error of integration, with room for the order."""
SENSITIVE = (1e-9, 1e-4, np.inf)
"""Relative change of masses, lengths and start values, and what part of its effect some hundred round-offs have."""
ROUNDED = (4e-16, 30.0, 1e-6)
"""Change by a round-off, how much more than its effect counts, and the most that does, of the largest value."""
Values = dict[str, float]
Map = Callable[[Values], Values]


@dataclass
class Seen:
    """Outputs by name at the start and at the end, and which reactions are unique."""

    start: Values
    end: Values
    unique: Values
    units: dict[str, str]


@dataclass
class Side:
    """A model with options, and inputs that are set before it starts."""

    model: fm.Model
    options: Mapping[str, Any] = field(default_factory=dict)
    planar: bool = True

    def run(self, stop: float, tolerance: float, model: fm.Model | None = None) -> Seen:
        image = fm.compile(model or self.model, everything=True)
        solver = fm.Solver(image.with_options(**{"tolerance": tolerance, **self.options}))
        solver.use_planar(self.planar)
        solver.assemble()
        every = image.variables.names()
        where = [i for i in image.variables.outputs().tolist() if of_mechanics(every[i])]
        names, units = [every[i] for i in where], image.variables.units(where)
        unique = [i for i, name in enumerate(every) if ".reaction_unique." in name]
        flags, start = (solver.read(np.array(rows, np.uint32)).tolist() for rows in (unique, where))
        self.move(solver, stop, tolerance)
        end = solver.read(np.array(where, np.uint32)).tolist()
        return Seen(
            dict(zip(names, start, strict=True)), dict(zip(names, end, strict=True)),
            dict(zip((every[i] for i in unique), flags, strict=True)), dict(zip(names, units, strict=True)),
        )  # fmt: skip

    def move(self, solver: fm.Solver, stop: float, tolerance: float) -> None:
        solver.step(stop)


def of_mechanics(name: str) -> bool:
    return not name.startswith("solver.") or name == "solver.energy"


def reals(image: fm.ModelImage) -> Any:
    """(n,) references of all real variables."""
    types = np.array([kind.type for kind in kinds()])
    return np.flatnonzero(types[image.arrays["variable_kind"]] == "real").astype(np.uint32)


def same(values: Values) -> Values:
    return values


TOLD_AT_STEPS = "lifts off its pulley"
"""Told at the ends of steps: each Solver has its own, and a host that completes none is not told."""

class Comparison:
    """One drawn mechanism, and another that must show what `expected` makes of its outputs.

    scale: of each unit, the size of numbers that are of the order of one in the mechanism as it was drawn.
    """

    def __init__(self, drawn: Drawn, other: Side, expected: Map = same, base: Side | None = None, **by: Any) -> None:
        self.drawn, self.other, self.expected = drawn, other, expected
        self.base = base or Side(drawn.model)
        self.stop = drawn.stop * by.get("time", 1.0)
        self.units = Units(by.get("units", drawn.units))

    def check(self) -> None:
        """Raises AssertionError with the outputs that differ most."""
        first, second = self.both(TOLERANCE)
        self.unique(first, second)
        wrong = self.differences(first, second)
        if not wrong:
            return
        fine = self.both(FINE)
        left = self.differences(*fine)
        mine = self.growth(self.base, fine[0], self.drawn.stop, Units(self.drawn.units))
        others = self.growth(self.other, fine[1], self.stop, self.units)
        grown = {key: max(mine.get(key, 0.0), others[key]) for key in others}
        kept = {
            name: off for name, off in left.items()
            if off > REDUCED * wrong.get(name, 0.0) and off > grown.get(name[0] + self.unit(second, name), 0.0)
        }  # fmt: skip
        if kept:
            worst = sorted(kept, key=lambda name: -kept[name])[:8]
            lines = [f"{name}: {kept[name]:.2g} of what is allowed, {self.values(name, *fine)}" for name in worst]
            raise AssertionError(f"draw {self.drawn.seed}: {len(kept)} outputs differ\n" + "\n".join(lines))

    def both(self, tolerance: float) -> tuple[Seen, Seen]:
        """What both show; Refused where both fail."""
        seen: list[Seen] = []
        errors: list[fm.FmumbsError] = []
        for side, stop in ((self.base, self.drawn.stop), (self.other, self.stop)):
            try:
                seen.append(side.run(stop, tolerance))
            except fm.FmumbsError as error:
                errors.append(error)
        if len(errors) == 2 or any(TOLD_AT_STEPS in str(error) for error in errors):
            raise Refused(f"{errors[0]}")
        assert not errors, f"draw {self.drawn.seed}: only one of the two fails: {errors[0]}"
        return seen[0], seen[1]

    def unit(self, seen: Seen, name: str) -> str:
        return seen.units[name.split(" ", 1)[1]]

    def unique(self, first: Seen, second: Seen) -> None:
        """Of reactions that both have."""
        expected = self.expected(first.unique)
        wrong = [name for name in expected.keys() & second.unique.keys() if expected[name] != second.unique[name]]
        assert not wrong, f"draw {self.drawn.seed}: unique reactions {sorted(wrong)[:5]}"

    def differences(self, first: Seen, second: Seen) -> dict[str, float]:
        """By "time name": the difference over what is allowed, where it is above one."""
        found: dict[str, float] = {}
        for time, level in (("start", AT_START), ("end", IN_MOTION)):
            expected, other = self.expected(getattr(first, time)), getattr(second, time)
            sizes = unconstrained(self.drawn.model, getattr(first, time), Units(self.drawn.units))
            names = [name for name in expected if name in other and self.counts(name, second)]
            a, b = np.array([[values[name] for name in names] for values in (expected, other)])
            units = np.array([second.units[name] for name in names])
            a = self.same_quaternions(names, a, b)
            for unit in set(units):
                these = units == unit
                small = sizes.get(unit, 1.0) * self.units.of(unit)
                scale = max(np.abs(a[these]).max(), np.abs(b[these]).max(), small)
                off = np.abs(a - b) / (level * scale)
                found |= {f"{time[0]} {names[i]}": off[i] for i in np.flatnonzero(these & ~(off <= 1.0))}
        return found

    def counts(self, name: str, second: Seen) -> bool:
        """Reactions and wrenches count where they are unique."""
        if ".reaction." in name or ".wrench." in name:
            owner, what = name.rsplit(".", 1)
            flag = f"{owner.rsplit('.', 1)[0]}.reaction_unique.{what}"
            return bool(second.unique.get(flag, 1.0))
        return True

    def same_quaternions(self, names: list[str], a: Any, b: Any) -> Any:
        """q and -q are one rotation."""
        a = a.copy()
        index = {name: i for i, name in enumerate(names)}
        for name in names:
            if name.endswith("[4]") and (name[:-3] + "[1]") in index:
                four = [index[f"{name[:-3]}[{k}]"] for k in range(1, 5)]
                if name.endswith(".quat[4]") or f"{name.rpartition('.')[0]}.w[1]" in index:
                    a[four] *= -1.0 if a[four] @ b[four] < 0 else 1.0
        return a

    def growth(self, side: Side, fine: Seen, stop: float, units: Units) -> dict[str, float]:
        """By the first letter of the time and the unit: what round-off becomes, over what is allowed."""
        found: dict[str, float] = {}
        for seed, (nudge, factor, most) in enumerate((*[SENSITIVE] * 2, *[ROUNDED] * 4)):
            try:
                moved = side.run(stop, FINE, nudged(side.model, seed, nudge))
            except fm.FmumbsError as error:
                raise Refused(f"nothing measures how errors grow: {error}") from error
            for time, level in (("start", AT_START), ("end", IN_MOTION)):
                a, b = getattr(fine, time), getattr(moved, time)
                sizes = unconstrained(side.model, a, units)
                for unit in set(fine.units.values()):
                    names = [name for name in a if fine.units[name] == unit]
                    scale = max(sizes.get(unit, 1.0) * units.of(unit), *(abs(a[name]) for name in names))
                    off = min(factor * max(abs(a[name] - b[name]) for name in names) / scale, most)
                    found[time[0] + unit] = max(off / level, found.get(time[0] + unit, 0.0))
        return found

    def values(self, name: str, first: Seen, second: Seen) -> str:
        time, of = name.split(" ", 1)
        a, b = (first.start, second.start) if time == "s" else (first.end, second.end)
        return f"{self.expected(a)[of]:.9g} and {b[of]:.9g} {second.units[of]}"


FEW, MANY, BATCH = 30, 2000, 100
REFUSED = 0.1
"""Of all draws, at most."""


def draws(relation: int, *found: int) -> Any:
    """Parametrises a test with ranges of seeds: a short one always, the rest marked slow. Relations draw their own.

    found: seeds that have shown faults, which are always drawn too.
    """
    first = 100_000 * relation
    always = pytest.param(range(first, first + FEW), id="few")
    starts = range(first + FEW, first + MANY, BATCH)
    more = [pytest.param(range(a, min(a + BATCH, first + MANY)), id=str(a), marks=pytest.mark.slow) for a in starts]
    pinned = [pytest.param(range(seed, seed + 1), id=str(seed)) for seed in found]
    return pytest.mark.parametrize("seeds", [always, *pinned, *more])


def each(seeds: range, check: Callable[[int], None]) -> None:
    """Every draw holds; those that are no mechanisms are few, and their number is printed."""
    refused = []
    for seed in seeds:
        try:
            check(seed)
        except Refused as reason:
            refused.append(f"{seed}: {reason}")
    print(f"{len(refused)} of {len(seeds)} draws refused", *refused, sep="\n")
    assert len(refused) <= REFUSED * len(seeds), "\n".join(refused)


def nudged(model: fm.Model, seed: int, nudge: float) -> fm.Model:
    """The model with other masses, lengths and start values."""
    rng = np.random.default_rng(seed)

    def near(x: Any) -> Any:
        return np.array(x) * (1 + nudge * rng.uniform(-1, 1, np.shape(x)))

    def change(one: Any) -> Any:
        if isinstance(one, fm.Body):
            kind = {"mass": near(one.mass)} if type(one) is fm.Body else {}
            return replace(one, com=near(one.com), inertia=np.array(one.inertia) * near(1.0), **kind)
        if not isinstance(one, JointBase) or not one.free_modes or any(m.kind == "ball" for m in one.free_modes):
            return one
        q = near(one.q0)
        return replace(one, q0=q if np.ndim(one.q0) else float(q))

    def point(P: fm.Point) -> fm.Point:
        if isinstance(P.body, fm.ModalBody) or P.name:
            return P
        return replace(P, X_BP=fm.Transform(P.X_BP.rotation, near(P.X_BP.translation)))

    return rebuilt(model, change, point)


def unconstrained(model: fm.Model, values: Values, units: Units) -> Values:
    """By unit, in numbers of the order of one: the accelerations that large forces leave together.

    Of these the largest that the force or torque of any joint alone would give the bodies at its ends; at least 1.
    """
    found = {"m/s2": 0.0, "rad/s2": 0.0}
    for joint in model.joints:
        f, t = (
            max(abs(values.get(f"{joint.name}.{kind}.{what}[{k}]", 0.0)) for kind in KINDS for k in (1, 2, 3))
            for what in "ft"
        )
        for body in (joint.F.body, joint.M.body):
            if not isinstance(body, fm.Body) or body.mass == 0.0:
                continue
            inertia = float(np.linalg.eigvalsh(np.array(body.inertia))[0])
            found["m/s2"] = max(found["m/s2"], f / body.mass)
            if inertia > 0.0:
                found["rad/s2"] = max(found["rad/s2"], t / inertia, f / np.sqrt(body.mass * inertia))
    return {unit: max(1.0, size / units.of(unit)) for unit, size in found.items()}


KINDS = ("reaction", "wrench")
IN_WORLD = ("r", "v", "w", "a", "alpha")
"""Of bodies and points, in the world's axes."""


def turned_outputs(values: Values, model: fm.Model, R: fm.Rotation, far: Any) -> Values:
    """Outputs of a world that is turned and moved: vectors of bodies and points turn, all else stays."""
    bodies, A = {body.name for body in model.bodies}, R.matrix
    contacts = {one.name for one in model.forces_of(fm.Contact)}
    found = dict(values)
    for name in values:
        owner, _, suffix = name.rpartition(".")
        if owner.split(".")[0] in bodies and suffix in {f"{what}[1]" for what in IN_WORLD}:
            names = [f"{name[:-3]}[{k}]" for k in (1, 2, 3)]
            vector = A @ [values[one] for one in names] + (np.asarray(far) if suffix == "r[1]" else 0.0)
            found |= dict(zip(names, vector.tolist(), strict=True))
        elif owner in bodies and suffix == "quat[1]":
            names = [f"{name[:-3]}[{k}]" for k in (1, 2, 3, 4)]
            turned = product(R.as_quaternion(), [values[one] for one in names])
            found |= dict(zip(names, turned, strict=True)) | euler_outputs(model[owner], turned)
    for name in values:
        owner, _, suffix = name.rpartition(".")
        what, _, index = suffix.rstrip("]").partition("[")
        if owner not in contacts or what not in ("force", "point") or int(index) % 3 != 1:
            continue
        names = [f"{owner}.{what}[{int(index) + k}]" for k in range(3)]
        vector = A @ [values[one] for one in names] + (np.asarray(far) if what == "point" else 0.0)
        found |= dict(zip(names, vector.tolist(), strict=True))
    energy = "solver.energy"
    g = np.array(model.gravity)
    if energy in found and model.bodies:
        found[energy] -= sum(body.mass for body in model.bodies) * float((A @ g) @ np.asarray(far))
    return found


def euler_outputs(body: Any, quaternion: Any) -> Values:
    """Of a body with this rotation, if it has any."""
    if body.euler is None:
        return {}
    w, *v = quaternion
    angles = ScipyRotation.from_quat([*v, w]).as_euler(body.euler)
    proper = body.euler[0] == body.euler[2]  # then the second angle is that of the outer axes
    found = {f"{body.name}.euler[{k + 1}]": float(angle) for k, angle in enumerate(angles)}
    return found | {f"{body.name}.euler_margin": float(abs((np.sin if proper else np.cos)(angles[1])))}


def product(p: Any, q: Any) -> list[float]:
    """Of two quaternions."""
    a, u, b, v = p[0], np.asarray(p[1:]), q[0], np.asarray(q[1:])
    return [float(a * b - u @ v), *(a * v + b * u + np.cross(u, v)).tolist()]

"""LuGre friction on the joints' own reactions, by formulas and SciPy beside the oracle of the mechanism without it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import root

import fmumbs as fm
from oracle import Oracle, State

Array = np.ndarray
JOINTS = (fm.Revolute, fm.Prismatic, fm.Cylindrical, fm.Universal, fm.Spherical)


@dataclass(frozen=True)
class Contact:
    """One friction: its name, first mode, arms of its sliding velocities, and how the reaction loads it."""

    name: str
    joint: Any
    first: int
    arms: Array
    normal: Any


def rubbed(rng: np.random.Generator, joint: Any) -> Any:
    """The joint with friction of random numbers, if it may have it."""
    if type(joint) not in JOINTS:
        return joint
    kinetic, static = np.sort(rng.uniform(0.02, 0.15, 2)).tolist()
    given = {"stribeck": 10.0 ** rng.uniform(-2, 0), "stiffness": 10.0 ** rng.uniform(1, 3), "own": True}
    given |= {"damping": rng.uniform(0, 0.02), "viscous": rng.uniform(0, 0.02), "preload": rng.uniform(0, 2)}
    if not isinstance(joint, fm.Prismatic):
        given["radius"] = rng.uniform(0.01, 0.1)
    if isinstance(joint, fm.Prismatic | fm.Cylindrical):
        given["guide"] = rng.uniform(0.5, 2.0) if rng.random() < 0.7 else 0.0
    elif not isinstance(joint, fm.Spherical):
        given["collar"] = rng.uniform(0.0, 0.05) if rng.random() < 0.5 else 0.0
    return replace(joint, friction=fm.LuGre(static, kinetic, **given))


def contacts(joint: Any) -> Iterator[Contact]:
    """axis(solver): in F's axes."""
    rub, name = joint.friction, f"{joint.name}.friction"

    def load(a: float, b: float, c: float, axis: Array | None) -> Any:
        def h(f: Array, t: Array) -> float:
            if axis is None:
                return a * float(np.linalg.norm(f))
            across = [float(np.linalg.norm(np.cross(axis, v))) for v in (f, t)]
            return a * across[0] + b * abs(float(axis @ f)) + c * across[1]

        return h

    guided = 1.0, 0.0, 1.0 / rub.guide if rub.guide else 0.0
    if isinstance(joint, fm.Universal):
        for i in range(2):
            yield Contact(f"{name}[{i + 1}]", joint, i, np.ones(1), i)
        return
    axis = None if isinstance(joint, fm.Spherical) else np.array(joint.modes[0].axis)
    if isinstance(joint, fm.Cylindrical):
        yield Contact(name, joint, 0, np.array([rub.radius, 1.0]), load(*guided, axis))
    elif isinstance(joint, fm.Prismatic):
        yield Contact(name, joint, 0, np.ones(1), load(*guided, axis))
    else:
        yield Contact(name, joint, 0, np.ones(joint.velocities), load(rub.radius, rub.collar, 0.0, axis))


def normal_of(one: Contact, solver: fm.Solver, f: Array, t: Array) -> float:
    """The own normal force of the joint's force and torque on M at M, in F's axes."""
    if not isinstance(one.joint, fm.Universal):
        return float(one.normal(f, t))
    first, second = (np.array(axis) for axis in one.joint.directions)
    R = one.joint.transform(tuple(solver.get(f"{one.joint.name}.q"))).rotation.matrix
    axis = first if one.first == 0 else R @ second
    rub = one.joint.friction
    return float(rub.radius * np.linalg.norm(np.cross(axis, f)) + rub.collar * abs(axis @ f))


def coefficient(rub: fm.LuGre, v: Array, z: Array) -> Array:
    """Friction per normal force."""
    speed = float(np.linalg.norm(v))
    mu = rub.kinetic + (rub.static - rub.kinetic) * math.exp(-((speed / rub.stribeck) ** 2))
    rate = v - rub.stiffness * speed / mu * z
    return np.asarray(rub.stiffness * z + rub.damping * rate + rub.viscous * v)


def deflect(rng: np.random.Generator, solver: fm.Solver, model: fm.Model) -> None:
    """Sets the bristles to random deflections."""
    for joint in model.joints:
        for one in contacts(joint) if joint.friction else ():
            rub = joint.friction
            z = rng.normal(size=len(one.arms)) * 0.5 * rub.static / rub.stiffness
            solver.set(f"{one.name}.z", z if len(z) > 1 else z[0])


def friction_inputs(
    solver: fm.Solver,
    model: fm.Model,
    oracle: Oracle,
    state: State,
    inputs: dict[str, Any],
    start: dict[str, float] | None = None,
) -> tuple[dict[str, Any], dict[str, float]]:
    """The inputs with friction's forces, and the normal forces by name; oracle: of the model without friction.

    start: where SciPy begins, by default at zero, whence it comes to the least of several solutions.
    """
    all_contacts = [one for joint in model.joints if joint.friction for one in contacts(joint)]
    per_load: list[Array] = []
    for one in all_contacts:
        rates = np.atleast_1d(solver.get(f"{one.joint.name}.{'w' if isinstance(one.joint, fm.Spherical) else 'qd'}"))
        v = one.arms * rates[one.first : one.first + len(one.arms)]
        z = np.atleast_1d(solver.get(f"{one.name}.z"))
        per_load.append(-one.arms * coefficient(one.joint.friction, v, z))

    def with_friction(n: Array) -> dict[str, Any]:
        out = dict(inputs)
        for one, load, force in zip(all_contacts, n, per_load, strict=True):
            name = f"{one.joint.name}.{'f' if isinstance(one.joint, fm.Prismatic) else 'tau'}"
            tau = np.zeros(one.joint.velocities)
            tau += np.atleast_1d(out.get(name, 0.0))
            tau[one.first : one.first + len(force)] += force * (one.joint.friction.preload + load)
            out[name] = tau if len(tau) > 1 else float(tau[0])
        return out

    def off(n: Array) -> Array:
        answer = oracle.solve(state, with_friction(n))
        wrenches = [[answer[f"{one.joint.name}.wrench.{what}"] for what in "ft"] for one in all_contacts]
        return n - [normal_of(one, solver, *wrench) for one, wrench in zip(all_contacts, wrenches, strict=True)]

    n = np.zeros(len(all_contacts)) if start is None else np.array([start[one.name] for one in all_contacts])
    if len(n):
        found = root(off, n, method="hybr", options={"xtol": 1e-14})
        n = found.x
        assert np.abs(off(n)).max() < 1e-9 * (1.0 + np.abs(n).max()), "SciPy finds no normal forces"
    loads = {one.name: one.joint.friction.preload + float(load) for one, load in zip(all_contacts, n, strict=True)}
    return with_friction(n), loads


def with_joints(model: fm.Model, joints: dict[str, Any]) -> fm.Model:
    """The model with other joints of these names, and its laws on them."""
    new = fm.Model(model.name, gravity=model.gravity)
    new.add(*model.bodies, *(joints.get(joint.name, joint) for joint in model.joints), *model.forces)
    new.add(*(replace(law, on=joints.get(law.on.name, law.on)) for law in model.laws))
    return new


def crank(own: fm.LuGre, cut: str = "D", **options: Any) -> fm.Model:
    """A slider-crank, in space, all of whose reactions are unique: a revolute, a universal, a ball, a slide."""
    model = fm.Model("crank")
    sizes = (("crank", 0.1), ("rod", 0.4), ("slider", 0.1))
    crank, rod, slider = (fm.Body.rod(name, length=size, mass=1.0, radius=0.02) for name, size in sizes)
    turning, sliding = replace(own, radius=0.01), replace(own, guide=0.2)
    model.add(crank, rod, slider)
    model.add(fm.Revolute("A", model.ground.at(), crank.base, axis="y", u0=8.0, friction=turning, **options))
    model.add(fm.Universal("B", crank.tip, rod.base, axes=("y", "z"), friction=turning))
    model.add(fm.Prismatic("D", model.ground.at(0.3, 0, 0), slider.base, axis="x", friction=sliding, cut=cut == "D"))
    model.add(fm.Spherical("C", rod.tip, slider.base, friction=turning, cut=cut == "C"))
    return model

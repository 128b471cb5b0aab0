"""The unit of length changes nothing: of a mechanism 2^k times as large every number is another power of two's.

Masses, times and springs along lines stay; so velocities, accelerations and forces grow with the length, torques,
inertias and energies with its square. Powers of two are exact: steps, errors and results keep their bits.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fmumbs as fm
from fmumbs.compiler import compile
from support.closed import plane, space

TURNING = ("stiffness", "damping", "rotor_inertia")


def larger(model: fm.Model, s: float, loops: bool) -> fm.Model:
    """The mechanism with all its lengths times s; without its loops the tree alone."""
    found = fm.Model(model.name, gravity=np.asarray(model.gravity) * s)
    bodies = {"ground": found.ground}
    for body in model.bodies:
        solid = {"com": np.asarray(body.com) * s, "inertia": np.asarray(body.inertia) * s**2}
        bodies[body.name] = fm.Body(body.name, mass=body.mass, **solid)
        found.add(bodies[body.name])

    def at(point: fm.Point) -> fm.Point:
        X = point.X_BP
        return bodies[point.body.name].at(*(X.translation * s), rotation=X.rotation)

    for joint in model.joints if loops else model.joints[: len(model.bodies)]:
        changed: dict[str, Any] = {"F": at(joint.F), "M": at(joint.M)}
        if isinstance(joint, fm.Revolute | fm.Spherical):
            changed |= {law: getattr(joint, law) * s**2 for law in TURNING if hasattr(joint, law)}
        elif isinstance(joint, fm.Prismatic):
            changed |= {"q0": joint.q0 * s, "u0": joint.u0 * s, "rest": joint.rest * s}
        elif isinstance(joint, fm.Screw):
            changed["pitch"] = joint.pitch * s
        found.add(replace(joint, **changed))
    for spring in model.springs:
        found.add(replace(spring, P=at(spring.P), Q=at(spring.Q), free_length=spring.free_length * s))
    for load in model.loads:
        force, torque = (np.asarray(value) * s**power for power, value in ((1, load.force), (2, load.torque)))
        found.add(replace(load, P=at(load.P), force=force, torque=torque))
    return found


def run(model: fm.Model, s: float, stop: float) -> tuple[list[float], np.ndarray]:
    """Numbers of steps; motion of all bodies, reactions and energy in the first unit."""
    solver = fm.Solver(compile(model, everything=True).with_options(tolerance=1e-5))
    solver.assemble()
    solver.step(0.4 * stop)
    solver.step(stop)
    found = [solver.get(f"{b.name}.{what}") / s for b in model.bodies for what in ("r", "v", "a")]
    turned = [solver.get(f"{b.name}.{what}") for b in model.bodies for what in ("w", "alpha")]
    found += [solver.get(f"{j.name}.reaction.{what}") / s**n for j in model.joints for n, what in ((1, "f"), (2, "t"))]
    steps = [solver.get("solver.steps"), solver.get("solver.rejected")]
    return steps, np.concatenate([*found, *turned, [solver.get("solver.energy") / s**2]])


@pytest.mark.parametrize("size", [2.0**-10, 2.0**10])
@pytest.mark.parametrize("seed", range(4))
def test_trees(seed: int, size: float) -> None:
    model = (plane if seed % 2 else space)(1500 + seed, loops=2).model
    one, other = (run(larger(model, s, loops=False), s, 0.5) for s in (1.0, size))
    assert one[0] == other[0]
    assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("size", [2.0**-10, 2.0**10])
@pytest.mark.parametrize("kind", ["plane", "revolute", "spherical", "cylindrical", "screw", "weld"])
def test_loops(kind: str, size: float) -> None:
    """Least reactions too: how forces and torques compare follows from the mechanism's own length."""
    case = plane(1604, loops=2) if kind == "plane" else space(1600, kind=kind)
    (_, one), (_, other) = (run(larger(case.model, s, loops=True), s, 0.2) for s in (1.0, size))
    assert_allclose(one, other, rtol=0, atol=1e-9 * np.abs(one).max())

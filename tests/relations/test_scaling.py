"""Mechanisms of other lengths and masses, which have the same angular accelerations: no bound is an absolute one."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.closed import plane, space
from support.closed_agreement import started
from support.sweeps import first

EQUAL = 1e-10
"""Relative to the largest: scaled by powers of two they differ by round-off of where Newton's method stops."""


def scaled(model: fm.Model, length: float, mass: float) -> fm.Model:
    """Without springs and loads."""
    new, torque = fm.Model("scaled", gravity=np.array(model.gravity) * length), mass * length**2
    bodies: dict[Any, Any] = {model.ground: new.ground}
    for b in model.bodies:
        inertia = np.array(b.inertia) * torque
        bodies[b] = fm.Body(b.name, mass=b.mass * mass, com=np.array(b.com) * length, inertia=inertia)

    def moved(point: fm.Point) -> Any:
        translation = np.array(point.X_BP.translation) * length
        return bodies[point.body].at(*translation, rotation=point.X_BP.rotation)

    joints = [replace(joint, F=moved(joint.F), M=moved(joint.M)) for joint in model.joints]
    laws = ("stiffness", "damping", "rotor_inertia")
    for i, joint in enumerate(joints):
        given = {law: getattr(joint, law) * torque for law in laws if np.any(getattr(joint, law, 0.0))}
        joints[i] = replace(joint, **given)
    new.add(*(bodies[b] for b in model.bodies), *joints)
    return new


@pytest.mark.parametrize(
    ("length", "mass"), first(2, [(2.0**-13, 2.0**-20), (2.0**13, 2.0**20), (2.0**-13, 2.0**20), (2.0**13, 2.0**-20)])
)
def test_angular_accelerations_do_not_depend_on_lengths_and_masses(length: float, mass: float) -> None:
    for seed in range(8):
        kind = ("revolute", "spherical", "universal", "weld")[seed % 4]
        turning = space(300 + seed, kind, loops=1 + seed % 2, sorts=("revolute", "spherical")).model
        for model in (plane(seed, 1 + seed % 3).model, turning):
            expected, found = (
                np.array([solver.get(f"{b.name}.alpha") for b in model.bodies])
                for solver in (started(scaled(model, 1.0, 1.0)), started(scaled(model, length, mass)))
            )
            assert_allclose(found, expected, rtol=0, atol=EQUAL * np.abs(expected).max())

"""The core's trees beside the oracle: what their tests are judged by."""

from typing import Any

import numpy as np
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.run import Solver
from oracle import Oracle, State
from oracle.joints import matrix_of_quaternion
from support.strategies import Case

AGREEMENT = 1e-10
"""Relative to the largest acceleration, or force, of the mechanism. The dense system of the oracle has a
condition of up to 1e5 in these units, and 1e5 roundings of 1e-16 are 1e-11."""

KINEMATIC = ("qdd", "udot", "alpha", "a", "r", "v", "w", "length")


def started(model: fm.Model, inputs: dict[str, Any] | None = None) -> Solver:
    solver = Solver(compile(model))
    solver.assemble()
    for name, value in (inputs or {}).items():
        solver.set(name, value)
    return solver


def present_state(solver: Solver, oracle: Oracle) -> State:
    """The solver's positions and velocities, as the oracle takes them."""
    q: dict[str, Any] = {}
    u: dict[str, Any] = {}
    eta: dict[str, Any] = {}
    kappa: dict[str, Any] = {}
    positions = {"Weld": [], "Free": ["r", "q"]}
    speeds = {"Weld": [], "Free": ["v", "w"], "Spherical": ["w"], "Skate": ["u"]}
    for joint in oracle.model.joints:
        kind, name = type(joint).__name__, joint.name
        if joint.positions:
            q[name] = _get(solver, name, positions.get(kind, ["q"]))
            u[name] = _get(solver, name, ["u"] if joint.velocity_rows else speeds.get(kind, ["qd"]))
        if joint.excited_modes:
            eta[name], kappa[name] = _get(solver, name, ["eta"]), _get(solver, name, ["kappa"])
    return oracle.state(q, u, eta, kappa, t=solver.time)


def _get(solver: Solver, joint: str, names: list[str]) -> Any:
    values = [solver.get(f"{joint}.{name}") for name in names]
    return values[0] if len(values) == 1 else np.concatenate(values)


def assert_agrees(solver: Solver, case: Case) -> None:
    """All that the oracle knows, at the solver's present state."""
    oracle = Oracle(case.model)
    state = present_state(solver, oracle)
    answer = oracle.solve(state, case.inputs)
    kinematic = [name for name in answer.names() if name.split(".")[-1] in KINEMATIC]
    forces = [name for name in answer.names() if name not in kinematic]
    for names in (kinematic, forces):
        scale = max([1.0, *(np.abs(answer[name]).max(initial=0.0) for name in names)])
        for name in names:
            found = solver.get(name)
            assert_allclose(found, answer[name], rtol=0, atol=AGREEMENT * scale, err_msg=name)
    for body in case.model.bodies:
        found = matrix_of_quaternion(solver.get(f"{body.name}.quat"))
        assert_allclose(found, state.frame[body.name].R, rtol=0, atol=AGREEMENT, err_msg=f"{body.name}.quat")
    assert_allclose(solver.get("solver.energy"), oracle.energy(state), rtol=AGREEMENT, atol=AGREEMENT)

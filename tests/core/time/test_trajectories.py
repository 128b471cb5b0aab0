"""Motions over time, beside equations of their own that scipy integrates.

The rods of riccati-mstmm, section 5, by Newton's and Euler's equations with sparse matrices; random trees and closed
mechanisms by the oracle, in absolute coordinates of every body.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import read_model
from oracle import Frame, Oracle, State
from oracle.joints import matrix_of_quaternion
from support.closed import space, state_of
from support.long_trees import long_tree
from support.sweeps import first, seeds

Array = NDArray[np.float64]


# Branches of rods in a plane ------------------------------------------------------------------------------------


def rod_histories(model: fm.Model, times: Sequence[float], closeness: float) -> tuple[Array, Array]:
    """(rods, times) absolute angles of rods along their x from the world's x about z, and their rates.

    Angular accelerations come from Newton's and Euler's equations of each rod, with a force in each hinge:

        m_k x_k'' = m_k g + forces,  I_k theta_k'' = moments,  x_k + M_k e(theta_k) = x_c + F_k e(theta_c),

    x_k the centre, e = (cos, sin), c the rod that carries rod k, M_k and F_k the hinge from either centre. The matrix
    is sparse, so that 500 rods take seconds.
    """
    n = len(model.bodies)
    mass, inertia, own, carrier, carried, start = _hinges(model)
    i, k = np.arange(n), np.flatnonzero(carrier >= 0)
    c, x, y, turn, fx, fy = carrier[k], i, n + i, 2 * n + i, 3 * n + i, 4 * n + i

    def rates(_: float, state: Array) -> Array:
        theta, rate = state[:n], state[n:]
        cos, sin = np.cos(theta), np.sin(theta)
        rows = [
            (fx, x, np.ones(n)), (fx, turn, -own * sin), (fx[k], x[c], -np.ones(len(k))),
            (fx[k], turn[c], carried * sin[c]),
            (fy, y, np.ones(n)), (fy, turn, own * cos), (fy[k], y[c], -np.ones(len(k))),
            (fy[k], turn[c], -carried * cos[c]),
        ]  # fmt: skip
        parts = [*rows, *((b, a, v) for a, b, v in rows), (x, x, mass), (y, y, mass), (turn, turn, inertia)]
        row, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
        right = np.zeros(5 * n)
        right[y] = -9.81 * mass
        right[fx], right[fy] = own * cos * rate**2, own * sin * rate**2
        right[fx[k]] -= carried * cos[c] * rate[c] ** 2
        right[fy[k]] -= carried * sin[c] * rate[c] ** 2
        return np.concatenate([rate, splu(csc_array((value, (row, column)))).solve(right)[turn]])

    y0 = np.concatenate([start, np.zeros(n)])
    found = solve_ivp(rates, (0.0, times[-1]), y0, method="DOP853", t_eval=times, rtol=closeness, atol=closeness).y
    return found[:n], found[n:]


def _hinges(model: fm.Model) -> tuple[Array, ...]:
    """Of each rod: mass, inertia about z, its hinge from its centre along x, the rod that carries it or -1, the start
    angle; and of those that are carried, the hinge from the carrier's centre."""
    names = [body.name for body in model.bodies]
    own, start, carried = np.zeros(len(names)), np.zeros(len(names)), np.zeros(len(names))
    carrier = np.full(len(names), -1)
    for joint in _outwards(model):
        k = names.index(joint.M.body.name)
        own[k] = joint.M.X_BP.offset[0] - joint.M.body.com[0]
        start[k] = _angle(joint)
        if joint.F.body is not model.ground:
            carrier[k] = names.index(joint.F.body.name)
            carried[k] = joint.F.X_BP.offset[0] - joint.F.body.com[0]
            start[k] += start[carrier[k]]
    mass, inertia = (
        np.array(values) for values in zip(*((b.mass, b.inertia[2][2]) for b in model.bodies), strict=True)
    )
    return mass, inertia, own, carrier, carried[carrier >= 0], start


def _outwards(model: fm.Model) -> list[Any]:
    """Joints, parents before children."""
    found: list[Any] = []
    reached = {model.ground.name}
    while len(found) < len(model.joints):
        for joint in model.joints:
            if joint.F.body.name in reached and joint.M.body.name not in reached:
                found.append(joint)
                reached.add(joint.M.body.name)
    return found


def _angle(joint: Any) -> float:
    """Start angle about z."""
    return float(joint.q0 if isinstance(joint, fm.Revolute) else 2 * np.arctan2(joint.q0[3], joint.q0[0]))


def assert_rods_swing(
    model: fm.Model, image: fm.ModelImage, times: Sequence[float], within: float, closeness: float = 1e-11
) -> None:
    """Directions of the rods and their angular velocities, at all times."""
    angles, spins = rod_histories(model, times, closeness)
    solver = fm.Solver(image)
    solver.assemble()
    for i, time in enumerate(times):
        solver.step(time)
        along = [matrix_of_quaternion(solver.get(f"{body.name}.quat"))[:, 0] for body in model.bodies]
        turning = [solver.get(f"{body.name}.w") for body in model.bodies]
        still = np.zeros(len(model.bodies))
        expected = np.column_stack([np.cos(angles[:, i]), np.sin(angles[:, i]), still])
        assert_allclose(along, expected, rtol=0, atol=within)
        assert_allclose(turning, np.column_stack([still, still, spins[:, i]]), rtol=0, atol=10 * within)


@pytest.mark.parametrize(("options", "within"), [({"tolerance": 1e-11}, 1e-7), ({"scheme": "rk4", "step": 1e-3}, 1e-6)])
def test_four_rods_move_as_in_figure_3(options: dict[str, Any], within: float) -> None:
    """The paper's own five seconds, and its scheme and step beside the usual one."""
    model = read_model("branch_pendulum")
    image = compile(model, everything=True).with_options(**options)
    assert_rods_swing(model, image, np.linspace(0.0, 5.0, 21), within)


@pytest.mark.parametrize("seconds", first(1, [1.0, 5.0]))
def test_a_branch_of_500_rods_moves_as_in_figure_4(seconds: float) -> None:
    """From rest; the paper's are five seconds."""
    model = read_model("branch_chain", {"bodies": 500})
    image = compile(model, everything=True).with_options(tolerance=1e-9)
    assert_rods_swing(model, image, np.linspace(0.0, seconds, 11), 1e-7, closeness=1e-9)


# Random mechanisms in absolute coordinates ------------------------------------------------------------------------


def histories(oracle: Oracle, start: State, inputs: Any, times: Sequence[float]) -> list[State]:
    """States of all bodies, carriers between modes among them, at all times."""
    bodies = oracle.bodies

    def state(y: Array) -> State:
        frame, v, w = {}, {}, {}
        for body, (x, q, speed, spin) in zip(bodies, _parts(y), strict=True):
            R = matrix_of_quaternion(q)
            arm = R @ oracle.com[body.name]
            frame[body.name], w[body.name] = Frame(x - arm, R), spin
            v[body.name] = speed - np.cross(spin, arm)
        return State(frame, v, w, start.angle)

    def rates(_: float, y: Array) -> Array:
        nu = oracle.solve(state(y), inputs).nu
        out = []
        for i, (_, q, speed, spin) in enumerate(_parts(y)):
            turning = 0.5 * np.array([-spin @ q[1:], *(q[0] * spin + np.cross(spin, q[1:]))])
            out += [speed, turning, nu[6 * i : 6 * i + 6]]
        return np.concatenate(out)

    y0 = []
    for body in bodies:
        frame, w = start.frame[body.name], start.w[body.name]
        arm = frame.R @ oracle.com[body.name]
        y0 += [frame.p + arm, fm.Rotation(frame.R).as_quaternion(), start.v[body.name] + np.cross(w, arm), w]
    found = solve_ivp(rates, (0.0, times[-1]), np.concatenate(y0), method="DOP853", t_eval=times, rtol=1e-9, atol=1e-10)
    return [state(y) for y in found.y.T]


def _parts(y: Array) -> list[tuple[Array, ...]]:
    """Of each body: position of its centre, quaternion, velocity of its centre, angular velocity."""
    return [(b[:3], b[3:7], b[7:10], b[10:]) for b in y.reshape(-1, 13)]


NEAR = 1e-7
"""[m], [m/s], of axes: a hundred times what scipy is asked for."""


def assert_moves(model: fm.Model, inputs: dict[str, Any], times: Sequence[float]) -> None:
    solver = fm.Solver(compile(model, everything=True).with_options(tolerance=1e-11))
    for name, value in inputs.items():
        solver.set(name, value)
    solver.assemble()
    for time, expected in zip(times, histories(Oracle(model), state_of(solver, model), inputs, times), strict=True):
        solver.step(time)
        found = state_of(solver, model)
        for body in model.bodies:
            name = body.name
            scale = NEAR * max(1.0, np.abs(expected.v[name]).max(), np.abs(expected.w[name]).max())
            assert_allclose(
                found.frame[name].p, expected.frame[name].p, rtol=0, atol=scale, err_msg=f"{name} at {time}"
            )
            assert_allclose(
                found.frame[name].R, expected.frame[name].R, rtol=0, atol=scale, err_msg=f"{name} at {time}"
            )
            assert_allclose(found.v[name], expected.v[name], rtol=0, atol=10 * scale, err_msg=f"{name} at {time}")
            assert_allclose(found.w[name], expected.w[name], rtol=0, atol=10 * scale, err_msg=f"{name} at {time}")


TREES = ("revolute", "prismatic", "screw", "cylindrical", "universal", "planar", "spherical", "geared", "joint")


@pytest.mark.parametrize("seed", seeds(1, 3))
def test_random_trees_over_time(seed: int) -> None:
    model = long_tree(600 + seed, 2 + seed % 2, TREES, back=2)
    P, Q = model.bodies[-1].at(0.3, 0.1, 0.2), model.ground.at(1.0, 1.0, 2.0)
    model.add(fm.Spring("s", P, Q, stiffness=20.0, damping=0.5, free_length=0.5))
    assert_moves(model, {}, [0.0, 0.04, 0.1])


@pytest.mark.parametrize("kind", first(3, ["revolute", "universal", "distance", "screw", "planar", "line"]))
def test_random_loops_over_time(kind: str) -> None:
    case = space(1700, kind, guess=0.01)
    assert_moves(case.model, case.inputs, [0.0, 0.04, 0.1])

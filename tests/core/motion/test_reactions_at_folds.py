"""Least reactions of a parallelogram at and beside its fold, beside the smooth limit in forty digits.

The motion has a closed form. What each body needs of its joints follows, and the joints' wrenches z of least norm from
B z = b: with n the motion, b is across it, so that z = B' (B B' + n n')^-1 b, where only digits are lost at the fold.
"""

from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.testing import assert_allclose

import fmumbs as fm
from support.sweeps import each_value, first

CRANK, RUNG = 0.7, 1.1
SPIN = 3.0  # [rad/s]
ALMOST = 1e-15  # [rad]: in place of the fold itself, where only the limit is defined
Place = tuple[fm.Body, bool, Any]


def body(rng: np.random.Generator, name: str, length: float, centred: bool, off: float = 0.0) -> fm.Body:
    """With products of inertia; `centred` along the bar, but for `off`."""
    A = rng.normal(size=(3, 3))
    inertia = 0.05 * np.eye(3) + 0.001 * A @ A.T
    along, beside = (0.5, 0.0) if centred else (rng.uniform(0.2, 1.0), rng.uniform(-0.2, 0.2))
    com = (float(along) * length + off, float(rng.uniform(-0.2, 0.2)), float(beside))
    six = tuple(map(float, inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]))
    return fm.Body(name, mass=float(rng.uniform(0.5, 2)), com=com, inertia=six)


def parallelogram(seed: int, like: bool, x: float, u: float, off: float = 0.0) -> tuple[fm.Model, np.ndarray]:
    """In the plane x-z, its joints at any places across; `like`: with equal cranks and a rung centred but for `off`."""
    rng = np.random.default_rng(seed)
    first, rung = body(rng, "first", CRANK, like), body(rng, "rung", RUNG, like, off)
    other = body(rng, "second", CRANK, like)
    six = tuple(map(float, np.array(first.inertia)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]))
    second = fm.Body("second", mass=first.mass, com=first.com, inertia=six) if like else other
    y = rng.uniform(-0.3, 0.3, 3)
    model = fm.Model("fold", gravity=tuple(map(float, rng.normal(size=3) * 6)))
    model.add(first, second, rung)
    for i, (name, crank) in enumerate((("A", first), ("D", second))):
        ground = model.ground.at(i * RUNG, float(y[i]), 0)
        model.add(fm.Revolute(name, ground, crank.at(), axis="y", q0=x, u0=u))
    model.add(fm.Revolute("B", first.at(CRANK, float(y[2]), 0), rung.at(), axis="y", q0=-x, u0=-u))
    end = second.at(CRANK, float(y[0] + y[2] - y[1]), 0)
    model.add(fm.Revolute("C", rung.at(RUNG, 0, 0), end, axis="y", cut=True))
    return model, y


def cross(a: Any, b: Any) -> Any:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def exact(values: Any) -> Any:
    return np.array([mpf(float(v)) for v in np.ravel(values)]).reshape(np.shape(values))


def limit(model: fm.Model, y: np.ndarray, x: float, u: float) -> tuple[dict[str, np.ndarray], float]:
    """(f, t) of each joint at M, in the ground's axes, of least norm; and the cranks' acceleration."""
    mp.dps = 40
    a, spin, Y, zero = mpf(x), mpf(u), exact([0, 1, 0]), exact([0, 0, 0])
    R = np.array([[mp.cos(a), mpf(0), mp.sin(a)], exact([0, 1, 0]), [-mp.sin(a), mpf(0), mp.cos(a)]])
    turns = {"first": R, "second": R, "rung": exact(np.eye(3))}
    tip = exact([0, y[0], 0]) + R @ exact([CRANK, y[2], 0])
    origin = {"first": exact([0, y[0], 0]), "second": exact([RUNG, y[1], 0]), "rung": tip}
    g, inertia, push, motion, bent, com = exact(model.gravity), mpf(0), mpf(0), [], [], {}
    for b in model.bodies:
        arm = turns[b.name] @ exact(b.com)
        com[b.name], swings = origin[b.name] + arm, b.name != "rung"
        swing = arm if swings else R @ exact([CRANK, 0, 0])
        v, drawn = cross(Y, swing), -spin * spin * np.array([swing[0], mpf(0), swing[2]])
        T = R @ exact(b.inertia) @ R.T
        motion += [*v, *(Y if swings else zero)]
        bent.append((b.mass, drawn - g, T @ Y if swings else zero, cross(Y, T @ Y) * spin * spin if swings else zero))
        inertia += b.mass * (v @ v) + (T[1, 1] if swings else 0)
        push -= b.mass * (v @ (drawn - g))
    alpha = push / inertia
    n = np.array(motion)
    needed = []
    for k, (mass, drawn, turn, gyro) in enumerate(bent):
        needed += [*(mass * (n[6 * k : 6 * k + 3] * alpha + drawn)), *(turn * alpha + gyro)]
    arms = [np.linalg.norm(np.array(b.com)) for b in model.bodies]
    for end in (end for joint in model.joints for end in joint.ends if end.body is not model.ground):
        arms.append(np.linalg.norm(end.X_BP.translation - np.array(end.body.com)))
    length, names = 2 * mpf(float(max(arms))), [b.name for b in model.bodies]
    B = np.full((18, 20), mpf(0))
    for j, joint in enumerate(model.joints):
        on = origin[joint.M.body.name] + turns[joint.M.body.name] @ exact(joint.M.X_BP.translation)
        for sign, end in ((1, joint.M), (-1, joint.F)):
            if end.body is model.ground:
                continue
            at = 6 * names.index(end.body.name)
            for i in range(3):
                B[at + i, 5 * j + i] += sign
                B[at + 3 : at + 6, 5 * j + i] += sign * cross(on - com[end.body.name], exact(np.eye(3)[i]))
            B[at + 3, 5 * j + 3] += sign * length
            B[at + 5, 5 * j + 4] += sign * length
    solved = mp.lu_solve(mp.matrix((B @ B.T + np.outer(n, n)).tolist()), mp.matrix(needed))
    z = B.T @ np.array(list(solved))
    found = {}
    for j, joint in enumerate(model.joints):
        part = [*z[5 * j : 5 * j + 3], z[5 * j + 3] * length, 0, z[5 * j + 4] * length]
        found[joint.name] = np.array([float(v) for v in part])
    return found, float(alpha)


def reactions(solver: fm.Solver, model: fm.Model) -> dict[str, np.ndarray]:
    names = [joint.name for joint in model.joints]
    return {name: np.concatenate([solver.get(f"{name}.reaction.{what}") for what in "ft"]) for name in names}


def sizes(wrench: np.ndarray) -> np.ndarray:
    """Of force and torque, which do not depend on the axes."""
    return np.array([np.linalg.norm(wrench[:3]), np.linalg.norm(wrench[3:])])


def assert_limit(
    seed: int, like: bool, x: float, bound: float, off: float = 0.0, dynamics: str = "riccati", weightless: bool = False
) -> list[bool]:
    """Reactions that are numbers are right to `bound` of the largest. Whether they are, in the plane and in space."""
    model, y = parallelogram(seed, like, x, SPIN, off)
    if weightless:
        model.gravity = (0.0, 0.0, 0.0)
    expected, alpha = limit(model, y, x or ALMOST, SPIN)
    most = max(np.abs(wrench).max() for wrench in expected.values())
    known: list[bool] = []
    for planar in (True, False)[dynamics == "copcod" :]:
        solver = fm.Solver(fm.compile(model, everything=True).with_options(dynamics=dynamics))
        solver.use_planar(planar)
        solver.assemble()
        assert_allclose(solver.get("A.qdd"), alpha, rtol=0, atol=1e-9 * (1 + abs(alpha)))
        found = reactions(solver, model)
        known.append(not all(np.isnan(wrench).all() for wrench in found.values()))
        for name, wrench in found.items() if known[-1] else ():
            assert_allclose(sizes(wrench), sizes(expected[name]), rtol=0, atol=bound * most, err_msg=name)
    return known


@pytest.mark.parametrize("x", first(6, [0.3, 1e-3, 1e-6, -1e-9, 1e-12, 0.0, 1e-8, 1e-10, -1e-11]))
def test_what_stays_finite_is_the_limit(x: float) -> None:
    """Equal cranks swing by themselves: nothing has to pass along the bars but what the speed asks for."""
    for seed in range(3):
        assert all(assert_limit(seed, True, x, 1e-8))


@pytest.mark.parametrize("x", first(4, [0.3, 1e-8, -1e-11, 0.0, 1e-3, 1e-6]))
def test_what_grows_without_limit_is_right_and_then_not_a_number(x: float) -> None:
    for seed in range(3):
        known = assert_limit(seed, False, x, 1e-6 if abs(x) > 1e-9 else 1e-4)  # the angle's last digits over x
        assert all(known) or abs(x) < 1e-8
        assert not any(known) or x != 0.0


@each_value
@pytest.mark.parametrize("off", [1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize(("dynamics", "bound"), [("riccati", 1e-5), ("copcod", 1e-4)])
def test_what_grows_slowly_is_right_or_not_a_number(off: float, dynamics: str, bound: float) -> None:
    """A rung's centre of mass a little off its middle: what the bars pass on is of the order of `off` / x.

    The reduced form has multipliers nearer to the fold, up to where 1e-4 of them may be round-off.
    """
    for seed, x in ((0, 1e-2), (1, -1e-4), (2, -1e-5), (0, 1e-6), (1, -1e-8), (2, 1e-10)):
        known = assert_limit(seed, True, x, bound, off, dynamics)
        assert all(known) or abs(x) < 1e-3


@each_value
@pytest.mark.parametrize("x", [3e-11, 1e-4, 1e-6, 3e-8, 3e-9, -3e-10, 1e-10, -1e-11, 1e-12])
@pytest.mark.parametrize("like", [True, False])
@pytest.mark.parametrize("weightless", [True, False])
def test_the_reduced_form_is_right_or_not_a_number(x: float, like: bool, weightless: bool) -> None:
    """Without weight the bars pass on large forces that do no work, so that the forces on the coordinates are zero."""
    for seed in range(3):
        known = assert_limit(seed, like, x, 1e-8 if like else 1e-4, dynamics="copcod", weightless=weightless)
        assert all(known) or (not like and abs(x) < 2e-10)

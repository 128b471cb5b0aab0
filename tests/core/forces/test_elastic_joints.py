"""Stiffness and damping by matrices, and in free, nonholonomic and cut joints, against potentials and Newton's laws."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.errors import ModelError
from fmumbs.run import Solver
from support.elastic_models import elastic, semidefinite
from support.sweeps import seeds

SLOPE = 1e-7
"""Of central differences of a potential with a step of 1e-5, relative."""


def vector_of(R: Any) -> Any:
    angle = np.arccos(np.clip((np.trace(R) - 1) / 2, -1, 1))
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (2 * np.sinc(angle / np.pi))
    return np.asarray(axis)


def exp(v: Any) -> Any:
    from scipy.linalg import expm

    return expm(np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]]))


def slope(potential: Any, R: Any) -> Any:
    """(3,) derivative of a potential of R by turns in M's axes."""
    steps = 1e-5 * np.eye(3)
    return np.array([(potential(R @ exp(s)) - potential(R @ exp(-s))) / 2e-5 for s in steps])


def body_on(make: Any, seed: int, cut: bool, turned: bool) -> tuple[Solver, Any, Any, Any]:
    """A body, its centre at the joint, with any inertia and start; its solver, inertia, R_FM and w in M's axes."""
    rng = np.random.default_rng(seed)
    body = fm.Body("b", mass=1.3, inertia=(0.3, 0.4, 0.5))
    model = fm.Model("m", gravity=(0, 0, 0))
    q = rng.uniform(-1, 1, 4)
    q /= np.linalg.norm(q)
    w = rng.uniform(-2, 2, 3)
    ends = (model.ground.at(rotation=fm.Rotation.about("x", 0.3)), body.at())
    if cut:
        base = fm.Free("base", *ends, q0=(0, 0, 0, *q), u0=(0, 0, 0, *w))
        model.add(body, base, make(*ends, cut=True))
    elif turned:
        model.add(body, make(*ends[::-1], q0=q * (1, -1, -1, -1), u0=-fm.Rotation.quaternion(*q).matrix @ w))
    else:
        model.add(body, make(*ends, q0=q, u0=w))
    solver = Solver(compile(model))
    solver.assemble()
    return solver, np.diag((0.3, 0.4, 0.5)), fm.Rotation.quaternion(*q).matrix, w


@pytest.mark.parametrize("where", ["tree", "cut", "reversed"])
@pytest.mark.parametrize("seed", seeds(4, 40))
def test_a_balls_torque_is_the_slope_of_its_potential(seed: int, where: str) -> None:
    rng = np.random.default_rng(seed + 1000)
    K, D = semidefinite(rng, 3, 5.0), semidefinite(rng, 3, 0.5)

    def make(F: Any, M: Any, **how: Any) -> Any:
        return fm.Spherical("j", F, M, stiffness=K, damping=D, **how)

    solver, inertia, R, w = body_on(make, seed, where == "cut", where == "reversed")
    if where == "reversed":
        torque = R.T @ (slope(lambda Q: vector_of(Q) @ K @ vector_of(Q) / 2, R.T) - D @ (R @ w))
    else:
        torque = -slope(lambda Q: vector_of(Q) @ K @ vector_of(Q) / 2, R) - D @ w
    world = fm.Rotation.about("x", 0.3).matrix @ R
    alpha = np.linalg.solve(inertia, torque - np.cross(w, inertia @ w))
    assert_allclose(solver.get("b.alpha"), world @ alpha, rtol=0, atol=SLOPE * max(1, np.abs(alpha).max()) * 100)
    stored = vector_of(R) @ K @ vector_of(R) / 2
    assert_allclose(solver.get("solver.energy"), stored + w @ inertia @ w / 2, rtol=1e-12)


def test_a_multiple_of_the_identity_is_the_number() -> None:
    base = (fm.Model("m").ground.at(), fm.Body("b", mass=1.0, inertia=(1, 1, 1)).at())
    assert fm.Spherical("j", *base, stiffness=3.0 * np.eye(3)) == fm.Spherical("j", *base, stiffness=3.0)


@pytest.mark.parametrize("seed", seeds(4, 40))
def test_a_free_joint_has_six_springs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, d = rng.uniform(0, 9, 6), rng.uniform(0, 1, 6)
    q = rng.uniform(-1, 1, 4)
    q /= np.linalg.norm(q)
    r, v, w = rng.uniform(-1, 1, (3, 3))
    body = fm.Body("b", mass=1.3, inertia=(0.3, 0.4, 0.5))
    model = fm.Model("m", gravity=(0, 0, 0))
    model.add(body, fm.Free("j", model.ground.at(), body.at(), q0=(*r, *q), u0=(*v, *w), stiffness=k, damping=d))
    solver = Solver(compile(model))
    solver.assemble()
    R, inertia = fm.Rotation.quaternion(*q).matrix, np.diag((0.3, 0.4, 0.5))
    torque = -slope(lambda Q: vector_of(Q) @ (k[3:] * vector_of(Q)) / 2, R) - d[3:] * w
    assert_allclose(solver.get("j.a"), (-k[:3] * r - d[:3] * v) / 1.3, rtol=0, atol=1e-12)
    alpha = np.linalg.solve(inertia, torque - np.cross(w, inertia @ w))
    assert_allclose(solver.get("j.alpha"), alpha, rtol=0, atol=1e-5 * max(1, np.abs(alpha).max()))
    solver.set("j.stiffness[2]", 0.0)
    assert_allclose(solver.get("j.a")[1], -d[1] * v[1] / 1.3, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", seeds(4, 40))
def test_a_skates_springs_push_along_its_blade(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, d, rest, q, u = (rng.uniform(0, 5, n) for n in (3, 3, 3, 3, 2))
    body = fm.Body("b", mass=1.3, inertia=(0.3, 0.4, 0.5))
    model = fm.Model("m", gravity=(0, 0, 0))
    model.add(body, fm.Skate("j", model.ground.at(), body.at(), q0=q, u0=u, stiffness=k, damping=d, rest=rest))
    solver = Solver(compile(model))
    solver.assemble()
    along = np.array([np.cos(q[2]), np.sin(q[2])])
    force = -k[:2] * (q[:2] - rest[:2]) - d[:2] * u[0] * along
    turning = -k[2] * (q[2] - rest[2]) - d[2] * u[1]
    assert_allclose(solver.get("j.udot"), [along @ force / 1.3, turning / 0.5], atol=1e-12)
    energy = solver.get("solver.energy")
    assert_allclose(energy, (1.3 * u[0] ** 2 + 0.5 * u[1] ** 2 + k @ (q - rest) ** 2) / 2, rtol=1e-13)
    solver.set("j.rest[3]", q[2])
    solver.set("j.damping[3]", 0.0)
    assert_allclose(solver.get("j.udot")[1], 0.0, atol=1e-12)


@pytest.mark.parametrize("seed", seeds(4, 40))
def test_a_bushing_with_matrices_acts_the_same_in_a_loop(seed: int) -> None:
    """It joins the ends of two pendulums, as a part of the tree or as the cut joint of the loop."""
    rng = np.random.default_rng(seed)
    K, D = semidefinite(rng, 6, 20.0), semidefinite(rng, 6, 1.0)
    found = []
    for cut in (True, False):
        a, b = fm.Body.rod("a", length=1.0, mass=1.0), fm.Body.rod("b", length=1.0, mass=1.5, radius=0.1)
        model = fm.Model("m")
        model.add(a, b, fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=0.1, u0=0.3))
        bushing = fm.Bushing("K", a.tip, b.base, stiffness_matrix=K, damping_matrix=D, cut=cut)
        start: dict[str, Any] = {"q0": (0.9, 0.1, 0.05, 1, 0.1, 0.05, 0), "u0": (0.1, 0, 0.2, 0, 0.1, 0)}
        free = fm.Free("F", model.ground.at(), b.at(), cut=not cut, **start)
        model.add(*(free, bushing) if cut else (bushing, free))
        solver = Solver(compile(model))
        solver.assemble()
        if cut:
            q, qd = solver.get("K.q"), solver.get("K.qd")
        else:
            solver.set("K.q", q)
            solver.set("K.qd", qd)
            solver.assemble()
        found.append([solver.get(name) for name in ("A.qdd", "b.a", "b.alpha", "solver.energy", "b.r", "b.w")])
    for one, other in zip(*found, strict=True):
        assert_allclose(one, other, rtol=0, atol=1e-8 * max(1.0, np.abs(other).max()))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"stiffness": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}, "not symmetric"),
        ({"stiffness": np.diag([1.0, -1.0, 1.0])}, "negative eigenvalue"),
        ({"damping": np.ones((2, 2))}, "not an array of"),
        ({"stiffness": -1.0}, "below zero"),
    ],
)
def test_wrong_matrices_of_balls_are_refused(how: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        fm.Spherical("j", fm.Model("m").ground.at(), fm.Body("b", mass=1.0).at(), **how)


@pytest.mark.parametrize("seed", seeds(2, 20))
def test_energy_is_lost_by_the_power_of_all_dampers(seed: int) -> None:
    model = elastic(seed)
    solver = Solver(compile(model, everything=True).with_options(tolerance=1e-11))
    solver.assemble()
    skate, ball, free, mount = (model[name] for name in ("skate", "ball", "free", "mount"))
    rolled, D, six, full = (np.array(value) for value in (
        skate.damping, ball.damping, free.damping, mount.damping_matrix  # type: ignore[union-attr]
    ))  # fmt: skip

    def power() -> float:
        (v, w), angle = solver.get("skate.u"), solver.get("skate.q")[2]
        along = np.array((v * np.cos(angle), v * np.sin(angle), w))
        u = np.concatenate([solver.get("free.v"), solver.get("free.w")])
        spin, qd = solver.get("ball.w"), solver.get("mount.qd")
        return float(rolled @ along**2 + spin @ D @ spin + six @ u**2 + qd @ full @ qd)

    before, h, powers = solver.get("solver.energy"), 1e-3, [power()]
    for k in range(1, 101):
        solver.step(k * h)
        powers.append(power())
    p = np.array(powers)
    lost = h / 3 * (p[0] + 4 * p[1:-1:2].sum() + 2 * p[2:-1:2].sum() + p[-1])
    assert lost > 0.0
    assert_allclose(before - solver.get("solver.energy"), lost, rtol=1e-6, atol=1e-9)

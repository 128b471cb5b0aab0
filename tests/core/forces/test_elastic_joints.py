"""Stiffness and damping by matrices, and in free, nonholonomic and cut joints, against potentials and Newton's laws."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.errors import ModelError
from fmumbs.run import Solver
from support.elastic_models import elastic, semidefinite
from support.energy import energy_and_power
from support.sweeps import seeds

SLOPE = 1e-7
"""Of central differences of a potential with a step of 1e-5, relative."""


def vector_of(R: Any) -> Any:
    return Rotation.from_matrix(R).as_rotvec()


def exp(v: Any) -> Any:
    return Rotation.from_rotvec(v).as_matrix()


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


@pytest.mark.parametrize("law", ["stiffness", "damping"])
def test_each_of_several_balls_starts_with_the_entries_given_for_it(law: str) -> None:
    """Entries of all balls lie in one array, whatever the number of balls before."""
    rng, model = np.random.default_rng(3), fm.Model("m")
    for n in range(3):
        body = fm.Body(f"b{n}", mass=1.0, inertia=(1, 1, 1))
        ends = (model.ground.at(float(n), 0, 0), body.at())
        model.add(body, fm.Spherical(f"j{n}", *ends, **{law: semidefinite(rng, 3, 5.0) + np.eye(3)}))
    plain = Solver(compile(model, everything=True))
    names = [f"j{n}.{law}[{i}]" for n in range(3) for i in range(1, 7)]
    before = {name: plain.get(name) for name in names}
    for name in names:
        given = before | {name: before[name] + 1e-3}
        solver = Solver(compile(model, everything=True, starts={name: given[name]}))
        assert {one: solver.get(one) for one in names} == given


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
        ({"damping": -1.0}, "at least 0"),
        ({"stiffness": -1.0, "damping": np.diag([1.0, 2.0, 3.0])}, "beside a damping matrix"),
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

    fell, lost = energy_and_power(solver, power, 5e-4, 200)
    assert lost > 0.0
    assert_allclose(fell, lost, rtol=1e-6, atol=1e-9)


def row_of(K: Any) -> Any:
    """A symmetric matrix as a joint's parameter has it: its diagonal, then the entries beside it by rows."""
    return np.concatenate([np.diag(K), K[np.triu_indices(len(K), 1)]])


def mounted(kind: str, K: Any, D: Any, cut: bool) -> fm.Model:
    """A body on a bushing or a ball with these matrices; with cut it hangs by a free joint beside it too."""
    model, body = fm.Model("m"), fm.Body("b", mass=1.3, com=(0.1, -0.2, 0.05), inertia=(0.3, 0.4, 0.5))
    ends = (model.ground.at(rotation=fm.Rotation.rpy(0.3, -0.2, 0.5)), body.at(rotation=fm.Rotation.about("x", 0.4)))
    turn, w = (0.9, 0.2, -0.3, 0.1), (0.5, -1.0, 0.7)
    if kind == "bushing":
        laws: dict[str, Any] = {"stiffness_matrix": K, "damping_matrix": D}
        start: dict[str, Any] = {} if cut else {"q0": (0.1, 0.2, -0.1, 0.3, -0.2, 0.4), "u0": (0.3, 0.1, -0.2, *w)}
        joint: Any = fm.Bushing("j", *ends, cut=cut, **laws, **start)
    else:
        start = {} if cut else {"q0": turn, "u0": w}
        joint = fm.Spherical("j", *ends, cut=cut, stiffness=K, damping=D, **start)
    beside = (fm.Free("free", *ends, q0=(0, 0, 0, *turn), u0=(0, 0, 0, *w)),) if cut else ()
    model.add(body, *beside, joint)
    return model


@pytest.mark.parametrize("entry", [1.0, -1.0, 0.3])
def test_one_entry_beside_equal_diagonals_counts(entry: float) -> None:
    """The potential is theta' K theta / 2, as differences along the three turns show."""
    q, inertia = fm.Rotation.rpy(0.7, -0.4, 0.9), np.diag((0.3, 0.4, 0.5))
    for at in ((0, 1), (0, 2), (1, 2)):
        K = np.diag([3.0, 3.0, 3.0])
        K[at] = K[at[::-1]] = entry
        body = fm.Body("b", mass=1.3, inertia=(0.3, 0.4, 0.5))
        model = fm.Model("m", gravity=(0, 0, 0))
        model.add(body, fm.Spherical("j", model.ground.at(), body.at(), q0=q.as_quaternion(), stiffness=K, damping=K))
        solver = Solver(compile(model))
        solver.assemble()
        torque = -slope(lambda Q, K=K: vector_of(Q) @ K @ vector_of(Q) / 2, q.matrix)
        assert_allclose(solver.get("j.alpha"), np.linalg.solve(inertia, torque), rtol=0, atol=1e-5)


def moving(solver: Solver) -> list[Any]:
    solver.assemble()
    return [solver.get(name) for name in ("b.a", "b.alpha", "solver.energy", "j.wrench.f", "j.wrench.t")]


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("kind", ["bushing", "ball"])
@pytest.mark.parametrize("seed", seeds(2, 20))
def test_a_tuned_matrix_is_that_of_a_model_with_it(kind: str, cut: bool, seed: int) -> None:
    """By parameters, after a reset, from a saved state, and by start values of an export."""
    rng = np.random.default_rng(seed)
    size = 6 if kind == "bushing" else 3
    one, other = ([semidefinite(rng, size, high) for high in (20.0, 1.0)] for _ in range(2))
    image = compile(mounted(kind, *one, cut), everything=True)
    right = moving(Solver(compile(mounted(kind, *other, cut))))
    solver = Solver(image)
    first = moving(solver)
    values = {f"j.{law}": row_of(matrix) for law, matrix in zip(("stiffness", "damping"), other, strict=True)}
    for name, value in values.items():
        assert len(solver.get(name)) == len(value) == size * (size + 1) // 2
        solver.set(name, value)
    for found, exact in zip(moving(solver), right, strict=True):
        assert_allclose(found, exact, rtol=0, atol=1e-12 * max(1.0, np.abs(exact).max()))
    restored = Solver(image)
    restored.state_load(solver.state_save())
    assert_allclose(restored.get("j.stiffness"), values["j.stiffness"], rtol=0, atol=0)
    assert_allclose(restored.get("b.alpha"), solver.get("b.alpha"), rtol=0, atol=0)
    solver.reset()
    for found, exact in zip(moving(solver), first, strict=True):
        assert np.array_equal(found, exact)
    numbers = {f"{name}[{i + 1}]": x for name, value in values.items() for i, x in enumerate(value)}
    given = Solver(compile(mounted(kind, *one, cut), starts=numbers))
    for found, exact in zip(moving(given), right, strict=True):
        assert_allclose(found, exact, rtol=0, atol=1e-12 * max(1.0, np.abs(exact).max()))


def test_units_of_a_matrix() -> None:
    image = compile(mounted("bushing", np.eye(6), np.eye(6), cut=False))
    units = {v.name: v.unit for v in image.variables if v.name.startswith(("j.stiffness", "j.damping"))}
    assert [units[f"j.stiffness[{i}]"] for i in (1, 4, 7, 9, 21)] == ["N/m", "N.m/rad", "N/m", "N", "N.m/rad"]
    assert [units[f"j.damping[{i}]"] for i in (1, 4, 7, 9, 21)] == ["N.s/m", "N.m.s/rad", "N.s/m", "N.s", "N.m.s/rad"]


def test_each_rotation_of_a_free_joint_is_tuned_by_itself() -> None:
    """Also of one that is equally stiff about all axes at the start."""
    model, body = fm.Model("m", gravity=(0, 0, 0)), fm.Body("b", mass=1.0, inertia=(0.3, 0.4, 0.5))
    start = (0, 0, 0, np.cos(0.2), 0, np.sin(0.2), 0)
    model.add(body, fm.Free("j", model.ground.at(), body.at(), q0=start, stiffness=(1, 1, 1, 2, 2, 2)))
    solver = Solver(compile(model))
    solver.assemble()
    assert_allclose(solver.get("j.alpha"), (0, -2 * 0.4 / 0.4, 0), atol=1e-14)
    solver.set("j.stiffness[5]", 6.0)
    assert_allclose(solver.get("j.alpha"), (0, -6 * 0.4 / 0.4, 0), atol=1e-14)


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize(("kind", "law"), [("bushing", "stiffness"), ("bushing", "damping"), ("ball", "stiffness")])
def test_a_matrix_that_is_tuned_has_no_negative_eigenvalue_in_a_step(kind: str, law: str, cut: bool) -> None:
    """Entries are set one by one, in any order; a step waits until they fit, and loses nothing."""
    size = 6 if kind == "bushing" else 3
    rng = np.random.default_rng(5)
    first, second = (semidefinite(rng, size, 20.0) + np.eye(size) for _ in range(2))
    solver, straight = (Solver(compile(mounted(kind, first, first, cut))) for _ in range(2))
    for one in (solver, straight):
        one.assemble()
        one.step(0.01)
    entries = row_of(second)
    where = len(entries) - 1
    beyond = 1.01 * float(np.sqrt(first[-1, -1] * first[-2, -2]))
    solver.set(f"j.{law}[{where + 1}]", beyond)
    before = solver.state_save()
    with pytest.raises(fm.SolverError, match=f"{law} matrix of joint 'j' has a negative eigenvalue"):
        solver.step(0.02)
    assert solver.state_save() == before
    again = Solver(solver.image)
    again.state_load(before)
    with pytest.raises(fm.SolverError, match="negative eigenvalue"):
        again.step(0.02)
    for i, value in enumerate(entries):
        solver.set(f"j.{law}[{i + 1}]", value)
    straight.set(f"j.{law}", entries)
    for one in (solver, straight):
        one.step(0.02)
    assert solver.state_save() == straight.state_save()
    solver.set(f"j.{law}[{where + 1}]", 1.01 * float(np.sqrt(second[-1, -1] * second[-2, -2])))
    with pytest.raises(fm.AssemblyError, match="negative eigenvalue"):
        solver.assemble()


@pytest.mark.parametrize("size", [3, 6])
def test_matrices_are_refused_where_their_least_eigenvalue_is_negative(size: int) -> None:
    rng = np.random.default_rng(size)
    kind, first = ("bushing" if size == 6 else "ball"), np.diag(np.arange(1.0, size + 1))
    solver = Solver(compile(mounted(kind, first, np.eye(size), False)))
    solver.assemble()
    for _ in range(40):
        root = rng.normal(size=(size, size))
        spread = 10.0 ** rng.uniform(-3, 3, size)
        values = rng.uniform(0.1, 1.0, size)
        values[0] *= rng.choice((-1.0, -1e-4, 1e-4, 1.0))
        Q = np.linalg.qr(root)[0]
        matrix = spread[:, None] * (Q @ np.diag(values) @ Q.T) * spread
        solver.set("j.stiffness", row_of((matrix + matrix.T) / 2))
        if values[0] > 0:
            solver.step(solver.time + 1e-6)
        else:
            with pytest.raises(fm.SolverError, match="negative eigenvalue"):
                solver.step(solver.time + 1e-6)

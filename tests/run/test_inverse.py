"""Inverse dynamics and what follows from it: beside the oracle, beside other engines, and by what must hold."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.errors import ModelError, SolverError
from fmumbs.readers import read_model
from fmumbs.run.coordinates import Coordinates, required
from fmumbs.run.hosted import Hosted
from oracle import Oracle
from support.actuation import actuators, drawn_with_inverse, modal_speeds, unit_force
from support.closed import coupled, plane, space
from support.drawing.mechanism import Refused, draw
from support.flexible_models import plane_loops, space_loop, space_tree
from support.long_trees import long_tree
from support.strategies import EVERY, Case, trees
from support.sweeps import examples, seeds
from support.tree_agreement import present_state

ROUND_OFF = 1e-12
"""Of the largest force, or the largest entry."""


def solver_of(model: fm.Model, inputs: dict[str, Any] | None = None) -> fm.Solver:
    solver = fm.Solver(compile(model, everything=True))
    for name, value in (inputs or {}).items():
        solver.set(name, value)
    solver.assemble()
    return solver


def motion_of(solver: fm.Solver) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """q, u, a of the present state, and (rows, n) what it allows: rows of loops and of excited modes."""
    image = solver.image
    hosted = Hosted(solver)
    a = hosted.speeds_of(hosted.rates())
    rows = [np.eye(len(a))[image.arrays["excitation_u"]]]
    if image.sizes["rows"]:
        rows.append(solver.jacobian[solver.active_rows])
    return solver.positions, solver.read(image.variables.speeds()), a, np.vstack(rows)


def basis(rows: np.ndarray) -> np.ndarray:
    """Motions that the rows allow."""
    if not len(rows):
        return np.eye(rows.shape[1])
    return np.asarray(np.linalg.svd(rows)[2][np.linalg.matrix_rank(rows, tol=1e-8) :].T)


def close(found: Any, expected: Any, scale: float, times: float = 1.0) -> None:
    assert_allclose(found, expected, rtol=0, atol=ROUND_OFF * times * max(scale, 1.0))


# Beside the oracle ---------------------------------------------------------------------------------------------------


@examples(8, 60, trees(max_bodies=5, kinds=EVERY))
def test_trees_beside_the_oracle(case: Case) -> None:
    """The accelerations that the oracle finds under the inputs take no other force; energy, momentum and centre of
    mass are those of its bodies."""
    solver = solver_of(case.model, case.inputs)
    oracle = Oracle(case.model)
    state = present_state(solver, oracle)
    answer = oracle.solve(state, case.inputs)
    q, u, _, _ = motion_of(solver)
    names = solver.image.variables.names(solver.image.variables.accelerations())
    assume(len(names) == len(u))  # the accelerations of some excited modes are inputs, and no outputs
    a = np.array([solver.get(n) if ".kappa_dot" in n else answer_at(answer, n) for n in names])
    M = fm.mass_matrix(solver, q)
    taken = np.abs(M) @ np.abs(a) + np.abs(fm.bias(solver, q, u))
    forces = fm.inverse_dynamics(solver, q, u, a)
    for at, name in enumerate(names):
        drive = answer_at(answer, name.replace(".kappa_dot", ".drive")) if ".kappa_dot" in name else 0.0
        close(forces[at], drive, taken.max(initial=0.0), 1e2)
    kinetic, mass, first, p, L = 0.0, 0.0, np.zeros(3), np.zeros(3), np.zeros(3)
    for body in oracle.bodies:
        R, w = state.frame[body.name].R, state.w[body.name]
        arm = R @ np.asarray(body.com, float)
        v, r = state.v[body.name] + np.cross(w, arm), state.frame[body.name].p + arm
        spin = R @ (np.asarray(body.inertia, float) @ (R.T @ w))
        mass, first, p = mass + body.mass, first + body.mass * r, p + body.mass * v
        L, kinetic = L + np.cross(r, body.mass * v) + spin, kinetic + 0.5 * (body.mass * v @ v + w @ spin)
    rotors = sum(
        0.5 * float(np.sum(np.asarray(joint.rotor_inertia) * oracle.joint_state(state, joint)[1] ** 2))
        for joint in oracle.joints
        if np.any(joint.rotor_inertia)
    )
    close(0.5 * u @ M @ u, kinetic + rotors, kinetic + rotors, 1e2)
    close(fm.center_of_mass(solver, q), first / mass, np.abs(first / mass).max())
    found = fm.momentum(solver, q, u)
    close(found[:3], p, np.abs(p).max(), 10)
    close(found[3:], L - np.cross(first / mass, p), np.abs(L).max() + np.abs(np.cross(first / mass, p)).max(), 10)


def answer_at(answer: Any, name: str) -> float:
    stem, _, part = name.partition("[")
    value = np.atleast_1d(answer[stem])
    return float(value[int(part[:-1]) - 1 if part else 0])


# By what must hold ---------------------------------------------------------------------------------------------------

LOOPS: dict[str, Any] = {
    "space": lambda: space(3), "two loops": lambda: space(101, loops=2), "balls": lambda: space(4, "spherical"),
    "redundant": lambda: plane(300, 2), "geared": lambda: coupled(904),
    "geared loop": lambda: coupled(1100, closed=True),
    "several modes": lambda: space(506, spare=2, sorts=("cylindrical", "screw", "product", "product")),
    "flexible loop": lambda: plane_loops(1), "flexible in space": lambda: space_loop(3, in_space=True),
    "flexible tree": lambda: space_tree(2, in_space=True),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_a_free_motion_takes_no_force(name: str) -> None:
    """Along what the loops allow M a + h - Q vanishes for the accelerations of the forward dynamics."""
    case = LOOPS[name]()
    solver = solver_of(case.model, getattr(case, "inputs", {}))
    q, u, a, rows = motion_of(solver)
    taken = np.abs(fm.mass_matrix(solver, q)) @ np.abs(a) + np.abs(fm.bias(solver, q, u))
    close(basis(rows).T @ tree_forces(solver, q, u, a), 0.0, taken.max(initial=0.0), 1e3)


def tree_forces(solver: fm.Solver, q: np.ndarray, u: np.ndarray, a: np.ndarray) -> np.ndarray:
    """With loops left open."""
    places, _ = Coordinates(solver.image).read_positions(q)
    return required(solver, True, places, u[None], a[None])[0]


@pytest.mark.parametrize("seed", seeds(12, 200, start=290000))
def test_drawn_mechanisms(seed: int) -> None:
    """Laws, supports, flexible bodies, springs in loops, drives: the motion that starts takes their forces alone."""
    try:
        model = draw(seed).model
        solver = solver_of(model)
    except (Refused, fm.AssemblyError):
        pytest.skip("no mechanism")
    if solver.image.sizes["frictions"] and (np.asarray(solver.image.arrays["friction_own"]) != 0).any():
        pytest.skip("friction on the joint's own reaction")
    if (np.asarray(solver.image.arrays["excitation_row"]) >= 0).any() or solver.image.sizes["bristles"]:
        pytest.skip("a program, or bristles that are not deflected as they slide")
    slips = [name for name in solver.image.variables.names() if name.endswith(".slip")]
    if any(solver.get(name) == 0.0 for name in slips) or (slips and not motion_of(solver)[1].any()):
        pytest.skip("a law that sticks, or breaks away")
    q, u, a, rows = motion_of(solver)
    forces = tree_forces(solver, q, u, a)
    taken = np.abs(fm.mass_matrix(solver, q)) @ np.abs(a) + np.abs(fm.bias(solver, q, u)) + np.abs(forces)
    close(basis(rows).T @ forces, 0.0, taken.max(initial=0.0), 1e5)


@pytest.mark.parametrize("back", [1, 9])
def test_long_trees_at_many_instants(back: int) -> None:
    """A thousand joints: the accelerations under the forces that are found are those that were asked for."""
    model = long_tree(back, 300, ("revolute", "prismatic", "spherical"), back=back)
    solver = solver_of(model)
    rng = np.random.default_rng(back)
    q, u, _, _ = motion_of(solver)
    a = rng.normal(size=(3, len(u)))
    found = fm.inverse_dynamics(solver, np.tile(q, (3, 1)), np.tile(u, (3, 1)), a)
    inputs = np.array([i for joint in solver.joint_names for i in input_of(solver, joint)], np.uint32)
    places = solver.image.variables.accelerations()
    for row, wanted in zip(found, a, strict=True):
        solver.write(inputs, row)
        assert_allclose(solver.read(places), wanted, rtol=0, atol=1e-7)


def input_of(solver: fm.Solver, joint: str) -> list[int]:
    """Of a joint without a free translation."""
    found = [solver.image.variables.references(f"{joint}.{kind}") for kind in ("tau", "f")]
    return [one for two in found for one in two]


def test_a_point_moves_as_its_jacobian_says() -> None:
    """Beside the velocities of bodies and named points that the core itself shows, of flexible bodies too."""
    shipped = [read_model(name) for name in ("arm6", "heavy_top", "cantilever", "branch_pendulum")]
    for model in (*shipped, space_tree(2, in_space=True).model):
        solver = solver_of(model)
        rng = np.random.default_rng(5)
        n = solver.image.sizes["speeds"]
        positions = solver.read(solver.image.variables.positions())
        u = rng.normal(size=n)
        solver.set_state(positions, u)
        for body in model.bodies:
            J = fm.point_jacobian(solver, solver.positions, body)
            v = np.concatenate([solver.get(f"{body.name}.v"), solver.get(f"{body.name}.w")])
            assert_allclose(J @ u, v, rtol=0, atol=1e-13 * max(1.0, np.abs(J).max() * np.abs(u).max()))
        for point in model.named_points:
            J = fm.point_jacobian(solver, solver.positions, point)
            scale = max(1.0, np.abs(J).max() * np.abs(u).max())
            assert_allclose(J[:3] @ u, solver.get(f"{point!r}.v"), rtol=0, atol=ROUND_OFF * scale)


def test_a_point_beside_the_origin_of_a_body() -> None:
    model = read_model("double_pendulum")
    solver = solver_of(model)
    body = model.bodies[1]
    q = solver.positions
    J = fm.point_jacobian(model, q, body.at(0.1, -0.2, 0.3))
    origin = fm.point_jacobian(model, q, "lower")
    R = np.array([solver.get("lower.quat")]).ravel()
    w, v = R[0], R[1:]
    arm = np.array([0.1, -0.2, 0.3])
    arm = arm + 2 * np.cross(v, np.cross(v, arm) + w * arm)
    assert_allclose(J[:3], origin[:3] + np.cross(origin[3:].T, arm).T, rtol=0, atol=1e-15)
    assert not fm.point_jacobian(model, q, model.ground.at(1, 2, 3)).any()


def test_many_instants_have_the_values_of_each() -> None:
    """Mass matrices are symmetric in all digits, although round-off differs in their columns."""
    model = read_model("arm6")
    solver, rng = solver_of(model), np.random.default_rng(2)
    q, u = rng.normal(size=(2, 3, 6))
    M, J = fm.mass_matrix(solver, q), fm.point_jacobian(solver, q, "link6")
    assert np.array_equal(M, M.swapaxes(1, 2))
    assert (J.shape, M.shape) == ((3, 6, 6), (3, 6, 6))
    p = fm.momentum(solver, q, u)
    for i in range(3):
        assert (M[i] == fm.mass_matrix(solver, q[i])).all()
        assert (J[i] == fm.point_jacobian(solver, q[i], "link6")).all()
        assert (p[i] == fm.momentum(solver, q[i], u[i])).all()


def test_the_input_of_an_excited_mode_is_a_motion_and_no_force() -> None:
    """The drive of a given motion is what moves its bodies, whatever acceleration the input asks for."""
    model = fm.Model("driven")
    a, b = (fm.Body(name, mass=1.0, com=(0.2, 0.1, 0.3), inertia=(0.3, 0.2, 0.25)) for name in "ab")
    turn = fm.Turn("y", role="excited", input="kappa_dot")
    model.add(a, b, fm.Joint("A", model.ground.at(), a.at(), modes=[turn]))
    model.add(fm.Revolute("B", a.at(0.5), b.at(), axis="x"))
    q, u, acceleration = np.random.default_rng(4).normal(size=(3, 2))
    force = fm.inverse_dynamics(solver_of(model), q, u, acceleration)
    assert_allclose(force - fm.bias(model, q, u), fm.mass_matrix(model, q) @ acceleration, rtol=1e-13)
    for value in (-2.0, 3.7):
        other = fm.inverse_dynamics(solver_of(model, {"A.kappa_dot": value}), q, u, acceleration)
        close(other, force, np.abs(force).max())


def test_the_state_of_a_solver_remains() -> None:
    model = read_model("four_bar")
    solver, twin = (fm.Solver(model) for _ in range(2))
    for one in (solver, twin):
        one.assemble()
        one.step(0.1)
    before = solver.state_save()
    fm.mass_matrix(solver, solver.positions), fm.bias(solver, solver.positions + 0.1)
    fm.point_jacobian(solver, solver.positions, "crank"), fm.momentum(solver, solver.positions, np.ones(3))
    assert solver.state_save() == before
    solver.step(0.2), twin.step(0.2)
    assert solver.state_save() == twin.state_save()


# Loops and actuators -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("actuator", ["A.tau", "B.tau", "C.tau", "D.tau"])
def test_an_actuator_in_a_loop(actuator: str) -> None:
    """A four-bar under a torque of each of its joints, also of the one that closes the loop."""
    solver = solver_of(read_model("four_bar"), {actuator: 3.7})
    q, u, a, _ = motion_of(solver)
    solver.set(actuator, 0.0)
    found = fm.inverse_dynamics(solver, q, u, a, actuated=[actuator])
    assert_allclose(found, [3.7], rtol=1e-9)


@pytest.mark.parametrize("factor", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_a_faster_motion_in_a_loop_takes_forces_by_the_square_of_its_speed(factor: float) -> None:
    """Without gravity time has no unit: what fits the loops fits at every speed, and what does not never does."""
    solver = fm.Solver(read_model("four_bar"))
    for k in range(3):
        solver.set(f"gravity[{k + 1}]", 0.0)
    solver.set("A.tau", 0.1)
    solver.assemble()
    solver.step(0.3)
    q, u, a, _ = motion_of(solver)
    solver.set("A.tau", 0.0)
    found = fm.inverse_dynamics(solver, q, factor * u, factor**2 * a, actuated=["A.tau"])
    assert_allclose(found, [0.1 * factor**2], rtol=1e-7)
    for rates, accelerations, level in ((u * [1, 1, 1.001], a, "velocities"), (u, a * [1, 1, 1.001], "accelerations")):
        with pytest.raises(ModelError, match=f"these {level} open the loops"):
            fm.inverse_dynamics(solver, q, factor * rates, factor**2 * accelerations, actuated=["A.tau"])


@pytest.mark.parametrize("name", LOOPS)
def test_actuators_in_loops_find_their_inputs(name: str) -> None:
    """Of the motion that starts under random inputs, whoever is named exerts what he did."""
    case = LOOPS[name]()
    inputs_are_found(solver_of(case.model, getattr(case, "inputs", {})), seed=len(name))


@pytest.mark.parametrize("seed", seeds(25, 400, start=291000))
def test_actuators_of_drawn_mechanisms_find_their_inputs(seed: int) -> None:
    inputs_are_found(drawn_with_inverse(seed), seed)


def inputs_are_found(solver: fm.Solver, seed: int) -> None:
    names = actuators(solver, seed)
    if names is None:
        pytest.skip("its inputs do not determine its motion")
    references = [solver.image.variables.references(one)[0] for one in names]
    values = np.random.default_rng(seed).uniform(-1.0, 1.0, len(names))
    values *= max(1.0, np.abs(tree_forces(solver, *motion_of(solver)[:3])).max(initial=0.0))
    solver.write(np.array(references, np.uint32), values)
    q, u, a, _ = motion_of(solver)
    taken = np.abs(fm.mass_matrix(solver, q)) @ np.abs(a) + np.abs(fm.bias(solver, q, u))
    size = max(taken.max(initial=0.0), np.abs(values).max(initial=0.0))
    found = fm.inverse_dynamics(solver, q, u, a, actuated=names)
    close(found, 0.0, size, 1e3)  # beside what they exert
    solver.write(np.array(references, np.uint32), 0.0 * values)
    close(fm.inverse_dynamics(solver, q, u, a, actuated=names), values, size, 1e3)


def test_a_slider_crank_takes_the_torque_of_virtual_work() -> None:
    """At rest, and at a constant rate without masses of the bars, where the slider's force acts by its lever."""
    crank, rod, mass, rate = 0.1, 0.3, 2.0, 7.0
    model = fm.Model("press", gravity=(0, 0, 0))
    bars = [fm.Body.rod(name, length=size, mass=1e-9) for name, size in (("crank", crank), ("rod", rod))]
    slider = fm.Body.box("slider", size=(0.06, 0.04, 0.04), mass=mass)
    A = fm.Revolute("A", model.ground.at(), bars[0].base, axis="z", q0=0.7)
    B = fm.Revolute("B", bars[0].tip, bars[1].base, axis="z")
    S = fm.Prismatic("S", model.ground.at(), slider.at(), axis="x", q0=0.35)
    model.add(*bars, slider, A, B, S, fm.Revolute("C", bars[1].tip, slider.at(), axis="z"))
    model.add(fm.Load("press", slider.at(), force=(-30.0, 0, 0)))

    def at(t: float) -> np.ndarray:
        """A.q, B.q, S.q after a time."""
        angle = 0.7 + rate * t
        lean = -np.arcsin(crank * np.sin(angle) / rod)
        return np.array([angle, lean - angle, crank * np.cos(angle) + rod * np.cos(lean)])

    h = 1e-3
    q, u = at(0.0), (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    a = (16 * (at(h) + at(-h)) - (at(2 * h) + at(-2 * h)) - 30 * at(0.0)) / (12 * h * h)
    found = fm.inverse_dynamics(model, [q, q], [0 * u, u], [0 * a, a], actuated=["A.tau"])
    lever = u[2] / rate
    assert_allclose(found[:, 0], [30.0 * lever, (mass * a[2] + 30.0) * lever], rtol=1e-7)


def test_a_load_that_turns_with_its_point_is_an_actuator() -> None:
    """A jet along the y axis of a bar's end, about which the bar leans; parameters are those of the Solver."""
    model, bar = fm.Model("jet", gravity=(0, 0, 0)), fm.Body.rod("bar", length=2.0, mass=3.0)
    model.add(bar, fm.Revolute("A", model.ground.at(), bar.base, axis="z"))
    model.add(fm.Load("jet", bar.at(2.0, 0, 0, rotation=fm.Rotation.about((0, 0, 1), 0.5)), axes="point"))
    solver = fm.Solver(compile(model, everything=True))
    for times in (1.0, 2.5):
        solver.set("bar.mass", times)
        inertia = fm.mass_matrix(solver, [0.9])[0, 0]
        found = fm.inverse_dynamics(solver, [0.9], [0.0], [0.4], actuated=["jet.force[2]"])
        assert_allclose(found, [0.4 * inertia / (2.0 * np.cos(0.5))], rtol=1e-13)


def test_an_actuator_that_moves_nothing_of_its_own_is_refused() -> None:
    """Two forces along one line, apart from round-off."""
    model, parent = fm.Model("arm"), None
    for name in "ABC":
        bar = fm.Body.rod(name.lower(), length=1.0, mass=1.0)
        model.add(bar, fm.Revolute(name, parent or model.ground.at(), bar.base, axis="y", q0=0.3))
        parent = bar.tip
    model.add(fm.Load("one", parent), fm.Load("other", parent.body.at(1.0, 0, 0)))
    q = [0.3, 0.4, 0.5]
    taken = fm.inverse_dynamics(model, q, actuated=["one.force[1]", "one.force[3]", "A.tau"])
    assert np.isfinite(taken).all()
    with pytest.raises(ModelError, match="of 3 actuators that of 'other' moves nothing that the loops"):
        fm.inverse_dynamics(model, q, actuated=["one.force[1]", "A.tau", "other.force[1]"])


@pytest.mark.parametrize("name", [name for name in LOOPS if "tree" not in name])
def test_other_motions_of_loops_beside_a_dense_balance(name: str) -> None:
    """Accelerations that the loops allow, but no forces make: M a + h - Q = J' lambda + B tau + E m, by least squares.
    E: the modes of flexible bodies, which take what their elasticity lacks."""
    case = LOOPS[name]()
    solver = solver_of(case.model, getattr(case, "inputs", {}))
    names = actuators(solver, seed=len(name))
    if names is None:
        pytest.skip("its inputs do not determine its motion")
    references = [solver.image.variables.references(one)[0] for one in names]
    q, u, a, rows = motion_of(solver)
    N = basis(rows)
    a = a + np.abs(a).max(initial=1.0) * (N @ np.random.default_rng(len(name)).uniform(-1, 1, N.shape[1]))
    B = np.stack([unit_force(solver, one) for one in references], axis=1)
    columns = np.hstack([B, rows.T, np.eye(len(u))[:, modal_speeds(solver)]])
    forces = tree_forces(solver, q, u, a)
    size = np.linalg.norm(columns, axis=0)
    wanted = np.linalg.lstsq(columns / size, forces, rcond=1e-12)[0] / size
    close(columns @ wanted, forces, np.abs(forces).max(), 1e3)
    found = fm.inverse_dynamics(solver, q, u, a, actuated=names)
    close(found, wanted[: len(names)], np.abs(wanted).max(), 1e5)


def test_a_table_of_a_measured_motion() -> None:
    """The torque that drove a simulation, from its Result."""
    model = read_model("four_bar")
    result = fm.simulate(model, stop=0.5, inputs={"A.tau": 2.0}, tolerance=1e-11)
    found = fm.inverse_dynamics(model, result, actuated=["A.tau"])
    assert found.shape == (len(result.time), 1)
    assert_allclose(found[:, 0], 2.0, atol=1e-7)


def test_a_spring_of_a_load_and_dry_friction() -> None:
    """Springs, dampers and loads count, dry friction too; at rest it exerts the mean of both sides."""
    model = fm.Model("m", gravity=(0, 0, 0))
    a, b = fm.Body.box("a", size=(0.1, 0.1, 0.1), mass=2.0), fm.Body.box("b", size=(0.1, 0.1, 0.1), mass=1.0)
    A = fm.Prismatic("A", model.ground.at(), a.at(), axis="x", stiffness=5.0, damping=0.5)
    B = fm.Prismatic("B", a.at(), b.at(), axis="x")
    model.add(a, b, A, B, fm.Load("push", b.at(), force=(0.7, 0, 0)), fm.Law.brake("grip", B, force=1.3))
    q, u, acc = {"A.q": 0.2, "B.q": 0.0}, {"A.qd": 3.0, "B.qd": [0.0, 2.0, -2.0]}, {"A.qdd": 1.0, "B.qdd": -4.0}
    found = fm.inverse_dynamics(model, [[0.2, 0.0]] * 3, u, acc)
    along = 2.0 * 1.0 + 1.0 * (1.0 - 4.0) + 5.0 * 0.2 + 0.5 * 3.0 - 0.7
    lower = 1.0 * (1.0 - 4.0) - 0.7
    assert_allclose(found, [[along, lower], [along, lower + 1.3], [along, lower - 1.3]], atol=1e-14)
    assert_allclose(fm.bias(model, q, {"A.qd": 3.0, "B.qd": 2.0}), 0.0, atol=0)


@pytest.mark.parametrize("seed", range(5))
def test_a_law_at_a_bound_of_velocity_exerts_the_mean_of_both_sides(seed: int) -> None:
    """Of two pieces that have nothing in common, at a bound that need not be rest."""
    rng = np.random.default_rng(seed)
    bound, mass = float(rng.uniform(-2, 2)) * (seed > 0), float(rng.uniform(0.1, 9))
    below, above = rng.uniform(-5, 5, 2)
    model = fm.Model("m", gravity=(0, 0, 0))
    a = fm.Body.box("a", size=(0.1, 0.1, 0.1), mass=mass)
    A = fm.Prismatic("A", model.ground.at(), a.at(), axis="x")
    pieces = [fm.Piece([[below]], v_upper=bound), fm.Piece([[above]], v_lower=bound)]
    model.add(a, A, fm.Law("law", A, pieces=pieces))
    speeds = [[bound - 0.1], [bound], [bound + 0.1]]
    forces = fm.inverse_dynamics(model, [[0.3]] * 3, speeds, [[0.7]] * 3)
    assert_allclose(forces[:, 0], 0.7 * mass - np.array([below, 0.5 * (below + above), above]), atol=1e-13)


def test_friction_slides_with_bristles_deflected() -> None:
    """The force of steady sliding, after the run in which the bristles found it."""
    model = fm.Model("m", gravity=(0, 0, 0))
    b = fm.Body.box("b", size=(0.1, 0.1, 0.1), mass=1.0)
    pads = fm.LuGre(0.5, 0.3, stribeck=0.4, stiffness=1e3, damping=10.0, viscous=0.1, preload=4.0)
    model.add(b, fm.Prismatic("A", model.ground.at(), b.at(), axis="x", u0=0.5, friction=pads))
    found = fm.inverse_dynamics(model, [0.0], [0.5], [0.0])
    assert_allclose(found, [4.0 * (0.3 + 0.2 * np.exp(-1.5625) + 0.1 * 0.5)], rtol=1e-12)


# Bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("call", "words"), [
    (lambda m: fm.inverse_dynamics(m, [0.1], [0, 0], [0, 0]), "has 2 positions, A.q, B.q, not 1"),
    (lambda m: fm.inverse_dynamics(m, [0.1, float("nan")]), "'B.q' is nan in instant 0"),
    (lambda m: fm.inverse_dynamics(m, {"A.q": 0.1}), "'B.q' is missing among the positions"),
    (lambda m: fm.inverse_dynamics(m, np.zeros((3, 2)), np.zeros((2, 2))), "3 instants of positions and 2 of"),
    (lambda m: fm.inverse_dynamics(m, "q"), "are given as 'q', which are not numbers"),
    (lambda m: fm.inverse_dynamics(m, {"A.q": [1, 2], "B.q": [1, 2, 3]}), "different numbers of instants"),
    (lambda m: fm.point_jacobian(m, [0, 0], "lowr"), "has no body or named point 'lowr'. The nearest name is 'lower'"),
    (lambda m: fm.inverse_dynamics(m, [0, 0], actuated=["A.q"]), "'A.q' is not the input of a force"),
    (lambda m: fm.inverse_dynamics(m, [0, 0], actuated=["A.tau", "A.tau", "B.tau"]), "3 actuators"),
    (lambda m: fm.inverse_dynamics(m, [0.3, 0], actuated=["A.tau"]), "cannot make this motion"),
])  # fmt: skip
def test_what_is_refused(call: Any, words: str) -> None:
    with pytest.raises(ModelError) as found:
        call(read_model("double_pendulum"))
    assert words in str(found.value)


def test_loops_name_the_choices() -> None:
    model = read_model("four_bar")
    q = solver_of(model).positions
    with pytest.raises(ModelError, match=r"1 degrees of freedom: .* Name 1 inputs .* A\.tau, B\.tau, D\.tau, C\.tau"):
        fm.inverse_dynamics(model, q)
    with pytest.raises(ModelError, match="leave a gap of"):
        fm.inverse_dynamics(model, q + np.array([0.1, 0.0, 0.0]), actuated=["A.tau"])
    with pytest.raises(ModelError, match="these velocities open the loops, at"):
        fm.inverse_dynamics(model, q, [1, 0, 0], actuated=["A.tau"])
    with pytest.raises(ModelError, match="these accelerations open the loops"):
        fm.inverse_dynamics(model, q, None, [100.0, 0, 0], actuated=["A.tau"])


def test_own_friction_is_refused() -> None:
    model, b = fm.Model("m"), fm.Body.rod("b", length=1.0, mass=1.0)
    pads = fm.LuGre(0.3, 0.2, stribeck=0.1, stiffness=1e3, own=True, radius=0.02)
    model.add(b, fm.Revolute("A", model.ground.at(), b.base, axis="y", friction=pads))
    with pytest.raises(SolverError, match="reaction of its own joint"):
        fm.inverse_dynamics(model, [0.1])
    assert_allclose(fm.gravity_forces(model, [0.0]), [-0.5 * 9.81], rtol=1e-15)


def five_bar(*path: float) -> fm.Model:
    """A crank that follows a path, and one that nothing holds."""
    model = fm.Model("five_bar")
    bars = [fm.Body(name, mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1)) for name in "abcd"]
    first, second = model.ground.at(), model.ground.at(0.8, 0, 0)
    turn = fm.Turn("z", role="excited", path=fm.Path.polynomial(*path))
    model.add(*bars, fm.Joint("A", first, bars[0].at(), modes=(turn,)))
    model.add(fm.Revolute("B", bars[0].at(1, 0, 0), bars[2].at(), axis="z", q0=-1.5))
    model.add(fm.Revolute("D", second, bars[1].at(), axis="z", q0=1.2))
    model.add(fm.Revolute("E", bars[1].at(1, 0, 0), bars[3].at(), axis="z", q0=1.5))
    model.add(fm.Revolute("C", bars[2].at(1, 0, 0), bars[3].at(1, 0, 0), axis="z", cut=True))
    return model


def test_what_follows_a_path_in_a_loop_may_be_anywhere_on_it_or_beside_it() -> None:
    """The motion that a path makes takes no further force, at every instant, also where the model has another path."""
    result = fm.simulate(five_bar(1.9, 0.2, 0.3), stop=0.5, interval=0.05)
    assert np.ptp(result["A.eta"]) > 0.1
    for path in ((1.9, 0.2, 0.3), (1.9, -0.4, 1.0)):
        forces = fm.inverse_dynamics(five_bar(*path), result, actuated=["D.tau"])
        assert_allclose(forces, 0.0, atol=1e-6)
    a = np.stack([result[name] for name in ("A.kappa_dot", "B.qdd", "D.qdd", "E.qdd")], axis=1)
    q = {name: result[name] for name in ("A.eta", "B.q", "D.q", "E.q")}
    u = {name: result[name] for name in ("A.kappa", "B.qd", "D.qd", "E.qd")}
    with pytest.raises(ModelError, match="these accelerations open the loops"):
        fm.inverse_dynamics(five_bar(1.9, 0.2, 0.3), q, u, a + np.eye(4)[0], actuated=["D.tau"])


def test_programs_are_refused_in_loops() -> None:
    model = read_model("rpsup")
    with pytest.raises(ModelError, match=r"Read 'P\.drive' of a simulation"):
        fm.inverse_dynamics(model, fm.Solver(model).positions)

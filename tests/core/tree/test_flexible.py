"""Flexible bodies: closed forms, the oracle of mass points, rigid limits, energy."""

import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.compiler.kinds import BODY
from fmumbs.compiler.names import Names
from fmumbs.readers import read_model
from fmumbs.run import Solver
from oracle.flexible import FlexibleOracle, Present
from support.flexible_models import BOUNDARIES, Flexible, plane_loops, plane_tree, space_loop, space_tree

AGREEMENT = 1e-9
"""Relative to the largest acceleration or force: the oracle's mass matrix has a condition of up to 1e6."""


def started(case: Flexible) -> Solver:
    solver = Solver(compile(case.model))
    solver.assemble()
    for name, value in case.inputs.items():
        solver.set(name, value)
    return solver


def present(solver: Solver, case: Flexible) -> Present:
    q: dict[str, Any] = {}
    u: dict[str, Any] = {}
    for joint in case.model.joints:
        if joint.name in case.cuts(solver.image) or isinstance(joint, fm.Weld):
            continue
        if isinstance(joint, fm.Free):
            q[joint.name] = np.concatenate([solver.get(f"{joint.name}.r"), solver.get(f"{joint.name}.q")])
            u[joint.name] = np.concatenate([solver.get(f"{joint.name}.v"), solver.get(f"{joint.name}.w")])
        else:
            q[joint.name], u[joint.name] = solver.get(f"{joint.name}.q"), solver.get(f"{joint.name}.qd")
    for name in case.clouds:
        q[name], u[name] = np.atleast_1d(solver.get(f"{name}.q")), np.atleast_1d(solver.get(f"{name}.qd"))
    return Present(q, u)


def assert_agrees(solver: Solver, case: Flexible) -> None:
    oracle = FlexibleOracle(case.model, case.clouds, case.cuts(solver.image))
    answer = oracle.solve(present(solver, case), case.inputs)
    scale = max(1.0, *(np.abs(value).max(initial=0.0) for value in answer.udot.values()))
    for name, expected in answer.udot.items():
        if name in case.clouds:
            found: Any = np.atleast_1d(solver.get(f"{name}.qdd"))
        elif isinstance(case.model[name], fm.Weld):
            continue
        elif isinstance(case.model[name], fm.Free):
            found = np.concatenate([solver.get(f"{name}.a"), solver.get(f"{name}.alpha")])
        else:
            found = np.atleast_1d(solver.get(f"{name}.qdd"))
        assert_allclose(found, expected, rtol=0, atol=AGREEMENT * scale, err_msg=name)
    for name, (r, v, a) in answer.points.items():
        assert_allclose(solver.get(f"{name}.r"), r, rtol=0, atol=1e-12 * max(1.0, np.abs(r).max()))
        assert_allclose(solver.get(f"{name}.v"), v, rtol=0, atol=1e-11 * max(1.0, np.abs(v).max()))
        assert_allclose(solver.get(f"{name}.a"), a, rtol=0, atol=AGREEMENT * scale, err_msg=name)
    for b in case.model.bodies:
        r, R = answer.poses[b.name]
        assert_allclose(solver.get(f"{b.name}.r"), r, rtol=0, atol=1e-12 * max(1.0, np.abs(r).max()))
        turned = fm.Rotation.quaternion(*solver.get(f"{b.name}.quat")).matrix
        assert_allclose(turned, R, rtol=0, atol=1e-12)
    assert_allclose(solver.get("solver.energy"), answer.energy, rtol=1e-10, atol=1e-10)
    assert_forces_balance(solver, case, oracle, answer, scale)


def assert_forces_balance(solver: Solver, case: Flexible, oracle: Any, answer: Any, scale: float) -> None:
    """What crosses a joint is what its subtree's masses take, less what acts on them from elsewhere."""
    frames = {p: oracle.frame(answer.poses, present(solver, case).q, p) for p in points_of(case.model)}
    state = present(solver, case)
    zero = np.zeros(oracle.count)
    positions = oracle.points(state, zero)
    firsts = np.cumsum([0, *(len(c.masses) for c in oracle.clouds.values())])
    where = {name: positions[a:b] for name, a, b in zip(oracle.clouds, firsts, firsts[1:], strict=False)}
    for joint in oracle.tree:
        force, torque = np.zeros(3), np.zeros(3)
        origin = frames[joint.M][0]
        carried = oracle.subtree(joint)
        for name in carried:
            pull = oracle.clouds[name].masses[:, None] * (answer.accelerations[name] - np.array(case.model.gravity))
            force += pull.sum(axis=0)
            torque += np.cross(where[name] - origin, pull).sum(axis=0)
        for load in case.model.loads:
            if load.P.body.name in carried:
                f = solver.get(f"{load.name}.force")
                force -= f
                torque -= solver.get(f"{load.name}.torque") + np.cross(frames[load.P][0] - origin, f)
        for spring in case.model.springs:
            for end, other in ((spring.P, spring.Q), (spring.Q, spring.P)):
                if end.body.name in carried:
                    d = frames[other][0] - frames[end][0]
                    f = solver.get(f"{spring.name}.f") * d / np.linalg.norm(d)
                    force -= f
                    torque -= np.cross(frames[end][0] - origin, f)
        for cut in oracle.cuts:
            for end, sign in ((cut.M, 1.0), (cut.F, -1.0)):
                if end.body.name in carried:
                    R, at = frames[cut.F][1], frames[cut.M][0]
                    f = sign * (R @ solver.get(f"{cut.name}.reaction.f"))
                    force -= f
                    torque -= sign * (R @ solver.get(f"{cut.name}.reaction.t")) + np.cross(at - origin, f)
        R = frames[joint.F][1]
        most = max(1.0, np.abs(force).max(), np.abs(torque).max(), scale)
        assert_allclose(solver.get(f"{joint.name}.wrench.f"), R.T @ force, rtol=0, atol=AGREEMENT * most)
        assert_allclose(solver.get(f"{joint.name}.wrench.t"), R.T @ torque, rtol=0, atol=AGREEMENT * most)


def points_of(model: fm.Model) -> list[fm.Point]:
    return [end for e in (*model.joints, *model.springs, *model.loads) for end in e.ends]


# Against the oracle -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("seed", range(4))
def test_trees_in_a_plane(boundary: str, seed: int) -> None:
    case = plane_tree(seed, boundary)
    solver = started(case)
    assert_agrees(solver, case)
    solver.step(0.02)
    assert_agrees(solver, case)


@pytest.mark.parametrize("seed", range(10))
def test_trees_in_space(seed: int) -> None:
    case = space_tree(seed)
    assert_agrees(started(case), case)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("seed", range(4))
def test_loops_in_a_plane(boundary: str, seed: int) -> None:
    case = plane_loops(seed, boundary)
    solver = started(case)
    assert solver.get("solver.position_violation") < 1e-11
    assert_agrees(solver, case)
    solver.step(0.02)
    assert solver.get("solver.position_violation") < 1e-11
    assert_agrees(solver, case)
    assert_jacobian(solver, case)


@pytest.mark.parametrize("seed", range(8))
def test_loops_in_space(seed: int) -> None:
    case = space_loop(seed)
    solver = started(case)
    assert solver.get("solver.position_violation") < 1e-11
    assert_agrees(solver, case)
    assert_jacobian(solver, case)


def assert_jacobian(solver: Solver, case: Flexible) -> None:
    """Its rows span what a complex step of the geometry gives."""
    oracle = FlexibleOracle(case.model, case.clouds, case.cuts(solver.image))
    state, arrays = present(solver, case), solver.image.arrays
    theirs = oracle.jacobian(lambda delta: oracle.constraint(state, delta))
    starts = dict(zip(solver.joint_names, arrays["joint_u"].tolist(), strict=True))
    names = Names(arrays).elements(BODY)
    starts |= {name: arrays["link_u"][arrays["body_link"][names.index(name)]] for name in case.clouds}
    order = np.concatenate([starts[name] + np.arange(part.stop - part.start) for name, part in oracle.slices.items()])
    spans = []
    for J in (solver.jacobian[:, order.astype(int)], theirs):
        _, size, rows = np.linalg.svd(J)
        rows = rows[: int(np.sum(size > 1e-9 * size[0]))]
        spans.append(rows.T @ rows)
    assert_allclose(*spans, rtol=0, atol=1e-10)


# Closed forms -------------------------------------------------------------------------------------------------------

L, MASS, EI = 1.3, 0.7, 12.0
EULER = {  # beta L, the first three beside rigid motions
    "clamped-free": (1.8751040687119611, 4.694091132974175, 7.854757438237613),
    "free-clamped": (1.8751040687119611, 4.694091132974175, 7.854757438237613),
    "pinned-pinned": (np.pi, 2 * np.pi, 3 * np.pi),
    "free-free": (4.730040744862704, 7.853204624095838, 10.995607838001671),
    "clamped-clamped": (4.730040744862704, 7.853204624095838, 10.995607838001671),
    "clamped-pinned": (3.926602312047919, 7.068582745628732, 10.210176122813031),
    "pinned-clamped": (3.926602312047919, 7.068582745628732, 10.210176122813031),
    "pinned-free": (3.926602312047919, 7.068582745628732, 10.210176122813031),
    "clamped-sliding": (2.3650203724313520, 5.497803919000836, 8.639379828699742),
    "sliding-free": (2.3650203724313520, 5.497803919000836, 8.639379828699742),
    "sliding-sliding": (np.pi, 2 * np.pi, 3 * np.pi),
    "pinned-sliding": (np.pi / 2, 3 * np.pi / 2, 5 * np.pi / 2),
}


def eigenfrequencies(model: fm.Model, joints: tuple[str, ...], bodies: tuple[str, ...], rigid: int = 0) -> Any:
    """Of small motions about the undeformed rest [rad/s], from the core's accelerations; `rigid`: motions left out."""
    solver = Solver(compile(model))
    places = [(f"{name}.q", 1) for name in joints]
    places += [(f"{name}.q", len(np.atleast_1d(solver.get(f"{name}.q")))) for name in bodies]
    columns = []
    size = 1e-4

    def at(name: str, k: int, count: int, value: float) -> Any:
        solver.reset()
        vector = np.zeros(count)
        vector[k] = value
        solver.set(name, vector if count > 1 else float(vector[0]))
        solver.assemble()
        return np.concatenate([np.atleast_1d(solver.get(f"{place[:-2]}.qdd")) for place, _ in places])

    for name, count in places:
        for k in range(count):
            columns.append((at(name, k, count, size) - at(name, k, count, -size)) / (2 * size))
    squares = np.sort(-np.linalg.eigvals(np.array(columns).T).real)
    return np.sqrt(squares[rigid:])


def in_euler(frequencies: Any) -> Any:
    return np.sqrt(np.asarray(frequencies) / np.sqrt(EI / (MASS * L**3)))


def uniform(boundary: str, modes: int, **options: Any) -> Any:
    return fm.ModalBody.beam("b", length=L, mass=MASS, EI=EI, modes=modes, boundary=boundary, **options)


@pytest.mark.parametrize("boundary", EULER)
def test_modes_have_the_frequencies_of_their_supports(boundary: str) -> None:
    assert_allclose(in_euler(uniform(boundary, 3).frequencies), EULER[boundary], rtol=1e-13)
    high = in_euler(uniform(boundary, 24).frequencies)
    assert_allclose(np.diff(high)[2:], np.pi, rtol=1e-2)


@pytest.mark.parametrize("boundary", ["clamped-free", "clamped-clamped", "clamped-pinned", "clamped-sliding"])
def test_a_beam_welded_to_the_ground_has_the_frequencies_of_its_modes(boundary: str) -> None:
    model = fm.Model("cantilever", gravity=(0, 0, 0))
    beam = uniform(boundary, 3)
    model.add(beam, fm.Weld("w", model.ground.at(), beam.base))
    assert_allclose(in_euler(eigenfrequencies(model, (), ("b",))), EULER[boundary], rtol=1e-7)


def test_a_hanging_point_may_be_anywhere_on_the_beam() -> None:
    """Modes of a free beam that is clamped at its tip, where the weld's frame moves with them.

    None of them bends there as a clamped beam does, so that the error of their sum falls as 1 / modes.
    """
    found = []
    for modes in (6, 12, 24):
        model = fm.Model("cantilever", gravity=(0, 0, 0))
        beam = uniform("free-free", modes)
        model.add(beam, fm.Weld("w", model.ground.at(), beam.tip))
        found.append(in_euler(eigenfrequencies(model, (), ("b",)))[0])
    errors = np.array(found) / EULER["clamped-free"][0] - 1
    assert (errors > 0).all()  # Rayleigh: from above
    assert_allclose(errors[:-1] / errors[1:], 2.0, rtol=0.05)
    assert errors[-1] < 0.02


@pytest.mark.parametrize("boundary", ["clamped-free", "free-free", "pinned-free"])
def test_a_pinned_beam_tends_to_the_frequencies_of_pinned_and_free(boundary: str) -> None:
    model = fm.Model("pinned", gravity=(0, 0, 0))
    beam = uniform(boundary, 12)
    model.add(beam, fm.Revolute("J", model.ground.at(), beam.base))
    found = in_euler(eigenfrequencies(model, ("J",), ("b",), rigid=1))[:2]
    assert_allclose(found, EULER["pinned-free"][:2], rtol=2e-3)
    assert (found > np.array(EULER["pinned-free"][:2]) * (1 - 1e-6)).all()


def test_two_slides_and_a_pin_leave_a_beam_free() -> None:
    model = fm.Model("afloat", gravity=(0, 0, 0))
    beam, x, y = uniform("free-free", 3), fm.Body("x", mass=0.0), fm.Body("y", mass=0.0)
    model.add(
        x, y, beam,
        fm.Prismatic("X", model.ground.at(), x.at(), axis="x"),
        fm.Prismatic("Y", x.at(), y.at(), axis="y"),
        fm.Revolute("T", y.at(), beam.at(0.4 * L)),
    )  # fmt: skip
    assert_allclose(in_euler(eigenfrequencies(model, ("X", "Y", "T"), ("b",), rigid=3)), EULER["free-free"], rtol=1e-6)


def test_a_tip_mass_lowers_the_frequency_as_rayleigh_has_it() -> None:
    """A cantilever with a tip mass of mu times its own: 1 + cos b cosh b + mu b (cos b sinh b - sin b cosh b) = 0."""
    mu = 2.0
    b = 1.0761962
    for _ in range(20):
        def f(b: float) -> float:
            return 1 + np.cos(b) * np.cosh(b) + mu * b * (np.cos(b) * np.sinh(b) - np.sin(b) * np.cosh(b))

        b -= f(b) / ((f(b + 1e-6) - f(b - 1e-6)) / 2e-6)
    model = fm.Model("tip", gravity=(0, 0, 0))
    beam, tip = uniform("clamped-free", 20), fm.Body("tip", mass=mu * MASS)
    model.add(beam, tip, fm.Weld("w", model.ground.at(), beam.base), fm.Weld("t", beam.tip, tip.at()))
    assert_allclose(in_euler(eigenfrequencies(model, (), ("b",)))[0], b, rtol=1e-4)


def test_a_load_bends_a_cantilever_by_its_length_cubed_over_3_EI() -> None:
    model = fm.Model("cantilever", gravity=(0, 0, 0))
    beam = uniform("clamped-free", 24, damping_ratio=1.0)
    model.add(beam, fm.Weld("w", model.ground.at(), beam.base), fm.Load("F", beam.tip, force=(0, 0.01, 0)))
    solver = Solver(compile(model))
    K = np.array(beam.stiffness)
    rows = np.array(beam.node(beam.tip)[1])
    solver.set("b.q", np.linalg.solve(K, rows[:, 1] * 0.01))
    solver.assemble()
    assert_allclose(solver.get("b.qdd"), 0.0, atol=1e-9)
    assert_allclose(solver.get("b.tip.r")[1], 0.01 * L**3 / (3 * EI), rtol=1e-5)
    assert_allclose(solver.get("w.reaction.t")[2], -0.01 * L, rtol=1e-9)


# Limits and invariants ----------------------------------------------------------------------------------------------


def chain(EI: float = 60.0, damping: float = 0.0, plane: str = "xy") -> fm.Model:
    """A swinging beam with another on its tip and a rod at its middle."""
    normal = {"xy": "z", "xz": "-y"}[plane]
    model = fm.Model("chain", gravity=(0, -9.81, 0) if plane == "xy" else (0, 0, -9.81))
    options: dict[str, Any] = {"EI": EI, "damping_ratio": damping, "plane": plane}
    first = fm.ModalBody.beam("first", length=1.0, mass=1.0, **options)
    second = fm.ModalBody.beam("second", length=0.8, mass=0.6, boundary="pinned-pinned", **options)
    rod = fm.Body.rod("rod", length=0.5, mass=0.3)
    model.add(
        first, second, rod,
        fm.Revolute("A", model.ground.at(), first.base, axis=normal, q0=0.3),
        fm.Revolute("B", first.tip, second.base, axis=normal, q0=0.5),
        fm.Revolute("C", first.at(0.5), rod.base, axis=normal, q0=-0.5),
    )  # fmt: skip
    return model


def run(model: fm.Model, stop: float, outputs: tuple[str, ...], tolerance: float = 1e-9, interval: float = 0.1) -> Any:
    solver = Solver(compile(model).with_options(tolerance=tolerance))
    solver.assemble()
    rows = []
    for t in np.arange(0.0, stop + 1e-9, interval):
        solver.step(t)
        rows.append(np.concatenate([np.ravel(solver.get(name)) for name in outputs]))
    return np.array(rows)


@pytest.mark.parametrize("plane", ["xy", "xz"])
def test_energy_stays_over_ten_seconds_of_large_rotation(plane: str) -> None:
    found = run(chain(plane=plane), 10.0, ("solver.energy", "A.q", "first.q", "second.q"))
    assert np.ptp(found[:, 1]) > 2.0  # it swings through
    assert np.abs(found[:, 2]).max() > 0.01  # and bends
    assert np.ptp(found[:, 0]) < 1e-6


def test_both_planes_are_the_same_mechanism() -> None:
    a, b = (run(chain(plane=plane), 1.0, ("A.q", "B.q", "first.q", "second.q")) for plane in ("xy", "xz"))
    assert_allclose(a, b, rtol=0, atol=1e-6)


def test_damping_takes_energy_away() -> None:
    energy = run(chain(damping=0.05), 2.0, ("solver.energy",))[:, 0]
    assert (np.diff(energy) < 1e-9).all()
    assert energy[-1] < energy[0] - 1e-3


def test_a_stiff_beam_moves_as_a_rigid_one() -> None:
    """The distance from the rigid motion falls as 1 / EI."""
    model = fm.Model("chain", gravity=(0, -9.81, 0))
    first, second = fm.Body.rod("first", length=1.0, mass=1.0), fm.Body.rod("second", length=0.8, mass=0.6)
    rod = fm.Body.rod("rod", length=0.5, mass=0.3)
    model.add(
        first, second, rod,
        fm.Revolute("A", model.ground.at(), first.base, q0=0.3),
        fm.Revolute("B", first.tip, second.base, q0=0.5),
        fm.Revolute("C", first.at(0.5), rod.base, q0=-0.5),
    )  # fmt: skip
    tips = ("second.tip.r", "rod.tip.r")
    rigid = run(model, 0.6, tips)
    far = [np.abs(run(chain(EI=EI, damping=0.1), 0.6, tips) - rigid).max() for EI in (1e3, 1e4, 1e5)]
    assert far[0] < 0.05
    assert 5 < far[0] / far[1] < 20
    assert 5 < far[1] / far[2] < 20


def test_saved_state_goes_on_bit_for_bit_at_every_level() -> None:
    image = compile(chain())
    ends = []
    for level in (0, 1):
        solver = Solver(image)
        try:
            solver.use_level(level)
        except fm.SolverError:
            continue
        solver.assemble()
        solver.step(0.31)
        state = solver.state_save()
        solver.step(0.9)
        ends.append(solver.state_save())
        other = Solver(image)
        other.use_level(level)
        other.state_load(state)
        other.step(0.9)
        ends.append(other.state_save())
    assert len(set(ends)) == 1


def test_loops_close_by_their_joints_rather_than_by_bending() -> None:
    """Guesses that are off by centimetres: the modes hardly yield, although that would take the least inertia."""
    model = fm.Model("four_bar", gravity=(0, 0, 0))
    crank, rocker = fm.Body.rod("crank", length=1.0, mass=1.0), fm.Body.rod("rocker", length=1.0, mass=1.0)
    coupler = fm.ModalBody.beam("coupler", length=1.0, mass=1.0, EI=2000.0)
    model.add(
        crank, coupler, rocker,
        fm.Revolute("A", model.ground.at(), crank.base, q0=1.0),
        fm.Revolute("B", crank.tip, coupler.base, q0=-1.05),
        fm.Revolute("D", model.ground.at(1.1, 0, 0), rocker.base, q0=1.1),
        fm.Revolute("C", coupler.tip, rocker.tip),
    )  # fmt: skip
    solver = Solver(compile(model))
    solver.assemble()
    assert np.abs(solver.get("coupler.q")).max() < 1e-4
    assert solver.get("solver.position_violation") < 1e-12


def test_a_whole_state_has_the_modes_behind_the_joint_by_which_their_body_hangs() -> None:
    solver = Solver(compile(chain()))
    names = [name for name in solver.joint_names if name != "B"]
    assert names == ["A", "C"]
    solver.set_state([0.1, 0.01, 0.02, 0.2, 0.03, 0.04, 0.3], np.arange(7.0))
    assert solver.get("A.q") == 0.1
    assert solver.get("B.q") == 0.2
    assert_allclose(solver.get("first.q"), (0.01, 0.02))
    assert_allclose(solver.get("second.q"), (0.03, 0.04))
    assert_allclose(solver.get("second.qd"), (4, 5))
    assert solver.get("C.qd") == 6


@pytest.mark.parametrize("name", ["four_link_flexible", "multi_loop_flexible", "sliders"])
def test_the_papers_examples_stay_closed_in_steps_of_a_hundredth(name: str) -> None:
    """By Runge-Kutta's method, whose only loss is what it takes from the beams' fast modes."""
    solver = Solver(compile(read_model(name)).with_options(scheme="rk4", step=0.01))
    solver.assemble()
    energy = [solver.get("solver.energy")]
    for t in np.arange(0.5, 20.1, 0.5):
        solver.step(t)
        energy.append(solver.get("solver.energy"))
        assert solver.get("solver.position_violation") < 1e-11
        assert solver.get("solver.velocity_violation") < 1e-10
    assert (np.diff(energy) < 1e-6).all()


def test_derivatives_of_outputs() -> None:
    case = plane_tree(3)
    solver = started(case)
    assert_allclose(solver.output_derivative("b0.q"), solver.get("b0.qd"), rtol=1e-14)
    assert_allclose(solver.output_derivative("b0.qd"), solver.get("b0.qdd"), rtol=1e-14)
    assert_allclose(solver.output_derivative("b0.tip.v"), solver.get("b0.tip.a"), rtol=1e-14)
    unknowns, h = ["j0.qdd", "b0.tip.a[2]", "j0.wrench.t[3]"], 1e-2
    found = solver.directional_derivative(unknowns, ["l.force[1]"], [1.0])
    sides = []
    for side in (-h, h):
        force = np.array(case.model["l"].force)
        solver.set("l.force[1]", force[0] + side)
        sides.append([solver.get(name) for name in unknowns])
    assert_allclose(found, (np.array(sides[1]) - sides[0]) / (2 * h), rtol=1e-7, atol=1e-9)


# What is refused ----------------------------------------------------------------------------------------------------

MODES: dict[str, Any] = {
    "mass": 1.0, "inertia": (0, 1, 1), "points": {"tip": (1, 0, 0)}, "shapes": {"tip": [(0, 1, 0)]}, "stiffness": 1.0,
    "shape_mass": [(0, 0.5, 0)], "shape_moment": [np.zeros((3, 3))], "modal_mass": 0.5,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stiffness": -1.0}, "stiffness is below zero"),
        ({"stiffness": np.ones((2, 2))}, r"stiffness is not an array of \(1, 1\) finite numbers"),
        ({"damping": [np.nan]}, "damping is not an array"),
        ({"modal_mass": None}, "nor is shape_product. Give one of them"),
        ({"modal_mass": 0.1}, "do not belong to one body"),
        ({"shape_mass": np.zeros((0, 3))}, "has 0 modes. Give 1 to 24, or a Body"),
        ({"shape_mass": [(0, 0, 0.5)]}, "leaves the plane xy"),
        ({"plane": "zx"}, "must be one of xy, xz, yz"),
        ({"shapes": {}}, "shapes has nothing for the point 'tip'"),
        ({"shapes": {"tap": [(0, 1, 0)]}}, "The nearest name is 'tip'"),
        ({"q0": (1, 2)}, "q0 has 2 entries, but must have 1"),
        ({"points": {"q": (1, 0, 0)}, "shapes": {"q": [(0, 1, 0)]}}, "every body has a variable of that name"),
    ],
)
def test_modes_of_no_body_are_refused(changes: Any, words: str) -> None:
    with pytest.raises(fm.ModelError, match=words):
        fm.ModalBody("b", **(MODES | changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"EI": 0.0}, "EI is 0, but must be above zero"),
        ({"mass": None}, "neither mass nor density is given"),
        ({"density": 1.0}, "density or area is given without the other"),
        ({"density": 1.0, "area": 1.0}, "both mass and density are given"),
        ({"mass": None, "density": 1.0, "area": 0.0}, "area"),
        ({"modes": 0}, "modes is 0, but must be 1 to 24. For none take Body.rod"),
        ({"modes": 25}, "must be 1 to 24"),
        ({"boundary": "clamped"}, "boundary is 'clamped', but must be two of clamped, pinned, free, sliding"),
        ({"along": "z"}, "cannot bend in the plane 'xy'"),
        ({"damping_ratio": -0.1}, "damping_ratio is -0.1, below zero"),
    ],
)
def test_beams_that_are_none_are_refused(changes: Any, words: str) -> None:
    with pytest.raises(fm.ModelError, match=words):
        fm.ModalBody.beam("b", **({"length": 1.0, "mass": 1.0, "EI": 1.0} | changes))


def test_a_place_off_the_beam_and_a_point_without_a_name_are_refused() -> None:
    beam, plate = uniform("clamped-free", 1), fm.ModalBody("b", **MODES)
    ground = fm.Model("m").ground
    for point, words in ((beam.at(1.4), "is 1.4 m along the beam"), (plate.at(0.5), "no named point of the flexible")):
        model = fm.Model("m")
        model.add(point.body, fm.Weld("w", ground.at(), point))
        with pytest.raises(fm.ModelError, match=words):
            compile(model)


def test_flexible_bodies_print_compare_pickle_and_can_be_replaced() -> None:
    beam = uniform("clamped-free", 2)
    assert pickle.loads(pickle.dumps(beam)) == beam
    assert replace(beam, q0=(0.1, 0.0)).q0 == (0.1, 0.0)
    assert repr(beam).startswith("ModalBody(name='b'")
    assert beam.modes == 2
    with pytest.raises(FrozenInstanceError):
        beam.q0 = ()  # type: ignore[misc]

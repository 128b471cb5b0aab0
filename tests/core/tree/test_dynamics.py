"""The core's dynamics against the oracle on random trees, and against the transcription of riccati-mstmm."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import fmumbs as fm
from oracle import Oracle, branch_systems
from oracle.riccati import PLANE, SPACE, Layout, multiply_chain
from support.strategies import JOINTS, Case, trees
from support.sweeps import examples, seeds
from support.tree_agreement import AGREEMENT, assert_agrees, present_state, started

LAWS = {
    "Actuator": (),  # rotor_inertia can be tuned where the model has one
    "Revolute": ("stiffness", "damping", "rest", "rotor_inertia"),
    "Prismatic": ("stiffness", "damping", "rest", "rotor_inertia"),
    "Spherical": ("stiffness", "damping"),
    "Free": (),
    "Weld": (),
}
PLACES = {"plane": PLANE, "space": SPACE}


def assert_starts_right(case: Case) -> None:
    assert_agrees(started(case.model, case.inputs), case)


# The core and the oracle -----------------------------------------------------------------------------------


@examples(15, 150, trees())
def test_random_trees(case: Case) -> None:
    assert_starts_right(case)


@pytest.mark.parametrize("kind", JOINTS)
@examples(4, 25, data=st.data())
def test_trees_of_one_kind_of_joint(kind: str, data: Any) -> None:
    assert_starts_right(data.draw(trees(kinds=(kind,))))


@examples(7, 40, trees())
def test_random_trees_in_motion(case: Case) -> None:
    """The state after a few steps is one of the mechanism: unit quaternions, and all the rest follows from it."""
    solver = started(case.model, case.inputs)
    solver.step(0.01)
    solver.step(0.03)
    for joint in case.model.joints:
        if isinstance(joint, fm.Spherical | fm.Free):
            assert_allclose(np.linalg.norm(solver.get(f"{joint.name}.q")), 1.0, rtol=1e-14)
    assert_agrees(solver, case)


@examples(7, 40, trees(), st.integers(0, 2**32 - 1))
def test_tuned_parameters_act_as_those_of_the_model(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    solver = started(case.model, case.inputs)
    model = fm.Model("tuned", gravity=rng.uniform(-5, 5, 3))
    solver.set("gravity", model.gravity)
    for body in case.model.bodies:
        tuned = replace(body, mass=body.mass * 1.3, inertia=0.7 * np.array(body.inertia))
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = tuned.inertia
        solver.set(f"{body.name}.mass", tuned.mass)
        solver.set(f"{body.name}.inertia", (xx, yy, zz, xy, xz, yz))
        model.add(tuned)
    for element in (*case.model.joints, *case.model.forces):
        numbers = [name for name, value in vars(element).items() if isinstance(value, float)]  # of a force element
        known = LAWS.get(type(element).__name__, numbers)
        laws = [law for law in known if law != "rotor_inertia" or element.rotor_inertia]
        values = dict(zip(laws, rng.uniform(0.1, 2.0, len(laws)).tolist(), strict=True))
        for law, value in values.items():
            solver.set(f"{element.name}.{law}", value)
        model.add(replace(element, **values))
    assert_agrees(solver, Case(model, case.inputs))


# The core and the paper -------------------------------------------------------------------------------------


def assert_agrees_with_paper(system: branch_systems.System) -> None:
    expected = system.expected()
    solver = started(system.model())
    for part in (".alpha", ".a", ".reaction.f"):
        values = {name: value for name, value in expected.items() if name.endswith(part)}
        scale = max(np.abs(value).max() for value in values.values())
        for name, value in values.items():
            found = branch_systems.in_layout(system.layout, name, solver.get(name))
            assert_allclose(found, value, rtol=0, atol=AGREEMENT * scale, err_msg=name)


@pytest.mark.parametrize("seed", range(5))
def test_free_rod_obeys_equations_39_and_40(seed: int) -> None:
    """[m, q] = S2 [x'', y'', Omega'] + e2 at the upper end, whatever pulls and turns there."""
    angle, rate, m_z, q_x, q_y = np.random.default_rng(seed).uniform(-3, 3, 5)
    model = fm.Model("rod", gravity=branch_systems.GRAVITY)
    rod = fm.Body("rod", mass=1.0, com=(0.5, 0, 0), inertia=(0.00125, 1 / 12, 1 / 12))
    q0 = (0.3, 0.2, 0.1, np.cos(angle / 2), 0, 0, np.sin(angle / 2))
    model.add(rod, fm.Free("F", model.ground.at(), rod.at(1.0), q0=q0, u0=(0.4, -0.7, 0, 0, 0, rate)))
    solver = started(model, {"F.f": (-q_x, -q_y, 0), "F.tau": (0, 0, m_z)})
    S2, e2 = branch_systems.equations_39_and_40(angle, rate)
    z_b = [*solver.get("F.a")[:2], solver.get("F.alpha")[2]]
    assert_allclose(S2 @ z_b + e2, [m_z, q_x, q_y], rtol=0, atol=AGREEMENT * max(1.0, *np.abs(z_b)))


def test_demonstration_example_at_its_start() -> None:
    """Section 5.1: three rods hang straight down from the ends of a level one, at rest; two of them on its right."""
    up = np.pi / 2
    system = branch_systems.demonstration((up, up, up, 0.0), (0.0,) * 4)
    assert_agrees_with_paper(system)
    solver = started(system.model())
    assert solver.get("J_rod7.qdd") < -1.0  # so it turns clockwise


@pytest.mark.parametrize("seed", range(10))
def test_demonstration_example_anywhere(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert_agrees_with_paper(branch_systems.demonstration(rng.uniform(-3, 3, 4), rng.uniform(-3, 3, 4)))


@pytest.mark.parametrize("layout", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("seed", seeds(8, 25))
def test_random_branches_agree_with_algorithm_b(layout: Layout, seed: int) -> None:
    assert_agrees_with_paper(branch_systems.random_system(layout, seed))


def test_core_passes_the_singular_pivot_of_the_printed_recursion() -> None:
    """theta3 - theta5 grows through acos(-2/3), where 2 + 3 cos(theta3 - theta5) = 0 and nothing happens."""
    fold = np.arccos(-2 / 3)
    angles, rates = (0.4, 0.2 + fold, 0.2, 0.0), (0.5, 6.0, -1.0, 0.3)
    system = branch_systems.demonstration(angles, rates)
    with pytest.raises(np.linalg.LinAlgError, match="element 2 is singular"):
        system.branch()
    assert_starts_right(Case(system.model(), {}))

    model = branch_systems.demonstration((0.4, 0.2 + fold - 0.1, 0.2, 0.0), rates).model()
    oracle, solver = Oracle(model), started(model)
    energy = solver.get("solver.energy")
    pivots = []
    for t in np.arange(0.002, 0.04, 0.002):
        solver.step(t)
        pivots.append(2 + 3 * np.cos(solver.get("J_rod3.q")))
        answer = oracle.solve(present_state(solver, oracle))
        scale = max(abs(answer[f"{joint.name}.qdd"]) for joint in model.joints)
        for joint in model.joints:
            found, right = solver.get(f"{joint.name}.qdd"), answer[f"{joint.name}.qdd"]
            assert_allclose(found, right, rtol=0, atol=AGREEMENT * scale)
    assert pivots[0] > 0.1
    assert pivots[-1] < -0.1
    assert_allclose(solver.get("solver.energy"), energy, rtol=1e-5)  # ten times the integrator's tolerance


def test_long_chains_keep_their_precision() -> None:
    """36 rods: plain multiplication of transfer matrices (19) has no digit left, the core all of them."""
    system = branch_systems.hanging_chain(36)
    links = [*system.support, system.hub]
    model = system.model()
    oracle, solver = Oracle(model), started(model)
    answer = oracle.solve(oracle.state())
    right = np.array([answer[f"{link.name}.alpha"][2] for link in links])
    found = np.array([solver.get(f"{link.name}.alpha")[2] for link in links])
    plain = np.array([z[2] for z in multiply_chain([link.rigid_body() for link in links], PLANE)[1::2]])
    scale = np.abs(right).max()
    assert np.abs(found - right).max() < AGREEMENT * scale
    assert np.abs(plain - right).max() > 0.1 * scale


@pytest.mark.parametrize("seed", range(12))
def test_random_chains_with_arms_along_coordinate_axes(seed: int) -> None:
    """Joints a distance apart along one axis of a link, with other axes of motion."""
    rng = np.random.default_rng(seed)
    model = fm.Model("arms", gravity=rng.uniform(-10, 10, 3))
    carrier: Any = model.ground
    for index in range(6):
        new = fm.Body(f"b{index}", mass=rng.uniform(0.5, 2), com=rng.uniform(-0.3, 0.3, 3), inertia=(0.2, 0.25, 0.3))
        F = carrier.at(*(rng.uniform(-1, 1) * np.eye(3)[rng.integers(3)]))
        turns = rng.random() < 0.6
        axis: Any = str(rng.choice(("x", "y", "z"))) if rng.random() < 0.5 else rng.uniform(-1, 1, 3)
        kind = fm.Revolute if turns else fm.Prismatic
        model.add(new, kind(f"j{index}", F, new.at(), axis=axis, q0=rng.uniform(-1, 1), u0=rng.uniform(-2, 2)))
        carrier = new
    assert_agrees(started(model), Case(model, {}))


@pytest.mark.parametrize("cut", [False, True])
def test_a_balls_stiffness_and_damping_act_in_all_its_directions(cut: bool) -> None:
    """Also when they are set, and where the ball closes a loop."""

    def solver_of(**given: float) -> fm.Solver:
        model = fm.Model("ball", gravity=(0, 0, 0))
        body = fm.Body("body", mass=1.0, inertia=(0.1, 0.2, 0.3))
        q0 = fm.Rotation.rpy(0.3, -0.4, 0.5).as_quaternion()
        F, M, u0 = model.ground.at(), body.at(), (1.0, 2.0, 3.0)
        model.add(body, fm.Spherical("J", F, M, q0=q0, u0=u0, cut=cut, **given))
        if cut:
            model.add(fm.Free("T", F, M, q0=(0, 0, 0, *q0), u0=(0, 0, 0, *u0)))
        return started(model)

    one, other = solver_of(stiffness=2.0, damping=0.5), solver_of(stiffness=7.0, damping=0.9)
    one.set("J.stiffness", 7.0)
    one.set("J.damping", 0.9)
    assert one.get("body.alpha").tolist() == other.get("body.alpha").tolist()
    assert one.get("solver.energy") == other.get("solver.energy")

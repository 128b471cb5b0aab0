"""Poses by the walk over an image's links, against the core's own kinematics, which share no code with it."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.readers import read_model
from fmumbs.view import poses, start_positions
from support import closed, flexible_models

ROUND_OFF = 1e-11  # relative to the largest coordinate
DIGITS = 1e-8  # numbers of a scene have nine digits, and lengths are about 1 m
MODELS = sorted(path.stem for path in (Path(__file__).parents[2] / "models").glob("*.py"))


def assembled(model: fm.Model) -> fm.Solver:
    solver = fm.Solver(model)
    solver.assemble()
    return solver


def check(solver: fm.Solver, instants: int = 3) -> None:
    """The bodies, and the frames of all joints, stand where the core has them."""
    scene = solver.image.scene
    positions, r, q = [], [], []
    for k in range(instants):
        if k:
            solver.step(0.02 * k)
        positions.append(solver.positions)
        r.append([solver.get(f"{body.name}.r") for body in scene.bodies])
        q.append([solver.get(f"{body.name}.quat") for body in scene.bodies])
    found = poses(solver.image, positions)
    size = max(1.0, float(np.abs(r).max()))
    assert_allclose(found.r, r, rtol=0, atol=ROUND_OFF * size)
    same = np.abs((found.quaternions * q).sum(axis=-1))
    assert_allclose(same, 1.0, atol=ROUND_OFF)
    assert_allclose(np.linalg.norm(found.quaternions, axis=-1), 1.0, atol=ROUND_OFF)


@pytest.mark.parametrize("name", MODELS)
def test_bodies_of_every_model_stand_where_the_core_has_them(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fm.StartWarning)
        check(assembled(read_model(name, {})))


SORTS = ("revolute", "prismatic", "spherical", "cylindrical", "screw", "product", "skate")


@pytest.mark.parametrize("seed", range(12))
def test_bodies_in_random_loops_stand_where_the_core_has_them(seed: int) -> None:
    case = closed.space(seed, loops=1 + seed % 2, sorts=SORTS, guess=0.0)
    try:
        solver = assembled(case.model)
    except fm.AssemblyError:
        pytest.skip("the random loops do not close")
    check(solver, instants=1)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("in_space", [False, True])
def test_flexible_bodies_and_their_joints_stand_where_the_core_has_them(seed: int, in_space: bool) -> None:
    solver = assembled(flexible_models.space_tree(seed, in_space).model)
    check(solver, instants=1)
    found = poses(solver.image, solver.positions)
    for joint in solver.image.scene.joints:
        (F, R), (M, _) = found.of(joint.F), found.of(joint.M)
        values = np.ravel(solver.get(f"{joint.name}.q")) if f"{joint.name}.q" in solver_names(solver) else np.zeros(0)
        kinds = {one.kind for one in joint.symbols}
        if kinds and kinds <= {"turn", "weld", "ball"}:
            assert_allclose(F, M, rtol=0, atol=DIGITS)
        elif kinds == {"slide"}:
            axis = np.array(joint.symbols[0].axis)
            assert_allclose(M - F, (R @ axis) * values[0], rtol=0, atol=DIGITS)


def solver_names(solver: fm.Solver) -> set[str]:
    return {name.split("[")[0] for name in solver.image.variables.names()}


def test_a_ball_that_is_traversed_backwards_has_the_conjugate_rotation() -> None:
    model = fm.Model("reversed")
    B = fm.Body("B", mass=1.0, com=(0.3, 0.1, 0.0), inertia=(0.1, 0.2, 0.2))
    q0 = np.array([0.8, 0.3, -0.4, 0.2]) / np.linalg.norm([0.8, 0.3, -0.4, 0.2])
    place = model.ground.at(1, 2, 3, rotation=fm.Rotation.rpy(0.3, 0.2, 0.1))
    model.add(B, fm.Free("J", B.at(0.1, 0, 0), place, q0=(*q0, 0.4, 0.5, 0.6)))
    check(assembled(model))


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_joint_with_rows_of_velocities_and_an_excited_mode_stands_where_the_core_has_it(which: int) -> None:
    """The excited mode's position is behind the free ones', wherever it stands among the modes."""
    model, body = fm.Model("m"), fm.Body("b", mass=1.0, inertia=(1, 1, 1))
    make = [fm.Slide, fm.Slide, fm.Turn]
    given = {"role": "excited", "path": fm.Path.polynomial(0.4, 0.3)}
    modes = [make[k]("xyz"[k], **(given if k == which else {})) for k in range(3)]
    rows = [
        [(0, 0, 1, 0, 0, 0), (0, 0, 0, 0, 1, 0)],
        [(0, 0, 1, 0, 0, 0), (0, 0, 0, 1, 0, 0)],
        [(0, 0, 0, 0, 1, 0), (0, 0, 0, 1, 0, 0)],
    ][which]
    model.add(body, fm.Joint("J", model.ground.at(1, 2, 3), body.at(0.1, 0.2, 0.3), modes=modes, q0=[0.7, 0.2],
                             u0=[0.5], velocity_rows=rows[:1], speed_rows=rows[1:]))  # fmt: skip
    check(assembled(model))


def test_positions_can_be_read_where_only_declared_variables_are_shown() -> None:
    model = read_model("double_pendulum", {})
    whole = assembled(model)
    model.output("w", of=f"{model.joints[0].name}.qd")
    solver = fm.Solver(fm.compile(model))
    solver.assemble()
    assert solver.positions.tobytes() == whole.positions.tobytes()
    assert start_positions(solver.image).shape == solver.positions.shape


def test_another_number_of_positions_is_refused() -> None:
    image = fm.compile(read_model("double_pendulum", {}))
    with pytest.raises(fm.SolverError, match="has 2 positions, not 3"):
        poses(image, [0.1, 0.2, 0.3])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_position_that_is_not_finite_is_refused(bad: float) -> None:
    result = fm.simulate(read_model("double_pendulum", {}), stop=0.1)
    assert result.motion is not None
    result.motion.positions[3, 1] = bad
    with pytest.raises(fm.SolverError, match=r"position 2 is .* in instant 3"):
        result.view()


def test_signs_of_quaternions_do_not_jump() -> None:
    model = fm.Model("spinning")
    rotor = fm.Body("B", mass=1.0, inertia=(1, 1, 1))
    model.add(rotor, fm.Revolute("J", model.ground.at(), rotor.at(), axis=(1, 2, 3)))
    turned = poses(fm.compile(model), np.linspace(0.0, 20.0, 200)[:, None])
    assert np.abs(np.diff(turned.quaternions, axis=0)).max() < 0.1


def test_start_positions_are_those_of_the_model_and_quaternions_have_length_one() -> None:
    """Whatever coordinates stand before and behind a ball's."""
    model = fm.Model("row")
    place = model.ground.at()
    starts = {"A": 3.0, "B": (0.5, 0.5, -0.5, 0.5), "C": -7.0, "D": (0.8, 0.0, 0.6, 0.0), "E": 0.25}
    for name, q0 in starts.items():
        body = fm.Body(name.lower(), mass=1.0, inertia=(1, 1, 1))
        joint = (
            fm.Spherical(name, place, body.at(), q0=q0) if name in "BD" else fm.Prismatic(name, place, body.at(), q0=q0)
        )
        model.add(body, joint)
        place = body.at(0.1)
    found = start_positions(fm.compile(model))
    assert_allclose(found, np.hstack([np.atleast_1d(q0) for q0 in starts.values()]), rtol=1e-15)
    assert_allclose(found, assembled(model).positions, rtol=1e-15)

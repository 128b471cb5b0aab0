"""Loops of mechanisms that move in a plane: the planar kernels against those in space."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import read_model
from fmumbs.run import Solver
from oracle import Oracle
from support.closed import Closed, plane, state_of
from support.closed_agreement import assert_agrees, singular, started

EQUAL = 1e-12
"""Relative to the largest acceleration or reaction of the mechanism; or, if that is more, ..."""
ROUNDED = 1e-16
"""... times the condition of K, the square of the ratio of the largest singular value of the rows to the least."""

CLOSING = {
    "revolute": lambda F, M: fm.Revolute("cut", F, M, axis="y"),
    "spherical": lambda F, M: fm.Spherical("cut", F, M),
    "prismatic": lambda F, M: fm.Prismatic("cut", F, M, axis="x"),
    "cylindrical": lambda F, M: fm.Cylindrical("cut", F, M, axis="y"),
    "distance": lambda F, M: fm.Distance("cut", F, M, length=0.4),
    "revolute_spherical": lambda F, M: fm.RevoluteSpherical("cut", F, M, length=0.4, axis="y"),
    "point_on_line": lambda F, M: fm.PointOnLine("cut", F, M, axis="x"),
    "point_on_plane": lambda F, M: fm.PointOnPlane("cut", F, M, normal="x", height=0.1),
}


def linkage(kind: str, slides: bool, tilt: fm.Rotation) -> fm.Model:
    """Crank and coupler, closed by a joint with a rocker or with a block that slides and carries an arm."""
    model = fm.Model("linkage", gravity=(1.0, -2.0, -9.0))
    ground = model.ground
    a = fm.Body.rod("a", length=0.5, mass=1.0, radius=0.02)
    b = fm.Body.rod("b", length=0.9, mass=0.7, radius=0.02)
    c = fm.Body.rod("c", length=0.6, mass=0.8, radius=0.02)
    block = fm.Body.box("block", size=(0.1, 0.1, 0.1), mass=0.5)
    base, pivot = ground.at(rotation=tilt), ground.at(*(tilt.matrix @ (0.7, 0.0, 0.1)), rotation=tilt)
    model.add(a, fm.Revolute("A", base, a.base, axis="y", q0=-1.2, u0=3.0))
    model.add(b, fm.Revolute("B", a.tip, b.base, axis="y", q0=0.9, u0=-1.0))
    if slides:
        model.add(block, fm.Prismatic("S", pivot, block.at(), axis="x", q0=0.05, u0=0.5))
        pivot = block.at(0.0, 0.0, 0.05)
    model.add(c, fm.Revolute("D", pivot, c.base, axis="y", q0=-1.4))
    offset = 0.07 if kind == "distance" else 0.0
    model.add(CLOSING[kind](c.at(0.55, offset, 0.0), b.at(0.8, 0.0, 0.02)))
    model.add(fm.Spring("spring", a.tip, ground.at(0.3, 0.4, 0.5), stiffness=20.0, damping=0.3, free_length=0.2))
    return model


def values(solver: Solver, endings: tuple[str, ...]) -> NDArray[np.float64]:
    names = [name for name in solver.image.variables.names() if name.split("[")[0].endswith(endings)]
    return np.array([float(solver.get(name)) for name in names])


def assert_same(model: fm.Model, at_random: bool = False) -> None:
    """The same accelerations and reactions, at the start and while it moves; `at_random`: perhaps near singular."""
    plane_kernels, space_kernels = Solver(compile(model)), Solver(compile(model))
    assert plane_kernels.use_planar(True) > 0
    assert space_kernels.use_planar(False) == 0
    for solver in (plane_kernels, space_kernels):
        solver.assemble()
    for time in (0.0, 0.03, 0.3):
        plane_kernels.step(time)
        space_kernels.state_load(plane_kernels.state_save())
        equal = EQUAL
        if at_random:
            rows = singular(Oracle(model), state_of(plane_kernels, model))[0]
            equal = max(EQUAL, ROUNDED * (rows[0] / rows[-1]) ** 2)
        for endings in ((".qdd",), (".a", ".alpha"), (".f", ".t")):
            found, expected = values(plane_kernels, endings), values(space_kernels, endings)
            scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
            assert_allclose(found, expected, rtol=0, atol=equal * scale, err_msg=f"{endings} at {time}")
        assert plane_kernels.get("solver.position_violation") < 1e-12
        assert plane_kernels.get("solver.velocity_violation") < 1e-11


@pytest.mark.parametrize("slides", [False, True])
@pytest.mark.parametrize("kind", CLOSING)
def test_each_closing_joint_in_the_plane(kind: str, slides: bool) -> None:
    if kind == "prismatic" and not slides:
        slides = True  # else nothing is left to move
    tilt = fm.Rotation.about("z", 0.7) if slides else fm.Rotation.identity()
    assert_same(linkage(kind, slides, tilt))


@pytest.mark.parametrize("loops", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_random_loops_in_the_plane(seed: int, loops: int) -> None:
    assert_same(plane(900 + seed, loops, guess=0.0).model, at_random=True)


@pytest.mark.parametrize("name", ["four_bar", "ladder", "slider_crank", "engine"])
def test_models_run_in_the_plane(name: str) -> None:
    assert_same(read_model(name))


def test_a_run_in_the_plane_continues_from_a_saved_state_bit_for_bit() -> None:
    """Neither what the last evaluation left nor where the correction ended is needed."""
    model = linkage("revolute", True, fm.Rotation.identity())
    for scheme in (0, 1):
        first, second = Solver(compile(model)), Solver(compile(model))
        for solver in (first, second):
            solver.set("solver.scheme", scheme)
            solver.set("solver.step", 1e-3)
            solver.assemble()
        for time in (0.01, 0.013, 0.02):
            first.step(time)
        second.state_load(first.state_save())
        for time in (0.0205, 0.03, 0.05):
            first.step(time)
            second.step(time)
        assert first.state_save() == second.state_save()


@pytest.mark.parametrize("correction", [0, 1, 2])
def test_every_way_of_correction_is_the_same(correction: int) -> None:
    model = linkage("revolute", True, fm.Rotation.identity())
    found = []
    for on in (True, False):
        solver = Solver(compile(model))
        solver.use_planar(on)
        solver.set("solver.correction", correction)
        solver.set("solver.scheme", 1)
        solver.set("solver.step", 1e-3)
        solver.assemble()
        solver.step(0.05)
        found.append(values(solver, (".qdd", ".q")))
    assert_allclose(found[0], found[1], rtol=0, atol=1e-9 * np.abs(found[1]).max())


@pytest.mark.parametrize("normal", [(1.0, 0.0, 0.3), (1.0, 0.5, 0.3), (0.2, 1.0, 0.4)])
def test_a_row_out_of_the_plane_uses_the_spatial_kernels(normal: tuple[float, float, float]) -> None:
    """Two pendulums in one plane, the tip of one on an oblique plane of the other."""
    model = fm.Model("oblique")
    a, b = (fm.Body.rod(name, length=length, mass=1.0, radius=0.05) for name, length in (("a", 1.0), ("b", 0.8)))
    model.add(a, b, fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=0.4, u0=0.7))
    model.add(fm.Revolute("B", model.ground.at(0.3, 0.2, 0), b.base, axis="y", q0=-0.5))
    model.add(fm.PointOnPlane("C", a.tip, b.tip, normal=normal, height=0.1))
    assert_agrees(started(model), Closed(model, ("C",), {}))


def test_a_torque_that_closes_a_loop_and_is_taken_away_leaves_nothing() -> None:
    """On a mechanism without other forces, whose planar kernels keep the torques of links until they are cleared."""
    near, model = read_model("four_bar"), fm.Model("driven")
    model.add(*near.bodies, *(replace(joint, cut=joint.name == "C") for joint in near.joints))
    solver = started(model)
    before = values(solver, (".qdd",))
    solver.set("C.tau", 3.0)
    assert not np.array_equal(values(solver, (".qdd",)), before)
    solver.set("C.tau", 0.0)
    assert np.array_equal(values(solver, (".qdd",)), before)

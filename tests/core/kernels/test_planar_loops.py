"""Loops of mechanisms that move in a plane: the planar kernels against those in space."""

from dataclasses import replace
from functools import partial
from typing import Any

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


def linkage(kind: str, slides: bool, tilt: fm.Rotation, driven: str = "", stiff: bool = False) -> fm.Model:
    """Crank and coupler, closed by a joint with a rocker or with a block that slides and carries an arm.

    driven: "crank" or "block", whose motion is prescribed. stiff: a pin and the spring are.
    """
    model = fm.Model("linkage", gravity=(1.0, -2.0, -9.0))
    ground = model.ground
    a = fm.Body.rod("a", length=0.5, mass=1.0, radius=0.02)
    b = fm.Body.rod("b", length=0.9, mass=0.7, radius=0.02)
    c = fm.Body.rod("c", length=0.6, mass=0.8, radius=0.02)
    block = fm.Body.box("block", size=(0.1, 0.1, 0.1), mass=0.5)
    law: dict[str, Any] = {"stiffness": 1e4, "damping": 3.0} if stiff else {}
    base, pivot = ground.at(rotation=tilt), ground.at(*(tilt.matrix @ (0.7, 0.0, 0.1)), rotation=tilt)
    if driven == "crank":
        swing = fm.Path.polynomial(-1.2, 3.0, -2.0, 0.5)
        model.add(a, fm.Joint("A", base, a.base, modes=(fm.Turn("y", role="excited", path=swing),)))
    else:
        model.add(a, fm.Revolute("A", base, a.base, axis="y", q0=-1.2, u0=3.0))
    model.add(b, fm.Revolute("B", a.tip, b.base, axis="y", q0=0.9, u0=-1.0, **law))
    if driven == "block":
        push = fm.Slide("x", role="excited", path=fm.Path.polynomial(0.05, 0.5, -1.0))
        model.add(block, fm.Joint("S", pivot, block.at(), modes=(push,)))
        pivot = block.at(0.0, 0.0, 0.05)
    elif slides:
        model.add(block, fm.Prismatic("S", pivot, block.at(), axis="x", q0=0.05, u0=0.5))
        pivot = block.at(0.0, 0.0, 0.05)
    model.add(c, fm.Revolute("D", pivot, c.base, axis="y", q0=-1.4, **law))
    offset = 0.07 if kind == "distance" else 0.0
    model.add(CLOSING[kind](c.at(0.55, offset, 0.0), b.at(0.8, 0.0, 0.02)))
    tight = 1e4 if stiff else 20.0
    model.add(fm.Spring("spring", a.tip, ground.at(0.3, 0.4, 0.5), stiffness=tight, damping=0.3, free_length=0.2))
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
        length = max(1.0, float(plane_kernels.image.arrays["length"][0]))  # the closure's tolerance is relative to it
        assert plane_kernels.get("solver.position_violation") < 1e-12 * length
        assert plane_kernels.get("solver.velocity_violation") < 1e-11 * length


@pytest.mark.parametrize("slides", [False, True])
@pytest.mark.parametrize("kind", CLOSING)
def test_each_closing_joint_in_the_plane(kind: str, slides: bool) -> None:
    if kind == "prismatic" and not slides:
        slides = True  # else nothing is left to move
    tilt = fm.Rotation.about("z", 0.7) if slides else fm.Rotation.identity()
    assert_same(linkage(kind, slides, tilt))


@pytest.mark.parametrize("kind", CLOSING)
@pytest.mark.parametrize("driven", ["crank", "block"])
def test_each_closing_joint_of_a_driven_linkage(kind: str, driven: str) -> None:
    slides = driven == "block" or kind == "prismatic"
    assert_same(linkage(kind, slides, fm.Rotation.about("z", 0.7), driven))


def assert_same_steps(model: fm.Model, until: float, close: float) -> None:
    """Until a time [s] radau takes as many evaluations in the plane as in space, but for the part `close` of them, as
    round-off may cost a step of hundreds.
    """
    runs = []
    for on in (True, False):
        solver = Solver(compile(model).with_options(scheme="radau", tolerance=1e-7))
        solver.assemble()
        assert (solver.use_planar(on) > 0) == on
        solver.step(until)
        runs.append((solver.get("solver.evaluations"), values(solver, (".r", ".v"))))
    assert_allclose(runs[0][0], runs[1][0], rtol=close)
    assert_allclose(runs[0][1], runs[1][1], rtol=0, atol=1e-7)


@pytest.mark.parametrize("driven", ["crank", "block"])
def test_the_implicit_scheme_takes_the_same_steps_for_driven_joints_in_the_plane_as_in_space(driven: str) -> None:
    """With stiff pins, one of them off its parent's axis, and a stiff spring between points beside them."""
    model = linkage("revolute", True, fm.Rotation.identity(), driven, stiff=True)
    assert_same_steps(model, 0.05, 0.02)


@pytest.mark.parametrize("seed", range(3))
def test_the_implicit_scheme_takes_the_same_steps_for_stiff_branches_in_the_plane_as_in_space(seed: int) -> None:
    """Stiff pins and slides beside one another on a link, so that most are off its x axis, each with a stiff child."""
    rng = np.random.default_rng(seed)
    model = fm.Model("branches")
    hub = fm.Body("hub", mass=2.0, com=(0.1, 0, 0.05), inertia=(0.1, 0.2, 0.1))
    model.add(hub, fm.Revolute("H", model.ground.at(), hub.at(), axis="y", u0=1.0))
    for i in range(3):
        arm = fm.Body.rod(f"arm{i}", length=0.3, mass=rng.uniform(0.5, 2.0), radius=0.02)
        tip = fm.Body.rod(f"tip{i}", length=0.2, mass=0.3, radius=0.02)
        x, z, off = rng.uniform((-0.5, -0.5, -0.1), (0.5, 0.5, 0.1))
        k, u0 = 10.0 ** rng.uniform(3, 5), rng.normal()
        joint, axis = (fm.Revolute, "y") if i == 0 or rng.integers(2) else (fm.Prismatic, "x")
        model.add(arm, joint(f"J{i}", hub.at(x, 0, z), arm.base, axis=axis, stiffness=k, damping=k / 100, u0=u0))
        model.add(tip)
        model.add(fm.Revolute(f"T{i}", arm.at(0.2, 0, off), tip.base, axis="y", stiffness=k / 10, damping=k / 1000))
    assert_same_steps(model, 0.1, 0.05)


@pytest.mark.parametrize("slides", [False, True])
def test_corrections_of_a_loop_on_a_driven_table_take_as_few_iterations_as_in_space(slides: bool) -> None:
    """The table is driven on a carrier that the correction moves; the table moves with that, and not against it."""
    model, path = fm.Model("table"), fm.Path.polynomial(0.1, 1.4, 1.5)
    carrier, table = (fm.Body(name, mass=2.0, com=(0.1, 0, 0.2), inertia=(0.1, 0.2, 0.1)) for name in ("c", "t"))
    a, b, rung = (
        fm.Body.rod(name, length=size, mass=1.0, radius=0.02) for name, size in (("a", 0.3), ("b", 0.4), ("rung", 0.5))
    )
    mode = fm.Slide("x", role="excited", path=path) if slides else fm.Turn("y", role="excited", path=path)
    model.add(carrier, fm.Revolute("P", model.ground.at(), carrier.at(), axis="y", u0=0.3))
    model.add(table, fm.Joint("T", carrier.at(0.2, 0, 0.1), table.at(), modes=(mode,)))
    model.add(a, fm.Revolute("A", table.at(0.1, 0, 0.1), a.base, axis="y", q0=0.5, u0=5.0))
    model.add(rung, fm.Revolute("B", a.tip, rung.base, axis="y", q0=-0.5))
    model.add(b, fm.Revolute("D", model.ground.at(0.9, 0, 0), b.base, axis="y", q0=-1.0))
    model.add(fm.Revolute("C", rung.tip, b.tip, axis="y"))
    counts = []
    for on in (True, False):
        solver = Solver(compile(model).with_options(tolerance=1e-4))
        solver.assemble()
        assert (solver.use_planar(on) > 0) == on
        solver.step(0.5)
        counts.append(solver.get("solver.iterations"))
    assert counts[0] <= 1.2 * counts[1]


@pytest.mark.parametrize("slides", [False, True])
def test_windows_on_a_driven_table_pass_their_folds_as_in_space(slides: bool) -> None:
    """What folds is carried by a driven joint on a free one, so that multipliers move both ends of the driven one."""
    model, path = fm.Model("folding"), fm.Path.polynomial(0.1, 0.4, 1.5)
    carrier, table = (fm.Body(name, mass=2.0, com=(0.1, 0, 0.2), inertia=(0.1, 0.2, 0.1)) for name in ("c", "t"))
    a, b, rung = (fm.Body.rod(name, length=0.5, mass=1.0, radius=0.02) for name in ("a", "b", "rung"))
    mode = fm.Slide("x", role="excited", path=path) if slides else fm.Turn("y", role="excited", path=path)
    model.add(carrier, fm.Revolute("P", model.ground.at(), carrier.at(), axis="y", u0=0.3))
    model.add(table, fm.Joint("T", carrier.at(0.2, 0, 0.1), table.at(), modes=(mode,)))
    for i, bar in enumerate((a, b)):
        model.add(bar, fm.Revolute(f"A{i}", table.at(0.5 * i, 0, 0), bar.base, axis="y", q0=0.5, u0=9.0))
    model.add(rung, fm.Revolute("B", a.tip, rung.base, axis="y", q0=-0.5, u0=-9.0))
    model.add(fm.Revolute("C", rung.tip, b.tip, axis="y"))
    found = []
    for on in (True, False):
        solver = Solver(compile(model).with_options(tolerance=1e-9))
        solver.assemble()
        assert (solver.use_planar(on) > 0) == on
        for time in (0.3, 0.6, 1.0):
            solver.step(time)
            assert_allclose(solver.get("A0.q"), solver.get("A1.q"), rtol=0, atol=1e-7)
            found.append((solver.get("P.q"), solver.get("P.qd"), solver.get("A0.q"), solver.get("A0.qd")))
    assert not 0 < found[2][2] < np.pi  # where it started
    assert_allclose(found[:3], found[3:], rtol=0, atol=1e-6)


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


@pytest.mark.parametrize("closing", ["weld", "pin", "slide"])
def test_every_level_gives_the_same_bits_whatever_rows_a_joint_has(closing: str) -> None:
    """Three rows by a weld, two by others: plain kernels compute no more than are used."""
    model = fm.Model("chain")
    rods = [fm.Body.rod(f"r{i}", length=0.5, mass=1.0, radius=0.02) for i in range(5)]
    ends = [model.ground.at(), *(rod.tip for rod in rods[:-1])]
    turns = (0.9, -0.5, -0.6, -0.4, -0.3)
    for i, (end, rod) in enumerate(zip(ends, rods, strict=True)):
        model.add(rod, fm.Revolute(f"J{i}", end, rod.base, axis="y", q0=turns[i], u0=0.3 * i))
    kinds = {"weld": fm.Weld, "pin": partial(fm.Revolute, axis="y"), "slide": partial(fm.Prismatic, axis="x")}
    model.add(kinds[closing]("C", rods[-1].tip, model.ground.at(1.2, 0, -0.2), cut=True))
    found = []
    for level in range(fm.compiler.layout.lib.fm_level_best() + 1):
        solver = fm.Solver(model)
        solver.use_level(level)
        solver.assemble()
        solver.step(0.05)
        assert solver.use_planar(True) == 5
        found.append(solver.state_save())
    assert set(found) == {found[0]}

"""Radau on stiff springs between points and in cut joints: few steps, and the motion of the explicit scheme."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.mechanism.laws import Piece
from fmumbs.readers import read_model
from support.apart import with_skate
from support.both_schemes import ends, started
from support.sweeps import seeds


def governor(stiffness: float, damping: float) -> ModelImage:
    """Two balls on arms that turn about an axle, and a slider that two springs connect to them."""
    model = fm.Model("governor")
    axle, slider = (
        fm.Body("axle", mass=0.3, inertia=(0.02, 0.02, 0.01)),
        fm.Body("slider", mass=3.0, inertia=(0.01,) * 3),
    )
    model.add(axle, fm.Revolute("A", model.ground.at(), axle.at(), axis="z", u0=6.0))
    model.add(slider, fm.Prismatic("S", axle.at(), slider.at(), axis="z", q0=-0.87))
    for side, sign in (("left", -1.0), ("right", 1.0)):
        arm = fm.Body(f"arm_{side}", mass=5.0, com=(0, 0, -1.0), inertia=(0.1, 0.1, 0.02))
        model.add(arm, fm.Revolute(f"H_{side}", axle.at(), arm.at(), axis="y", q0=-sign * 0.52))
        at = arm.at(0, 0, -0.5), slider.at()
        model.add(fm.Spring(side, *at, stiffness=stiffness, damping=damping, free_length=0.5))
    return compile(model, everything=True)


def bushed(stiffness: float, damping: float = 0.0) -> ModelImage:
    """A swing on a point that springs of no free length hold, which resist alike in all directions."""
    model = fm.Model("bushed")
    block, bob = (
        fm.Body("block", mass=1.0, inertia=(0.1,) * 3),
        fm.Body("bob", mass=1.0, com=(0, 0, -0.5), inertia=(0.02,) * 3),
    )
    model.add(
        block,
        fm.Free("F", model.ground.at(), block.at()),
        bob,
        fm.Revolute("B", block.at(), bob.at(), axis="y", q0=0.8),
    )
    for i, at in enumerate([(0.2, 0, 0), (-0.2, 0.1, 0), (0, -0.2, 0.1)]):
        model.add(fm.Spring(f"S{i}", model.ground.at(*at), block.at(*at), stiffness=stiffness, free_length=0.0))
        for j, way in enumerate(np.eye(3)):
            far = model.ground.at(*(float(x) for x in 5.0 * way))
            model.add(fm.Spring(f"D{i}{j}", far, block.at(*at), stiffness=0.0, damping=damping, free_length=0.0))
    return compile(model, everything=True)


def steps(image: ModelImage, stop: float, scheme: str = "radau", tolerance: float = 1e-6) -> float:
    return float(ends(image, stop, scheme, [tolerance])[1][0])


def test_steps_do_not_grow_with_the_stiffness() -> None:
    soft, stiff = steps(governor(8e5, 4e4), 2.0), steps(governor(8e7, 4e6), 2.0)
    assert max(soft, stiff) < 2 * min(soft, stiff)
    assert 30 * soft < steps(governor(8e5, 4e4), 0.2, "dopri5") * 10


def test_springs_of_no_length_resist_in_every_direction() -> None:
    assert steps(bushed(1e6, 3e4), 1.0) < 50
    assert steps(bushed(1e8, 3e6), 1.0) < 50
    solver = started(bushed(1e6, 3e4), scheme="radau", tolerance=1e-4)
    solver.step(0.5)
    assert solver.get("solver.rejected") == 0


def test_errors_are_the_tolerance() -> None:
    for image, stop in ((governor(8e4, 4e3), 0.5), (bushed(1e3, 3e1), 0.5)):
        (found,), (exact,) = ends(image, stop, "radau", [1e-7])[0], ends(image, stop, "dopri5", [1e-11])[0]
        assert_allclose(found, exact, rtol=1e-5, atol=1e-5 * max(1.0, np.abs(exact).max()))


def test_a_stiff_law_of_a_spring_counts_as_its_stiffness() -> None:
    """A rope of 1e7 N/m and 1e4 N.s/m beyond its length, in which a mass comes to rest."""
    model = fm.Model("landed")
    box = fm.Body("box", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add(box, fm.Prismatic("J", model.ground.at(), box.at(), axis="z", q0=-0.29))
    rope = fm.Spring("S", model.ground.at(), box.at(), stiffness=0.0, free_length=0.3)
    model.add(rope, fm.Law("taut", rope, pieces=[Piece([[0.0, 1e4], [1e7]], lower=0.3, origin=0.3)]))
    image = compile(model, everything=True)
    assert 10 * steps(image, 1.0) < steps(image, 0.05, "dopri5") * 20


def closed(name: str, stiffness: float, damping: float) -> ModelImage:
    """Four bars whose springs in the joint that is cut are stiff."""
    model = fm.Model(name)
    bars = [fm.Body(f"b{i}", mass=0.5, com=(0.25, 0, 0), inertia=(0.01,) * 3) for i in range(3)]
    model.add(*bars)
    model.add(fm.Revolute("A", model.ground.at(), bars[0].at(), axis="y", q0=-1.2))
    model.add(fm.Revolute("B", bars[0].at(0.5, 0, 0), bars[1].at(), axis="y", q0=1.2))
    model.add(fm.Revolute("D", model.ground.at(0.5, 0, 0), bars[2].at(), axis="y", q0=-1.2))
    model.add(
        fm.Revolute("C", bars[1].at(0.5, 0, 0), bars[2].at(0.5, 0, 0), axis="y", stiffness=stiffness, damping=damping)
    )
    return compile(model, everything=True)


def test_springs_in_cut_joints_count() -> None:
    image = closed("four", 1e4, 1e4)
    assert steps(image, 1.0) < 0.05 * 20 * steps(image, 0.05, "dopri5")
    (found,), (exact,) = (
        ends(image, 0.1, scheme, [tolerance])[0] for scheme, tolerance in (("radau", 1e-7), ("dopri5", 1e-10))
    )
    assert_allclose(found, exact, rtol=1e-5, atol=1e-5)


def mounted(scale: float, feet: int = 0) -> ModelImage:
    """A swing on a block that a bushing with full matrices holds, or feet all around."""
    rng = np.random.default_rng(8)
    model = fm.Model("mounted")
    block, bob = (
        fm.Body("block", mass=1.0, inertia=(0.1, 0.2, 0.15)),
        fm.Body("bob", mass=1.0, com=(0, 0, -0.5), inertia=(0.02,) * 3),
    )
    model.add(block, bob, fm.Revolute("B", block.at(), bob.at(), axis="y", q0=0.8))
    if feet:
        layer = fm.Layer(rng.uniform(-0.5, 0.5, (feet, 3)), stiffness=(scale, 2 * scale, scale), damping=3e-2 * scale)
        model.add(fm.FlexibleSupport("S", model.ground.at(), block.at(), layers=[layer]))
    else:
        root = rng.uniform(-1, 1, (6, 6))
        K = scale * (root @ root.T + 0.1 * np.eye(6))
        place = (0.1, 0.2, 0, 0, 0, 0)
        matrices = {"stiffness_matrix": K, "damping_matrix": 3e-2 * K}
        mount = fm.Bushing("M", model.ground.at(), block.at(0.1, 0.2, 0), q0=place, rest=place, **matrices, cut=True)
        model.add(fm.Free("F", model.ground.at(), block.at()), mount)
    return compile(model, everything=True)


def assert_right(image: ModelImage) -> None:
    """The implicit scheme beside an explicit one."""
    (found,), (exact,) = (
        ends(image, 0.3, scheme, [tolerance])[0] for scheme, tolerance in (("radau", 1e-7), ("dop853", 1e-11))
    )
    assert_allclose(found, exact, rtol=1e-5, atol=1e-5)


def test_matrices_in_cut_joints_count() -> None:
    soft, stiff = steps(mounted(1e5), 1.0), steps(mounted(1e7), 1.0)
    assert max(soft, stiff) < 2 * min(soft, stiff) < 150
    assert_right(mounted(1e3))


def bushings(count: int, cut: bool) -> fm.Solver:
    """A chain of blocks on bushings with full matrices, in the tree, or closing loops beside free joints; by radau."""
    rng, model = np.random.default_rng(7), fm.Model("bushings")
    place = model.ground.at()
    for i in range(count):
        block = fm.Body(f"b{i}", mass=1.0, com=(0.1, 0.05, 0.02), inertia=(0.1, 0.12, 0.15))
        A = rng.normal(size=(6, 6))
        K = 1e6 * (A @ A.T + 6 * np.eye(6)) / 6.0
        matrices = {"stiffness_matrix": K, "damping_matrix": 1e-3 * K}
        free = [fm.Free(f"F{i}", place, block.at())] if cut else []
        model.add(block, *free, fm.Bushing(f"B{i}", place, block.at(), cut=cut, **matrices))
        place = block.at(0.5, 0, 0)
    solver = fm.Solver(compile(model).with_options(scheme="radau", tolerance=1e-6))
    solver.assemble()
    solver.step(0.01)
    return solver


@pytest.mark.parametrize("count", [3, 11, 20])
def test_bushings_that_close_loops_cost_as_in_the_tree(count: int) -> None:
    tree, cut = bushings(count, cut=False), bushings(count, cut=True)
    assert cut.get("solver.evaluations") < 2.0 * tree.get("solver.evaluations")
    one, two = (np.array(solver.get(f"B{count - 1}.q")) for solver in (tree, cut))
    assert_allclose(two, one, rtol=0, atol=1e-4 * np.abs(one).max())


def test_feet_under_one_body_count_as_six_springs() -> None:
    """However many there are, each set of directions costs six evaluations."""
    taken = []
    for feet in (3, 12):
        solver = started(mounted(1e7 / feet, feet), scheme="radau", tolerance=1e-6)
        solver.step(1.0)
        taken.append(solver.get("solver.evaluations") / solver.get("solver.steps"))
    assert taken[1] < 1.2 * taken[0] < 60
    assert solver.get("solver.rejected") <= 2  # a step whose first estimate is large is estimated again


def test_bushings_between_the_same_two_bodies_count_as_one() -> None:
    """Eight under a block with twelve rods on it: six directions in all, which cost an evaluation each."""
    model, block = fm.Model("mounts"), fm.Body("block", mass=1.0, inertia=(0.1, 0.2, 0.15))
    model.add(block, fm.Free("F", model.ground.at(), block.at()))
    for i in range(12):
        rod = fm.Body(f"rod{i}", mass=0.2, com=(0, 0, -0.5), inertia=(0.02,) * 3)
        model.add(rod, fm.Revolute(f"R{i}", block.at(0.1 * i), rod.at(), axis="y", q0=0.8 - 0.1 * i))
    for i in range(8):
        at = (float(np.cos(2 * i)), float(np.sin(2 * i)), 0.1 * i)
        law = {"stiffness": [1e6] * 6, "damping": [3e4] * 6}
        model.add(fm.Bushing(f"M{i}", model.ground.at(*at), block.at(*at), cut=True, **law))
    solver = started(compile(with_skate(model), everything=True), scheme="radau", tolerance=1e-6)
    solver.step(0.3)
    assert solver.get("solver.evaluations") < 50 * solver.get("solver.steps")


def full(rng: np.random.Generator, size: int, scale: float) -> np.ndarray:
    """(size, size) a stiffness matrix whose entries beside the diagonal are as large as those in it."""
    root = rng.uniform(-1, 1, (size, size))
    return np.asarray(scale * (root @ root.T + 0.1 * np.eye(size)))


def on_a_matrix(kind: str, scale: float, seed: int = 8) -> ModelImage:
    """A swing on a block that a bushing or a ball holds in the tree, from either side; and a second such pair on it."""
    rng = np.random.default_rng(seed)
    model = fm.Model("swings")
    under, turned = model.ground.at(), bool(seed % 2)
    for i in range(2):
        block, bob = (
            fm.Body(f"block{i}", mass=1.0, com=(0, 0.1, -0.2), inertia=(0.1, 0.2, 0.15)),
            fm.Body(f"bob{i}", mass=1.0, com=(0, 0, -0.5), inertia=(0.02,) * 3),
        )
        at = (under, block.at(0.1, 0.2, 0))
        frames = at[::-1] if turned and i else at
        K = full(rng, 6 if kind == "bushing" else 3, scale)
        model.add(block, bob, fm.Revolute(f"B{i}", block.at(), bob.at(), axis="y", q0=0.8 - i))
        if kind == "bushing":
            model.add(fm.Bushing(f"M{i}", *frames, stiffness_matrix=K, damping_matrix=3e-2 * K))
        else:
            q0 = (1.0, 0.0, 0.0, 0.0) if scale > 1e4 else (0.8, 0.1, -0.3, 0.5)
            model.add(fm.Spherical(f"M{i}", *frames, q0=q0, stiffness=K, damping=3e-2 * K))
        under = block.at(0, 0, -0.3)
    return compile(model, everything=True)


@pytest.mark.parametrize("kind", ["bushing", "ball"])
def test_matrices_in_the_tree_count(kind: str) -> None:
    soft, stiff = steps(on_a_matrix(kind, 1e5), 0.5), steps(on_a_matrix(kind, 1e7), 0.5)
    assert max(soft, stiff) < 2 * min(soft, stiff) < 120


@pytest.mark.parametrize("kind", ["bushing", "ball"])
@pytest.mark.parametrize("seed", [8, 9])
def test_matrices_in_the_tree_move_as_by_an_explicit_scheme(kind: str, seed: int) -> None:
    (found,), (exact,) = (
        ends(on_a_matrix(kind, 1e3, seed), 0.2, scheme, [tolerance])[0]
        for scheme, tolerance in (("radau", 1e-7), ("dop853", 1e-11))
    )
    assert_allclose(found, exact, rtol=1e-5, atol=1e-5)


def sledge(stiffness: float) -> ModelImage:
    """A swing on a sledge with a blade that springs on its two positions and its angle hold."""
    model = fm.Model("sledge")
    body, bob = (
        fm.Body("body", mass=1.0, com=(0.1, 0, 0), inertia=(0.1,) * 3),
        fm.Body("bob", mass=1.0, com=(0, 0, -0.5), inertia=(0.02,) * 3),
    )
    K, D = (stiffness, 2 * stiffness, stiffness), (3e-2 * stiffness,) * 3
    skate = fm.Skate("S", model.ground.at(), body.at(), q0=(0, 0, 0.4), u0=(0.3, 0.5), stiffness=K, damping=D)
    model.add(body, skate, bob, fm.Revolute("B", body.at(), bob.at(), axis="y", q0=0.8))
    return compile(model, everything=True)


def test_springs_of_a_nonholonomic_joint_count() -> None:
    soft, stiff = steps(sledge(1e5), 0.5), steps(sledge(1e7), 0.5)
    assert max(soft, stiff) < 1.5 * min(soft, stiff) < 150
    assert_right(sledge(1e3))


BENT = {"support": "flexible", "link": "flexible"}


@pytest.mark.parametrize(
    ("name", "parameters", "stop", "most"),
    [
        ("governor", {}, 2.0, 9.6),
        ("crane", {}, 0.5, 8.8),
        ("cantilever", {}, 0.05, 7.9),
        ("manipulator5", BENT, 2.0, 8.5),
        ("manipulator5", {**BENT, "friction": True}, 2.0, 14.5),
    ],
)
def test_newtons_method_takes_few_iterations(
    name: str, parameters: dict[str, object], stop: float, most: float
) -> None:
    """Three evaluations each in two or three iterations, and the slope at the end, also with prescribed modes, loops,
    and friction that its own joint loads.
    """
    solver = started(compile(read_model(name, parameters)), scheme="radau", tolerance=1e-6)
    solver.step(stop)
    assert solver.get("solver.evaluations") < most * solver.get("solver.steps")


def sling(stiffness: float, damping: float) -> ModelImage:
    """A mass in two slides, which a stiff spring leads around in a circle."""
    model, stone = fm.Model("sling"), fm.Body("stone", mass=1.0, inertia=(0.1,) * 3)
    slides = fm.Joint("P", model.ground.at(), stone.at(), modes=(fm.Slide("x"), fm.Slide("z")), q0=(1, 0), u0=(0, 5))
    law = {"stiffness": stiffness, "damping": damping, "free_length": 1.0}
    model.add(stone, slides, fm.Spring("S", model.ground.at(), stone.at(), **law))
    return compile(model, everything=True)


@pytest.mark.parametrize("scale", [1e8, 1e12])
def test_springs_that_turn_take_the_matrices_of_each_stage(scale: float) -> None:
    solver = started(sling(scale, 1e-4 * scale), scheme="radau", tolerance=1e-6)
    solver.step(2.0)
    assert solver.get("solver.evaluations") < 10.5 * solver.get("solver.steps") < 10.5 * 300
    (exact,), _ = ends(sling(1e6, 1e4), 0.5, "dopri5", [1e-10])
    (found,), _ = ends(sling(1e6, 1e4), 0.5, "radau", [1e-7])
    assert_allclose(found, exact, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_few_coordinates_of_any_joints_move_as_by_the_explicit_scheme(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = fm.Model("few", gravity=(0.0, 3.0, -9.81))
    before = model.ground
    for i in range(2):
        body = fm.Body(
            f"b{i}", mass=rng.uniform(0.5, 2), com=tuple(rng.uniform(-0.2, 0.2, 3)), inertia=(0.1, 0.12, 0.15)
        )
        ends_of = before.at(*rng.uniform(-0.5, 0.5, 3)), body.at(*rng.uniform(-0.3, 0.3, 3))
        joint: fm.Joint = (
            fm.Spherical(f"J{i}", *ends_of)
            if (seed + i) % 3 == 0
            else fm.Revolute(
                f"J{i}", *ends_of, axis="xyz"[rng.integers(3)], q0=rng.uniform(-1, 1), stiffness=100.0 * (i == seed % 2)
            )
        )
        model.add(body, joint)
        for j in range(2):
            far, near = model.ground.at(*rng.uniform(-1, 1, 3)), body.at(*rng.uniform(-0.5, 0.5, 3))
            stiffness = 10.0 ** rng.uniform(4, 6)
            given = {"stiffness": stiffness, "damping": 0.1 * stiffness, "free_length": rng.uniform(0.2, 1.0)}
            model.add(fm.Spring(f"s{i}{j}", far, near, **given))
        before = body
    image = compile(model, everything=True)
    (found,), _ = ends(image, 0.1, "radau", [1e-8])
    (exact,), _ = ends(image, 0.1, "dopri5", [1e-10])
    assert_allclose(found, exact, rtol=1e-5, atol=1e-5)


def crank(springs: dict[str, float], laws: dict[str, fm.LuGre], mass: float = 1.0) -> ModelImage:
    """A crank that turns round and a rocker, with friction in pins, of which C is cut, and a spring on the rod."""
    model = fm.Model("rubbing")
    bars = [fm.Body(f"b{i}", mass=mass, com=(0.2, 0, 0), inertia=(0.01,) * 3) for i in range(3)]
    model.add(*bars)
    pins: tuple[tuple[str, Any, Any, dict[str, float]], ...] = (
        ("A", model.ground.at(), bars[0].at(), {"q0": -1.2, "u0": 1.0}),
        ("B", bars[0].at(0.3, 0, 0), bars[1].at(), {}),
        ("D", model.ground.at(0.6, 0, 0), bars[2].at(), {"q0": -1.5}),
        ("C", bars[1].at(0.6, 0, 0), bars[2].at(0.5, 0, 0), {}),
    )
    for name, F, M, start in pins:
        model.add(fm.Revolute(name, F, M, axis="y", friction=laws.get(name), **start))
    model.add(fm.Spring("S", model.ground.at(0.3, 0, -0.8), bars[1].at(0.3, 0, 0.05), free_length=0.5, **springs))
    return compile(model, everything=True)


def rubbing(seed: int, stiffness: float = 1e5) -> ModelImage:
    """The crank with different bristles in all pins."""
    rng, laws = np.random.default_rng(seed), {}
    for name in "ABDC":
        kinetic, load, stiff, damping = rng.uniform((0.1, 0.2, 1e2, 0.1), (0.3, 1.0, 1e4, 3.0))
        laws[name] = fm.LuGre(
            1.3 * kinetic, kinetic, stribeck=0.3, stiffness=stiff, damping=damping, viscous=0.02, preload=load
        )
    return crank({"stiffness": stiffness, "damping": 1e-2 * stiffness}, laws, rng.uniform(0.3, 1.0))


@pytest.mark.parametrize("seed", seeds(1, 40))
def test_newtons_method_takes_in_friction_in_any_joint_of_a_loop(seed: int) -> None:
    solver = started(rubbing(seed), scheme="radau", tolerance=1e-6)
    solver.step(0.3)
    assert solver.get("solver.evaluations") < 10.5 * solver.get("solver.steps")
    (found,), (exact,) = (
        ends(rubbing(seed, 1e3), 0.15, scheme, [tolerance])[0]
        for scheme, tolerance in (("radau", 1e-7), ("dop853", 1e-11))
    )
    assert_allclose(found, exact, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("pin", "most"), [("A", 9.85), ("C", 11.8)])
def test_newtons_method_takes_in_bristles_that_stick(pin: str, most: float) -> None:
    """In a pin of the tree and in the cut one: they hold the crank by 3e9 N.m/rad."""
    law = fm.LuGre(0.13, 0.1, stribeck=0.3, stiffness=1e7, damping=1.0, viscous=0.02, preload=300.0)
    solver = started(crank({"stiffness": 1e4, "damping": 1e2}, {pin: law}), scheme="radau", tolerance=1e-6)
    solver.step(0.5)
    assert solver.get("solver.evaluations") < most * solver.get("solver.steps")
    assert abs(solver.get("A.qd")) < 1e-9


def on_a_ball(turned: bool) -> ModelImage:
    """A body of unequal inertias on a ball, given from either side, and two springs."""
    model = fm.Model("ball")
    body = fm.Body("body", mass=1.0, com=(0.3, 0.1, -0.2), inertia=(0.1, 0.25, 0.17))
    at = model.ground.at(), body.at()
    model.add(body, fm.Spherical("B", *(at[::-1] if turned else at)))
    for i, (far, near) in enumerate((((1, 0.2, 0), (0.5, 0, 0)), ((0, -0.7, 0.3), (0.1, 0.1, -0.6)))):
        law = {"stiffness": 1e6, "damping": 1e4, "free_length": 0.6}
        model.add(fm.Spring(f"S{i}", model.ground.at(*far), body.at(*near), **law))
    return compile(model, everything=True)


def test_newtons_method_takes_a_ball_from_either_side() -> None:
    for turned in (False, True):
        solver = started(on_a_ball(turned), scheme="radau", tolerance=1e-6)
        solver.step(0.5)
        assert solver.get("solver.evaluations") < 9.5 * solver.get("solver.steps")


def test_an_only_coordinate_takes_few_evaluations() -> None:
    """Three evaluations in each of two iterations, and the slope."""
    model, rod = fm.Model("rod"), fm.Body.rod("rod", length=1.0, mass=1.0, along="x")
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y", q0=0.1))
    for i, (z, length) in enumerate(((1.0, 1.0), (-1.5, 1.5), (0.3, 0.3))):
        law = {"stiffness": 1e3, "damping": 1.0, "free_length": length}
        model.add(fm.Spring(f"s{i}", model.ground.at(1, 0.3, z), rod.tip, **law))
    solver = fm.Solver(compile(model, everything=True).with_options(scheme="radau", tolerance=1e-6))
    solver.assemble()
    solver.step(0.3)
    assert solver.get("solver.evaluations") < 10.0 * solver.get("solver.steps")

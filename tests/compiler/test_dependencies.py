"""Declared dependencies beside numerical ones on random mechanisms: none is missing, and none is needless."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from lxml import etree

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.export.fmi2 import fmi2_xml
from fmumbs.export.model_description import model_description
from support.closed import Closed, coupled, plane, space
from support.flexible_models import Flexible, plane_loops, plane_tree, space_loop, space_tree
from support.long_trees import long_tree
from support.planar_trees import planar_cases
from support.strategies import Case

KINEMATIC = {"q", "qd", "r", "v", "w", "kappa_dot", "eta", "kappa", "length", "quat"}
BALANCING = {"reaction.f", "reaction.t", "wrench.f", "wrench.t", "drive", "tau"}
MAY_HOLD = {"line.f", "grip.force", "grip.slip"}  # a brake that slides now
PARTLY: set[str] = set()  # suffixes of outputs on which only some of the inputs act that their rows name
NOTHING = 1e-9  # of the largest derivative by an input: below it an output does not depend on the input


def excited(seed: int, scaled: bool = False) -> fm.Model:
    """Two trees: one with a filtered mode, one by an acceleration, a path, and a spring with a law between bodies.

    Of an even seed the law holds two trees together at the start, where all is at rest.
    """
    rng = np.random.default_rng(seed)
    model = fm.Model("excited", gravity=rng.uniform(-10, 10, 3))
    bodies = [fm.Body(f"b{i}", mass=1.0, com=rng.uniform(-0.3, 0.3, 3), inertia=(0.2, 0.3, 0.4)) for i in range(5)]
    modes: list[dict[str, Any]] = [
        {"input": "eta", "cutoff": 5.0}, {"input": "kappa_dot"}, {"path": fm.Path.polynomial(0.1, 0.2 * (seed % 2))},
        {}, {},
    ]  # fmt: skip
    carriers = [model.ground, bodies[0], bodies[1], model.ground, bodies[3]]
    for i in range(5):
        F, M = (place.at(*rng.uniform(-1, 1, 3)) for place in (carriers[i], bodies[i]))
        own = [fm.Turn(tuple(rng.uniform(-1, 1, 3)), role="excited", **modes[i])] if modes[i] else []
        free = [fm.Turn(tuple(rng.uniform(-1, 1, 3))), fm.Turn(tuple(rng.uniform(-1, 1, 3)))]
        model.add(bodies[i], fm.Joint(f"J{i}", F, M, modes=[*free, *own], q0=rng.uniform(0.2, 0.8, 2)))
    ends = (bodies[0], bodies[2]) if seed % 2 else (bodies[2], bodies[4])
    line = fm.Spring("line", *(end.at(*rng.uniform(-1, 1, 3)) for end in ends), stiffness=3.0)
    plain = fm.Spring("plain", bodies[1].at(), bodies[4].at(0.5, 0, 0), stiffness=3.0)
    grip = fm.Law.brake("grip", line, 50.0 if seed % 2 else 1e4, scaled=scaled)
    model.add(line, plain, grip, fm.Load("load", bodies[2].at(0.1, 0.2, 0.3)))
    return model


def states(solver: fm.Solver, seed: int) -> Iterator[int]:
    """The start, and positions near it and far from it that can be assembled, with other masses and velocities."""
    rng = np.random.default_rng(seed)
    variables = solver.image.variables
    tree = set(variables.names(variables.positions()))
    moving = [name for name in tree if variables.find(name).initial in ("exact", "approx")]  # type: ignore[union-attr]
    masses = [v for v in variables if v.kind in ("mass", "inertia") and v.causality == "parameter"]
    solver.assemble()
    yield 0
    start = {name: solver.get(name) for name in moving}
    for state, size in enumerate((0.05, 1.0), 1):
        solver.reset()
        larger = {v.name.partition(".")[0]: rng.uniform(1, 1.2) for v in masses}
        for v in masses:  # 0.1 on the diagonal leaves room for products of inertia of 0.01: still that of a solid
            more = 0.0 if v.kind == "mass" else 0.01 if v.component and v.component > 2 else 0.1
            solver.set(v.name, v.start * larger[v.name.partition(".")[0]] + more)
        for name in moving:
            solver.set(name, start[name] + size * rng.uniform(-1, 1))
        try:
            solver.assemble()
        except fm.SolverError:
            continue
        yield state


def compare(model: fm.Model) -> tuple[set[tuple[str, str]], int]:
    """Declared pairs of an output and an input that the output follows at none of several positions; all declared ones.

    Fails for an output that follows an input and does not say so.
    """
    solver = fm.Solver(compile(model, everything=True))
    variables = list(solver.image.variables)
    inputs = [v for v in variables if v.causality == "input"]
    outputs = [v for v in variables if v.causality == "output" and v.type == "real"]
    references = np.array([v.index for v in outputs], np.uint32)
    declared = {
        (v.name, of.name) for v in outputs for of in inputs if v.dependencies is None or of.index in v.dependencies
    }
    never = set(declared)
    for state in states(solver, 3):
        rng = np.random.default_rng(state)
        for one in inputs:
            solver.set(one.name, rng.uniform(-1, 1))
        for one in inputs:
            value, sides = solver.get(one.name), []
            for change in (-0.5, 0.5):
                solver.set(one.name, value + change)
                sides.append(solver.read(references))
            solver.set(one.name, value)
            moved = np.abs(sides[1] - sides[0])
            large = moved > NOTHING * max(1.0, moved.max(), 1e-4 * np.abs(sides[0]).max())
            follows = {(outputs[i].name, one.name) for i in np.flatnonzero(large)}
            assert not follows - declared, f"at {state}: {sorted(follows - declared)[:20]} follow and do not say so"
            never -= follows
    return never, len(declared)


def kind_of(name: str) -> str:
    return name.split("[")[0].split(".", 1)[-1]


def check(model: fm.Model, exactly: bool = False, part: float = 1.0, apart: bool = False) -> None:
    """Both ways: none is missing, and needless ones are of a kind that the declared set does not resolve.

    These are reactions within a block; and, with `apart`, parts that only a free joint connects, motions along and
    about one axis, which do not accelerate one another, and torques across a flexible body's turn. exactly: only
    those of a law that may stick. part: the share that may be needless.
    """
    spare, count = compare(model)
    spare = {pair for pair in spare if kind_of(pair[0]) not in PARTLY}
    assert not {pair for pair in spare if kind_of(pair[0]) in KINEMATIC}
    if exactly:
        assert {output for output, _ in spare} <= MAY_HOLD
    elif not model.laws and not apart:
        moving = {pair for pair in spare if kind_of(pair[0]) not in BALANCING}
        assert not moving, f"{sorted(moving)[:20]} are declared, and are not there"
    assert len(spare) <= part * count, f"{len(spare)} of {count} are not there: {sorted(spare)[:20]}"


@pytest.mark.parametrize("seed", range(6))
def test_dependencies_of_excited_modes_and_springs_with_laws(seed: int) -> None:
    """A law between trees may hold them together, within one tree all is one mechanism."""
    check(excited(seed), exactly=seed % 2 == 1)


def test_whether_a_law_slips_follows_the_input_that_scales_it() -> None:
    assert compare(excited(0, scaled=True))[1] > 1000


def coupled_tree(seed: int) -> Closed:
    return coupled(seed)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda seed: space(seed), 0.05),
        (lambda seed: space(seed, loops=2, spare=seed % 3), 0.4),
        (lambda seed: space(seed, driven=True), 0.05),
        (lambda seed: plane(seed, 2), 0.3),
        (coupled_tree, 0.4),
        (lambda seed: coupled(seed, closed=True), 0.2),
    ],
    ids=("one loop", "loops", "driven", "plane", "coupled", "coupled loop"),
)
def test_dependencies_in_loops_and_couplings(make: Callable[[int], Closed], part: float, seed: int) -> None:
    """Parts of a block that carry one another are one block here: some reactions declare more than they follow."""
    check(make(10 + seed).model, part=part, apart=make is coupled_tree)


@pytest.mark.parametrize("make", [plane_tree, plane_loops, space_tree, space_loop])
@pytest.mark.parametrize("seed", [0, 1, 1030])
def test_dependencies_with_flexible_bodies(make: Callable[[int], Flexible], seed: int) -> None:
    check(make(seed).model, part=0.4, apart=True)


@pytest.mark.parametrize("seed", range(4))
def test_dependencies_in_trees_of_all_joints(seed: int) -> None:
    check(long_tree(seed, 6, back=3), part=0.4, apart=True)


@settings(max_examples=20)
@given(planar_cases())
def test_dependencies_in_planar_trees(case: Case) -> None:
    """Nothing is missing, and no velocity follows an input."""
    spare, _ = compare(case.model)
    assert not {pair for pair in spare if kind_of(pair[0]) in KINEMATIC}


def locked_crane(**pin: Any) -> fm.Model:
    """A triangle of bars, which nothing moves, carries two independent pendulums."""
    model = fm.Model("crane", gravity=(0, 0, -9.81))
    a, b, c, d = (fm.Body(name, mass=1.0, com=(0.1, 0.2, 0.3), inertia=(1, 2, 2)) for name in "abcd")
    ground = model.ground
    model.add(a, b, c, d, fm.Revolute("A", ground.at(), a.at(), axis="y", **pin))
    model.add(fm.Revolute("B", ground.at(2, 0, 0), b.at(2, 0, 0), axis="y"))
    model.add(fm.Revolute("AB", a.at(1, 0, 1), b.at(1, 0, 1), axis="y"))
    model.add(fm.Revolute("C", a.at(0.5, 0, 0.5), c.at(0, 0, 0.5), axis="y", q0=0.3))
    model.add(fm.Revolute("D", b.at(1.5, 0, 0.5), d.at(0, 0, 0.5), axis="y", q0=0.3))
    model.add(fm.Load("on_a", a.at(0.2, 0, 0)), fm.Load("on_c", c.at(0.2, 0, 0)))
    return model


def test_what_follows_a_follower_load_depends_on_the_axes_of_its_point() -> None:
    model = fm.Model("jet", gravity=(0, 0, -9.81))
    rod = fm.Body.rod("rod", length=1.0, mass=1.0)
    at = rod.at(1, 0, 0, rotation=fm.Rotation.about("x", np.pi / 2))  # whose z lies across the hinge, its y along it
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="z", q0=0.4), fm.Load("jet", at, axes="point"))
    check(model)


def test_bodies_on_a_locked_loop_are_independent() -> None:
    model = locked_crane()
    variables = compile(model, everything=True).variables

    def inputs_of(name: str) -> set[str]:
        found = variables.find(name)
        assert found is not None
        indices = [v.index for v in variables if v.causality == "input"]
        return {variables.name(i) for i in (indices if found.dependencies is None else found.dependencies)}

    of_c = {"C.tau", "on_c.force[1]", "on_c.force[3]", "on_c.torque[2]"}
    assert inputs_of("A.qdd") == inputs_of("a.a[1]") == set()
    assert inputs_of("C.qdd") == inputs_of("c.a[1]") == of_c
    assert inputs_of("c.a[2]") == set()
    assert inputs_of("D.qdd") == inputs_of("D.reaction.f[1]") == {"D.tau"}
    assert inputs_of("A.reaction.f[1]") >= {*of_c, "D.tau", "A.tau", "AB.tau", "on_a.force[1]"}
    assert "A.tau" not in inputs_of("C.reaction.f[1]")
    check(model, part=0.4)


def test_positions_start_by_positions_alone() -> None:
    """Initial unknowns in loops: a position follows no velocity."""
    root = etree.fromstring(fmi2_xml(model_description(compile(space(2).model, everything=True))))
    names = [v.get("name") for v in root.find("ModelVariables")]
    for unknown in root.find("ModelStructure/InitialUnknowns"):
        name = names[int(unknown.get("index")) - 1]
        if kind_of(name) in {"q", "r", "quat", "eta", "length"}:
            known = {kind_of(names[int(i) - 1]) for i in unknown.get("dependencies").split()}
            assert known <= {"q", "r", "quat", "eta"}, name


def test_forces_pass_through_couplings_that_lock_their_joints() -> None:
    """Nothing moves there, but the forces of both couplings follow what acts on either joint."""
    model = fm.Model("locked")
    a, b, c = (fm.Body(name, mass=1.0, com=(0.3, 0.1, 0.2), inertia=(0.2, 0.3, 0.4)) for name in "abc")
    A = fm.Revolute("A", model.ground.at(), a.at(), axis="y", q0=0.3)
    B = fm.Revolute("B", model.ground.at(2, 0, 0), b.at(), axis="x", q0=0.2)
    C = fm.Revolute("C", b.at(0.5, 0, 0), c.at(), axis=(0, 1, 1), q0=0.2)
    model.add(a, b, c, A, B, C, fm.Load("load", a.at(0.1, 0.2, 0.3)))
    model.add(fm.Coupling("g", [(A, 1.0), (B, 0.7)]), fm.Coupling("h", [(A, 1.0), (B, -0.7)]))
    spare, _ = compare(model)
    assert not {pair for pair in spare if kind_of(pair[0]) in KINEMATIC}


@pytest.mark.parametrize("held", [False, True])
def test_starts_of_coupled_coordinates_are_guesses_unless_they_are_held(held: bool) -> None:
    model = fm.Model("geared")
    bodies = [fm.Body(name, mass=1.0, inertia=(1, 1, 1)) for name in "abc"]
    options = [{"held": held}, {}, {}]
    A, B, C = (
        fm.Revolute(name, model.ground.at(), body.at(), axis="z", **own)
        for name, body, own in zip("ABC", bodies, options, strict=True)
    )
    model.add(*bodies, A, B, C, fm.Coupling("G", [(A, 1.0), (B, 2.0)]))
    variables = compile(model, everything=True).variables
    found = {name: {variables[i].initial for i in variables.references(f"{name}.q")} for name in "ABC"}
    assert found == {"A": {"exact" if held else "approx"}, "B": {"approx"}, "C": {"exact"}}


def rubbing(own: bool, where: int) -> fm.Model:
    """Two arms side by side, one with a brake and a clutch; own: on its own reaction, whereby all follows all."""
    model = fm.Model("rubbing")
    pads = fm.LuGre(0.3, 0.2, stribeck=0.1, stiffness=1e3, damping=0.1, preload=1.0, pressed=True, scaled=True)
    for k in range(2):
        a, b = (fm.Body.rod(f"{name}{k}", length=0.5, mass=1.0, radius=0.1) for name in "ab")
        rub = replace(pads, own=own, radius=0.02 if own else 0.0) if k == where else None
        model.add(a, b, fm.Revolute(f"A{k}", model.ground.at(0, k, 0), a.base, axis="y", u0=1.0, friction=rub))
        model.add(fm.Spherical(f"B{k}", a.tip, b.base, u0=(0.3, 0.4, -1.0), friction=rub))
    return model


@pytest.mark.parametrize("where", [0, 1])
@pytest.mark.parametrize("own", [False, True])
def test_dependencies_of_friction(own: bool, where: int) -> None:
    """None is missing: compare() fails for one that is."""
    assert compare(rubbing(own, where))[1] > 100


def two_arms() -> tuple[fm.Model, list[fm.Revolute]]:
    """Side by side, at rest, each of two rods."""
    model, joints = fm.Model("arms"), []
    for k in range(2):
        a, b = (fm.Body.rod(f"{name}{k}", length=0.5, mass=1.0, radius=0.1) for name in "ab")
        joints += [
            fm.Revolute(f"A{k}", model.ground.at(0, k, 0), a.base, axis="y", q0=0.3),
            fm.Revolute(f"B{k}", a.tip, b.base, axis="y", q0=0.4),
        ]
        model.add(a, b, *joints[-2:])
    return model, joints


@pytest.mark.parametrize("scaled", [False, True])
def test_dependencies_of_laws_on_joints(scaled: bool) -> None:
    """A brake that sticks, and one that slides with a scale."""
    model, (_, B, *_) = two_arms()
    model.add(fm.Law.brake("L", B, 1e3, scale=1e-3 if scaled else 1.0, scaled=scaled))
    assert compare(model)[1] > 50


@pytest.mark.parametrize("of", ["position", "velocity"])
def test_dependencies_of_programs(of: str) -> None:
    model, (A, *_) = two_arms()
    model.add(fm.ProgrammedJoint("P", A, input="eta", cutoff=5.0, of=of, transition=0.5))
    assert compare(model)[1] > 50
    variables = compile(model, everything=True).variables
    assert {variables.find(name).initial for name in ("P.eta", "P.kappa")} == {"approx"}  # where the transition begins

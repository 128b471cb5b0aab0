"""Searches end, whatever is set, and cost as much as the mechanism has bodies."""

import warnings
from contextlib import suppress

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.readers import read_model
from support.elastic_models import elastic
from support.statics import standing_loop, standing_tree
from support.sweeps import seeds

MOST = 35_000  # evaluations: 20 000, 10 000 with matrices, those of the last linear system, and of a verdict


@pytest.mark.parametrize("seed", seeds(6, 200))
def test_extreme_values_give_an_equilibrium_or_an_error(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = (standing_tree, standing_loop, elastic)[seed % 3](seed)
    solver = fm.Solver(model, equilibrium=True)
    variables = solver.image.variables
    free = [v.name for v in variables if v.causality in ("input", "parameter") and not v.name.startswith("solver")]
    for name in rng.choice(free, size=int(rng.integers(1, 6))):
        value = 10.0 ** rng.uniform(-15, 15)
        with suppress(fm.SolverError):  # out of bounds
            solver.set(str(name), value if "mass" in name or "inertia" in name else value * rng.choice((-1, 1)))
    with suppress(fm.AssemblyError):
        solver.assemble()
        assert np.isfinite(solver.read(variables.positions())).all()
    assert solver.equilibrium_found[1] < MOST


HOW = [  # what finds it, and in how many evaluations
    ("tree 0", "newton", 56), ("tree 1", "descent", 466), ("tree 3", "descent", 367), ("tree 4", "descent", 365),
    ("loop 1", "descent", 335), ("loop 3", "descent", 479), ("elastic 2", "descent", 589), ("four_bar", "newton", 38),
    ("pendulum", "descent", 168), ("double_pendulum", "descent", 254), ("cantilever", "newton", 61),
    ("crane", "descent", 176), ("slider_crank", "descent", 285),
]  # fmt: skip
NO_MORE = 1.1  # times as many: a search that goes astray still arrives, but late


@pytest.mark.parametrize(("name", "method", "evaluations"), HOW)
def test_a_search_takes_the_shortest_way(name: str, method: str, evaluations: int) -> None:
    kind, _, seed = name.partition(" ")
    makers = {"tree": standing_tree, "loop": standing_loop, "elastic": elastic}
    solver = fm.Solver(makers[kind](int(seed)) if seed else read_model(name, {}), equilibrium=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of starts
        solver.assemble()
    assert solver.equilibrium_found[0] == method
    assert solver.equilibrium_found[1] <= NO_MORE * evaluations


def strip(elements: int) -> fm.Model:
    """A flexible link that is clamped at its base, under its weight and a force across."""
    model = fm.Model("strip", gravity=(0, 0, -1))
    link = fm.FlexibleLink("l", length=1.0, EIy=1.0, EIz=2.0, GJ=1.0, mass=1.0, axial_inertia=1e-3, elements=elements)
    model.add(link, fm.Weld("w", model.ground.at(), link.base), fm.Load("L", link.tip, force=(0, 3.0, 1.0)))
    return model


def test_a_thousand_elements_take_as_many_evaluations_as_fifty() -> None:
    counts = []
    for elements in (50, 1000):
        solver = fm.Solver(strip(elements), equilibrium=True)
        solver.assemble()
        counts.append(solver.equilibrium_found[1])
    assert counts[1] < 1.2 * counts[0]


def truss(rise: float, load: float, start: float) -> fm.Model:
    """Two springs from a slide to pins beside it: von Mises's truss."""
    model = fm.Model("truss", gravity=(0, 0, 0))
    block = fm.Body("block", mass=1.0, inertia=(1, 1, 1))
    model.add(block, fm.Prismatic("S", model.ground.at(), block.at(), axis="z", q0=start))
    for name, x in (("a", -1.0), ("b", 1.0)):
        model.add(fm.Spring(name, block.at(), model.ground.at(x), stiffness=100.0, free_length=np.hypot(1.0, rise)))
    model.add(fm.Load("L", block.at(), force=(0, 0, -load)))
    return model


def truss_force(rise: float, h: float) -> float:
    length = np.hypot(1.0, h)
    return float(-200.0 * (length - np.hypot(1.0, rise)) * h / length)


@pytest.mark.parametrize(("start", "stable"), [(0.25, True), (0.02, False), (-0.2, True)])
def test_a_truss_has_three_equilibria_of_which_the_middle_one_is_unstable(start: float, stable: bool) -> None:
    found = fm.equilibrium(truss(0.3, 0.0, start))
    assert_allclose(found.starts["S.q"], 0.3 * np.sign(start) * stable, atol=1e-8)
    assert found.stable == stable


def test_a_truss_snaps_through_under_more_than_its_largest_force() -> None:
    rise, heights = 0.3, np.linspace(0, 0.3, 2001)
    largest = max(truss_force(rise, h) for h in heights)
    for share in (0.9, 1.1):
        found = fm.equilibrium(truss(rise, share * largest, rise))
        h = found.starts["S.q"]
        assert_allclose(truss_force(rise, h), share * largest, rtol=1e-8)
        assert found.stable
        assert (h > 0) == (share < 1)


def test_friction_with_bristles_drops_out() -> None:
    model = fm.Model("stuck")
    rod = fm.Body.rod("rod", length=1.0, mass=2.0, along="-z")
    lugre = fm.LuGre(0.6, 0.4, stribeck=0.1, stiffness=1e3, damping=5.0, preload=500.0)
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y", q0=0.3, friction=lugre))
    solver = fm.Solver(model, equilibrium=True)
    solver.assemble()
    assert_allclose(solver.get("A.q"), 0.0, atol=1e-10)
    assert not solver.get("A.friction.z")
    solver.step(1.0)
    assert_allclose(solver.get("A.q"), 0.0, atol=1e-9)


def test_programs_stand_where_their_paths_begin() -> None:
    """An arm of three rods with springs whose tip follows a path: at rest, with the springs and weights in balance."""
    model = fm.Model("arm", gravity=(0, -9.81, 0))
    place = model.ground.at()
    for name, q0 in zip("abc", (0.3, 0.5, 0.4), strict=True):
        rod = fm.Body.rod(name, length=0.5, mass=1.0)
        model.add(rod, fm.Revolute(name.upper(), place, rod.base, q0=q0, stiffness=4.0, damping=1.0))
        place = rod.tip
    begins = (0.9, 0.7, 0.0)
    path = fm.Path.line(begins[:2], (1.1, 0.7), 1.0)
    model.add(fm.ProgrammedPoint("P", place, path=path, directions="xy"))
    solver = fm.Solver(model, equilibrium=True)
    solver.assemble()
    assert_allclose(solver.get("c.tip.r"), begins, atol=1e-9)
    q = np.array([solver.get(f"{name}.q") for name in "ABC"])
    angle = np.cumsum(q)
    arms = 0.5 * np.array([np.cos(angle), np.sin(angle)])
    weight = 9.81 * np.array([sum(arms[0, i:j].sum() + arms[0, j] / 2 for j in range(i, 3)) for i in range(3)])
    J = np.array([[-arms[1, i:].sum(), arms[0, i:].sum()] for i in range(3)])
    force = np.linalg.lstsq(J, 4.0 * q + weight, rcond=None)[0]
    assert_allclose(J @ force, 4.0 * q + weight, atol=1e-7)


def weighted_ball() -> fm.Model:
    """It rolls on a slope, held by a spring at its centre; its centre of mass is beside its centre."""
    model = fm.Model("ball", gravity=(1.0, 0.5, -9.81))
    ball = fm.Body("ball", mass=1.0, com=(0.02, 0.03, -0.08), inertia=(0.01, 0.012, 0.013))
    turned = (0.9, 0.2, 0.3, 0.1)
    start = (0.1, -0.2, 0.3, *(np.array(turned) / np.linalg.norm(turned)))
    model.add(ball, fm.Free("A", model.ground.at(), ball.at(), q0=start))
    model.add(fm.Rolling("R", model.ground.at(), ball.at(), radius=0.3, axis=None))
    model.add(fm.Spring("s", model.ground.at(0, 0, 0.3), ball.at(), stiffness=50.0, free_length=0.0))
    return model


def test_a_ball_that_rolls_stands_where_the_accelerations_that_it_is_allowed_vanish() -> None:
    """Moments about the point of contact: of the weight, and of the spring."""
    solver = fm.Solver(weighted_ball(), equilibrium=True)
    solver.assemble()
    r = solver.get("A.r")
    centre = r + fm.Rotation.quaternion(*solver.get("A.q")).matrix @ (0.02, 0.03, -0.08)
    contact, weight = r - (0, 0, 0.3), np.array((1.0, 0.5, -9.81))
    spring = 50.0 * (np.array((0, 0, 0.3)) - r)
    moment = np.cross(centre - contact, weight) + np.cross(r - contact, spring)
    assert_allclose(moment, 0.0, atol=1e-7)
    solver.step(0.5)
    assert_allclose(solver.get("A.r"), r, atol=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_what_cannot_move_stands_where_it_was_assembled(seed: int) -> None:
    """A triangle of random shape and direction, some with a body too many; an arm whose tip follows a program."""
    rng = np.random.default_rng([seed, 71])
    model = fm.Model("locked", gravity=rng.uniform(-10, 10, 3))
    lengths = rng.uniform(0.8, 1.2, 3)
    c, a = np.cos(t := rng.uniform(0, 6)), np.sin(t)
    rods = [fm.Body.rod(name, length=float(x), mass=1.0) for name, x in zip("ab", lengths, strict=False)]
    P, Q = model.ground.at(0, 0, 0), model.ground.at(float(lengths[2] * c), 0, float(-lengths[2] * a))
    A = fm.Revolute("A", P, rods[0].base, axis="y", q0=float(t - 1.0))
    model.add(*rods, A)
    if seed < 2:
        model.add(fm.Revolute("B", Q, rods[1].base, axis="y", q0=float(t - 2.0)))
        model.add(fm.Revolute("C", rods[0].tip, rods[1].tip, axis="y"))
    else:
        model.add(fm.Revolute("B", rods[0].tip, rods[1].base, axis="y", q0=1.0))
        path = fm.Path.polyline([(0.6, 0.1), (0.7, 0.3)], 1.0)
        model.add(fm.ProgrammedPoint("P", rods[1].tip, directions="xz", path=path, transition=float(seed - 2)))
    found, assembled = fm.equilibrium(model), fm.Solver(model)
    assembled.assemble()
    assert found.stable
    assert found.squares == ()
    for name, value in found.starts.items():
        assert value == pytest.approx(assembled.get(name), rel=1e-12)

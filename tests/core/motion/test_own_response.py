"""Own normal forces by the factors that an evaluation leaves, beside an evaluation for each of them.

Beside the mechanism a sledge is on two rails. Their reactions are not unique: then normal forces take evaluations.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support import closed, rubbing
from support.drawing.mechanism import draw
from support.drawing.rebuilding import rebuilt
from support.scripts import load
from support.sweeps import each_value, first

MODELS = Path(__file__).parents[3] / "models"
STEP, STEPS = 1e-6, 3  # [s]
AGREEMENT = 1e-9  # relative to the largest value of its unit, or 1: forces are differences of larger ones
SORTS = ("revolute", "prismatic", "spherical", "cylindrical")
UNIQUE = (5, 7, 12, 13, 14, 18, 22, 33)  # of closed.space: loops all of whose reactions are unique, and that do not jam
DRAWN = (1, 33, 187, 14, 38, 74, 83, 93, 135, 152, 162, 182)  # likewise
OWN = fm.LuGre(0.3, 0.2, stribeck=0.1, stiffness=1e3, damping=0.02, own=True)
EVERY_DYNAMICS = pytest.mark.parametrize("dynamics", ["riccati", "copcod"])


def beside_a_sledge(model: fm.Model) -> fm.Model:
    new = rebuilt(model)
    sledge = fm.Body("sledge_", mass=1.0, inertia=(1, 1, 1))
    rails = [fm.Prismatic(f"rail{i}_", new.ground.at(0, i, 0), sledge.at(0, i, 0), axis="x") for i in (0, 1)]
    new.add(sledge, *rails)
    return new


def seen(solver: fm.Solver, names: list[str]) -> dict[str, np.ndarray]:
    """Relative to the largest value of each unit, if it is above 1."""
    variables = solver.image.variables
    found = {name: np.atleast_1d(solver.get(name)) for name in names}
    units = {name: variables.units(variables.references(name))[0] for name in names}
    most = dict.fromkeys(units.values(), 1.0)
    for name, value in found.items():
        most[units[name]] = max(most[units[name]], float(np.abs(value).max()))
    return {name: value / most[units[name]] for name, value in found.items()}


def assert_same(model: fm.Model, dynamics: str) -> None:
    """At the start and after some steps."""
    sides = []
    for one in (model, beside_a_sledge(model)):
        solver = fm.Solver(fm.compile(one).with_options(dynamics=dynamics, scheme="rk4", step=STEP))
        solver.use_planar(False)
        solver.assemble()
        sides.append(solver)
    ends = (
        ".q",
        ".qd",
        ".qdd",
        ".w",
        ".alpha",
        ".a",
        ".load",
        ".drive",
        "reaction.f",
        "reaction.t",
        "wrench.f",
        "wrench.t",
    )
    names = [n for n in sides[0].image.variables.names() if n.endswith(ends) and not n.startswith("solver")]
    for time in (0.0, STEPS * STEP):
        for solver in sides if time else ():
            solver.step(time)
        one, other = (seen(solver, names) for solver in sides)
        for name in names:
            assert_allclose(one[name], other[name], rtol=0, atol=AGREEMENT, err_msg=f"{name} at {time}")
    by_factors, by_evaluations = (solver.get("solver.evaluations") for solver in sides)
    assert by_factors == 4 * STEPS < by_evaluations


@each_value
@EVERY_DYNAMICS
@pytest.mark.parametrize("seed", UNIQUE)
def test_random_loops(seed: int, dynamics: str) -> None:
    """Also in cut joints, of one mode and of several."""
    rng = np.random.default_rng(seed)
    case = closed.space(seed, sorts=SORTS)
    joints = {joint.name: rubbing.rubbed(rng, joint) for joint in case.model.joints}
    assert_same(rubbing.with_joints(case.model, joints), dynamics)


@each_value
@EVERY_DYNAMICS
@pytest.mark.parametrize("seed", first(5, DRAWN))
def test_random_mechanisms_of_everything(seed: int, dynamics: str) -> None:
    """Flexible bodies and supports, excited joints, bushings, couplings, programs, drives with inertia."""
    rng = np.random.default_rng(seed)
    assert_same(rebuilt(draw(seed).model, lambda one: rubbing.rubbed(rng, one)), dynamics)


@EVERY_DYNAMICS
@pytest.mark.parametrize("cut", ["C", "D"])
def test_a_crank_with_a_slide_or_a_ball_cut(cut: str, dynamics: str) -> None:
    """Friction in a cut slide pushes its links."""
    assert_same(rubbing.crank(OWN, cut), dynamics)


def arm(drives: str = "") -> fm.Model:
    """A turret with two hinges whose tip is programmed; the hinges are geared to a wheel."""
    model = fm.Model("arm")
    sizes = (("a", 0.5, 1.0), ("b", 0.4, 0.7), ("c", 0.3, 0.4), ("d", 0.2, 0.3))
    a, b, c, d = (fm.Body.rod(name, length=length, mass=mass, radius=0.02) for name, length, mass in sizes)
    rub = replace(OWN, radius=0.02, collar=0.01)
    model.add(a, b, c, d, fm.Revolute("A", model.ground.at(), a.base, axis="z", q0=0.3, u0=0.2, friction=rub))
    model.add(fm.Revolute("B", a.tip, b.base, axis="y", q0=0.5, friction=rub))
    model.add(fm.Revolute("C", b.tip, c.base, axis="y", q0=0.6, friction=rub, rotor_inertia=0.01))
    model.add(fm.Spherical("D", c.tip, d.base, u0=(0.3, 1.0, -2.0), friction=replace(OWN, radius=0.01)))
    path = fm.Path.line([0.9, 0.25, -0.4], [0.75, 0.4, -0.3], 1.0)
    options: dict[str, Any] = {"directions": "xz", "path": path.paths[::2]}
    model.add(
        fm.ProgrammedPoint(
            "P", c.tip, drives=tuple(model[name] for name in drives), transition=0.3, insist=bool(drives), **options
        )
    )
    return model


@EVERY_DYNAMICS
@pytest.mark.parametrize("drives", ["", "AB", "CA"])
def test_programs_that_ideal_forces_or_drives_realise(drives: str, dynamics: str) -> None:
    assert_same(arm(drives), dynamics)


@EVERY_DYNAMICS
@pytest.mark.parametrize("name", ["manipulator5", "rpsup"])
@pytest.mark.parametrize(
    "options", [{}, {"link": "flexible", "support": "flexible", "elements": 2}], ids=["rigid", "flexible"]
)
def test_the_papers_mechanisms(name: str, options: dict[str, Any], dynamics: str) -> None:
    assert_same(load(MODELS / f"{name}.py").build(friction=True, **options), dynamics)


@EVERY_DYNAMICS
def test_couplings_carry_friction(dynamics: str) -> None:
    """A wheel that a gear drives, beside an arm in space."""
    model = fm.Model("geared")
    a, b, wheel = (fm.Body.rod(name, length=0.4, mass=1.0, radius=0.03) for name in ("a", "b", "wheel"))
    rub = replace(OWN, radius=0.05)
    A = fm.Revolute("A", model.ground.at(), a.base, axis=(0, 1, 1), q0=0.4, u0=1.0, friction=rub)
    B = fm.Universal("B", a.tip, b.base, axes=("y", "z"), q0=(0.3, 0.2), u0=(1.0, -0.5), friction=rub)
    W = fm.Revolute("W", a.at(0.1, 0.2, 0), wheel.base, axis="y", friction=rub)
    model.add(a, b, wheel, A, B, W, fm.Coupling.gear("G", A, W, ratio=2.0))
    assert_same(model, dynamics)


@EVERY_DYNAMICS
def test_the_implicit_scheme_takes_as_many_evaluations_as_with_a_preload(dynamics: str) -> None:
    """Also for the directions of stiff springs, on which everything stands here."""
    evaluations = []
    for own in (True, False):
        model = load(MODELS / "manipulator5.py").build(support="flexible", friction=True, own=own)
        solver = fm.Solver(fm.compile(model).with_options(dynamics=dynamics, scheme="radau"))
        solver.assemble()
        solver.step(0.2)
        evaluations.append(solver.get("solver.evaluations"))
    assert evaluations[0] <= 1.2 * evaluations[1]

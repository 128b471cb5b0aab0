"""A motion that starts in equilibrium: in the Solver and in an FMU, with what the importer sets."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.play.fmu import Fmu
from fmumbs.verify import verify_fmu
from support.statics import standing_loop, standing_tree


def hanging() -> fm.Model:
    """A flexible arm with a load at its tip, which hangs down on a spring."""
    model = fm.Model("hanging", gravity=(0, 0, -9.81))
    arm = fm.FlexibleLink("arm", length=1.0, EIy=5.0, EIz=8.0, GJ=3.0, mass=0.5, axial_inertia=1e-3, elements=3)
    bob = fm.Body.sphere("bob", radius=0.05, mass=0.3)
    model.add(arm, bob, fm.Revolute("A", model.ground.at(), arm.base, axis="y", stiffness=4.0, u0=0.5))
    model.add(fm.Spherical("B", arm.tip, bob.at(0, 0, 0.2), stiffness=0.1), fm.Load("L", arm.tip))
    return model


@pytest.fixture(scope="module")
def standing(tmp_path_factory: Any) -> Path:
    return fm.export_fmu(hanging(), tmp_path_factory.mktemp("fmu") / "hanging.fmu", equilibrium=True)


def attributes(text: str, name: str) -> dict[str, str]:
    (line,) = re.findall(f'<ScalarVariable name="{re.escape(name)}".*?</ScalarVariable>', text, re.DOTALL)
    return dict(re.findall(r'(\w+)="(.*?)"', line))


CHANGES: list[dict[str, Any]] = [
    {},
    {"bob.mass": 0.6},
    {"A.stiffness": 9.0},
    {"L.force[2]": 1.5},
    {"gravity[1]": 4.0, "A.tau": 0.7},
]


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_the_start_follows_what_is_set_and_is_that_of_the_solver(standing: Path, changes: dict[str, float]) -> None:
    solver = fm.Solver(fm.compile(hanging(), equilibrium=True))
    for name, value in changes.items():
        solver.set(name, value)
    solver.assemble()
    with Fmu(standing) as fmu, fmu.started({fmu.reference(name): value for name, value in changes.items()}) as one:
        variables = set(solver.image.variables.names())
        shared = [r for r in fmu.readable if fmu.names[r] in variables]  # without the time and the rates of states
        for _ in range(3):
            found = one.reals(shared)
            expected = [solver.get(fmu.names[r]) for r in shared]
            assert np.array(found).tobytes() == np.array(expected).tobytes()
            one.step(fmu.interval)
            solver.step(one.time)
    still = fm.equilibrium(hanging()).solver.read(solver.image.variables.positions())
    moved = np.abs(solver.read(solver.image.variables.positions()) - still).max()
    assert moved > 1e-2 if changes else moved < 1e-6


def test_it_is_found_again_after_each_change_whatever_was_found_before() -> None:
    solver, fresh = fm.Solver(hanging(), equilibrium=True), fm.Solver(hanging(), equilibrium=True)
    solver.assemble()
    first = solver.state_save()
    solver.set("bob.mass", 5.0)
    solver.assemble()
    solver.set("bob.mass", 0.3)
    solver.assemble()
    assert solver.state_save() == first
    fresh.assemble()
    fresh.state_load(first)
    for one in (solver, fresh):
        one.step(0.3)
    assert solver.state_save() == fresh.state_save()
    solver.reset()
    solver.assemble()
    assert solver.state_save() == first


def test_velocities_that_are_given_do_not_matter() -> None:
    solver = fm.Solver(hanging(), equilibrium=True)
    solver.set("A.qd", 3.0)
    solver.assemble()
    assert not solver.read(solver.image.variables.speeds()).any()
    solver.step(0.1)
    assert abs(solver.get("A.qd")) < 1e-6


@pytest.mark.parametrize("start", [{"u0": 1.0}, {}])
def test_given_starts_of_cut_joints_do_not_keep_it_from_rest(start: dict[str, float]) -> None:
    model = fm.Model("four_bar", gravity=(0, -9.81, 0))
    a, b, c = (fm.Body.rod(name, length=x, mass=x) for name, x in zip("abc", (0.4, 1.0, 0.8), strict=True))
    model.add(a, b, c, fm.Revolute("A", model.ground.at(), a.base, q0=-1.0, stiffness=3.0, **start))
    model.add(fm.Revolute("B", a.tip, b.base, q0=0.8), fm.Revolute("D", model.ground.at(1.0), c.base, q0=1.5))
    model.add(fm.Revolute("C", b.tip, c.tip, cut=True, q0=0.3, u0=2.0, stiffness=0.5))
    found = fm.equilibrium(model)
    assert not found.solver.read(found.solver.image.variables.speeds()).any()
    assert np.abs(found.solver.read(found.solver.image.variables.accelerations())).max() < 1e-7


def test_drives_keep_their_velocities() -> None:
    model = fm.Model("driven")
    arm, rod = fm.Body.rod("arm", length=1.0, mass=1.0), fm.Body.rod("rod", length=1.0, mass=2.0, along="-z")
    turning = fm.Turn("y", role="excited", path=fm.Path.polynomial(0.4, 3.0, 20.0))
    model.add(arm, rod, fm.Joint("D", model.ground.at(), arm.base, modes=(turning,)))
    model.add(fm.Revolute("A", arm.tip, rod.base, axis="y", q0=0.1, u0=1.0))
    solver = fm.Solver(model, equilibrium=True)
    solver.assemble()
    assert_allclose([solver.get("D.eta"), solver.get("D.kappa")], [0.4, 3.0])
    assert_allclose([solver.get("A.q"), solver.get("A.qd")], [-0.4, 0.0], atol=1e-9)


@pytest.mark.parametrize("correction", ["baumgarte", "off"])
def test_loops_are_closed_whatever_keeps_them_closed_later(correction: str) -> None:
    model = standing_loop(1)
    found = []
    for how in ("direct", correction):
        solver = fm.Solver(fm.compile(model, everything=True).with_options(correction=how), equilibrium=True)
        before = solver.get("solver.correction")
        solver.assemble()
        assert solver.get("solver.correction") == before
        assert solver.get("solver.position_violation") < 1e-9
        found.append(solver.read(solver.image.variables.positions()))
    assert_allclose(found[1], found[0], rtol=0, atol=1e-8)


def test_bristles_that_are_deflected_are_relaxed() -> None:
    model = fm.Model("stuck")
    rod = fm.Body.rod("rod", length=1.0, mass=2.0, along="-z")
    lugre = fm.LuGre(0.6, 0.4, stribeck=0.1, stiffness=1e3, damping=5.0, preload=50.0)
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y", q0=0.3, friction=lugre))
    solver = fm.Solver(model, equilibrium=True)
    solver.set("A.friction.z", 4e-4)
    solver.assemble()
    assert solver.get("A.friction.z") == 0.0
    assert_allclose([solver.get("A.q"), solver.get("A.qdd")], 0.0, atol=1e-9)


def test_a_cut_joint_keeps_the_turns_that_it_made_on_the_way() -> None:
    """A crank turns by nearly a whole turn to where the spring in the joint that closes the loop is relaxed."""
    model = fm.Model("wound", gravity=(0, 0, 0))
    a, b = fm.Body.rod("a", length=0.3, mass=1.0), fm.Body("b", mass=1.0, inertia=(1, 1, 1))
    model.add(a, b, fm.Revolute("A", model.ground.at(), a.base, q0=0.4))
    start = (0.3 * np.cos(0.4), 0.3 * np.sin(0.4))
    model.add(fm.Joint("S", model.ground.at(), b.at(), modes=(fm.Slide("x"), fm.Slide("y")), q0=start))
    model.add(fm.Revolute("C", a.tip, b.at(), cut=True, stiffness=2.0, rest=-5.0))
    solver = fm.equilibrium(model).solver
    assert_allclose([solver.get("A.q"), solver.get("C.q")], [5.0, -5.0], atol=1e-8)


def test_the_description_says_what_positions_follow(standing: Path) -> None:
    with Fmu(standing) as fmu:
        text = Path(fmu.folder, "modelDescription.xml").read_text(encoding="utf-8")
    position, rest = attributes(text, "A.q"), attributes(text, "A.qd")
    assert position["initial"] == rest["initial"] == "approx"
    names = re.findall(r'<ScalarVariable name="(.*?)"', text)
    unknowns = re.findall(r"<InitialUnknowns>.*</InitialUnknowns>", text, re.DOTALL)[0]
    index = names.index("A.q") + 1
    listed = re.findall(f'<Unknown index="{index}" dependencies="(.*?)"', unknowns)[0].split()
    known = {names[int(i) - 1] for i in listed}
    assert {"bob.mass", "A.stiffness", "A.tau", "L.force[3]", "gravity[1]", "solver.equilibrium"} <= known
    assert not known & {"A.damping", "solver.scheme", "A.q", "A.qd"}


def test_the_fmu_verifies(standing: Path) -> None:
    assert verify_fmu(standing, fm.compile(hanging(), equilibrium=True)) == []


def test_without_an_equilibrium_initialisation_fails_with_the_free_mode(tmp_path: Path) -> None:
    model = fm.Model("falling")
    ball = fm.Body.sphere("ball", radius=0.1, mass=1.0)
    model.add(ball, fm.Prismatic("S", model.ground.at(), ball.at(), axis="z", stiffness=10.0))
    path = fm.export_fmu(model, tmp_path / "falling.fmu", equilibrium=True)
    with Fmu(path) as fmu, fmu.instance() as one:
        with pytest.raises(Exception, match="fmi2ExitInitializationMode"):
            one.start({fmu.reference("S.stiffness"): 0.0})
        assert re.search(r"no equilibrium.*S\.q.*Add a spring", one.last_message)
    with pytest.raises(fm.EquilibriumError, match=r"no equilibrium.*S\.q"):
        fm.export_fmu(falling(), tmp_path / "other.fmu", equilibrium=True)
    assert not (tmp_path / "other.fmu").exists()


def falling() -> fm.Model:
    model = fm.Model("falling")
    ball = fm.Body.sphere("ball", radius=0.1, mass=1.0)
    model.add(ball, fm.Prismatic("S", model.ground.at(), ball.at(), axis="z"))
    return model


@pytest.mark.parametrize("value", [-1.0, 0.5, 3.0, 1e300])
def test_another_value_is_refused(value: float) -> None:
    solver = fm.Solver(hanging())
    with pytest.raises(fm.SolverError, match=r"equilibrium = .* is refused: it must be a whole number from 0 to 2"):
        solver.set("solver.equilibrium", value)


@pytest.mark.parametrize("seed", range(4))
def test_all_levels_of_the_kernels_find_the_same_bits(seed: int) -> None:
    states = []
    for level in (0, 1):
        solver = fm.Solver(standing_tree(seed) if seed % 2 else standing_loop(seed + 1), equilibrium=True)
        solver.use_level(level)
        solver.assemble()
        states.append(solver.state_save())
    assert states[0] == states[1]

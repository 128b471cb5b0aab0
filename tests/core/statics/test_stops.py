"""Equilibria on stops with a restitution: the force of the stop is an unknown of one sign, in Python and in FMUs."""

from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize, newton

import fmumbs as fm
from support.impacts import GRAVITY, four_bar, stack
from support.sweeps import seeds

TOUCHED = 1e-12  # m or rad: within which a stop is touched, and a place at it is found
FORCE = 1e-9  # relative: of forces at rest
MINIMUM = 1e-6  # rad: what a minimum of an energy of the order of 1 J has of its digits, the square root of round-off
RESTS = 1e-9  # rad or m: how far what rests moves in half a second
STEP = 1e-4  # rad: of a central difference of a work, ...
DIFFERENCE = 1e-6  # ... and what it leaves of a torque, relative, with what Newton's method leaves of the work
SAME = 1e-6  # relative: of squared frequencies, whose stiffness is of differences


def resting(height: float, *, lower: float | None = 0.0, upper: float | None = None, **options: Any) -> fm.Model:
    model = fm.Model("resting", gravity=(0, 0, -GRAVITY))
    mass = fm.Body("mass", mass=2.0, inertia=(0.1, 0.1, 0.1))
    slide = fm.Prismatic("s", model.ground.at(), mass.at(), axis="z", q0=height, **options)
    model.add(mass, slide, fm.Stop("floor", slide, lower=lower, upper=upper, restitution=0.5))
    return model


def arm(q: Any, stops: Any, masses: Any = (1.0, 0.7)) -> fm.Model:
    """Two rods that hang from each other, each with a range."""
    model = fm.Model("arm", gravity=(0, 0, -GRAVITY))
    at: Any = model.ground.at()
    for i in range(2):
        rod = fm.Body.rod(f"rod{i}", length=0.8, mass=masses[i])
        joint = fm.Revolute(f"J{i}", at, rod.base, axis="y", q0=q[i])
        model.add(rod, joint, fm.Stop(f"stop{i}", joint, lower=stops[i][0], upper=stops[i][1], restitution=0.3))
        at = rod.tip
    return model


def arm_energy(q: Any, masses: Any) -> float:
    """Rods lie along x at zero and turn down with a positive angle about y."""
    down = 0.8 * np.sin([q[0], q[0] + q[1]])
    return float(-GRAVITY * (masses[0] * down[0] / 2 + masses[1] * (down[0] + down[1] / 2)))


def test_a_linear_model_refuses_a_stop_that_is_closed_on_a_spring() -> None:
    model = fm.Model("hung", gravity=(0, 0, -GRAVITY))
    mass = fm.Body("mass", mass=2.0, inertia=(0.1, 0.1, 0.1))
    line = fm.Spring("line", model.ground.at(0, 0, 1), mass.at())
    model.add(mass, fm.Prismatic("s", model.ground.at(), mass.at(), axis="z", q0=-0.2), line)
    model.add(fm.Stop("end", line, upper=1.2, restitution=0.5))
    with pytest.raises(fm.ModelError, match=r"stop 'end' of 'hung' is closed on a spring"):
        fm.linearize(model, at="equilibrium")


@pytest.mark.parametrize("height", [0.0, 0.3, 1.0])
def test_a_mass_rests_on_a_stop(height: float) -> None:
    """Where it starts on it, and where it has to come down to it."""
    found = fm.equilibrium(resting(height))
    assert abs(found.starts["s.q"]) < TOUCHED and found.stable and found.squares == ()
    assert_allclose(found.solver.get("floor.force"), 2.0 * GRAVITY, rtol=FORCE)
    assert found.solver.get("floor.closed") == -1.0
    found.solver.step(1.0)
    assert abs(found.solver.get("s.q")) < TOUCHED and found.solver.get("floor.impacts") == 0.0


def test_a_force_presses_against_an_upper_stop() -> None:
    model = resting(0.2, lower=None, upper=0.5)
    model.add(fm.Load("push", model["mass"].at(), force=(0, 0, 50.0)))  # type: ignore[union-attr, attr-defined]
    found = fm.equilibrium(model)
    assert_allclose(found.starts["s.q"], 0.5, rtol=0, atol=TOUCHED)
    assert_allclose(found.solver.get("floor.force"), 2.0 * GRAVITY - 50.0, rtol=FORCE)


@pytest.mark.parametrize("stiffness", [5.0, 1e3, 1e9, 1e13])
def test_a_spring_presses_on_a_stop(stiffness: float) -> None:
    """Whatever its stiffness beside gravity: the spring would pull 0.3 m beyond."""
    found = fm.equilibrium(resting(0.1, stiffness=stiffness, rest=-0.3))
    assert abs(found.starts["s.q"]) < TOUCHED
    assert_allclose(found.solver.get("floor.force"), 2.0 * GRAVITY + 0.3 * stiffness, rtol=FORCE)


def test_a_light_press_has_its_force() -> None:
    """A load carries all but a thousandth of the weight: the place at which the stop bears is near its end."""
    model = resting(0.2)
    model.add(fm.Load("lift", model["mass"].at(), force=(0, 0, 1.998 * GRAVITY)))  # type: ignore[union-attr, attr-defined]
    found = fm.equilibrium(model)
    assert_allclose(found.solver.get("floor.force"), 0.002 * GRAVITY, rtol=FORCE)


def test_an_equilibrium_beside_an_open_stop_is_as_without_it() -> None:
    found = fm.equilibrium(resting(1.0, stiffness=50.0, rest=1.0))
    assert_allclose(found.starts["s.q"], 1.0 - 2.0 * GRAVITY / 50.0, rtol=FORCE)
    assert found.solver.get("floor.closed") == 0.0 and found.solver.get("floor.force") == 0.0
    assert_allclose(found.squares, [25.0], rtol=SAME)


def test_a_stack_rests_with_its_weights() -> None:
    masses = (1.0, 2.5, 0.7, 0.001)
    model = stack(masses)
    found = fm.equilibrium(model)
    for i in range(len(masses)):
        assert_allclose(found.starts[f"s{i}.q"], 0.1, rtol=0, atol=TOUCHED)
        assert_allclose(found.solver.get(f"c{i}.force"), GRAVITY * sum(masses[i:]), rtol=FORCE)


@pytest.mark.parametrize("seed", seeds(4, 12))
def test_arms_come_to_the_least_energy_in_their_ranges(seed: int) -> None:
    """Beside a search of SciPy's for the least energy of two rods, whose multipliers are the forces."""
    rng = np.random.default_rng(seed)
    q, masses = rng.uniform(-1.0, 2.0, 2), rng.uniform(0.2, 2.0, 2)
    ranges = [(at - rng.uniform(0.05, 1.5), at + rng.uniform(0.05, 1.5)) for at in q]
    found = fm.equilibrium(arm(q, ranges, masses))
    there = np.array([found.starts["J0.q"], found.starts["J1.q"]])
    least = minimize(arm_energy, there, (masses,), bounds=ranges, method="L-BFGS-B", options={"ftol": 0, "gtol": 1e-9})
    assert_allclose(there, least.x, rtol=0, atol=MINIMUM)
    a, b = np.cos(there[0]), np.cos(there.sum())
    moments = 0.8 * GRAVITY * np.array([masses[0] * a / 2 + masses[1] * (a + b / 2), masses[1] * b / 2])
    for i, (lower, upper) in enumerate(ranges):
        force, at = found.solver.get(f"stop{i}.force"), there[i]
        assert lower - TOUCHED <= at <= upper + TOUCHED
        assert_allclose(force, -moments[i], rtol=0, atol=FORCE * GRAVITY * 4)
        assert found.solver.get(f"stop{i}.closed") == (force < 0.0) * 1.0 - (force > 0.0) * 1.0
    found.solver.step(0.5)
    for i in range(2):
        assert_allclose(found.solver.get(f"J{i}.q"), there[i], rtol=0, atol=RESTS)


def test_a_loop_rests_on_a_stop() -> None:
    """A four-bar whose rocker is pressed on its stop: the torque by virtual work of the open mechanism."""
    model = four_bar(0.0)
    model.add(fm.Load("push", model["rocker"].tip, force=(60.0, 0, 0)))  # type: ignore[union-attr, attr-defined]
    found = fm.equilibrium(model)
    assert_allclose(found.starts["D.q"], -1.55, rtol=0, atol=TOUCHED)
    assert found.solver.get("stop.closed") == 1.0 and found.solver.get("stop.force") < 0.0
    assert found.stable and found.squares == ()  # its one freedom is locked
    a = found.starts["A.q"]

    def work(d: float) -> float:
        """Of the push and the weights at an angle of the rocker; rods turn down with it."""
        tip = 1.0 + 0.7 * np.exp(-1j * d)
        crank = 0.3 * np.exp(-1j * newton(lambda at: abs(tip - 0.3 * np.exp(-1j * at)) ** 2 - 1.0, a, tol=1e-15))
        weights = 0.5 * crank.imag / 2 + 1.0 * (crank.imag + tip.imag) / 2 + 1.5 * tip.imag / 2
        return float(60.0 * tip.real - GRAVITY * weights)

    torque = (work(-1.55 + STEP) - work(-1.55 - STEP)) / (2 * STEP)
    assert_allclose(found.solver.get("stop.force"), -torque, rtol=DIFFERENCE)


def test_what_swings_on_what_rests_has_its_frequencies() -> None:
    """A pendulum on a mass that a stop holds: that of a welded one."""
    model = resting(0.4)
    rod = fm.Body.rod("rod", length=0.8, mass=1.0)
    model.add(rod, fm.Revolute("P", model["mass"].at(), rod.base, axis="y", q0=1.2))  # type: ignore[union-attr, attr-defined]
    found = fm.equilibrium(model)
    assert_allclose(found.squares, [1.5 * GRAVITY / 0.8], rtol=SAME)
    assert found.stable
    assert_allclose(found.solver.get("floor.force"), 3.0 * GRAVITY, rtol=FORCE)


def test_a_long_chain_rests_on_a_stop() -> None:
    """More velocity variables than a Krylov space has directions: springs and one stop, by a factor of the matrix."""
    model, count = fm.Model("chain", gravity=(0, 0, -GRAVITY)), 60
    at: Any = model.ground.at()
    for i in range(count):
        body = fm.Body(f"b{i}", mass=0.1, inertia=(0.1, 0.1, 0.1))
        slide = fm.Prismatic(f"s{i}", at, body.at(), axis="z", q0=0.1, **({"stiffness": 1e3, "rest": 0.1} if i else {}))
        model.add(body, slide)
        at = body.at()
    model.add(fm.Stop("floor", model["s0"], lower=0.05, restitution=0.0))  # type: ignore[arg-type]
    found = fm.equilibrium(model)
    assert_allclose(found.solver.get("floor.force"), 0.1 * count * GRAVITY, rtol=FORCE)
    assert_allclose(found.starts["s0.q"], 0.05, rtol=0, atol=TOUCHED)
    assert_allclose(found.starts["s1.q"], 0.1 - 0.1 * (count - 1) * GRAVITY / 1e3, rtol=1e-8)
    # fixed at one end: w = 2 sqrt(k/m) sin(pi/(2 (2 n + 1)))
    first = 4 * 1e3 / 0.1 * np.sin(np.pi / (2 * (2 * (count - 1) + 1))) ** 2
    assert_allclose(found.squares[0], first, rtol=SAME)


@pytest.mark.parametrize("fmi", [2, 3])
def test_fmus_start_at_rest_on_a_stop(tmp_path: Path, fmi: Any) -> None:
    path = fm.export_fmu(resting(0.5), tmp_path / "resting.fmu", fmi=fmi, equilibrium=True)
    for kind in ("CoSimulation", "ModelExchange"):
        found = fmpy.simulate_fmu(
            path, fmi_type=kind, stop_time=1.0, output_interval=0.1, output=["s.q", "floor.force", "floor.closed"]
        )
        assert_allclose(found["s.q"], 0.0, rtol=0, atol=TOUCHED)
        assert_allclose(found["floor.force"], 2.0 * GRAVITY, rtol=FORCE)
        assert (found["floor.closed"] == -1.0).all()


def test_what_no_stop_ends_is_named() -> None:
    model = resting(0.5, lower=None, upper=1.0)
    with pytest.raises(fm.EquilibriumError, match=r"there is no equilibrium near the start: forces go on moving s\.q"):
        fm.equilibrium(model)


def test_linear_models_lock_what_a_closed_stop_holds() -> None:
    """A pendulum on a mass at rest; another stop is open."""
    model = resting(0.4)
    rod = fm.Body.rod("rod", length=0.8, mass=1.0)
    P = fm.Revolute("P", model["mass"].at(), rod.base, axis="y", q0=np.pi / 2)  # type: ignore[union-attr, attr-defined]
    model.add(rod, P, fm.Stop("far", P, upper=3.0, restitution=0.0))
    found = fm.linearize(model, "equilibrium")
    assert found.frozen == ("stop 'floor' is closed: joint 's' is locked there", "stop 'far' is open")
    assert found.states == ("P.q", "P.qd")
    assert_allclose(found.A, [[0, 1], [-1.5 * GRAVITY / 0.8, 0]], rtol=0, atol=SAME)

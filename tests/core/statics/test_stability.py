"""Equilibria that are unstable: found so by the core, in mechanisms of any size, and reported by an FMU."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.slave import OK, WARNING, Slave, unpacked_fmu
from support.sweeps import seeds


def upright(seed: int, weakest: float, strongest: float) -> fm.Model:
    """Rods that stand on one another, some beside others, on hinges about random axes with random springs."""
    rng = np.random.default_rng([seed, 41])
    model, ends = fm.Model("upright", gravity=(0, 0, -9.81)), []
    for i in range(int(rng.integers(1, 7))):
        rod = fm.Body.rod(f"b{i}", length=float(rng.uniform(0.3, 1.0)), mass=float(rng.uniform(0.2, 2.0)), along="z")
        below = ends[-1] if ends and rng.random() < 0.8 else model.ground.at(float(rng.uniform(-1, 1)))
        angle = rng.uniform(0, 2 * np.pi)
        law = {"stiffness": float(10 ** rng.uniform(weakest, strongest)), "q0": float(rng.uniform(-0.02, 0.02))}
        model.add(rod, fm.Revolute(f"j{i}", below, rod.base, axis=(np.cos(angle), np.sin(angle), 0.0), **law))
        ends.append(rod.tip)
    return model


@pytest.mark.parametrize("seed", seeds(12, 300))
def test_rods_that_stand_up_fall_or_not_as_all_frequencies_say(seed: int) -> None:
    found = fm.equilibrium(upright(seed, -1.0, 2.5))
    growth, name = found.solver.departure
    departing = -np.array([square for square in found.squares if square < 0])
    assert found.stable == (growth == 0.0) == (name == "")
    assert growth == 0 or np.isclose(departing, growth**2, rtol=1e-4).any()


def chain(count: int, share: float, discs: int = 4) -> fm.Model:
    """Upright hinged rods without weight, a load on the last of this share of the buckling load, and discs on softer
    springs beside them."""
    model, below = fm.Model("chain", gravity=(0, 0, 0)), None
    for i in range(count):
        rod = fm.Body.rod(f"b{i}", length=1.0, mass=1.0, along="z")
        model.add(rod, fm.Revolute(f"j{i}", below or model.ground.at(), rod.base, axis="y", stiffness=1.0))
        below = rod.tip
    critical = 2.0 - 2.0 * np.cos(np.pi / (2 * count + 1))  # the least eigenvalue of K in absolute angles
    model.add(fm.Load("l", below, force=(0, 0, -share * critical)))
    for i in range(discs):
        disc = fm.Body("soft" + str(i), mass=1.0, inertia=(1.0, 1.0, 1.0))
        model.add(disc, fm.Revolute(f"s{i}", model.ground.at(), disc.at(), axis="x", stiffness=10.0 ** (-9 - i / 4)))
    return model


@pytest.mark.parametrize("count", [30, 60, 200])
@pytest.mark.parametrize(("share", "stable"), [(0.98, True), (1.02, False), (300.0, False)])
def test_a_chain_buckles_at_its_least_load_whatever_is_soft_beside_it(count: int, share: float, stable: bool) -> None:
    solver = fm.Solver(chain(count, share), equilibrium=True)
    solver.assemble()
    growth, name = solver.departure
    assert (growth == 0.0) == stable
    assert name.startswith("j") != stable
    assert fm.equilibrium(chain(count, share)).stable == stable


BEYOND = 1450
"""Links in a row: more entries below the diagonal of their matrix than one has."""


def test_beyond_a_matrix_only_what_is_found_stable_is_said_to_be() -> None:
    """A soft rod that falls beside weightless ones, whose spectrum hides it."""
    model = chain(BEYOND, 0.0, discs=0)
    rod = fm.Body.rod("slow", length=1.0, mass=1.0, along="z")
    model.add(rod, fm.Revolute("slow_hinge", model.ground.at(), rod.base, axis="y", stiffness=1e-4))
    model.add(fm.Load("slow_load", rod.tip, force=(0, 0, -1.01e-4)))
    solver = fm.Solver(model, equilibrium=True)
    solver.assemble()
    assert solver.departure[0] != 0.0


def test_beyond_a_matrix_the_stiffness_is_solved_for_over_a_longer_time() -> None:
    """Springs in a row: a unit acceleration of the first drive carries all bodies behind it."""
    model = fm.Model("row", gravity=(0, 0, 0))
    below = model.ground.at()
    for i in range(BEYOND):
        body = fm.Body(f"b{i}", mass=1.0, inertia=(1.0, 1.0, 1.0))
        model.add(body, fm.Prismatic(f"j{i}", below, body.at(), axis="z", stiffness=1.0))
        below = body.at()
    solver = fm.Solver(model, equilibrium=True)
    solver.assemble()
    answer = solver.flexibility(np.eye(1, BEYOND)[0])
    assert_allclose(answer, np.arange(BEYOND, 0, -1.0), rtol=1e-7)


def test_the_growth_rate_is_that_of_the_motion() -> None:
    solver = fm.Solver(chain(50, 3.0), equilibrium=True)
    solver.assemble()
    growth, name = solver.departure
    free = fm.Solver(fm.compile(chain(50, 3.0)).with_options(scheme="dop853", tolerance=1e-13))
    free.set(name, 1e-6)
    free.assemble()
    end = 7.0 / growth
    free.step(end)
    first = abs(free.get(name))
    free.step(end + 1.0 / growth)
    assert_allclose(abs(free.get(name)) / first, np.e, rtol=1e-2)


def rod(start: float, **joint: float) -> fm.Model:
    model, body = fm.Model("rod"), fm.Body.rod("rod", length=1.0, mass=1.0, along="-z")
    model.add(body, fm.Revolute("A", model.ground.at(), body.base, axis="y", q0=start, **joint))
    return model


def test_an_fmu_warns_of_an_unstable_start_and_runs(tmp_path: Path) -> None:
    """fmi2Warning in the log alone: some masters end a simulation at a status of warning. What is set decides."""
    fmu = unpacked_fmu(tmp_path / "rod", fm.compile(rod(3.1), equilibrium=True))
    slave = Slave(fmu)
    slave.initialize()
    assert slave.call("fmi2ExitInitializationMode") == OK
    status, category, message = slave.callbacks.messages[-1]
    assert (status, category) == (WARNING, "logStatusWarning")
    rate = np.sqrt(1.5 * 9.81)
    assert f"unstable equilibrium: a displacement of A.q grows as exp({rate:.6g} t)" in message
    assert slave.step(0.0, 0.1) == OK
    assert_allclose(slave.get("A.q"), np.pi, atol=1e-6)
    slave.call("fmi2Reset")
    for name, value in (("A.stiffness", 20.0), ("A.rest", 3.0)):
        slave.set(name, value)
    told = len(slave.callbacks.messages)
    slave.initialize()
    assert slave.call("fmi2ExitInitializationMode") == OK
    assert not any("unstable" in message for *_, message in slave.callbacks.messages[told:])
    slave.free()


def column(share: float) -> fm.Model:
    """A clamped column under this share of Euler's load, pi^2 EI / (2 L)^2."""
    model = fm.Model("column", gravity=(0, 0, 0))
    link = fm.FlexibleLink("l", length=1.0, EIy=1.0, EIz=2.0, GJ=1.0, mass=1.0, axial_inertia=1e-3, elements=8)
    model.add(link, fm.Weld("w", model.ground.at(), link.base))
    model.add(fm.Load("L", link.tip, force=(-share * np.pi**2 / 4, 0, 0)))
    return model


WAYS: dict[str, Callable[[fm.Model, str, Path], object]] = {
    "simulate": lambda model, dynamics, _: fm.simulate(model, stop=1e-3, equilibrium=True, dynamics=dynamics),
    "export": lambda model, dynamics, at: fm.export_fmu(model, at / "a.fmu", equilibrium=True, dynamics=dynamics),
}


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("way", WAYS)
def test_python_warns_of_an_unstable_start(way: str, dynamics: str, tmp_path: Path) -> None:
    """A column above its critical load stands straight, in the only equilibrium near its start."""
    with pytest.warns(fm.StartWarning, match=r"unstable equilibrium: a displacement of l\S+ grows as exp\("):
        WAYS[way](column(1.1), dynamics, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WAYS[way](column(0.9), dynamics, tmp_path)


def test_only_the_last_assembly_counts() -> None:
    solver = fm.Solver(rod(3.1), equilibrium=True)
    assert solver.departure == (0.0, "")
    solver.assemble()
    assert solver.departure[1] == "A.q"
    solver.set("solver.equilibrium", 0)
    solver.assemble()
    assert solver.departure == (0.0, "")
    solver.set("solver.equilibrium", 1)
    solver.assemble()
    assert solver.departure[1] == "A.q"
    solver.set("A.q", 0.1)
    solver.assemble()
    assert solver.departure == (0.0, "")


@pytest.mark.parametrize("off", [0.001, 0.003, 0.1])
@pytest.mark.parametrize("length", [2.0, 1.0, 0.5, 0.05])
def test_a_descent_does_not_climb_where_another_part_of_the_mechanism_has_arrived(off: float, length: float) -> None:
    """A rod falls to its rest; one beside it stands so near upright that a step by the tangent would lead it up."""
    model = fm.Model("two")
    for name, q0, size in (("A", np.pi / 2, 1.0), ("B", np.pi - off, length)):
        body = fm.Body.rod(name.lower(), length=size, mass=1.0, along="-z")
        model.add(body, fm.Revolute(name, model.ground.at(), body.base, axis="y", q0=q0))
    solver = fm.Solver(model, equilibrium=True)
    solver.assemble()
    assert solver.equilibrium_found[0] == "descent"
    assert solver.departure == (0.0, "")
    assert_allclose([solver.get("A.q"), solver.get("B.q")], 0.0, atol=1e-8)

"""Verdicts on equilibria beside the eigenvalues of a dense linearisation: differences of accelerations of a Solver."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.closed import plane
from support.nets import Net
from support.slave import Slave, unpacked_fmu
from support.statics import standing_tree
from support.sweeps import each_value, seeds

STEP = 1e-4
"""[rad, or of a length below 1 m]: truncation of its fourth power; round-off 1e-12 of the stiffest over it."""
CLEAR = 1e-3  # of an eigenvalue: an imaginary part or a negative value beyond it is no error of this linearisation


def linearised(solver: fm.Solver) -> np.ndarray:
    """Squared frequencies at a solver's equilibrium, of the motions that its loops allow: differences of two steps,
    extrapolated."""
    image = solver.image
    places, rates = image.variables.positions(), image.variables.accelerations()
    J = solver.jacobian[solver.active_rows]
    n = image.sizes["speeds"]
    N = np.linalg.svd(J)[2][np.linalg.matrix_rank(J, tol=1e-8) :].T if len(J) else np.eye(n)
    q = solver.read(places)
    other = fm.Solver(image.with_options(equilibrium=False))
    other.assemble()

    def accelerations(at: np.ndarray) -> np.ndarray:
        other.set_state(at, np.zeros(n))
        return other.read(rates)

    def slopes(step: float) -> np.ndarray:
        sides = [(accelerations(q - step * v), accelerations(q + step * v)) for v in N.T]
        return np.array([N.T @ (back - ahead) / (2 * step) for back, ahead in sides]).T

    step = STEP * min(1.0, float(image.arrays["length"][0]))
    return np.linalg.eigvals((4 * slopes(step / 2) - slopes(step)) / 3)


def growths_of(squares: np.ndarray) -> np.ndarray:
    clear = (np.abs(squares.imag) > CLEAR * np.abs(squares)) | (squares.real < 0.0)
    return np.abs(np.sqrt(squares[clear].astype(complex)).imag)


def twisted(seed: int, dynamics: str = "riccati") -> fm.ModelImage:
    """A tree, a loop or a cantilever under a torque in world axes, from far below its stiffness to as large."""
    rng = np.random.default_rng([seed, 57])
    torque = rng.normal(size=3) * 10.0 ** rng.uniform(-2, 0.5) * (seed % 4 > 0)
    if seed % 3 == 2:
        model, k = fm.Model("cantilever", gravity=rng.normal(size=3) * 0.1), float(rng.choice((1.0, rng.uniform(1, 3))))
        link = fm.FlexibleLink(
            "l", length=1.0, EIy=1.0, EIz=k, GJ=float(rng.uniform(0.5, 2)), mass=1.0, axial_inertia=1e-2, elements=3
        )
        model.add(link, fm.Weld("w", model.ground.at(), link.base), fm.Load("T", link.tip, torque=0.3 * torque))
    else:
        model = standing_tree(seed) if seed % 3 == 0 else plane(seed, loops=1 + seed % 2, driven=False).model
        model.add(fm.Load("T", model.bodies[-1].at(), torque=torque))
    return fm.compile(model, everything=True).with_options(dynamics=dynamics)


def assert_judged(image: fm.ModelImage) -> None:
    try:
        found = fm.equilibrium(image)
    except fm.EquilibriumError as error:
        assert "indifferent" in str(error) or "no equilibrium" in str(error)  # noqa: PT017
        return
    expected = linearised(found.solver)
    assert found.verdict != "not decided"
    grows, every = growths_of(expected).max(initial=0.0), np.sqrt(expected.astype(complex))
    fastest = np.abs(every.imag).max(initial=0.0)
    if grows:
        assert found.verdict == "unstable"
        assert grows * 0.99 <= found.growth <= fastest * 1.01
    else:  # at most so slowly that this linearisation does not see it
        slow = CLEAR * np.abs(np.sqrt(expected)).max()
        assert found.growth <= slow
        assert found.stable or any(isinstance(one, complex) for one in found.squares)
    core, _ = found.solver.departure
    assert (core == 0.0) == found.stable
    squares, beyond = np.array(found.squares, complex), -np.array(found.errors)
    departing = np.abs(np.sqrt(squares).imag)[(squares.imag != 0.0) | (squares.real < beyond)]
    # the core's is that of one motion in their space
    assert departing.min(initial=core) * 0.98 - 1e-6 <= core <= departing.max(initial=0.0) * 1.02 + 1e-6
    one, other = np.sort(np.array(found.squares).real), np.sort(expected.real)
    assert_allclose(one, other, rtol=1e-3, atol=1e-6 * np.abs(other).max())


def net(seed: int) -> fm.Model:
    """Points between prestressed springs, of lengths from 1 cm to 100 m; in half of the nets some push."""
    rng = np.random.default_rng([seed, 58])
    drawn = {"decades": float(rng.choice((0.0, 2.0))), "unit": 10.0 ** rng.uniform(-2, 2), "rods": int(rng.integers(3))}
    columns, rows = rng.integers(1, 4, 2)
    return Net(seed, columns, rows, stretch=(0.9, 1.3) if seed % 2 else None, **drawn).model


def closed_twice(seed: int) -> fm.Model:
    """Loops in one plane, each with the same pin twice, under a torque in world axes."""
    rng = np.random.default_rng([seed, 59])
    model = plane(seed, loops=1 + seed % 2, driven=False).model
    closing = [joint for joint in model.joints if joint.name.startswith("c")]
    model.add(*(replace(joint, name=f"{joint.name}_again") for joint in closing))
    model.add(fm.Load("T", model.bodies[-1].at(), torque=rng.normal(size=3) * 10.0 ** rng.uniform(-2, 0.5)))
    return model


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("seed", seeds(12, 300))
def test_verdicts_are_those_of_a_dense_linearisation(seed: int, dynamics: str) -> None:
    assert_judged(twisted(seed, dynamics))


@pytest.mark.parametrize("seed", [70019, 70034, 70073])
def test_of_two_vibrations_that_grow_the_faster_counts(seed: int) -> None:
    """Though its square is the nearer to a real one."""
    assert_judged(twisted(seed))


@each_value
@pytest.mark.parametrize("make", [net, closed_twice])
@pytest.mark.parametrize("seed", seeds(12, 300))
def test_verdicts_on_nets_and_on_redundant_loops(make: Callable[[int], fm.Model], seed: int) -> None:
    for dynamics in ("riccati", "copcod"):
        assert_judged(fm.compile(make(seed), everything=True).with_options(dynamics=dynamics))


def cantilever(torque: float, elements: int, **given: Any) -> fm.Model:
    model = fm.Model("cantilever", gravity=(0, 0, 0))
    stiff = {"EIy": 1.0, "EIz": 1.0, "GJ": 1.0, "mass": 1.0, "axial_inertia": 1e-3} | given
    link = fm.FlexibleLink("l", length=1.0, elements=elements, **stiff)
    model.add(link, fm.Weld("w", model.ground.at(), link.base), fm.Load("L", link.tip, torque=(torque, 0, 0)))
    return model


@pytest.mark.parametrize("elements", [4, 8, 20])
def test_a_cantilever_under_a_torque_in_world_axes_flutters(elements: int) -> None:
    """As it does under any (Ziegler): growth in proportion to the torque, frequencies as without."""
    without = fm.equilibrium(cantilever(0.0, elements))
    assert without.stable
    assert without.growth == 0.0
    small, large = (fm.equilibrium(cantilever(torque, elements)) for torque in (0.01, 0.02))
    for found in (small, large):
        assert not found.stable
        assert "a vibration of l" in str(found)
        assert f"grows as exp({found.growth:.6g} t)" in str(found)
        assert_allclose(found.squares[:2], without.squares[:2], rtol=0.01)
    slow = [abs(np.sqrt(complex(found.squares[0])).imag) for found in (small, large)]
    assert_allclose(slow[0], 0.0054, rtol=0.05)
    assert_allclose(slow[1] / slow[0], 2.0, rtol=1e-2)


def test_a_shaft_under_a_torque_keeps_its_frequencies() -> None:
    inertia, area = np.pi * 0.02**4 / 64, np.pi * 0.02**2 / 4
    steel = {
        "EIy": 2.1e11 * inertia,
        "EIz": 2.1e11 * inertia,
        "GJ": 1.6e11 * inertia,
        "mass": 7850 * area,
        "axial_inertia": 15700 * inertia,
    }

    def shaft(torque: float) -> fm.Equilibrium:
        model = cantilever(torque, 8, **steel)
        disc = fm.Body("disc", mass=5.0, inertia=(0.03, 0.015, 0.015))
        model.add(disc, fm.Weld("d", model["l"].tip, disc.at()))
        return fm.equilibrium(model)

    still, turned = shaft(0.0), shaft(50.0)
    assert still.stable
    assert_allclose(turned.frequencies[:2], still.frequencies[:2], rtol=1e-3)
    assert turned.squares[0] == np.conj(turned.squares[1])
    assert 0.0 < turned.growth < 1.0


def test_what_round_off_hides_is_not_decided() -> None:
    found = fm.equilibrium(cantilever(0.0, 4))
    hidden = fm.Equilibrium(found.starts, found.squares, (20.0,) * 12, found.softest, found.method, found.solver)
    assert hidden.verdict == "not decided"
    assert not hidden.stable
    assert hidden.growth == 0.0
    assert "round-off" in str(hidden)


def ball(torque: float, stiffness: float = 5.0) -> fm.Model:
    """A disc on a ball with a torque along its own axes."""
    model, disc = fm.Model("ball", gravity=(0, 0, 0)), fm.Body("disc", mass=1.0, inertia=(1.0, 1.1, 1.2))
    model.add(disc, fm.Spherical("S", model.ground.at(), disc.at(), stiffness=stiffness, tau=(torque, 0.0, 0.0)))
    return model


@pytest.mark.parametrize("make", [lambda: ball(2.0), lambda: cantilever(0.02, 8), lambda: cantilever(0.02, 20)])
def test_forces_without_a_potential_never_pass_for_stable(make: Any) -> None:
    found = fm.equilibrium(make())
    core, name = found.solver.departure
    assert name == ""
    assert found.verdict == "unstable"
    assert found.growth > 0.0
    if len(found.squares) <= 40:
        assert_allclose(core, found.growth, rtol=0.02, atol=1e-6)
    else:
        assert np.isnan(core)


def test_a_torque_about_the_only_axis_of_a_plane_has_a_potential() -> None:
    """So all stay decided, however many there are."""
    model, below = fm.Model("plane", gravity=(0, 0, 0)), None
    for i in range(50):
        rod = fm.Body.rod(f"b{i}", length=1.0, mass=1.0, along="z")
        model.add(rod, fm.Revolute(f"j{i}", below or model.ground.at(), rod.base, axis="y", stiffness=1.0))
        below = rod.tip
    model.add(fm.Load("T", below, torque=(0, 1e-3, 0)))
    found = fm.equilibrium(model)
    assert found.solver.departure == (0.0, "")
    assert found.stable


def test_where_flutter_is_not_looked_for_the_verdict_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    monkeypatch.setattr(importlib.import_module("fmumbs.run.vibrations"), "MOST", 50)
    found = fm.equilibrium(cantilever(1e-9, 20))
    assert len(found.squares) == 4
    assert found.verdict == "not decided"
    assert "flutter was not looked for" in str(found)


@pytest.mark.parametrize("seed", seeds(3, 9))
def test_an_fmu_logs_what_is_found(seed: int, tmp_path: Path) -> None:
    image = twisted(seed).with_options(equilibrium=True)
    try:
        found = fm.equilibrium(twisted(seed))
    except fm.EquilibriumError:
        return
    slave = Slave(unpacked_fmu(tmp_path / str(seed), image))
    slave.initialize()
    assert slave.call("fmi2ExitInitializationMode") == 0
    told = [message for *_, message in slave.callbacks.messages if "equilibrium" in message]
    slave.free()
    assert bool(told) != found.stable
    assert found.stable or f"grows as exp({found.solver.departure[0]:.6g} t)" in told[0]

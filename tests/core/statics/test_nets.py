"""Nets of point springs, and loops, beside a dense Newton's method in absolute coordinates."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.many_loops import bridge
from support.nets import Net
from support.slave import Slave, unpacked_fmu
from support.sweeps import each_value, seeds

BALANCED = 1e-7
"""A correction by dense Newton, over the mesh: corrections end below 1e-9, and stiffnesses span up to eight decades."""
CLEAR = 1e-6  # of an eigenvalue over the largest, in the masses' norm: of a smaller one neither side is sure


def standing(net: Net, **options: Any) -> tuple[fm.Solver, np.ndarray]:
    solver = fm.Solver(fm.compile(net.model, everything=True).with_options(equilibrium=True, **options))
    solver.assemble()
    places = [solver.get(f"{body.name}.r") for body in net.model.bodies]
    return solver, np.array(places)


def assert_stands(net: Net, **options: Any) -> fm.Solver:
    solver, x = standing(net, **options)
    assert np.abs(net.correction(x)).max() <= BALANCED * net.unit
    squares = net.squares(x)
    growth, _ = solver.departure
    if squares[0] > CLEAR * squares[-1]:
        assert growth == 0.0
    elif squares[0] < -CLEAR * squares[-1]:
        assert_allclose(-(growth**2), squares[: np.searchsorted(squares, 0.0)].min(), rtol=0.999)
        assert growth > 0.0
    return solver


def drawn(seed: int, most: int) -> Net:
    """Of up to `most` masses; units and stiffnesses over decades; in a part of them rods."""
    rng = np.random.default_rng([seed, 3])
    columns = int(rng.integers(1, max(2, int(most**0.5)) + 1))
    rows = int(rng.integers(1, max(2, most // columns) + 1))
    return Net(
        seed,
        columns,
        rows,
        decades=4.0 * (seed % 2),
        unit=float(10.0 ** rng.uniform(-3, 3)),
        rods=columns * rows // 4 * (seed % 3 == 1),
    )


@pytest.mark.parametrize("seed", seeds(8, 300))
def test_random_nets_stand_where_dense_newton_does(seed: int) -> None:
    assert_stands(drawn(seed, 40))


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("seed", [31, 103, 163, 211])
def test_few_unknowns_with_rods_over_decades_of_stiffness_stand(seed: int, dynamics: str) -> None:
    """Where Krylov spaces lose the digits of soft springs beside stiff ones, the matrix does not."""
    net = drawn(seed, 40)
    solver = assert_stands(net, dynamics=dynamics)
    assert net.rods
    assert len(solver.image.variables.speeds()) <= 40


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_larger_nets_stand_where_dense_newton_does(seed: int) -> None:
    assert_stands(drawn(seed, 330))


@pytest.mark.parametrize("rods", [0, 9])
def test_a_net_stands_alike_in_both_formulations(rods: int) -> None:
    net = Net(5, 6, 6, rods=rods)
    one, other = (standing(net, dynamics=dynamics)[1] for dynamics in ("riccati", "copcod"))
    assert_allclose(one, other, rtol=0, atol=1e-9 * net.unit)


@pytest.mark.parametrize("side", [6, 12])
def test_a_prestressed_net_takes_few_tangents(side: int) -> None:
    """Some tens of tangents, each of as many differences as rows are coupled; without a matrix it did not end."""
    solver = assert_stands(Net(1, side, side))
    assert solver.equilibrium_found[1] < 60 * 12 * side


def ring(count: int, stiffness: float) -> fm.Model:
    """A polygon of rods, pinned to the ground where it begins and ends, with springs that hold its shape."""
    model = fm.Model("ring", gravity=(0, -9.81, 0))
    place, angle = model.ground.at(), np.pi / count
    for k in range(count):
        rod = fm.Body.rod(f"b{k}", length=1.0, mass=1.0)
        model.add(rod, fm.Revolute(f"J{k}", place, rod.base, q0=angle, rest=angle, stiffness=stiffness))
        place, angle = rod.tip, 2 * np.pi / count
    model.add(fm.Revolute("C", place, model.ground.at()))
    return model


@pytest.mark.parametrize("count", [50, 100])
def test_a_ring_of_rods_balances_about_each_pin(count: int) -> None:
    """By moments about the pins, with the closing pin's force from three of them."""
    solver = fm.Solver(fm.compile(ring(count, 1e4 * count), everything=True).with_options(equilibrium=True))
    solver.assemble()
    q = np.array([solver.get(f"J{k}.q") for k in range(count)])
    line = np.stack([np.cos(np.cumsum(q)), np.sin(np.cumsum(q))], 1)
    pins = np.vstack([np.zeros(2), np.cumsum(line, 0)])
    centres = pins[:-1] + line / 2
    assert_allclose(pins[-1], 0.0, atol=1e-9 * count)
    torque = 1e4 * count * (q - np.array([np.pi / count, *[2 * np.pi / count] * (count - 1)]))
    for k in range(count):  # on what follows pin k: its spring, the weights, the closing force
        torque[k] += 9.81 * (centres[k:, 0] - pins[k, 0]).sum()
    arm = np.stack([-(pins[-1] - pins[:-1])[:, 1], (pins[-1] - pins[:-1])[:, 0]], 1)
    force = np.linalg.lstsq(arm, torque, rcond=None)[0]
    assert_allclose(arm @ force, torque, atol=1e-6 * 1e4 * count)
    assert solver.equilibrium_found[1] < 100 * 2 * count


def test_masses_between_pressed_springs_leave_their_line() -> None:
    """Each spring has the stiffness k (1 - free length / length) < 0 across the line, of n masses in a row."""
    model, count, k, free = fm.Model("row", gravity=(0, 0, 0)), 25, 100.0, 1.2
    last, slides = model.ground.at(), tuple(fm.Slide(axis) for axis in "xyz")
    for i in range(count + 1):
        place = model.ground.at(i + 1.0, 0, 0)
        end = place
        if i < count:
            body = fm.Body(f"m{i}", mass=1.0, com=(0.5, 0, 0), inertia=(1.0, 1.0, 1.0))
            model.add(body, fm.Joint(f"S{i}", place, body.at(), modes=slides))
            end = body.at()
        model.add(fm.Spring(f"s{i}", last, end, stiffness=k, free_length=free))
        last = end
    solver = fm.Solver(model, equilibrium=True)
    solver.assemble()
    waves = 2.0 - 2.0 * np.cos(np.pi * np.arange(1, count + 1) / (count + 1))
    growth, name = solver.departure
    assert growth > 0.0 and name.startswith("S")
    assert np.isclose(growth**2, k * (free - 1.0) * waves, rtol=1e-4).any()


@pytest.mark.parametrize("panels", [16, 24, 40])
def test_suspension_bridges_are_as_stable_as_all_their_frequencies_say(panels: int) -> None:
    found = fm.equilibrium(bridge(1, panels))
    assert found.stable
    assert found.solver.departure[0] == 0.0


@pytest.mark.parametrize("seed", [None, 103])
def test_an_fmu_starts_in_the_equilibrium_of_a_net(seed: int | None, tmp_path: Path) -> None:
    net = Net(2, 5, 5) if seed is None else drawn(seed, 40)
    _, x = standing(net)
    image = fm.compile(net.model, everything=True).with_options(equilibrium=True)
    slave = Slave(unpacked_fmu(tmp_path / "net", image))
    slave.start()
    found = [slave.get(f"{body.name}.r[{k + 1}]") for body in net.model.bodies for k in range(3)]
    slave.free()
    assert_allclose(found, x.ravel(), rtol=0, atol=1e-9 * net.unit)

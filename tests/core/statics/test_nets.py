"""Nets of point springs, and loops, beside a dense Newton's method in absolute coordinates."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.many_loops import bridge
from support.slave import Slave, unpacked_fmu
from support.sweeps import seeds

BALANCED = 1e-7
"""A correction by dense Newton, over the mesh: corrections end below 1e-9, and stiffnesses span up to eight decades."""
CLEAR = 1e-6  # of an eigenvalue over the largest, in the masses' norm: of a smaller one neither side is sure


class Net:
    """Masses on slides, springs and rigid rods between them, and the energy of all in their places."""

    def __init__(
        self, seed: int, columns: int, rows: int, decades: float = 0.0, unit: float = 1.0, rods: int = 0
    ) -> None:
        rng = np.random.default_rng(seed)
        self.rng, self.unit, self.decades = rng, unit, decades
        self.stretch = (0.6, 0.95) if seed % 3 else (0.8, 1.1)  # some springs are slack
        self.gravity = rng.normal(size=3) * unit * (0.3 if seed % 4 else 0.0)
        self.model = fm.Model("net", gravity=self.gravity)
        self.start: list[np.ndarray] = []
        self.mass: list[float] = []
        self.springs: list[tuple[Any, Any, float, float]] = []
        self.rods: list[tuple[int, int, float]] = []
        self.at: dict[tuple[int, int], int | np.ndarray] = {}
        self.points: dict[tuple[int, int], Any] = {}
        for i in range(columns + 2):
            for j in range(rows + 2):
                self._put(i, j, 0 < i <= columns and 0 < j <= rows)
        rigid = {int(k) for k in rng.permutation(max(1, (columns - 1) * rows))[:rods]}
        for i, j in list(self.at):
            self._join((i, j), (i, j + 1), False)
            self._join((i, j), (i + 1, j), (i - 1) * rows + j - 1 in rigid and 0 < i < columns and 0 < j <= rows)

    def _put(self, i: int, j: int, moves: bool) -> None:
        place = self.unit * np.array([i, j, 0.0])
        if not moves:
            self.at[i, j], self.points[i, j] = place, self.model.ground.at(*place)
            return
        place = place + self.unit * self.rng.uniform(-0.1, 0.1, 3)
        aside = (self.unit / 2, 0, 0)  # of no effect on a body that only slides, but it tells the model's size
        body = fm.Body(f"m{i}_{j}", mass=float(self.rng.uniform(0.5, 2)), com=aside, inertia=(self.unit**2,) * 3)
        slides = tuple(fm.Slide(axis) for axis in "xyz")
        self.model.add(body, fm.Joint(f"S{i}_{j}", self.model.ground.at(*place), body.at(), modes=slides))
        self.at[i, j], self.points[i, j] = len(self.start), body.at()
        self.start.append(place)
        self.mass.append(body.mass)

    def _join(self, one: tuple[int, int], other: tuple[int, int], rigid: bool) -> None:
        if other not in self.at or not (isinstance(self.at[one], int) or isinstance(self.at[other], int)):
            return
        a, b = self.at[one], self.at[other]
        far = float(np.linalg.norm(self.of(a, self.start) - self.of(b, self.start)))
        name = f"{one[0]}_{one[1]}_{other[0]}_{other[1]}"
        if rigid:
            self.model.add(fm.Distance(f"r{name}", self.points[one], self.points[other], length=far))
            self.rods.append((a, b, far))  # type: ignore[arg-type]
            return
        k = float(100 * 10 ** self.rng.uniform(-self.decades / 2, self.decades / 2))
        free = far * float(self.rng.uniform(*self.stretch))
        self.model.add(fm.Spring(f"s{name}", self.points[one], self.points[other], stiffness=k, free_length=free))
        self.springs.append((a, b, k, free))

    @staticmethod
    def of(end: Any, x: Any) -> np.ndarray:
        return np.asarray(x[end] if isinstance(end, int) else end)

    def terms(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gradient of the energy, Hessian with the rods' forces, Jacobian of the rods."""
        n = len(x)
        g, K, J = (
            -(np.array(self.mass)[:, None] * self.gravity).ravel(),
            np.zeros((3 * n, 3 * n)),
            np.zeros((len(self.rods), 3 * n)),
        )
        for a, b, k, free in self.springs:
            d = self.of(a, x) - self.of(b, x)
            length = np.linalg.norm(d)
            line, pull = d / length, k * (length - free)
            self._add(K, a, b, k * np.outer(line, line) + pull / length * (np.eye(3) - np.outer(line, line)))
            for end, sign in ((a, 1.0), (b, -1.0)):
                if isinstance(end, int):
                    g[3 * end : 3 * end + 3] += sign * pull * line
        for row, (a, b, length) in enumerate(self.rods):
            line = (x[a] - x[b]) / length
            J[row, 3 * a : 3 * a + 3], J[row, 3 * b : 3 * b + 3] = line, -line
        if self.rods:
            forces = np.linalg.lstsq(J.T, -g, rcond=None)[0]
            for (a, b, length), force in zip(self.rods, forces, strict=True):
                line = (x[a] - x[b]) / length
                self._add(K, a, b, force / length * (np.eye(3) - np.outer(line, line)))
        return g, K, J

    @staticmethod
    def _add(K: np.ndarray, a: Any, b: Any, block: np.ndarray) -> None:
        for one, other, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
            if isinstance(one, int) and isinstance(other, int):
                K[3 * one : 3 * one + 3, 3 * other : 3 * other + 3] += sign * block

    def correction(self, x: np.ndarray) -> np.ndarray:
        """That of dense Newton at x, on the constraints."""
        g, K, J = self.terms(x)
        size = np.abs(K).max()
        whole = np.block([[K, size * J.T], [size * J, np.zeros((len(J), len(J)))]])
        return np.linalg.solve(whole, np.concatenate([-g, np.zeros(len(J))]))[: len(g)]

    def squares(self, x: np.ndarray) -> np.ndarray:
        """Squared frequencies at x."""
        _, K, J = self.terms(x)
        root = np.repeat(np.sqrt(self.mass), 3)
        N = np.linalg.svd(J / root)[2][len(J) :].T if len(J) else np.eye(len(root))
        return np.linalg.eigvalsh(N.T @ (K / np.outer(root, root)) @ N)


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


@pytest.mark.parametrize("seed", seeds(20, 300))
def test_random_nets_stand_where_dense_newton_does(seed: int) -> None:
    assert_stands(drawn(seed, 40))


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

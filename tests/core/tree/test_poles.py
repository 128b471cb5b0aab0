"""Joints with rows of velocities, at positions where the rates of their modes grow without bound: the motion ends at
once and names the joint, or passes where the rows make that harmless."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from oracle.joints import turn
from oracle.products import Product
from support.drawing.mechanism import draw
from support.slave import DISCARD, Slave, unpacked_fmu
from support.sweeps import each_value, seeds

SCHEMES = ("dopri5", "dop853", "radau", "rk4")
FORMULATIONS = ("riccati", "copcod")
LIMIT = "joint '{}' comes to the limit of its coordinates: the rates of its modes"
NEAR = 2e-3
"""[rad] from the pole, twice what the core allows."""
NEAR_FAILURE = 0.05
"""[rad] where a step fails before, as fixed ones do, which become unstable."""
MOST_STEPS = 20_000


def solver_of(model: fm.Model, **options: Any) -> fm.Solver:
    solver = fm.Solver(fm.compile(model, everything=True).with_options(**options))
    solver.assemble()
    return solver


def refusal(solver: fm.Solver, stop: float) -> str:
    try:
        solver.step(stop)
    except fm.SolverError as error:
        return str(error)
    return ""


@each_value
@pytest.mark.parametrize("dynamics", FORMULATIONS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_disc_that_rolls_in_a_loop_is_named(scheme: str, dynamics: str) -> None:
    """Two rows vanish at once, so that the determinant keeps its sign."""
    drawn = draw(30800062)
    more = {"step": 2e-6} if scheme == "rk4" else {}
    solver = solver_of(drawn.model, scheme=scheme, dynamics=dynamics, tolerance=1e-8, **more)
    assert LIMIT.format("j5") in refusal(solver, drawn.stop)
    assert abs(abs(solver.get("j5.q")[3]) - np.pi / 2) < (NEAR_FAILURE if more else NEAR)
    if not more:
        assert solver.get("solver.steps") + solver.get("solver.rejected") < 6000


class Case:
    """A body on three turns, with other modes and rows, in units of its own, which leans towards a pole.

    Turns are about z, x, y in any order and with any signs, or about any axes; rows of a disc that rolls, or one that
    leaves two velocities; harmless: what the row forbids is the motion that has no bound.
    """

    def __init__(self, seed: int, harmless: bool) -> None:
        rng = self.rng = np.random.default_rng([2401, seed])
        self.m, self.l, self.t = (float(x) for x in 10.0 ** rng.uniform(-3, 3, 3))
        axes = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], (3, 1))
        if rng.random() < 0.5:
            axes = rng.normal(size=(3, 3))
        self.axes = axes / np.linalg.norm(axes, axis=1)[:, None]
        self.rolling = not harmless and rng.random() < 0.5
        self.poles = [x for x in self._zeros() if abs(x) < 3]
        self.angles = rng.uniform(-1, 1, 3)
        self.lean = rng.uniform(0.2, 0.5) * rng.choice([-1.0, 1.0])
        if self.poles:
            self.angles[1] = self.poles[0] + self.lean
        self.harmless = harmless

    def product(self, angle: float) -> float:
        a, b, c = self.axes
        return float(np.linalg.det([a, b, turn(b, angle) @ c]))

    def _zeros(self) -> list[float]:
        """Angles of the second turn at which the axes lie in a plane: product = k + a cos + b sin."""
        half, zero, right = (self.product(x) for x in (np.pi, 0.0, np.pi / 2))
        k = (half + zero) / 2
        a, b = zero - k, right - k
        size = np.hypot(a, b)
        if abs(k) > 0.9 * size:
            return []
        middle, way = np.arctan2(b, a), np.arccos(-k / size)
        both = [(middle + sign * way + np.pi) % (2 * np.pi) - np.pi for sign in (1, -1)]
        return sorted(both, key=abs)

    def joint(self, *ends: Any) -> fm.Joint:
        turns = tuple(fm.Turn(tuple(axis)) for axis in self.axes)
        towards = -np.sign(self.lean) / self.t
        if self.rolling:
            modes: Any = (fm.Slide("x"), fm.Slide("y"), *turns)
            r = self.l * self.rng.uniform(0.3, 2)
            normal = self.rng.normal(size=3)
            across = np.linalg.svd(normal[None])[2][1:]  # two directions, along which M's origin rolls
            zero: Any = [(*np.cross(normal / np.linalg.norm(normal) * r, d), *d) for d in across]
            speeds: Any = [(*row, 0, 0, 0) for row in np.eye(3)]
            after = int(self.rng.integers(2, 5))
            q0: Any = (0.1 * self.l, -0.2 * self.l, *self.angles)
            u = turn(self.axes[1], 0) @ self.axes[1] * towards
        else:
            modes, after, q0 = turns, 1, tuple(self.angles)
            normal = np.cross(self.axes[0], self.axes[1])
            forbidden = normal if self.harmless else self.rng.normal(size=3)
            zero, speeds = [(*forbidden, 0, 0, 0)], [(*self.axes[1], 0, 0, 0), (*self.axes[0], 0, 0, 0)]
            u = np.array([1.0, self.axes[0] @ self.axes[1]]) * towards
        return fm.Joint("J", *ends, modes=modes, velocity_rows=zero, speed_rows=speeds, rows_after=after, q0=q0, u0=u)

    def body(self, name: str) -> fm.Body:
        com = tuple(0.2 * self.l * self.rng.uniform(-1, 1, 3))
        return fm.Body(name, mass=self.m, com=com, inertia=tuple(self.m * self.l**2 * np.array([1, 1.3, 0.9])))

    def model(self, joint: Any = None) -> fm.Model:
        model = fm.Model("leaning", gravity=(0, 0, 0))
        body, carrier = self.body("body"), self.body("carrier")
        held = fm.Revolute("R", model.ground.at(), carrier.at(), axis=(0.3, 0.5, 0.8), u0=0.2 / self.t)
        model.add(body, carrier, held, (joint or self.joint)(carrier.at(0.1 * self.l, 0, 0), body.at()))
        return model


@pytest.mark.parametrize("seed", seeds(8, 300))
def test_leaning_at_random(seed: int) -> None:
    """The angle between the turns never crosses a pole that is not harmless, and it is named beside one alone."""
    case = Case(seed, harmless=False)
    try:
        model = case.model()
    except fm.ModelError:
        pytest.skip("dependent at the start")
    scheme, dynamics = str(case.rng.choice(SCHEMES)), str(case.rng.choice(FORMULATIONS))
    more, message = {"step": 2e-3 * case.t} if scheme == "rk4" else {}, ""
    try:
        solver = solver_of(model, scheme=scheme, dynamics=dynamics, **more)
    except fm.AssemblyError as error:
        message = str(error)
    if message:
        assert "joint 'J' starts at the limit of its coordinates: the rates of its modes" in message
        return
    product = Product(model.joints[1], (), ())
    middle, sizes = [], []
    for time in np.linspace(0, 2 * case.t, 101)[1:]:
        message = refusal(solver, time)
        q = solver.get("J.q")
        middle.append(q[-2])
        sizes.append(rate_of(product, q, case))
        if message:
            break
    if more and "The fixed step" in message:
        return
    assert not message or LIMIT.format("J") in message, message
    if message:
        assert abs(case.product(middle[-1])) < NEAR_FAILURE or sizes[-1] > 1.0 / NEAR_FAILURE, sizes
    elif case.poles:
        assert len({np.sign(case.product(angle)) for angle in middle}) == 1
    assert solver.get("solver.steps") + solver.get("solver.rejected") < MOST_STEPS


def rate_of(product: Product, q: Any, case: Case) -> float:
    """The largest rate that a unit of a speed makes, in units of the case, by the oracle."""
    s = product.positions(q, [])
    count = len(product.joint.speed_rows)
    unit = np.array([case.l if mode.kind == "prismatic" else 1.0 for mode in product.joint.modes])
    try:
        return max(float(np.abs(product.rates(s, one, []) / unit).max()) for one in np.eye(count))
    except np.linalg.LinAlgError:
        return np.inf


@pytest.mark.parametrize("seed", seeds(6, 100))
def test_a_harmless_passage(seed: int) -> None:
    """The row forbids the third turn, wherever it can: the body moves as one on the first two, past the pole."""
    case = Case(seed, harmless=True)
    if not case.poles:
        pytest.skip("no pole")
    model = case.model()
    free = model.joints[1]

    def twin(*ends: Any) -> fm.Joint:
        a, b, c = (fm.Turn(tuple(axis)) for axis in case.axes)
        still = fm.Turn(c.axis, role="locked", value=case.angles[2])
        rates = (0.0, -np.sign(case.lean) / case.t)
        return fm.Joint("J", *ends, modes=(a, b, still), q0=tuple(case.angles[:2]), u0=rates)

    case.rng = np.random.default_rng([2401, seed])
    bodies = {body.name: body for body in model.bodies}
    other = fm.Model("twin", gravity=(0, 0, 0))
    held = fm.Revolute("R", other.ground.at(), bodies["carrier"].at(), axis=(0.3, 0.5, 0.8), u0=0.2 / case.t)
    other.add(*model.bodies, held, twin(free.F, free.M))
    scheme = SCHEMES[seed % 4]
    more = {"step": 1e-3 * case.t} if scheme == "rk4" else {}
    for dynamics in FORMULATIONS:
        a, b = (solver_of(m, scheme=scheme, dynamics=dynamics, tolerance=1e-9, **more) for m in (model, other))
        a.step(2 * case.t), b.step(2 * case.t)
        crossed = np.sign(case.product(a.get("J.q")[1])) != np.sign(case.product(case.angles[1]))
        assert crossed or seed > 0
        np.testing.assert_allclose(a.get("J.q")[:2], b.get("J.q"), atol=2e-6)
        np.testing.assert_allclose(a.get("J.q")[2], case.angles[2], atol=1e-9)


def plain() -> fm.Model:
    """A disc that leans from 60 degrees towards lying flat."""
    model = fm.Model("disc", gravity=(0, 0, 0))
    body = fm.Body("body", mass=1, inertia=(1, 1.3, 1))
    modes = (fm.Turn("z"), fm.Turn("x"), fm.Turn("y"))
    rows: Any = {"velocity_rows": [(0, 1, 0, 0, 0, 0)], "speed_rows": [(1, 0, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0)]}
    joint = fm.Joint("J", model.ground.at(), body.at(), modes=modes, rows_after=2, q0=(0, 1, 0), u0=(1, 0), **rows)
    model.add(body, joint)
    return model


def test_in_the_fmu(tmp_path: Path) -> None:
    slave = Slave(unpacked_fmu(tmp_path, plain()))
    slave.start()
    assert slave.step(0.0, 10.0) == DISCARD
    assert LIMIT.format("J") in slave.say
    slave.free()


def test_a_start_beside_a_pole_is_refused() -> None:
    solver = fm.Solver(fm.compile(plain(), everything=True))
    solver.set("J.q", [0.0, np.pi / 2 + 5e-4, 0.0])
    with pytest.raises(fm.AssemblyError, match="joint 'J' starts at the limit of its coordinates: the rates of its"):
        solver.assemble()

"""Dry friction on coordinates that loops or programs lock: it does no work, so the motion is as without it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.play import Options, run_fmu
from support.sweeps import each_value, seeds

SCHEMES = ("dopri5", "dop853", "radau", "auto", "rk4")
SAME = 2e-7  # of the motion, at the tolerance below: laws end steps at other times
TOLERANCE = 1e-9


def guided(angle: float = 0.1 + 4 * 5.9 / 39, brake: bool = True) -> fm.Model:
    """A slide that a pin at its own place locks, and a pendulum on it with a spring."""
    R = fm.Rotation.about((0, 0, 1), angle)
    c, s = np.cos(angle), np.sin(angle)
    m = fm.Model("guided", gravity=(0, -9.81, 0))
    a = fm.Body("a", mass=1, inertia=(1, 1, 1))
    p = fm.Body("p", mass=1, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    A = fm.Prismatic("A", m.ground.at(rotation=R), a.at(), axis="x", q0=0.4)
    m.add(a, p, A, fm.Revolute("H", a.at(), p.at(), q0=-0.4, u0=-0.6))
    m.add(fm.Revolute("C", m.ground.at(0.4 * c, 0.4 * s, 0, rotation=R), a.at()))
    m.add(fm.Spring("s", m.ground.at(0.7, 0.1, 0.3), p.at(2, 1, 1), stiffness=8, damping=0.2))
    if brake:
        m.add(fm.Law.brake("brake", A, 1.0))
    return m


def started(model: fm.Model, **options: Any) -> fm.Solver:
    solver = fm.Solver(fm.compile(model, everything=True).with_options(**{"tolerance": TOLERANCE} | options))
    solver.assemble()
    return solver


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_brake_on_a_locked_slide_changes_nothing(scheme: str, dynamics: str) -> None:
    for angle in 0.1 + np.arange(0, 40, 6) * 5.9 / 39:
        made = [started(guided(angle, brake), scheme=scheme, dynamics=dynamics) for brake in (True, False)]
        for t in (0.01, 0.3):
            for solver in made:
                solver.step(t)
            assert made[0].get("brake.force") == 0.0
            assert_allclose(made[0].get("A.q"), 0.4, rtol=0, atol=1e-9)
            for name in ("H.q", "H.qd", "H.qdd", "C.reaction.f"):
                assert_allclose(made[0].get(name), made[1].get(name), rtol=1e-5, atol=SAME * 10)


def test_an_fmu_has_the_same(tmp_path: Path) -> None:
    results = []
    for brake in (True, False):
        path = fm.export_fmu(guided(brake=brake), tmp_path / f"guided{brake}.fmu", dynamics="riccati")
        results.append(run_fmu(path, Options(stop=0.2, interval=0.05)))
    assert_allclose(results[0]["H.qd"], results[1]["H.qd"], rtol=0, atol=1e-4)
    assert_allclose(results[0]["brake.force"], 0.0, rtol=0, atol=0)


class Draw:
    """A part that loops, programs or the tree lock, with laws on it, and a double pendulum on it that moves."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng([241, seed])
        self.kind = ("slide", "truss", "welded", "programmed", "line", "hinge")[seed % 6]
        self.size, self.mass = (10.0 ** self.rng.uniform(-1, 1, 2)).tolist()
        self.numbers = self.rng.uniform(-1, 1, 40).tolist()
        self.forces = (10.0 ** self.rng.uniform(-2, 2, 8)).tolist()
        self.cut = int(self.rng.integers(2))

    def unit(self, n: int) -> Any:
        v = self.rng.normal(size=n)
        return v / np.linalg.norm(v)

    def body(self, name: str) -> fm.Body:
        com = tuple(self.size * 0.3 * x for x in self.numbers[:3])
        return fm.Body(
            name, mass=self.mass, com=com, inertia=tuple(self.mass * self.size**2 * k for k in (0.2, 0.25, 0.3))
        )

    def law(self, name: str, on: Any, i: int) -> fm.Law:
        """A brake, or friction that falls with the velocity."""
        F = self.forces[i] * self.mass * 9.81 * (1.0 if isinstance(on, fm.Prismatic | fm.Spring) else self.size)
        if i % 2:
            return fm.Law.brake(name, on, F)
        F = -F if isinstance(on, fm.Spring) else F  # a spring pulls
        pieces = fm.Piece([[F, 0.01 * F]], v_upper=0.0), fm.Piece([[-0.7 * F, 0.01 * F]], v_lower=0.0)
        return fm.Law(name, on, pieces=pieces)

    def model(self, laws: bool) -> fm.Model:
        m = fm.Model("drawn", gravity=tuple(9.81 * x for x in (self.numbers[4], -1.0, self.numbers[5])))
        L, a = self.size, self.body("a")
        on: list[Any] = []
        J: Any
        if self.kind in ("slide", "line"):
            J = fm.Prismatic("J", m.ground.at(), a.at(), axis="x", q0=0.4 * L)
            m.add(a, J, fm.Revolute("C", m.ground.at(0.4 * L, 0, 0), a.at(), axis="z"))
            on = [J]
            if self.kind == "line":
                on.append(fm.Spring("line", m.ground.at(0.1 * L, L, 0.2 * L), a.at(0.2 * L, 0, 0)))
                m.add(on[1])
        elif self.kind == "hinge":  # to a point on its axis
            J = fm.Revolute("J", m.ground.at(), a.at(0.2 * L, 0, 0), axis="z", q0=self.numbers[6], u0=self.numbers[7])
            on = [fm.Spring("line", m.ground.at(0.1 * L, L, 0.2 * L), a.at(0.2 * L, 0, 0.3 * L))]
            m.add(a, J, on[0])
        elif self.kind == "welded":
            J = fm.Revolute("J", m.ground.at(), a.at(), axis="y", q0=self.numbers[6])
            R = fm.Rotation.about((0, 1, 0), self.numbers[6])
            m.add(a, J, fm.Weld("C", m.ground.at(rotation=R), a.at()))
            on = [J]
        elif self.kind == "truss":
            b = self.body("b")
            J = fm.Revolute("J", m.ground.at(), a.at(), axis="z", q0=np.pi / 3)
            K = fm.Revolute("K", a.at(L, 0, 0), b.at(), axis="z", q0=-2 * np.pi / 3)
            m.add(a, b, J, K, fm.Revolute("C", b.at(L, 0, 0), m.ground.at(L, 0, 0), axis="z"))
            on = [J, K]
        else:
            b, c = self.body("b"), self.body("c")
            J = fm.Revolute("J", m.ground.at(), a.at(), axis="z", q0=1.0)
            K = fm.Revolute("K", a.at(L, 0, 0), b.at(), axis="z", q0=-0.6)
            N = fm.Revolute("N", m.ground.at(1.5 * L, 0, 0), c.at(), axis="z", q0=2.0)
            m.add(a, b, c, J, K, N, fm.Revolute("C", b.at(1.2 * L, 0, 0), c.at(L, 0, 0), axis="z"))
            m.add(fm.ProgrammedJoint("P", N, path=fm.Path.polynomial(2.0)))
            on = [J, K]
        p, q = self.body("p"), self.body("q")
        H = fm.Revolute("H", a.at(0.3 * L, 0, 0), p.at(), axis="z", q0=self.numbers[8], u0=self.numbers[9])
        m.add(p, q, H, fm.Revolute("G", p.at(0, 0.5 * L, 0), q.at(), axis="xy"[self.cut], q0=self.numbers[10]))
        for i, joint in enumerate(on if laws else ()):
            m.add(self.law(f"law{i}", joint, 2 * i + self.cut))
            if self.numbers[11] > 0:
                m.add(self.law(f"more{i}", joint, 2 * i + 1))
        return m


@pytest.mark.parametrize("seed", seeds(5, 200))
def test_drawn_laws_on_locked_coordinates_change_nothing(seed: int) -> None:
    draw = Draw(seed)
    scheme = SCHEMES[int(draw.rng.integers(4))]
    found = []
    for dynamics in ("riccati", "copcod"):
        made = [started(draw.model(laws), scheme=scheme, dynamics=dynamics) for laws in (True, False)]
        T = 0.5 * np.sqrt(draw.size)
        for solver in made:
            solver.step(T)
        names = [f"{law.name}.force" for law in draw.model(True).laws]
        assert names
        assert_allclose([made[0].get(name) for name in names], 0.0, rtol=0, atol=0)
        found += [np.array([s.get("H.q"), s.get("H.qd") * T, s.get("G.q"), s.get("G.qd") * T]) for s in made]
    for other in found[1:]:
        assert_allclose(other, found[0], rtol=1e-5, atol=1e-5)


def crank(to: float = 0.5, F: float = 3.0) -> fm.Model:
    """A slider-crank whose crank rests, turns by a program and rests again, with a brake on the slider."""
    m = fm.Model("crank", gravity=(0, -9.81, 0))
    a, b, c = (fm.Body(n, mass=1, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1)) for n in "abc")
    A = fm.Revolute("A", m.ground.at(), a.at(), axis="z", q0=0.8)
    S = fm.Prismatic("S", m.ground.at(), c.at(), axis="x", q0=1.5)
    m.add(a, b, c, A, S, fm.Revolute("B", a.at(0.5, 0, 0), b.at(), axis="z", q0=-1.1))
    m.add(fm.Revolute("C", b.at(1.2, 0, 0), c.at(), axis="z"), fm.Law.brake("brake", S, F))
    m.add(fm.ProgrammedJoint("P", A, path=fm.Path.quintic([0, 0.2, 0.6, 1.0], [0.8, 0.8, 0.8 + to, 0.8 + to])))
    return m


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau", "auto"])
@pytest.mark.parametrize("to", [0.5, -0.5])
def test_a_law_that_a_program_moves_slides(to: float, scheme: str, dynamics: str) -> None:
    solver = started(crank(to), scheme=scheme, dynamics=dynamics, tolerance=1e-7)
    forces = []
    for t in (0.1, 0.3, 0.4, 0.5, 0.8):
        solver.step(t)
        forces.append(solver.get("brake.force"))
    assert_allclose(forces, np.array([0.0, 3.0, 3.0, 3.0, 0.0]) * np.sign(to), rtol=0, atol=1e-9)


@pytest.mark.parametrize("scheme", ["dopri5", "radau"])
@pytest.mark.parametrize("to", [0.5, -0.5])
def test_a_law_that_a_program_moves_acts_against_its_velocity_at_every_instant(to: float, scheme: str) -> None:
    """Also between the ends of steps, from the first on in which it moves."""
    solver = started(crank(to), scheme=scheme, tolerance=1e-5)
    moving = []
    for t in np.linspace(0.19, 0.62, 130):
        solver.step(t)
        force, speed = solver.get("brake.force"), solver.get("S.qd")
        assert abs(force) <= 3.0 + 1e-9
        if abs(speed) > 1e-6:
            assert force == pytest.approx(-3.0 * np.sign(speed)), t
            moving.append(t)
    assert len(moving) > 100 and moving[0] < 0.21


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("small", [1e-1, 1e-2, 1e-3, 1e-4])
def test_a_nearly_locked_slider_sticks_with_the_force_of_statics(small: float, dynamics: str) -> None:
    """A crank near its dead centre: the slider takes its torque over a lever that is proportional to the angle."""
    m = fm.Model("dead", gravity=(0, 0, 0))
    a, b, c = (fm.Body(n, mass=1, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1)) for n in "abc")
    A = fm.Revolute("A", m.ground.at(), a.at(), axis="z", q0=small)
    other = -np.arcsin(0.5 * np.sin(small) / 1.2)
    S = fm.Prismatic("S", m.ground.at(), c.at(), axis="x", q0=0.5 * np.cos(small) + 1.2 * np.cos(other))
    m.add(a, b, c, A, S, fm.Revolute("B", a.at(0.5, 0, 0), b.at(), axis="z", q0=other - small))
    m.add(fm.Revolute("C", b.at(1.2, 0, 0), c.at(), axis="z", q0=-other), fm.Law.brake("brake", S, 1e9))
    solver = started(m, dynamics=dynamics)
    solver.set("A.tau", 2.0)
    solver.step(0.5)
    lever = 0.5 * np.sin(small) + 0.5 * np.cos(small) * np.tan(-other)  # -dS/dA
    rounded = 1e-12 / small**2  # of the forces, which are 1 / lever, over the lever
    assert_allclose(solver.get("brake.force"), 2.0 / lever, rtol=1e-9 + rounded)
    assert_allclose(solver.get("A.q"), small, rtol=1e-9 + rounded)

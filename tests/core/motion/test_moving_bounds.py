"""Laws that hold at velocities other than zero, as belts and feeds do: beside motions that are found piece by piece."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from oracle import Oracle
from support.sweeps import seeds

Array = np.ndarray[Any, np.dtype[np.float64]]
STOPS = np.linspace(0.1, 3.0, 9)


def grip(name: str, joint: Any, least: float, most: float, bound: float) -> fm.Law:
    """It drives the joint towards the velocity `bound`, by `most` below and by `least` above."""
    pieces = (fm.Piece([[float(most)]], v_upper=float(bound)), fm.Piece([[float(least)]], v_lower=float(bound)))
    return fm.Law(name, joint, pieces=pieces)


class Stack:
    """Blocks, each on a belt that the one below carries: of constant forces, so that accelerations are by pieces."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 5))
        self.masses, self.push = 10 ** rng.uniform(-0.5, 0.5, n), 3 * rng.normal(size=n)
        self.most, self.least = 10 ** rng.uniform(-0.5, 1, n), -(10 ** rng.uniform(-0.5, 1, n))
        self.bound = np.where(rng.random(n) < 0.2, 0.0, rng.uniform(-2, 2, n))
        self.u0 = np.where(rng.random(n) < 0.4, self.bound, rng.uniform(-3, 3, n))

    def model(self) -> fm.Model:
        model = fm.Model("stack", gravity=(0, 0, 0))
        below: Any = model.ground
        for i, mass in enumerate(self.masses):
            block = fm.Body(f"b{i}", mass=float(mass), inertia=(0.1, 0.1, 0.1))
            J = fm.Prismatic(f"J{i}", below.at(), block.at(), axis="x", u0=float(self.u0[i]))
            law = grip(f"grip{i}", J, self.least[i], self.most[i], self.bound[i])
            model.add(block, J, law, fm.Load(f"L{i}", block.at()))
            below = block
        return model

    def rates(self, v: Array) -> Array:
        """Relative accelerations: of all ways to hold or slide, the one whose forces fit."""
        n, off = len(v), v - self.bound
        ways = [(0, 1, -1) if abs(d) <= 1e-12 else (int(-np.sign(d)),) for d in off]
        for way in product(*ways):
            A, b = np.zeros((2 * n, 2 * n)), np.concatenate([self.push, np.zeros(n)])
            for i in range(n):
                A[i, i], A[i, n + i] = self.masses[i], -1.0
                A[i, n + i + 1 : n + i + 2] = 1.0
                if way[i]:
                    A[n + i, n + i], b[n + i] = 1.0, self.most[i] if way[i] > 0 else self.least[i]
                else:
                    A[n + i, i] = 1.0
                    A[n + i, max(i - 1, 0) : i] = -1.0
            x = np.linalg.solve(A, b)
            rate, force = np.diff(x[:n], prepend=0.0), x[n:]
            fits = [
                len(ways[i]) == 1
                or (self.least[i] - 1e-9 <= force[i] <= self.most[i] + 1e-9 if not way[i] else way[i] * rate[i] < 1e-9)
                for i in range(n)
            ]
            if all(fits):
                return rate
        raise AssertionError("no way fits")

    def motion(self) -> list[tuple[Array, Array]]:
        q, v, t, found = np.zeros(len(self.u0)), self.u0.copy(), 0.0, []
        for stop in STOPS:
            while t < stop - 1e-15:
                rate = self.rates(v)
                off = self.bound - v
                comes = [o / r for o, r in zip(off, rate, strict=True) if abs(o) > 1e-12 and o * r > 0]
                dt = min([stop - t, *comes])
                q, v, t = q + v * dt + rate * dt**2 / 2, v + rate * dt, t + dt
                v = np.where(abs(v - self.bound) < 1e-11, self.bound, v)
            found.append((q, v))
        return found


@pytest.mark.parametrize("seed", range(40))
def test_blocks_on_belts_hold_and_let_go_as_they_must(seed: int) -> None:
    stack = Stack(seed)
    solver = fm.Solver(fm.compile(stack.model()).with_options(tolerance=1e-9))
    solver.assemble()
    for i, force in enumerate(stack.push):
        solver.set(f"L{i}.force", (force, 0, 0))
    for stop, (q, v) in zip(STOPS, stack.motion(), strict=True):
        solver.step(float(stop))
        assert_allclose([solver.get(f"J{i}.q") for i in range(len(q))], q, rtol=0, atol=1e-8)
        assert_allclose([solver.get(f"J{i}.qd") for i in range(len(v))], v, rtol=0, atol=1e-8)


def arms(seed: int) -> tuple[fm.Model, dict[str, tuple[float, float, float]]]:
    """A tree in space that moves, most joints at their laws' bounds; (bound, least, most) of each."""
    rng = np.random.default_rng(seed)
    model = fm.Model("arms", gravity=tuple(map(float, rng.normal(size=3) * 5)))
    every: list[Any] = [model.ground]
    laws: dict[str, tuple[float, float, float]] = {}
    for i in range(int(rng.integers(1, 6))):
        com = tuple(map(float, rng.uniform(-0.5, 0.5, 3)))
        arm = fm.Body(f"b{i}", mass=float(rng.uniform(0.2, 2)), com=com, inertia=(0.1, 0.15, 0.2))
        make = fm.Revolute if rng.random() < 0.6 else fm.Prismatic
        bound = float(rng.uniform(-3, 3))
        u0 = bound if rng.random() < 0.75 else bound + float(rng.choice([-1, 1]) * rng.uniform(0.1, 1))
        F = every[int(rng.integers(len(every)))].at(*map(float, rng.uniform(-0.5, 0.5, 3)))
        axis = tuple(map(float, rng.normal(size=3)))
        J = make(f"J{i}", F, arm.at(), axis=axis, q0=float(rng.uniform(-1, 1)), u0=u0)
        model.add(arm, J)
        every.append(arm)
        if rng.random() < 0.85:
            most, least = float(10 ** rng.uniform(-0.5, 1.5)), -float(10 ** rng.uniform(-0.5, 1.5))
            model.add(grip(f"grip{i}", J, least, most, bound))
            laws[J.name] = bound, least, most
    return model, laws


@pytest.mark.parametrize("seed", seeds(15, 40))
def test_arms_that_move_at_their_bounds_hold_or_slide_as_they_must(seed: int) -> None:
    """The oracle knows no laws: it is given the forces that the wrenches tell of, which have to fit the rates."""
    model, laws = arms(seed)
    plain = fm.Model("plain", gravity=model.gravity)
    plain.add(*model.bodies, *model.joints)
    oracle, solver = Oracle(plain), fm.Solver(fm.compile(model, everything=True))
    solver.assemble()
    rng, joints = np.random.default_rng(seed + 99), list[Any](model.joints)
    for strength in (0.0, 5.0, 20.0):
        force, applied = {}, {}
        for joint in joints:
            part, name = ("t", "tau") if isinstance(joint, fm.Revolute) else ("f", "f")
            push = strength * float(rng.normal())
            solver.set(f"{joint.name}.{name}", push)
            applied[joint.name] = f"{joint.name}.{name}", push
        for joint in joints:
            part = "t" if isinstance(joint, fm.Revolute) else "f"
            both = solver.get(f"{joint.name}.wrench.{part}") - solver.get(f"{joint.name}.reaction.{part}")
            force[joint.name] = both @ joint.axis / np.linalg.norm(joint.axis) - applied[joint.name][1]
        answer = oracle.solve(oracle.state(), {k: push + force[joint] for joint, (k, push) in applied.items()})
        rates = {joint.name: float(solver.get(f"{joint.name}.qdd")) for joint in joints}
        within = 1e-8 * max(1.0, *map(abs, rates.values()), *map(abs, force.values()))
        for joint in joints:
            name = joint.name
            assert abs(rates[name] - answer[f"{name}.qdd"]) <= within
            bound, least, most = laws.get(name, (joint.u0, 0.0, 0.0))
            assert least - within <= force[name] <= most + within
            side = np.sign(joint.u0 - bound) or (np.sign(rates[name]) if abs(rates[name]) > 10 * within else 0.0)
            if side:
                assert abs(force[name] - (least if side > 0 else most)) <= within

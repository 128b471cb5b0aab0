"""Starts of loops with joints that have fewer velocities than positions: values are held as anywhere else."""

from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import compile
from support.sweeps import seeds

OFF = 0.3  # [rad], or [m] of mechanisms of a meter: how far guesses are off
SAME = 1e-6
FREE = 0.02  # least singular value of what fixes a motion clearly
TURNS = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}

Array = np.ndarray


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_a_blade_without_a_start_goes_where_the_given_angle_puts_it(dynamics: str, tmp_path: Path) -> None:
    """Three rows for four positions: the angle at the hitch is held, and the blade follows across its line too."""
    model = fm.Model("trailer", gravity=(0, 0, 0))
    truck, trailer = (fm.Body(name, mass=1, inertia=(1, 1, 1)) for name in ("truck", "trailer"))
    model.add(truck, trailer, fm.Prismatic("P", model.ground.at(), truck.at(), axis="x", q0=0.0))
    model.add(fm.Revolute("hitch", truck.at(1, 0, 0), trailer.at(1, 0, 0), axis="z", q0=1.0))
    model.add(fm.Skate("blade", model.ground.at(), trailer.at()))
    image = compile(model, everything=True).with_options(dynamics=dynamics)
    solver = fm.Solver(image)
    solver.assemble()
    assert solver.get("hitch.q") == pytest.approx(1.0, abs=1e-12)
    assert solver.get("blade.q") == pytest.approx((1 - np.cos(1), -np.sin(1), 1), abs=1e-12)
    assert solver.start_changes == ()
    rows = fmpy.simulate_fmu(str(fm.export_fmu(image, tmp_path / "trailer.fmu")), stop_time=0.01, output=["blade.q[2]"])
    assert rows["blade.q[2]"][0] == solver.get("blade.q")[1]


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_a_blade_goes_where_a_joint_that_is_held_puts_it(dynamics: str) -> None:
    """What is held is the slide alone, which comes first in the tree, and not the screws of the blade behind it."""
    model = fm.Model("held", gravity=(0, 0, 0))
    truck, trailer = (fm.Body(name, mass=1, inertia=(1, 1, 1)) for name in ("truck", "trailer"))
    model.add(truck, trailer, fm.Prismatic("P", model.ground.at(), truck.at(), axis="x", q0=0.2, held=True))
    model.add(fm.Revolute("hitch", truck.at(1, 0, 0), trailer.at(1, 0, 0), axis="z", q0=1.0))
    model.add(fm.Skate("blade", model.ground.at(), trailer.at()))
    solver = fm.Solver(compile(model, everything=True).with_options(dynamics=dynamics))
    solver.assemble()
    assert (solver.get("P.q"), solver.get("hitch.q")) == pytest.approx((0.2, 1.0), abs=1e-12)
    assert solver.get("blade.q") == pytest.approx((1.2 - np.cos(1), -np.sin(1), 1), abs=1e-12)


def test_four_positions_that_close_the_loop_are_not_changed() -> None:
    """They are no quaternion, and nothing scales them to length one before they are compared."""
    model, at = fm.Model("pinned"), (0.3, -0.4, 0.2, 0.7)
    body = fm.Body("body", mass=1, inertia=(1, 1, 1))
    modes = [fm.Slide("x"), fm.Slide("y"), fm.Slide("z"), fm.Turn("z")]
    rows = np.random.default_rng(1).normal(size=(4, 6))
    J = fm.Joint("J", model.ground.at(), body.at(), modes=modes, velocity_rows=rows[:1], speed_rows=rows[1:], q0=at)
    model.add(body, J, fm.Spherical("pin", model.ground.at(*at[:3]), body.at()))
    solver = fm.Solver(model)
    solver.assemble()
    assert solver.get("J.q") == pytest.approx(at, abs=1e-12)
    assert solver.start_changes == ()


def screw(kind: str, axis: str, q: float) -> Array:
    """(4, 4) pose after a turn or a slide."""
    e, out = np.array(TURNS[axis], float), np.eye(4)
    if kind == "slide":
        out[:3, 3] = q * e
        return out
    K = np.cross(e, np.eye(3)).T
    out[:3, :3] += np.sin(q) * K + (1 - np.cos(q)) * K @ K
    return out


class Chain:
    """Bodies in a row, whose last is pinned to the ground where positions drawn at random put it."""

    def __init__(self, seed: int, again: int) -> None:
        rng = np.random.default_rng([24, 11, seed, again])
        self.planar = bool(seed % 2)
        count = int(rng.integers(2, 5))
        special = int(rng.integers(count))
        self.joints = [self._joint(rng, i == special) for i in range(count)]
        self.arms = rng.uniform(-1, 1, (count, 3)) * (1, 1, 0 if self.planar else 1)
        self.sizes = [len(modes) for _, modes, _ in self.joints]
        self.places = np.cumsum([0, *self.sizes])
        self.at = rng.uniform(-0.9, 0.9, self.places[-1])
        self.rng = rng

    def _joint(self, rng: np.random.Generator, special: bool) -> tuple[str, list[tuple[str, str]], Array | None]:
        """Its class, modes, and velocity rows above speed rows."""
        if special and rng.random() < 0.5:
            return "Skate", [("slide", "x"), ("slide", "y"), ("turn", "z")], None
        if special:
            plane = [("slide", "x"), ("slide", "y"), ("turn", "z")]
            space = [(kind, axis) for kind in ("slide", "turn") for axis in "xyz"]
            among = plane if self.planar else space
            modes = [among[i] for i in rng.permutation(len(among))[: int(rng.integers(2, min(len(among), 4) + 1))]]
            return "Joint", modes, rng.normal(size=(len(modes), 6))
        kind = "slide" if rng.random() < 0.3 else "turn"
        axis = ("z" if kind == "turn" else "xy"[rng.integers(2)]) if self.planar else "xyz"[rng.integers(3)]
        return "Prismatic" if kind == "slide" else "Revolute", [(kind, axis)], None

    def tip(self, q: Array) -> Array:
        """(3,) where the last body is pinned."""
        X, at = np.eye(4), 0
        for (_, modes, _), arm in zip(self.joints, self.arms, strict=True):
            for kind, axis in modes:
                X, at = X @ screw(kind, axis, q[at]), at + 1
            X[:3, 3] += X[:3, :3] @ arm
        return X[:3, 3]

    def motions(self) -> Array:
        """(positions, motions) orthonormal: what the pin leaves, where the chain was drawn."""
        step = 1e-6 * np.eye(len(self.at))
        J = np.array([self.tip(self.at + d) - self.tip(self.at - d) for d in step]).T / 2e-6
        _, S, V = np.linalg.svd(J)
        rank = int(np.count_nonzero(S > FREE))
        if np.any((S > 1e-7) & (S <= FREE)) or rank == 0:
            raise Again
        return V[rank:].T

    def model(self) -> tuple[fm.Model, list[str]]:
        """With exact values of joints that fix every motion, guesses of others, some not given; the exact ones."""
        motions, held, starts = self.motions(), [], {}
        taken, model = np.zeros((0, motions.shape[1])), fm.Model("chain", gravity=(0, 0, 0))
        order = self.rng.permutation(len(self.joints))
        for i in order:
            part = slice(self.places[i], self.places[i + 1])
            rows = np.vstack([taken, motions[part]])
            if len(rows) <= rows.shape[1] and np.linalg.svd(rows)[1][-1] > FREE:
                taken, starts[i] = rows, self.at[part]
                held.append(f"J{i}")
            elif len(taken) < taken.shape[1] and np.linalg.matrix_rank(rows, 1e-6) > len(taken):
                raise Again  # it would be held in part
            elif self.rng.random() < 0.7:
                starts[i] = self.at[part] + OFF * self.rng.uniform(-1, 1, self.sizes[i]) / np.sqrt(self.sizes[i])
        if len(taken) < taken.shape[1]:
            raise Again
        bodies = [fm.Body(f"b{i}", mass=1, inertia=(1, 1, 1)) for i in range(len(self.joints))]
        ends = [model.ground.at(), *(b.at(*arm) for b, arm in zip(bodies, self.arms, strict=True))]
        model.add(*bodies)
        model.add(*(self._element(i, ends[i], bodies[i].at(), starts.get(i)) for i in order))
        pin = model.ground.at(*self.tip(self.at)), ends[-1]
        model.add(fm.Revolute("pin", *pin, axis="z") if self.planar else fm.Spherical("pin", *pin))
        return model, held

    def _element(self, i: int, F: Any, M: Any, start: Array | None) -> Any:
        kind, modes, rows = self.joints[i]
        known: dict[str, Any] = {} if start is None else {"q0": start if len(modes) > 1 else start[0]}
        if kind in ("Revolute", "Prismatic"):
            return getattr(fm, kind)(f"J{i}", F, M, axis=modes[0][1], **known)
        if kind == "Skate":
            return fm.Skate(f"J{i}", F, M, **known)
        makers = {"turn": fm.Turn, "slide": fm.Slide}
        velocity = int(self.rng.integers(1, len(modes)))
        known |= {"modes": [makers[sort](axis) for sort, axis in modes]}
        return fm.Joint(f"J{i}", F, M, velocity_rows=rows[:velocity], speed_rows=rows[velocity:], **known)


class Again(Exception):
    """The draw is of no use."""


def drawn(seed: int) -> tuple[Chain, fm.Model, list[str]]:
    for again in range(100):
        try:
            chain = Chain(seed, again)
            return chain, *chain.model()
        except (Again, fm.ModelError):
            continue
    raise AssertionError("no draw is of use")


@pytest.mark.parametrize("seed", seeds(24, 300))
def test_exact_values_are_held_and_guesses_choose_the_branch(seed: int) -> None:
    """The start is where the chain was drawn, or a configuration that is nearer to the guesses."""
    chain, model, held = drawn(seed)
    solver = fm.Solver(model)
    solver.assemble()
    length, names = float(solver.image.arrays["length"][0]), [f"J{i}" for i in range(len(chain.joints))]
    found = np.concatenate([np.atleast_1d(solver.get(f"{name}.q")) for name in names])
    assert np.abs(chain.tip(found) - chain.tip(chain.at)).max() < 1e-9
    unit = np.array([length if kind == "slide" else 1.0 for _, modes, _ in chain.joints for kind, _ in modes])
    part = {name: slice(chain.places[i], chain.places[i + 1]) for i, name in enumerate(names)}
    assert all(np.abs((found - chain.at) / unit)[part[name]].max() < SAME for name in held), held
    guesses = [name for name in names if name not in held and model[name].given[0]]
    here, there = (
        np.linalg.norm([np.linalg.norm((at[part[name]] - model[name].q0) / unit[part[name]]) for name in guesses])
        for at in (found, chain.at)
    )
    assert here <= there * (1 + 1e-9) + 1e-9
    assert all(change.name.split(".")[0] not in held for change in solver.start_changes)

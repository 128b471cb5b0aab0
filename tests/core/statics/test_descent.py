"""From near a stable equilibrium that one is found, beside dynamic relaxation: a damped motion that comes to rest."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.slave import Slave, unpacked_fmu
from support.statics import standing_loop, standing_tree
from support.sweeps import each_value, first, seeds

SLOW = 1e-5  # [rad/s, m/s]: of a motion that has come to rest
SAME = 1e-3  # [rad, m]: where it does so, over the slowest frequency
NEAR = 0.1  # [rad, m]


def chain(count: int, share: float, plane: bool = True) -> fm.Model:
    """Upright rods on hinges with springs and dampers, under this share of the buckling load."""
    model, below = fm.Model("chain", gravity=(0, 0, 0)), None
    for i in range(count):
        rod = fm.Body.rod(f"b{i}", length=1.0, mass=1.0, along="z")
        carrier, given = below or model.ground.at(), {"stiffness": 1.0, "damping": 0.8 * count}
        axis = "y" if plane or i % 2 == 0 else "x"
        model.add(rod, fm.Revolute(f"j{i}", carrier, rod.base, axis=axis, **given))
        below = rod.tip
    K = 2 * np.eye(count) - np.eye(count, k=1) - np.eye(count, k=-1)
    K[-1, -1] = 1.0
    model.add(fm.Load("l", below, force=(0, 0, -share * np.linalg.eigvalsh(K)[0])))
    return model


def column(elements: int, share: float) -> fm.Model:
    """A clamped flexible link under this share of Euler's load, pi^2 EI / (2 L)^2."""
    model = fm.Model("column", gravity=(0, 0, 0))
    stiff = {"EIy": 1.0, "EIz": 2.0, "GJ": 1.0, "mass": 1.0, "axial_inertia": 1e-2, "damping": 0.5}
    link = fm.FlexibleLink("l", length=1.0, elements=elements, **stiff)
    model.add(link, fm.Weld("w", model.ground.at(), link.base))
    model.add(fm.Load("L", link.tip, force=(-share * np.pi**2 / 4, 0, 0)))
    return model


def relaxed(model: fm.Model, off: float, rng: np.random.Generator) -> tuple[fm.ModelImage, dict[str, float]] | None:
    """Where a motion that starts `off` the start values comes to rest; None: it does not."""
    image = fm.compile(model, everything=True).with_options(scheme="radau", tolerance=1e-8)
    solver = fm.Solver(image)
    places = image.variables.positions()
    places = places[image.variables.states(places)]
    names = image.variables.names(places)
    for name in names:
        if name.endswith((".q", ".q[1]", ".q[2]")):
            solver.set(name, solver.get(name) + off * float(rng.uniform(0.5, 1.0)))
    solver.assemble()
    speeds = image.variables.speeds()
    for _ in range(60):
        solver.step(solver.time + 100.0)
        if np.abs(solver.read(speeds)).max() < SLOW * SAME:
            return image, dict(zip(names, solver.read(places).tolist(), strict=True))
    return None


def started(image: fm.ModelImage, starts: dict[str, float]) -> fm.Solver:
    solver = fm.Solver(image.with_options(equilibrium=True))
    for name, value in starts.items():
        solver.set(name, value)
    solver.assemble()
    return solver


BUCKLED: dict[str, Callable[[], fm.Model]] = {
    "2 rods": lambda: chain(2, 1.15), "5 rods": lambda: chain(5, 1.15), "12 rods": lambda: chain(12, 1.15),
    "in space": lambda: chain(6, 4.0, plane=False), "4 elements": lambda: column(4, 1.15),
    "30 elements": lambda: column(30, 1.15), "12 elements": lambda: column(12, 1.15),
}  # fmt: skip


@pytest.mark.parametrize("kind", first(6, BUCKLED))
def test_a_column_that_has_buckled_stays_so(kind: str) -> None:
    """From shares of its buckled shape of a half and more; smaller ones are nearer to the straight one."""
    rest = relaxed(BUCKLED[kind](), 0.1, np.random.default_rng(3))
    assert rest is not None
    image, shape = rest
    large = max(abs(value) for value in shape.values())
    assert large > 0.02
    for dynamics in ("riccati", "copcod"):
        for share in (0.5, 0.55, 0.65, 0.7, 0.8, 0.9, 1.1, 1.3):
            given = {name: share * value for name, value in shape.items()}
            solver = started(image.with_options(dynamics=dynamics), given)
            assert_allclose([solver.get(name) for name in shape], list(shape.values()), rtol=0, atol=SAME * large)
            assert solver.departure == (0.0, "")


@pytest.mark.parametrize("kind", ["5 rods", "in space", "4 elements"])
def test_so_it_does_in_an_fmu(kind: str, tmp_path: Path) -> None:
    rest = relaxed(BUCKLED[kind](), 0.1, np.random.default_rng(3))
    assert rest is not None
    image, shape = rest
    fmu = unpacked_fmu(tmp_path / "fmu", image.with_options(equilibrium=True))
    slave = Slave(fmu)
    for name, value in shape.items():
        slave.set(name, 0.8 * value)
    slave.start()
    assert_allclose([slave.get(name) for name in shape], list(shape.values()), rtol=0, atol=1e-5)
    slave.free()


def damped(model: fm.Model) -> fm.Model:
    """The same with dampers in all joints that can have one."""
    other = fm.Model(model.name, gravity=model.gravity)
    other.add(*model.bodies, *map(_damped, model.joints), *model.springs, *model.loads)
    return other


def _damped(joint: Any) -> Any:
    if isinstance(joint, (fm.Weld, fm.Distance)) or joint.name.startswith("c"):
        return joint
    return replace(joint, damping=2.0)


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("seed", seeds(12, 300))
def test_near_where_a_motion_came_to_rest_it_is_found(seed: int, dynamics: str) -> None:
    rng = np.random.default_rng([seed, 5])
    model = (standing_tree, standing_loop)[seed % 2](seed)
    rest = relaxed(damped(model), 0.3, rng)
    assert rest is not None
    image, shape = rest
    given = {name: value + rng.uniform(-NEAR, NEAR) for name, value in shape.items() if "q[" not in name}
    solver = started(image.with_options(dynamics=dynamics), shape | given)
    found = [solver.get(name) for name in shape]
    assert_allclose(np.abs(found), np.abs(list(shape.values())), rtol=0, atol=SAME)  # a quaternion may have either sign
    assert solver.departure == (0.0, "")

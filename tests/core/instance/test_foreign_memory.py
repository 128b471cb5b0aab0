"""No value depends on what an instance computed before: nothing is read that was not written for the present state."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import fmumbs as fm
from fmumbs.compiler import compile
from support.slave import OK, Slave, unpacked_fmu
from support.sweeps import seeds

FORMULATIONS = ("riccati", "copcod")
CLOSING: dict[str, Any] = {
    "distance": lambda *ends: fm.Distance("rod", *ends, length=0.3),
    "line": lambda *ends: fm.PointOnLine("rod", *ends),
    "plane": lambda *ends: fm.PointOnPlane("rod", *ends),
    "ball on a hinge": lambda *ends: fm.RevoluteSpherical("rod", *ends, length=0.3),
    "weld": lambda *ends: fm.Weld("rod", *ends, cut=True),
    "hinge": lambda *ends: fm.Revolute("rod", *ends, cut=True, stiffness=3.0),
}


def held(joint: str = "distance", K: Any = None) -> fm.Model:
    """A mass on a bushing with matrices, and a joint that may have no coordinates."""
    if K is None:
        K = np.diag([1e5] * 3 + [1e4] * 3)
        K[0, 4] = K[4, 0] = 1e3
    model = fm.Model("held")
    body = fm.Body("b", mass=100, inertia=(5, 5, 5))
    mount = fm.Bushing("mount", model.ground.at(), body.at(), stiffness_matrix=K, damping_matrix=np.array(K) * 0.01)
    model.add(body, mount, CLOSING[joint](model.ground.at(0, 0, 1), body.at(0.3 if joint != "weld" else 0, 0, 1)))
    return model


def solver_of(model: fm.Model, **options: Any) -> fm.Solver:
    solver = fm.Solver(compile(model, everything=True).with_options(**options))
    solver.assemble()
    return solver


@pytest.mark.parametrize("dynamics", FORMULATIONS)
def test_a_rod_carries_nothing_across_its_line(dynamics: str) -> None:
    solver = solver_of(held(), dynamics=dynamics)
    solver.step(0.01)
    wrench = solver.get("rod.wrench.f")
    assert_array_equal(wrench, solver.get("rod.reaction.f"))
    assert abs(wrench[0]) > 0.1
    assert wrench[1] == 0.0


def test_in_the_fmu(tmp_path: Path) -> None:
    solver = solver_of(held())
    slave = Slave(unpacked_fmu(tmp_path, held()))
    slave.start()
    assert slave.step(0.0, 0.01) == OK
    solver.step(0.01)
    for i in range(3):
        found = slave.get(f"rod.wrench.f[{i + 1}]")
        assert found == slave.get(f"rod.reaction.f[{i + 1}]") == solver.get("rod.wrench.f")[i]
    slave.free()


def everything(solver: fm.Solver) -> dict[str, Any]:
    names = [v.name for v in solver.image.variables if v.causality == "output" and not v.name.startswith("solver.")]
    return {name: solver.get(name) for name in names}


@pytest.mark.parametrize("seed", seeds(12, 300))
def test_outputs_are_those_of_an_instance_without_a_past(seed: int) -> None:
    """Any closing joint beside a bushing with full matrices; the other instance gets the state and nothing else."""
    rng = np.random.default_rng([241, seed])
    L = rng.normal(size=(6, 6)) * np.array([300.0] * 3 + [100.0] * 3)[:, None]
    model = held(sorted(CLOSING)[seed % len(CLOSING)], L @ L.T)
    dynamics = FORMULATIONS[int(rng.integers(2))]
    image = compile(model, everything=True).with_options(dynamics=dynamics)
    used, fresh = fm.Solver(image), fm.Solver(image)
    used.assemble()
    tau = rng.uniform(-50, 50, 6)
    used.set("mount.tau", tau)
    used.step(0.02)
    first = everything(used)
    fresh.state_load(used.state_save())
    second = everything(fresh)
    assert first.keys() == second.keys()
    assert len(first) > 20
    for name, value in first.items():
        assert_array_equal(value, second[name], err_msg=name)
    if not isinstance(model["rod"], fm.Revolute):  # all others have no coordinates, and so no forces along them
        assert_array_equal(used.get("rod.wrench.f"), used.get("rod.reaction.f"))

"""Regressors, base parameters and identification."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.errors import ModelError
from fmumbs.readers import read_model
from run.test_inverse_engines import Chain
from support.sweeps import seeds

REST = np.zeros((3, 2))
INERTIAL = (".m", ".mc[1]", ".mc[2]", ".mc[3]", *(f".I[{k}]" for k in range(1, 7)))


@pytest.mark.parametrize("seed", seeds(8, 40))
def test_forces_are_linear_in_the_parameters(seed: int) -> None:
    """Y pi = tau, with dampers, springs, rotors, loads, dry and bristled friction; many instants are rows of one."""
    chain = Chain(seed)
    model = chain.model()
    model.add(fm.Load("push", model.bodies[-1].at(0.1, 0, 0), force=(1.0, 2.0, 3.0)))
    ends = model.ground.at(3, 3, 3), model.bodies[0].at()
    model.add(fm.Spring("rope", *ends, stiffness=4.0, damping=0.3, free_length=1.0))
    for joint in model.joints:
        if isinstance(joint, fm.Revolute):
            model.add(fm.Law.brake("brake", joint, force=0.7))
            break
    q, u, a = chain.state()
    found = fm.regressor(model, q, u, a)
    tau = fm.inverse_dynamics(model, q, u, a)
    assert_allclose(found.Y @ found.pi + found.rest, tau, rtol=0, atol=1e-12 * np.abs(tau).max())
    bare = chain.model()
    plain, taken = fm.regressor(bare, q, u, a), fm.inverse_dynamics(bare, q, u, a)
    assert_allclose(plain.rest, 0.0, atol=1e-12 * np.abs(taken).max())
    assert len(found.names) == len(set(found.names)) == found.Y.shape[1]


def energy_rank(chain: Chain) -> int:
    """The number of base parameters from energies alone: independent functions of q and u that are linear in pi."""
    model, rows = chain.model(), []
    g = np.array(model.gravity)
    solver = fm.Solver(fm.compile(model, everything=True))
    solver.assemble()
    for _ in range(120):
        q, u, _ = chain.state()
        row: list[float] = []
        v = np.array([np.atleast_1d(u[name.split("[")[0]])[int(name[-2]) - 1 if "[" in name else 0]
                      for name in solver.image.variables.names(solver.image.variables.speeds())])  # fmt: skip
        p = np.array([np.atleast_1d(q[name.split("[")[0]])[int(name[-2]) - 1 if "[" in name else 0]
                      for name in solver.image.variables.names(solver.image.variables.positions())])  # fmt: skip
        solver.set_state(p, v)
        for body in model.bodies:
            w, x, y, z = solver.get(f"{body.name}.quat")
            R = np.array([
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ])  # fmt: skip
            speed, spin, at = (solver.get(f"{body.name}.{what}") for what in ("v", "w", "r"))
            own = R.T @ spin
            row.append(0.5 * speed @ speed - g @ at)
            row += [*(R.T @ np.cross(speed, spin) - R.T @ g)]
            row += [0.5 * own[i] ** 2 for i in range(3)] + [own[i] * own[j] for i, j in ((0, 1), (0, 2), (1, 2))]
        rows.append(row)
    W = np.array(rows) - np.mean(rows, axis=0)  # energies count up to a constant
    lengths = np.linalg.norm(W, axis=0)
    kept = lengths > 1e-9 * lengths.max()
    s = np.linalg.svd(W[:, kept] / lengths[kept], compute_uv=False)
    return int((s > 1e-8 * s[0]).sum())


@pytest.mark.parametrize("seed", [1, 2, 4, 5])
def test_base_parameters_of_robots_by_two_ways(seed: int) -> None:
    chain = Chain(seed, ("revolute", "prismatic"))
    for one in chain.links:
        one["rotor"] = 0.0
    base = fm.base_parameters(chain.model())
    inertial = [name for name in base.names if name.endswith(INERTIAL)]
    assert len(inertial) == energy_rank(chain)


def test_base_parameters_of_a_pendulum() -> None:
    """Of ten only three are seen: two components of the first moment and the inertia about the hinge."""
    model = fm.Model("p")
    rod = fm.Body.rod("rod", length=1.0, mass=2.0)
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y"))
    base = fm.base_parameters(model)
    assert set(base.names) == {"rod.mc[1]", "rod.mc[3]", "rod.I[2]", "A.damping"}
    assert "rod.m" in base.without
    assert base.text(base.names.index("rod.I[2]")) == "rod.I[2]"


def test_identification() -> None:
    """The combinations of an arm's parameters, from forces with noise; deviations bound the errors."""
    model = read_model("arm6")
    base = fm.base_parameters(model)
    rng = np.random.default_rng(1)
    n = 6
    q, u, a = rng.uniform(-2, 2, (400, n)), rng.normal(size=(400, n)), rng.normal(size=(400, n))
    exact = fm.inverse_dynamics(model, q, u, a)
    pi = fm.regressor(model, q[0], u[0], a[0]).pi
    noise = 1e-3
    found = fm.identify(model, q, u, a, exact + noise * rng.normal(size=exact.shape))
    assert_allclose(found.residual, noise, rtol=0.1)
    assert found.undetermined == ()
    true = dict(zip(base.names, base.combinations @ pi, strict=True))
    off = np.array([(found.values[name] - true[name]) / found.deviations[name] for name in base.names])
    assert np.abs(off).max() < 4.5 and 0.6 < np.sqrt(np.mean(off**2)) < 1.5
    assert "+-" in str(found)


def test_what_the_data_do_not_determine() -> None:
    """An arm of which only the last joint moves tells nothing of the first links' inertias."""
    model, bodies = fm.Model("two"), [fm.Body.rod(name, length=1.0, mass=1.0) for name in "ab"]
    model.add(*bodies, fm.Revolute("A", model.ground.at(), bodies[0].base, axis="y", damping=0.02))
    model.add(fm.Revolute("B", bodies[0].tip, bodies[1].base, axis="y", damping=0.01))
    rng = np.random.default_rng(2)
    q, u, a = np.zeros((50, 2)), np.zeros((50, 2)), np.zeros((50, 2))
    q[:, 1], u[:, 1], a[:, 1] = rng.normal(size=(3, 50))
    found = fm.identify(model, q, u, a, fm.inverse_dynamics(model, q, u, a))
    assert "A.damping" in found.undetermined and "B.damping" in found.values
    assert_allclose(found.values["B.damping"], 0.01, rtol=1e-9)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: fm.regressor(read_model("four_bar"), [0, 0, 0]), "has loops or couplings, for which there is no"),
    (lambda: fm.regressor(read_model("gantry"), np.zeros(5)), "has excited modes"),
    (lambda: fm.identify(read_model("double_pendulum"), [0, 0], None, None, [0, 0]), "one instant identifies nothing"),
    (lambda: fm.identify(read_model("double_pendulum"), REST, None, None, REST[:2]), "Give 3 rows of 2"),
    (lambda: fm.identify(read_model("double_pendulum"), REST, None, None, REST, noise=[1, 0]), "2 positive numbers"),
])  # fmt: skip
def test_what_is_refused(call: Any, words: str) -> None:
    with pytest.raises(ModelError) as found:
        call()
    assert words in str(found.value)

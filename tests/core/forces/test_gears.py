"""Gears with play: the period between their flanks, momentum and energy, what damping takes, statics, parameters."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.both_ways import runs

TIGHT = {"tolerance": 1e-12, "scheme": "dop853"}
J_A, J_B, N, STIFF, PLAY = 0.02, 0.05, -2.0, 1e3, 0.02
REDUCED = 1.0 / (1.0 / J_A + N**2 / J_B)  # inertia of A - N B


def pair(speed: float = 3.0, **given: Any) -> fm.Model:
    model = fm.Model("pair", gravity=(0, 0, 0))
    a, b = (fm.Body(name, mass=1.0, inertia=(1, 1, J)) for name, J in (("a", J_A), ("b", J_B)))
    A = fm.Revolute("A", model.ground.at(), a.at(), axis="z", u0=speed)
    B = fm.Revolute("B", model.ground.at(1), b.at(), axis="z")
    own: dict[str, Any] = {"ratio": N, "backlash": PLAY, "stiffness": STIFF}
    model.add(a, b, A, B, fm.Gear("G", A, B, **(own | given)))
    return model


PERIOD = 2.0 * np.pi * np.sqrt(REDUCED / STIFF) + 2.0 * PLAY / 3.0


def test_the_period_is_that_of_the_teeth_and_of_the_play(tmp_path: Path) -> None:
    """T = 2 pi sqrt(m / k) + 4 b / v, 2 b the whole play, v the speed within it."""
    names = ["G.position", "A.qd", "B.qd", "G.force"]
    for what, t, found in runs(tmp_path, pair(), names, stop=3 * PERIOD, interval=PERIOD, **TIGHT):
        assert_allclose(t[-1], 3 * PERIOD, rtol=1e-12)
        assert_allclose(found["G.position"], 0.0, atol=1e-9 * 3.0, err_msg=what)
        assert_allclose(found["A.qd"] - N * found["B.qd"], 3.0, rtol=1e-9, err_msg=what)
        assert_allclose(found["G.force"], 0.0, atol=1e-15, err_msg=what)


@pytest.mark.parametrize("options", [TIGHT, TIGHT | {"dynamics": "copcod"}, {"scheme": "radau", "tolerance": 1e-10}])
def test_teeth_keep_momentum_and_energy(options: Any) -> None:
    result = pair().simulate(stop=1.5 * PERIOD, interval=PERIOD / 50, **options)
    momentum = N * J_A * result["A.qd"] + J_B * result["B.qd"]
    assert_allclose(momentum, momentum[0], rtol=1e-12)
    assert_allclose(result["solver.energy"], result["solver.energy"][0], rtol=1e-7)
    x = result["A.q"] - N * result["B.q"]
    assert_allclose(result["G.position"], x, atol=1e-14)
    gap = np.clip(x, -PLAY / 2, PLAY / 2)
    assert_allclose(result["G.force"], -STIFF * (x - gap), rtol=1e-9, atol=1e-9)
    assert_allclose(result["G.power"], -N * result["G.force"] * result["B.qd"], rtol=1e-12, atol=1e-12)


def test_damping_acts_while_teeth_are_pressed_further_and_never_pulls() -> None:
    result = pair(damping=5.0).simulate(stop=PERIOD, interval=PERIOD / 200, **TIGHT)
    x, v, f = result["G.position"], result["A.qd"] - N * result["B.qd"], result["G.force"]
    over = np.abs(x) - PLAY / 2
    pressed = (over > 0) & (np.sign(x) * v > 0)
    assert pressed.any() and (over > 0).sum() > pressed.sum()
    assert_allclose(f[pressed], -(STIFF * over * np.sign(x) + 5.0 * v)[pressed], rtol=1e-9)
    back = (over > 1e-9) & ~pressed
    assert_allclose(f[back], -(STIFF * over * np.sign(x))[back], rtol=1e-9)
    assert (f * np.sign(x) <= 0.0).all()
    assert (np.diff(result["solver.energy"]) < 1e-9).all()


def test_parameters_are_those_of_the_class() -> None:
    solver = fm.Solver(pair(), **TIGHT)
    tuned = {"ratio": 1.5, "backlash": 0.01, "stiffness": 2e3, "damping": 1.0, "offset": 0.003}
    solver.set_all({f"G.{name}": value for name, value in tuned.items()})
    plain = fm.Solver(pair(**tuned), **TIGHT)
    for one in (solver, plain):
        one.assemble()
        one.step(0.04)
    assert solver.get("A.q") == plain.get("A.q") and solver.get("G.force") == plain.get("G.force")
    for name, wrong in (("backlash", -1.0), ("stiffness", 0.0), ("damping", -1.0)):
        with pytest.raises(fm.FmumbsError):
            solver.set(f"G.{name}", wrong)
        with pytest.raises(fm.ModelError, match=f"Gear 'G': {name}"):
            pair(**{name: wrong})


def test_statics_and_linear_models_know_the_teeth() -> None:
    """B on a spring, A with a torque: the teeth are pressed by it."""
    model = pair()
    a, b = model["a"], model["b"]
    A = fm.Revolute("A", model.ground.at(), a.at(), axis="z")
    B = fm.Revolute("B", model.ground.at(1), b.at(), axis="z", stiffness=50.0)
    held = fm.Model("held", gravity=(0, 0, 0))
    held.add(a, b, A, B, fm.Gear("G", A, B, ratio=N, backlash=PLAY, stiffness=STIFF))
    found = fm.equilibrium(fm.compile(held, starts={"A.tau": 4.0, "A.q": 0.02}))
    assert_allclose(found.solver.get("G.position"), PLAY / 2 + 4.0 / STIFF, rtol=1e-9)
    assert_allclose(found.solver.get("B.q"), N * 4.0 / 50.0, rtol=1e-9)
    linear = fm.linearize(fm.compile(held, starts={"A.tau": 4.0, "A.q": 0.02}), at="equilibrium")
    K = np.array([[STIFF, -N * STIFF], [-N * STIFF, N**2 * STIFF + 50.0]])
    squares = np.linalg.eigvals(np.linalg.solve(np.diag([J_A, J_B]), K))
    values = np.linalg.eigvals(linear.A)
    assert_allclose(np.sort(values[values.imag > 0].imag), np.sort(np.sqrt(squares)), rtol=1e-7)


def test_what_a_gear_cannot_be() -> None:
    model = pair()
    A = model["A"]
    with pytest.raises(fm.ModelError, match=r"Gear 'G': A and B are both joint 'A'\. Give two joints"):
        fm.Gear("G", A, A, ratio=1.0, stiffness=1.0)
    with pytest.raises(fm.ModelError, match=r"Gear 'G': ratio is 0, but it must not be zero"):
        fm.Gear("G", A, model["B"], ratio=0.0, stiffness=1.0)
    with pytest.raises(fm.ModelError, match=r"Gear 'G': A"):
        fm.Gear("G", A, model["B"], mode_A=2, ratio=1.0, stiffness=1.0)


def test_pictures_show_gears() -> None:
    (look,) = fm.compile(pair()).scene.couplings
    assert look.name == "G" and [term.ratio for term in look.terms] == [1.0, -N]

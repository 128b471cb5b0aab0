"""Force laws with a scale, an input that scales, and a break-away factor; their forces and whether they stick."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm

SCHEMES = ["dopri5", "radau", "dop853", "rk4"]


def block(**options: object) -> fm.Model:
    """2 kg on a rail with dry friction of 3 N."""
    model = fm.Model("block", gravity=(0, 0, 0))
    body = fm.Body("body", mass=2.0, inertia=(1, 1, 1))
    J = fm.Prismatic("J", model.ground.at(), body.at(), axis="x")
    model.add(body, J, fm.Law.brake("L", J, 3.0, **options))
    return model


def started(model: fm.Model, **options: object) -> fm.Solver:
    solver = fm.Solver(fm.compile(model).with_options(**options))
    solver.assemble()
    return solver


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_it_holds_until_the_break_away_factor_and_then_slides(scheme: str, sign: float) -> None:
    """Under a force that grows by 1 N/s: from 4.5 N on 2 v' = f - 3, so that v = 0.155 / 2 0.1 s later."""
    solver = started(block(breakaway=1.5), scheme=scheme)
    for start, end, slip in ((0.0, 4.4, 0.0), (4.4, 4.6, 1.0)):
        solver.set("J.f", sign * start)
        solver.set_input_derivatives("J.f", 1, sign)
        solver.step(end)
        assert solver.get("L.slip") == slip
    assert solver.get("L.force") == -3.0 * sign
    assert solver.get("J.qd") == pytest.approx(sign * 0.0775, rel=2e-2 if scheme == "rk4" else 1e-6)
    solver.set("J.f", 0.0)
    solver.step(5.0)
    assert (solver.get("L.slip"), solver.get("J.qd")) == (0.0, 0.0)
    solver.set("J.f", 4.4 * sign)  # more than it slides with, less than it breaks away at
    solver.step(6.0)
    assert (solver.get("L.slip"), solver.get("J.qd")) == (0.0, 0.0)
    assert solver.get("L.force") == pytest.approx(-4.4 * sign)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_input_releases_and_applies_it(scheme: str) -> None:
    solver = started(block(scale=2.0, scaled=True), scheme=scheme)
    solver.set("J.f", 5.0)
    solver.step(1.0)
    assert (solver.get("J.qd"), solver.get("L.force"), solver.get("L.slip")) == (0.0, pytest.approx(-5.0), 0.0)
    solver.set("L.scale_in", 0.5)
    solver.step(2.0)
    assert (solver.get("J.qd"), solver.get("L.force")) == (pytest.approx(1.0), -3.0)
    solver.set("L.scale_in", -1.0)
    assert (solver.get("J.qdd"), solver.get("L.force")) == (2.5, 0.0)
    solver.set("L.scale_in", 0.0)
    solver.set_input_derivatives("L.scale_in", 1, 1.0)  # 6 t - 5 against it: v = 1 + (5 t - 3 t^2) / 2, 0 at 1.849 s
    solver.step(3.5)
    assert solver.get("J.qd") == pytest.approx(1.0 + (7.5 - 6.75) / 2)
    solver.set("L.scale", 1.0)
    solver.set("L.scale_in", 3.0)
    solver.step(5.0)
    assert (solver.get("J.qd"), solver.get("L.force"), solver.get("L.slip")) == (0.0, pytest.approx(-5.0), 0.0)


def test_in_a_spring_too_with_derivatives() -> None:
    model = fm.Model("shock", gravity=(0, 0, 0))
    body = fm.Body("body", mass=2.0, inertia=(1, 1, 1))
    J = fm.Prismatic("J", model.ground.at(), body.at(), axis="x", q0=1.0, u0=0.5)
    spring = fm.Spring("S", model.ground.at(), body.at(), stiffness=10.0, free_length=0.9)
    law = fm.Law.damper("L", spring, [-1.0, 0.0, 1.0], [-4.0, 0.0, 8.0], scale=1.5, scaled=True)
    model.add(body, J, spring, law, fm.Law.polynomial("P", J, [[0.0], [-2.0]], scaled=True))
    solver = started(model)
    solver.set("L.scale_in", 0.5)
    assert solver.get("L.force") == pytest.approx(0.75 * 4.0)
    assert solver.get("S.f") == pytest.approx(10 * 0.1 + 3.0)
    assert solver.get("P.force") == pytest.approx(-2.0)
    assert solver.get("J.qdd") == pytest.approx((-1.0 - 3.0 - 2.0) / 2)
    names = ["J.qdd", "S.f", "L.force", "P.force", "L.slip"]
    assert_allclose(solver.directional_derivative(names, ["L.scale_in"], [1.0]), [-3.0, 6.0, 6.0, 0.0, 0.0])
    assert_allclose(solver.directional_derivative(names, ["P.scale_in"], [1.0]), [-1.0, 0.0, 0.0, -2.0, 0.0])
    assert "S.f" in {model.name for model in fm.compile(model).variables}
    by_name = {variable.name: variable for variable in fm.compile(model).variables}
    assert by_name["L.force"].unit == "N"
    assert by_name["J.qd"].dependencies == ()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_saved_state_continues_bit_for_bit(scheme: str) -> None:
    image = fm.compile(block(scaled=True, breakaway=1.3)).with_options(scheme=scheme)
    one, other = fm.Solver(image), fm.Solver(image)
    one.assemble()
    one.set("J.f", 3.5)
    one.set("L.scale_in", 0.8)
    one.step(0.7)
    other.state_load(one.state_save())
    for solver in (one, other):
        solver.set_input_derivatives("L.scale_in", 1, 0.5)
        solver.step(2.0)
    assert [one.get(n) for n in ("J.q", "J.qd", "L.force")] == [other.get(n) for n in ("J.q", "J.qd", "L.force")]


def test_an_equilibrium_has_the_scale() -> None:
    model = fm.Model("hung")
    body = fm.Body("body", mass=1.0, inertia=(1, 1, 1))
    J = fm.Prismatic("J", model.ground.at(), body.at(), axis="z")
    model.add(body, J, fm.Law.polynomial("L", J, [[0.0], [-100.0]], scale=2.0))
    assert fm.equilibrium(model).starts["J.q"] == pytest.approx(-9.81 / 200)


MAKERS = {
    "polynomial": lambda J, **how: fm.Law.polynomial("L", J, [[1.0, -2.0], [-3.0]], **how),
    "table": lambda J, **how: fm.Law.table("L", J, [-1.0, 0.0, 2.0], [4.0, 1.0, -5.0], **how),
    "smooth": lambda J, **how: fm.Law.table("L", J, [-1.0, 0.0, 2.0], [4.0, 1.0, -5.0], smooth=True, **how),
    "damper": lambda J, **how: fm.Law.damper("L", J, [-1.0, 0.0, 2.0], [4.0, 1.0, -5.0], **how),
    "brake": lambda J, **how: fm.Law.brake("L", J, 2.0, **how),
    "stop": lambda J, **how: fm.Stop("L", J, lower=-0.2, upper=0.1, stiffness=50.0, damping=3.0, **how),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_every_law_has_its_scale_and_the_input(maker: str) -> None:
    model = fm.Model("block", gravity=(0, 0, 0))
    body = fm.Body("body", mass=2.0, inertia=(1, 1, 1))
    J = fm.Prismatic("J", model.ground.at(), body.at(), axis="x", q0=0.3, u0=0.7)
    plain, law = MAKERS[maker](J), MAKERS[maker](J, scale=1.5, scaled=True)
    model.add(body, J, law)
    assert law.force(0.3, 0.7) == pytest.approx(1.5 * plain.force(0.3, 0.7))
    solver = started(model)
    assert solver.get("L.scale_in") == 1.0
    for given in (1.0, 0.5):
        solver.set("L.scale_in", given)
        assert solver.get("L.force") == pytest.approx(given * 1.5 * plain.force(0.3, 0.7))
    assert all(solver.image.variables.find(f"L.{what}").variability == "tunable" for what in ("scale", "breakaway"))


@pytest.mark.parametrize(("name", "value"), [("scale", -1.0), ("breakaway", 0.5), ("breakaway", np.nan)])
def test_numbers_out_of_range_are_refused(name: str, value: float) -> None:
    with pytest.raises(fm.ModelError, match=name):
        block(**{name: value})
    with pytest.raises(fm.SolverError, match=rf"L\.{name}"):
        started(block()).set(f"L.{name}", value)


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("on", ["joint", "spring"])
def test_brakes_that_act_alike_share_their_force_equally(on: str, count: int) -> None:
    model = fm.Model("shared", gravity=(0, 0, -9.81))
    rods = [fm.Body.rod(name, length=1.0, mass=1.0) for name in "ab"]
    A = fm.Revolute("A", model.ground.at(), rods[0].base, axis="y", q0=0.3)
    B = fm.Revolute("B", rods[0].tip, rods[1].base, axis="y", q0=0.4)
    rope = fm.Spring("S", model.ground.at(0, 0, 2), rods[1].tip)
    model.add(*rods, A, B, rope, fm.Law.brake("other", A, 50.0))
    names = [f"L{k}" for k in range(count)]
    model.add(*(fm.Law.brake(name, B if on == "joint" else rope, 40.0) for name in names))
    solver = fm.Solver(model)
    solver.set("B.tau", 3.0)
    solver.assemble()
    forces = [solver.get(f"{name}.force") for name in names]
    rates = [solver.directional_derivative([f"{name}.force"], ["B.tau"], [1.0])[0] for name in names]
    assert abs(forces[0]) > 0.1
    assert forces == pytest.approx([forces[0]] * count, rel=1e-13)
    assert rates == pytest.approx([rates[0]] * count, rel=1e-13)
    if on == "joint":
        assert rates == pytest.approx([-1 / count] * count, rel=1e-9)

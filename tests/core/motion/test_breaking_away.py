"""Brakes that break away at more than they slide with: several on one coordinate, and many that bear on one another."""

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import fmumbs as fm
from support.braked import breaking_net, breaking_stack, stack
from support.sweeps import examples, seeds

SCHEMES = ("dopri5", "radau", "dop853")
FORCES, WIDER = st.floats(0.1, 10.0), st.sampled_from((1.0, 1.001, 1.3, 3.0))


def started(model: fm.Model, **options: object) -> fm.Solver:
    solver = fm.Solver(fm.compile(model).with_options(**options))
    solver.assemble()
    return solver


def slide(brakes: list[tuple[float, float]], spring: bool = False, u0: float = 0.0) -> fm.Model:
    """2 kg on a rail, held at its joint or at a line along the rail by brakes of a force and a break-away factor."""
    model = fm.Model("slide", gravity=(0, 0, 0))
    body = fm.Body("body", mass=2.0, inertia=(1, 1, 1))
    J = fm.Prismatic("J", model.ground.at(), body.at(), axis="x", u0=u0)
    line = fm.Spring("S", model.ground.at(-1000.0, 0, 0), body.at())
    model.add(body, J, line)
    for i, (force, wider) in enumerate(brakes):
        model.add(fm.Law.brake(f"L{i}", line if spring else J, force, breakaway=wider))
    return model


@examples(
    20, 100,
    st.lists(st.tuples(FORCES, WIDER), min_size=2, max_size=4), st.sampled_from(SCHEMES), st.booleans(),
    st.sampled_from((0.0, 1.0, -1.0)), st.integers(0, 10**6),
)  # fmt: skip
def test_several_on_one_coordinate_act_as_one(
    brakes: list[tuple[float, float]], scheme: str, spring: bool, u0: float, seed: int
) -> None:
    """They hold what they can hold together, however their forces and factors differ, and let go at once."""
    rng = np.random.default_rng(seed)
    sliding = sum(force for force, _ in brakes)
    breaking = sum(force * wider for force, wider in brakes)
    several = started(slide(brakes, spring, u0), scheme=scheme, tolerance=1e-9)
    single = started(slide([(sliding, breaking / sliding)], spring, u0), scheme=scheme, tolerance=1e-9)
    for turn in range(1, 8):
        push, rate = 1.5 * breaking * rng.uniform(-1, 1), 3.0 * breaking * rng.uniform(-1, 1)
        for solver in (several, single):
            solver.set("J.f", push)
            solver.set_input_derivatives("J.f", 1, rate)
            solver.step(float(turn))
        names = ["J.q", "J.qd"]
        assert_allclose([several.get(n) for n in names], [single.get(n) for n in names], rtol=0, atol=1e-6 * breaking)
        together = sum(several.get(f"L{i}.force") for i in range(len(brakes)))
        assert_allclose(together, single.get("L0.force"), rtol=0, atol=1e-6 * breaking)


@pytest.mark.parametrize("seed", seeds(12, 600))
def test_many_stick_or_slide_within_their_limits_as_they_move(seed: int) -> None:
    """Blocks on blocks, and points on more lines than hold them: every run ends, each law sticks within its range
    without velocity, or slides with its force against the motion."""
    rng = np.random.default_rng(seed)
    model = (breaking_stack, breaking_net)[seed % 2](rng)
    solver = started(model, scheme=str(rng.choice(["dopri5", "radau"])), tolerance=1e-6)
    limits = {law.name: (law.on, abs(law.pieces[0].coefficients[0][0]), law.breakaway) for law in model.laws}
    for turn in range(1, 5):
        for load in model.loads:
            push = rng.normal(size=3) * 10.0 ** rng.uniform(-1, 1.5)
            solver.set(f"{load.name}.force", push)
            solver.set_input_derivatives(f"{load.name}.force", 1, rng.normal(size=3) * 10.0 ** rng.uniform(-7, 1))
        solver.step(0.1 * turn)
        for name, (on, force, wider) in limits.items():
            line = isinstance(on, fm.Spring)
            rate = solver.output_derivative(f"{on.name}.length") if line else solver.get(f"{on.name}.qd")
            exerted, slips = solver.get(f"{name}.force"), solver.get(f"{name}.slip")
            along = exerted if line else -exerted  # positive: against a positive rate
            if slips:
                assert abs(exerted) == pytest.approx(force) and along * rate >= -1e-6
            else:
                assert abs(exerted) <= force * wider * (1 + 1e-12) and abs(rate) <= 1e-6


def test_one_that_breaks_away_lets_another_hold() -> None:
    """A block on another, which is on the ground: both would move at what the brakes hold at most. As the upper one
    slides with less, the lower one need not move."""
    model = fm.Model("pair", gravity=(0, 0, 0))
    a, b = (fm.Body(n, mass=1.0, inertia=(1, 1, 1)) for n in "ab")
    A = fm.Prismatic("A", model.ground.at(), a.at(), axis="x")
    B = fm.Prismatic("B", a.at(), b.at(), axis="x")
    model.add(a, b, A, B, fm.Law.brake("low", A, 1.0, breakaway=2.0), fm.Law.brake("high", B, 1.0, breakaway=3.0))
    model.add(fm.Load("L", b.at()))
    for scheme in SCHEMES:
        solver = started(model, scheme=scheme)
        solver.set("L.force", (9.0, 0, 0))
        assert_allclose([solver.get("A.qdd"), solver.get("B.qdd"), solver.get("low.slip")], [0.0, 8.0, 0.0], atol=1e-12)
        solver.step(1.0)
        assert (solver.get("low.slip"), solver.get("high.slip")) == (0.0, 1.0)
        assert_allclose([solver.get("A.q"), solver.get("B.qd"), solver.get("low.force")], [0.0, 8.0, -1.0], atol=1e-9)


@pytest.mark.parametrize("seed", seeds(12, 300))
def test_laws_that_grow_with_the_position_at_bounds_that_move_hold_as_brakes(seed: int) -> None:
    """Blocks on blocks: which break away, and what these leave to the others, is the same whether all rest under a
    constant force, or each moves as the belt below it, whose force is as large there and is not elsewhere."""
    rng = np.random.default_rng([24, seed])
    count = int(rng.integers(2, 7))
    q0, force = rng.uniform(-3.0, 3.0, count), 10.0 ** rng.uniform(0, 1, count)
    m, wider = 10.0 ** rng.uniform(-1, 1, count), rng.choice([1.0, 1.5, 3.0], count)
    slope, rate = rng.uniform(20, 50, count), rng.uniform(-2.0, 2.0, count)
    solvers = []
    for other in (0.0, 1.0):
        model = fm.Model("stack", gravity=(0, 0, 0))
        below: Any = model.ground
        for i in range(count):
            body = fm.Body(f"b{i}", mass=m[i], inertia=(1, 1, 1))
            J = fm.Prismatic(f"J{i}", below.at(), body.at(), axis="x", q0=q0[i], u0=other * rate[i])
            row = np.array([[force[i]], [other * slope[i]]])
            pieces = [
                fm.Piece(row, v_upper=other * rate[i], origin=q0[i]),
                fm.Piece(-row, v_lower=other * rate[i], origin=q0[i]),
            ]
            model.add(body, J, fm.Load(f"L{i}", body.at()))
            model.add(fm.Law(f"brake{i}", J, pieces=pieces, breakaway=wider[i]))
            below = body
        solvers.append(started(model))
    slipped = 0.0
    for _ in range(10):
        for i, push in enumerate(rng.normal(size=count) * 10.0 ** rng.uniform(0, 2, count)):
            for solver in solvers:
                solver.set(f"L{i}.force", (push, 0, 0))
        for name in ("J{}.qdd", "brake{}.force", "brake{}.slip"):
            resting, moving = ([solver.get(name.format(i)) for i in range(count)] for solver in solvers)
            assert_allclose(moving, resting, rtol=1e-9, atol=1e-9 * max(force))
        slipped += sum(moving)
    assert 0 < slipped < 10 * count


@pytest.mark.parametrize("rate", [1e-3, 1e-6, 1e-8])
def test_it_lets_go_at_its_force_however_slowly_that_is_reached(rate: float) -> None:
    solver = started(slide([(3.0, 1.1)]))
    solver.set("J.f", 3.3 - rate)
    solver.set_input_derivatives("J.f", 1, rate)
    solver.step(2.0)
    assert solver.get("J.qd") == pytest.approx(0.3 / 2 + rate / 4, rel=1e-6)


@pytest.mark.parametrize("light", [1e-3, 1e-6, 1e-9])
def test_a_light_block_between_stays_with_the_heavy_one(light: float) -> None:
    """What either brake has to hold is known to its mass beside the heavy one's only."""
    solver = started(stack((light, 1.0), (3.0, 3.0)))
    solver.set("L1.force", (2.0, 0, 0))
    assert_allclose([solver.get(f"brake{i}.force") for i in range(2)], -2.0, rtol=0, atol=1e-6)
    assert_allclose([solver.get(f"J{i}.qdd") for i in range(2)], 0.0, atol=1e-14 * 2.0 / light)


def test_laws_that_cannot_be_decided_end_the_step_by_name() -> None:
    """Their forces times their effect are beyond what doubles hold, so that no least sum is found."""
    m = fm.Model("huge", gravity=(0, 0, 0))
    a, far = fm.Body("a", mass=1, inertia=(1e-90, 1e-90, 1e-90)), 1e60
    hinge = fm.Revolute("hinge", m.ground.at(), a.at())
    springs = [fm.Spring(f"s{k}", m.ground.at(far, far, 0), a.at(far * (1 - k), far * k, 0)) for k in (0, 1)]
    m.add(a, hinge, *springs, *(fm.Law.brake(f"brake{k}", springs[k], 1e99) for k in (0, 1)))
    solver = fm.Solver(m)
    solver.assemble()
    with pytest.raises(fm.SolverError, match="it cannot be decided which force laws stick, that of spring 's0'"):
        solver.step(0.1)

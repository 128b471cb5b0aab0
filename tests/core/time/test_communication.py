"""Any sequence of communication steps, from 1e-16 to 1e3 s, gives the motion of one long step.

Masters with events or variable steps leave remainders of some units in the last place, change inputs in between and go
back to saved states. Random sequences of all that are compared with one step between the changes of the inputs.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from ctypes import byref
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.mechanism.laws import Stop
from fmumbs.readers import read_model
from fmumbs.run import Solver
from support.slave import OK, Slave, unpacked_fmu

PROMISE = 100
"""Times the tolerance, of values of order one: what a sequence of steps may be beside the motion itself."""

EXACT = 1e-12
"""The tolerance of what counts as the motion itself."""

OWN = 2
"""Times its own error of one long step: what RK4 may be beside the motion, whose steps are never longer."""

TICK = 1e-9
"""Speeds of 10, beside times of 1e6 s, which are rounded to 1e-10 s."""


@dataclass(frozen=True)
class Motion:
    """A model, its input, and the values that tell its state."""

    build: Callable[[], fm.Model]
    values: tuple[str, ...]
    input: str = ""
    span: float = 1.0  # [s] between two changes of the input
    step: float = 1e-3  # [s] of RK4
    schemes: tuple[str, ...] = ("dopri5", "rk4", "radau", "dop853")
    changes: Sequence[float] = field(default=(0.7, -1.3, 0.4))


def swing(damping: float = 0.0) -> fm.Model:
    model = fm.Model("swing")
    bob = fm.Body("bob", mass=2.0, com=(0, 0, -0.7), inertia=(0.1, 0.1, 0.1))
    model.add(bob, fm.Revolute("A", model.ground.at(), bob.at(), axis="y", q0=1.0, damping=damping))
    return model


def stiff() -> fm.Model:
    """A pin of 5e9 N.m/rad that shakes a swing by 1e-4 rad."""
    model = fm.Model("stiff")
    arm, bob = (fm.Body(name, mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1)) for name in ("arm", "bob"))
    P = fm.Revolute("P", model.ground.at(), arm.at(), axis="y", stiffness=5e9, damping=1e5, q0=1e-4)
    model.add(arm, bob, P, fm.Revolute("A", arm.at(0, 0, -1), bob.at(), axis="y", q0=1.0))
    return model


def bumped() -> fm.Model:
    """A mass between a spring and a soft stop, in and out of which it swings."""
    model = fm.Model("bumped", gravity=(0, 0, 0))
    mass = fm.Body("mass", mass=1.0, inertia=(1, 1, 1))
    J = fm.Prismatic("A", model.ground.at(), mass.at(), axis="x", q0=1.0, stiffness=60.0)
    model.add(mass, J, Stop("S", J, lower=-0.3, stiffness=500.0, damping=1.0))
    return model


def driven() -> fm.Model:
    """A swing on a slide whose path begins again every 0.7 s, with a jump of its acceleration at each of its knots."""
    model = fm.Model("driven")
    cart = fm.Body("cart", mass=1.0, inertia=(1, 1, 1))
    bob = fm.Body("bob", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    knots = [0.0, 0.2, 0.4, 0.6]
    path = fm.Path(knots, PARABOLAS, period=0.7, continuity=1)
    slide = fm.Joint("X", model.ground.at(), cart.at(), modes=[fm.Slide("x", role="excited", path=path)])
    model.add(cart, bob, slide, fm.Revolute("A", cart.at(), bob.at(), axis="y", q0=0.5))
    return model


PARABOLAS = [(0.0, 0.0, 3.0), (0.12, 1.2, -6.0), (0.12, -1.2, 3.0), (0.0,)]
"""Positions, velocities and half accelerations: out, back, and to rest."""

MOTIONS = {
    "swing": Motion(swing, ("A.q", "A.qd"), "A.tau"),
    "settling": Motion(lambda: swing(3.0), ("A.q", "A.qd"), "A.tau", span=2e3, step=0.02),
    "stiff": Motion(stiff, ("A.q", "A.qd", "P.q"), "A.tau", span=2e-3, schemes=("dopri5", "radau", "dop853")),
    "bumped": Motion(bumped, ("A.q", "A.qd"), "A.f", schemes=("dopri5", "radau", "dop853")),
    "driven": Motion(driven, ("A.q", "A.qd", "X.eta"), "A.tau"),
    "double_pendulum": Motion(lambda: read_model("double_pendulum"), ("A.q", "B.q", "A.qd", "B.qd"), "A.tau", span=0.3),
    "heavy_top": Motion(lambda: read_model("heavy_top"), ("A.q",), span=0.1),
    "four_bar": Motion(lambda: read_model("four_bar"), ("A.q", "A.qd", "B.q", "C.q"), "A.tau", span=0.15),
}
RUNS = [(name, scheme, start) for name in MOTIONS for scheme in MOTIONS[name].schemes for start in (0.0, 1e6)]


def sizes(rng: np.random.Generator, span: float) -> Iterator[float]:
    """Some sizes between 1e-16 s and the span, then an end of any size; short ones beside long ones."""
    for _ in range(rng.integers(2, 12)):
        yield float(10.0 ** rng.uniform(-16.0, np.log10(span)))


def wander(solver: Solver, rng: np.random.Generator, end: float, force: str) -> None:
    """From the present time to the end, with detours from which a saved state brings it back."""
    for size in sizes(rng, end - solver.time):
        detour = rng.random()
        saved = solver.state_save()
        if detour < 0.5 and force:
            solver.set(force, rng.normal())
        if detour < 0.7:
            solver.step(solver.time + 10.0 ** rng.uniform(-16.0, -2.0))
        if detour < 0.7:
            solver.state_load(saved)
        elif force:  # to another value and back
            solver.set(force, solver.get(force) + 1.0)
            solver.set(force, solver.get(force) - 1.0)
        solver.step(min(solver.time + size, end))
    solver.step(end)


def read(solver: Solver, names: Sequence[str]) -> np.ndarray:
    return np.concatenate([np.atleast_1d(solver.get(name)) for name in names])


def started(image: fm.ModelImage, start: float, **options: float | str) -> Solver:
    solver = Solver(image.with_options(**options))
    solver.assemble(start)
    return solver


@pytest.mark.parametrize(("name", "scheme", "start"), RUNS)
def test_any_sequence_of_steps_gives_the_motion_of_one_long_step(name: str, scheme: str, start: float) -> None:
    motion, rng = MOTIONS[name], np.random.default_rng([len(name), int(start), len(scheme)])
    image, tolerance = compile(motion.build(), everything=True), 10.0 ** rng.uniform(-9, -4)
    options = {"scheme": scheme, "tolerance": tolerance, "step": motion.step}
    steps, whole, exact = (started(image, start, **chosen) for chosen in (options, options, {"tolerance": EXACT}))
    for i, change in enumerate(motion.changes):
        end = start + (i + 1) * motion.span
        for solver in (steps, whole, exact):
            if motion.input:
                solver.set(motion.input, change)
        wander(steps, rng, end, motion.input)
        whole.step(end)
        exact.step(end)
        expected = read(exact, motion.values)
        scale = max(1.0, float(np.abs(expected).max()))
        allowed = PROMISE * (EXACT if scheme == "rk4" else tolerance) + (TICK if start else 0.0)
        if scheme == "rk4":
            allowed += OWN * np.abs(read(whole, motion.values) - expected).max() / scale
        assert_allclose(read(steps, motion.values) / scale, expected / scale, rtol=0, atol=allowed)


@pytest.mark.parametrize(("interval", "start"), [(1e-6, 0.0), (1e-3, 1e6), (1.0, -3.0), (1.0, 1e6), (1e3, 0.0)])
def test_stiff_start_is_no_singular_one(interval: float, start: float) -> None:
    """A pin of 5e9 N.m/rad swings 1e5 times a second; the interval says nothing about how short its steps may be."""
    model = fm.Model("pin", gravity=(0, 0, 0))
    body = fm.Body("body", mass=1.0, inertia=(0.01, 0.01, 0.01))
    model.add(body, fm.Revolute("A", model.ground.at(), body.at(), axis="y", stiffness=5e9, q0=0.1, damping=1e4))
    image, damped, omega = compile(model), 5e5, np.sqrt(5e11 - 5e5**2)
    for tolerance in (1e-3, 1e-6, 1e-10):
        solver = started(image, start, scheme="dopri5", tolerance=tolerance)
        solver.step(start + min(interval, 1e-4))
        t = solver.time - start
        turned = np.cos(omega * t) + damped / omega * np.sin(omega * t)
        late = 1e6 * abs(start) * np.finfo(float).eps
        assert_allclose(solver.get("A.q"), 0.1 * np.exp(-damped * t) * turned, rtol=0, atol=PROMISE * tolerance + late)
    solver = started(image, start, scheme="dopri5")
    too_many = pytest.raises(fm.SolverError, match="1000000 integration steps reached only")
    with too_many if interval > 1.0 else nullcontext():
        solver.step(start + interval)
    assert solver.time - start >= min(interval, 0.1)


def test_tiny_remainder_does_not_fail_the_next_step_of_an_fmu(tmp_path: Path) -> None:
    fmu = unpacked_fmu(tmp_path / "swing", swing())
    for start in (0.0, 1e6):
        few, many = Slave(fmu), Slave(fmu)
        for slave in (few, many):
            slave.start(begin=start)
        t, rng = start, np.random.default_rng(5)
        for end in start + np.arange(1, 6) * 0.5:
            for size in [1e-13, 0.1, *sizes(rng, 0.1), 1e-16]:
                assert many.set("A.tau", rng.normal()) == many.set("A.tau", 0.0) == OK
                assert many.step(t, size) == OK, many.say
                t += size
            assert many.step(t, end - t) == OK, many.say
            t = t + (end - t)
            assert few.step(end - 0.5, 0.5) == OK, few.say
            assert_allclose(many.get("A.q"), few.get("A.q"), rtol=0, atol=PROMISE * 1e-6)
        for slave in (few, many):
            slave.free()


def saved(slave: Slave) -> bytes:
    state = slave.state()
    data = slave.serialized(state)
    slave.call("fmi2FreeFMUstate", byref(state))
    return data


def test_step_below_the_round_off_of_the_time_changes_nothing(tmp_path: Path) -> None:
    slave = Slave(unpacked_fmu(tmp_path / "swing", swing()))
    slave.start(begin=1e6)
    assert slave.step(1e6, 0.25) == OK
    assert slave.set("A.tau", 0.5) == slave.set_derivatives(["A.tau"], [1], [2.0]) == OK
    before = saved(slave)
    assert slave.step(1e6 + 0.25, 1e-12) == OK, slave.say
    assert saved(slave) == before
    assert slave.step(1e6 + 0.25, 0.25) == OK
    slave.free()
    solver = started(compile(swing()), 1e6)
    solver.step(1e6 + 0.25)
    state = solver.state_save()
    solver.step(solver.time + 1e-12)
    assert solver.state_save() == state
